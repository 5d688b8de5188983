// One call of the graph as every format reads it: its inputs, types and attributes. A format's
// CallWriter adds what it writes.
#ifndef COBRA_EXPORT_CALL_ARGUMENTS_H_
#define COBRA_EXPORT_CALL_ARGUMENTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "graph/types.h"

namespace cobra::exporting {

using graph::DType;
using graph::Shape;
using graph::TensorType;
using Ints = std::vector<int64_t>;
using Names = std::vector<std::string>;  // of values in the written file; "" is an absent one

// Why a call cannot be written; the writer adds which call it is.
template <typename... Args>
absl::Status Refused(const Args&... args) {
  return absl::UnimplementedError(absl::StrCat(args...));
}

class CallArguments {
 public:
  // `inputs` are the names of the call's inputs as they are now.
  CallArguments(const graph::Graph& graph, int32_t index, Names inputs)
      : graph_(graph), index_(index), node_(graph.nodes()[static_cast<size_t>(index)]), inputs_(std::move(inputs)) {}

  const graph::Node& node() const { return node_; }
  graph::Op op() const { return node_.op; }
  size_t num_inputs() const { return inputs_.size(); }
  bool Has(size_t i) const { return i < inputs_.size() && !inputs_[i].empty(); }
  // REQUIRES: Has(i)
  const TensorType& Type(size_t i) const { return graph_.TypeOf(node_.inputs[i]); }
  const Shape& ShapeOf(size_t i) const { return Type(i).shape; }
  int Rank(size_t i) const { return Type(i).rank(); }
  const TensorType& Out(size_t i = 0) const { return node_.outputs[i]; }

  bool HasValue(absl::string_view name) const;  // given and not None
  int64_t Int(absl::string_view name, int64_t fallback = 0) const { return node_.attributes.Int(name, fallback); }
  // A number of any kind (True is 1); `fallback` if absent or None.
  double Double(absl::string_view name, double fallback = 0) const;
  bool Bool(absl::string_view name, bool fallback = false) const { return node_.attributes.Bool(name, fallback); }
  std::string String(absl::string_view name, absl::string_view fallback = "") const {
    return node_.attributes.String(name, fallback);
  }
  Ints IntList(absl::string_view name) const { return node_.attributes.Ints(name); }
  // Exactly n numbers: a single one is repeated; n times `fallback` if there is none.
  Ints IntList(absl::string_view name, int n, int64_t fallback) const;
  // How many dimensions the windows of a convolution or pool have, which its name ends with
  // ("conv2d").
  int WindowDims() const;
  // The dimension between 0 and rank - 1. A scalar counts as one dimension.
  int64_t Dim(absl::string_view name, int64_t fallback, int rank) const;

 protected:
  // "call7/Conv": what the layers of a call are called; profiles of runtimes name it so
  // (model/predict/as_run/kernel_times.h).
  std::string LayerName(absl::string_view type) const { return absl::StrCat("call", index_, "/", type); }

  const graph::Graph& graph_;
  const int32_t index_;
  const graph::Node& node_;
  const Names inputs_;
};

}  // namespace cobra::exporting

#endif  // COBRA_EXPORT_CALL_ARGUMENTS_H_
