// What packages find out about the text of their own files (transformers): the names in `__all__`,
// what a module's classes look like. An untrusted program can call this too: it sees a few words of
// files that it could read as well.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/interpreter/native.h"
#include "frontend/python/runtime/modules/place.h"
#include "frontend/python/runtime/modules/stdlib.h"

namespace cobra::python {
namespace {

// Whether one of the classes at the top level is as wanted; `head` is what stands up to the colon
// after its bases.
bool AnyClass(absl::string_view text, absl::FunctionRef<bool(absl::string_view head)> wanted) {
  constexpr absl::string_view kClass = "\nclass ";
  for (size_t at = text.find(kClass); at != absl::string_view::npos; at = text.find(kClass, at + 1)) {
    const size_t end = text.find(')', at);
    if (end != absl::string_view::npos && wanted(text.substr(at + 1, end + 1 - at))) return true;
  }
  return false;
}

// What transformers looks for in the text of a model's module, as three answers: whether it has an
// attention layer of its own, whether that asks for the attention that was chosen, whether there
// are experts to choose for.
Result<Value> ModuleTraits(Interpreter& interp, const CallArgs& args) {
  const Value module = args.positional.empty() ? Value::None() : args.positional[0];
  const CodeUnit* const unit = module.IsModule() ? module.as<ModuleObject>()->unit : nullptr;
  if (unit == nullptr || unit->internal) return Value::None();
  const absl::string_view text = unit->code->ast().source();
  COBRA_TRY(interp.Charge(static_cast<int64_t>(text.size()) / 64));
  const bool has_attention = AnyClass(text, [](absl::string_view head) {
    return absl::ConsumeSuffix(&head, "(nn.Module):") && absl::StrContains(head, "Attention") &&
           !absl::StrContains(head, "(");
  });
  const Value answers[] = {Value::Bool(has_attention),
                           Value::Bool(absl::StrContains(text, "ALL_ATTENTION_FUNCTIONS.get_interface(")),
                           Value::Bool(absl::StrContains(text, "@use_experts_implementation"))};
  return Value(interp.NewTuple(answers));
}

// What stands in quotation marks.
std::vector<absl::string_view> QuotedWords(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, absl::ByAnyChar("\"'"));
  std::vector<absl::string_view> words;
  for (size_t i = 1; i < parts.size(); i += 2) words.push_back(parts[i]);
  return words;
}

// The last `__all__ = [...]` that begins a line, on one line or with a name a line.
std::vector<absl::string_view> ExportedNames(absl::string_view text) {
  constexpr absl::string_view kAll = "__all__";
  const size_t at = text.rfind(absl::StrCat("\n", kAll));
  if (at == absl::string_view::npos && !absl::StartsWith(text, kAll)) return {};
  const absl::string_view rest = text.substr(at == absl::string_view::npos ? 0 : at + 1);
  const size_t open = rest.find('['), close = rest.find(']');
  if (open == absl::string_view::npos || close == absl::string_view::npos || close < open) return {};
  return QuotedWords(rest.substr(open, close - open));
}

// The words in quotation marks of `@requires(backends=("torch", "vision"))`, and the name of what
// it stands above.
Value RequiredBy(Interpreter& interp, absl::string_view part) {
  std::vector<Value> backends;
  for (const absl::string_view word : QuotedWords(part.substr(0, part.find(')'))))
    backends.push_back(interp.NewStr(word));
  const size_t at = std::min(part.find("\nclass "), part.find("\ndef "));
  if (at == absl::string_view::npos) return Value::None();
  absl::string_view name = part.substr(part.find(' ', at) + 1);
  name = name.substr(0, name.find_first_of("(:[ "));
  const Value pair[] = {interp.NewTuple(backends), interp.NewStr(name)};
  return interp.NewTuple(pair);
}

// [(module, [names of its __all__], [(backends, name) of each @requires], whether it has a
// TorchvisionBackend)] of the Python files of a library's folder; None if there is no such folder.
Result<Value> Exports(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(const FilePlace place, FilePlaceArgument(interp, args, "exports"));
  if (place.source == nullptr) return Value::None();
  const absl::StatusOr<std::vector<std::string>> names = place.source->List(place.path);
  if (!names.ok()) return Value::None();
  std::vector<Value> out;
  for (const std::string& name : *names) {
    absl::string_view module = name;
    if (!absl::ConsumeSuffix(&module, ".py")) continue;
    const absl::StatusOr<std::string> text = place.source->Read(absl::StrCat(place.path, "/", name));
    if (!text.ok()) continue;
    COBRA_TRY(interp.Charge(4 + static_cast<int64_t>(text->size()) / 1024));
    std::vector<Value> exported, required;
    for (const absl::string_view one : ExportedNames(*text)) exported.push_back(interp.NewStr(one));
    for (const char* mark : {"\n@requires", "\n@export("}) {  // the second one in earlier releases
      const std::vector<absl::string_view> parts = absl::StrSplit(*text, mark);
      for (size_t i = 1; i < parts.size(); ++i) {
        if (const Value one = RequiredBy(interp, parts[i]); !one.IsNone()) required.push_back(one);
      }
    }
    const Value fields[] = {interp.NewStr(module), interp.NewList(exported), interp.NewList(required),
                            Value::Bool(AnyClass(*text, [](absl::string_view head) {
                              return absl::StrContains(head, "TorchvisionBackend");
                            }))};
    out.push_back(interp.NewTuple(fields));
  }
  return Value(interp.NewList(out));
}

}  // namespace

void AddLibraryFunctions(NativeModuleBuilder& m) {
  m.Function("exports", Exports).Function("module_traits", ModuleTraits);
}

}  // namespace cobra::python
