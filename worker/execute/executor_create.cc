// Tensors that are made of none.
#include "ATen/ops/arange.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/eye.h"
#include "ATen/ops/full.h"
#include "ATen/ops/linspace.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/rand.h"
#include "ATen/ops/randint.h"
#include "ATen/ops/randn.h"
#include "ATen/ops/randperm.h"
#include "ATen/ops/tril_indices.h"
#include "ATen/ops/triu_indices.h"
#include "ATen/ops/zeros.h"
#include "worker/execute/executor_kernels.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;

template <typename F>
KernelFactory Sized(F f) {
  return [f](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const Ints size = c.Ints("size");
    const at::TensorOptions options = c.NewTensor();
    return Kernel([=](const Call& call) { call.outputs[0] = f(size, options); });
  };
}

absl::StatusOr<Kernel> MakeFull(const NodeContext& c) {
  const Ints size = c.Ints("size");
  const at::Scalar value = c.Scalar("fill_value", 0);
  const at::TensorOptions options = c.NewTensor();
  return Kernel([=](const Call& call) { call.outputs[0] = at::full(size, value, options); });
}

// The numbers of a program's list, which PyTorch writes to a tensor on the host.
absl::StatusOr<Kernel> MakeTensor(const NodeContext& c) {
  const Ints size = c.Ints("size");
  const at::TensorOptions options = c.NewTensor();
  const at::Tensor numbers = at::zeros(size, options.device(at::kCPU));
  return Kernel([=](const Call& call) { call.outputs[0] = at::empty(size, options).copy_(numbers); });
}

absl::StatusOr<Kernel> MakeArange(const NodeContext& c) {
  const Ints size = c.Ints("size");
  const at::Scalar start = c.Scalar("start", 0), step = c.Scalar("step", 1);
  const at::TensorOptions options = c.NewTensor();
  // Half a step before where it would end: rounding adds no number.
  const auto steps = static_cast<double>(size[0]);
  const at::Scalar end = start.isIntegral(false) && step.isIntegral(false)
                             ? at::Scalar(start.toLong() + step.toLong() * size[0])
                             : at::Scalar(start.toDouble() + step.toDouble() * (steps > 0 ? steps - .5 : 0));
  return Kernel([=](const Call& call) { call.outputs[0] = at::arange(start, end, step, options); });
}

absl::StatusOr<Kernel> MakeLinspace(const NodeContext& c) {
  const Ints size = c.Ints("size");
  const at::Scalar start = c.Scalar("start", 0), end = c.Scalar("end", 1);
  const at::TensorOptions options = c.NewTensor();
  return Kernel([=](const Call& call) { call.outputs[0] = at::linspace(start, end, size[0], options); });
}

absl::StatusOr<Kernel> MakeTriangleIndices(const NodeContext& c) {
  const int64_t rows = c.Int("row"), columns = c.Int("col"), offset = c.Int("offset");
  const at::TensorOptions options = c.NewTensor();
  const bool upper = c.node.op == graph::Op::triu_indices;
  return Kernel([=](const Call& call) {
    call.outputs[0] =
        upper ? at::triu_indices(rows, columns, offset, options) : at::tril_indices(rows, columns, offset, options);
  });
}

absl::StatusOr<Kernel> MakeRandint(const NodeContext& c) {
  const Ints size = c.Ints("size");
  const int64_t low = c.Int("low"), high = std::max(low + 1, c.Int("high", 2));
  const at::TensorOptions options = c.NewTensor();
  return Kernel([=](const Call& call) { call.outputs[0] = at::randint(low, high, size, options); });
}

}  // namespace

void AddCreationKernels(KernelTable* table) {
  KernelTable& t = *table;
  using Options = at::TensorOptions;
  t[graph::Op::empty] = Sized([](const Ints& size, const Options& o) { return at::empty(size, o); });
  t[graph::Op::zeros] = Sized([](const Ints& size, const Options& o) { return at::zeros(size, o); });
  t[graph::Op::ones] = Sized([](const Ints& size, const Options& o) { return at::ones(size, o); });
  t[graph::Op::full] = MakeFull;
  t[graph::Op::tensor] = MakeTensor;
  t[graph::Op::arange] = MakeArange;
  t[graph::Op::linspace] = MakeLinspace;
  t[graph::Op::eye] = Sized([](const Ints& size, const Options& o) { return at::eye(size[0], size[1], o); });
  t[graph::Op::tril_indices] = MakeTriangleIndices;
  t[graph::Op::triu_indices] = MakeTriangleIndices;
  t[graph::Op::rand] = Sized([](const Ints& size, const Options& o) { return at::rand(size, o); });
  t[graph::Op::randn] = Sized([](const Ints& size, const Options& o) { return at::randn(size, o); });
  t[graph::Op::randint] = MakeRandint;
  t[graph::Op::randperm] = Sized([](const Ints& size, const Options& o) { return at::randperm(size[0], o); });
}

}  // namespace cobra::worker
