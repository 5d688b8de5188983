#include "ATen/ops/abs.h"
#include "ATen/ops/add.h"
#include "ATen/ops/alpha_dropout.h"
#include "ATen/ops/celu.h"
#include "ATen/ops/div.h"
#include "ATen/ops/dropout.h"
#include "ATen/ops/elu.h"
#include "ATen/ops/feature_alpha_dropout.h"
#include "ATen/ops/feature_dropout.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/glu.h"
#include "ATen/ops/hardshrink.h"
#include "ATen/ops/hardsigmoid.h"
#include "ATen/ops/hardswish.h"
#include "ATen/ops/hardtanh.h"
#include "ATen/ops/leaky_relu.h"
#include "ATen/ops/log_sigmoid.h"
#include "ATen/ops/mish.h"
#include "ATen/ops/prelu.h"
#include "ATen/ops/relu.h"
#include "ATen/ops/rrelu.h"
#include "ATen/ops/selu.h"
#include "ATen/ops/sigmoid.h"
#include "ATen/ops/silu.h"
#include "ATen/ops/softplus.h"
#include "ATen/ops/softshrink.h"
#include "ATen/ops/sub.h"
#include "ATen/ops/tanh.h"
#include "ATen/ops/threshold.h"
#include "worker/execute/executor_kernels.h"

namespace cobra::worker {
namespace {

// An activation with numeric attributes: `f` and `in_place` take the tensor and the result of
// `read` for the node.
template <typename Read, typename F, typename InPlace>
KernelFactory WithNumbers(Read read, F f, InPlace in_place) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const auto numbers = read(c);
    if (c.inplace()) return Kernel([=](const Call& call) { call.outputs[0] = in_place(call.Mutable(0), numbers); });
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], numbers); });
  };
}

struct Two {
  double a, b;
};

auto Number(const char* name, double fallback) {
  return [=](const NodeContext& c) { return c.Double(name, fallback); };
}
auto Numbers(const char* a, double a_fallback, const char* b, double b_fallback) {
  return [=](const NodeContext& c) { return Two{c.Double(a, a_fallback), c.Double(b, b_fallback)}; };
}

#define COBRA_OF_NUMBER(expression) [](const at::Tensor& x, double n) { return expression; }
#define COBRA_OF_NUMBER_(expression) [](at::Tensor& x, double n) { return expression; }
#define COBRA_OF_TWO(expression) [](const at::Tensor& x, Two n) { return expression; }
#define COBRA_OF_TWO_(expression) [](at::Tensor& x, Two n) { return expression; }

absl::StatusOr<Kernel> MakePrelu(const NodeContext& c) {
  return Kernel([](const Call& call) { call.outputs[0] = at::prelu(call[0], call[1]); });
}

absl::StatusOr<Kernel> MakeGelu(const NodeContext& c) {
  const std::string approximate = c.String("approximate", "none");
  return Kernel([=](const Call& call) { call.outputs[0] = at::gelu(call[0], c10::string_view(approximate)); });
}

absl::StatusOr<Kernel> MakeGlu(const NodeContext& c) {
  const int64_t dim = c.Int("dim", -1);
  return Kernel([=](const Call& call) { call.outputs[0] = at::glu(call[0], dim); });
}

// In eval mode PyTorch returns the argument, after a call through the dispatcher.
template <typename F>
KernelFactory Dropout(F f) {
  return [f](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const double p = c.Double("p", 0.5);
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], p, /*train=*/false); });
  };
}
#define COBRA_DROPOUT(function) Dropout([](const at::Tensor& x, double p, bool train) { return function(x, p, train); })

at::Tensor Relu6(const at::Tensor& x) { return at::hardtanh(x, 0, 6); }
at::Tensor& Relu6InPlace(at::Tensor& x) { return at::hardtanh_(x, 0, 6); }
at::Tensor Tanhshrink(const at::Tensor& x) { return at::sub(x, at::tanh(x)); }
at::Tensor Softsign(const at::Tensor& x) { return at::div(x, at::add(at::abs(x), 1)); }

}  // namespace

void AddActivationKernels(KernelTable* table) {
  KernelTable& t = *table;
  t.Unary(graph::Op::relu, at::relu, at::relu_);
  t.Unary(graph::Op::relu6, Relu6, Relu6InPlace);
  t.Unary(graph::Op::selu, at::selu, at::selu_);
  t.Unary(graph::Op::silu, at::silu, at::silu_);
  t.Unary(graph::Op::mish, at::mish, at::mish_);
  t.Unary(graph::Op::sigmoid, at::sigmoid, at::sigmoid_);
  t.Unary(graph::Op::log_sigmoid, at::log_sigmoid);
  t.Unary(graph::Op::hardsigmoid, at::hardsigmoid, at::hardsigmoid_);
  t.Unary(graph::Op::hardswish, at::hardswish, at::hardswish_);
  t.Unary(graph::Op::tanh, at::tanh, at::tanh_);
  t.Unary(graph::Op::tanhshrink, Tanhshrink);
  t.Unary(graph::Op::softsign, Softsign);
  t[graph::Op::hardtanh] = WithNumbers(Numbers("min_val", -1, "max_val", 1), COBRA_OF_TWO(at::hardtanh(x, n.a, n.b)),
                                       COBRA_OF_TWO_(at::hardtanh_(x, n.a, n.b)));
  t[graph::Op::leaky_relu] = WithNumbers(Number("negative_slope", 0.01), COBRA_OF_NUMBER(at::leaky_relu(x, n)),
                                         COBRA_OF_NUMBER_(at::leaky_relu_(x, n)));
  t[graph::Op::rrelu] = WithNumbers(Numbers("lower", 1.0 / 8, "upper", 1.0 / 3), COBRA_OF_TWO(at::rrelu(x, n.a, n.b)),
                                    COBRA_OF_TWO_(at::rrelu_(x, n.a, n.b)));
  t[graph::Op::prelu] = MakePrelu;
  t[graph::Op::elu] = WithNumbers(Number("alpha", 1), COBRA_OF_NUMBER(at::elu(x, n)), COBRA_OF_NUMBER_(at::elu_(x, n)));
  t[graph::Op::celu] =
      WithNumbers(Number("alpha", 1), COBRA_OF_NUMBER(at::celu(x, n)), COBRA_OF_NUMBER_(at::celu_(x, n)));
  t[graph::Op::gelu] = MakeGelu;
  t[graph::Op::hardshrink] = WithNumbers(Number("lambd", 0.5), COBRA_OF_NUMBER(at::hardshrink(x, n)),
                                         COBRA_OF_NUMBER_(x.copy_(at::hardshrink(x, n))));
  t[graph::Op::softshrink] = WithNumbers(Number("lambd", 0.5), COBRA_OF_NUMBER(at::softshrink(x, n)),
                                         COBRA_OF_NUMBER_(x.copy_(at::softshrink(x, n))));
  t[graph::Op::softplus] = WithNumbers(Numbers("beta", 1, "threshold", 20), COBRA_OF_TWO(at::softplus(x, n.a, n.b)),
                                       COBRA_OF_TWO_(x.copy_(at::softplus(x, n.a, n.b))));
  t[graph::Op::_threshold] = t[graph::Op::threshold] =
      WithNumbers(Numbers("threshold", 0, "value", 0), COBRA_OF_TWO(at::threshold(x, n.a, n.b)),
                  COBRA_OF_TWO_(at::threshold_(x, n.a, n.b)));
  t[graph::Op::glu] = MakeGlu;
  t[graph::Op::dropout] = COBRA_DROPOUT(at::dropout);
  for (graph::Op op : {graph::Op::dropout1d, graph::Op::dropout2d, graph::Op::dropout3d})
    t[op] = COBRA_DROPOUT(at::feature_dropout);
  t[graph::Op::alpha_dropout] = COBRA_DROPOUT(at::alpha_dropout);
  t[graph::Op::feature_alpha_dropout] = COBRA_DROPOUT(at::feature_alpha_dropout);
}

}  // namespace cobra::worker
