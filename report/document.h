// What a report shows, as one JSON document: the answer to a prediction joined with the network that was asked about
// and the data sheets of the targets. docs/report.md describes its members. report/page/ draws it; whoever serves the
// page elsewhere sends the same document.
#ifndef COBRA_REPORT_DOCUMENT_H_
#define COBRA_REPORT_DOCUMENT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cobra/v1/cobra.pb.h"
#include "graph/graph.h"
#include "nlohmann/json.hpp"

namespace cobra::report {

// Changes when a member changes its meaning or goes. New members do not change it.
inline constexpr int kDocumentVersion = 1;

// One network, and what was predicted of it. A program may be another network for another version of PyTorch: then a
// report has several.
struct Answer {
  const graph::Graph* graph = nullptr;
  v1::PredictResponse response;  // with breakdown
};

struct Contents {
  std::string title;                 // for people: "Net() from net.py"
  nlohmann::json question;           // how to ask again: names of flags and their values
  std::vector<Answer> answers;       // at least one
  std::vector<std::string> targets;  // in the order in which they are shown; others follow
  const v1::ListTargetsResponse* sheets = nullptr;
  nlohmann::json sweep;  // what `sweep --format json` writes; null: none
  // Of the file of a call: its name for the reader; and one of its lines, "" if unknown.
  std::function<std::string(const std::string& file)> shown_file;
  std::function<std::string(const std::string& file, int line)> source_line;
};

// Internal error if an answer is not of its graph.
absl::StatusOr<nlohmann::json> MakeDocument(const Contents& contents);

}  // namespace cobra::report

#endif  // COBRA_REPORT_DOCUMENT_H_
