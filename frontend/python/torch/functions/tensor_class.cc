// class torch.Tensor: its operators, and the attributes and methods that need no node of the graph.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/torch/functions/functions.h"
#include "frontend/python/torch/names/known_names.h"
#include "frontend/python/torch/overrides/overrides.h"
#include "frontend/python/torch/tensor/refused.h"
#include "frontend/python/torch/tensor/torch_rules.h"

namespace cobra::python {

Value ComplexScalar(Interpreter& interp, Value number) {
  const graph::TensorType scalar{
      {}, Torch(interp).default_dtype == graph::DType::float64 ? graph::DType::complex128 : graph::DType::complex64};
  const auto* complex = number.as<ComplexObject>();
  return NewTensor(interp, scalar, std::make_shared<const ConstValues>(ConstValues{complex->real, complex->imag}),
                   "complex");
}

namespace {

Result<Value> NoValue() { return Value::None(); }

// The value of a tensor of one element.
Result<double> OneValue(Interpreter& interp, Value self, absl::string_view what) {
  Tensor* tensor = AsTensor(self);
  if (tensor->type.num_elements() != 1) {
    if (what == "bool(Tensor)")
      return interp.Raise(interp.types().RuntimeError, "Boolean value of Tensor with more than one value is ambiguous");
    if (what == "Tensor.item()" && Torch(interp).AtLeast(2, 1)) {
      return interp.Raise(interp.types().RuntimeError, "a Tensor with ", tensor->type.num_elements(),
                          " elements cannot be converted to Scalar");
    }
    return interp.Raise(interp.types().ValueError, "only one element tensors can be converted to Python scalars");
  }
  COBRA_TRY_ASSIGN(const ConstValues* values, ReadValues(interp, tensor, what));
  return (*values)[0];
}

Result<Value> Item(Interpreter& interp, const CallArgs& args) {
  if (Tensor* tensor = AsTensor(args.self); graph::IsComplex(tensor->type.dtype) && tensor->type.num_elements() == 1) {
    COBRA_TRY_ASSIGN(const ConstValues* values, ReadValues(interp, tensor, "Tensor.item()", /*complex=*/true));
    return ElementOf(interp, tensor->type.dtype, *values, 0);
  }
  COBRA_TRY_ASSIGN(double value, OneValue(interp, args.self, "Tensor.item()"));
  return NumberOf(AsTensor(args.self)->type.dtype, value);
}
Result<Value> Bool(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(double value, OneValue(interp, args.self, "bool(Tensor)"));
  return Value::Bool(value != 0);
}
Result<Value> Int(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(double value, OneValue(interp, args.self, "int(Tensor)"));
  return Value::Int(static_cast<int64_t>(value));
}
Result<Value> Float(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(double value, OneValue(interp, args.self, "float(Tensor)"));
  return Value::Float(value);
}
Result<Value> Index(Interpreter& interp, const CallArgs& args) {
  if (!graph::IsIntegral(AsTensor(args.self)->type.dtype) || AsTensor(args.self)->type.num_elements() != 1) {
    return interp.Raise(interp.types().TypeError,
                        "only integer tensors of a single element can be converted to an index");
  }
  return Int(interp, args);
}
Result<Value> ToComplex(Interpreter& interp, const CallArgs& args) {
  if (graph::IsComplex(AsTensor(args.self)->type.dtype)) return Item(interp, args);
  COBRA_TRY_ASSIGN(double value, OneValue(interp, args.self, "complex(Tensor)"));
  return interp.NewComplex(value, 0);
}
Result<Value> ToList(Interpreter& interp, const CallArgs& args) { return TensorToList(interp, AsTensor(args.self)); }

// ---- shape and type

Result<Value> Size(Interpreter& interp, const CallArgs& args) {
  const graph::Shape& shape = AsTensor(args.self)->type.shape;
  std::optional<int64_t> dim;
  COBRA_TRY(ArgReader(interp, "size", args).Optional("dim", &dim).Finish());
  if (!dim) return NewSize(interp, shape);
  const int64_t rank = static_cast<int64_t>(shape.size());
  const int64_t at = *dim < 0 ? *dim + rank : *dim;
  if (at < 0 || at >= rank) {
    return interp.Raise(interp.types().IndexError, "Dimension out of range (expected to be in range of [", -rank, ", ",
                        rank - 1, "], but got ", *dim, ")");
  }
  return Value::Int(shape[at]);
}
Result<Value> ShapeOf(Interpreter& interp, const CallArgs& args) {
  return NewSize(interp, AsTensor(args.self)->type.shape);
}
Result<Value> Dim(Interpreter&, const CallArgs& args) { return Value::Int(AsTensor(args.self)->type.rank()); }
Result<Value> NumElements(Interpreter&, const CallArgs& args) {
  return Value::Int(AsTensor(args.self)->type.num_elements());
}
Result<Value> ElementSize(Interpreter&, const CallArgs& args) {
  return Value::Int(graph::DTypeBytes(AsTensor(args.self)->type.dtype));
}
Result<Value> NumBytes(Interpreter&, const CallArgs& args) { return Value::Int(AsTensor(args.self)->type.num_bytes()); }
Result<Value> DTypeOf(Interpreter& interp, const CallArgs& args) {
  return Torch(interp).dtypes[static_cast<int>(AsTensor(args.self)->type.dtype)];
}
Result<Value> DeviceOf(Interpreter& interp, const CallArgs&) { return Torch(interp).device; }
Result<Value> False(Interpreter&, const CallArgs&) { return Value::Bool(false); }
Result<Value> True(Interpreter&, const CallArgs&) { return Value::Bool(true); }
Result<Value> None(Interpreter&, const CallArgs&) { return Value::None(); }
Result<Value> Self(Interpreter&, const CallArgs& args) { return args.self; }
Result<Value> IsFloating(Interpreter&, const CallArgs& args) {
  return Value::Bool(graph::IsFloatingPoint(AsTensor(args.self)->type.dtype));
}
Result<Value> IsComplexTensor(Interpreter&, const CallArgs& args) {
  return Value::Bool(graph::IsComplex(AsTensor(args.self)->type.dtype));
}

Result<Value> StrideOf(Interpreter& interp, const CallArgs& args) {
  Tensor* tensor = AsTensor(args.self);
  const graph::Shape& shape = tensor->type.shape;
  std::vector<Value> strides;
  for (int64_t s : StridesNow(interp, tensor)) strides.push_back(Value::Int(s));
  std::optional<int64_t> dim;
  COBRA_TRY(ArgReader(interp, "stride", args).Optional("dim", &dim).Finish());
  if (!dim) return interp.NewTuple(strides);
  const int64_t at = *dim < 0 ? *dim + static_cast<int64_t>(shape.size()) : *dim;
  if (at < 0 || at >= static_cast<int64_t>(shape.size()))
    return interp.Raise(interp.types().IndexError, "Dimension out of range");
  return strides[at];
}

Result<Value> StorageOffset(Interpreter& interp, const CallArgs& args) {
  const Tensor* tensor = AsTensor(args.self);
  if (tensor->base == nullptr && !tensor->has_hidden_base) return Value::Int(0);
  return interp.Unsupported("Tensor.storage_offset() of a view", "the memory offset of a view is not computed");
}

Result<Value> Length(Interpreter& interp, const CallArgs& args) {
  const graph::Shape& shape = AsTensor(args.self)->type.shape;
  if (shape.empty()) return interp.Raise(interp.types().TypeError, "len() of a 0-d tensor");
  return Value::Int(shape[0]);
}
Result<Value> HashOf(Interpreter&, const CallArgs& args) {
  return Value::Int(static_cast<int64_t>(reinterpret_cast<uintptr_t>(args.self.object()) >> 4));
}

Result<Value> Repr(Interpreter& interp, const CallArgs& args) {
  Refresh(interp, AsTensor(args.self));
  return interp.NewStr(TensorText(*AsTensor(args.self)));
}
Result<Value> Format(Interpreter& interp, const CallArgs& args) {
  Tensor* tensor = AsTensor(args.self);
  COBRA_TRY_ASSIGN(absl::string_view spec, OnlyArgument<absl::string_view>(interp, "__format__", "format_spec", args));
  Refresh(interp, tensor);
  if (graph::IsComplex(tensor->type.dtype) || tensor->type.rank() > 0 || !tensor->is_const() ||
      tensor->values == nullptr)
    return interp.NewStr(TensorText(*tensor));
  COBRA_TRY_ASSIGN(StrObject * text, interp.Format(NumberOf(tensor->type.dtype, (*tensor->values)[0]), spec));
  return text;
}

// ---- operators

struct Operator {
  const char* name;
  graph::Op op;
  bool inplace;
};
constexpr Operator kOperators[] = {
    {"__add__", graph::Op::add, false},
    {"__radd__", graph::Op::add, false},
    {"__iadd__", graph::Op::add, true},
    {"__sub__", graph::Op::sub, false},
    {"__rsub__", graph::Op::rsub, false},
    {"__isub__", graph::Op::sub, true},
    {"__mul__", graph::Op::mul, false},
    {"__rmul__", graph::Op::mul, false},
    {"__imul__", graph::Op::mul, true},
    {"__truediv__", graph::Op::div, false},
    {"__rtruediv__", graph::Op::rdiv, false},
    {"__itruediv__", graph::Op::div, true},
    {"__floordiv__", graph::Op::floor_divide, false},
    {"__rfloordiv__", graph::Op::rfloor_divide, false},
    {"__ifloordiv__", graph::Op::floor_divide, true},
    {"__mod__", graph::Op::remainder, false},
    {"__rmod__", graph::Op::rmod, false},
    {"__imod__", graph::Op::remainder, true},
    {"__pow__", graph::Op::pow, false},
    {"__rpow__", graph::Op::rpow, false},
    {"__ipow__", graph::Op::pow, true},
    {"__eq__", graph::Op::eq, false},
    {"__ne__", graph::Op::ne, false},
    {"__lt__", graph::Op::lt, false},
    {"__le__", graph::Op::le, false},
    {"__gt__", graph::Op::gt, false},
    {"__ge__", graph::Op::ge, false},
    {"__and__", graph::Op::bitwise_and, false},
    {"__rand__", graph::Op::bitwise_and, false},
    {"__iand__", graph::Op::bitwise_and, true},
    {"__or__", graph::Op::bitwise_or, false},
    {"__ror__", graph::Op::bitwise_or, false},
    {"__ior__", graph::Op::bitwise_or, true},
    {"__lshift__", graph::Op::bitwise_left_shift, false},
    {"__ilshift__", graph::Op::bitwise_left_shift, true},
    {"__rshift__", graph::Op::bitwise_right_shift, false},
    {"__irshift__", graph::Op::bitwise_right_shift, true},
    {"__xor__", graph::Op::bitwise_xor, false},
    {"__rxor__", graph::Op::bitwise_xor, false},
    {"__ixor__", graph::Op::bitwise_xor, true},
};

NativeFunction BinaryOperator(Operator entry) {
  return [entry](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (args.positional.size() != 1) return interp.Raise(interp.types().TypeError, entry.name, "() takes 1 argument");
    const Value given = UnwrapArray(interp, args.positional[0]);
    const Value other = given.IsBool() ? given : args.positional[0];
    const absl::string_view attribute = entry.op == graph::Op::pow ? "exponent" : "other";
    if (AsTensor(other) != nullptr) return Apply(interp, entry.op, {}, {args.self, other}, entry.inplace);
    if (other.IsComplex()) return Apply(interp, entry.op, {}, {args.self, ComplexScalar(interp, other)}, entry.inplace);
    graph::Attributes attributes;
    std::optional<graph::AttributeValue> number = AsNumber(other);
    if (!number) return Value::NotImplemented();
    attributes.Set(attribute, *std::move(number));
    return Apply(interp, entry.op, std::move(attributes), {args.self}, entry.inplace);
  };
}

Result<Value> MatMul(Interpreter& interp, const CallArgs& args) {
  if (args.positional.size() != 1 || AsTensor(args.positional[0]) == nullptr) return Value::NotImplemented();
  return Apply(interp, graph::Op::matmul, {}, {args.self, args.positional[0]});
}

// x.real, +x: return x itself if x is real.
NativeFunction SelfIfReal(graph::Op op) {
  return [op](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    const Tensor* tensor = AsTensor(args.self);
    const bool itself = ReturnsItself(op, {}, tensor->type);
    if (itself && tensor->is_const()) return args.self;
    COBRA_TRY_ASSIGN(Value out, Apply(interp, op, {}, {args.self}));
    return itself ? args.self : out;
  };
}

NativeFunction UnaryOperator(graph::Op op) {
  return [op](Interpreter& interp, const CallArgs& args) { return Apply(interp, op, {}, {args.self}); };
}

Result<Value> Invert(Interpreter& interp, const CallArgs& args) {
  const graph::DType dtype = AsTensor(args.self)->type.dtype;
  if (graph::IsFloatingPoint(dtype) || graph::IsComplex(dtype))
    return interp.Raise(interp.types().TypeError,
                        "~ (operator.invert) is only implemented on integer and Boolean-type tensors");
  return Apply(interp, graph::Op::bitwise_not, {}, {args.self});
}

// ---- items

Result<Value> GetItem(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value index, OnlyArgument(interp, "__getitem__", "index", args));
  return TensorGetItem(interp, args.self, index);
}
Result<Value> SetItem(Interpreter& interp, const CallArgs& args) {
  Value index, value;
  COBRA_TRY(ArgReader(interp, "__setitem__", args).Required("index", &index).Required("value", &value).Finish());
  COBRA_TRY(TensorSetItem(interp, args.self, index, value));
  return NoValue();
}
// x.where(condition, other)
Result<Value> Where(Interpreter& interp, const CallArgs& args) {
  Value condition, other;
  COBRA_TRY(ArgReader(interp, "where", args).Required("condition", &condition).Required("other", &other).Finish());
  const std::vector<Value> all{condition, args.self, other};
  return TableFunction("where", 't')(interp, CallArgs{Value::Unbound(), all, {}});
}

Result<Value> Iterator(Interpreter& interp, const CallArgs& args) {
  if (IsSeen(interp, args.self)) {  // as PyTorch's text
    COBRA_TRY_ASSIGN(const Value rank, interp.CallMethod(args.self, "dim"));
    COBRA_TRY_ASSIGN(const bool scalar, interp.Equal(rank, Value::Int(0)));
    if (scalar) return interp.Raise(interp.types().TypeError, "iteration over a 0-d tensor");
    COBRA_TRY_ASSIGN(const Value rows, interp.CallMethod(args.self, "unbind", {Value::Int(0)}));
    return interp.Iter(rows);
  }
  if (AsTensor(args.self)->type.rank() == 0)
    return interp.Raise(interp.types().TypeError, "iteration over a 0-d tensor");
  COBRA_TRY_ASSIGN(Value pieces,
                   Apply(interp, graph::Op::unbind, {{"dim", int64_t{0}}}, {args.self}, false, Returns::kTuple));
  return interp.Iter(pieces);
}
// A tensor, which the program may iterate over or not.
Result<Value> Reversed(Interpreter& interp, const CallArgs& args) {
  if (AsTensor(args.self)->type.rank() == 0) return args.self;
  return Apply(interp, graph::Op::flip, {{"dims", std::vector<int64_t>{0}}}, {args.self});
}
Result<Value> ContainsItem(Interpreter& interp, const CallArgs& args) {
  Tensor* self = AsTensor(args.self);
  COBRA_TRY_ASSIGN(Value element, OnlyArgument(interp, "__contains__", "element", args));
  const std::optional<graph::AttributeValue> number = AsNumber(element);
  Refresh(interp, self);
  if (number && self->is_const() && self->values != nullptr && !self->is_random &&
      !graph::IsComplex(self->type.dtype)) {
    const double wanted = std::visit(
        [](const auto& v) -> double {
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(v)>>) return static_cast<double>(v);
          return std::nan("");
        },
        *number);
    interp.Spend(self->type.num_elements() / 16);
    return Value::Bool(std::find(self->values->begin(), self->values->end(), wanted) != self->values->end());
  }
  return interp.DataDependent("`in` on a tensor", "compare with Python numbers instead");
}

// ---- data, requires_grad, grad

Result<Value> GetRequiresGrad(Interpreter&, const CallArgs& args) {
  return Value::Bool(AsTensor(args.self)->requires_grad);
}
Result<Value> SetRequiresGrad(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(bool on, interp.Truth(args.positional[0]));
  AsTensor(args.self)->requires_grad = on;
  return NoValue();
}
Result<Value> RequiresGradMethod(Interpreter& interp, const CallArgs& args) {
  bool on = true;
  COBRA_TRY(ArgReader(interp, "requires_grad_", args).Optional("requires_grad", &on).Finish());
  AsTensor(args.self)->requires_grad = on;
  return args.self;
}
Result<Value> GetData(Interpreter& interp, const CallArgs& args) {
  // While a network is built, `p.data.fill_()` changes the parameter itself.
  if (!Torch(interp).recording) return args.self;
  return Apply(interp, graph::Op::data, {}, {args.self});
}
Result<Value> SetData(Interpreter& interp, const CallArgs& args) {
  Tensor* self = AsTensor(args.self);
  Tensor* other = AsTensor(args.positional[0]);
  if (other == nullptr) return interp.Raise(interp.types().TypeError, "Variable data has to be a tensor");
  self->type = other->type;
  self->values = other->values;
  self->is_random = other->is_random;
  if (self->ref.is_node() || other->ref.is_node()) self->ref = other->ref;
  self->computed = other->computed;
  return NoValue();
}
Result<Value> Ignore(Interpreter&, const CallArgs&) { return NoValue(); }

// For a constant, returns an array that shares it (library/numpy/__init__.py).
Result<Value> Numpy(Interpreter& interp, const CallArgs& args) {
  if (!AsTensor(args.self)->is_const())
    return interp.DataDependent("Tensor.numpy()",
                                "compute this with torch functions, or from shapes and configuration");
  COBRA_TRY_ASSIGN(ModuleObject * numpy, interp.ImportModule("numpy"));
  COBRA_TRY_ASSIGN(Value make, interp.GetAttr(numpy, "_array"));
  Value tensor = args.self;  // an array is of no subclass
  if (!tensor.IsObject() || tensor.object()->cls != Torch(interp).tensor_class)
    COBRA_TRY_SET(tensor, TensorAs(interp, tensor, Torch(interp).tensor_class));
  return interp.Call(make, {tensor});
}

Result<Value> TensorOfClass(Interpreter& interp, const CallArgs& args) {
  // torch.Tensor(2, 3): sizes; torch.Tensor([1, 2]): data.
  const bool size = args.positional.size() == 1 && args.positional[0].IsTuple() &&
                    args.positional[0].object()->cls == Torch(interp).size_class;
  std::vector<Value> sizes(args.positional.begin(), args.positional.end());
  if (size) {
    COBRA_TRY_ASSIGN(sizes, interp.ToVector(args.positional[0]));
  } else if (args.positional.size() == 1 && !args.positional[0].IsIntOrBool()) {
    return TensorFromData(interp, args.positional[0], graph::DType::float32, "tensor");
  }
  graph::TensorType type;
  for (Value v : sizes) {
    COBRA_TRY_ASSIGN(int64_t dim, interp.Index(v));
    if (dim < 0)
      return interp.Raise(interp.types().RuntimeError, "Trying to create tensor with negative dimension ", dim);
    type.shape.push_back(dim);
  }
  if (args.positional.empty()) type.shape.push_back(0);
  InstanceObject* made = NewTensor(interp, type, nullptr, "empty");
  AsTensor(made)->is_random = true;  // not initialized
  return Created(interp, graph::Op::empty, made);
}

// Of a subclass: as_subclass() of a tensor.
Result<Value> TensorNew(Interpreter& interp, const CallArgs& args) {
  ClassObject* cls = args.self.IsClass() ? args.self.as<ClassObject>() : Torch(interp).tensor_class;
  if (cls == Torch(interp).tensor_class) return TensorOfClass(interp, args);
  if (args.positional.size() == 1 && AsTensor(args.positional[0]) != nullptr)
    return TensorAs(interp, args.positional[0], cls);
  COBRA_TRY_ASSIGN(const Value made, TensorOfClass(interp, args));
  return AsMadeBy(interp, cls, made);
}

// The attributes that PyTorch's tensors have and this library does not cover: a program may ask
// whether they are there. A method is opaque, so that calling it is unsupported; reading any other
// attribute is.
void DefineKnownAttributes(Interpreter& interp, NativeClassBuilder& builder) {
  const TorchState& torch = Torch(interp);
  builder.Attribute("_make_wrapper_subclass", interp.importer().Opaque("torch.Tensor._make_wrapper_subclass"));
  for (const std::string& name : KnownTorchNames("torch.Tensor", torch.version_major, torch.version_minor)) {
    StrObject* interned = interp.Intern(name);
    if (!interp.LookupClass(builder.get(), interned).IsUnbound()) continue;
    const auto known = FindKnownTorchName("torch.Tensor", name, torch.version_major, torch.version_minor);
    if (known->home == "property") {
      builder.Property(name, [name](Interpreter& i, const CallArgs&) -> Result<Value> {
        return i.Unsupported(absl::StrCat("Tensor.", name), "this part of PyTorch is not covered yet");
      });
      continue;
    }
    auto* opaque = interp.heap().New<OpaqueObject>();
    opaque->cls = interp.types().opaque;
    opaque->dotted_name = interp.NewStr(absl::StrCat("torch.Tensor.", name));
    builder.Attribute(name, opaque);
  }
}

// Called when there is no such attribute.
Result<Value> UnknownAttribute(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(absl::string_view name, OnlyArgument<absl::string_view>(interp, "__getattr__", "name", args));
  return interp.Raise(interp.types().AttributeError, "'", interp.TypeName(args.self), "' object has no attribute '",
                      name, "'");
}

void DefineOperators(NativeClassBuilder& builder) {
  for (const Operator& entry : kOperators) builder.Method(entry.name, BinaryOperator(entry));
  builder.Method("__matmul__", MatMul)
      .Method("__imatmul__", MatMul)
      .Method("__neg__", UnaryOperator(graph::Op::neg))
      .Method("__pos__", SelfIfReal(graph::Op::positive))
      .Method("__abs__", UnaryOperator(graph::Op::abs))
      .Method("__invert__", Invert)
      .Method("__getattr__", UnknownAttribute)
      .Method("__getitem__", GetItem)
      .Method("__setitem__", SetItem)
      .Method("__iter__", Iterator)
      .Method("__contains__", ContainsItem)
      .Method("__reversed__", Reversed)
      .Method("__len__", Length)
      .Method("__bool__", Bool)
      .Method("__int__", Int)
      .Method("__float__", Float)
      .Method("__index__", Index)
      .Method("__complex__", ToComplex)
      .Method("__hash__", HashOf)
      .Method("__repr__", Repr)
      .Method("__str__", Repr)
      .Method("__format__", Format);
}

void DefineQueries(NativeClassBuilder& builder) {
  builder.Method("item", Item)
      .Method("tolist", ToList)
      .Method("size", Size)
      .Method("dim", Dim)
      .Method("ndimension", Dim)
      .Method("numel", NumElements)
      .Method("nelement", NumElements)
      .Method("element_size", ElementSize)
      .Method("stride", StrideOf)
      .Method("storage_offset", StorageOffset)
      .Method("is_contiguous",
              [](Interpreter& i, const CallArgs& a) -> Result<Value> {
                std::optional<std::string> format;
                COBRA_TRY(ArgReader(i, "is_contiguous", a).Optional("memory_format", &format).Finish());
                if (format && *format != "torch.contiguous_format")
                  return i.Unsupported("is_contiguous() of another memory format");
                return Value::Bool(IsContiguousNow(i, AsTensor(a.self)));
              })
      .Method("is_floating_point", IsFloating)
      .Method("is_complex", IsComplexTensor)
      .Method("is_signed",
              [](Interpreter&, const CallArgs& a) -> Result<Value> {
                const graph::DType dtype = AsTensor(a.self)->type.dtype;
                return Value::Bool(dtype != graph::DType::uint8 && dtype != graph::DType::bool_);
              })
      .Method("is_same_size",
              [](Interpreter& i, const CallArgs& a) -> Result<Value> {
                COBRA_TRY_ASSIGN(Tensor * other, OnlyArgument<Tensor*>(i, "is_same_size", "other", a));
                return Value::Bool(AsTensor(a.self)->type.shape == other->type.shape);
              })
      .Method("data_ptr", HashOf)
      .Method("where", Where)
      .Method("has_names", False)
      .Method("is_distributed", False)
      .Method("is_conj",
              [](Interpreter&, const CallArgs& a) -> Result<Value> { return Value::Bool(AsTensor(a.self)->is_conj); })
      .Method("is_neg", False)
      .Method("is_inference", False)
      .Method("is_shared", False)
      .Method("is_pinned", False)
      .Method("requires_grad_", RequiresGradMethod)
      .Method("retain_grad", Ignore)
      .Method("backward", Ignore)
      .Method("register_hook", Ignore)
      .Method("pin_memory", Self)
      .Method("share_memory_", Self)
      .Method("get_device", [](Interpreter&, const CallArgs&) -> Result<Value> { return Value::Int(-1); });
  builder.Method("numpy", Numpy).Method("__array__", Numpy);
}

void DefineProperties(NativeClassBuilder& builder) {
  builder.Property("shape", ShapeOf)
      .Property("ndim", Dim)
      .Property("dtype", DTypeOf)
      .Property("device", DeviceOf)
      .Property("is_cuda", False)
      .Property("is_sparse", False)
      .Property("is_quantized", False)
      .Property("is_nested", False)
      .Property("is_meta", False)
      .Property("is_mps", False)
      .Property("is_cpu", True)
      .Property("is_xpu", False)
      .Property("is_ipu", False)
      .Property("is_vulkan", False)
      .Property("is_mkldnn", False)
      .Property("is_ort", False)
      .Property("is_sparse_csr", False)
      .Property("retains_grad", False)
      .Property("output_nr", [](Interpreter&, const CallArgs&) -> Result<Value> { return Value::Int(0); })
      .Property("layout",
                [](Interpreter& i, const CallArgs&) -> Result<Value> {
                  COBRA_TRY_ASSIGN(ModuleObject * torch, i.ImportModule("torch"));
                  return i.GetAttr(torch, "strided");
                })
      .Property(
          "names",
          [](Interpreter& i, const CallArgs& a) -> Result<Value> {
            return i.NewTuple(std::vector<Value>(static_cast<size_t>(AsTensor(a.self)->type.rank()), Value::None()));
          })
      .Property("is_leaf", True)
      .Property("grad", None, Ignore)
      .Property("grad_fn", None)
      .Property("requires_grad", GetRequiresGrad, SetRequiresGrad)
      .Property("data", GetData, SetData)
      .Property("T", UnaryOperator(graph::Op::T))
      .Property("mT", SelfIfReal(graph::Op::mT))
      .Property("H", SelfIfReal(graph::Op::H))
      .Property("mH", SelfIfReal(graph::Op::mH))
      .Property("real", SelfIfReal(graph::Op::real))
      .Property("imag", UnaryOperator(graph::Op::imag));
}

}  // namespace

Result<void> DefineTensorClass(Interpreter& interp, NativeModuleBuilder& m) {
  NativeClassBuilder builder = m.Class("Tensor", {interp.types().object});
  builder.New(TensorNew).Mutable();
  DefineTableMethods(interp, builder);
  DefineOperators(builder);
  DefineQueries(builder);
  DefineRefusedMethods(builder);
  DefineValueMethods(builder);
  DefineProperties(builder);
  const auto in_version = [&torch = Torch(interp)](absl::string_view name) {
    return InTorchVersion("torch.Tensor", name, torch.version_major, torch.version_minor);
  };
  if (in_version("nbytes")) builder.Property("nbytes", NumBytes);
  if (in_version("is_xla")) builder.Property("is_xla", False);
  if (in_version("itemsize")) builder.Property("itemsize", ElementSize);
  Torch(interp).tensor_class = builder.get();
  COBRA_TRY(DefineTensorMethods(interp, builder));
  DefineSubclassMethods(interp, builder);
  for (const std::string& name :
       GoneTorchNames("torch.Tensor", Torch(interp).version_major, Torch(interp).version_minor))
    builder.get()->attrs->table.EraseStr(interp.Intern(name));
  DefineKnownAttributes(interp, builder);
  builder.Build();
  return MakeOverridable(interp, builder.get()->attrs, 'm');
}

}  // namespace cobra::python
