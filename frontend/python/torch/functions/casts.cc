// Methods of a tensor that give the same values in another element type, on another device or in
// another layout: to(), type(), float(), contiguous() ...
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "frontend/python/torch/functions/functions.h"

namespace cobra::python {
namespace {

Result<Value> CastTo(Interpreter& interp, graph::Op op, Value self, std::optional<graph::DType> dtype, Value other) {
  Tensor* tensor = AsTensor(self);
  graph::Attributes attributes;
  std::vector<Value> inputs{self};
  graph::DType target = tensor->type.dtype;
  if (other.IsObject()) {
    inputs.push_back(other);
    target = AsTensor(other)->type.dtype;
  } else if (dtype) {
    target = *dtype;
    if (op == graph::Op::to || op == graph::Op::type) attributes.Set("dtype", std::string(graph::DTypeName(target)));
  }
  if (target == tensor->type.dtype) {  // PyTorch returns the same tensor
    if (Torch(interp).recording && !tensor->is_const())
      COBRA_TRY(Apply(interp, op, std::move(attributes), std::move(inputs)));
    return self;
  }
  return Apply(interp, op, std::move(attributes), std::move(inputs));
}

// What to() is called with: a device and a dtype, or a dtype, or a tensor; then non_blocking and
// copy.
struct ToArguments {
  std::optional<graph::DType> dtype;
  Value tensor;
  bool has_device = false, has_dtype = false, copy = false;
};

Failure InvalidTo(Interpreter& interp, const CallArgs& args) {
  std::vector<std::string> got;
  for (Value v : args.positional) got.emplace_back(interp.TypeName(v));
  for (const KeywordArg& k : args.keywords) got.push_back(absl::StrCat(k.name->view(), "=", interp.TypeName(k.value)));
  return interp.Raise(interp.types().TypeError, "to() received an invalid combination of arguments - got (",
                      absl::StrJoin(got, ", "), "), but expected a device and a dtype, a dtype, or a tensor");
}

// A number stands for the type that Python's numbers of its kind have; an int is the index of a
// device.
std::optional<graph::DType> DTypeArgument(Interpreter& interp, Value v) {
  if (v.IsBool()) return graph::DType::bool_;
  if (v.IsFloat()) return graph::DType::float64;
  if (v.IsObject() && v.object()->kind == ObjectKind::kComplex) return graph::DType::complex128;
  return AsDType(interp, v);
}

// The name of a device is checked.
Result<bool> IsDevice(Interpreter& interp, Value v) {
  const Value device = Torch(interp).device;
  if (v.IsStr()) COBRA_TRY(interp.Call(interp.class_of(device), {v}));
  return v.IsNone() || v.IsStr() || v.IsOpaque() || v.IsIntOrBool() || interp.class_of(v) == interp.class_of(device);
}

Result<ToArguments> ReadTo(Interpreter& interp, const CallArgs& args) {
  ToArguments to;
  const auto positional = args.positional;
  size_t at = 0;
  if (!positional.empty()) {
    const Value first = positional[at++];
    to.dtype = DTypeArgument(interp, first);
    if (AsTensor(first) != nullptr) {
      to.tensor = first;
    } else if (to.dtype) {
      to.has_dtype = true;
    } else {
      COBRA_TRY_ASSIGN(to.has_device, IsDevice(interp, first));
      if (!to.has_device) return InvalidTo(interp, args);
      if (at < positional.size()) {
        to.has_dtype = true;
        to.dtype = AsDType(interp, positional[at]);
        if (!to.dtype && !positional[at].IsNone()) return InvalidTo(interp, args);
        ++at;
      }
    }
  }
  const size_t flags = positional.size() - at;  // non_blocking, copy
  bool valid = flags <= 2;
  for (size_t i = at; valid && i < positional.size(); ++i) valid = positional[i].IsBool();
  if (valid && flags == 2) to.copy = positional[at + 1].as_int() != 0;
  for (const KeywordArg& k : args.keywords) {
    const absl::string_view name = k.name->view();
    const bool alone = !to.has_device && !to.has_dtype && to.tensor.IsNone();
    if (name == "device") {
      COBRA_TRY_ASSIGN(const bool device, IsDevice(interp, k.value));
      valid = valid && device && positional.empty() && to.tensor.IsNone();
      to.has_device = true;
    } else if (name == "dtype") {
      to.dtype = DTypeArgument(interp, k.value);
      valid = valid && !to.has_dtype && to.tensor.IsNone() && (to.dtype || k.value.IsNone());
      to.has_dtype = true;
    } else if (name == "tensor") {
      valid = valid && alone && AsTensor(k.value) != nullptr;
      to.tensor = k.value;
    } else if (name == "copy" || name == "non_blocking") {
      valid = valid && flags < (name == "copy" ? 2 : 1);
      COBRA_TRY_ASSIGN(const bool on, interp.Truth(k.value));
      to.copy = to.copy || (on && name == "copy");
    } else {
      valid = valid && name == "memory_format";
    }
  }
  return valid ? Result<ToArguments>(to) : Result<ToArguments>(InvalidTo(interp, args));
}

Result<Value> To(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(const ToArguments to, ReadTo(interp, args));
  const graph::DType own = AsTensor(args.self)->type.dtype;
  const graph::DType target = !to.tensor.IsNone() ? AsTensor(to.tensor)->type.dtype : to.dtype.value_or(own);
  if (to.copy && target == own) return Apply(interp, graph::Op::clone, {}, {args.self});
  return CastTo(interp, graph::Op::to, args.self, to.dtype, to.tensor);
}

// Indexed by DType.
constexpr absl::string_view kTensorTypes[] = {"FloatTensor", "HalfTensor", "BFloat16Tensor",     "DoubleTensor",
                                              "LongTensor",  "IntTensor",  "ShortTensor",        "CharTensor",
                                              "ByteTensor",  "BoolTensor", "ComplexFloatTensor", "ComplexDoubleTensor"};

Result<Value> TypeMethod(Interpreter& interp, const CallArgs& args) {
  Value target;
  COBRA_TRY(ArgReader(interp, "type", args).Optional("dtype", &target).IgnoreKwArgs().Finish());
  if (target.IsNone()) {
    return interp.NewStr(absl::StrCat("torch.", kTensorTypes[static_cast<int>(AsTensor(args.self)->type.dtype)]));
  }
  std::optional<graph::DType> dtype;
  if (!target.IsClass()) dtype = AsDType(interp, target);
  if (target.IsClass()) {  // torch.FloatTensor
    const Value of_class = interp.LookupClass(target.as<ClassObject>(), interp.Intern("_dtype"));
    if (!of_class.IsUnbound()) dtype = AsDType(interp, of_class);
  }
  if (!dtype && target.IsStr()) {
    absl::string_view name = target.str();
    if (absl::ConsumePrefix(&name, "torch.")) {
      absl::ConsumePrefix(&name, "cuda.");
      for (size_t i = 0; i < std::size(kTensorTypes); ++i) {
        if (name == kTensorTypes[i]) dtype = static_cast<graph::DType>(i);
      }
    }
  }
  if (!dtype) {
    COBRA_TRY_ASSIGN(StrObject * text, interp.Repr(target));
    return interp.Raise(interp.types().ValueError, "invalid type: ", text->view());
  }
  return CastTo(interp, graph::Op::type, args.self, dtype, Value::None());
}

NativeFunction CastMethod(graph::Op op, graph::DType dtype) {
  return [op, dtype](Interpreter& interp, const CallArgs& args) {
    return CastTo(interp, op, args.self, dtype, Value::None());
  };
}

Result<Value> TypeAs(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value other, OnlyArgument(interp, "type_as", "other", args));
  if (AsTensor(other) == nullptr)
    return interp.Raise(interp.types().TypeError, "type_as(): argument 'other' must be Tensor");
  return CastTo(interp, graph::Op::type_as, args.self, std::nullopt, other);
}

Result<Value> Contiguous(Interpreter& interp, const CallArgs& args) {
  if (AsTensor(args.self)->is_const() && !IsContiguousNow(interp, AsTensor(args.self)))
    return Apply(interp, Torch(interp).recording ? graph::Op::contiguous : graph::Op::clone, {}, {args.self});
  if (AsTensor(args.self)->is_const() || !Torch(interp).recording) return args.self;
  const bool alias = IsContiguousNow(interp, AsTensor(args.self));
  COBRA_TRY_ASSIGN(Value copy, Apply(interp, graph::Op::contiguous, {}, {args.self}));
  return alias ? args.self : copy;
}

Result<Value> Self(Interpreter&, const CallArgs& args) { return args.self; }

}  // namespace

void DefineCasts(NativeClassBuilder& tensor_class) {
  tensor_class.Method("to", To)
      .Method("type", TypeMethod)
      .Method("type_as", TypeAs)
      .Method("float", CastMethod(graph::Op::float_, graph::DType::float32))
      .Method("half", CastMethod(graph::Op::half, graph::DType::float16))
      .Method("bfloat16", CastMethod(graph::Op::bfloat16, graph::DType::bfloat16))
      .Method("double", CastMethod(graph::Op::double_, graph::DType::float64))
      .Method("long", CastMethod(graph::Op::long_, graph::DType::int64))
      .Method("int", CastMethod(graph::Op::int_, graph::DType::int32))
      .Method("bool", CastMethod(graph::Op::bool_, graph::DType::bool_))
      .Method("byte", CastMethod(graph::Op::byte, graph::DType::uint8))
      .Method("short", CastMethod(graph::Op::short_, graph::DType::int16))
      .Method("char", CastMethod(graph::Op::char_, graph::DType::int8))
      .Method("cfloat", CastMethod(graph::Op::cfloat, graph::DType::complex64))
      .Method("cdouble", CastMethod(graph::Op::cdouble, graph::DType::complex128))
      .Method("cuda", Self)
      .Method("cpu", Self)
      .Method("contiguous", Contiguous);
}

}  // namespace cobra::python
