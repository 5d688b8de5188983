#include "model/predict/work/depthwise_kernel.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace cobra::predict {
namespace {

constexpr int64_t kWidestFast = 7;  // window of cuDNN's kernels for channels last

bool IsOfCudnn(const graph::Convolution& c) {
  constexpr int64_t kFewestChannels = 32, kNarrowest = 7;
  if (c.Dilated() || c.groups < kFewestChannels) return false;
  const int64_t input_height = c.height.input, width = c.width.input, stride = c.width.stride, window = c.width.window;
  if (input_height == 1 && stride == 1) return true;
  if ((c.height.stride != stride && input_height != 1) || c.height.window != window || width < kNarrowest) return false;
  if (window != 1 && window != 3 && window != 5) return false;
  if (stride != 2) return stride == 1;
  if (c.batch == 1) return window > 1 || width <= 28;
  if (window == 1) return c.batch <= 16 && c.groups >= 128 && width <= 7;
  return c.groups >= 512 || (c.groups >= 256 && width >= 28);
}

}  // namespace

WorkTerm DepthwiseKernelOf(const graph::Convolution& convolution, bool channels_last, const GpuWorkKind& kind) {
  if (kind.has_large_in_cudnn && convolution.input_elements > std::numeric_limits<int32_t>::max())
    return channels_last ? kOwnDepthwiseMacs : kDepthwiseMacs;
  const int64_t window = std::max(convolution.height.window, convolution.width.window);
  if (channels_last && convolution.out_channels > 1) return kBlockedMacs;
  if (channels_last) return window > kWidestFast ? kWideDepthwiseMacs : kLastDepthwiseMacs;
  return kind.in_float16 && IsOfCudnn(convolution) ? kDepthwiseMacs : kOwnDepthwiseMacs;
}

}  // namespace cobra::predict
