// Takes and adds rows of matrices by their numbers, as graph networks need it, with gradients. On a
// processor LibTorch's index_add sets up a loop for every single row. Includes LibTorch headers.
#ifndef COBRA_MODEL_NET_ROWS_H_
#define COBRA_MODEL_NET_ROWS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace cobra::net {

// x: float [n, width]; rows: int64 [m]. Returns [m, width], the rows of x that `rows` names; all of
// x if that is undefined.
at::Tensor TakeRows(const at::Tensor& x, const at::Tensor& rows);

// x: float [m, width]; rows: int64 [m]. Returns [n, width]: to each row the sum of those rows of x
// that `rows` sends there.
at::Tensor SumRows(const at::Tensor& x, const at::Tensor& rows, int64_t n);

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_ROWS_H_
