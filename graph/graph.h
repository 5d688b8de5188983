// The network as PyTorch would run it: calls in execution order, every shape known. Immutable once
// built (GraphBuilder, graph/builder/builder.h). The predictor reads the same graph that the worker
// executes.
#ifndef COBRA_GRAPH_GRAPH_H_
#define COBRA_GRAPH_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/call_once.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/bytes/hash.h"
#include "graph/attributes.h"
#include "graph/op.h"
#include "graph/types.h"

namespace cobra::graph {

// Where a tensor comes from.
struct ValueRef {
  enum class Kind : uint8_t {
    kNone,       // an optional tensor argument that was not given (bias=None)
    kNode,       // output `output` of node `index`
    kInput,      // graph input
    kParameter,  // nn.Parameter
    kBuffer,     // registered buffer (running_mean ...)
    kConstant,   // a tensor that was made before the network runs, and that has no name in a module
  };
  Kind kind = Kind::kNone;
  int32_t index = 0;
  int32_t output = 0;

  static ValueRef None() { return {}; }
  static ValueRef Node(int32_t node, int32_t output = 0) { return {Kind::kNode, node, output}; }
  static ValueRef Input(int32_t i) { return {Kind::kInput, i, 0}; }
  static ValueRef Parameter(int32_t i) { return {Kind::kParameter, i, 0}; }
  static ValueRef Buffer(int32_t i) { return {Kind::kBuffer, i, 0}; }
  static ValueRef Constant(int32_t i) { return {Kind::kConstant, i, 0}; }
  bool is_none() const { return kind == Kind::kNone; }
  bool is_node() const { return kind == Kind::kNode; }
  friend bool operator==(const ValueRef& a, const ValueRef& b) {
    return a.kind == b.kind && a.index == b.index && a.output == b.output;
  }
};

// Position of a call in the user's source. `file` is shared by the nodes of a file.
struct Origin {
  std::shared_ptr<const std::string> file;  // null if unknown
  int line = 0;                             // one-based
  std::string module_path;                  // "layer1.0.conv1"; "" is the model itself
  // For a call that a layer of torch.nn makes: where the program constructed the layer.
  // (nn.Sequential calls many layers in one line.)
  std::shared_ptr<const std::string> made_file = nullptr;
  int made_line = 0;

  // The position to show to users.
  const std::shared_ptr<const std::string>& shown_file() const { return made_file != nullptr ? made_file : file; }
  int shown_line() const { return made_file != nullptr ? made_line : line; }
};

// Networks of a search space copy calls by the hundred: most have no list on the heap.
using ValueRefs = absl::InlinedVector<ValueRef, 5>;  // batch_norm reads five

struct Node {
  Op op;
  Attributes attributes;
  ValueRefs inputs;  // in the order of OpInfo::inputs; trailing optional ones are present as kNone
  TensorTypes outputs;
  bool inplace = false;  // writes its result into its first input (relu_, +=)
  Origin origin;
};

struct NamedTensor {
  std::string name;
  TensorType type;
};

// A call by itself: the keyed hash of its exact bytes (graph/exact_bytes.h), and their number;
// 0: it was not computed.
struct CallKey {
  Hash128 hash;
  uint32_t bytes = 0;
};

struct DistinctCalls;  // graph/distinct_calls.h

// Cheap to copy: copies share their contents. A move is a copy.
class Graph {
 public:
  Graph() : contents_(std::make_shared<Contents>()) {}
  Graph(const Graph&) = default;
  Graph& operator=(const Graph&) = default;

  absl::Span<const Node> nodes() const { return contents_->nodes; }
  absl::Span<const NamedTensor> inputs() const { return contents_->inputs; }
  absl::Span<const NamedTensor> parameters() const { return contents_->parameters; }  // each shared one once
  absl::Span<const NamedTensor> buffers() const { return contents_->buffers; }
  absl::Span<const NamedTensor> constants() const { return contents_->constants; }
  absl::Span<const ValueRef> outputs() const { return contents_->outputs; }
  // Of a buffer, a constant, or a call on only these, in row-major order; null unless the reader
  // was asked to keep the values, and knows them.
  std::shared_ptr<const std::vector<double>> KnownValues(ValueRef ref) const;
  // REQUIRES: ref belongs to this graph and is not kNone.
  const TensorType& TypeOf(ValueRef ref) const;
  bool Contains(ValueRef ref) const;  // kNone belongs to every graph
  int64_t num_parameters() const;     // number of elements
  // {alias name: index into parameters()}: names of shared parameters beyond the first.
  absl::Span<const std::pair<std::string, int32_t>> parameter_aliases() const { return contents_->parameter_aliases; }

 private:
  friend class GraphBuilder;
  friend std::shared_ptr<const DistinctCalls> DistinctCallsOf(const Graph& graph);
  struct Contents {
    std::vector<Node> nodes;
    std::vector<NamedTensor> inputs, parameters, buffers, constants;
    std::vector<std::pair<std::string, int32_t>> parameter_aliases;
    std::vector<std::pair<ValueRef, std::shared_ptr<const std::vector<double>>>> known_values;
    std::vector<ValueRef> outputs;
    std::vector<CallKey> call_keys;               // of the first calls, as far as blocks brought them
    int64_t num_results = 0, num_dimensions = 0;  // that the limits count (GraphBuilder)
    bool is_built = false;
    mutable absl::once_flag once;  // for what follows, of a graph that is built
    mutable std::shared_ptr<const DistinctCalls> distinct_calls;
  };
  // Immutable once a GraphBuilder has returned the graph.
  std::shared_ptr<Contents> contents_;
};

// The call returns its first argument unchanged and costs nothing: dropout in eval mode, a cast to
// the same dtype.
bool IsAlias(const Graph& graph, const Node& node);
// Whether the argument has an effect in training only (AttributeUse::kTraining), for a call that
// has a `training` argument and was recorded at inference: dropout_p of
// multi_head_attention_forward, dropout of an LSTM. (scaled_dot_product_attention has no such
// argument: it always applies its dropout.)
bool IsForTraining(Op op, absl::string_view attribute);
// Whether the outputs of the call share storage with its first argument (views; a getitem by
// tensors or lists copies).
bool IsView(const Node& node);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_GRAPH_H_
