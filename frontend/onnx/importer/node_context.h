// One ONNX node for its handler: inputs, attributes, and the calls that it is lowered to.
#ifndef COBRA_FRONTEND_ONNX_IMPORTER_NODE_CONTEXT_H_
#define COBRA_FRONTEND_ONNX_IMPORTER_NODE_CONTEXT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "frontend/onnx/importer/importer.h"
#include "frontend/onnx/importer/value.h"
#include "onnx/onnx_pb.h"

namespace cobra::onnx {

using Outputs = std::vector<Value>;

template <typename... Args>
absl::Status Unsupported(const Args&... args) {
  return absl::UnimplementedError(absl::StrCat(args...));
}
template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

class NodeContext {
 public:
  NodeContext(Importer* importer, GraphRun* run, const ::onnx::NodeProto& node, std::vector<Value> inputs)
      : importer_(importer), run_(run), node_(node), inputs_(std::move(inputs)) {}

  // ---- inputs
  size_t num_inputs() const { return inputs_.size(); }
  bool Has(size_t i) const { return i < inputs_.size() && inputs_[i].kind != Value::Kind::kAbsent; }
  // Null if absent. REQUIRES: not a sequence (only operators that the registry marks get
  // sequences).
  TensorPtr In(size_t i) const { return i < inputs_.size() ? inputs_[i].tensor : nullptr; }
  const Value& InValue(size_t i) const { return inputs_[i]; }
  const graph::TensorType& Type(size_t i) const { return inputs_[i].tensor->type; }
  const graph::Shape& ShapeOf(size_t i) const { return inputs_[i].tensor->type.shape; }
  int Rank(size_t i) const { return inputs_[i].tensor->type.rank(); }
  std::vector<TensorPtr> AllInputs() const;

  // ---- attributes: the fallback if absent; a wrong type is reported as an error once the handler
  // returns.
  bool HasAttr(absl::string_view name) const { return FindAttr(name) != nullptr; }
  int64_t Int(absl::string_view name, int64_t fallback = 0) const;
  double Float(absl::string_view name, double fallback = 0) const;
  std::string String(absl::string_view name, absl::string_view fallback = "") const;
  std::vector<int64_t> Ints(absl::string_view name) const;
  std::vector<double> Floats(absl::string_view name) const;
  std::vector<std::string> Strings(absl::string_view name) const;
  const ::onnx::AttributeProto* FindAttr(absl::string_view name) const;

  // ---- values that must be known while the file is read
  absl::StatusOr<std::vector<double>> Known(size_t i, absl::string_view what) const;
  absl::StatusOr<std::vector<int64_t>> KnownInts(size_t i, absl::string_view what) const;
  absl::StatusOr<int64_t> KnownInt(size_t i, absl::string_view what) const;
  absl::StatusOr<double> KnownNumber(size_t i, absl::string_view what) const;
  // The attribute if the file has it, else input `i`, else empty.
  absl::StatusOr<std::vector<int64_t>> IntsOrInput(absl::string_view name, size_t i) const;
  // Null when not known.
  absl::StatusOr<std::shared_ptr<const Values>> TryValues(const TensorPtr& tensor) const {
    return importer_->TryValues(tensor);
  }

  // ---- calls
  absl::StatusOr<std::vector<TensorPtr>> CallAll(graph::Op op, graph::Attributes attributes,
                                                 const std::vector<TensorPtr>& inputs) {
    return importer_->Call(op, std::move(attributes), inputs);
  }
  absl::StatusOr<TensorPtr> Call(graph::Op op, graph::Attributes attributes, const std::vector<TensorPtr>& inputs);
  absl::StatusOr<TensorPtr> Unary(graph::Op op, const TensorPtr& x) { return Call(op, {}, {x}); }
  absl::StatusOr<TensorPtr> Binary(graph::Op op, const TensorPtr& a, const TensorPtr& b) {
    return Call(op, {}, {a, b});
  }
  absl::StatusOr<TensorPtr> WithNumber(graph::Op op, const TensorPtr& x, graph::AttributeValue other) {
    return Call(op, {{"other", std::move(other)}}, {x});
  }
  absl::StatusOr<TensorPtr> Cast(const TensorPtr& x, graph::DType dtype);  // no call if it has that dtype already
  absl::StatusOr<TensorPtr> Reshape(const TensorPtr& x, const graph::Shape& shape);
  // No call for 0, 1, 2 ...
  absl::StatusOr<TensorPtr> Permute(const TensorPtr& x, const std::vector<int64_t>& dims);
  absl::StatusOr<TensorPtr> Constant(graph::TensorType type, Values values) {
    return importer_->Constant(std::move(type), std::move(values));
  }
  absl::StatusOr<TensorPtr> IntsConstant(const std::vector<int64_t>& values);  // 1-d, int64
  // A constant of one value, of any size up to the limits.
  absl::StatusOr<TensorPtr> Filled(const graph::TensorType& type, double value);

  // ResourceExhausted if a handler may not create a constant of `count` numbers.
  absl::Status CheckCount(int64_t count) const;

  absl::StatusOr<Outputs> Out(absl::StatusOr<TensorPtr> tensor) const {
    if (!tensor.ok()) return tensor.status();
    return Outputs{*std::move(tensor)};
  }
  // True if output `k` has a name, so that it may be read.
  bool Wants(int k) const { return k < node_.output_size() && !node_.output(k).empty(); }

  int opset() const { return importer_->opset(); }
  const ::onnx::NodeProto& node() const { return node_; }
  Importer& importer() { return *importer_; }
  GraphRun& run() { return *run_; }
  const absl::Status& attribute_error() const { return attribute_error_; }

 private:
  const ::onnx::AttributeProto* Typed(absl::string_view name, ::onnx::AttributeProto::AttributeType type) const;

  Importer* const importer_;
  GraphRun* const run_;
  const ::onnx::NodeProto& node_;
  const std::vector<Value> inputs_;
  mutable absl::Status attribute_error_;
};

// The product of the dimensions [from, to), saturating.
int64_t Elements(const graph::Shape& shape, int from, int to);
// Rejects dimensions beyond 2^32, which are a mistake or an attack: window arithmetic on them would
// overflow.
absl::Status CheckSpatial(const graph::Shape& shape);
// Converts an axis in [-rank, rank) to [0, rank). `name` is the attribute's name in the error.
absl::StatusOr<int> WrapAxis(int64_t axis, int rank, absl::string_view name = "axis");
inline std::vector<int64_t> ToInts(const graph::Shape& shape) { return {shape.begin(), shape.end()}; }
inline graph::Shape ToShape(const std::vector<int64_t>& sizes) { return graph::Shape(sizes.begin(), sizes.end()); }

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_IMPORTER_NODE_CONTEXT_H_
