#include "ATen/ops/col2im.h"
#include "ATen/ops/conv1d.h"
#include "ATen/ops/conv2d.h"
#include "ATen/ops/conv3d.h"
#include "ATen/ops/conv_transpose1d.h"
#include "ATen/ops/conv_transpose2d.h"
#include "ATen/ops/conv_transpose3d.h"
#include "ATen/ops/im2col.h"
#include "worker/execute/executor_kernels.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;

// F.conv*d takes padding as numbers or as "same" / "valid".
template <typename ByInts, typename ByText>
KernelFactory Convolution(ByInts by_ints, ByText by_text) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const Ints stride = c.Ints("stride"), dilation = c.Ints("dilation");
    const int64_t groups = c.Int("groups", 1);
    const std::string text = c.String("padding");
    if (!text.empty()) {
      return Kernel([=](const Call& call) {
        call.outputs[0] = by_text(call[0], call[1], call.Optional(2), stride, text, dilation, groups);
      });
    }
    const Ints padding = c.Ints("padding");
    return Kernel([=](const Call& call) {
      call.outputs[0] = by_ints(call[0], call[1], call.Optional(2), stride, padding, dilation, groups);
    });
  };
}

template <typename F>
KernelFactory Transposed(F f) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const Ints stride = c.Ints("stride"), padding = c.Ints("padding"), output_padding = c.Ints("output_padding");
    const Ints dilation = c.Ints("dilation");
    const int64_t groups = c.Int("groups", 1);
    return Kernel([=](const Call& call) {
      call.outputs[0] = f(call[0], call[1], call.Optional(2), stride, padding, output_padding, groups, dilation);
    });
  };
}

Ints Pair(Ints values) {
  if (values.size() == 1) values.push_back(values[0]);
  return values;
}

absl::StatusOr<Kernel> MakeUnfold(const NodeContext& c) {
  const Ints kernel = Pair(c.Ints("kernel_size")), dilation = Pair(c.Ints("dilation"));
  const Ints padding = Pair(c.Ints("padding")), stride = Pair(c.Ints("stride"));
  return Kernel([=](const Call& call) { call.outputs[0] = at::im2col(call[0], kernel, dilation, padding, stride); });
}

absl::StatusOr<Kernel> MakeFold(const NodeContext& c) {
  const Ints size = Pair(c.Ints("output_size")), kernel = Pair(c.Ints("kernel_size"));
  const Ints dilation = Pair(c.Ints("dilation")), padding = Pair(c.Ints("padding")), stride = Pair(c.Ints("stride"));
  return Kernel(
      [=](const Call& call) { call.outputs[0] = at::col2im(call[0], size, kernel, dilation, padding, stride); });
}

}  // namespace

#define COBRA_CONVOLUTION(function)                                                                                  \
  Convolution(                                                                                                       \
      [](const at::Tensor& x, const at::Tensor& w, const c10::optional<at::Tensor>& b, const Ints& s, const Ints& p, \
         const Ints& d, int64_t g) { return function(x, w, b, s, p, d, g); },                                        \
      [](const at::Tensor& x, const at::Tensor& w, const c10::optional<at::Tensor>& b, const Ints& s,                \
         const std::string& p, const Ints& d, int64_t g) { return function(x, w, b, s, c10::string_view(p), d, g); })
#define COBRA_TRANSPOSED(function)                                                                           \
  Transposed([](const at::Tensor& x, const at::Tensor& w, const c10::optional<at::Tensor>& b, const Ints& s, \
                const Ints& p, const Ints& op, int64_t g,                                                    \
                const Ints& d) { return function(x, w, b, s, p, op, g, d); })

void AddConvolutionKernels(KernelTable* table) {
  KernelTable& t = *table;
  t[graph::Op::conv1d] = COBRA_CONVOLUTION(at::conv1d);
  t[graph::Op::conv2d] = COBRA_CONVOLUTION(at::conv2d);
  t[graph::Op::conv3d] = COBRA_CONVOLUTION(at::conv3d);
  t[graph::Op::conv_transpose1d] = COBRA_TRANSPOSED(at::conv_transpose1d);
  t[graph::Op::conv_transpose2d] = COBRA_TRANSPOSED(at::conv_transpose2d);
  t[graph::Op::conv_transpose3d] = COBRA_TRANSPOSED(at::conv_transpose3d);
  t[graph::Op::unfold] = MakeUnfold;
  t[graph::Op::fold] = MakeFold;
}

}  // namespace cobra::worker
