// What a report shows, as one JSON document: the answer to a prediction joined with the network
// that was asked about and the data sheets of the targets. docs/report.md describes its members.
// report/page/ draws it; whoever serves the page elsewhere sends the same document.
#ifndef COBRA_REPORT_DOCUMENT_H_
#define COBRA_REPORT_DOCUMENT_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cobra/v1/cobra.pb.h"
#include "nlohmann/json.hpp"
#include "report/answers.h"

namespace cobra::report {

// Changes when a member changes its meaning or goes. New members do not change it.
inline constexpr int kDocumentVersion = 1;

// Targets of one page: as many as a reader tells from each other by colour.
inline constexpr size_t kMostReported = 8;

struct Contents {
  std::string title;                 // for people: TitleOf() (question.h)
  nlohmann::json question;           // how to ask again: QuestionJson()
  std::vector<Answer> answers;       // at least one; whoever fills this keeps their graphs
  std::vector<std::string> targets;  // in the order in which they are shown; others follow
  const v1::ListTargetsResponse* sheets = nullptr;
  nlohmann::json sweep;  // what `sweep --format json` writes; null: none
  // Of the file of a call: its name for the reader, and its text if that is known. Either may be
  // empty.
  std::function<std::string(const std::string& file)> shown_file;
  std::function<std::optional<std::string>(const std::string& file)> source_text;
};

// Internal error if an answer is not of its graph.
absl::StatusOr<nlohmann::json> MakeDocument(const Contents& contents);

}  // namespace cobra::report

#endif  // COBRA_REPORT_DOCUMENT_H_
