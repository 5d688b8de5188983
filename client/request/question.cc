#include "client/request/question.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_join.h"
#include "base/text/utf8.h"
#include "base/text/without_escapes.h"
#include "nlohmann/json.hpp"
#include "proto/label.h"

namespace cobra::client {

report::Question ReportQuestion(const ModelArguments& model) {
  report::Question question;
  question.path = model.path;
  question.architecture = model.architecture;
  question.entry = model.entry;
  question.method = model.method;
  question.inputs = model.inputs;
  question.arguments = model.arguments;
  question.libraries = model.libraries;
  question.training = model.training;
  question.torch_version = model.torch_version;
  question.cached_tokens = model.cached_tokens;
  return question;
}

std::string Title(const ModelArguments& model) { return report::TitleOf(ReportQuestion(model)); }

void AddModelLabel(const ModelArguments& model, std::vector<std::pair<std::string, std::string>>* labels) {
  static constexpr char kName[] = "model";
  if (labels->empty() || labels->size() >= proto::kMaxLabels ||
      std::any_of(labels->begin(), labels->end(), [](const auto& l) { return l.first == kName; }))
    return;
  const std::filesystem::path path = std::filesystem::path(model.path).lexically_normal();
  std::vector<std::string> parts = {
      model.architecture.empty() ? (path.is_absolute() ? path.filename() : path).generic_string() : model.architecture};
  if (!model.entry.empty()) parts.push_back(model.entry);
  parts.insert(parts.end(), model.inputs.begin(), model.inputs.end());
  if (model.training) parts.push_back("in training");
  std::string value = WithoutEscapes(ReplaceInvalidUtf8(absl::StrJoin(parts, " ")));
  std::replace_if(
      value.begin(), value.end(), [](char c) { return c == '\n' || c == '\t'; }, '?');
  value.resize(std::min(value.size(), proto::kMaxLabelBytes));
  while (!IsUtf8(value)) value.pop_back();  // the last character was cut
  labels->emplace_back(kName, std::move(value));
}

void AddQuestion(const ModelArguments& model, nlohmann::json* j) { report::AddModel(ReportQuestion(model), j); }

}  // namespace cobra::client
