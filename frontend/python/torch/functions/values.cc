// Functions whose truth value or size of the result depends on the values of a tensor: nonzero,
// unique, equal ... They are computed for constants with known values; all other cases are refused
// as data-dependent.
#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/text/limit_message.h"
#include "frontend/python/torch/functions/functions.h"
#include "graph/constants/const_eval.h"

namespace cobra::python {
namespace {

Result<Value> NewValues(Interpreter& interp, graph::Shape shape, graph::DType dtype, ConstValues values) {
  interp.heap().Allocate(values.size() * 8 + 64);
  return NewTensor(interp, {std::move(shape), dtype}, std::make_shared<const ConstValues>(std::move(values)),
                   "from_values");
}

// The multi-indices of the nonzero elements, one per row.
std::vector<std::vector<double>> NonzeroRows(const graph::Shape& shape, const ConstValues& values) {
  std::vector<std::vector<double>> rows;
  for (size_t n = 0; n < values.size(); ++n) {
    if (values[n] == 0) continue;
    std::vector<double> row(shape.size());
    int64_t rest = static_cast<int64_t>(n);
    for (size_t d = shape.size(); d-- > 0;) {
      row[d] = static_cast<double>(rest % shape[d]);
      rest /= shape[d];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<Value> NonzeroOf(Interpreter& interp, Tensor* tensor, bool as_tuple, absl::string_view name) {
  COBRA_TRY_ASSIGN(const ConstValues* values, ReadValues(interp, tensor, absl::StrCat("the shape of ", name, "()")));
  graph::Shape shape = tensor->type.shape;
  if (as_tuple && shape.empty()) shape = {1};
  COBRA_TRY(interp.Charge(2 * static_cast<int64_t>(values->size())));
  const std::vector<std::vector<double>> rows = NonzeroRows(shape, *values);
  const int64_t n = static_cast<int64_t>(rows.size()), rank = static_cast<int64_t>(shape.size());
  if (!as_tuple) {
    ConstValues flat;
    for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
    return NewValues(interp, {n, rank}, graph::DType::int64, std::move(flat));
  }
  std::vector<Value> columns;
  for (int64_t d = 0; d < rank; ++d) {
    ConstValues column;
    for (const auto& row : rows) column.push_back(row[d]);
    COBRA_TRY_ASSIGN(Value made, NewValues(interp, {n}, graph::DType::int64, std::move(column)));
    columns.push_back(made);
  }
  return interp.NewTuple(columns);
}

// A function of torch that is also a method of Tensor: the first argument is the tensor.
using WithTensor = Result<Value> (*)(Interpreter&, Tensor*, ArgReader&, absl::string_view name);

NativeFunction Wrapped(std::string name, WithTensor function) {
  return [name, function](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    std::vector<Value> positional;
    if (!args.self.IsUnbound()) positional.push_back(args.self);
    positional.insert(positional.end(), args.positional.begin(), args.positional.end());
    const CallArgs all{Value::Unbound(), positional, args.keywords};
    ArgReader reader(interp, name, all);
    Tensor* tensor = nullptr;
    reader.Required("input", &tensor);
    if (tensor == nullptr) COBRA_TRY(reader.Finish());
    return function(interp, tensor, reader, name);
  };
}

Result<Value> Nonzero(Interpreter& interp, Tensor* tensor, ArgReader& reader, absl::string_view name) {
  bool as_tuple = false;
  COBRA_TRY(reader.Optional("as_tuple", &as_tuple).Finish());
  return NonzeroOf(interp, tensor, as_tuple, name);
}

Result<Value> Argwhere(Interpreter& interp, Tensor* tensor, ArgReader& reader, absl::string_view name) {
  COBRA_TRY(reader.Finish());
  return NonzeroOf(interp, tensor, false, name);
}

Result<Value> MaskedSelect(Interpreter& interp, Tensor* tensor, ArgReader& reader, absl::string_view) {
  Tensor* mask = nullptr;
  COBRA_TRY(reader.Required("mask", &mask).Finish());
  COBRA_TRY_ASSIGN(const ConstValues* chosen, ReadValues(interp, mask, "the shape of masked_select()"));
  if (mask->type.dtype != graph::DType::bool_)
    return interp.Raise(interp.types().RuntimeError, "masked_select: expected BoolTensor for mask");
  // Both are broadcast to each other; only the number of elements counts where the input's values
  // are unknown.
  const graph::TensorType* types[] = {&mask->type, &tensor->type, &tensor->type};
  absl::StatusOr<graph::TensorTypes> shapes = graph::InferTypes(graph::Op::where, {}, types);
  if (!shapes.ok()) return RaiseShapeError(interp, shapes.status());
  const graph::TensorType& whole = (*shapes)[0];
  if (whole.num_elements() > graph::kMaxConstElements)
    return interp.LimitReached(
        LimitMessage("masked_select()", whole.num_elements(), graph::kMaxConstElements, "elements"));
  COBRA_TRY(interp.Charge(whole.num_elements() / 2));
  const auto expand = [&](const graph::TensorType& type, const ConstValues& values) {
    const graph::TensorType out{whole.shape, type.dtype};
    graph::Attributes size;
    size.Set("size", std::vector<int64_t>(whole.shape.begin(), whole.shape.end()));
    return graph::EvalConst(graph::Op::expand, size, {{&type, &values}}, {out})[0];
  };
  const auto flags = expand(mask->type, *chosen);
  const int64_t count =
      flags == nullptr ? 0 : std::count_if(flags->begin(), flags->end(), [](double v) { return v != 0; });
  Refresh(interp, tensor);
  if (tensor->values == nullptr || !tensor->is_const() || graph::IsComplex(tensor->type.dtype)) {
    if (tensor->is_const()) return NewTensor(interp, {{count}, tensor->type.dtype}, nullptr, "masked_select");
    return interp.DataDependent("masked_select() of a computed tensor", "index it with the mask: x[mask]");
  }
  const auto values = expand(tensor->type, *tensor->values);
  ConstValues kept;
  for (size_t i = 0; flags != nullptr && i < flags->size(); ++i) {
    if ((*flags)[i] != 0) kept.push_back((*values)[i]);
  }
  return NewValues(interp, {count}, tensor->type.dtype, std::move(kept));
}

Result<Value> UniqueOf(Interpreter& interp, Tensor* tensor, ArgReader& reader, absl::string_view name) {
  const bool consecutive = name == "unique_consecutive";
  bool sorted = true, inverse = false, counts = false;
  std::optional<int64_t> dim;
  if (!consecutive) reader.Optional("sorted", &sorted);
  COBRA_TRY(
      reader.Optional("return_inverse", &inverse).Optional("return_counts", &counts).Optional("dim", &dim).Finish());
  COBRA_TRY_ASSIGN(const ConstValues* values, ReadValues(interp, tensor, absl::StrCat("the shape of ", name, "()")));
  if (dim && tensor->type.rank() > 1)
    return interp.Unsupported(absl::StrCat(name, "() along a dimension"), "use a 1-D tensor");
  COBRA_TRY(interp.Charge(static_cast<int64_t>(values->size()) * (consecutive ? 1 : 8)));
  ConstValues kept, number;
  std::vector<double> where(values->size());
  if (consecutive) {
    for (size_t i = 0; i < values->size(); ++i) {
      if (kept.empty() || kept.back() != (*values)[i]) {
        kept.push_back((*values)[i]);
        number.push_back(0);
      }
      number.back() += 1;
      where[i] = static_cast<double>(kept.size() - 1);
    }
  } else {
    std::map<double, int64_t> seen;
    for (double v : *values) ++seen[v];
    for (auto& [value, count] : seen) {
      number.push_back(static_cast<double>(count));
      count = static_cast<int64_t>(kept.size());
      kept.push_back(value);
    }
    for (size_t i = 0; i < values->size(); ++i) where[i] = static_cast<double>(seen[(*values)[i]]);
  }
  const int64_t n = static_cast<int64_t>(kept.size());
  COBRA_TRY_ASSIGN(Value out, NewValues(interp, {n}, tensor->type.dtype, std::move(kept)));
  if (!inverse && !counts) return out;
  std::vector<Value> all{out};
  if (inverse) {
    COBRA_TRY_ASSIGN(Value made, NewValues(interp, tensor->type.shape, graph::DType::int64, std::move(where)));
    all.push_back(made);
  }
  if (counts) {
    COBRA_TRY_ASSIGN(Value made, NewValues(interp, {n}, graph::DType::int64, std::move(number)));
    all.push_back(made);
  }
  return interp.NewTuple(all);
}

Result<Value> Bincount(Interpreter& interp, Tensor* tensor, ArgReader& reader, absl::string_view) {
  Value weights;
  int64_t least = 0;
  COBRA_TRY(reader.Optional("weights", &weights).Optional("minlength", &least).Finish());
  COBRA_TRY_ASSIGN(const ConstValues* values, ReadValues(interp, tensor, "the shape of bincount()"));
  COBRA_TRY(interp.Charge(static_cast<int64_t>(values->size()) / 8));
  const ConstValues* weight = nullptr;
  if (AsTensor(weights) != nullptr) {
    COBRA_TRY_ASSIGN(weight, ReadValues(interp, AsTensor(weights), "the weights of bincount()"));
    if (weight->size() != values->size())
      return interp.Raise(interp.types().RuntimeError, "bincount: weights should have the same length as input");
  }
  double largest = -1;
  for (double v : *values) {
    if (v < 0 || tensor->type.rank() != 1 || !graph::IsIntegral(tensor->type.dtype))
      return interp.Raise(interp.types().RuntimeError, "bincount only supports 1-d non-negative integral inputs.");
    largest = std::max(largest, v);
  }
  const int64_t bins = std::max(least, static_cast<int64_t>(largest) + 1);
  COBRA_TRY(interp.CheckSize(bins));
  COBRA_TRY(interp.Charge(bins / 8));
  ConstValues count(bins, 0);
  for (size_t i = 0; i < values->size(); ++i)
    count[static_cast<size_t>((*values)[i])] += weight == nullptr ? 1 : (*weight)[i];
  graph::DType dtype = graph::DType::int64;
  if (weight != nullptr)
    dtype = AsTensor(weights)->type.dtype == graph::DType::float32 ? graph::DType::float32 : graph::DType::float64;
  return NewValues(interp, {bins}, dtype, std::move(count));
}

Result<Value> Equal(Interpreter& interp, Tensor* tensor, ArgReader& reader, absl::string_view name) {
  Tensor* other = nullptr;
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;
  reader.Required("other", &other);
  const bool close = name == "allclose";
  if (close) reader.Optional("rtol", &rtol).Optional("atol", &atol).Optional("equal_nan", &equal_nan);
  COBRA_TRY(reader.Finish());
  if (!close && tensor->type.shape != other->type.shape) return Value::Bool(false);
  const std::string what = absl::StrCat("torch.", name, "()");
  COBRA_TRY_ASSIGN(const ConstValues* a, ReadValues(interp, tensor, what));
  COBRA_TRY_ASSIGN(const ConstValues* b, ReadValues(interp, other, what));
  if (a->size() != b->size()) return interp.Unsupported(absl::StrCat(what, " of tensors of different shapes"));
  interp.Spend(static_cast<int64_t>(a->size()) / 16);
  for (size_t i = 0; i < a->size(); ++i) {
    const double x = (*a)[i], y = (*b)[i];
    const bool same = x == y || (close && equal_nan && std::isnan(x) && std::isnan(y));
    if (!same && !(close && std::fabs(x - y) <= atol + rtol * std::fabs(y))) return Value::Bool(false);
  }
  return Value::Bool(true);
}

Result<Value> IsNonzero(Interpreter& interp, Tensor* tensor, ArgReader& reader, absl::string_view) {
  COBRA_TRY(reader.Finish());
  if (tensor->type.num_elements() != 1)
    return interp.Raise(interp.types().RuntimeError, "Boolean value of Tensor with more than one value is ambiguous");
  COBRA_TRY_ASSIGN(const ConstValues* values, ReadValues(interp, tensor, "is_nonzero()"));
  return Value::Bool((*values)[0] != 0);
}

struct Entry {
  const char* name;
  WithTensor function;
};
constexpr Entry kEntries[] = {{"nonzero", Nonzero}, {"argwhere", Argwhere}, {"masked_select", MaskedSelect},
                              {"unique", UniqueOf}, {"bincount", Bincount}, {"unique_consecutive", UniqueOf},
                              {"equal", Equal},     {"allclose", Equal},    {"is_nonzero", IsNonzero}};

}  // namespace

Result<Value> WhereIndices(Interpreter& interp, Tensor* condition) {
  return NonzeroOf(interp, condition, /*as_tuple=*/true, "torch.where");
}

void DefineValueFunctions(NativeModuleBuilder& m) {
  for (const Entry& entry : kEntries) m.Function(entry.name, Wrapped(entry.name, entry.function));
}

void DefineValueMethods(NativeClassBuilder& tensor_class) {
  for (const Entry& entry : kEntries) tensor_class.Method(entry.name, Wrapped(entry.name, entry.function));
}

}  // namespace cobra::python
