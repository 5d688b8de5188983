#include "ATen/ops/_upsample_bicubic2d_aa.h"
#include "ATen/ops/_upsample_bilinear2d_aa.h"
#include "ATen/ops/_upsample_nearest_exact1d.h"
#include "ATen/ops/_upsample_nearest_exact2d.h"
#include "ATen/ops/_upsample_nearest_exact3d.h"
#include "ATen/ops/abs.h"
#include "ATen/ops/adaptive_avg_pool1d.h"
#include "ATen/ops/adaptive_avg_pool2d.h"
#include "ATen/ops/adaptive_avg_pool3d.h"
#include "ATen/ops/adaptive_max_pool1d.h"
#include "ATen/ops/adaptive_max_pool2d.h"
#include "ATen/ops/adaptive_max_pool3d.h"
#include "ATen/ops/affine_grid_generator.h"
#include "ATen/ops/avg_pool1d.h"
#include "ATen/ops/avg_pool2d.h"
#include "ATen/ops/avg_pool3d.h"
#include "ATen/ops/channel_shuffle.h"
#include "ATen/ops/fractional_max_pool2d.h"
#include "ATen/ops/fractional_max_pool3d.h"
#include "ATen/ops/grid_sampler.h"
#include "ATen/ops/max_pool1d.h"
#include "ATen/ops/max_pool1d_with_indices.h"
#include "ATen/ops/max_pool2d.h"
#include "ATen/ops/max_pool2d_with_indices.h"
#include "ATen/ops/max_pool3d.h"
#include "ATen/ops/max_pool3d_with_indices.h"
#include "ATen/ops/max_unpool2d.h"
#include "ATen/ops/mul.h"
#include "ATen/ops/pixel_shuffle.h"
#include "ATen/ops/pixel_unshuffle.h"
#include "ATen/ops/pow.h"
#include "ATen/ops/rand.h"
#include "ATen/ops/relu.h"
#include "ATen/ops/sign.h"
#include "ATen/ops/upsample_bicubic2d.h"
#include "ATen/ops/upsample_bilinear2d.h"
#include "ATen/ops/upsample_linear1d.h"
#include "ATen/ops/upsample_nearest1d.h"
#include "ATen/ops/upsample_nearest2d.h"
#include "ATen/ops/upsample_nearest3d.h"
#include "ATen/ops/upsample_trilinear3d.h"
#include "worker/execute/executor_kernels.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;

// max_pool: one output, or two with indices. Each case calls the function that torch.nn.functional
// calls.
template <typename Plain, typename WithIndices>
KernelFactory MaxPool(Plain plain, WithIndices with_indices) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const Ints kernel = c.Ints("kernel_size"), stride = c.Ints("stride"), padding = c.Ints("padding");
    const Ints dilation = c.Ints("dilation");
    const bool ceil_mode = c.Bool("ceil_mode");
    if (c.Bool("return_indices")) {
      return Kernel([=](const Call& call) {
        std::tie(call.outputs[0], call.outputs[1]) =
            with_indices(call[0], kernel, stride, padding, dilation, ceil_mode);
      });
    }
    return Kernel(
        [=](const Call& call) { call.outputs[0] = plain(call[0], kernel, stride, padding, dilation, ceil_mode); });
  };
}

template <typename F>
KernelFactory AvgPool(F f) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const Ints kernel = c.Ints("kernel_size"), stride = c.Ints("stride"), padding = c.Ints("padding");
    const bool ceil_mode = c.Bool("ceil_mode"), count_include_pad = c.Bool("count_include_pad", true);
    const c10::optional<int64_t> divisor = c.OptionalInt("divisor_override");
    return Kernel([=](const Call& call) {
      call.outputs[0] = f(call[0], kernel, stride, padding, ceil_mode, count_include_pad, divisor);
    });
  };
}

// Replaces -1 by the input's size in the same dimension.
Ints Resolved(Ints size, const at::Tensor& input) {
  for (size_t i = 0; i < size.size(); ++i) {
    if (size[i] == -1) size[i] = input.size(static_cast<int64_t>(i) - static_cast<int64_t>(size.size()));
  }
  return size;
}

template <typename F>
KernelFactory AdaptiveAvgPool(F f) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const Ints size = c.Ints("output_size");
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], Resolved(size, call[0])); });
  };
}

template <typename F>
KernelFactory AdaptiveMaxPool(F f) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const Ints size = c.Ints("output_size");
    const bool indices = c.Bool("return_indices");
    return Kernel([=](const Call& call) {
      auto result = f(call[0], Resolved(size, call[0]));  // torch.nn.functional computes the indices either way
      call.outputs[0] = std::move(std::get<0>(result));
      if (indices) call.outputs[1] = std::move(std::get<1>(result));
    });
  };
}

// F.lp_pool, as written there: (sign(y) * relu(|y|) * k) ** (1/p), where y is the average of x**p.
template <typename F>
KernelFactory LpPool(F average, int dims) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const double p = c.Double("norm_type", 2);
    Ints kernel = c.Ints("kernel_size");
    const Ints stride = c.Ints("stride");
    const bool ceil_mode = c.Bool("ceil_mode");
    while (static_cast<int>(kernel.size()) < dims) kernel.push_back(kernel.back());
    double area = 1;
    for (int64_t k : kernel) area *= k;
    return Kernel([=](const Call& call) {
      const at::Tensor y = average(at::pow(call[0], p), kernel, stride, ceil_mode);
      call.outputs[0] = at::pow(at::mul(at::mul(at::sign(y), at::relu(at::abs(y))), area), 1 / p);
    });
  };
}

absl::StatusOr<Kernel> MakeMaxUnpool2d(const NodeContext& c) {
  const graph::TensorType& x = *c.inputs[0];
  Ints size = c.Ints("output_size");
  if (size.empty()) {
    const Ints kernel = c.Ints("kernel_size"), padding = c.Ints("padding");
    const Ints stride = c.Ints("stride").empty() ? kernel : c.Ints("stride");
    for (int i = 0; i < 2; ++i) {
      size.push_back((x.shape[x.rank() - 2 + i] - 1) * stride[i % stride.size()] + kernel[i % kernel.size()] -
                     2 * (padding.empty() ? 0 : padding[i % padding.size()]));
    }
  } else if (size.size() > 2) {
    size = Ints(size.end() - 2, size.end());
  }
  return Kernel([=](const Call& call) { call.outputs[0] = at::max_unpool2d(call[0], call[1], size); });
}

// F.interpolate: the size comes before the factors; `recompute_scale_factor` decides whether ATen
// gets the factors.
struct Resampling {
  c10::optional<Ints> size;
  c10::optional<std::vector<double>> factors;
};

absl::StatusOr<Resampling> ResamplingOf(const NodeContext& c, size_t dims) {
  Resampling r;
  if (c.HasValue("size")) {
    Ints size = c.Ints("size");
    if (size.size() == 1) size.resize(dims, size[0]);
    r.size = size;
    return r;
  }
  const graph::AttributeValue* value = c.node.attributes.Find("scale_factor");
  if (value == nullptr) return Refused(c, "neither size nor scale_factor");
  std::vector<double> factors;
  if (const auto* list = std::get_if<std::vector<double>>(value)) factors = *list;
  if (const auto* list = std::get_if<Ints>(value)) factors.assign(list->begin(), list->end());
  if (factors.empty()) factors.assign(dims, c.Double("scale_factor"));
  if (c.Bool("recompute_scale_factor")) {
    Ints size;
    for (size_t i = 0; i < dims; ++i) {
      size.push_back(static_cast<int64_t>(std::floor(c.inputs[0]->shape[i + 2] * factors[i])));
    }
    r.size = size;
  } else {
    r.factors = factors;
  }
  return r;
}

absl::StatusOr<Kernel> MakeInterpolate(const NodeContext& c) {
  const size_t dims = c.inputs[0]->shape.size() - 2;
  auto resampling = ResamplingOf(c, dims);
  if (!resampling.ok()) return resampling.status();
  const Resampling r = *resampling;
  const std::string mode = c.String("mode", "nearest");
  const bool align = c.Bool("align_corners"), antialias = c.Bool("antialias");
  const auto with = [&](auto f) {
    return Kernel([r, f](const Call& call) {
      const at::OptionalIntArrayRef size = r.size ? at::OptionalIntArrayRef(*r.size) : at::OptionalIntArrayRef();
      const c10::optional<at::ArrayRef<double>> factors =
          r.factors ? c10::optional<at::ArrayRef<double>>(*r.factors) : c10::nullopt;
      call.outputs[0] = f(call[0], size, factors);
    });
  };
#define COBRA_RESAMPLE(function) with([](const at::Tensor& x, auto s, auto f) { return function(x, s, f); })
#define COBRA_RESAMPLE_ALIGNED(function) \
  with([align](const at::Tensor& x, auto s, auto f) { return function(x, s, align, f); })
  if (mode == "nearest" && dims == 1) return COBRA_RESAMPLE(at::upsample_nearest1d);
  if (mode == "nearest" && dims == 2) return COBRA_RESAMPLE(at::upsample_nearest2d);
  if (mode == "nearest" && dims == 3) return COBRA_RESAMPLE(at::upsample_nearest3d);
  if (mode == "nearest-exact" && dims == 1) return COBRA_RESAMPLE(at::_upsample_nearest_exact1d);
  if (mode == "nearest-exact" && dims == 2) return COBRA_RESAMPLE(at::_upsample_nearest_exact2d);
  if (mode == "nearest-exact" && dims == 3) return COBRA_RESAMPLE(at::_upsample_nearest_exact3d);
  if (mode == "linear" && dims == 1) return COBRA_RESAMPLE_ALIGNED(at::upsample_linear1d);
  if (mode == "bilinear" && dims == 2 && antialias) return COBRA_RESAMPLE_ALIGNED(at::_upsample_bilinear2d_aa);
  if (mode == "bilinear" && dims == 2) return COBRA_RESAMPLE_ALIGNED(at::upsample_bilinear2d);
  if (mode == "bicubic" && dims == 2 && antialias) return COBRA_RESAMPLE_ALIGNED(at::_upsample_bicubic2d_aa);
  if (mode == "bicubic" && dims == 2) return COBRA_RESAMPLE_ALIGNED(at::upsample_bicubic2d);
  if (mode == "trilinear" && dims == 3) return COBRA_RESAMPLE_ALIGNED(at::upsample_trilinear3d);
#undef COBRA_RESAMPLE
#undef COBRA_RESAMPLE_ALIGNED
  if (mode == "area") {
    Ints size;
    for (size_t i = 0; i < dims; ++i) size.push_back(c.node.outputs[0].shape[i + 2]);
    return Kernel([size](const Call& call) {
      call.outputs[0] = size.size() == 1   ? at::adaptive_avg_pool1d(call[0], size)
                        : size.size() == 2 ? at::adaptive_avg_pool2d(call[0], size)
                                           : at::adaptive_avg_pool3d(call[0], size);
    });
  }
  return Refused(c, "mode '" + mode + "' for this rank");
}

// The windows have random positions. Without given numbers each call draws its own, as PyTorch
// does.
absl::StatusOr<Kernel> MakeFractionalMaxPool(const NodeContext& c) {
  const graph::Shape& in = c.inputs[0]->shape;
  const graph::Shape& out = c.node.outputs[0].shape;
  const size_t n =
      c.node.op == graph::Op::fractional_max_pool2d || c.node.op == graph::Op::fractional_max_pool2d_with_indices ? 2
                                                                                                                  : 3;
  const Ints kernel = c.Ints("kernel_size"), size(out.end() - static_cast<int64_t>(n), out.end());
  const int64_t channels = in[in.size() - n - 1], batch = in.size() == n + 2 ? in[0] : 1;
  const bool indices = c.node.outputs.size() > 1;
  return Kernel([=](const Call& call) {
    const at::Tensor samples =
        call.has(1) ? call[1] : at::rand({batch, channels, static_cast<int64_t>(n)}, call[0].options());
    auto result = n == 2 ? at::fractional_max_pool2d(call[0], kernel, size, samples)
                         : at::fractional_max_pool3d(call[0], kernel, size, samples);
    call.outputs[0] = std::get<0>(result);
    if (indices) call.outputs[1] = std::get<1>(result);
  });
}

int64_t ModeIndex(const std::string& mode, std::initializer_list<const char*> names) {
  int64_t i = 0;
  for (const char* name : names) {
    if (mode == name) return i;
    ++i;
  }
  return 0;
}

absl::StatusOr<Kernel> MakeGridSample(const NodeContext& c) {
  const int64_t mode = ModeIndex(c.String("mode", "bilinear"), {"bilinear", "nearest", "bicubic"});
  const int64_t padding = ModeIndex(c.String("padding_mode", "zeros"), {"zeros", "border", "reflection"});
  const bool align = c.Bool("align_corners");
  return Kernel([=](const Call& call) { call.outputs[0] = at::grid_sampler(call[0], call[1], mode, padding, align); });
}

absl::StatusOr<Kernel> MakeAffineGrid(const NodeContext& c) {
  const Ints size = c.Ints("size");
  const bool align = c.Bool("align_corners");
  return Kernel([=](const Call& call) { call.outputs[0] = at::affine_grid_generator(call[0], size, align); });
}

}  // namespace

#define COBRA_MAX_POOL(plain, with_indices)                                                             \
  MaxPool([](const at::Tensor& x, const Ints& k, const Ints& s, const Ints& p, const Ints& d,           \
             bool c) { return plain(x, k, s, p, d, c); },                                               \
          [](const at::Tensor& x, const Ints& k, const Ints& s, const Ints& p, const Ints& d, bool c) { \
            return with_indices(x, k, s, p, d, c);                                                      \
          })
#define COBRA_AVG_POOL(function)                                                               \
  AvgPool([](const at::Tensor& x, const Ints& k, const Ints& s, const Ints& p, bool c, bool i, \
             c10::optional<int64_t> d) { return function(x, k, s, p, c, i, d); })

void AddPoolKernels(KernelTable* table) {
  KernelTable& t = *table;
  t[graph::Op::max_pool1d] = COBRA_MAX_POOL(at::max_pool1d, at::max_pool1d_with_indices);
  t[graph::Op::max_pool2d] = COBRA_MAX_POOL(at::max_pool2d, at::max_pool2d_with_indices);
  t[graph::Op::max_pool3d] = COBRA_MAX_POOL(at::max_pool3d, at::max_pool3d_with_indices);
  t[graph::Op::avg_pool1d] = AvgPool([](const at::Tensor& x, const Ints& k, const Ints& s, const Ints& p, bool c,
                                        bool i, c10::optional<int64_t>) { return at::avg_pool1d(x, k, s, p, c, i); });
  t[graph::Op::avg_pool2d] = COBRA_AVG_POOL(at::avg_pool2d);
  t[graph::Op::avg_pool3d] = COBRA_AVG_POOL(at::avg_pool3d);
  t[graph::Op::lp_pool1d] = LpPool(
      [](const at::Tensor& x, const Ints& k, const Ints& s, bool c) { return at::avg_pool1d(x, k, s, 0, c); }, 1);
  t[graph::Op::lp_pool2d] = LpPool(
      [](const at::Tensor& x, const Ints& k, const Ints& s, bool c) { return at::avg_pool2d(x, k, s, 0, c); }, 2);
  t[graph::Op::adaptive_avg_pool1d] =
      AdaptiveAvgPool([](const at::Tensor& x, const Ints& o) { return at::adaptive_avg_pool1d(x, o); });
  t[graph::Op::adaptive_avg_pool2d] =
      AdaptiveAvgPool([](const at::Tensor& x, const Ints& o) { return at::adaptive_avg_pool2d(x, o); });
  t[graph::Op::adaptive_avg_pool3d] =
      AdaptiveAvgPool([](const at::Tensor& x, const Ints& o) { return at::adaptive_avg_pool3d(x, o); });
  t[graph::Op::adaptive_max_pool1d] =
      AdaptiveMaxPool([](const at::Tensor& x, const Ints& o) { return at::adaptive_max_pool1d(x, o); });
  t[graph::Op::adaptive_max_pool2d] =
      AdaptiveMaxPool([](const at::Tensor& x, const Ints& o) { return at::adaptive_max_pool2d(x, o); });
  t[graph::Op::adaptive_max_pool3d] =
      AdaptiveMaxPool([](const at::Tensor& x, const Ints& o) { return at::adaptive_max_pool3d(x, o); });
  for (graph::Op op : {graph::Op::fractional_max_pool2d, graph::Op::fractional_max_pool3d,
                       graph::Op::fractional_max_pool2d_with_indices, graph::Op::fractional_max_pool3d_with_indices})
    t[op] = MakeFractionalMaxPool;
  t[graph::Op::max_unpool2d] = MakeMaxUnpool2d;
  t[graph::Op::interpolate] = MakeInterpolate;
  t[graph::Op::grid_sample] = MakeGridSample;
  t[graph::Op::affine_grid] = MakeAffineGrid;
  t[graph::Op::pixel_shuffle] = [](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const int64_t factor = c.Int("upscale_factor");
    return Kernel([=](const Call& call) { call.outputs[0] = at::pixel_shuffle(call[0], factor); });
  };
  t[graph::Op::pixel_unshuffle] = [](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const int64_t factor = c.Int("downscale_factor");
    return Kernel([=](const Call& call) { call.outputs[0] = at::pixel_unshuffle(call[0], factor); });
  };
  t[graph::Op::channel_shuffle] = [](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const int64_t groups = c.Int("groups");
    return Kernel([=](const Call& call) { call.outputs[0] = at::channel_shuffle(call[0], groups); });
  };
}

}  // namespace cobra::worker
