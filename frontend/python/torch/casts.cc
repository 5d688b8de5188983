#include "frontend/python/torch/casts.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "frontend/python/torch/tensor.h"

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

// x.to(dtype), x.to(device), x.to(device, dtype), x.to(other), with copy, non_blocking, memory_format.
Result<Value> To(Interpreter& interp, const CallArgs& args) {
  std::optional<graph::DType> dtype;
  Value other;
  std::vector<Value> all(args.positional.begin(), args.positional.end());
  for (const KeywordArg& keyword : args.keywords) {
    if (keyword.name->view() == "dtype" || keyword.name->view() == "other") all.push_back(keyword.value);
  }
  for (Value v : all) {
    if (AsTensor(v) != nullptr) other = v;
    if (v.IsStr()) COBRA_TRY(interp.Call(interp.class_of(Torch(interp).device), {v}));  // checks the name of a device
    // torch.float64, or Python's own float, int, bool.
    if (v.IsClass() || (NativeCast<NativeObject>(v) != nullptr && AsTensor(v) == nullptr)) dtype = AsDType(interp, v);
  }
  return CastTo(interp, graph::Op::to, args.self, dtype, other);
}

// Indexed by DType.
constexpr absl::string_view kTensorTypes[] = {"FloatTensor", "HalfTensor", "BFloat16Tensor",     "DoubleTensor",
                                              "LongTensor",  "IntTensor",  "ShortTensor",        "CharTensor",
                                              "ByteTensor",  "BoolTensor", "ComplexFloatTensor", "ComplexDoubleTensor"};

Result<Value> TypeMethod(Interpreter& interp, const CallArgs& args) {
  Value target;
  ArgReader reader(interp, "type", args);
  COBRA_TRY(reader.Optional("dtype", &target).IgnoreKwArgs().Finish());
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
    return interp.Raise(interp.types().ValueError, absl::StrCat("invalid type: ", text->view()));
  }
  return CastTo(interp, graph::Op::type, args.self, dtype, Value::None());
}

NativeFunction CastMethod(graph::Op op, graph::DType dtype) {
  return [op, dtype](Interpreter& interp, const CallArgs& args) {
    return CastTo(interp, op, args.self, dtype, Value::None());
  };
}

Result<Value> TypeAs(Interpreter& interp, const CallArgs& args) {
  Value other;
  ArgReader reader(interp, "type_as", args);
  COBRA_TRY(reader.Required("other", &other).Finish());
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
