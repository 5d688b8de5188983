#include "frontend/onnx/importer/node_context.h"

#include <numeric>

#include "base/status_macros.h"
#include "base/text/limit_message.h"

namespace cobra::onnx {

using ::onnx::AttributeProto;

std::vector<TensorPtr> NodeContext::AllInputs() const {
  std::vector<TensorPtr> tensors;
  for (const Value& value : inputs_) tensors.push_back(value.tensor);
  return tensors;
}

const AttributeProto* NodeContext::FindAttr(absl::string_view name) const {
  for (const AttributeProto& attribute : node_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

// Files of IR versions 1 and 2 omit `type`; the field that is present then determines the type.
const AttributeProto* NodeContext::Typed(absl::string_view name, AttributeProto::AttributeType type) const {
  const AttributeProto* attribute = FindAttr(name);
  if (attribute == nullptr) return nullptr;
  if (attribute->type() == type || attribute->type() == AttributeProto::UNDEFINED) return attribute;
  if (attribute_error_.ok()) {
    attribute_error_ =
        Invalid("attribute '", name, "' is of type ", AttributeProto::AttributeType_Name(attribute->type()),
                ", must be ", AttributeProto::AttributeType_Name(type));
  }
  return nullptr;
}

int64_t NodeContext::Int(absl::string_view name, int64_t fallback) const {
  const AttributeProto* attribute = Typed(name, AttributeProto::INT);
  return attribute == nullptr ? fallback : attribute->i();
}

double NodeContext::Float(absl::string_view name, double fallback) const {
  const AttributeProto* attribute = Typed(name, AttributeProto::FLOAT);
  return attribute == nullptr ? fallback : attribute->f();
}

std::string NodeContext::String(absl::string_view name, absl::string_view fallback) const {
  const AttributeProto* attribute = Typed(name, AttributeProto::STRING);
  return attribute == nullptr ? std::string(fallback) : attribute->s();
}

std::vector<int64_t> NodeContext::Ints(absl::string_view name) const {
  const AttributeProto* attribute = Typed(name, AttributeProto::INTS);
  if (attribute == nullptr) return {};
  return {attribute->ints().begin(), attribute->ints().end()};
}

std::vector<double> NodeContext::Floats(absl::string_view name) const {
  const AttributeProto* attribute = Typed(name, AttributeProto::FLOATS);
  if (attribute == nullptr) return {};
  return {attribute->floats().begin(), attribute->floats().end()};
}

std::vector<std::string> NodeContext::Strings(absl::string_view name) const {
  const AttributeProto* attribute = Typed(name, AttributeProto::STRINGS);
  if (attribute == nullptr) return {};
  return {attribute->strings().begin(), attribute->strings().end()};
}

absl::StatusOr<std::vector<double>> NodeContext::Known(size_t i, absl::string_view what) const {
  if (In(i) == nullptr) return Invalid(what, " is not a tensor");
  COBRA_ASSIGN_OR_RETURN(std::shared_ptr<const Values> values, importer_->NeedValues(In(i), what));
  return *values;
}

absl::StatusOr<std::vector<int64_t>> NodeContext::KnownInts(size_t i, absl::string_view what) const {
  COBRA_ASSIGN_OR_RETURN(std::vector<double> values, Known(i, what));
  std::vector<int64_t> ints;
  for (double v : values)
    ints.push_back(v >= 9.2e18 ? INT64_MAX : v <= -9.2e18 ? INT64_MIN : v == v ? static_cast<int64_t>(v) : 0);
  return ints;
}

absl::StatusOr<double> NodeContext::KnownNumber(size_t i, absl::string_view what) const {
  COBRA_ASSIGN_OR_RETURN(std::vector<double> values, Known(i, what));
  if (values.size() != 1) return Invalid(what, " has ", values.size(), " elements, must have one");
  return values[0];
}

absl::StatusOr<int64_t> NodeContext::KnownInt(size_t i, absl::string_view what) const {
  COBRA_ASSIGN_OR_RETURN(std::vector<int64_t> values, KnownInts(i, what));
  if (values.size() != 1) return Invalid(what, " has ", values.size(), " elements, must have one");
  return values[0];
}

absl::StatusOr<std::vector<int64_t>> NodeContext::IntsOrInput(absl::string_view name, size_t i) const {
  if (HasAttr(name)) return Ints(name);
  if (Has(i)) return KnownInts(i, name);
  return std::vector<int64_t>();
}

absl::StatusOr<TensorPtr> NodeContext::Call(graph::Op op, graph::Attributes attributes,
                                            const std::vector<TensorPtr>& inputs) {
  COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> outputs, importer_->Call(op, std::move(attributes), inputs));
  if (outputs.empty()) return Invalid(graph::OpName(op), " gives nothing");
  return outputs[0];
}

absl::StatusOr<TensorPtr> NodeContext::Cast(const TensorPtr& x, graph::DType dtype) {
  if (x->type.dtype == dtype) return x;
  return Call(graph::Op::to, {{"dtype", std::string(graph::DTypeName(dtype))}}, {x});
}

absl::StatusOr<TensorPtr> NodeContext::Reshape(const TensorPtr& x, const graph::Shape& shape) {
  if (x->type.shape == shape) return x;
  return Call(graph::Op::reshape, {{"shape", ToInts(shape)}}, {x});
}

absl::StatusOr<TensorPtr> NodeContext::Permute(const TensorPtr& x, const std::vector<int64_t>& dims) {
  std::vector<int64_t> same(dims.size());
  std::iota(same.begin(), same.end(), 0);
  if (dims == same) return x;
  return Call(graph::Op::permute, {{"dims", dims}}, {x});
}

absl::StatusOr<TensorPtr> NodeContext::IntsConstant(const std::vector<int64_t>& values) {
  return Constant({{static_cast<int64_t>(values.size())}, graph::DType::int64}, Values(values.begin(), values.end()));
}

absl::StatusOr<TensorPtr> NodeContext::Filled(const graph::TensorType& type, double value) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr one, Constant({{}, type.dtype}, {value}));
  if (type.rank() == 0) return one;
  return Call(graph::Op::expand, {{"size", ToInts(type.shape)}}, {one});
}

absl::Status NodeContext::CheckCount(int64_t count) const {
  if (count <= importer_->limits().onnx.max_const_elements) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      LimitMessage("a table that it needs", count, importer_->limits().onnx.max_const_elements, "numbers"));
}

int64_t Elements(const graph::Shape& shape, int from, int to) {
  return graph::TensorType{graph::Shape(shape.begin() + from, shape.begin() + to), graph::DType::float32}
      .num_elements();
}

absl::Status CheckSpatial(const graph::Shape& shape) {
  for (int64_t d : shape) {
    if (d > int64_t{1} << 32) return Invalid("a dimension of ", d);
  }
  return absl::OkStatus();
}

absl::StatusOr<int> WrapAxis(int64_t axis, int rank, absl::string_view name) {
  if (axis < -rank || axis >= rank) return Invalid(name, "=", axis, " is outside of a tensor of ", rank, " dimensions");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace cobra::onnx
