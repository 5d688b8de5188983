// How py/*.py declares a layer in C++ terms. The def stays for its signature (arity errors, inspect.signature,
// defaults); what it does is declared above it:
//
//   class Linear(Module):
//       @_init('in_features out_features', weight='out_features in_features', bias='out_features if bias')
//       def __init__(self, in_features, out_features, bias=True, device=None, dtype=None): ...
//
//       @_forward(F, 'linear', 'input', 'self.weight', 'self.bias')
//       def forward(self, input): ...
//
// @_init(attributes, **tensors): super().__init__(), then each attribute from the parameter of its name, then the
// tensors in order, then self.reset_parameters() if the class has one. An attribute is
//   name              self.name = name
//   name|other        self.name = name if name is not None else other
//   name:2            _pair(name); 1, 3: _single, _triple
//   name:shape        tuple(name), of an integer (name,)
// and a tensor "[buffer] size ... [if parameter]": a parameter of torch.empty(sizes, dtype=dtype), None where the
// condition is false; a size is a parameter, or *attribute for all its items. "buffer counter" is torch.tensor(0,
// dtype=torch.long).
//
// @_forward(target, name, *arguments, **keywords): return target.name(...), the target a module (looked up at each
// call, so that patches count) or a parameter; an argument is a parameter, 'self.attribute', or anything that is no
// str.
//
// _inlines=(method, attribute, text) says that the text calls that method, and that these arguments are what becomes of
// it where the attribute is that text: taken at once unless the class has a method of its own there.
//
// @_accepts_rank(4): a check of its tensor that passes for these ranks. @_body('name'): a function of layer_bodies.cc.
//
// The text below runs where it is not `...`: first, for _init (checks) and _forward (other cases; what it returns is
// the result if that is not None); instead, for the others, where C++ does not cover the case.
#ifndef COBRA_FRONTEND_PYTHON_TORCH_LAYERS_H_
#define COBRA_FRONTEND_PYTHON_TORCH_LAYERS_H_

#include "frontend/python/torch/module_state.h"

namespace cobra::python {

// _init, _forward, _accepts_rank, _conv_init, _batch_norm, _body.
void DefineLayerDecorators(NativeModuleBuilder& m);

// Attributes that a layer reads of self at each call. Where no class has something of these names they are looked for
// where the last instance of the class had them.
class SelfAttributes {
 public:
  void Add(Interpreter& interp, StrObject* name);
  size_t size() const { return names_.size(); }
  Result<void> Read(Interpreter& interp, Value self, Value* out) const;

 private:
  bool IsPlainFor(Interpreter& interp, ClassObject* cls) const;
  static Result<Value> Find(Interpreter& interp, Value self, StrObject* name, uint16_t* place);
  HeapVector<StrObject*> names_;
};

// The slot of a parameter, -1 if there is none of that name.
int SlotOf(const FunctionObject* f, absl::string_view name);
bool IsEllipsisOnly(const FunctionObject* f);
// A method of the library, not one that a program has put in its place.
bool IsLibrarys(Value method);

// The bodies of the decorated functions: layer_init.cc, layer_bodies.cc.
Result<const NativeBody*> DeclareInit(Interpreter& interp, FunctionObject* f, const CallArgs& args);
Result<const NativeBody*> DeclareConvInit(Interpreter& interp, FunctionObject* f, const CallArgs& args);
Result<const NativeBody*> DeclareBatchNorm(Interpreter& interp, FunctionObject* f, const CallArgs& args);

// `names` are the decorator's further arguments. Returns Unbound for what it leaves to the text.
using LayerBody = Result<Value> (*)(Interpreter& interp, StrObject* const* names, Value* locals);
// Null if there is none of that name (layer_bodies.cc).
LayerBody FindLayerBody(absl::string_view name);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_LAYERS_H_
