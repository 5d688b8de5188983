#include "ATen/TensorIndexing.h"
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
#include "ATen/ops/zeros.h"
#include "base/status_macros.h"
#include "graph/getitem.h"
#include "worker/execute/executor_kernels.h"

namespace cobra::worker {
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
  if (c.HasValue("reduce") || c.inplace()) return BoxedKernel()(c);
  if (c.has(2)) return Kernel([=](const Call& call) { call.outputs[0] = at::scatter(call[0], dim, call[1], call[2]); });
  const at::Scalar value = c.Scalar("value", 0);
  return Kernel([=](const Call& call) { call.outputs[0] = at::scatter(call[0], dim, call[1], value); });
}

absl::StatusOr<Kernel> MakeScatterAdd(const NodeContext& c) {
  if (c.inplace()) return BoxedKernel()(c);
  const int64_t dim = c.Int("dim");
  return Kernel([=](const Call& call) { call.outputs[0] = at::scatter_add(call[0], dim, call[1], call[2]); });
}

absl::StatusOr<Kernel> MakeIndexAdd(const NodeContext& c) {
  if (c.inplace()) return BoxedKernel()(c);
  const int64_t dim = c.Int("dim");
  const at::Scalar alpha = c.Scalar("alpha", 1);
  return Kernel([=](const Call& call) { call.outputs[0] = at::index_add(call[0], dim, call[1], call[2], alpha); });
}

absl::StatusOr<Kernel> MakeIndexFill(const NodeContext& c) {
  if (c.inplace()) return BoxedKernel()(c);
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

// An index as in the source code, with its tensors: T0 is operand 1 of the node.
using TorchIndex = std::vector<at::indexing::TensorIndex>;

absl::StatusOr<graph::IndexList> IndexOf(const NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(graph::IndexList list, graph::ParseIndex(c.String("index")));
  return list;
}

TorchIndex Bind(const graph::IndexList& list, const Call& call) {
  using at::indexing::Slice;
  TorchIndex index;
  for (const graph::IndexItem& item : list) {
    const auto bound = [](const std::optional<int64_t>& v) { return v ? c10::optional<int64_t>(*v) : c10::nullopt; };
    switch (item.kind) {
      case graph::IndexItem::Kind::kInt: index.emplace_back(item.value); break;
      case graph::IndexItem::Kind::kSlice:
        index.emplace_back(Slice(bound(item.start), bound(item.stop), bound(item.step)));
        break;
      case graph::IndexItem::Kind::kEllipsis: index.emplace_back(at::indexing::Ellipsis); break;
      case graph::IndexItem::Kind::kNone: index.emplace_back(at::indexing::None); break;
      case graph::IndexItem::Kind::kBool: index.emplace_back(item.value != 0); break;
      // The graph keeps a list's shape, not its numbers: all valid numbers cost the same.
      case graph::IndexItem::Kind::kList:
        index.emplace_back(at::zeros(at::IntArrayRef(item.list_shape.data(), item.list_shape.size()), at::kLong));
        break;
      case graph::IndexItem::Kind::kTensor: index.emplace_back(call[1 + item.value]); break;
    }
  }
  return index;
}

bool NeedsTensors(const graph::IndexList& list) {
  for (const graph::IndexItem& item : list) {
    if (item.kind == graph::IndexItem::Kind::kTensor) return true;
  }
  return false;
}

absl::StatusOr<Kernel> MakeGetItem(const NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const graph::IndexList list, IndexOf(c));
  if (NeedsTensors(list)) return Kernel([=](const Call& call) { call.outputs[0] = call[0].index(Bind(list, call)); });
  const TorchIndex index = Bind(list, Call());
  return Kernel([=](const Call& call) { call.outputs[0] = call[0].index(index); });
}

// The tensor that was written to is the node's output; the value is the operand after the index's
// tensors, or a number.
absl::StatusOr<Kernel> MakeSetItem(const NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const graph::IndexList list, IndexOf(c));
  size_t value_operand = 1;
  for (const graph::IndexItem& item : list) value_operand += item.kind == graph::IndexItem::Kind::kTensor;
  const at::Scalar number = c.Scalar("value", 0);
  const bool has_tensor = c.has(value_operand);
  return Kernel([=](const Call& call) {
    at::Tensor target = call[0];
    if (has_tensor) {
      target.index_put_(Bind(list, call), call[value_operand]);
    } else {
      target.index_put_(Bind(list, call), number);
    }
    call.outputs[0] = target;
  });
}

}  // namespace

void AddIndexKernels(KernelTable* table) {
  KernelTable& t = *table;
  t[graph::Op::embedding] = MakeEmbedding;
  t[graph::Op::one_hot] = MakeOneHot;
  t[graph::Op::gather] =
      Indexed([](const at::Tensor& x, int64_t d, const at::Tensor& i) { return at::gather(x, d, i); });
  t[graph::Op::take_along_dim] =
      Indexed([](const at::Tensor& x, int64_t d, const at::Tensor& i) { return at::take_along_dim(x, i, d); });
  t[graph::Op::index_select] =
      Indexed([](const at::Tensor& x, int64_t d, const at::Tensor& i) { return at::index_select(x, d, i); });
  t[graph::Op::scatter] = MakeScatter;
  t[graph::Op::scatter_add] = MakeScatterAdd;
  t[graph::Op::index_add] = MakeIndexAdd;
  t[graph::Op::index_fill] = MakeIndexFill;
  t[graph::Op::bucketize] = MakeBucketize;
  t[graph::Op::getitem] = MakeGetItem;
  t[graph::Op::setitem] = MakeSetItem;
}

}  // namespace cobra::worker
