// How a model was asked about, in the words of cobra-client's command line, so that it can be asked
// again.
#ifndef COBRA_REPORT_QUESTION_H_
#define COBRA_REPORT_QUESTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace cobra::report {

struct AskedModel {
  std::string path;          // FILE_OR_DIR, or
  std::string architecture;  // SPACE:STRING
  std::string entry;
  std::string method = "forward";
  std::vector<std::string> inputs;
  std::vector<std::string> arguments;  // "name=EXPR"
  std::vector<std::string> libraries;
  // Empty: that of each target's runtime; without a target the newest that is known.
  std::string torch_version;
  bool training = false;  // --mode train
  int64_t cached_tokens = 0;
};

struct Question : AskedModel {
  std::vector<std::string> targets;  // each once
  std::string batches;               // of the sweep; empty: as `report` chooses them
  bool no_sweep = false;
};

// For people: "Net() from net.py, in training".
std::string TitleOf(const AskedModel& model);

// Adds the model as members of `j`, with the names of the flags as keys.
void AddModel(const AskedModel& model, nlohmann::json* j);

// The member `question` of a report's document. Its command makes the same page again, with the
// weights of that version.
nlohmann::json QuestionJson(const Question& question, const std::string& model_version);

}  // namespace cobra::report

#endif  // COBRA_REPORT_QUESTION_H_
