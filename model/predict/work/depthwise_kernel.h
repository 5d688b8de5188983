// Which of PyTorch's kernels computes a depthwise convolution on a GPU.
#ifndef COBRA_MODEL_PREDICT_WORK_DEPTHWISE_KERNEL_H_
#define COBRA_MODEL_PREDICT_WORK_DEPTHWISE_KERNEL_H_

#include "graph/cost/convolution_algorithm.h"
#include "model/predict/work/features.h"
#include "model/predict/work/gpu_work.h"

namespace cobra::predict {

// cuDNN's where the channels are last, and for some sizes in float16
// (aten/src/ATen/native/Convolution.cpp, use_cudnn_depthwise and
// check_cudnn_depthwise_workload_with_filter, as of 1.13 to 2.11); else PyTorch's own. Windows
// wider than seven are ten to twenty times slower in cuDNN with the channels last: measured,
// ConvMixer of windows of seven and nine on an RTX 5090.
// Returns kDepthwiseMacs (cuDNN's, channels not last), kOwnDepthwiseMacs, kLastDepthwiseMacs or
// kWideDepthwiseMacs; kBlockedMacs for a channel multiplier where the channels are last, which
// cuDNN takes for any grouped convolution. REQUIRES: groups of one channel, one or two spatial
// dimensions.
WorkTerm DepthwiseKernelOf(const graph::Convolution& convolution, bool channels_last, const GpuWorkKind& kind);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WORK_DEPTHWISE_KERNEL_H_
