// The state of an nn.Module: the instance's __dict__ under PyTorch's own names (_parameters,
// _buffers, _modules ...), because programs read and change those. Module.__init__ puts them first
// and in one order, so that they are found without hashing.
#ifndef COBRA_FRONTEND_PYTHON_TORCH_LAYERS_MODULE_STATE_H_
#define COBRA_FRONTEND_PYTHON_TORCH_LAYERS_MODULE_STATE_H_

#include "frontend/python/torch/tensor/tensor.h"

namespace cobra::python {

// Positions in the __dict__ that Module.__init__ makes.
enum ModuleSlot : size_t {
  kTrainingSlot,
  kParametersSlot,
  kBuffersSlot,
  kModulesSlot,
  kNonPersistentBuffersSlot,
  kForwardHooksSlot,
  kForwardPreHooksSlot,
  kBackwardHooksSlot,
  kStateDictHooksSlot,
  kLoadStateDictPreHooksSlot,
  kModuleSlots,
};

// The dict under the name of a slot, or null before Module.__init__ ran.
DictObject* ModuleRegistry(Interpreter& interp, Value self, ModuleSlot slot);
DictObject* ModuleRegistry(Value self, StrObject* name);

bool IsModule(Interpreter& interp, Value v);
bool IsParameter(Interpreter& interp, Value v);

// Records the line of the program that constructs the module; copies of the module keep it.
void NoteConstruction(Interpreter& interp, Value self);

// The state after Module.__init__, with its dicts not created yet; layers append their own names
// (layer_init.cc).
DictTable ModulePrototype(Interpreter& interp);
// A new __dict__ of that shape, with dicts of its own.
DictObject* NewModuleState(Interpreter& interp, const DictTable& prototype);
// Registers a parameter, buffer or module whose name was checked; the name is removed from the
// other registries.
void RegisterInModule(Interpreter& interp, Value self, ModuleSlot slot, StrObject* name, Value value);

// str(index), interned.
StrObject* IndexName(Interpreter& interp, int64_t index);

// __init__, __setattr__, __getattr__, __delattr__ of _ModuleBase.
void DefineModuleState(Interpreter& interp, NativeClassBuilder& module_base);
Failure BeforeModuleInit(Interpreter& interp, absl::string_view what);

// The errors of register_parameter(), register_buffer() and add_module() (`kind`: "parameter",
// "buffer", "module"): a name that cannot be one, and one that the module has already.
Result<void> CheckMemberName(Interpreter& interp, absl::string_view kind, Value name);
// A name that is too long for the calls of a graph to carry.
Result<void> CheckNameLength(Interpreter& interp, absl::string_view kind, absl::string_view name);
Failure NameIsTaken(Interpreter& interp, StrObject* name);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_LAYERS_MODULE_STATE_H_
