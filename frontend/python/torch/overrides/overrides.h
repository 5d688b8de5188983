// __torch_function__: a class may take over the calls of torch that one of its instances is an
// argument of (a subclass of Tensor, or any class that defines it), and a TorchFunctionMode all
// calls. Every function, method and property of torch asks for that before it runs, and runs as
// always where no such class and no mode is about.
#ifndef COBRA_FRONTEND_PYTHON_TORCH_OVERRIDES_OVERRIDES_H_
#define COBRA_FRONTEND_PYTHON_TORCH_OVERRIDES_OVERRIDES_H_

#include <string>
#include <vector>

#include "frontend/python/torch/tensor/tensor.h"

namespace cobra::python {

// How PyTorch hands one function to __torch_function__ (overrides.def).
struct OverrideRule {
  enum class Kind : uint8_t {
    kC,         // its arguments as they are
    kPython,    // by handle_torch_function(), with the arguments of `text`
    kOperator,  // an operator in Python: all of its arguments, and a TypeError is NotImplemented
    kFactory,   // to a mode only
    kNever,
    kRefused,  // nobody looked at what PyTorch does
  };
  Kind kind = Kind::kC;
  bool has_row = false;
  std::string shown;       // what the class sees, where that is another function: "add", "m.sigmoid"
  absl::string_view text;  // of kPython
};
OverrideRule OverrideRuleOf(const TorchLibrary& library, char space, absl::string_view name);

// What a function in Python hands over of a call, by its signature in overrides.def.
struct PythonCall {
  std::vector<Value> relevant;  // the arguments whose classes are asked
  std::vector<Value> positional;
  DictObject* keywords = nullptr;
  bool with_indices = false;  // return_indices=True
};
// `positional` begins with self.
Result<PythonCall> BindPythonCall(Interpreter& interp, absl::string_view function, absl::string_view text,
                                  absl::Span<const Value> positional, absl::Span<const KeywordArg> keywords);

// Whether a class or a mode sees calls with `v` now.
bool IsSeen(Interpreter& interp, Value v);
// The same tensor, as one of another class of tensors.
Result<Value> TensorAs(Interpreter& interp, Value tensor, ClassObject* cls);
// `made`, which nothing refers to yet, as an instance of `cls`.
Result<Value> AsMadeBy(Interpreter& interp, ClassObject* cls, Value made);

// An error while a mode is on: what it would see of the making of a layer is not known.
Result<void> CheckNoMode(Interpreter& interp);

// What one call hands to the classes of its arguments.
struct Handed {
  Value function;
  std::string name;  // for the error: "torch.Tensor.add"
  std::vector<Value> overloaded;
  std::vector<Value> positional;
  Value keywords;  // a dict, or None where PyTorch gives none
  bool is_in_c = false;
};
// What the first class or mode answers that does not return NotImplemented.
Result<Value> HandOver(Interpreter& interp, const Handed& handed);
// has_torch_function(relevant), and in `asked` what _get_overloaded_args(relevant) returns: plain
// tensors belong to it.
bool AskRelevant(Interpreter& interp, absl::Span<const Value> relevant, std::vector<Value>* asked);
Value KeywordsOf(Interpreter& interp, absl::Span<const KeywordArg> keywords);

// In its scope no class sees calls, nor a mode if `modes_too`.
class Unseen {
 public:
  explicit Unseen(TorchState& torch, bool modes_too = true) : torch_(torch), modes_(modes_too ? 1 : 0) {
    torch_.overrides_off += 1;
    torch_.modes_off += modes_;
  }
  ~Unseen() {
    torch_.overrides_off -= 1;
    torch_.modes_off -= modes_;
  }

 private:
  TorchState& torch_;
  const int modes_;
};

// Makes the functions of a namespace ask. `space` is as in functions.def, 'N' is torch.nn.init.
Result<void> MakeOverridable(Interpreter& interp, DictObject* names, char space);
void DefineOverridable(NativeModuleBuilder& m);
// torch_function.cc
void DefineOverrides(Interpreter& interp, NativeModuleBuilder& m);
void DefineSubclassMethods(Interpreter& interp, NativeClassBuilder& tensor_class);
void DefineSubclassMaking(NativeClassBuilder& tensor_class);  // subclass.cc

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_OVERRIDES_OVERRIDES_H_
