#include "frontend/python/runtime/modules/stdlib.h"

namespace cobra::python {

void AddStandardLibrary(NativeRegistry* registry) {
  AddCmathModule(registry);
  AddMathModule(registry);
  AddSystemModules(registry);
  AddItertoolsModule(registry);
  AddRandomModule(registry);
  AddReModule(registry);
  for (const EmbeddedModule& embedded : StandardLibraryModules()) {
    NativeModule module;
    module.name = std::string(embedded.name);
    module.source = embedded.source;
    module.define = [source = embedded.source](Interpreter&, NativeModuleBuilder& builder) -> Result<void> {
      builder.Source(source);
      return {};
    };
    registry->Add(std::move(module));
  }
}

}  // namespace cobra::python
