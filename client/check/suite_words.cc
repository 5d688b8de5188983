#include "client/check/suite_words.h"

#include <optional>
#include <regex>
#include <string>

#include "absl/strings/str_replace.h"
#include "base/diagnostic.h"
#include "base/with_code.h"

namespace cobra::client {
namespace {

// First what has a value, which a key writes in another way.
std::string WithKeys(std::string text) {
  static const std::regex* const kShape =
      new std::regex("--input ((?:[a-z_]+=)?[0-9]+(?:x[0-9]+)*(?::[a-z0-9]+)?)(?![0-9A-Za-z_:])");
  static const std::regex* const kEntry = new std::regex("--entry '([^']*)'");
  text = std::regex_replace(text, *kShape, "inputs = [\"$1\"]");
  text = std::regex_replace(text, *kEntry, "entry = \"$1\"");
  return absl::StrReplaceAll(text, {{"one --input for each", "one of inputs = [...] for each"},
                                    {"--arg NAME=EXPR", "arguments = [\"NAME=EXPR\"]"},
                                    {"--library DIR", "libraries = [\"DIR\"]"},
                                    {"--input", "inputs"},
                                    {"--entry", "entry"},
                                    {"--arg", "arguments"},
                                    {"--library", "libraries"},
                                    {"--torch-version", "torch-version"},
                                    {"--cached-tokens", "cached-tokens"},
                                    {"--method", "method"},
                                    {"--mode", "mode"},
                                    {"--target", "targets"}});
}

}  // namespace

absl::Status InSuiteKeys(const absl::Status& error) {
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(error);
  if (!diagnostic.has_value()) return error;
  diagnostic->message = WithKeys(diagnostic->message);
  diagnostic->hint = WithKeys(diagnostic->hint);
  return WithCode(error.code(), DiagnosticToStatus(*diagnostic));
}

}  // namespace cobra::client
