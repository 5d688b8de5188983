#include "frontend/python/reader_errors.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "frontend/python/runtime/import.h"
#include "frontend/python/syntax/ast.h"
#include "frontend/python/torch/tensor.h"

namespace cobra::python {

std::string ModelNames(Interpreter& interp, ModuleObject* module) {
  const ClassObject* base = Torch(interp).module_class;
  std::vector<absl::string_view> names;
  for (size_t i = 0; i < module->attrs->table.entry_count(); ++i) {
    const DictTable::Entry& entry = module->attrs->table.entry(i);
    if (entry.key.IsUnbound() || !entry.key.IsStr() || !entry.value.IsClass()) continue;
    const ClassObject* cls = entry.value.as<ClassObject>();
    if (cls != base && Interpreter::IsSubclassOf(cls, base)) names.push_back(entry.key.str());
  }
  constexpr size_t kMost = 10;
  const size_t all = names.size();
  names.resize(std::min(all, kMost));
  return absl::StrCat(absl::StrJoin(names, ", "), all > kMost ? " ..." : "");
}

std::string SignatureOf(Interpreter& interp, Value model, absl::string_view method) {
  const Value found = model.IsFunction() ? model : interp.LookupClass(interp.class_of(model), interp.Intern(method));
  if (!found.IsFunction() || found.as<FunctionObject>()->definition == nullptr) return "";
  const ast::FunctionDef& definition = *found.as<FunctionObject>()->definition;
  const ast::Arguments& a = *definition.args;
  std::vector<const ast::Arg*> plain(a.posonlyargs.begin(), a.posonlyargs.end());
  plain.insert(plain.end(), a.args.begin(), a.args.end());
  std::vector<std::string> parts;
  for (size_t i = 0; i < plain.size(); ++i) {
    parts.push_back(absl::StrCat(plain[i]->arg->text, i + a.defaults.size() >= plain.size() ? "=..." : ""));
  }
  if (a.vararg != nullptr) parts.push_back(absl::StrCat("*", a.vararg->arg->text));
  if (a.vararg == nullptr && !a.kwonlyargs.empty()) parts.push_back("*");
  for (size_t i = 0; i < a.kwonlyargs.size(); ++i) {
    parts.push_back(absl::StrCat(a.kwonlyargs[i]->arg->text, a.kw_defaults[i] != nullptr ? "=..." : ""));
  }
  if (a.kwarg != nullptr) parts.push_back(absl::StrCat("**", a.kwarg->arg->text));
  return absl::StrCat(definition.name->text, "(", absl::StrJoin(parts, ", "), ")");
}

void NoteFailure(Interpreter& interp, ReadProgress* progress) {
  const TorchState& torch = Torch(interp);
  const Object* failure = PendingException(interp);
  if (torch.failed_module != nullptr && torch.failure == failure) progress->module_path = torch.failed_module;
  if (failure == nullptr) return;
  const auto* e = static_cast<const ExceptionObject*>(failure);
  // No frame of the program: the method itself could not be found or called.
  progress->in_arguments = e->traceback.empty() && (Interpreter::IsSubclassOf(e->cls, interp.types().TypeError) ||
                                                    Interpreter::IsSubclassOf(e->cls, interp.types().AttributeError));
}

absl::Status ExplainFailure(const absl::Status& status, const SourceRequest& request, const ReadProgress& progress) {
  std::optional<Diagnostic> found = DiagnosticFromStatus(status);
  if (!found.has_value()) return status;
  Diagnostic& d = *found;
  using Phase = ReadProgress::Phase;
  if (progress.module_path != nullptr) d.module_path = *progress.module_path;
  const bool of_program = d.kind == Diagnostic::Kind::kModelError || d.kind == Diagnostic::Kind::kSyntaxError;
  if (!of_program || !d.missing_module.empty()) return DiagnosticToStatus(d);
  const bool syntax = d.kind == Diagnostic::Kind::kSyntaxError;
  if (progress.phase == Phase::kEntry && d.position.file == "<entry>") {
    d.kind = Diagnostic::Kind::kUsage;
    d.hint = absl::StrCat("the entry is an expression in ", request.file, " whose value is the model",
                          progress.candidates.empty() ? "" : absl::StrCat("; models there: ", progress.candidates));
  } else if (progress.phase == Phase::kArguments && d.position.file == "<entry>") {
    d.kind = Diagnostic::Kind::kUsage;
    d.hint = absl::StrCat("the expressions of --arg are evaluated in ", request.file);
  } else if (progress.in_arguments) {
    d.kind = Diagnostic::Kind::kUsage;
    d.hint = progress.signature.empty()
                 ? "give one --input for each tensor argument"
                 : absl::StrCat("give one --input for each tensor argument of ", progress.signature,
                                ", and --arg NAME=EXPR for what is no tensor");
  } else if (absl::EndsWith(d.message, kBeyondTopLevel)) {  // has its hint
  } else if (syntax) {
    d.hint = "Python 3.11 rejects this too";
  } else if (progress.phase == Phase::kLoad) {
    d.hint = "Python raises this too when it imports the file; if it does not, please report it";
  } else if (progress.phase == Phase::kEntry) {
    d.hint =
        absl::StrCat("PyTorch raises this too when it builds ", request.entry, "; if it does not, please report it");
  } else {
    d.hint = absl::StrCat("PyTorch raises this too when it runs the model ",
                          request.inputs.empty() ? "without an input" : "on ", absl::StrJoin(request.inputs, " "),
                          ": check --input; if it runs there, please report it");
  }
  return DiagnosticToStatus(d);
}

}  // namespace cobra::python
