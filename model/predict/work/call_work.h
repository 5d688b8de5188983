// The work that libraries do for a call, as far as it follows from shapes and from the algorithm
// that they choose: multiply-accumulates with padded channels, copies, newly mapped memory. It
// covers LibTorch and oneDNN (graph/cost/convolution_algorithm.h), and ncnn and ONNX Runtime where
// they differ. A target whose runtime does not do some of it learns that it costs nothing.
#ifndef COBRA_MODEL_PREDICT_WORK_CALL_WORK_H_
#define COBRA_MODEL_PREDICT_WORK_CALL_WORK_H_

#include <cstdint>
#include <optional>

#include "graph/cost/convolution_algorithm.h"
#include "graph/graph.h"

namespace cobra::predict {

struct ConvolutionWork {
  graph::ConvolutionAlgorithm algorithm = graph::ConvolutionAlgorithm::kProduct;
  int64_t unpadded_macs = 0;  // multiply-accumulates whose input is not padding
  // Those that the algorithm executes, with channels padded to blocks; without the padding of the
  // image if the algorithm skips it.
  int64_t executed_macs = 0;
  // For kBlocked: executed_macs times the slowdown from too few independent accumulators to hide
  // the latency of the arithmetic units.
  int64_t stalled_macs = 0;
  int64_t column_bytes = 0;  // patches laid out as a matrix, all groups, without rows of padding
  // Bytes that oneDNN copies into its blocks and back, including padding: of tensors whose channels
  // fill the blocks, of other tensors (element by element), of weights.
  int64_t copied_bytes = 0, shuffled_bytes = 0, weight_copy_bytes = 0;
  int64_t mapped_bytes = 0;  // of these copies, bytes in newly mapped memory
  int64_t products = 0;      // for kProduct and kGemm: one per image and group
  // ncnn (convolution_winograd_transform.h, F(6x6, 3x3)): ungrouped 3x3 kernels with stride 1 in
  // transformed tiles of 8x8, from which 6x6 outputs come. Multiply-accumulates, and bytes of the
  // tiles of input and output.
  int64_t winograd_macs = 0, winograd_bytes = 0;
  // ONNX Runtime (nchwc_transformer.cc): what does not fit its blocks of 16 channels is a product
  // of matrices for each group, over patches laid out as a matrix.
  int64_t plain_macs = 0, plain_column_bytes = 0, plain_products = 0;
};
// Over any number of dimensions, transposed ones among them.
bool IsConvolution(const graph::Node& call);
// nullopt if the node is not a convolution over one or two dimensions.
std::optional<ConvolutionWork> ConvolutionWorkOf(const graph::Graph& graph, const graph::Node& node);

// matmul and bmm: one product per matrix of a batch, because BLAS has no batched products.
struct ProductWork {
  int64_t products = 1;
  int64_t expanded_bytes = 0;  // copies of a matrix that is multiplied with several matrices
  int64_t mapped_bytes = 0;    // of these
};
std::optional<ProductWork> ProductWorkOf(const graph::Graph& graph, const graph::Node& node);

// Bytes in newly mapped memory: malloc maps tensors of 32 MiB and more for every call, and the
// kernel clears them page by page. A call that only moves data is then eight times slower than one
// just below the limit (lab/results/layer_sum.md).
int64_t MappedBytes(int64_t bytes);
int64_t MappedBytes(const graph::Node& node);  // for its outputs, unless they are views or in place
// Likewise for the copies of arguments in another type than the call computes in: on a processor
// PyTorch converts them whole before it begins (TensorIterator's promote_inputs_to_common_dtype).
// int32 minus float32 is such a call.
int64_t MappedByConversions(const graph::Graph& graph, const graph::Node& node);
// Of all outputs, if they are views of an argument: a permutation, which ONNX Runtime, OpenVINO and
// ncnn copy.
int64_t ViewBytes(const graph::Graph& graph, const graph::Node& node);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WORK_CALL_WORK_H_
