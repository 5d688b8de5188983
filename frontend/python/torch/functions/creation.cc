// Creation of tensors (torch.zeros, arange, tensor ...).
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/text/limit_message.h"
#include "frontend/python/torch/functions/functions.h"
#include "graph/builder/untrusted.h"
#include "graph/constants/const_eval.h"

namespace cobra::python {
namespace {

// Keyword arguments that do not affect the values, such as device, layout, pin_memory. Only dtype
// and requires_grad matter.
struct Where {
  std::optional<graph::DType> dtype;
  bool requires_grad = false;
};

Result<Where> TakeWhere(Interpreter& interp, const CallArgs& args, std::vector<KeywordArg>* rest) {
  Where where;
  for (const KeywordArg& keyword : args.keywords) {
    const absl::string_view name = keyword.name->view();
    if (name == "dtype") {
      if (keyword.value.IsNone()) continue;
      where.dtype = AsDType(interp, keyword.value);
      if (!where.dtype)
        return interp.Raise(interp.types().TypeError, "argument 'dtype' must be torch.dtype, not ",
                            interp.TypeName(keyword.value));
    } else if (name == "requires_grad") {
      COBRA_TRY_ASSIGN(where.requires_grad, interp.Truth(keyword.value));
    } else if (name == "out" && !keyword.value.IsNone()) {
      return interp.Unsupported("out= of a function that makes a tensor", "assign to the tensor instead: y[...] = ...");
    } else if (name != "device" && name != "layout" && name != "pin_memory" && name != "memory_format" &&
               name != "generator" && name != "out" && name != "names" && name != "non_blocking") {
      rest->push_back(keyword);
    }
  }
  return where;
}

Result<void> CheckBytes(Interpreter& interp, absl::string_view function, const graph::TensorType& type) {
  const int64_t limit = interp.limits().graph.max_tensor_bytes;
  if (!graph::IsTooLarge(type, limit)) return {};
  return interp.LimitReached(
      LimitMessage(absl::StrCat("torch.", function, " makes a tensor of ", graph::TypeText(type)), limit, "bytes"));
}

// Of "zeros_like" and "new_zeros" the call of "zeros".
graph::Op FillingOp(absl::string_view function) {
  absl::ConsumePrefix(&function, "new_");
  absl::ConsumeSuffix(&function, "_like");
  for (const graph::Op op : {graph::Op::zeros, graph::Op::ones, graph::Op::full, graph::Op::rand, graph::Op::randn,
                             graph::Op::randint, graph::Op::randperm}) {
    if (function == graph::OpName(op)) return op;
  }
  return graph::Op::empty;
}

// A tensor in which all elements have the same value; a tensor that is too large stores no values.
Result<Value> Filled(Interpreter& interp, graph::TensorType type, std::optional<double> fill, const Where& where,
                     absl::string_view label) {
  COBRA_TRY(CheckBytes(interp, label, type));
  TensorValues values;
  const bool is_certain = fill && (type.dtype != graph::DType::int64 || graph::IsExactInteger(*fill));
  if (is_certain && !graph::IsComplex(type.dtype))
    values = TensorValues::Filled(interp, type.num_elements(), graph::RoundTo(type.dtype, *fill));
  if (fill && graph::IsComplex(type.dtype) && type.num_elements() <= graph::kMaxConstElements) {
    ConstValues pairs(static_cast<size_t>(2 * type.num_elements()), 0);
    for (size_t i = 0; i < pairs.size(); i += 2) pairs[i] = *fill;
    values = std::make_shared<const ConstValues>(std::move(pairs));
  }
  InstanceObject* made = NewTensor(interp, std::move(type), values, label);
  AsTensor(made)->is_random = !fill.has_value();
  AsTensor(made)->is_drawn = !fill.has_value() && Torch(interp).recording && absl::StartsWith(label, "rand");
  AsTensor(made)->requires_grad = where.requires_grad;
  const graph::Op op = FillingOp(label);
  if (op != graph::Op::full) return Created(interp, op, made);
  return Created(interp, op, made, {{"fill_value", fill.value_or(0)}});
}

// The pairs of a complex tensor whose numbers are real.
ConstValues WithImaginary(const ConstValues& real) {
  ConstValues pairs(real.size() * 2, 0);
  for (size_t i = 0; i < real.size(); ++i) pairs[2 * i] = real[i];
  return pairs;
}

Result<Value> Ranged(Interpreter& interp, const ConstValues& values, graph::DType dtype, graph::Op op,
                     graph::Attributes attributes) {
  ConstValues rounded = values;
  for (double& v : rounded) v = graph::RoundTo(dtype, v);
  const graph::TensorType type{{static_cast<int64_t>(values.size())}, dtype};
  if (graph::IsComplex(dtype)) rounded = WithImaginary(rounded);
  interp.heap().Allocate(rounded.size() * 8);
  return Created(interp, op,
                 NewTensor(interp, type, std::make_shared<const ConstValues>(std::move(rounded)), graph::OpName(op)),
                 std::move(attributes));
}

Result<graph::Shape> ShapeOf(Interpreter& interp, absl::Span<const Value> items, absl::string_view name) {
  graph::Shape shape;
  for (Value item : items) {
    Result<int64_t> size = interp.Index(item);
    if (!size.ok()) {
      if (!interp.CatchException(interp.types().TypeError)) return Failure();
      return interp.Raise(interp.types().TypeError, name,
                          "(): argument 'size' must be tuple of ints, but found element of type ",
                          interp.TypeName(item));
    }
    if (*size < 0)
      return interp.Raise(interp.types().RuntimeError, "Trying to create tensor with negative dimension ", *size);
    shape.push_back(*size);
  }
  return shape;
}

// Accepts zeros(2, 3), zeros((2, 3)), zeros(size=(2, 3)).
Result<graph::Shape> TakeSize(Interpreter& interp, const CallArgs& args, const std::vector<KeywordArg>& rest,
                              absl::string_view name) {
  std::vector<Value> items(args.positional.begin(), args.positional.end());
  for (const KeywordArg& keyword : rest) {
    if (keyword.name->view() != "size") {
      return interp.Raise(interp.types().TypeError, name, "() got an unexpected keyword argument '",
                          keyword.name->view(), "'");
    }
    items = {keyword.value};
  }
  if (items.size() == 1 && (items[0].IsTuple() || items[0].IsList())) {
    COBRA_TRY_ASSIGN(items, interp.ToVector(items[0]));
  }
  return ShapeOf(interp, items, name);
}

NativeFunction FilledFunction(std::string name, std::optional<double> fill) {
  return [name, fill](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    std::vector<KeywordArg> rest;
    COBRA_TRY_ASSIGN(Where where, TakeWhere(interp, args, &rest));
    COBRA_TRY_ASSIGN(graph::Shape shape, TakeSize(interp, args, rest, name));
    return Filled(interp, {shape, where.dtype.value_or(Torch(interp).default_dtype)}, fill, where, name);
  };
}

Result<double> NumberArg(Interpreter& interp, Value v) {
  if (Tensor* tensor = AsTensor(v)) {
    COBRA_TRY_ASSIGN(const ConstValues* values, ReadValues(interp, tensor, "a number given as a tensor"));
    if (values->size() == 1) return (*values)[0];
  }
  return interp.AsFloat(v);
}

Result<Value> Full(Interpreter& interp, const CallArgs& args) {
  std::vector<KeywordArg> rest;
  COBRA_TRY_ASSIGN(Where where, TakeWhere(interp, args, &rest));
  Value size, fill;
  CallArgs plain{args.self, args.positional, rest};
  COBRA_TRY(ArgReader(interp, "full", plain).Required("size", &size).Required("fill_value", &fill).Finish());
  CallArgs sized;
  sized.positional = absl::MakeConstSpan(&size, 1);
  COBRA_TRY_ASSIGN(graph::Shape shape, TakeSize(interp, sized, {}, "full"));
  if (fill.IsComplex())
    return interp.Unsupported("torch.full() of a complex number", "use torch.complex(real, imaginary)");
  COBRA_TRY_ASSIGN(double number, NumberArg(interp, fill));
  if (where.dtype && graph::IsIntegral(*where.dtype) && !std::isfinite(number))
    return interp.Raise(interp.types().RuntimeError, "value cannot be converted to type ",
                        graph::DTypeName(*where.dtype), " without overflow");
  const graph::DType inferred = AsTensor(fill) != nullptr         ? AsTensor(fill)->type.dtype
                                : fill.IsBool()                   ? graph::DType::bool_
                                : fill.IsInt() || fill.IsBigInt() ? graph::DType::int64
                                                                  : Torch(interp).default_dtype;
  return Filled(interp, {shape, where.dtype.value_or(inferred)}, number, where, "full");
}

NativeFunction LikeFunction(std::string name, std::optional<double> fill) {
  return [name, fill](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    std::vector<KeywordArg> rest;
    COBRA_TRY_ASSIGN(Where where, TakeWhere(interp, args, &rest));
    Tensor* input;
    Value number, high;
    CallArgs plain{args.self, args.positional, rest};
    ArgReader reader(interp, name, plain);
    reader.Required("input", &input);
    if (name == "full_like") reader.Required("fill_value", &number);
    if (name == "randint_like") reader.Required("low", &number).Optional("high", &high);
    COBRA_TRY(reader.Finish());
    std::optional<double> value = fill;
    if (name == "full_like") {
      COBRA_TRY_ASSIGN(value, NumberArg(interp, number));
    }
    return Filled(interp, {input->type.shape, where.dtype.value_or(input->type.dtype)}, value, where, name);
  };
}

// x.new_zeros(size) and similar methods use the dtype of x.
NativeFunction NewFunction(std::string name, std::optional<double> fill) {
  return [name, fill](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    std::vector<KeywordArg> rest;
    COBRA_TRY_ASSIGN(Where where, TakeWhere(interp, args, &rest));
    CallArgs plain{Value::Unbound(), args.positional, {}};
    std::optional<double> value = fill;
    if (name == "new_full") {
      Value size, number;
      CallArgs both{Value::Unbound(), args.positional, rest};
      COBRA_TRY(ArgReader(interp, name, both).Required("size", &size).Required("fill_value", &number).Finish());
      COBRA_TRY_ASSIGN(value, NumberArg(interp, number));
      CallArgs sized;
      sized.positional = absl::MakeConstSpan(&size, 1);
      COBRA_TRY_ASSIGN(graph::Shape shape, TakeSize(interp, sized, {}, name));
      return Filled(interp, {shape, where.dtype.value_or(AsTensor(args.self)->type.dtype)}, value, where, name);
    }
    COBRA_TRY_ASSIGN(graph::Shape shape, TakeSize(interp, plain, rest, name));
    return Filled(interp, {shape, where.dtype.value_or(AsTensor(args.self)->type.dtype)}, value, where, name);
  };
}

// x.new(2, 3), x.new(size): uninitialized memory of x's dtype, an older form of new_empty().
// x.new([1, 2]): these numbers.
Result<Value> New(Interpreter& interp, const CallArgs& args) {
  Tensor* self = AsTensor(args.self);
  const Value first = args.positional.empty() ? Value::None() : args.positional[0];
  const bool sequence = (first.IsTuple() && first.object()->cls != Torch(interp).size_class) || first.IsList();
  const bool recorded = Torch(interp).recording && !self->is_const();
  if (sequence || AsTensor(first) != nullptr || AsTensor(UnwrapArray(interp, first)) != nullptr) {
    COBRA_TRY_ASSIGN(Value data, TensorFromData(interp, first, self->type.dtype, "new"));
    if (!recorded || !AsTensor(data)->is_const()) return data;
    const graph::Shape& shape = AsTensor(data)->type.shape;
    COBRA_TRY_ASSIGN(Value made, Apply(interp, graph::Op::new_,
                                       {{"size", std::vector<int64_t>(shape.begin(), shape.end())}}, {args.self}));
    AsTensor(made)->values = AsTensor(data)->values;
    return made;
  }
  std::vector<KeywordArg> rest;
  COBRA_TRY_ASSIGN(Where where, TakeWhere(interp, args, &rest));
  COBRA_TRY_ASSIGN(graph::Shape shape, TakeSize(interp, CallArgs{Value::Unbound(), args.positional, {}}, rest, "new"));
  if (args.positional.empty() && rest.empty()) shape = {0};
  if (!recorded) return Filled(interp, {shape, self->type.dtype}, std::nullopt, where, "new");
  return Apply(interp, graph::Op::new_, {{"size", std::vector<int64_t>(shape.begin(), shape.end())}}, {args.self});
}

Result<Value> NewTensorMethod(Interpreter& interp, const CallArgs& args) {
  std::vector<KeywordArg> rest;
  COBRA_TRY_ASSIGN(Where where, TakeWhere(interp, args, &rest));
  if (args.positional.size() != 1) return interp.Raise(interp.types().TypeError, "new_tensor() takes 1 argument");
  return TensorFromData(interp, args.positional[0], where.dtype ? *where.dtype : AsTensor(args.self)->type.dtype,
                        "new_tensor");
}

NativeFunction FromData(std::string name) {
  return [name](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    std::vector<KeywordArg> rest;
    COBRA_TRY_ASSIGN(Where where, TakeWhere(interp, args, &rest));
    Value data, dtype;
    CallArgs plain{args.self, args.positional, rest};
    COBRA_TRY(ArgReader(interp, name, plain).Required("data", &data).Optional("dtype", &dtype).Finish());
    data = UnwrapArray(interp, data);
    if (!dtype.IsNone()) where.dtype = AsDType(interp, dtype);
    const bool keeps = name != "tensor";  // as_tensor, from_numpy, scalar_tensor may return a given tensor
    if (keeps && AsTensor(data) != nullptr && (!where.dtype || *where.dtype == AsTensor(data)->type.dtype)) return data;
    if (name == "scalar_tensor" && !where.dtype) where.dtype = Torch(interp).default_dtype;
    COBRA_TRY_ASSIGN(Value made, TensorFromData(interp, data, where.dtype, "tensor"));
    AsTensor(made)->requires_grad = where.requires_grad;
    return made;
  };
}

// PyTorch's kernels for ranges fill two vectors of 32 bytes at a time, each starting from its own
// first element, and the remaining elements one by one. The last bit of a value depends on it.
// `at(i)` computes element i directly, `within(base, k)` the k-th element after the first one of a
// vector.
template <typename At, typename Within>
ConstValues InVectors(int64_t count, graph::DType dtype, At at, Within within) {
  const int64_t width = dtype == graph::DType::float64 ? 4 : 8;
  ConstValues values;
  int64_t i = 0;
  while (i + 2 * width <= count) {
    for (int v = 0; v < 2; ++v, i += width) {
      const double base = at(i);
      for (int64_t k = 0; k < width; ++k) values.push_back(within(base, k));
    }
  }
  for (; i < count; ++i) values.push_back(at(i));
  return values;
}

// How many numbers arange() makes. Integers are counted from whole numbers, and for int64 up to one
// too.
double CountOf(graph::DType dtype, double* start, double end, double* step) {
  const bool whole = graph::IsIntegral(dtype);
  const double first = *start, apart = *step;
  if (whole) {
    *start = std::trunc(first);
    *step = std::trunc(apart);
  }
  return dtype == graph::DType::int64 ? std::ceil((std::trunc(end) - *start) / *step)
                                      : std::ceil((end - first) / apart);
}

struct RangeArguments {
  Value start = Value::Int(0), end, step = Value::Int(1);
};

// arange(end), arange(start, end), arange(start, end, step), by name too.
RangeArguments RangeArgumentsOf(absl::Span<const Value> numbers, absl::Span<const KeywordArg> named) {
  RangeArguments range;
  for (const KeywordArg& keyword : named) {
    const absl::string_view name = keyword.name->view();
    (name == "start" ? range.start : name == "end" ? range.end : range.step) = keyword.value;
  }
  if (numbers.size() == 1) (range.end.IsNone() ? range.end : range.start) = numbers[0];
  if (numbers.size() >= 2) {
    range.start = numbers[0];
    range.end = numbers[1];
  }
  if (numbers.size() >= 3) range.step = numbers[2];
  return range;
}

graph::Attributes RangeAttributes(graph::DType dtype, double start, double step) {
  if (!graph::IsIntegral(dtype)) return {{"start", start}, {"step", step}};
  return {{"start", static_cast<int64_t>(start)}, {"step", static_cast<int64_t>(step)}};
}

Result<Value> Arange(Interpreter& interp, const CallArgs& args) {
  std::vector<KeywordArg> rest;
  COBRA_TRY_ASSIGN(Where where, TakeWhere(interp, args, &rest));
  const auto [start, end, step] = RangeArgumentsOf(args.positional, rest);
  bool floating = false;
  for (Value v : {start, end, step}) {
    floating = floating || v.IsFloat() || (AsTensor(v) != nullptr && graph::IsFloatingPoint(AsTensor(v)->type.dtype));
  }
  COBRA_TRY_ASSIGN(double a, NumberArg(interp, start));
  COBRA_TRY_ASSIGN(double b, NumberArg(interp, end));
  COBRA_TRY_ASSIGN(double s, NumberArg(interp, step));
  if (!std::isfinite(a) || !std::isfinite(b))
    return interp.Raise(interp.types().RuntimeError, "unsupported range: ", a, " -> ", b);
  if (s == 0) return interp.Raise(interp.types().RuntimeError, "step must be nonzero");
  if ((b - a) / s < 0)
    return interp.Raise(interp.types().RuntimeError, "upper bound and lower bound inconsistent with step sign");
  const graph::DType dtype = where.dtype.value_or(floating ? Torch(interp).default_dtype : graph::DType::int64);
  if (graph::IsComplex(dtype) || dtype == graph::DType::bool_)
    return interp.Raise(interp.types().RuntimeError, "\"arange_cpu\" not implemented for '", graph::DTypeName(dtype),
                        "'");
  if (graph::IsIntegral(dtype) && std::trunc(s) == 0)
    return interp.Raise(interp.types().RuntimeError, "step must be nonzero");
  const double size = CountOf(dtype, &a, b, &s);
  if (size > static_cast<double>(graph::kMaxConstElements)) {
    constexpr int64_t kMostElements = 1'000'000'000'000;
    if (size > static_cast<double>(kMostElements))
      return interp.LimitReached(LimitMessage("torch.arange", kMostElements, "elements"));
    return Created(interp, graph::Op::arange,
                   NewTensor(interp, {{static_cast<int64_t>(size)}, dtype}, nullptr, "arange"),
                   RangeAttributes(dtype, a, s));
  }
  COBRA_TRY(interp.CheckSize(static_cast<int64_t>(size)));
  if (!graph::IsFloatingPoint(dtype)) {
    ConstValues integers;
    for (int64_t i = 0; i < static_cast<int64_t>(size); ++i) integers.push_back(a + static_cast<double>(i) * s);
    return Ranged(interp, integers, dtype, graph::Op::arange, RangeAttributes(dtype, a, s));
  }
  const auto at = [&](int64_t i) { return graph::RoundTo(dtype, std::fma(s, static_cast<double>(i), a)); };
  const auto within = [&](double base, int64_t k) {
    return graph::RoundTo(dtype, std::fma(s, static_cast<double>(k), base));
  };
  return Ranged(interp, InVectors(static_cast<int64_t>(size), dtype, at, within), dtype, graph::Op::arange,
                RangeAttributes(dtype, a, s));
}

// Computed from both ends to the middle, as in PyTorch, so that drop-path rates are equal bit for
// bit.
Result<Value> Linspace(Interpreter& interp, const CallArgs& args) {
  std::vector<KeywordArg> rest;
  COBRA_TRY_ASSIGN(Where where, TakeWhere(interp, args, &rest));
  Value start, end, count;
  CallArgs plain{args.self, args.positional, rest};
  ArgReader reader(interp, "linspace", plain);
  COBRA_TRY(reader.Required("start", &start).Required("end", &end).Required("steps", &count).Finish());
  COBRA_TRY_ASSIGN(double a, NumberArg(interp, start));
  COBRA_TRY_ASSIGN(double b, NumberArg(interp, end));
  COBRA_TRY_ASSIGN(int64_t steps, interp.Index(count));
  if (steps < 0) return interp.Raise(interp.types().RuntimeError, "number of steps must be non-negative");
  const graph::DType dtype = where.dtype.value_or(Torch(interp).default_dtype);
  if (steps > graph::kMaxConstElements) {  // nobody reads so many values
    COBRA_TRY(CheckBytes(interp, "linspace", {{steps}, dtype}));
    return Created(interp, graph::Op::linspace, NewTensor(interp, {{steps}, dtype}, nullptr, "linspace"),
                   {{"start", a}, {"end", b}});
  }
  // Every step is rounded to the dtype; integers are computed in double.
  const graph::DType counted = graph::IsFloatingPoint(dtype) ? dtype : graph::DType::float64;
  const auto round = [counted](double v) { return graph::RoundTo(counted, v); };
  const double first = round(a), last = round(b);
  const double step = steps > 1 ? round(round(last - first) / static_cast<double>(steps - 1)) : 0;
  const auto at = [&](int64_t i) {
    return i < steps / 2 ? round(std::fma(step, static_cast<double>(i), first))
                         : round(std::fma(-step, static_cast<double>(steps - i - 1), last));
  };
  const auto within = [&](double base, int64_t k) { return round(base + round(step * static_cast<double>(k))); };
  ConstValues values = InVectors(steps, counted, at, within);
  if (steps == 1) values[0] = a;
  return Ranged(interp, values, dtype, graph::Op::linspace, {{"start", a}, {"end", b}});
}

Result<Value> Eye(Interpreter& interp, const CallArgs& args) {
  std::vector<KeywordArg> rest;
  COBRA_TRY_ASSIGN(Where where, TakeWhere(interp, args, &rest));
  int64_t n;
  std::optional<int64_t> columns;
  CallArgs plain{args.self, args.positional, rest};
  COBRA_TRY(ArgReader(interp, "eye", plain).Required("n", &n).Optional("m", &columns).Finish());
  const int64_t m = columns.value_or(n);
  const graph::TensorType type{{n, m}, where.dtype.value_or(Torch(interp).default_dtype)};
  if (n < 0) return interp.Raise(interp.types().RuntimeError, "n must be greater or equal to 0, got ", n);
  if (m < 0) return interp.Raise(interp.types().RuntimeError, "m must be greater or equal to 0, got ", m);
  COBRA_TRY(CheckBytes(interp, "eye", type));
  if (type.num_elements() > graph::kMaxConstElements)
    return Created(interp, graph::Op::eye, NewTensor(interp, type, nullptr, "eye"));
  COBRA_TRY(interp.CheckSize(type.num_elements()));
  ConstValues values(type.num_elements(), 0);
  for (int64_t i = 0; i < std::min(n, m); ++i) values[i * m + i] = 1;
  if (graph::IsComplex(type.dtype)) values = WithImaginary(values);
  interp.heap().Allocate(values.size() * 8);
  return Created(interp, graph::Op::eye,
                 NewTensor(interp, type, std::make_shared<const ConstValues>(std::move(values)), "eye"));
}

Result<Value> RandInt(Interpreter& interp, const CallArgs& args) {
  std::vector<KeywordArg> rest;
  COBRA_TRY_ASSIGN(Where where, TakeWhere(interp, args, &rest));
  Value size;
  for (Value v : args.positional) {
    if (v.IsTuple() || v.IsList()) size = v;
  }
  for (const KeywordArg& keyword : rest) {
    if (keyword.name->view() == "size") size = keyword.value;
  }
  if (size.IsNone()) return interp.Raise(interp.types().TypeError, "randint() missing argument 'size'");
  CallArgs sized;
  sized.positional = absl::MakeConstSpan(&size, 1);
  COBRA_TRY_ASSIGN(graph::Shape shape, TakeSize(interp, sized, {}, "randint"));
  return Filled(interp, {shape, where.dtype.value_or(graph::DType::int64)}, std::nullopt, where, "randint");
}

Result<Value> RandPerm(Interpreter& interp, const CallArgs& args) {
  std::vector<KeywordArg> rest;
  COBRA_TRY_ASSIGN(Where where, TakeWhere(interp, args, &rest));
  CallArgs sized{Value::Unbound(), args.positional, {}};
  COBRA_TRY_ASSIGN(graph::Shape shape, TakeSize(interp, sized, {}, "randperm"));
  return Filled(interp, {shape, where.dtype.value_or(graph::DType::int64)}, std::nullopt, where, "randperm");
}

// The same of a matrix with more elements than values are kept of: how many indices there are is
// counted by rows.
Result<Value> LargeTriangle(Interpreter& interp, bool upper, int64_t rows, int64_t columns, int64_t offset,
                            graph::DType dtype) {
  int64_t count = 0;
  for (int64_t i = 0; i < rows; ++i) {
    COBRA_TRY(interp.Step());
    const int64_t first = std::clamp<int64_t>(i + offset + (upper ? 0 : 1), 0, columns);  // on or after the diagonal
    count += upper ? columns - first : first;
  }
  const graph::TensorType type{{2, count}, dtype};
  COBRA_TRY(CheckBytes(interp, upper ? "triu_indices" : "tril_indices", type));
  return Created(interp, upper ? graph::Op::triu_indices : graph::Op::tril_indices,
                 NewTensor(interp, type, nullptr, "triangle_indices"),
                 {{"row", rows}, {"col", columns}, {"offset", offset}});
}

NativeFunction TriangleIndices(bool upper) {
  return [upper](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    std::vector<KeywordArg> rest;
    COBRA_TRY_ASSIGN(Where where, TakeWhere(interp, args, &rest));
    int64_t rows, columns, offset = 0;
    CallArgs plain{args.self, args.positional, rest};
    ArgReader reader(interp, upper ? "triu_indices" : "tril_indices", plain);
    COBRA_TRY(reader.Required("row", &rows).Required("col", &columns).Optional("offset", &offset).Finish());
    if (rows < 0 || columns < 0)
      return interp.Raise(interp.types().RuntimeError, rows < 0 ? "row" : "col", " must be non-negative, got",
                          rows < 0 ? rows : columns);
    if (columns > 0 && rows > graph::kMaxConstElements / columns)
      return LargeTriangle(interp, upper, rows, columns, offset, where.dtype.value_or(graph::DType::int64));
    ConstValues first, second;
    for (int64_t i = 0; i < rows; ++i) {
      COBRA_TRY(interp.Step());
      for (int64_t j = 0; j < columns; ++j) {
        if (upper ? j - i >= offset : j - i <= offset) {
          first.push_back(static_cast<double>(i));
          second.push_back(static_cast<double>(j));
        }
      }
    }
    const graph::TensorType type{{2, static_cast<int64_t>(first.size())}, where.dtype.value_or(graph::DType::int64)};
    first.insert(first.end(), second.begin(), second.end());
    for (double& v : first) v = graph::RoundTo(type.dtype, v);
    if (graph::IsComplex(type.dtype)) first = WithImaginary(first);
    interp.heap().Allocate(first.size() * 8);
    return Created(interp, upper ? graph::Op::triu_indices : graph::Op::tril_indices,
                   NewTensor(interp, type, std::make_shared<const ConstValues>(std::move(first)), "triangle_indices"),
                   {{"row", rows}, {"col", columns}, {"offset", offset}});
  };
}

}  // namespace

Result<Value> NewEmpty(Interpreter& interp, absl::Span<const Value> size, Value dtype, bool parameter) {
  const TorchState& torch = Torch(interp);
  graph::TensorType type;
  type.dtype = torch.default_dtype;
  if (!dtype.IsNone()) {
    const std::optional<graph::DType> given = AsDType(interp, dtype);
    if (!given)
      return interp.Raise(interp.types().TypeError, "argument 'dtype' must be torch.dtype, not ",
                          interp.TypeName(dtype));
    type.dtype = *given;
  }
  if (size.size() == 1 && (size[0].IsTuple() || size[0].IsList())) {
    COBRA_TRY_ASSIGN(std::vector<Value> items, interp.ToVector(size[0]));
    COBRA_TRY_ASSIGN(type.shape, ShapeOf(interp, items, "empty"));
  } else {
    for (Value item : size) {
      if (!item.IsInt() || item.as_int() < 0) break;
      type.shape.push_back(item.as_int());
    }
    if (type.shape.size() != size.size()) COBRA_TRY_SET(type.shape, ShapeOf(interp, size, "empty"));
  }
  if (!parameter) return Filled(interp, std::move(type), std::nullopt, {}, "empty");
  COBRA_TRY(CheckBytes(interp, "empty", type));
  Tensor* made = interp.heap().New<Tensor>("parameter");
  made->type = std::move(type);
  made->is_random = made->requires_grad = true;
  return interp.NewInstance(torch.parameter_class, made);
}

Result<void> DefineTensorMethods(Interpreter& interp, NativeClassBuilder& tensor_class) {
  DefineCasts(tensor_class);
  tensor_class.Method("new_zeros", NewFunction("new_zeros", 0))
      .Method("new_ones", NewFunction("new_ones", 1))
      .Method("new_empty", NewFunction("new_empty", std::nullopt))
      .Method("new_full", NewFunction("new_full", std::nullopt))
      .Method("new_tensor", NewTensorMethod)
      .Method("new", New);
  return {};
}

void DefineCreation(Interpreter& interp, NativeModuleBuilder& m) {
  DefineDTypes(interp, m);
  DefineSizeClass(interp, m);
  m.Function("zeros", FilledFunction("zeros", 0)).Function("ones", FilledFunction("ones", 1));
  for (const char* name : {"empty", "rand", "randn"}) m.Function(name, FilledFunction(name, std::nullopt));
  m.Function("full", Full)
      .Function("zeros_like", LikeFunction("zeros_like", 0))
      .Function("ones_like", LikeFunction("ones_like", 1));
  for (const char* name : {"empty_like", "full_like", "rand_like", "randn_like", "randint_like"})
    m.Function(name, LikeFunction(name, std::nullopt));
  for (const char* name : {"tensor", "as_tensor", "from_numpy", "scalar_tensor", "asarray"})
    m.Function(name, FromData(name));
  m.Function("arange", Arange)
      .Function("linspace", Linspace)
      .Function("eye", Eye)
      .Function("randint", RandInt)
      .Function("randperm", RandPerm);
  m.Function("triu_indices", TriangleIndices(true)).Function("tril_indices", TriangleIndices(false));
}

}  // namespace cobra::python
