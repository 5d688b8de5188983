// The functions of functions.def as native functions of torch, torch.nn.functional and Tensor.
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "frontend/python/torch/binder.h"

namespace cobra::python {
namespace {

struct Function {
  std::string name;
  std::vector<Overload> overloads;
};

using Table = std::map<std::pair<char, std::string>, Function>;

// By space and name. Parsed once for the process.
const Table& Functions() {
  static const Table* const kTable = [] {
    auto* table = new Table();
    const auto add = [&](Op op, absl::string_view names, absl::string_view spaces, absl::string_view signature) {
      const Overload overload = ParseOverload(op, signature);
      for (absl::string_view name : absl::StrSplit(names, ' ')) {
        for (char space : spaces) {
          if (space == '2') continue;
          Function& function = (*table)[{space, std::string(name)}];
          function.name = std::string(name);
          function.overloads.push_back(overload);
        }
        if (absl::StrContains(spaces, '2')) (*table)[{'2', std::string(name)}];  // marks names that PyTorch 2 added
      }
    };
#define COBRA_TORCH_FUNCTION(op, names, spaces, signature) add(Op::op, names, spaces, signature);
#include "frontend/python/torch/functions.def"
#undef COBRA_TORCH_FUNCTION
    return table;
  }();
  return *kTable;
}

// ---- what is particular to an operator

Returns ReturnsOf(Op op) {
  switch (op) {
    case Op::chunk:
    case Op::split:
    case Op::tensor_split:
    case Op::unbind:
    case Op::meshgrid:
    case Op::broadcast_tensors:
    case Op::var_mean:
    case Op::std_mean:
    case Op::aminmax:
      return Returns::kTuple;
    case Op::max:
    case Op::min:
    case Op::median:
    case Op::mode:
    case Op::kthvalue:
    case Op::topk:
    case Op::sort:
      return Returns::kValuesIndices;
    default:
      return Returns::kTensor;
  }
}

Attributes WithoutAttribute(const Attributes& attributes, absl::string_view name) {
  Attributes rest;
  for (const auto& [key, value] : attributes) {
    if (key != name) rest.Set(key, value);
  }
  return rest;
}

bool IsDropout(Op op) {
  return op == Op::dropout || op == Op::dropout1d || op == Op::dropout2d || op == Op::dropout3d ||
         op == Op::alpha_dropout || op == Op::feature_alpha_dropout;
}

void Complete(Op op, Bound* bound) {
  Attributes& attributes = bound->attributes;
  const absl::string_view name = OpName(op);
  if (absl::EndsWith(name, "pool1d") || absl::EndsWith(name, "pool2d") || absl::EndsWith(name, "pool3d")) {
    const bool has_stride = attributes.Find("kernel_size") != nullptr;
    if (has_stride && attributes.Ints("stride").empty()) attributes.Set("stride", attributes.Ints("kernel_size"));
  }
  if (absl::StartsWith(name, "max_pool") && attributes.Find("return_indices") != nullptr &&
      !attributes.Bool("return_indices")) {
    bound->attributes = WithoutAttribute(attributes, "return_indices");
  }
}

}  // namespace

namespace {

Result<Value> Run(Interpreter& interp, Op op, Bound bound) {
  Complete(op, &bound);
  if (IsDropout(op)) {
    // In eval PyTorch hands its argument back, the same object.
    const bool drops = bound.attributes.Bool("training") && bound.attributes.Double("p", 0.5) > 0;
    if (!drops) {
      const Value self = bound.inputs[0];
      COBRA_TRY(Apply(interp, op, WithoutAttribute(bound.attributes, "training"), {self}));
      return self;
    }
  }
  if (op == Op::softmax || op == Op::log_softmax || op == Op::softmin) {
    if (bound.attributes.Find("dim") == nullptr) {
      const int rank = AsTensor(bound.inputs[0])->type.rank();
      bound.attributes.Set("dim", int64_t{rank == 0 || rank == 1 || rank == 3 ? 0 : 1});
    }
  }
  if (op == Op::pow && bound.inputs[0].IsNone() && bound.inputs[1].IsNone()) {
    return interp.Raise(interp.types().TypeError,
                        "pow() received an invalid combination of arguments: neither is a Tensor");
  }
  const Returns returns = bound.inplace ? Returns::kTensor : ReturnsOf(op);
  if (op == Op::multi_head_attention_forward) {
    const bool weights = bound.attributes.Bool("need_weights", true);
    COBRA_TRY_ASSIGN(Value out,
                     Apply(interp, op, std::move(bound.attributes), std::move(bound.inputs), false, Returns::kTuple));
    return weights ? out : Value(interp.NewTuple({out.as<TupleObject>()->items[0], Value::None()}));
  }
  const bool indices = bound.attributes.Bool("return_indices");
  return Apply(interp, op, std::move(bound.attributes), std::move(bound.inputs), bound.inplace,
               indices ? Returns::kTuple : returns);
}

std::string TypesText(Interpreter& interp, const CallArgs& args) {
  std::vector<std::string> names;
  if (!args.self.IsUnbound()) names.push_back(std::string(interp.TypeName(args.self)));
  for (Value v : args.positional) names.push_back(std::string(interp.TypeName(v)));
  for (const KeywordArg& k : args.keywords)
    names.push_back(absl::StrCat(k.name->view(), "=", interp.TypeName(k.value)));
  return absl::StrJoin(names, ", ");
}

Result<Value> CallFunction(Interpreter& interp, const Function& function, const CallArgs& args, bool inplace) {
  std::vector<Value> positional;
  if (!args.self.IsUnbound()) positional.push_back(args.self);
  positional.insert(positional.end(), args.positional.begin(), args.positional.end());
  std::string problem;
  for (const Overload& overload : function.overloads) {
    Bound bound;
    if (BindArguments(interp, overload, positional, args.keywords, &bound)) {
      bound.inplace = bound.inplace || inplace;
      return Run(interp, overload.op, std::move(bound));
    }
    if (bound.failed) return Failure();
    problem = bound.problem;
  }
  const std::string name = absl::StrCat(function.name, inplace ? "_" : "");
  if (function.overloads.size() == 1)
    return interp.Raise(interp.types().TypeError, absl::StrCat(name, "(): ", problem));
  return interp.Raise(
      interp.types().TypeError,
      absl::StrCat(name, "() received an invalid combination of arguments - got (", TypesText(interp, args), ")"));
}

NativeFunction Wrapped(const Function& function, bool inplace) {
  return [&function, inplace](Interpreter& interp, const CallArgs& args) {
    return CallFunction(interp, function, args, inplace);
  };
}

}  // namespace

NativeFunction TableFunction(absl::string_view name, char space) {
  return Wrapped(Functions().at({space, std::string(name)}), space == 'i');
}

void DefineFunctions(NativeModuleBuilder& m, char space, const TorchState& state) {
  for (const auto& [key, function] : Functions()) {
    const bool inplace = key.first == 'I';
    if (key.first != space && !(inplace && (space == 't' || space == 'F'))) continue;
    if (Functions().count({'2', key.second}) > 0 && !state.AtLeast(2, 0)) continue;
    m.Function(inplace ? key.second + "_" : key.second, Wrapped(function, inplace));
  }
}

void DefineTableMethods(Interpreter& interp, NativeClassBuilder& tensor_class) {
  for (const auto& [key, function] : Functions()) {
    if (key.first == 'm') tensor_class.Method(key.second, Wrapped(function, false));
    if (key.first == 'i') tensor_class.Method(key.second + "_", Wrapped(function, true));
  }
}

}  // namespace cobra::python
