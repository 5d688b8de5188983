// x[index], x[index] = value, and conversion between tensors and nested lists.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/limit_message.h"
#include "frontend/python/torch/functions/functions.h"
#include "frontend/python/torch/tensor/refused.h"
#include "graph/constants/const_eval.h"

namespace cobra::python {
namespace {

struct Index {
  std::vector<std::string> text;
  std::vector<Value> tensors;
  bool by_mask = false;  // a mask of known values among the items
};

Result<int64_t> IndexInt(Interpreter& interp, Value v) {
  if (Tensor* tensor = AsTensor(v)) {
    COBRA_TRY_ASSIGN(const ConstValues* values, ReadValues(interp, tensor, "a slice by a tensor"));
    if (values->size() != 1)
      return interp.Raise(interp.types().TypeError,
                          "only integer tensors of a single element can be converted to an index");
    return static_cast<int64_t>((*values)[0]);
  }
  return interp.Index(v);
}

Result<std::string> SliceText(Interpreter& interp, const SliceObject* slice) {
  std::string text;
  for (Value part : {slice->start, slice->stop}) {
    if (!part.IsNone()) {
      COBRA_TRY_ASSIGN(int64_t i, IndexInt(interp, part));
      absl::StrAppend(&text, i);
    }
    if (text.find(':') == std::string::npos) text += ":";
  }
  if (!slice->step.IsNone()) {
    COBRA_TRY_ASSIGN(int64_t step, IndexInt(interp, slice->step));
    if (step <= 0) return interp.Raise(interp.types().ValueError, "step must be greater than zero");
    absl::StrAppend(&text, ":", step);
  }
  return text;
}

// The text of a list of numbers, for example "[0, [1, 2]]".
Result<std::string> ListText(Interpreter& interp, absl::Span<const Value> items) {
  COBRA_TRY(interp.CheckStack());
  std::vector<std::string> parts;
  for (Value item : items) {
    COBRA_TRY(interp.Step());
    if (item.IsInt()) {
      parts.push_back(absl::StrCat(item.as_int()));
    } else if (item.IsList() || item.IsTuple()) {
      COBRA_TRY_ASSIGN(std::vector<Value> inner, interp.ToVector(item));
      COBRA_TRY_ASSIGN(std::string text, ListText(interp, inner));
      parts.push_back(text);
    } else {
      COBRA_TRY_ASSIGN(int64_t i, IndexInt(interp, item));
      parts.push_back(absl::StrCat(i));
    }
  }
  return absl::StrCat("[", absl::StrJoin(parts, ", "), "]");
}

// A mask of known values is replaced by the indices of its true elements, so that their number is
// known.
Result<void> AddMask(Interpreter& interp, Tensor* mask, Index* index) {
  COBRA_TRY_ASSIGN(const ConstValues* values, ReadValues(interp, mask, "indexing by a mask"));
  COBRA_TRY(interp.Charge(static_cast<int64_t>(values->size()) / 4 * static_cast<int64_t>(mask->type.shape.size())));
  index->by_mask = true;
  std::vector<ConstValues> coordinates(mask->type.shape.size());
  for (size_t n = 0; n < values->size(); ++n) {
    if ((*values)[n] == 0) continue;
    int64_t rest = static_cast<int64_t>(n);
    for (size_t d = coordinates.size(); d-- > 0;) {
      coordinates[d].push_back(static_cast<double>(rest % mask->type.shape[d]));
      rest /= mask->type.shape[d];
    }
  }
  for (ConstValues& column : coordinates) {
    const graph::TensorType type{{static_cast<int64_t>(column.size())}, graph::DType::int64};
    index->text.push_back(absl::StrCat("T", index->tensors.size()));
    index->tensors.push_back(
        NewTensor(interp, type, std::make_shared<const ConstValues>(std::move(column)), "nonzero"));
  }
  return {};
}

bool IsMask(const Tensor* tensor) {
  return tensor->type.dtype == graph::DType::bool_ || tensor->type.dtype == graph::DType::uint8;
}

// Whether all numbers of a list are booleans: then it is a mask.
bool HoldsBooleans(Value v, int depth = 0) {
  if (v.IsBool()) return depth > 0;
  if (!v.IsList() || v.as<ListObject>()->items.empty() || depth > 8) return false;
  return HoldsBooleans(v.as<ListObject>()->items[0], depth + 1);
}

// A number of Python's random that nobody seeded. While a network is built it may choose which
// values of a constant are set; no shape depends on it.
bool IsDrawnNumber(Interpreter& interp, Value item) {
  if (!item.IsInstance() || Torch(interp).recording) return false;
  const ClassObject* cls = interp.class_of(item);
  return cls->name->view() == "Unknown" && cls->module.IsStr() && cls->module.str() == "_unknown_number";
}

// An item of an index as PyTorch understands it: arrays become lists, lists of booleans masks,
// tensors without dimensions numbers.
Result<Value> PlainItem(Interpreter& interp, Value item) {
  if (IsDrawnNumber(interp, item)) {
    InstanceObject* drawn = NewTensor(interp, {{}, graph::DType::int64}, nullptr, "random");
    AsTensor(drawn)->is_random = true;
    return Value(drawn);
  }
  const Value array = UnwrapArray(interp, item);
  if (!array.IsSame(item)) {  // a numpy array of indices is used as a list of numbers
    if (Tensor* tensor = AsTensor(array); tensor != nullptr && tensor->type.dtype != graph::DType::bool_)
      return TensorToList(interp, tensor);
    item = array;
  }
  if (HoldsBooleans(item)) return TensorFromData(interp, item, graph::DType::bool_, "tensor");
  Tensor* tensor = AsTensor(item);
  if (tensor == nullptr) return item;
  Refresh(interp, tensor);
  const graph::DType dtype = tensor->type.dtype;
  const bool number = tensor->type.rank() == 0;
  const bool narrow = dtype == graph::DType::int32 && Torch(interp).AtLeast(2, 0);
  if (!IsMask(tensor) && dtype != graph::DType::int64 && !narrow && !(number && graph::IsIntegral(dtype))) {
    return interp.Raise(interp.types().IndexError, "tensors used as indices must be long, ",
                        Torch(interp).AtLeast(2, 0) ? "int, " : "", "byte or bool tensors");
  }
  if (!number || !tensor->is_const() || tensor->values == nullptr || tensor->is_random) return item;
  const double value = (*tensor->values)[0];
  return IsMask(tensor) ? Value::Bool(value != 0) : Value::Int(static_cast<int64_t>(value));
}

int DimensionsOf(Value item) {
  if (item.IsNone() || item.IsEllipsis() || item.IsBool()) return 0;
  const Tensor* tensor = AsTensor(item);
  return tensor != nullptr && IsMask(tensor) ? tensor->type.rank() : 1;
}

// Masks must be as large as the dimensions from `dim` on that they select from, and known indices
// within theirs.
Result<void> CheckTensorIndex(Interpreter& interp, const Tensor* index, const graph::Shape& shape, size_t dim) {
  const graph::Shape& own = index->type.shape;
  if (IsMask(index)) {
    for (size_t d = 0; d < own.size() && dim + d < shape.size(); ++d) {
      if (own[d] == shape[dim + d]) continue;
      return interp.Raise(interp.types().IndexError, "The shape of the mask [", absl::StrJoin(own, ", "), "] at index ",
                          d, " does not match the shape of the indexed tensor [", absl::StrJoin(shape, ", "),
                          "] at index ", dim + d);
    }
    return {};
  }
  if (!index->is_const() || index->values == nullptr || index->is_random || dim >= shape.size() || shape[dim] == 0)
    return {};
  interp.Spend(static_cast<int64_t>(index->values->size()) / 16);
  const auto size = static_cast<double>(shape[dim]);
  for (double v : *index->values) {
    if (v >= -size && v < size) continue;
    return interp.Raise(interp.types().IndexError, "index ", static_cast<int64_t>(v),
                        " is out of bounds for dimension ", dim, " with size ", shape[dim]);
  }
  return {};
}

// The items of `items` in place, checked against the shape of the tensor that is indexed.
Result<void> CheckItems(Interpreter& interp, std::vector<Value>* items, const graph::Shape& shape) {
  int64_t consumed = 0;
  for (Value& item : *items) {
    COBRA_TRY_ASSIGN(item, PlainItem(interp, item));
    consumed += DimensionsOf(item);
  }
  size_t dim = 0;
  int64_t rest = std::max<int64_t>(0, static_cast<int64_t>(shape.size()) - consumed);
  for (Value item : *items) {
    if (item.IsEllipsis()) dim += static_cast<size_t>(std::exchange(rest, 0));
    if (Tensor* tensor = AsTensor(item)) COBRA_TRY(CheckTensorIndex(interp, tensor, shape, dim));
    dim += static_cast<size_t>(DimensionsOf(item));
  }
  return {};
}

Result<Index> ReadIndex(Interpreter& interp, const Tensor* self, Value v, bool writes) {
  if (v.IsTuple()) COBRA_TRY(interp.Charge(v.as<TupleObject>()->size * 2));
  Index index;
  // As in old versions of numpy, a list that contains more than numbers is treated as a tuple.
  if (v.IsList() && v.as<ListObject>()->items.size() < 32) {
    bool stands_for_tuple = false;
    for (Value item : v.as<ListObject>()->items) {
      stands_for_tuple = stands_for_tuple || (item.IsList() && !HoldsBooleans(item, 1)) || item.IsTuple() ||
                         item.IsSlice() || item.IsNone() || item.IsEllipsis() ||
                         (AsTensor(item) != nullptr && AsTensor(item)->type.rank() > 0);
    }
    if (stands_for_tuple) {
      COBRA_TRY_ASSIGN(std::vector<Value> items, interp.ToVector(v));
      v = interp.NewTuple(items);
    }
  }
  const absl::Span<const Value> given = v.IsTuple() ? v.as<TupleObject>()->span() : absl::MakeConstSpan(&v, 1);
  std::vector<Value> items(given.begin(), given.end());
  COBRA_TRY(CheckItems(interp, &items, self->type.shape));
  for (Value item : items) {
    if (Tensor* tensor = AsTensor(item)) {
      // A write into a tensor of the network by a mask alone is one call.
      const bool known = tensor->is_const() && tensor->values != nullptr && (items.size() > 1 || self->is_const());
      if (IsMask(tensor) && (!writes || known)) {
        COBRA_TRY(AddMask(interp, tensor, &index));
        continue;
      }
      index.text.push_back(absl::StrCat("T", index.tensors.size()));
      index.tensors.push_back(item);
    } else if (item.IsSlice()) {
      COBRA_TRY_ASSIGN(std::string text, SliceText(interp, item.as<SliceObject>()));
      index.text.push_back(text);
    } else if (item.IsNone()) {
      index.text.push_back("None");
    } else if (item.IsEllipsis()) {
      index.text.push_back("...");
    } else if (item.IsBool()) {
      index.text.push_back(item.as_bool() ? "True" : "False");
    } else if (item.IsList() || item.IsTuple() || item.IsRange()) {
      COBRA_TRY_ASSIGN(std::vector<Value> list, interp.ToVector(item));
      COBRA_TRY_ASSIGN(std::string text, ListText(interp, list));
      index.text.push_back(text);
    } else if (item.IsInt()) {
      index.text.push_back(absl::StrCat(item.as_int()));
    } else {
      Result<int64_t> i = interp.Index(item);
      if (!i.ok()) {
        if (!interp.CatchException(interp.types().TypeError)) return Failure();
        if (item.IsStr()) return interp.Raise(interp.types().TypeError, "new(): invalid data type 'str'");
        return interp.Raise(
            interp.types().IndexError,
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices");
      }
      index.text.push_back(absl::StrCat(*i));
    }
  }
  return index;
}

}  // namespace

Result<Value> TensorGetItem(Interpreter& interp, Value self, Value key) {
  if (IsUnknownMask(interp, key)) {
    std::vector<Value> items{key};
    COBRA_TRY(CheckItems(interp, &items, AsTensor(self)->type.shape));
    return NewSelection(interp, self, key);
  }
  COBRA_TRY_ASSIGN(Index index, ReadIndex(interp, AsTensor(self), key, /*writes=*/false));
  std::vector<Value> inputs{self};
  inputs.insert(inputs.end(), index.tensors.begin(), index.tensors.end());
  return Apply(interp, graph::Op::getitem, {{"index", absl::StrJoin(index.text, ", ")}}, std::move(inputs));
}

Result<void> TensorSetItem(Interpreter& interp, Value self, Value key, Value value) {
  if (IsRefused(interp, value) && IsUnknownMask(interp, key)) return WriteSelection(interp, self, key, value);
  COBRA_TRY_ASSIGN(Index index, ReadIndex(interp, AsTensor(self), key, /*writes=*/true));
  graph::Attributes attributes{{"index", absl::StrJoin(index.text, ", ")}};
  std::vector<Value> inputs{self};
  inputs.insert(inputs.end(), index.tensors.begin(), index.tensors.end());
  if (Tensor* tensor = AsTensor(value); tensor != nullptr) {
    const graph::DType dtype = AsTensor(self)->type.dtype;
    if (index.by_mask && tensor->type.num_elements() == 1 && tensor->type.dtype != dtype) {  // as masked_fill
      COBRA_TRY_ASSIGN(value, Apply(interp, graph::Op::to, {{"dtype", std::string(graph::DTypeName(dtype))}}, {value}));
    }
    inputs.push_back(value);
  } else if (value.IsComplex()) {
    if (!graph::IsComplex(AsTensor(self)->type.dtype))
      return interp.Raise(interp.types().RuntimeError, "value cannot be converted to a real type without overflow");
    inputs.push_back(ComplexScalar(interp, value));
  } else if (value.IsIntOrBool()) {
    attributes.Set("value", value.as_int());
  } else {
    COBRA_TRY_ASSIGN(double number, interp.AsFloat(value));
    attributes.Set("value", number);
  }
  COBRA_TRY(Apply(interp, graph::Op::setitem, std::move(attributes), std::move(inputs), /*inplace=*/true));
  return {};
}

namespace {

struct NestedData {
  graph::Shape shape;
  ConstValues values, imaginary;  // `imaginary` only if some are complex
  bool any_float = false, all_bool = true, any_complex = false;
  bool is_exact = true;               // all integers among `values` are what the program wrote
  std::optional<graph::DType> dtype;  // of tensors among the elements
};

void AddComplex(double real, double imaginary, NestedData* out) {
  out->any_complex = true;
  out->all_bool = false;
  out->imaginary.resize(out->values.size());
  out->values.push_back(real);
  out->imaginary.push_back(imaginary);
}

// Of one element.
Result<void> ReadTensorScalar(Interpreter& interp, Tensor* tensor, NestedData* out) {
  COBRA_TRY_ASSIGN(const ConstValues* values,
                   ReadValues(interp, tensor, "torch.tensor() of a tensor", /*complex=*/true));
  if (graph::IsComplex(tensor->type.dtype) && values->size() == 2) {
    AddComplex((*values)[0], (*values)[1], out);
    return {};
  }
  if (values->size() != 1)
    return interp.Raise(interp.types().ValueError, "only one element tensors can be converted to Python scalars");
  out->any_float = out->any_float || graph::IsFloatingPoint(tensor->type.dtype);
  out->all_bool = out->all_bool && tensor->type.dtype == graph::DType::bool_;
  out->values.push_back((*values)[0]);
  return {};
}

Result<void> ReadNested(Interpreter& interp, Value v, size_t depth, NestedData* out) {
  COBRA_TRY(interp.Step());
  COBRA_TRY(interp.CheckStack());
  v = UnwrapArray(interp, v);
  if (Tensor* tensor = AsTensor(v); tensor != nullptr && tensor->type.rank() > 0 && tensor->type.num_elements() > 1) {
    COBRA_TRY_ASSIGN(v, TensorToList(interp, tensor));
  }
  if (v.IsList() || v.IsTuple() || v.IsRange()) {
    COBRA_TRY_ASSIGN(std::vector<Value> items, interp.ToVector(v));
    const int64_t n = static_cast<int64_t>(items.size());
    if (out->shape.size() <= depth) out->shape.push_back(n);
    if (out->shape[depth] != n) {
      return interp.Raise(interp.types().ValueError, "expected sequence of length ", out->shape[depth], " at dim ",
                          depth, " (got ", n, ")");
    }
    for (Value item : items) COBRA_TRY(ReadNested(interp, item, depth + 1, out));
    return {};
  }
  const int64_t most = interp.limits().sequence_items;
  if (static_cast<int64_t>(out->values.size()) >= most)
    return interp.LimitReached(LimitMessage("torch.tensor", most, "numbers"));
  if (v.IsComplex()) {
    AddComplex(v.as<ComplexObject>()->real, v.as<ComplexObject>()->imag, out);
    return {};
  }
  if (Tensor* tensor = AsTensor(v)) return ReadTensorScalar(interp, tensor, out);
  if (v.IsIntOrBool()) {
    out->all_bool = out->all_bool && v.IsBool();
    out->values.push_back(static_cast<double>(v.as_int()));
    out->is_exact = out->is_exact && graph::IsExactInteger(out->values.back());
    return {};
  }
  if (v.IsNone()) return interp.Raise(interp.types().RuntimeError, "Could not infer dtype of NoneType");
  if (v.IsObject() && Interpreter::IsSubclassOf(interp.class_of(v), interp.types().int_type)) {  // of numpy, IntEnum
    COBRA_TRY_ASSIGN(const int64_t number, interp.Index(v));
    out->all_bool = false;
    out->values.push_back(static_cast<double>(number));
    out->is_exact = out->is_exact && graph::IsExactInteger(out->values.back());
    return {};
  }
  out->any_float = true;
  out->all_bool = false;
  COBRA_TRY_ASSIGN(double number, interp.AsFloat(v));
  out->values.push_back(number);
  return {};
}

}  // namespace

Result<Value> TensorFromData(Interpreter& interp, Value data, std::optional<graph::DType> dtype,
                             absl::string_view label) {
  data = UnwrapArray(interp, data);
  if (Tensor* tensor = AsTensor(data)) {
    if (!tensor->is_const()) {
      if (dtype && *dtype != tensor->type.dtype)
        return Apply(interp, graph::Op::to, {{"dtype", std::string(graph::DTypeName(*dtype))}}, {data});
      return Apply(interp, graph::Op::clone, {}, {data});
    }
    Refresh(interp, tensor);
    if (Torch(interp).recording) {
      COBRA_TRY_ASSIGN(const Value clone, Apply(interp, graph::Op::clone, {}, {data}));
      if (!dtype || *dtype == tensor->type.dtype) return clone;
      return Apply(interp, graph::Op::to, {{"dtype", std::string(graph::DTypeName(*dtype))}}, {clone});
    }
    InstanceObject* copy = NewTensor(interp, tensor->type, tensor->values, label);
    AsTensor(copy)->is_random = tensor->is_random;
    if (!dtype || *dtype == tensor->type.dtype) return copy;
    return Apply(interp, graph::Op::to, {{"dtype", std::string(graph::DTypeName(*dtype))}}, {copy});
  }
  NestedData nested;
  COBRA_TRY(ReadNested(interp, data, 0, &nested));
  graph::TensorType type{nested.shape, graph::DType::int64};
  if (nested.any_float || nested.values.empty()) type.dtype = Torch(interp).default_dtype;
  if (!nested.values.empty() && nested.all_bool) type.dtype = graph::DType::bool_;
  if (nested.any_complex)
    type.dtype =
        Torch(interp).default_dtype == graph::DType::float64 ? graph::DType::complex128 : graph::DType::complex64;
  if (dtype) type.dtype = *dtype;
  if (type.num_elements() != static_cast<int64_t>(nested.values.size()))
    return interp.Raise(interp.types().ValueError, "torch.tensor: the nested sequences do not form a rectangle");
  if (!interp.heap().CanAllocate(type.num_elements() * 8)) return interp.OutOfMemory();
  interp.heap().Allocate(nested.values.size() * 8);
  if (graph::IsComplex(type.dtype)) {
    nested.imaginary.resize(nested.values.size());
    ConstValues pairs;
    for (size_t i = 0; i < nested.values.size(); ++i) {
      pairs.push_back(nested.values[i]);
      pairs.push_back(nested.imaginary[i]);
    }
    nested.values = std::move(pairs);
  }
  if (!nested.is_exact && type.dtype == graph::DType::int64)
    return Created(interp, graph::Op::tensor, NewTensor(interp, type, nullptr, label));
  for (double& value : nested.values) value = graph::RoundTo(type.dtype, value);
  return Created(interp, graph::Op::tensor,
                 NewTensor(interp, type, std::make_shared<const ConstValues>(std::move(nested.values)), label));
}

namespace {

Result<Value> ListLevel(Interpreter& interp, const graph::TensorType& type, const ConstValues& values, size_t depth,
                        int64_t* next) {
  if (depth == type.shape.size()) return ElementOf(interp, type.dtype, values, (*next)++);
  std::vector<Value> items;
  for (int64_t i = 0; i < type.shape[depth]; ++i) {
    COBRA_TRY(interp.Step());
    COBRA_TRY_ASSIGN(Value item, ListLevel(interp, type, values, depth + 1, next));
    items.push_back(item);
  }
  return interp.NewList(items);
}

}  // namespace

Result<Value> TensorToList(Interpreter& interp, Tensor* tensor) {
  COBRA_TRY_ASSIGN(const ConstValues* values, ReadValues(interp, tensor, "Tensor.tolist()", /*complex=*/true));
  int64_t next = 0;
  return ListLevel(interp, tensor->type, *values, 0, &next);
}

}  // namespace cobra::python
