// How LibTorch and oneDNN go about a call, as far as it follows from shapes: what a person who reads the call would
// have to know the libraries for. Rules of LibTorch 1.13 (ConvUtils.h, use_mkldnn) and oneDNN 2.6 on AVX-512, one
// thread; `cobra-train table ablation` says what they are worth.
#ifndef COBRA_MODEL_TEXT_WORK_HINTS_H_
#define COBRA_MODEL_TEXT_WORK_HINTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "graph/graph.h"

namespace cobra {

struct ConvolutionWork {
  // "columns": patches laid out as a matrix, then a product, by LibTorch. "depthwise"; "blocked": oneDNN's own kernels
  // over blocks of 16 channels. "groups": groups whose channels fill no blocks: a product a group.
  const char* algorithm = "";
  int64_t padded_macs = 0;   // multiply-accumulates with channels filled up to whole blocks
  int64_t inside_macs = 0;   // of the true ones, those whose input is no padding
  int64_t column_bytes = 0;  // of one group's patches laid out
};
// None for what is no two-dimensional convolution.
std::optional<ConvolutionWork> ConvolutionWorkOf(const Graph& graph, const Node& node);

// Of the outputs, bytes in tensors of 32 MiB and more: malloc maps them anew for every call and the kernel clears them
// page by page, which makes a call that only moves data eight times slower than one just below
// (docs/results/layer_sum.md).
int64_t FreshBytes(const Node& node);

// The above as a continuation of the canonical text: ",algorithm=blocked,padded_macs=...,fresh_bytes=0".
std::string WorkHints(const Graph& graph, int32_t node);

}  // namespace cobra

#endif  // COBRA_MODEL_TEXT_WORK_HINTS_H_
