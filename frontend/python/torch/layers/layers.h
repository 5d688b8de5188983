// How a layer is defined. Its class is in library/torch/nn/modules: names, signatures, defaults,
// extra_repr(). Decorators declare what its constructor and its forward() do; C++ runs these
// declarations. The function's own Python text is then `...`:
//
//   class Linear(Module):
//       @_init('in_features out_features', weight='out_features in_features', bias='out_features if
//       bias')
//       def __init__(self, in_features, out_features, bias=True, device=None, dtype=None): ...
//
//       @_forward(F, 'linear', 'input self.weight self.bias')
//       def forward(self, input): ...
//
// Functions that cannot be declared so are Python text without a decorator. If they run often
// (containers, batch normalization, convolutions, initialization), they are C++ functions of
// layer_bodies.cc or layer_init.cc. Text below a decorator has only what the decorator does not do.
//
// @_init(attributes, **tensors): super().__init__(), then each attribute from the parameter of its
// name, then the tensors in order, then self.reset_parameters() if the class has one. The text runs
// first: checks of the arguments.
// An attribute is
//   name              self.name = name
//   name|other        self.name = name if name is not None else other
//   name:2            _pair(name); 1, 3: _single, _triple
//   name:shape        tuple(name), of an integer (name,)
// and a tensor "[buffer] size ... [if parameter]": a parameter of torch.empty(sizes, dtype=dtype),
// None where the condition is false; a size is a parameter, or *attribute for all its items.
// "buffer counter" is torch.tensor(0, dtype=torch.long).
//
// @_forward(target, name, *arguments, **keywords): return target.name(...), the target a module
// (looked up at each call, so that patches count) or a parameter. The arguments are texts of names
// with blanks between them, each a parameter or self.attribute, and values that are not texts. The
// function's text runs first, for special cases; if it returns something other than None, that is
// the result. With _where=(attribute, value) the declaration applies if self.attribute == value,
// else the text runs.
//
// @_accepts_rank(4): checks that dim() of the first argument is one of these; if not, the text
// raises the error. @_body('name', ...): a function of layer_bodies.cc; its comment there tells
// which cases it leaves to the text (mostly none). @_conv_init, @_batch_norm: the constructors of
// the convolutions, and forward() of batch normalization.
#ifndef COBRA_FRONTEND_PYTHON_TORCH_LAYERS_LAYERS_H_
#define COBRA_FRONTEND_PYTHON_TORCH_LAYERS_LAYERS_H_

#include "frontend/python/torch/layers/module_state.h"

namespace cobra::python {

// _init, _forward, _accepts_rank, _conv_init, _batch_norm, _body.
void DefineLayerDecorators(NativeModuleBuilder& m);

// Attributes of self that a layer reads at each call. If no class defines these names, they are
// looked up first at the position where the last instance of the class had them.
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

// The slot of the parameter with that name, -1 if there is none.
int SlotOf(const FunctionObject* f, absl::string_view name);
bool IsEllipsisOnly(const FunctionObject* f);
// Whether a method is the library's own, not one that a program has replaced.
bool IsLibraryMethod(Value method);
// The value of super().__init__ in the class whose __init__ is `f`, for an instance of `cls`;
// Unbound if there is none.
Value NextInit(Interpreter& interp, const ClassObject* cls, const FunctionObject* f);
// super().__init__() in that class.
Result<void> CallNextInit(Interpreter& interp, const FunctionObject* f, Value self);

// The bodies of the decorated functions: layer_init.cc, layer_bodies.cc.
Result<const NativeBody*> DeclareInit(Interpreter& interp, FunctionObject* f, const CallArgs& args);
Result<const NativeBody*> DeclareConvInit(Interpreter& interp, FunctionObject* f, const CallArgs& args);
Result<const NativeBody*> DeclareBatchNorm(Interpreter& interp, FunctionObject* f, const CallArgs& args);

// The body of `f`. `names` are the decorator's further arguments. Returns Unbound if the Python
// text must run.
using LayerBody = Result<Value> (*)(Interpreter& interp, const FunctionObject* f, StrObject* const* names,
                                    Value* locals);
// Null if there is none with that name (layer_bodies.cc).
LayerBody FindLayerBody(absl::string_view name);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_LAYERS_LAYERS_H_
