#include "ATen/ops/fft_fft.h"
#include "ATen/ops/fft_fft2.h"
#include "ATen/ops/fft_fftn.h"
#include "ATen/ops/fft_ifft.h"
#include "ATen/ops/fft_ifft2.h"
#include "ATen/ops/fft_ifftn.h"
#include "ATen/ops/fft_irfft.h"
#include "ATen/ops/fft_irfft2.h"
#include "ATen/ops/fft_rfft.h"
#include "ATen/ops/fft_rfft2.h"
#include "worker/execute/executor_kernels.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;

// One dimension: n, dim, norm.
template <typename F>
KernelFactory Fft1(F f) {
  return [f](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const auto n = c.OptionalInt("n");
    const int64_t dim = c.Int("dim", -1);
    const std::string norm = c.String("norm", "backward");
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], n, dim, c10::string_view(norm)); });
  };
}

// Several dimensions: s, dim, norm; without dim, the last two, or all of them for the functions
// that end in n.
template <typename F>
KernelFactory FftN(F f, bool last_two) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    c10::optional<Ints> size, dim;
    if (c.HasValue("s")) size = c.Ints("s");
    if (c.HasValue("dim")) {
      dim = c.Ints("dim");
    } else if (last_two) {
      dim = Ints{-2, -1};
    }
    const std::string norm = c.String("norm", "backward");
    return Kernel([=](const Call& call) {
      const at::OptionalIntArrayRef s = size ? at::OptionalIntArrayRef(*size) : at::OptionalIntArrayRef();
      const at::OptionalIntArrayRef d = dim ? at::OptionalIntArrayRef(*dim) : at::OptionalIntArrayRef();
      call.outputs[0] = f(call[0], s, d, c10::string_view(norm));
    });
  };
}

}  // namespace

#define COBRA_FFT1(function) \
  Fft1([](const at::Tensor& x, auto n, int64_t dim, c10::string_view norm) { return function(x, n, dim, norm); })
#define COBRA_FFT2(function) \
  FftN([](const at::Tensor& x, auto s, auto dim, c10::string_view norm) { return function(x, s, *dim, norm); }, true)
#define COBRA_FFTN(function) \
  FftN([](const at::Tensor& x, auto s, auto dim, c10::string_view norm) { return function(x, s, dim, norm); }, false)

void AddSpectrumKernels(KernelTable* table) {
  KernelTable& t = *table;
  t[graph::Op::fft_fft] = COBRA_FFT1(at::fft_fft);
  t[graph::Op::fft_ifft] = COBRA_FFT1(at::fft_ifft);
  t[graph::Op::fft_rfft] = COBRA_FFT1(at::fft_rfft);
  t[graph::Op::fft_irfft] = COBRA_FFT1(at::fft_irfft);
  t[graph::Op::fft_fft2] = COBRA_FFT2(at::fft_fft2);
  t[graph::Op::fft_ifft2] = COBRA_FFT2(at::fft_ifft2);
  t[graph::Op::fft_rfft2] = COBRA_FFT2(at::fft_rfft2);
  t[graph::Op::fft_irfft2] = COBRA_FFT2(at::fft_irfft2);
  t[graph::Op::fft_fftn] = COBRA_FFTN(at::fft_fftn);
  t[graph::Op::fft_ifftn] = COBRA_FFTN(at::fft_ifftn);
}

}  // namespace cobra::worker
