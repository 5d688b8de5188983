// What PyTorch's kernels on a GPU have to do in addition, or more slowly, because of the order in
// which tensors lie in memory (graph/shape/layout.h): a library's kernel that needs its argument in
// order has it copied first; neighbouring threads read what lies apart; and a kernel that finds
// work for few threads in that order takes the rest step by step.
#ifndef COBRA_MODEL_PREDICT_WORK_STRIDED_WORK_H_
#define COBRA_MODEL_PREDICT_WORK_STRIDED_WORK_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/shape/layout.h"

namespace cobra::predict {

struct StridedWork {
  // Kernels that copy, for the sake of the order: an argument, or what a view shows whose strides
  // do not allow one; and what they read and write.
  int64_t copies = 0, copied_bytes = 0;
  // Of these, and of arguments of an elementwise call: what is read or written with another
  // innermost dimension than that which lies innermost.
  int64_t strided_bytes = 0;
  // That each thread takes one behind the other, whatever the GPU: linear, bilinear and bicubic
  // interpolation give a pixel to a thread, which goes through batch and channels, unless it is
  // bilinear and the channels are last (aten/src/ATen/native/cuda/UpSampleBilinear2d.cu).
  int64_t thread_steps = 0;
  // Of a convolution in half precision whose image has not the channels last: what kernels turn,
  // because tensor cores want them so. PyTorch has another kernel for depthwise ones.
  int64_t turned_bytes = 0;
};

// One for each call. `fuses`: compiled (torch.compile), so that only products and convolutions are
// of libraries; `in_half`: these compute in half precision.
std::vector<StridedWork> StridedWorkOf(const graph::Graph& graph, const graph::Layout& layout, bool fuses,
                                       bool in_half);

// Whether TorchInductor compiles the network with images whose channels are last: by the share of
// the multiply-accumulates in convolutions of kinds that it measured to be faster so
// (torch/_inductor/graph.py, decide_layout_opt).
bool CompilesChannelsLast(const graph::Graph& graph);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WORK_STRIDED_WORK_H_
