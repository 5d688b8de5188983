#include "report/question.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/shell_word.h"

namespace cobra::report {
namespace {

using nlohmann::json;

// Without what concerns only the connection.
std::string CommandOf(const Question& question, const std::string& model_version) {
  std::vector<std::string> words = {"cobra-client", "report"};
  const auto add = [&words](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, ShellWord(value)});
  };
  if (!question.path.empty()) words.push_back(ShellWord(question.path));
  add("--arch", question.architecture);
  add("--entry", question.entry);
  if (question.method != "forward") add("--method", question.method);
  for (const std::string& input : question.inputs) add("--input", input);
  for (const std::string& argument : question.arguments) add("--arg", argument);
  for (const std::string& library : question.libraries) add("--library", library);
  if (question.training) add("--mode", "train");
  add("--torch-version", question.torch_version);
  if (question.cached_tokens > 0) add("--cached-tokens", absl::StrCat(question.cached_tokens));
  add("--target", absl::StrJoin(question.targets, ","));
  if (question.no_sweep) {
    words.push_back("--no-sweep");
  } else {
    add("--batch", question.batches);
  }
  add("--model-version", model_version);
  return absl::StrJoin(words, " ");
}

}  // namespace

std::string TitleOf(const AskedModel& model) {
  if (!model.architecture.empty()) return model.architecture;
  const std::string title = model.entry.empty() ? model.path : absl::StrCat(model.entry, " from ", model.path);
  return absl::StrCat(title, model.training ? ", in training, forward only" : "",
                      model.cached_tokens > 0 ? absl::StrCat(", after ", model.cached_tokens, " cached tokens") : "");
}

void AddModel(const AskedModel& model, json* j) {
  (*j)["model"] = model.path;
  (*j)["arch"] = model.architecture;
  (*j)["entry"] = model.entry;
  (*j)["method"] = model.method;
  (*j)["inputs"] = model.inputs;
  (*j)["arguments"] = model.arguments;
  if (model.cached_tokens > 0) (*j)["cached_tokens"] = model.cached_tokens;
  (*j)["mode"] = model.training ? "train" : "eval";
}

json QuestionJson(const Question& question, const std::string& model_version) {
  json j;
  AddModel(question, &j);
  j["torch_version"] = question.torch_version;
  j["libraries"] = question.libraries;
  j["targets"] = question.targets;
  j["command"] = CommandOf(question, model_version);
  return j;
}

}  // namespace cobra::report
