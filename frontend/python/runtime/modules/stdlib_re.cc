// _re: compiling and running regular expressions (regex.h) on Python's strings. The rest of `re` is
// stdlib/re.py.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/modules/regex.h"
#include "frontend/python/runtime/modules/stdlib.h"

namespace cobra::python {
namespace {
class CompiledPattern;
}  // namespace
template <>
struct IsImmutable<CompiledPattern> : std::true_type {};

namespace {

// Limit for one match. Ordinary patterns need a few steps per character; this limit is about 30 ms.
constexpr int64_t kMatchSteps = 3'000'000;
constexpr int64_t kMatchStepsAStep = 5;  // a match step takes about 10 ns, one of the interpreter about 50 ns
constexpr int64_t kStepsACharacter = 2;  // cost of compiling a pattern

class CompiledPattern : public NativeObject {
 public:
  std::unique_ptr<Regex> regex;
  bool bytes = false;
  std::string shown;  // for messages
};

std::vector<uint32_t> CodePointsOf(absl::string_view utf8) {
  std::vector<uint32_t> out;
  out.reserve(utf8.size());
  for (int64_t at = 0; at < static_cast<int64_t>(utf8.size());) out.push_back(DecodeUtf8(utf8.data(), &at));
  return out;
}

// Returns the pattern, or for an invalid one the tuple (message, position, whether the error is a
// ValueError).
Result<Value> Compile(Interpreter& interp, const CallArgs& args) {
  Value pattern;
  int64_t flags = 0;
  COBRA_TRY(ArgReader(interp, "compile", args).Required("pattern", &pattern).Optional("flags", &flags).Finish());
  if (!pattern.IsStr() && !pattern.IsBytes())
    return interp.Raise(interp.types().TypeError, "first argument must be string or compiled pattern");
  auto* compiled = interp.heap().New<CompiledPattern>();
  compiled->bytes = pattern.IsBytes();
  std::vector<uint32_t> text;
  if (compiled->bytes) {
    for (char c : pattern.as<BytesObject>()->view()) text.push_back(static_cast<unsigned char>(c));
    compiled->shown = QuotedBytes(pattern.as<BytesObject>()->view());
  } else {
    text = CodePointsOf(pattern.str());
    compiled->shown = QuotedStr(pattern.str());
  }
  COBRA_TRY(interp.Charge(1 + static_cast<int64_t>(text.size()) * kStepsACharacter));
  RegexError error;
  compiled->regex = Regex::Compile(text, static_cast<int>(flags), compiled->bytes, &error);
  if (compiled->regex == nullptr) {
    return Value(interp.NewTuple({Value(interp.NewStr(error.message)),
                                  error.position < 0 ? Value::None() : Value::Int(error.position),
                                  Value::Bool(error.value_error)}));
  }
  interp.heap().Allocate(static_cast<size_t>(compiled->regex->memory_bytes()));  // outside the heap, but counted
  return Value(interp.NewInstance(interp.types().object, compiled));
}

Result<CompiledPattern*> PatternOf(Interpreter& interp, Value handle) {
  auto* compiled = NativeCast<CompiledPattern>(handle);
  if (compiled == nullptr) (void)interp.Raise(interp.types().TypeError, "not a pattern");
  if (compiled == nullptr) return Failure();
  return compiled;
}

// (number of groups, {name: group}, flags)
Result<Value> Info(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value handle, OnlyArgument(interp, "info", "handle", args));
  COBRA_TRY_ASSIGN(CompiledPattern * compiled, PatternOf(interp, handle));
  DictObject* d = interp.NewDict();
  for (const auto& [name, index] : compiled->regex->names()) interp.DictSetStr(d, name, Value::Int(index));
  return Value(
      interp.NewTuple({Value::Int(compiled->regex->groups()), Value(d), Value::Int(compiled->regex->flags())}));
}

struct Subject {
  Regex::Text text;
  int64_t length = 0;
};
Result<Subject> SubjectOf(Interpreter& interp, CompiledPattern* compiled, Value string) {
  Subject s;
  if (string.IsStr()) {
    if (compiled->bytes)
      return interp.Raise(interp.types().TypeError, "cannot use a bytes pattern on a string-like object");
    auto* str = string.as<StrObject>();
    s.length = str->length;
    if (str->ascii) {
      s.text.narrow = reinterpret_cast<const unsigned char*>(str->data);
    } else {
      RuntimeState& state = interp.state();  // a scan runs many matches on the same string
      if (state.decoded_of != str) {
        for (int64_t i = 0; i < str->size; i += 64) COBRA_TRY(interp.Step());
        state.decoded = CodePointsOf(str->view());
        state.decoded_of = str;
      }
      s.text.wide = state.decoded.data();
    }
    return s;
  }
  if (string.IsBytes()) {
    if (!compiled->bytes)
      return interp.Raise(interp.types().TypeError, "cannot use a string pattern on a bytes-like object");
    s.text.narrow = reinterpret_cast<const unsigned char*>(string.as<BytesObject>()->data);
    s.length = string.as<BytesObject>()->size;
    return s;
  }
  return interp.Raise(interp.types().TypeError, "expected string or bytes-like object, got '", interp.TypeName(string),
                      "'");
}

// None, or a tuple: start and end of the match and of each group, then the group closed last (or
// None).
Result<Value> MatchOnce(Interpreter& interp, CompiledPattern* compiled, const Subject& subject, int64_t start,
                        int64_t end, Regex::Anchor anchor, bool must_advance) {
  std::vector<int64_t> spans;
  int last_group = -1;
  int64_t steps = kMatchSteps;
  Regex::Outcome outcome =
      compiled->regex->Match(subject.text, start, end, anchor, must_advance, &spans, &last_group, &steps);
  COBRA_TRY(interp.Charge((kMatchSteps - std::max<int64_t>(steps, 0)) / kMatchStepsAStep));
  if (outcome == Regex::Outcome::kTooLong) {
    return interp.LimitReached(absl::StrCat("the regular expression ", compiled->shown, " backtracks too much"),
                               "a pattern with nested repetitions takes exponential time: write it so that its parts "
                               "cannot match the same text");
  }
  if (outcome == Regex::Outcome::kNo) return Value::None();
  TupleObject* tuple = interp.NewTupleOfSize(static_cast<int64_t>(spans.size()) + 1);
  for (size_t i = 0; i < spans.size(); ++i) tuple->items[i] = Value::Int(spans[i]);
  // A group that was entered but not left has no match.
  for (size_t i = 0; i + 1 < spans.size(); i += 2) {
    if (spans[i] < 0 || spans[i + 1] < 0) tuple->items[i] = tuple->items[i + 1] = Value::Int(-1);
  }
  tuple->items[spans.size()] = last_group < 0 ? Value::None() : Value::Int(last_group);
  return Value(tuple);
}

struct RunArguments {
  CompiledPattern* compiled = nullptr;
  Subject subject;
  int64_t start = 0, end = INT64_MAX;
};
Result<void> ReadRange(Interpreter& interp, Value handle, Value string, RunArguments* run) {
  COBRA_TRY_SET(run->compiled, PatternOf(interp, handle));
  COBRA_TRY_SET(run->subject, SubjectOf(interp, run->compiled, string));
  run->start = std::min(std::max<int64_t>(run->start, 0), run->subject.length);
  run->end = std::min(std::max<int64_t>(run->end, 0), run->subject.length);
  return {};
}

// how: a Regex::Anchor.
Result<Value> Run(Interpreter& interp, const CallArgs& args) {
  Value handle, string;
  RunArguments run;
  int64_t how = 0;
  COBRA_TRY(ArgReader(interp, "run", args)
                .Required("handle", &handle)
                .Required("string", &string)
                .Required("pos", &run.start)
                .Required("endpos", &run.end)
                .Required("how", &how)
                .Finish());
  COBRA_TRY(ReadRange(interp, handle, string, &run));
  if (run.start > run.end) return Value::None();
  return MatchOnce(interp, run.compiled, run.subject, run.start, run.end, static_cast<Regex::Anchor>(how), false);
}

// Makes a function such as match(pattern, string, flags=0) of the module `re`. `known` has the
// compiled handles of patterns given as strings without flags. If such a pattern does not match,
// the function returns None at once; in every other case it calls the library's function
// `otherwise`. (Some programs match names against lists of patterns a million times.)
Result<Value> Bind(Interpreter& interp, const CallArgs& args) {
  Value name, known, otherwise;
  int64_t how = 0;
  COBRA_TRY(ArgReader(interp, "bind", args)
                .Required("name", &name)
                .Required("known", &known)
                .Required("otherwise", &otherwise)
                .Required("how", &how)
                .Finish());
  auto* handles = known.as<DictObject>();
  const auto anchor = static_cast<Regex::Anchor>(how);
  return interp.NewFunction(
      name.str(), [handles, otherwise, anchor](Interpreter& i, const CallArgs& call) -> Result<Value> {
        if (call.positional.size() == 2 && call.keywords.empty() && call.positional[0].IsStr() &&
            call.positional[1].IsStr()) {
          const Value* handle = handles->table.GetStr(call.positional[0].as<StrObject>());
          if (handle != nullptr) {
            COBRA_TRY_ASSIGN(CompiledPattern * compiled, PatternOf(i, *handle));
            COBRA_TRY_ASSIGN(Subject subject, SubjectOf(i, compiled, call.positional[1]));
            COBRA_TRY_ASSIGN(Value found, MatchOnce(i, compiled, subject, 0, subject.length, anchor, false));
            if (found.IsNone()) return found;
          }
        }
        return i.Call(otherwise, call);
      });
}

// All non-overlapping matches from left to right, at most `count` of them if it is not 0.
Result<Value> Scan(Interpreter& interp, const CallArgs& args) {
  Value handle, string;
  RunArguments run;
  int64_t count = 0;
  COBRA_TRY(ArgReader(interp, "scan", args)
                .Required("handle", &handle)
                .Required("string", &string)
                .Required("pos", &run.start)
                .Required("endpos", &run.end)
                .Required("count", &count)
                .Finish());
  COBRA_TRY(ReadRange(interp, handle, string, &run));
  ListObject* found = interp.NewList();
  bool must_advance = false;
  for (int64_t at = run.start; at <= run.end;) {
    COBRA_TRY(interp.Step());
    COBRA_TRY_ASSIGN(Value m,
                     MatchOnce(interp, run.compiled, run.subject, at, run.end, Regex::Anchor::kSearch, must_advance));
    if (m.IsNone()) break;
    found->items.push_back(interp.heap(), m);
    if (count > 0 && static_cast<int64_t>(found->items.size()) >= count) break;
    at = m.as<TupleObject>()->items[1].as_int();
    must_advance = m.as<TupleObject>()->items[0].as_int() == at;
  }
  return Value(found);
}

}  // namespace

void AddReModule(NativeRegistry* registry) {
  NativeModule module;
  module.name = "_re";
  module.define = [](Interpreter&, NativeModuleBuilder& m) -> Result<void> {
    m.Function("compile", Compile)
        .Function("info", Info)
        .Function("run", Run)
        .Function("scan", Scan)
        .Function("bind", Bind);
    return {};
  };
  registry->Add(std::move(module));
}

}  // namespace cobra::python
