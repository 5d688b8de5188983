// Modules that were found but cannot be imported here, and imports that wait until their names are
// read.
#include <algorithm>
#include <atomic>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

// Libraries of which one file would load all others. tests/frontend/python/libraries compares their
// models with PyTorch, with and without deferred imports. huggingface_hub, safetensors and tqdm are
// imported by them, and no model is in them.
constexpr absl::string_view kDeferring[] = {"diffusers", "huggingface_hub", "safetensors", "timm", "torchvision",
                                            "tqdm",      "transformers"};

std::atomic<bool> defers{true};

bool IsDeferring(absl::string_view module) {
  const absl::string_view top = module.substr(0, module.find('.'));
  return std::find(std::begin(kDeferring), std::end(kDeferring), top) != std::end(kDeferring);
}

// The innermost frame that is not the runtime's own.
const Frame* ProgramFrame(const Interpreter& interp) {
  const Frame* frame = interp.state().frame;
  while (frame != nullptr && frame->unit->internal) frame = frame->back;
  return frame;
}

std::string OneLine(std::string text) {
  constexpr size_t kLongest = 300;  // the library determines it
  if (text.size() > kLongest) text = absl::StrCat(text.substr(0, kLongest), " ...");
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Importer::PutAside ReasonOf(Interpreter& interp, const ExceptionObject* e, Value exception) {
  Importer::PutAside why;
  const Result<StrObject*> text = interp.Str(exception);
  if (!text.ok()) interp.CatchException(interp.types().BaseException);
  const bool has_text = text.ok() && !(*text)->view().empty();
  why.reason = OneLine(absl::StrCat(e->cls->name->view(), has_text ? ": " : "", has_text ? (*text)->view() : ""));
  if (e->traceback.size() > 0) {
    const TracebackEntry& t = e->traceback[0];
    why.where = absl::StrCat(t.unit->display_name, ":", t.position->line);
  }
  why.hint = "if the model runs in PyTorch, please report it";
  return why;
}

// Whether a `raise` of the program made the exception, and not the runtime.
bool IsDeliberate(const ExceptionObject* e) {
  if (e->traceback.size() == 0) return false;
  const TracebackEntry& t = e->traceback[0];
  const absl::string_view line = t.unit->code->ast().Line(t.position->line);
  return absl::StartsWith(line.substr(std::min(line.size(), static_cast<size_t>(t.position->col))), "raise");
}

Importer::PutAside ReasonOf(const Diagnostic& d) {
  Importer::PutAside why{OneLine(d.message), "", d.hint};
  const SourcePosition& at = d.frames.empty() ? d.position : d.frames.back().position;
  if (at.line > 0) why.where = absl::StrCat(at.file, ":", at.line);
  return why;
}

// Whether a model could notice that the attribute is another one: no graph depends on
// torch.backends.cudnn.benchmark.
bool MayMatter(const ModuleObject* module, StrObject* attribute) {
  if (!module->is_native) return true;
  const Value* own = module->attrs->table.GetStr(attribute);
  return own != nullptr && (own->IsClass() || own->IsFunction() || own->IsBuiltin() || own->IsModule());
}

}  // namespace

bool IsUnderTry(const Interpreter& interp) {
  for (const Frame* frame = interp.state().frame; frame != nullptr; frame = frame->back) {
    if (frame->try_depth > 0) return true;
  }
  return false;
}

// What only the reader lacks is put aside wherever it happens: Python would have gone on. So are
// exceptions, which an installed library does not raise when it is imported, unless they are the
// program's own affair: it raises and handles them, the module belongs to its package, or a library
// asks for another one (ImportError).
bool Importer::PutModuleAside(absl::string_view name, const Location& location) {
  // The file that was asked for is imported by no code.
  if (location.source == nullptr || !location.is_library || interp_.state().frame == nullptr) return false;
  PutAside why;
  if (std::unique_ptr<Diagnostic> failure = exchange_failure_(nullptr)) {
    const bool is_lacking = failure->kind == Diagnostic::Kind::kUnsupported ||
                            failure->kind == Diagnostic::Kind::kDataDependent ||
                            (failure->kind == Diagnostic::Kind::kSyntaxError && !location.source->is_users());
    if (!is_lacking) {
      exchange_failure_(std::move(failure));
      return false;
    }
    why = ReasonOf(*failure);
  } else {
    Value exception;
    if (location.source->is_users() || !interp_.CatchException(interp_.types().Exception, &exception)) return false;
    const auto* e = exception.as<ExceptionObject>();
    if (Interpreter::IsSubclassOf(e->cls, interp_.types().ImportError) ||
        Interpreter::IsSubclassOf(e->cls, interp_.types().RecursionError) || (IsUnderTry(interp_) && IsDeliberate(e))) {
      (void)interp_.RaiseValue(exception);
      return false;
    }
    why = ReasonOf(interp_, e, exception);
    if (interp_.HasError()) return false;  // its text has reached a limit
  }
  put_aside_.emplace(std::string(name), std::move(why));
  return true;
}

bool Importer::LacksStandardName(Value module) const {
  if (!module.IsModule() || !module.as<ModuleObject>()->is_native) return false;
  const Frame* const frame = ProgramFrame(interp_);
  return frame != nullptr && frame->module->is_library && !frame->module->is_users && frame->try_depth == 0 &&
         IsStandardLibraryName(module.as<ModuleObject>()->name->view());
}

const Importer::PutAside* Importer::FindPutAside(absl::string_view dotted_name, std::string* module) const {
  for (absl::string_view name = dotted_name; !name.empty();) {
    for (const auto* known : {&put_aside_, &frozen_put_aside_}) {
      const auto it = known->find(name);
      if (it == known->end()) continue;
      *module = it->first;
      return &it->second;
    }
    const size_t dot = name.rfind('.');
    name = dot == absl::string_view::npos ? "" : name.substr(0, dot);
  }
  return nullptr;
}

std::vector<std::string> Importer::NamesPutAside() const {
  std::vector<std::string> names;
  for (const auto* known : {&put_aside_, &frozen_put_aside_}) {
    for (const auto& [name, why] : *known) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// ---- deferred imports ----

void Importer::set_may_defer(bool may_defer) { defers = may_defer; }

bool Importer::MayDefer(const ModuleObject* module) const {
  return module->is_library && !module->is_users && defers && !is_loading_deferred_ &&
         IsDeferring(module->name->view());
}

Result<void> Importer::BeforeChange(const ModuleObject* module, StrObject* attribute) {
  if (!has_deferred_ || is_loading_deferred_ || !MayMatter(module, attribute)) return {};
  const Frame* const frame = ProgramFrame(interp_);
  if (frame == nullptr || frame->module == module ||
      (frame->module->is_library && IsDeferring(frame->module->name->view())))
    return {};
  return LoadDeferred();
}

Result<void> Importer::LoadDeferred() {
  is_loading_deferred_ = true;
  Result<void> done;
  auto load = [&](ModuleObject* module) -> Result<void> {
    DictTable& table = module->attrs->table;
    COBRA_TRY(interp_.Charge(1 + static_cast<int64_t>(table.entry_count()) / 16));
    for (size_t i = 0; i < table.entry_count(); ++i) {
      const DictTable::Entry e = table.entry(i);
      if (!e.key.IsStr() || !e.value.IsLazy()) continue;
      COBRA_TRY(interp_.Step());
      const Result<Value> v = ForceLazy(interp_, e.value);
      // What fails now fails again where it is needed.
      if (!v.ok() && !interp_.CatchException(interp_.types().Exception)) return Failure();
      if (v.ok()) table.SetStr(interp_.heap(), e.key.as<StrObject>(), *v);
    }
    return {};
  };
  for (int before = -1; done.ok() && before != loaded_;) {  // what is loaded now may import more
    before = loaded_;
    DictTable& loaded = modules()->table;
    for (size_t i = 0; done.ok() && i < loaded.entry_count(); ++i) {
      const Value m = loaded.entry(i).value;
      if (m.IsModule() && m.as<ModuleObject>()->is_library) done = load(m.as<ModuleObject>());
    }
  }
  is_loading_deferred_ = false;
  has_deferred_ = !done.ok();
  return done;
}

}  // namespace cobra::python
