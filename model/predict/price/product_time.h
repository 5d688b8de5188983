// The least and the most time that a matrix product takes on a GPU, by its data sheet.
#ifndef COBRA_MODEL_PREDICT_PRICE_PRODUCT_TIME_H_
#define COBRA_MODEL_PREDICT_PRICE_PRODUCT_TIME_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

// Under PyTorch or LibTorch linear layers and products (linear, matmul, mm, bmm, addmm, baddbmm)
// are kernels of the maker's library, whoever asks for them, and convolutions (1 to 3 dimensions)
// are nearly so.
//
// At least: their multiply-accumulates at the peak of the precision, and the weights, each read
// once in a run, at the bandwidth, but for what a cache keeps of all weights together. A
// convolution with more than one tap may do with less than half of its multiply-accumulates
// (Winograd). Of 36,700 measured products of 14 targets none takes less.
//
// At most, for products alone: launching, five times what the multiply-accumulates take in tiles of
// 128 x 128 that the cores compute in turns, and one and a half times what the bytes take. Of these
// products .23 % take more, the worst 1.7 times as much. Where power limits the clock (an L4, 72
// W), five times is what they take.
class ProductTime {
 public:
  ProductTime(const TargetSpec& spec, const graph::Graph& graph);
  bool is_known() const { return is_known_; }
  // In microseconds. 0: nothing is known, or the call is none of these.
  double LeastUs(int32_t call) const;
  // Likewise; infinity: nothing is known.
  double MostUs(int32_t call) const;

 private:
  const graph::Graph& graph_;
  bool is_known_ = false;  // the device is a GPU under PyTorch, and its sheet has a peak and a bandwidth
  double bytes_per_us_ = 0, flops_per_us_ = 0, convolution_flops_per_us_ = 0;
  double cores_ = 1;
  double bytes_of_byte_ = 1;        // graphs say float32 of what targets of half precision keep in half of the bytes
  double bytes_at_most_ = 1;        // likewise, with what casts move
  double missed_of_weights_ = 0;    // the share that no cache can keep
  std::vector<int32_t> first_use_;  // of each parameter: the product or convolution that reads it first
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_PRICE_PRODUCT_TIME_H_
