// The run of a TensorFlow Lite network: operators in the file's order, each lowered to PyTorch's
// calls by its handler (operators.def, ops_*.cc). Every tensor of the file has one state; handlers
// get it in the order of dimensions that they need.
#ifndef COBRA_FRONTEND_TFLITE_IMPORTER_H_
#define COBRA_FRONTEND_TFLITE_IMPORTER_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "frontend/tflite/reader.h"
#include "frontend/tflite/schema_generated.h"
#include "graph/builder/builder.h"

namespace cobra::tflite {

namespace schema = cobra::tflite_schema;
using Values = std::vector<double>;

// What is known about a tensor of the file.
struct TensorState {
  graph::TensorType type;                // in the file's order; recomputed from the inputs
  bool known = false;                    // an input, a constant, or computed by an operator that came before
  bool constant = false;                 // depends on no input
  std::shared_ptr<const Values> values;  // of a small constant
  int source = -1;                       // of a weight: the tensor whose buffer has its numbers
  // The tensor in the file's order, and, with four dimensions, as [batch, channels, height, width].
  graph::ValueRef file = graph::ValueRef::None();
  graph::ValueRef image = graph::ValueRef::None();
  bool is_image = false;  // `image` is what its operator made, `file` at most a view of it
};

// One operator, the input of a handler.
struct OpCall {
  schema::BuiltinOperator code;
  const schema::Operator* op;
  int index = 0;
  std::vector<int> inputs, outputs;  // tensors; -1: left out

  bool has(size_t i) const { return i < inputs.size() && inputs[i] >= 0; }
};

class Importer {
 public:
  Importer(const schema::Model& model, const TfliteRequest& request, const Limits& limits);
  absl::StatusOr<TfliteModel> Import();

  // ---- for handlers. Tensors are numbered as in the file.
  const TensorState& State(int tensor) const { return states_[tensor]; }
  const graph::Shape& ShapeOf(int tensor) const { return states_[tensor].type.shape; }
  int Rank(int tensor) const { return states_[tensor].type.rank(); }
  // The type of the tensor in the file, which may differ from the computed one.
  graph::DType FileDType(int tensor) const { return file_types_[tensor].dtype; }
  bool IsQuantized(int tensor) const;  // integers that represent reals
  const schema::QuantizationParameters* Quantization(int tensor) const;

  absl::StatusOr<graph::ValueRef> File(int tensor);  // in the file's order
  // Channels second; a constant of fewer dimensions is filled up in front
  absl::StatusOr<graph::ValueRef> Image(int tensor);
  // A constant of the file as a parameter: dimensions filled up in front to as many as
  // `permutation` has, permuted, and then, if given, reshaped.
  absl::StatusOr<graph::ValueRef> Weight(int tensor, std::vector<int> permutation, const graph::Shape* shape = nullptr);
  // The only number of a float constant of one element.
  std::optional<double> Number(int tensor) const;
  // The values of a constant; FailedPrecondition naming `what` if they depend on the input.
  absl::StatusOr<std::vector<int64_t>> Ints(const OpCall& call, size_t input, absl::string_view what) const;
  absl::StatusOr<int64_t> Int(const OpCall& call, size_t input, absl::string_view what) const;

  // A call that moves data: types follow PyTorch's rule.
  absl::StatusOr<graph::ValueRef> Move(const OpCall& call, graph::Op op, graph::Attributes attributes,
                                       graph::ValueRefs inputs);
  // A call that computes: if the operator's result or a weight of it is quantised, the call is
  // (graph/builder/builder.h), and its result has the type that the file says.
  absl::StatusOr<graph::ValueRef> Compute(const OpCall& call, graph::Op op, graph::Attributes attributes,
                                          graph::ValueRefs inputs, bool inplace = false);
  absl::StatusOr<graph::ValueRef> Activate(const OpCall& call, graph::ValueRef x,
                                           schema::ActivationFunctionType activation);
  const graph::TensorType& TypeOf(graph::ValueRef ref) const { return builder_.TypeOf(ref); }

  // Sets output `k` of the operator; an error of what makes it is returned.
  absl::Status SetFile(const OpCall& call, size_t k, absl::StatusOr<graph::ValueRef> ref);
  absl::Status SetImage(const OpCall& call, size_t k, absl::StatusOr<graph::ValueRef> ref);
  absl::Status SetConstant(const OpCall& call, size_t k, graph::TensorType type, Values values);
  // The output is the constant `tensor` of the file under another name and type.
  absl::Status SetWeight(const OpCall& call, size_t k, int tensor, graph::DType dtype,
                         std::shared_ptr<const Values> values);
  // The output is the unchanged first input.
  absl::Status SetSame(const OpCall& call, size_t k);

  // Errors that name file and operator.
  absl::Status Unsupported(const OpCall& call, absl::string_view what) const;
  absl::Status Wrong(const OpCall& call, absl::string_view what) const;

  template <typename Options>
  absl::StatusOr<const Options*> OptionsOf(const OpCall& call) const {
    const auto* options = call.op->builtin_options_as<Options>();
    if (options == nullptr) return Wrong(call, "its options are missing");
    return options;
  }

 private:
  absl::Status CheckModel();
  absl::Status ReadTensors();
  absl::Status ReadConstant(int tensor, const schema::Buffer* buffer);
  absl::Status CountValues(int64_t elements);  // counts; an error at a limit
  absl::Status BindInputs();
  absl::Status Step(const schema::Operator& op);  // counts; an error at a limit
  absl::StatusOr<OpCall> ReadCall(int index) const;
  absl::Status RunOperator(const OpCall& call);
  absl::Status CheckOutput(const OpCall& call, size_t k) const;
  absl::StatusOr<graph::ValueRef> AddNode(const OpCall& call, graph::Op op, graph::Attributes attributes,
                                          graph::ValueRefs inputs, bool inplace);
  absl::StatusOr<graph::ValueRef> Permuted(graph::ValueRef ref, std::vector<int64_t> dims);
  std::string NameOf(int tensor) const;
  std::string Label(const OpCall& call) const;  // "operator 3 (CONV_2D)"
  absl::Status FileError(absl::string_view message) const;
  absl::Status LimitError(absl::string_view message) const;

  const schema::Model& model_;
  const schema::SubGraph* network_ = nullptr;
  const TfliteRequest& request_;
  const Limits& limits_;
  const absl::Time deadline_;
  int64_t uses_ = 0;         // of tensors by operators, so far
  int64_t value_bytes_ = 0;  // of constants whose values are carried, so far
  graph::GraphBuilder builder_;
  std::shared_ptr<const std::string> file_;
  std::vector<graph::TensorType> file_types_;
  std::vector<TensorState> states_;
  std::vector<TfliteWeight> weights_;
  // Names tell the graph's weights apart, the file's may repeat: how many have each.
  std::unordered_map<std::string, int> weight_names_;
  std::map<std::pair<int, std::vector<int64_t>>, graph::ValueRef> placed_;  // weights by tensor, permutation and shape
  bool resized_ = false;  // the request's sizes differ from the file's: those of its other tensors do not count
};

using Handler = absl::Status (*)(Importer&, const OpCall&);

}  // namespace cobra::tflite

#endif  // COBRA_FRONTEND_TFLITE_IMPORTER_H_
