// overrides.def: how PyTorch hands each function to __torch_function__. The text of a row:
//   =NAME     a function in C that the class sees as NAME of the same place (m.NAME, t.NAME: of
//             Tensor, of torch)
//   C         in C, while ours is Python text
//   ~         an operator in Python
//   +         makes a tensor of no tensor
//   -         is never handed over
//   anything else is the signature of a function in Python, as it hands its arguments over:
//   "input!, dim | dtype=None, **" gives dim by position and dtype by name; of the arguments with
//   '!' the classes are asked. What follows " - " is not handed over.
// Names without a row are functions in C; private ones are refused.
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "frontend/python/torch/overrides/overrides.h"

namespace cobra::python {
namespace {

struct Row {
  int major = 0, minor = 0;
  absl::string_view text;
};

// By space and name, in the order of the versions.
const std::map<std::pair<char, absl::string_view>, std::vector<Row>>& Rows() {
  static const auto* const kRows = [] {
    auto* rows = new std::map<std::pair<char, absl::string_view>, std::vector<Row>>();
    const auto add = [&](char space, absl::string_view name, absl::string_view since, absl::string_view text) {
      Row row;
      row.text = text;
      const std::pair<absl::string_view, absl::string_view> version = absl::StrSplit(since, absl::MaxSplits('.', 1));
      if (!since.empty() &&
          (!absl::SimpleAtoi(version.first, &row.major) || !absl::SimpleAtoi(version.second, &row.minor)))
        return;
      (*rows)[{space, name}].push_back(row);
    };
#define COBRA_TORCH_OVERRIDE(space, name, since, text) add(space, name, since, text);
#include "frontend/python/torch/overrides/overrides.def"
#undef COBRA_TORCH_OVERRIDE
    return rows;
  }();
  return *kRows;
}

// What our own Python text asks about tensors, where PyTorch has nothing.
bool IsOurQuestion(absl::string_view name) {
  for (const char* known : {"_is_known", "_has_values", "_unsupported", "_data_dependent", "_is_same_value",
                            "_handle_torch_function", "_push_function_mode"}) {
    if (name == known) return true;
  }
  return absl::StartsWith(name, "_has_torch_function");
}

struct PythonParameter {
  absl::string_view name;
  absl::string_view otherwise;  // the text of its default
  bool has_default = false, relevant = false, rest = false;
};

PythonParameter ParseParameter(absl::string_view text) {
  PythonParameter parameter;
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
  parameter.name = parts.first;
  parameter.has_default = absl::StrContains(text, '=');
  parameter.otherwise = parts.second;
  parameter.rest = absl::ConsumePrefix(&parameter.name, "*");
  parameter.relevant = absl::ConsumeSuffix(&parameter.name, "!");
  return parameter;
}

Value DefaultOf(Interpreter& interp, absl::string_view text) {
  if (text == "True" || text == "False") return Value::Bool(text == "True");
  if (text.size() >= 2 && text[0] == '\'') return interp.NewStr(text.substr(1, text.size() - 2));
  int64_t integer;
  double number;
  if (absl::SimpleAtoi(text, &integer)) return Value::Int(integer);
  if (absl::SimpleAtod(text, &number)) return Value::Float(number);
  return Value::None();
}

// The parameters of one part of a signature.
std::vector<PythonParameter> ParsePart(absl::string_view text) {
  std::vector<PythonParameter> parameters;
  for (absl::string_view part : absl::StrSplit(text, ", ", absl::SkipWhitespace()))
    parameters.push_back(ParseParameter(absl::StripAsciiWhitespace(part)));
  return parameters;
}

struct PythonSignature {
  std::vector<PythonParameter> positional, named, dropped;
  bool takes_names = false;
};

PythonSignature ParseSignature(absl::string_view text) {
  PythonSignature signature;
  const std::pair<absl::string_view, absl::string_view> apart = absl::StrSplit(text, absl::MaxSplits(" - ", 1));
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(apart.first, absl::MaxSplits('|', 1));
  signature.positional = ParsePart(parts.first);
  signature.named = ParsePart(parts.second);
  signature.dropped = ParsePart(apart.second);
  if (!signature.named.empty() && signature.named.back().rest) {
    signature.named.pop_back();
    signature.takes_names = true;
  }
  return signature;
}

// The arguments of one call, by the names of the parameters.
class PythonBinder {
 public:
  PythonBinder(Interpreter& interp, absl::string_view function, absl::Span<const Value> positional,
               absl::Span<const KeywordArg> keywords)
      : interp_(interp), function_(function), positional_(positional), keywords_(keywords) {}

  Result<PythonCall> Bind(const PythonSignature& signature) {
    call_.keywords = interp_.NewDict();
    for (const PythonParameter& parameter : signature.positional) {
      if (parameter.rest) {
        for (Value v : positional_) Add(parameter, v);
        positional_ = {};
        continue;
      }
      COBRA_TRY_ASSIGN(const Value v, Take(parameter));
      Add(parameter, v);
    }
    for (const PythonParameter& parameter : signature.named) {
      COBRA_TRY_ASSIGN(const Value v, Take(parameter));
      if (parameter.relevant) call_.relevant.push_back(v);
      if (parameter.name == "return_indices") call_.with_indices = v.IsBool() && v.as_bool();
      call_.keywords->table.SetStr(interp_.heap(), interp_.Intern(parameter.name), v);
    }
    for (const PythonParameter& parameter : signature.dropped) COBRA_TRY(TakeDropped(parameter));
    if (!positional_.empty())
      return interp_.Raise(interp_.types().TypeError, function_, "() takes fewer positional arguments");
    for (size_t i = 0; i < keywords_.size(); ++i) {
      if (i < 64 && (used_ >> i & 1) != 0) continue;
      if (!signature.takes_names)
        return interp_.Raise(interp_.types().TypeError, function_, "() got an unexpected keyword argument '",
                             keywords_[i].name->view(), "'");
      call_.keywords->table.SetStr(interp_.heap(), keywords_[i].name, keywords_[i].value);
    }
    return std::move(call_);
  }

 private:
  void Add(const PythonParameter& parameter, Value v) {
    call_.positional.push_back(v);
    if (parameter.relevant) call_.relevant.push_back(v);
  }

  Value Named(absl::string_view name) {
    for (size_t i = 0; i < keywords_.size() && i < 64; ++i) {
      if (keywords_[i].name->view() != name) continue;
      used_ |= uint64_t{1} << i;
      return keywords_[i].value;
    }
    return Value::Unbound();
  }

  Result<Value> Take(const PythonParameter& parameter) {
    const Value named = Named(parameter.name);
    if (!positional_.empty() && named.IsUnbound()) {
      const Value v = positional_[0];
      positional_.remove_prefix(1);
      return v;
    }
    if (!named.IsUnbound()) return named;
    if (parameter.has_default) return DefaultOf(interp_, parameter.otherwise);
    return interp_.Raise(interp_.types().TypeError, function_, "() missing 1 required positional argument: '",
                         parameter.name, "'");
  }

  Result<void> TakeDropped(const PythonParameter& parameter) {
    const Value named = Named(parameter.name);
    if (named.IsUnbound() && positional_.empty()) return {};
    if (named.IsUnbound()) positional_.remove_prefix(1);
    return {};
  }

  Interpreter& interp_;
  absl::string_view function_;
  absl::Span<const Value> positional_;
  absl::Span<const KeywordArg> keywords_;
  uint64_t used_ = 0;  // bit i: keywords_[i] is taken
  PythonCall call_;
};

}  // namespace

OverrideRule OverrideRuleOf(const TorchLibrary& library, char space, absl::string_view name) {
  using Kind = OverrideRule::Kind;
  OverrideRule rule;
  if (space == 'v') {
    rule.kind = Kind::kRefused;
    return rule;
  }
  const auto found = Rows().find({space, name});
  if (found == Rows().end()) {
    const bool is_private = absl::StartsWith(name, "_") && !absl::StartsWith(name, "__");
    if (is_private && space != 'm') rule.kind = IsOurQuestion(name) ? Kind::kNever : Kind::kRefused;
    // Others of torch.nn.init compute with the tensor in calls that ours have not.
    if (space == 'N' && absl::EndsWith(name, "_") && name != "ones_" && name != "zeros_") rule.kind = Kind::kRefused;
    return rule;
  }
  rule.has_row = true;
  absl::string_view text;
  for (const Row& row : found->second) {
    const bool there =
        library.version_major != row.major ? library.version_major > row.major : library.version_minor >= row.minor;
    if (there) text = row.text;
  }
  if (text.empty() || text == "C") return rule;
  if (text == "~" || text == "+" || text == "-") {
    rule.kind = text == "~" ? Kind::kOperator : text == "+" ? Kind::kFactory : Kind::kNever;
  } else if (absl::ConsumePrefix(&text, "=")) {
    const OverrideRule other = OverrideRuleOf(library, space, text);
    if (other.kind == Kind::kPython) rule = other;
    rule.shown = std::string(text);
  } else {
    rule.kind = Kind::kPython;
    rule.text = text;
  }
  return rule;
}

Result<PythonCall> BindPythonCall(Interpreter& interp, absl::string_view function, absl::string_view text,
                                  absl::Span<const Value> positional, absl::Span<const KeywordArg> keywords) {
  return PythonBinder(interp, function, positional, keywords).Bind(ParseSignature(text));
}

}  // namespace cobra::python
