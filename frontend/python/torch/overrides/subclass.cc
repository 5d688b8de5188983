// Tensors of a class that the program derives from Tensor: they share everything with the tensor
// that they are made of.
#include "absl/strings/str_cat.h"
#include "frontend/python/torch/overrides/overrides.h"

namespace cobra::python {
namespace {

// A class that computes below the calls that a program writes.
Result<void> CheckClass(Interpreter& interp, Value cls) {
  const TorchState& torch = Torch(interp);
  if (!cls.IsClass() || !Interpreter::IsSubclassOf(cls.as<ClassObject>(), torch.tensor_class)) {
    return interp.Raise(torch.AtLeast(2, 0) ? interp.types().TypeError : interp.types().RuntimeError,
                        "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. "
                        "Make sure your class inherits from Tensor.");
  }
  const Value dispatch = interp.LookupClass(cls.as<ClassObject>(), torch.names.torch_dispatch);
  if (dispatch.IsUnbound() || dispatch.IsOpaque()) return {};
  return interp.Unsupported(absl::StrCat("__torch_dispatch__() of the class ", cls.as<ClassObject>()->name->view()),
                            "define __torch_function__() instead");
}

Result<Value> AsSubclass(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value cls, OnlyArgument(interp, "as_subclass", "cls", args));
  COBRA_TRY(CheckClass(interp, cls));
  return TensorAs(interp, args.self, cls.as<ClassObject>());
}

// Of another requires_grad than `from`.
Result<Value> Detached(Interpreter& interp, Value from, ClassObject* cls, bool requires_grad) {
  Tensor* tensor = AsTensor(from);
  Refresh(interp, tensor);
  const bool is_parameter = Interpreter::IsSubclassOf(cls, Torch(interp).parameter_class);
  if (is_parameter && tensor->ref.is_node())
    return interp.Unsupported("nn.Parameter of a tensor that the network computes");
  if (requires_grad && !graph::IsFloatingPoint(tensor->type.dtype) && !graph::IsComplex(tensor->type.dtype))
    return interp.Raise(interp.types().RuntimeError,
                        "Only Tensors of floating point and complex dtype can require gradients");
  Tensor* made = interp.heap().New<Tensor>(*tensor);
  made->requires_grad = requires_grad;
  if (is_parameter) {
    made->label = "parameter";
    made->base = nullptr;
    made->view = nullptr;
  } else if (made->base == nullptr) {
    made->base = from.as<InstanceObject>();
    made->seen = tensor->writes;
  }
  return interp.NewInstance(cls, made);
}

// Tensor._make_subclass(cls, data, require_grad=False)
Result<Value> MakeSubclass(Interpreter& interp, const CallArgs& args) {
  Value cls, data;
  Tensor* tensor = nullptr;
  bool requires_grad = false;
  ArgReader reader(interp, "_make_subclass", args);
  COBRA_TRY(reader.Required("cls", &cls).Required("data", &data).Optional("require_grad", &requires_grad).Finish());
  tensor = AsTensor(data);
  if (tensor == nullptr)
    return interp.Raise(interp.types().TypeError, "_make_subclass(): argument 'data' (position 2) must be Tensor, not ",
                        interp.TypeName(data));
  COBRA_TRY(CheckClass(interp, cls));
  if (tensor->requires_grad == requires_grad) return TensorAs(interp, data, cls.as<ClassObject>());
  return Detached(interp, data, cls.as<ClassObject>(), requires_grad);
}

}  // namespace

Result<Value> TensorAs(Interpreter& interp, Value tensor, ClassObject* cls) {
  COBRA_TRY(CheckClass(interp, cls));
  return interp.NewInstance(cls, tensor.as<InstanceObject>()->native);
}

Result<Value> AsMadeBy(Interpreter& interp, ClassObject* cls, Value made) {
  if (cls == made.object()->cls) return made;
  COBRA_TRY(CheckClass(interp, cls));
  made.object()->cls = cls;
  return made;
}

void DefineSubclassMaking(NativeClassBuilder& tensor_class) {
  tensor_class.Method("as_subclass", AsSubclass).StaticMethod("_make_subclass", MakeSubclass);
}

}  // namespace cobra::python
