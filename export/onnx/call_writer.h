// One call of the graph while it becomes nodes of an ONNX graph: what a handler (handlers.h) sees.
#ifndef COBRA_EXPORT_ONNX_CALL_WRITER_H_
#define COBRA_EXPORT_ONNX_CALL_WRITER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "export/call_arguments.h"
#include "export/onnx/onnx_file.h"
#include "graph/graph.h"
#include "graph/types.h"

namespace cobra::exporting {

inline Ints ToInts(const Shape& shape) { return Ints(shape.begin(), shape.end()); }
inline Shape ToShape(const Ints& sizes) { return Shape(sizes.begin(), sizes.end()); }

class CallWriter : public CallArguments {
 public:
  // `nodes` counts the nodes of the call across writers.
  CallWriter(OnnxFile* file, const graph::Graph& graph, int32_t index, Names inputs, int* nodes)
      : CallArguments(graph, index, std::move(inputs)), file_(file), nodes_(nodes) {}

  // "" if absent.
  std::string In(size_t i) const { return i < inputs_.size() ? inputs_[i] : ""; }
  // PyTorch's promotion over all inputs and the Python number among the attributes, if there is
  // one.
  DType CommonType() const;

  // ---- nodes
  std::string Node(const std::string& op_type, Names inputs, OnnxAttributes attributes = {});
  Names Nodes(const std::string& op_type, Names inputs, size_t outputs, OnnxAttributes attributes = {});
  // Adds the node with these names for its outputs, "" for one that is not computed.
  Names NodesFor(const std::string& op_type, Names inputs, std::vector<bool> wanted, OnnxAttributes attributes = {});

  // ---- constants
  std::string Number(DType dtype, double value);  // a scalar
  std::string Numbers(const TensorType& type, const std::vector<double>& values);
  std::string IntsOf(const Ints& values);  // a vector of int64

  // ---- what many calls need
  std::string Cast(const std::string& x, DType from, DType to);  // x itself if the types are the same
  std::string Input(size_t i, DType dtype) { return Cast(In(i), Type(i).dtype, dtype); }
  std::string Reshaped(const std::string& x, const Shape& shape);
  std::string Transposed(const std::string& x, const Ints& perm);
  std::string Swapped(const std::string& x, int rank, int a, int b);  // two dimensions
  std::string Sliced(const std::string& x, int64_t axis, int64_t start, int64_t end, int64_t step = 1);
  std::string Expanded(const std::string& x, const Shape& shape);
  std::string Gathered(const std::string& x, const Ints& index, int64_t axis);
  std::string Unsqueezed(const std::string& x, const Ints& axes);
  std::string Squeezed(const std::string& x, const Ints& axes);
  std::string Joined(const Names& parts, int64_t axis) { return Node("Concat", parts, {{"axis", axis}}); }
  std::string Filled(const TensorType& type, double value);
  std::string Summed(const std::string& x, const Ints& axes, bool keep);
  std::string Reduced(const std::string& op_type, const std::string& x, const Ints& axes, bool keep);
  // condition ? a : b, where a and b are of `dtype`.
  std::string Chosen(const std::string& condition, const std::string& a, const std::string& b, DType dtype);
  // An elementwise node on tensors of `dtype`; types that runtimes have no arithmetic for (bool, 8
  // and 16 bits) are computed as int32.
  std::string Arithmetic(const std::string& op_type, const Names& inputs, DType dtype);
  // beta * x + alpha * y; beta = 0 leaves x out, as PyTorch does.
  std::string Combined(const std::string& x, double beta, const std::string& y, double alpha, DType dtype);
  std::string Scaled(const std::string& x, double factor, DType dtype);

 private:
  OnnxFile* file_;
  int* nodes_;
};

// The type in which elementwise nodes compute numbers of `dtype`.
DType ArithmeticType(DType dtype);
// [first, last)
Ints Range(int64_t first, int64_t last);
// Of a list of dimensions, which may be negative: between 0 and rank - 1.
Ints Wrapped(Ints dims, int rank);

}  // namespace cobra::exporting

#endif  // COBRA_EXPORT_ONNX_CALL_WRITER_H_
