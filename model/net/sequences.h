// What a transformer computes within sequences that are stored one after the other, without
// padding: sequence i ends before row ends[i]. On a processor each is one pass over the rows;
// at::matmul would call BLAS for each head of each sequence, three times forward and back.
// Elsewhere they are made of LibTorch's operators. Includes LibTorch headers.
#ifndef COBRA_MODEL_NET_SEQUENCES_H_
#define COBRA_MODEL_NET_SEQUENCES_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace cobra::net {

// qkv: float [rows, 3 * width], queries, keys and values. Returns softmax(q k^T / sqrt(head)) v of
// each head:
// [rows, width].
at::Tensor Attention(const at::Tensor& qkv, const std::vector<int64_t>& ends, int64_t heads);
// The same of LibTorch's operators, on any device.
at::Tensor PaddedAttention(const at::Tensor& qkv, const std::vector<int64_t>& ends, int64_t heads);

// [rows, width] -> [sequences, width].
at::Tensor MeanOfEach(const at::Tensor& x, const std::vector<int64_t>& ends);

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_SEQUENCES_H_
