// Which algorithm the libraries choose for a convolution on a CPU, as far as the shapes decide it.
// These are the rules of LibTorch 1.13 (ConvUtils.h, use_mkldnn) and oneDNN 2.6 on AVX-512 with one
// thread (jit_avx512_common_conv_kernel.cpp, init_conf; gemm_convolution_utils.cpp), for float32.
// oneDNN's own log agrees (tests/model/work/convolution_algorithm_test.cc).
#ifndef COBRA_GRAPH_COST_CONVOLUTION_ALGORITHM_H_
#define COBRA_GRAPH_COST_CONVOLUTION_ALGORITHM_H_

#include <cstdint>
#include <optional>

#include "graph/graph.h"
#include "graph/saturated.h"

namespace cobra::graph {

enum class ConvolutionAlgorithm : uint8_t {
  kProduct,    // LibTorch: patches laid out as a matrix, then a BLAS product
  kGemm,       // oneDNN: the same with its own product, and one more copy of the result
  kBlocked,    // oneDNN's own kernel over blocks of 16 channels (8 or 4 in narrow groups)
  kPointwise,  // likewise, for a 1x1 kernel
  kDepthwise,  // likewise, one channel per group
};

// One spatial dimension of a convolution.
struct ConvolutionSide {
  int64_t input = 1, window = 1, stride = 1, padding = 0, dilation = 1, output = 1;

  int64_t Reach() const { return dilation * (window - 1) + 1; }
  int64_t PaddingAfter() const { return (output - 1) * stride + Reach() - input - padding; }
  bool WindowOutside() const { return Reach() <= padding || Reach() <= PaddingAfter(); }
};

struct Convolution {
  int spatial_dims = 2;
  bool batched = true;  // the input has a dimension for the images of a batch
  int64_t batch = 1, groups = 1, input_elements = 0;
  int64_t in_channels = 0, out_channels = 0;  // per group
  // A dimension that the convolution lacks has one element: LibTorch runs conv1d on an image of one
  // row.
  ConvolutionSide depth, height, width;

  int64_t places() const { return Times(Times(batch, depth.output), Times(height.output, width.output)); }
  int64_t taps() const { return Times(depth.window, Times(height.window, width.window)); }
  int64_t macs() const { return Times(Times(places(), groups), Times(Times(in_channels, out_channels), taps())); }
  bool OneTap() const { return taps() == 1; }
  bool Strided() const { return depth.stride != 1 || height.stride != 1 || width.stride != 1; }
  bool Dilated() const { return depth.dilation != 1 || height.dilation != 1 || width.dilation != 1; }
  bool Padded() const { return depth.padding != 0 || height.padding != 0 || width.padding != 0; }
  bool Depthwise() const { return groups > 1 && in_channels == 1 && out_channels == 1; }
};

// The geometry of a call of conv1d, conv2d or conv3d; nullopt for any other call.
std::optional<Convolution> ConvolutionOf(const Graph& graph, const Node& node);

// LibTorch's choice: whether it passes a float32 convolution to oneDNN, or multiplies matrices
// itself (kProduct).
bool RunsInOneDnn(const Convolution& convolution);

// REQUIRES: one or two spatial dimensions, and macs() > 0.
ConvolutionAlgorithm AlgorithmOf(const Convolution& convolution);

inline constexpr int64_t kChannelBlock = 16;  // channels of one oneDNN block with AVX-512 (nChw16c)
constexpr int64_t RoundUpTo(int64_t channels, int64_t block) { return (channels + block - 1) / block * block; }
inline constexpr int64_t kAccumulators = 28;  // vector registers in which a oneDNN kernel sums

// Channels of a block; 0 if the channels of a group do not fill a block, since groups are not
// padded.
int64_t ChannelBlock(const Convolution& convolution);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_COST_CONVOLUTION_ALGORITHM_H_
