#include "proto/request_words.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "base/diagnostic.h"
#include "base/with_code.h"

namespace cobra::proto {
namespace {

using Replacements = std::vector<std::pair<absl::string_view, absl::string_view>>;

constexpr std::pair<absl::string_view, absl::string_view> kFlagsAndFields[] = {
    {"--input", "`inputs`"},
    {"--entry", "`entry`"},
    {"--arg", "`arguments`"},
    {"--torch-version", "`torch_version`"},
    {"--method", "`method`"},
    {"--cached-tokens", "`cached_tokens`"},
    {"--mode", "`mode`"},
    {"--model-version", "`model_version`"},
    {"--library DIR", "the server's --library DIR"},
    {"--skip-refused", "`skip_refused`"},
    {"--deadline-s", "the call's deadline"},
};

absl::Status Replaced(const absl::Status& error, const Replacements& replacements) {
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(error);
  if (!diagnostic.has_value()) return error;
  diagnostic->message = absl::StrReplaceAll(diagnostic->message, replacements);
  diagnostic->hint = absl::StrReplaceAll(diagnostic->hint, replacements);
  return WithCode(error.code(), DiagnosticToStatus(*diagnostic));
}

}  // namespace

absl::Status InFieldNames(const absl::Status& error) {
  return Replaced(error, {std::begin(kFlagsAndFields), std::end(kFlagsAndFields)});
}

absl::Status InFlagNames(const absl::Status& error) {
  Replacements back;
  for (const auto& [flag, field] : kFlagsAndFields) {
    if (field[0] == '`' || flag == "--deadline-s") back.emplace_back(field, flag);  // a server's library stays one
  }
  return Replaced(error, back);
}

}  // namespace cobra::proto
