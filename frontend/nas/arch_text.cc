#include "frontend/nas/arch_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/user_error.h"

namespace cobra::nas {

void ArchText::SkipSpace() {
  while (position_ < whole_.size() && absl::ascii_isspace(whole_[position_])) ++position_;
}

bool ArchText::AtEnd() {
  SkipSpace();
  return position_ >= whole_.size();
}

bool ArchText::Peek(absl::string_view text) {
  SkipSpace();
  return absl::StartsWith(whole_.substr(std::min(position_, whole_.size())), text);
}

bool ArchText::Consume(absl::string_view text) {
  if (!Peek(text)) return false;
  position_ += text.size();
  return true;
}

absl::Status ArchText::Expect(absl::string_view text) {
  if (Consume(text)) return absl::OkStatus();
  return Error(absl::StrCat("'", text, "' expected here"));
}

absl::Status ArchText::ExpectEnd() {
  if (AtEnd()) return absl::OkStatus();
  return Error("the architecture is complete before this");
}

absl::StatusOr<int64_t> ArchText::Int() {
  SkipSpace();
  size_t end = position_;
  if (end < whole_.size() && (whole_[end] == '-' || whole_[end] == '+')) ++end;
  while (end < whole_.size() && absl::ascii_isdigit(whole_[end])) ++end;
  int64_t value = 0;
  const absl::string_view digits = whole_.substr(std::min(position_, whole_.size()), end - position_);
  if (digits.size() > 10 || !absl::SimpleAtoi(digits, &value)) return Error("an integer expected here");
  position_ = end;
  return value;
}

absl::string_view ArchText::Word(absl::string_view extra) {
  SkipSpace();
  const size_t begin = std::min(position_, whole_.size());
  size_t end = begin;
  while (end < whole_.size() &&
         (absl::ascii_isalnum(whole_[end]) || whole_[end] == '_' || absl::StrContains(extra, whole_[end]))) {
    ++end;
  }
  position_ = end;
  return whole_.substr(begin, end - begin);
}

absl::StatusOr<std::vector<int64_t>> ArchText::IntList(size_t max_items) {
  std::vector<int64_t> values;
  const size_t begin = position_;
  if (Consume("range(")) {
    COBRA_ASSIGN_OR_RETURN(const int64_t first, Int());
    COBRA_RETURN_IF_ERROR(Expect(","));
    COBRA_ASSIGN_OR_RETURN(const int64_t last, Int());
    COBRA_RETURN_IF_ERROR(Expect(")"));
    if (last - first > static_cast<int64_t>(max_items)) {
      return ErrorAt(begin, "a list this long is not an architecture");
    }
    for (int64_t value = first; value < last; ++value) values.push_back(value);
    return values;
  }
  const absl::string_view close = Peek("(") ? ")" : "]";
  if (!Consume("(")) COBRA_RETURN_IF_ERROR(Expect("["));
  while (!Consume(close)) {
    if (!values.empty()) {
      COBRA_RETURN_IF_ERROR(Expect(","));
      if (Consume(close)) break;
    }
    COBRA_ASSIGN_OR_RETURN(const int64_t value, Int());
    values.push_back(value);
    if (values.size() > max_items) return ErrorAt(begin, "a list this long is not an architecture");
  }
  return values;
}

absl::Status ArchText::ErrorAt(size_t position, absl::string_view message, absl::string_view hint) const {
  // The line around the position; long strings are cut on both sides.
  constexpr size_t kBefore = 60, kAfter = 40;
  position = std::min(position, whole_.size());
  const size_t begin = position > kBefore ? position - kBefore : 0;
  std::string line(whole_.substr(begin, position - begin + kAfter));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return !absl::ascii_isprint(c); }, ' ');
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::kUsage;
  const absl::string_view rest = whole_.substr(position, 24);
  std::string quoted(rest.substr(0, rest.find_first_of("|, \t\n")));
  std::replace_if(
      quoted.begin(), quoted.end(), [](unsigned char c) { return !absl::ascii_isprint(c); }, '?');
  diagnostic.message = absl::StrCat(rest.empty() ? "end of the architecture" : absl::StrCat("'", quoted, "'"),
                                    " at position ", position + 1, ": ", message);
  diagnostic.hint = std::string(hint);
  diagnostic.position = {"architecture", 1, static_cast<int>(position - begin) + 1};
  diagnostic.source_line = line;
  return DiagnosticToStatus(diagnostic);
}

absl::StatusOr<int64_t> Options::Int(absl::string_view name, int64_t fallback, int64_t min, int64_t max) const {
  const auto found = values_.find(std::string(name));
  if (found == values_.end()) return fallback;
  int64_t value = 0;
  if (!absl::SimpleAtoi(found->second, &value) || value < min || value > max) {
    return UsageError(absl::StrCat(name, "=", found->second, ": an integer from ", min, " to ", max, " expected"));
  }
  return value;
}

absl::StatusOr<int> Options::Choice(absl::string_view name, int fallback,
                                    const std::vector<std::string>& choices) const {
  const auto found = values_.find(std::string(name));
  if (found == values_.end()) return fallback;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (absl::EqualsIgnoreCase(found->second, choices[i])) return static_cast<int>(i);
  }
  return UsageError(absl::StrCat(name, "=", found->second, ": one of ", absl::StrJoin(choices, ", "), " expected"));
}

std::string ButGiven(size_t count) { return absl::StrCat(", but ", count, count == 1 ? " is" : " are", " given"); }

absl::Status UnbuildableError(absl::string_view message) {
  return UserError(Diagnostic::Kind::kModelError, std::string(message),
                   "the space's own code rejects this architecture too");
}

}  // namespace cobra::nas
