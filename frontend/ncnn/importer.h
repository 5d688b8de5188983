// The run of an ncnn network: layers in the file's order, each lowered to PyTorch's calls by its
// handler (layers.def, ops_*.cc). A blob of ncnn dimensions d0 ... dn (the outermost first:
// channels, height, width) is a tensor [batch, d0 ... dn] of the graph, so axis `a` of a layer is
// dimension `a` + 1 of a call.
#ifndef COBRA_FRONTEND_NCNN_IMPORTER_H_
#define COBRA_FRONTEND_NCNN_IMPORTER_H_

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "frontend/ncnn/param_file.h"
#include "frontend/ncnn/reader.h"
#include "graph/builder/builder.h"

namespace cobra::ncnn {

using Tensors = graph::ValueRefs;

// How --input is written, for messages.
inline constexpr absl::string_view kOrder = "batch x channels x height x width, as many of them as the blob has";

class Importer {
 public:
  Importer(const ParamFile& file, const NcnnRequest& request, const Limits& limits);
  absl::StatusOr<NcnnModel> Import();

  // ---- for handlers. Inputs and outputs of a layer are numbered as in its line.
  graph::ValueRef In(const Layer& layer, size_t k) const { return blobs_[layer.bottoms[k]].ref; }
  const graph::Shape& ShapeOf(graph::ValueRef ref) const { return builder_.TypeOf(ref).shape; }
  const graph::Shape& InShape(const Layer& layer, size_t k = 0) const { return ShapeOf(In(layer, k)); }
  graph::DType TypeOf(graph::ValueRef ref) const { return builder_.TypeOf(ref).dtype; }
  // ncnn's number of dimensions: without the batch.
  int Dims(const Layer& layer, size_t k = 0) const { return static_cast<int>(InShape(layer, k).size()) - 1; }
  int64_t batch() const { return batch_; }

  // Appends a call; its first output.
  absl::StatusOr<graph::ValueRef> Call(const Layer& layer, graph::Op op, graph::Attributes attributes, Tensors inputs,
                                       bool inplace = false);
  // The same for a call of several outputs.
  absl::StatusOr<Tensors> CallAll(const Layer& layer, graph::Op op, graph::Attributes attributes, Tensors inputs);
  absl::StatusOr<graph::ValueRef> Reshape(const Layer& layer, graph::ValueRef x, std::vector<int64_t> shape);
  absl::StatusOr<graph::ValueRef> Permute(const Layer& layer, graph::ValueRef x, std::vector<int64_t> dims);
  // x with the blob's dimension `axis` cut to [start, stop).
  absl::StatusOr<graph::ValueRef> Cut(const Layer& layer, graph::ValueRef x, int axis, int64_t start, int64_t stop);
  // Pads the last dimensions: before, after of the last one, then of the one before it ...
  absl::StatusOr<graph::ValueRef> Pad(const Layer& layer, graph::ValueRef x, std::vector<int64_t> amounts, double value,
                                      absl::string_view mode = "constant");

  // An array of the .bin file as parameter `name` of the layer. It lies there as `shape`; the
  // parameter has these dimensions permuted and then, if given, the shape `as`. Arrays are asked
  // for in the order of the .bin file.
  struct Array {
    std::string name;
    graph::Shape shape;
    bool has_flag = false;
    graph::DType dtype = graph::DType::float32;
    std::vector<int> permutation = {};  // empty: as it lies
    graph::Shape as = {};
  };
  absl::StatusOr<graph::ValueRef> Weight(const Layer& layer, Array array);
  // An array of the .bin file that is not a parameter of the graph: the scales of an int8 layer, or
  // numbers that the graph's call takes in several parameters.
  void SkipWeight(graph::Shape shape, bool has_flag);
  // A parameter `what` of the layer that is not an array of the .bin file by itself.
  absl::StatusOr<graph::ValueRef> Parameter(const Layer& layer, absl::string_view what, graph::TensorType type);
  // A tensor that depends on no input and no weight.
  absl::StatusOr<graph::ValueRef> Constant(const Layer& layer, graph::Shape shape);

  // The activation that the layer's parameters `type_key` and `params_key` ask for, in place.
  absl::StatusOr<graph::ValueRef> Activate(const Layer& layer, graph::ValueRef x, int type_key = 9,
                                           int params_key = 10);

  // Sets output `k`; an error of what makes it is returned.
  absl::Status Set(const Layer& layer, size_t k, absl::StatusOr<graph::ValueRef> ref);
  // The size of output `k` depends on values. `ref`: the part of the layer's work that does not, a
  // further output of the graph.
  absl::Status SetOpenEnded(const Layer& layer, size_t k, graph::ValueRef ref);
  // `ref` is an output of the graph although a layer reads it.
  void AddOutput(graph::ValueRef ref) { outputs_.push_back(ref); }

  // The numbers of the layer's parameter `key`, an expression of its inputs' sizes (expression.h).
  absl::StatusOr<std::vector<int64_t>> Sizes(const Layer& layer, int key) const;

  // ---- checks, with errors that name file, line and layer
  // The dimension of a call for the layer's `axis`, which may be negative, of a blob of `dims`
  // dimensions.
  absl::StatusOr<int64_t> Dim(const Layer& layer, int64_t axis, int dims) const;
  // All within 1 and 2^20: windows, strides, groups.
  absl::Status CheckPositive(const Layer& layer, absl::string_view what, const std::vector<int64_t>& values) const;
  // The number of weights that the layer's parameter `key` gives must be the one that follows from
  // its shapes.
  absl::Status CheckWeightCount(const Layer& layer, int key, const graph::Shape& shape) const;
  absl::Status CheckDims(const Layer& layer, size_t k, int dims) const;
  absl::Status CheckInputs(const Layer& layer, size_t least, size_t most) const;
  absl::Status Unsupported(const Layer& layer, absl::string_view what) const;
  absl::Status Wrong(const Layer& layer, absl::string_view what) const;
  // "Convolution conv1", for messages.
  static std::string Label(const Layer& layer);

 private:
  struct Blob {
    graph::ValueRef ref = graph::ValueRef::None();
    bool known = false;
    bool open_ended = false;  // its size depends on values
    bool is_read = false;     // by a later layer
    bool looks_up = false;    // an Embed layer reads it: integers
  };

  friend absl::Status BindInput(Importer& im, const Layer& layer);
  absl::Status SplitRequest();  // request_.inputs by name
  bool HasNoBatch(const graph::TensorType& wanted) const;
  void MarkReaders();   // is_read, looks_up
  absl::Status Step();  // an error at a limit
  absl::Status RunLayer(const Layer& layer);
  absl::Status CheckParams(const Layer& layer, absl::string_view keys) const;
  absl::Status CheckHints(const Layer& layer) const;
  absl::Status LimitError(const Layer& layer, absl::string_view message) const;
  absl::StatusOr<int32_t> AddNode(const Layer& layer, graph::Op op, graph::Attributes attributes, Tensors inputs,
                                  bool inplace);

  const ParamFile& file_;
  const NcnnRequest& request_;
  const Limits& limits_;
  const absl::Time deadline_;
  graph::GraphBuilder builder_;
  std::shared_ptr<const std::string> file_name_;
  std::unordered_map<std::string, std::string> requested_;  // shapes by the input's blob
  // "data=3x100x100", by number of the graph's input: what the request says where the file says
  // nothing.
  std::unordered_map<int32_t, std::string> unchecked_;
  std::vector<Blob> blobs_;
  std::vector<NcnnWeight> weights_;
  std::unordered_map<std::string, int> weight_names_;  // how many have each: layers may repeat a name
  Tensors outputs_;
  int64_t batch_ = 1;
  bool has_input_ = false;
  bool resized_ = false;  // the request's sizes differ from the file's, whose hints do not count then
};

using Handler = absl::Status (*)(Importer&, const Layer&);

// The handler of Input: a size from the request, the layer or its hint.
absl::Status BindInput(Importer& im, const Layer& layer);

}  // namespace cobra::ncnn

#endif  // COBRA_FRONTEND_NCNN_IMPORTER_H_
