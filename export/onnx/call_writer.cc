#include "export/onnx/call_writer.h"

#include <algorithm>
#include <numeric>

#include "export/weights.h"
#include "graph/shape/shape_rules.h"

namespace cobra::exporting {
namespace {

// "conv2d in layer1.0.conv1 (resnet.py:96)"
std::string DocOf(const graph::Node& node) {
  std::string doc(graph::OpName(node.op));
  if (!node.origin.module_path.empty()) absl::StrAppend(&doc, " in ", node.origin.module_path);
  if (node.origin.shown_file() != nullptr)
    absl::StrAppend(&doc, " (", *node.origin.shown_file(), ":", node.origin.shown_line(), ")");
  return doc;
}

}  // namespace

DType ArithmeticType(DType dtype) {
  switch (dtype) {
    case DType::bool_:
    case DType::int8:
    case DType::int16:
    case DType::uint8: return DType::int32;
    default: return dtype;
  }
}

Ints Range(int64_t first, int64_t last) {
  Ints values(static_cast<size_t>(std::max<int64_t>(last - first, 0)));
  std::iota(values.begin(), values.end(), first);
  return values;
}

Ints Wrapped(Ints dims, int rank) {
  for (int64_t& dim : dims) {
    if (dim < 0) dim += std::max(rank, 1);
  }
  return dims;
}

DType CallWriter::CommonType() const {
  std::vector<const TensorType*> types;
  for (size_t i = 0; i < num_inputs(); ++i) {
    if (Has(i)) types.push_back(&Type(i));
  }
  const graph::AttributeValue* number = nullptr;
  for (absl::string_view name : {"other", "exponent", "input", "elements", "test_elements", "value", "min", "max"}) {
    const graph::AttributeValue* value = node_.attributes.Find(name);
    if (value == nullptr || std::holds_alternative<graph::NoneValue>(*value)) continue;
    if (number == nullptr || std::holds_alternative<double>(*value)) number = value;
  }
  return graph::shape_rules::ResultDType(types, number);
}

std::string CallWriter::Node(const std::string& op_type, Names inputs, OnnxAttributes attributes) {
  return Nodes(op_type, std::move(inputs), 1, std::move(attributes))[0];
}

Names CallWriter::Nodes(const std::string& op_type, Names inputs, size_t outputs, OnnxAttributes attributes) {
  return NodesFor(op_type, std::move(inputs), std::vector<bool>(outputs, true), std::move(attributes));
}

Names CallWriter::NodesFor(const std::string& op_type, Names inputs, std::vector<bool> wanted,
                           OnnxAttributes attributes) {
  const int number = (*nodes_)++;
  OnnxNode node{op_type, LayerName(op_type), DocOf(node_), std::move(inputs), {}, std::move(attributes)};
  if (number > 0) absl::StrAppend(&node.name, "_", number);
  node.name = file_->Unique(node.name);
  for (size_t i = 0; i < wanted.size(); ++i)
    node.outputs.push_back(wanted[i] ? file_->Unique(absl::StrCat(node.name, ":", i)) : "");
  file_->AddNode(node);
  return node.outputs;
}

std::string CallWriter::Number(DType dtype, double value) {
  return file_->Number({{}, dtype}, BytesOf(dtype, {value}));
}

std::string CallWriter::Numbers(const TensorType& type, const std::vector<double>& values) {
  return file_->Number(type, BytesOf(type.dtype, values));
}

std::string CallWriter::IntsOf(const Ints& values) {
  const std::vector<double> numbers(values.begin(), values.end());
  return Numbers({{static_cast<int64_t>(values.size())}, DType::int64}, numbers);
}

std::string CallWriter::Cast(const std::string& x, DType from, DType to) {
  if (from == to || x.empty()) return x;
  return Node("Cast", {x}, {{"to", int64_t{OnnxTypeOf(to)}}});
}

std::string CallWriter::Reshaped(const std::string& x, const Shape& shape) {
  OnnxAttributes attributes;
  // Without it 0 means "as before".
  if (std::count(shape.begin(), shape.end(), 0) > 0) attributes.emplace_back("allowzero", int64_t{1});
  return Node("Reshape", {x, IntsOf(ToInts(shape))}, std::move(attributes));
}

std::string CallWriter::Transposed(const std::string& x, const Ints& perm) {
  return Node("Transpose", {x}, {{"perm", perm}});
}

std::string CallWriter::Swapped(const std::string& x, int rank, int a, int b) {
  Ints perm = Range(0, rank);
  std::swap(perm[static_cast<size_t>(a)], perm[static_cast<size_t>(b)]);
  return Transposed(x, perm);
}

std::string CallWriter::Sliced(const std::string& x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  Names inputs{x, IntsOf({start}), IntsOf({end}), IntsOf({axis})};
  if (step != 1) inputs.push_back(IntsOf({step}));
  return Node("Slice", std::move(inputs));
}

std::string CallWriter::Expanded(const std::string& x, const Shape& shape) {
  return Node("Expand", {x, IntsOf(ToInts(shape))});
}

std::string CallWriter::Gathered(const std::string& x, const Ints& index, int64_t axis) {
  return Node("Gather", {x, IntsOf(index)}, {{"axis", axis}});
}

std::string CallWriter::Unsqueezed(const std::string& x, const Ints& axes) {
  return Node("Unsqueeze", {x, IntsOf(axes)});
}

std::string CallWriter::Squeezed(const std::string& x, const Ints& axes) { return Node("Squeeze", {x, IntsOf(axes)}); }

std::string CallWriter::Filled(const TensorType& type, double value) {
  const std::string number = Number(type.dtype, value);
  return type.shape.empty() ? number : Expanded(number, type.shape);
}

std::string CallWriter::Summed(const std::string& x, const Ints& axes, bool keep) {
  if (axes.empty()) return x;
  return Node("ReduceSum", {x, IntsOf(axes)}, {{"keepdims", keep ? 1 : 0}});
}

std::string CallWriter::Reduced(const std::string& op_type, const std::string& x, const Ints& axes, bool keep) {
  if (axes.empty()) return x;
  return Node(op_type, {x}, {{"axes", axes}, {"keepdims", keep ? 1 : 0}});
}

std::string CallWriter::Chosen(const std::string& condition, const std::string& a, const std::string& b, DType dtype) {
  const DType wide = ArithmeticType(dtype);
  return Cast(Node("Where", {condition, Cast(a, dtype, wide), Cast(b, dtype, wide)}), wide, dtype);
}

std::string CallWriter::Arithmetic(const std::string& op_type, const Names& inputs, DType dtype) {
  const DType wide = ArithmeticType(dtype);
  Names cast;
  for (const std::string& input : inputs) cast.push_back(Cast(input, dtype, wide));
  return Cast(Node(op_type, std::move(cast)), wide, dtype);
}

std::string CallWriter::Scaled(const std::string& x, double factor, DType dtype) {
  return factor == 1 ? x : Arithmetic("Mul", {x, Number(dtype, factor)}, dtype);
}

std::string CallWriter::Combined(const std::string& x, double beta, const std::string& y, double alpha, DType dtype) {
  const std::string right = Scaled(y, alpha, dtype);
  return beta == 0 ? right : Arithmetic("Add", {Scaled(x, beta, dtype), right}, dtype);
}

}  // namespace cobra::exporting
