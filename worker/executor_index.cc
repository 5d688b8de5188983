#include "ATen/ops/bucketize.h"
#include "ATen/ops/embedding.h"
#include "ATen/ops/gather.h"
#include "ATen/ops/index_add.h"
#include "ATen/ops/index_fill.h"
#include "ATen/ops/index_select.h"
#include "ATen/ops/one_hot.h"
#include "ATen/ops/scatter.h"
#include "ATen/ops/scatter_add.h"
#include "ATen/ops/take_along_dim.h"
#include "worker/executor_kernels.h"

namespace cobra {
namespace {

absl::StatusOr<Kernel> MakeEmbedding(const NodeContext& c) {
  if (c.HasValue("max_norm")) return Refused(c, "max_norm changes the weight");
  const int64_t padding = c.HasValue("padding_idx") ? c.Int("padding_idx", -1) : -1;
  return Kernel([=](const Call& call) { call.outputs[0] = at::embedding(call[1], call[0], padding); });
}

absl::StatusOr<Kernel> MakeOneHot(const NodeContext& c) {
  const int64_t classes = c.node.outputs[0].shape.back();
  return Kernel([=](const Call& call) { call.outputs[0] = at::one_hot(call[0], classes); });
}

// Functions of (tensor, dimension, index tensor).
template <typename F>
KernelFactory Indexed(F f) {
  return [f](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const int64_t dim = c.Int("dim");
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], dim, call[1]); });
  };
}

absl::StatusOr<Kernel> MakeScatter(const NodeContext& c) {
  const int64_t dim = c.Int("dim");
  if (c.HasValue("reduce")) return Refused(c, "reduce");
  if (c.has(2)) return Kernel([=](const Call& call) { call.outputs[0] = at::scatter(call[0], dim, call[1], call[2]); });
  const at::Scalar value = c.Scalar("value", 0);
  return Kernel([=](const Call& call) { call.outputs[0] = at::scatter(call[0], dim, call[1], value); });
}

absl::StatusOr<Kernel> MakeScatterAdd(const NodeContext& c) {
  const int64_t dim = c.Int("dim");
  return Kernel([=](const Call& call) { call.outputs[0] = at::scatter_add(call[0], dim, call[1], call[2]); });
}

absl::StatusOr<Kernel> MakeIndexAdd(const NodeContext& c) {
  const int64_t dim = c.Int("dim");
  const at::Scalar alpha = c.Scalar("alpha", 1);
  return Kernel([=](const Call& call) { call.outputs[0] = at::index_add(call[0], dim, call[1], call[2], alpha); });
}

absl::StatusOr<Kernel> MakeIndexFill(const NodeContext& c) {
  const int64_t dim = c.Int("dim");
  if (c.has(2))
    return Kernel([=](const Call& call) { call.outputs[0] = at::index_fill(call[0], dim, call[1], call[2]); });
  const at::Scalar value = c.Scalar("value", 0);
  return Kernel([=](const Call& call) { call.outputs[0] = at::index_fill(call[0], dim, call[1], value); });
}

absl::StatusOr<Kernel> MakeBucketize(const NodeContext& c) {
  const bool int32 = c.Bool("out_int32"), right = c.Bool("right");
  return Kernel([=](const Call& call) { call.outputs[0] = at::bucketize(call[0], call[1], int32, right); });
}

}  // namespace

void AddIndexKernels(KernelTable* table) {
  KernelTable& t = *table;
  t[Op::embedding] = MakeEmbedding;
  t[Op::one_hot] = MakeOneHot;
  t[Op::gather] = Indexed([](const at::Tensor& x, int64_t d, const at::Tensor& i) { return at::gather(x, d, i); });
  t[Op::take_along_dim] =
      Indexed([](const at::Tensor& x, int64_t d, const at::Tensor& i) { return at::take_along_dim(x, i, d); });
  t[Op::index_select] =
      Indexed([](const at::Tensor& x, int64_t d, const at::Tensor& i) { return at::index_select(x, d, i); });
  t[Op::scatter] = MakeScatter;
  t[Op::scatter_add] = MakeScatterAdd;
  t[Op::index_add] = MakeIndexAdd;
  t[Op::index_fill] = MakeIndexFill;
  t[Op::bucketize] = MakeBucketize;
}

}  // namespace cobra
