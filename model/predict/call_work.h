// How LibTorch and oneDNN go about a call, as far as it follows from shapes: what a person who reads the call would
// have to know the libraries for. Rules of LibTorch 1.13 (ConvUtils.h, use_mkldnn) and oneDNN 2.6 on AVX-512, one
// thread (jit_avx512_common_conv_kernel.cpp, init_conf; gemm_convolution_utils.cpp). What oneDNN says of itself agrees
// (tests/model/convolution_algorithm_test.cc).
#ifndef COBRA_MODEL_PREDICT_CALL_WORK_H_
#define COBRA_MODEL_PREDICT_CALL_WORK_H_

#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace cobra::predict {

enum class Algorithm {
  kProduct,    // LibTorch: patches laid out as a matrix, then a BLAS product
  kGemm,       // oneDNN: the same by its own product, and the result copied once more
  kBlocked,    // oneDNN's own kernel over blocks of 16 channels (8 or 4 of narrow groups)
  kPointwise,  // likewise, of one tap
  kDepthwise,  // likewise, a channel a group
};

struct ConvolutionWork {
  Algorithm algorithm = Algorithm::kProduct;
  int64_t inside_macs = 0;  // multiply-accumulates whose input is no padding
  int64_t done_macs = 0;    // those that the algorithm does: channels filled up to blocks, padding left out where it is
  // Of kBlocked: done_macs times by how much too few accumulators are under way to hide the latency of the units.
  int64_t waiting_macs = 0;
  int64_t column_bytes = 0;  // patches laid out as a matrix, all groups; not rows of padding, which are skipped
  // What oneDNN copies into its blocks and back, as large as after filling up: tensors whose channels fill the blocks,
  // others (element by element), weights.
  int64_t copied_bytes = 0, shuffled_bytes = 0, weight_copy_bytes = 0;
  int64_t fresh_bytes = 0;  // of these copies, what malloc maps anew
  int64_t products = 0;     // of kProduct and kGemm: one an image and group
};
// None for what is no convolution over one or two dimensions.
std::optional<ConvolutionWork> ConvolutionWorkOf(const graph::Graph& graph, const graph::Node& node);

// matmul and bmm: a product for each matrix of a batch, of which BLAS knows nothing.
struct ProductWork {
  int64_t products = 1;
  int64_t expanded_bytes = 0;  // a matrix that many are multiplied with is written out for each of them
  int64_t fresh_bytes = 0;     // of these
};
std::optional<ProductWork> ProductWorkOf(const graph::Graph& graph, const graph::Node& node);

// Of tensors of 32 MiB and more: malloc maps them anew for every call and the kernel clears them page by page, which
// makes a call that only moves data eight times slower than one just below (docs/results/layer_sum.md).
int64_t FreshBytes(int64_t bytes);
int64_t FreshBytes(const graph::Node& node);  // of its outputs, that are no views and not in place

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_CALL_WORK_H_
