#include "model/net/rows.h"

#include <torch/csrc/autograd/custom_function.h>

namespace cobra::net {
namespace {

using Context = torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor Sums(const at::Tensor& x, const at::Tensor& rows, int64_t n) {
  const at::Tensor from = x.contiguous(), places = rows.contiguous();
  at::Tensor sums = at::zeros({n, x.size(1)}, x.options());
  const int64_t width = x.size(1);
  const float* row = from.data_ptr<float>();
  const int64_t* place = places.data_ptr<int64_t>();
  for (int64_t i = 0; i < places.numel(); ++i, row += width) {
    float* sum = sums.data_ptr<float>() + place[i] * width;
    for (int64_t k = 0; k < width; ++k) sum[k] += row[k];
  }
  return sums;
}

struct Taken : torch::autograd::Function<Taken> {
  static at::Tensor forward(Context* context, const at::Tensor& x, const at::Tensor& rows) {
    context->save_for_backward({rows});
    context->saved_data["n"] = x.size(0);
    return x.index_select(0, rows);
  }
  static variable_list backward(Context* context, const variable_list& gradients) {
    return {Sums(gradients[0], context->get_saved_variables()[0], context->saved_data["n"].toInt()), at::Tensor()};
  }
};

struct Summed : torch::autograd::Function<Summed> {
  static at::Tensor forward(Context* context, const at::Tensor& x, const at::Tensor& rows, int64_t n) {
    context->save_for_backward({rows});
    return Sums(x, rows, n);
  }
  static variable_list backward(Context* context, const variable_list& gradients) {
    return {gradients[0].index_select(0, context->get_saved_variables()[0]), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor TakeRows(const at::Tensor& x, const at::Tensor& rows) {
  if (!rows.defined()) return x;
  return x.device().is_cpu() ? Taken::apply(x, rows) : x.index_select(0, rows);
}

at::Tensor SumRows(const at::Tensor& x, const at::Tensor& rows, int64_t n) {
  return x.device().is_cpu() ? Summed::apply(x, rows, n) : at::zeros({n, x.size(1)}, x.options()).index_add(0, rows, x);
}

}  // namespace cobra::net
