// The only way to make a Graph. Add() runs the operator's shape rule, so an ill-formed graph cannot
// exist.
#ifndef COBRA_GRAPH_BUILDER_BUILDER_H_
#define COBRA_GRAPH_BUILDER_BUILDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/limits.h"
#include "graph/graph.h"

namespace cobra::graph {

class GraphBuilder {
 public:
  explicit GraphBuilder(GraphLimits limits = {});
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;
  GraphBuilder(GraphBuilder&&) = default;
  GraphBuilder& operator=(GraphBuilder&&) = default;

  ValueRef AddInput(absl::string_view name, TensorType type);
  ValueRef AddParameter(absl::string_view name, TensorType type);
  ValueRef AddBuffer(absl::string_view name, TensorType type);
  ValueRef AddConstant(absl::string_view name, TensorType type);
  // What Graph::KnownValues() returns for a buffer, a constant or a result. REQUIRES: one value for
  // each element.
  void SetKnownValues(ValueRef ref, std::shared_ptr<const std::vector<double>> values);
  // Adds a second name of an existing parameter (shared weights).
  void AddParameterAlias(absl::string_view name, ValueRef parameter);

  // Adds the tensors of `graph` that no call makes, with their known values: its references to them
  // are valid here too. `type_of` gives each its type here. REQUIRES: nothing was added yet.
  void AddTensorsOf(const Graph& graph, absl::FunctionRef<TensorType(ValueRef)> type_of);
  void AddTensorsOf(const Graph& graph);  // with their own types

  // Appends a call and returns its node index; its outputs are ValueRef::Node(index, k). Attributes
  // that ops.def lists and the caller does not pass are absent. int-or-list attributes must already
  // be expanded as in PyTorch's schema (stride=[2,2]). The attribute `quantized` ("int8", "uint8",
  // "int16", "float32") of any call means that integers among its tensors represent reals, as in a
  // quantised network. Shapes then follow the rule for float32, and the results have that type;
  // LibTorch has no kernel for such a call. InvalidArgument if the shapes do not fit, with a
  // message like PyTorch's ("conv2d: input has 3 channels, weight 64x4x7x7 wants 4"), to which the
  // caller adds file and line. ResourceExhausted at a limit.
  absl::StatusOr<int32_t> Add(Op op, Attributes attributes, ValueRefs inputs, Origin origin = {}, bool inplace = false);

  // Appends the calls of `block` to this graph, with the values `inputs` in place of the block's
  // inputs. All names and module paths get the prefix `path`; without `path` there are none.
  // Returns the block's outputs in this graph. InvalidArgument unless `inputs` have the types of
  // the block's inputs, ResourceExhausted at a limit; the graph is then unchanged.
  absl::StatusOr<std::vector<ValueRef>> Append(const Graph& block, absl::Span<const ValueRef> inputs,
                                               std::optional<absl::string_view> path);
  // Computes the key of each call, which Append() then takes along: a block is hashed once, however
  // many networks have it.
  void AddCallKeys();

  const TensorType& TypeOf(ValueRef ref) const { return graph_.TypeOf(ref); }
  absl::Span<const Node> nodes() const { return graph_.nodes(); }
  const Graph& graph() const { return graph_; }  // the graph so far, without outputs

  Graph Build(std::vector<ValueRef> outputs) &&;

 private:
  Graph::Contents& contents() { return *graph_.contents_; }

  // What calls add to the limits in addition to their number.
  struct Amount {
    int64_t results = 0, dimensions = 0;

    void Add(const TensorType& argument_or_result) { dimensions += argument_or_result.rank() + 1; }
  };
  // ResourceExhausted if that exceeds a limit.
  absl::Status CheckRoom(const Amount& more) const;
  void Count(const Amount& more);
  void AppendKeys(const Graph& block, absl::Span<const ValueRef> inputs);

  Graph graph_;
  GraphLimits limits_;
  Amount amount_;  // of all calls
};

// Only the shape rule: types of the outputs of a call. `inputs` has a null pointer for an absent
// optional tensor.
absl::StatusOr<TensorTypes> InferTypes(Op op, const Attributes& attributes, absl::Span<const TensorType* const> inputs);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_BUILDER_BUILDER_H_
