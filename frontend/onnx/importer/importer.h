// The run of an ONNX graph: nodes in the file's order, each lowered to PyTorch's calls by its
// handler (registry.h). Values live in scopes; graphs inside If, Loop and Scan run in scopes of
// their own.
#ifndef COBRA_FRONTEND_ONNX_IMPORTER_IMPORTER_H_
#define COBRA_FRONTEND_ONNX_IMPORTER_IMPORTER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/limits.h"
#include "frontend/onnx/importer/onnx_model.h"
#include "frontend/onnx/importer/value.h"
#include "graph/builder/builder.h"
#include "graph/constants/const_eval.h"
#include "onnx/onnx_pb.h"

namespace cobra::onnx {

struct Entry;  // registry.h

// The readers of each value of a graph: node indices by name; the graph's outputs count as -1.
using Consumers = absl::flat_hash_map<std::string, std::vector<int>>;

// One graph while it runs.
struct GraphRun {
  const ::onnx::GraphProto* graph;
  const GraphRun* outer = nullptr;
  absl::flat_hash_map<std::string, Value> values;
  std::shared_ptr<const Consumers> consumers;
  std::vector<bool> done;  // nodes that were computed together with an earlier one

  const Value* Find(const std::string& name) const;  // outer graphs included; null if unknown
};

class Importer {
 public:
  Importer(const OnnxRequest& request, const Limits& limits, bool keep_values);

  absl::StatusOr<OnnxModel> Import(const ::onnx::ModelProto& model);

  // ---- for handlers

  // One PyTorch call: computed at once if all its inputs are constants, otherwise added as a node.
  // Errors are those of the shape rules.
  absl::StatusOr<std::vector<TensorPtr>> Call(graph::Op op, graph::Attributes attributes,
                                              const std::vector<TensorPtr>& inputs);
  // A constant with values. ResourceExhausted if all constants together have too many.
  absl::StatusOr<TensorPtr> Constant(graph::TensorType type, Values values, absl::string_view name = "");
  absl::StatusOr<TensorPtr> FromProto(const ::onnx::TensorProto& proto, bool weight, absl::string_view name = "");
  // Null if the values are unknown: not constant, or too large to carry.
  absl::StatusOr<std::shared_ptr<const Values>> TryValues(const TensorPtr& tensor);
  // FailedPrecondition, naming the inputs of the network that the tensor depends on, if the values
  // are unknown. `what` names their use: "Reshape's shape".
  absl::StatusOr<std::shared_ptr<const Values>> NeedValues(const TensorPtr& tensor, absl::string_view what);
  // Puts a constant into the graph as a buffer (running statistics), not as a parameter.
  void MarkAsBuffer(const TensorPtr& tensor);
  // The values of the outputs of a graph inside a node; `inputs` by position.
  absl::StatusOr<std::vector<Value>> RunGraph(const ::onnx::GraphProto& graph, std::vector<Value> inputs,
                                              const GraphRun* outer);  // null for a function, which has no outer scope
  // One node in scope of `run`; its outputs become values there.
  absl::Status RunNode(GraphRun* run, const ::onnx::NodeProto& node);
  int opset() const { return opset_; }  // of the default domain; 0 if the file has none
  const Limits& limits() const { return limits_; }
  absl::Status Step(int64_t count = 1);  // counts steps; ResourceExhausted at a limit

 private:
  absl::StatusOr<const ::onnx::GraphProto*> FunctionBody(const ::onnx::NodeProto& call,
                                                         const ::onnx::FunctionProto& function);
  absl::Status RunFunction(GraphRun* run, const ::onnx::NodeProto& call, const ::onnx::FunctionProto& function);
  absl::Status AddFunctions(const ::onnx::ModelProto& model);
  absl::Status CheckModel(const ::onnx::ModelProto& model);
  absl::Status CheckOpset(int opset) const;
  // The node's entry in the registry of its domain.
  absl::StatusOr<const Entry*> FindEntry(const ::onnx::NodeProto& node) const;
  absl::Status BindInputs(const ::onnx::GraphProto& graph, GraphRun* run);
  absl::StatusOr<Value> BindInput(const ::onnx::ValueInfoProto& info, const std::string* shape_text);
  void StartRun(GraphRun* run);
  absl::Status AddInitializers(GraphRun* run);
  absl::Status RunNodes(GraphRun* run);
  absl::Status AtNode(const absl::Status& status, const ::onnx::NodeProto& node, int index) const;
  // The outputs of a call on constants as constants; nullopt if the graph has to compute them.
  absl::StatusOr<std::optional<std::vector<TensorPtr>>> Folded(graph::Op op, const graph::Attributes& attributes,
                                                               const std::vector<TensorPtr>& inputs);
  absl::StatusOr<std::vector<std::shared_ptr<const Values>>> ConstantValues(
      graph::Op op, const graph::Attributes& attributes, const std::vector<graph::ConstInput>& inputs,
      const graph::TensorTypes& outputs);
  // Adds a node to the graph.
  absl::StatusOr<std::vector<TensorPtr>> Recorded(graph::Op op, graph::Attributes attributes,
                                                  const std::vector<TensorPtr>& inputs);
  absl::StatusOr<graph::ValueRef> RefOf(const TensorPtr& tensor);
  absl::Status CollectOutputs(const Value& value, const std::string& name, std::vector<graph::ValueRef>* refs,
                              OnnxModel* model);
  std::vector<std::string> UpstreamInputs(graph::ValueRef ref) const;

  const OnnxRequest& request_;
  const Limits& limits_;
  const bool keep_values_;
  const absl::Time deadline_;
  graph::GraphBuilder builder_;
  std::shared_ptr<const std::string> file_;
  absl::flat_hash_map<const ::onnx::GraphProto*, std::shared_ptr<const Consumers>> consumers_;
  absl::flat_hash_map<std::string, const ::onnx::FunctionProto*> functions_;  // by "domain:name"
  absl::flat_hash_map<const void*, std::unique_ptr<::onnx::GraphProto>> bodies_;
  int opset_ = 0;
  int64_t steps_ = 0;
  int64_t const_bytes_ = 0;
  int nesting_ = 0;
  int64_t next_constant_ = 0;
  std::string node_label_;                  // of the node that runs: the module path of its calls
  int origin_line_ = 0;                     // its place in the file, from 1
  absl::flat_hash_set<std::string> names_;  // of constants in the graph
  std::vector<TensorPtr> placed_;           // constants that are in the graph
  absl::flat_hash_map<const Tensor*, bool> buffers_;
};

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_IMPORTER_IMPORTER_H_
