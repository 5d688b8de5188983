#include "frontend/python/input_spec.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/user_error.h"

namespace cobra::python {
namespace {

constexpr int kMaxDepth = 32;
constexpr char kHint[] =
    "tensors as in 1x3x224x224 or 1x128:int64, None, lists [1x8, 1x8], tuples (1x8, 1x8), and dictionaries "
    "{\"ids\": 1x128:int64}";

struct Brackets {
  char open, close;
  InputValue::Kind kind;
};
constexpr Brackets kBrackets[] = {
    {'[', ']', InputValue::Kind::kList}, {'(', ')', InputValue::Kind::kTuple}, {'{', '}', InputValue::Kind::kDict}};

bool IsNameChar(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool IsName(absl::string_view text) {
  return !text.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), IsNameChar);
}

class InputParser {
 public:
  explicit InputParser(absl::string_view text) : text_(text), rest_(text) {}

  absl::StatusOr<InputSpec> Parse() {
    InputSpec spec;
    if (const size_t equals = rest_.find('='); equals != absl::string_view::npos) {
      const absl::string_view name = absl::StripAsciiWhitespace(rest_.substr(0, equals));
      if (IsName(name)) {
        spec.name = std::string(name);
        rest_.remove_prefix(equals + 1);
      }
    }
    COBRA_ASSIGN_OR_RETURN(spec.value, Value(0));
    Skip();
    if (!rest_.empty()) return Error(absl::StrCat("\"", rest_, "\" is left over"));
    return spec;
  }

 private:
  absl::Status Error(absl::string_view why, absl::string_view hint = kHint) const {
    const absl::string_view shown = text_.substr(0, 80);
    return UserError(Diagnostic::Kind::kUsage,
                     absl::StrCat("\"", shown, shown.size() < text_.size() ? "..." : "", "\": ", why),
                     std::string(hint));
  }

  void Skip() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  bool Take(char c) {
    Skip();
    return absl::ConsumePrefix(&rest_, absl::string_view(&c, 1));
  }

  absl::StatusOr<InputValue> Value(int depth) {
    if (depth > kMaxDepth) return Error(absl::StrCat("is nested more than ", kMaxDepth, " deep"));
    InputValue value;
    for (const auto& [open, close, kind] : kBrackets) {
      if (!Take(open)) continue;
      value.kind = kind;
      COBRA_RETURN_IF_ERROR(Items(close, depth, &value));
      return value;
    }
    Skip();
    // The text of a tensor outside all brackets ends where the input does, so that the error shows
    // all of it.
    const size_t end = depth == 0 ? rest_.size() : std::min(rest_.find_first_of(",])}"), rest_.size());
    const absl::string_view text = absl::StripAsciiWhitespace(rest_.substr(0, end));
    rest_.remove_prefix(end);
    if (text == "None") {
      value.kind = InputValue::Kind::kNone;
      return value;
    }
    if (text.empty() && depth > 0) return Error("something is missing between commas or brackets");
    if (double number = 0; text.find_first_of(".eE") != text.npos && absl::SimpleAtod(text, &number))
      return Error("is a number, not the size of a tensor", "give it by its name: --arg scale=2.5");
    COBRA_ASSIGN_OR_RETURN(value.tensor, graph::ParseTensorType(text));
    return value;
  }

  absl::Status Items(char close, int depth, InputValue* value) {
    while (!Take(close)) {
      if (value->kind == InputValue::Kind::kDict) {
        COBRA_ASSIGN_OR_RETURN(std::string key, Key());
        if (std::find(value->keys.begin(), value->keys.end(), key) != value->keys.end())
          return Error(absl::StrCat("the key \"", key, "\" occurs in it twice"));
        value->keys.push_back(std::move(key));
      }
      COBRA_ASSIGN_OR_RETURN(InputValue item, Value(depth + 1));
      value->items.push_back(std::move(item));
      if (Take(',')) continue;
      if (!Take(close)) return Error(absl::StrCat("a \"", absl::string_view(&close, 1), "\" is missing"));
      break;
    }
    return absl::OkStatus();
  }

  // "user": or user:
  absl::StatusOr<std::string> Key() {
    Skip();
    std::string key;
    if (absl::StartsWith(rest_, "\"") || absl::StartsWith(rest_, "'")) {
      const size_t end = rest_.find(rest_[0], 1);
      if (end == absl::string_view::npos) return Error("a key has no closing quote");
      key = std::string(rest_.substr(1, end - 1));
      rest_.remove_prefix(end + 1);
    } else {
      const auto end = std::find_if_not(rest_.begin(), rest_.end(), IsNameChar);
      key = std::string(rest_.begin(), end);
      rest_.remove_prefix(key.size());
      if (!IsName(key)) return Error("a dictionary has KEY: VALUE, with keys that are strings");
    }
    if (!Take(':')) return Error(absl::StrCat("a \":\" is missing after the key \"", key, "\""));
    return key;
  }

  const absl::string_view text_;
  absl::string_view rest_;
};

}  // namespace

int64_t InputValue::num_tensors() const {
  int64_t count = kind == Kind::kTensor ? 1 : 0;
  for (const InputValue& item : items) count += item.num_tensors();
  return count;
}

absl::StatusOr<InputSpec> ParseInput(absl::string_view text) { return InputParser(text).Parse(); }

}  // namespace cobra::python
