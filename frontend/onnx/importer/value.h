// The values on the edges of an ONNX graph while it is read.
#ifndef COBRA_FRONTEND_ONNX_IMPORTER_VALUE_H_
#define COBRA_FRONTEND_ONNX_IMPORTER_VALUE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/types.h"

namespace onnx {
class TensorProto;
}

namespace cobra::onnx {

using Values = std::vector<double>;

// A tensor is CONSTANT until it depends on an input of the network. Calls on constants are computed
// at once and leave no node; constants enter the graph when a node needs them.
struct Tensor {
  graph::TensorType type;
  graph::ValueRef ref;  // kNone: a constant that the graph does not know (yet)
  bool constant = false;
  bool weight = false;                         // a constant that comes from trained numbers: a parameter of the graph
  std::string name;                            // of a constant: its name in the graph
  std::shared_ptr<const Values> values;        // for a constant; null if too large, or not decoded yet (`proto`)
  const ::onnx::TensorProto* proto = nullptr;  // source of the values; lives as long as the import
  int32_t onnx_type = 0;  // element type in the file, of integers whose type LibTorch does not have; 0: as `type`
  // Of a constant whose values are unknown because they are in another file: the tensor and the
  // file, for an error.
  std::shared_ptr<const std::string> elsewhere;
};
using TensorPtr = std::shared_ptr<Tensor>;  // null: an optional argument that was not given

struct Value {
  enum class Kind { kAbsent, kTensor, kSequence };
  Kind kind = Kind::kAbsent;
  TensorPtr tensor;
  std::vector<Value> items;  // of a sequence

  Value() = default;
  Value(TensorPtr t) : kind(Kind::kTensor), tensor(std::move(t)) {}  // NOLINT: a tensor is a value
  static Value Sequence(std::vector<Value> items) {
    Value value;
    value.kind = Kind::kSequence;
    value.items = std::move(items);
    return value;
  }
  bool is_tensor() const { return kind == Kind::kTensor; }
  bool is_sequence() const { return kind == Kind::kSequence; }
};

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_IMPORTER_VALUE_H_
