#include "frontend/python/interpreter_image.h"

#include <utility>

#include "base/status_macros.h"

namespace cobra::python {
namespace {

// Imports what PyTorch has loaded after `import torch`, and what model files import of the standard
// library.
Result<void> ImportBasics(Interpreter& interp) {
  COBRA_TRY(interp.ImportModule("torch"));
  COBRA_TRY(interp.ImportModule("torch.nn.modules.module"));
  for (const std::string& name : AllNatives().NamesUnder("torch.nn.")) {
    if (interp.ImportModule(name).ok()) continue;
    // The target version lacks this module.
    if (!interp.CatchException(interp.types().ModuleNotFoundError)) return Failure();
  }
  COBRA_TRY_ASSIGN(ModuleObject * nn, interp.ImportModule("torch.nn"));
  COBRA_TRY(interp.GetAttr(nn, "__dict__"));  // loads all its classes, which are otherwise loaded one by one
  for (const char* name :
       {"abc", "collections", "collections.abc", "copy", "dataclasses", "enum", "functools", "inspect", "itertools",
        "logging", "math", "numbers", "operator", "os", "re", "types", "typing", "warnings"}) {
    COBRA_TRY(interp.ImportModule(name));
  }
  return {};
}

}  // namespace

Libraries LibrariesOf(const SourceRequest& request) {
  Libraries libraries;
  if (!request.package.empty()) libraries.push_back(PackageSource(request.package));
  for (const std::string& root : request.library_roots) libraries.push_back(DirectorySource(root));
  return libraries;
}

const NativeRegistry& AllNatives() {
  static const auto* const kRegistry = [] {
    auto* registry = new NativeRegistry();
    AddStandardLibrary(registry);
    AddTorch(registry);
    return registry;
  }();
  return *kRegistry;
}

absl::StatusOr<std::unique_ptr<Machine>> NewMachine(Libraries libraries, const std::string& torch_version,
                                                    std::map<std::string, std::string> bundle, const Limits& limits) {
  auto machine = std::make_unique<Machine>();
  machine->torch.emplace(limits.graph);
  InterpreterOptions options;
  options.limits = limits;
  options.bundle = std::move(bundle);
  options.library_roots = std::move(libraries);
  options.natives = &AllNatives();
  options.torch_version = torch_version;
  options.host = &*machine->torch;
  COBRA_ASSIGN_OR_RETURN(machine->interpreter, Interpreter::Create(std::move(options)));
  return machine;
}

InterpreterImage::InterpreterImage(std::unique_ptr<Machine> machine, std::string torch_version)
    : machine_(std::move(machine)), torch_version_(std::move(torch_version)), library_(*machine_->torch) {}

std::unique_ptr<InterpreterImage> InterpreterImage::Create(Libraries libraries, const std::string& torch_version,
                                                           const ImportList& imports, const Limits& limits) {
  absl::StatusOr<std::unique_ptr<Machine>> machine = NewMachine(std::move(libraries), torch_version, {}, limits);
  if (!machine.ok()) return nullptr;
  Interpreter& interpreter = *(*machine)->interpreter;
  const absl::Status status = interpreter.Run([&](Interpreter& interp) -> Result<void> {
    COBRA_TRY(ImportBasics(interp));
    for (const Importer::Needed& n : imports) COBRA_TRY(interp.importer().Load(n));
    return {};
  });
  if (!status.ok() || !interpreter.Freeze()) return nullptr;
  return std::unique_ptr<InterpreterImage>(new InterpreterImage(*std::move(machine), torch_version));
}

bool InterpreterImage::IsUsable(const SourceRequest& request, const Limits& limits) const {
  return request.torch_version == torch_version_ &&
         !machine_->interpreter->importer().BundleShadowsImports(request.bundle) &&
         machine_->interpreter->steps_used() < limits.steps &&
         machine_->interpreter->steps_used(StepAccount::kLibrary) < limits.library_steps;
}

Machine& InterpreterImage::Start(const SourceRequest& request, const Limits& limits) {
  machine_->interpreter->StartRequest(request.bundle, limits);
  machine_->torch.emplace(limits.graph);
  static_cast<TorchLibrary&>(*machine_->torch) = library_;
  return *machine_;
}

bool InterpreterImage::Rollback() {
  if (!machine_->interpreter->Rollback()) return false;
  machine_->torch.reset();
  return true;
}

}  // namespace cobra::python
