#include "frontend/python/runtime/stdlib.h"

namespace cobra::python {

void AddStandardLibrary(NativeRegistry* registry) {
  AddCmathModule(registry);
  AddMathModule(registry);
  AddSystemModules(registry);
  AddItertoolsModule(registry);
  AddRandomModule(registry);
  AddReModule(registry);
  for (const EmbeddedModule* m = kEmbeddedModules; m->name != nullptr; ++m) {
    NativeModule module;
    module.name = m->name;
    module.source = m->source;
    module.define = [source = m->source](Interpreter&, NativeModuleBuilder& builder) -> Result<void> {
      builder.Source(source);
      return {};
    };
    registry->Add(std::move(module));
  }
}

}  // namespace cobra::python
