#include "ATen/ops/adjoint.h"
#include "ATen/ops/as_strided.h"
#include "ATen/ops/broadcast_tensors.h"
#include "ATen/ops/chunk.h"
#include "ATen/ops/detach.h"
#include "ATen/ops/diagonal.h"
#include "ATen/ops/flatten.h"
#include "ATen/ops/imag.h"
#include "ATen/ops/meshgrid.h"
#include "ATen/ops/movedim.h"
#include "ATen/ops/narrow.h"
#include "ATen/ops/permute.h"
#include "ATen/ops/ravel.h"
#include "ATen/ops/real.h"
#include "ATen/ops/reshape.h"
#include "ATen/ops/select.h"
#include "ATen/ops/split.h"
#include "ATen/ops/split_with_sizes.h"
#include "ATen/ops/squeeze.h"
#include "ATen/ops/t.h"
#include "ATen/ops/tensor_split.h"
#include "ATen/ops/transpose.h"
#include "ATen/ops/unbind.h"
#include "ATen/ops/unsqueeze.h"
#include "ATen/ops/view_as_complex.h"
#include "ATen/ops/view_as_real.h"
#include "worker/execute/executor_kernels.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;

// Uses the output shape that the graph inferred (-1 and `other` are resolved there).
template <typename F>
KernelFactory ToOutputShape(F f) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const Ints shape(c.node.outputs[0].shape.begin(), c.node.outputs[0].shape.end());
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], shape); });
  };
}

absl::StatusOr<Kernel> MakeView(const NodeContext& c) {
  if (const auto dtype = c.DType("dtype")) {
    return Kernel([=](const Call& call) { call.outputs[0] = call[0].view(*dtype); });
  }
  return ToOutputShape([](const at::Tensor& x, const Ints& shape) { return x.view(shape); })(c);
}

absl::StatusOr<Kernel> MakeFlatten(const NodeContext& c) {
  const int64_t start = c.Int("start_dim"), end = c.Int("end_dim", -1);
  return Kernel([=](const Call& call) { call.outputs[0] = at::flatten(call[0], start, end); });
}

absl::StatusOr<Kernel> MakeTranspose(const NodeContext& c) {
  const int64_t a = c.Int("dim0"), b = c.Int("dim1");
  return Kernel([=](const Call& call) { call.outputs[0] = at::transpose(call[0], a, b); });
}

absl::StatusOr<Kernel> MakeMovedim(const NodeContext& c) {
  const Ints source = c.Ints("source"), destination = c.Ints("destination");
  return Kernel([=](const Call& call) { call.outputs[0] = at::movedim(call[0], source, destination); });
}

absl::StatusOr<Kernel> MakeSelect(const NodeContext& c) {
  const int64_t dim = c.Int("dim"), index = c.Int("index");
  return Kernel([=](const Call& call) { call.outputs[0] = at::select(call[0], dim, index); });
}

absl::StatusOr<Kernel> MakeNarrow(const NodeContext& c) {
  const int64_t dim = c.Int("dim"), start = c.Int("start"), length = c.Int("length");
  return Kernel([=](const Call& call) { call.outputs[0] = at::narrow(call[0], dim, start, length); });
}

absl::StatusOr<Kernel> MakeDiagonal(const NodeContext& c) {
  const int64_t offset = c.Int("offset"), a = c.Int("dim1"), b = c.Int("dim2", 1);
  return Kernel([=](const Call& call) { call.outputs[0] = at::diagonal(call[0], offset, a, b); });
}

absl::StatusOr<Kernel> MakeTensorUnfold(const NodeContext& c) {
  const int64_t dim = c.Int("dimension"), size = c.Int("size"), step = c.Int("step", 1);
  return Kernel([=](const Call& call) { call.outputs[0] = call[0].unfold(dim, size, step); });
}

absl::StatusOr<Kernel> MakeAsStrided(const NodeContext& c) {
  const Ints size = c.Ints("size"), stride = c.Ints("stride");
  const auto offset = c.OptionalInt("storage_offset");
  return Kernel([=](const Call& call) { call.outputs[0] = at::as_strided(call[0], size, stride, offset); });
}

// Several outputs, in the order that PyTorch returns them.
template <typename F>
Kernel Several(F f) {
  return [f](const Call& call) {
    std::vector<at::Tensor> parts = f(call);
    for (size_t i = 0; i < parts.size(); ++i) call.outputs[i] = std::move(parts[i]);
  };
}

absl::StatusOr<Kernel> MakeSplit(const NodeContext& c) {
  const int64_t dim = c.Int("dim");
  const graph::AttributeValue* size = c.node.attributes.Find("split_size");
  if (size != nullptr && std::holds_alternative<int64_t>(*size)) {
    const int64_t each = std::get<int64_t>(*size);
    return Several([=](const Call& call) { return at::split(call[0], each, dim); });
  }
  const Ints sizes = c.Ints("split_size");
  return Several([=](const Call& call) { return at::split_with_sizes(call[0], sizes, dim); });
}

absl::StatusOr<Kernel> MakeTensorSplit(const NodeContext& c) {
  const bool line = c.inputs[0]->rank() == 1;
  const int64_t dim = c.node.op == graph::Op::hsplit   ? (line ? 0 : 1)
                      : c.node.op == graph::Op::dsplit ? 2
                                                       : c.Int("dim");
  if (c.HasValue("indices")) {
    const Ints indices = c.Ints("indices");
    return Several([=](const Call& call) { return at::tensor_split(call[0], indices, dim); });
  }
  const int64_t sections = c.Int("sections");
  return Several([=](const Call& call) { return at::tensor_split(call[0], sections, dim); });
}

absl::StatusOr<Kernel> MakeChunk(const NodeContext& c) {
  const int64_t chunks = c.Int("chunks"), dim = c.Int("dim");
  return Several([=](const Call& call) { return at::chunk(call[0], chunks, dim); });
}

absl::StatusOr<Kernel> MakeUnbind(const NodeContext& c) {
  const int64_t dim = c.Int("dim");
  return Several([=](const Call& call) { return at::unbind(call[0], dim); });
}

absl::StatusOr<Kernel> MakeMeshgrid(const NodeContext& c) {
  const std::string indexing = c.String("indexing", "ij");
  return Several([=](const Call& call) { return at::meshgrid(call.From(0), c10::string_view(indexing)); });
}

absl::StatusOr<Kernel> MakeBroadcastTensors(const NodeContext& c) {
  return Several([](const Call& call) { return at::broadcast_tensors(call.From(0)); });
}

absl::StatusOr<Kernel> MakeUnsqueeze(const NodeContext& c) {
  const int64_t dim = c.Int("dim");
  return Kernel([=](const Call& call) { call.outputs[0] = at::unsqueeze(call[0], dim); });
}

absl::StatusOr<Kernel> MakeSqueeze(const NodeContext& c) {
  if (!c.HasValue("dim")) return Kernel([](const Call& call) { call.outputs[0] = at::squeeze(call[0]); });
  const Ints dims = c.Ints("dim");
  if (dims.size() > 1) {  // a tuple of dimensions needs a newer LibTorch; it is the same view
    return ToOutputShape([](const at::Tensor& x, const Ints& shape) { return x.view(shape); })(c);
  }
  const int64_t dim = dims.empty() ? c.Int("dim") : dims[0];
  return Kernel([=](const Call& call) { call.outputs[0] = at::squeeze(call[0], dim); });
}

// Not a call of PyTorch: after an in-place change of a view of `base`, `base` is read again.
absl::StatusOr<Kernel> MakeAsBase(const NodeContext& c) {
  return Kernel([](const Call& call) { call.outputs[0] = call[1]; });
}

at::Tensor Contiguous(const at::Tensor& x) { return x.contiguous(); }
at::Tensor Same(const at::Tensor& x) { return x; }
at::Tensor T(const at::Tensor& x) { return x.numpy_T(); }
at::Tensor MT(const at::Tensor& x) { return x.mT(); }
at::Tensor H(const at::Tensor& x) { return x.matrix_H(); }
at::Tensor MH(const at::Tensor& x) { return x.mH(); }

}  // namespace

void AddViewKernels(KernelTable* table) {
  KernelTable& t = *table;
  t[graph::Op::view] = MakeView;
  t[graph::Op::view_as] = ToOutputShape([](const at::Tensor& x, const Ints& shape) { return x.view(shape); });
  t[graph::Op::reshape] = ToOutputShape([](const at::Tensor& x, const Ints& shape) { return at::reshape(x, shape); });
  t[graph::Op::reshape_as] = t[graph::Op::reshape];
  t[graph::Op::unflatten] = t[graph::Op::reshape];
  t[graph::Op::expand] = ToOutputShape([](const at::Tensor& x, const Ints& shape) { return x.expand(shape); });
  t[graph::Op::expand_as] = t[graph::Op::expand];
  t[graph::Op::broadcast_to] = t[graph::Op::expand];
  t[graph::Op::flatten] = MakeFlatten;
  t.Unary(graph::Op::ravel, at::ravel);
  t[graph::Op::permute] = WithInts("dims", [](const at::Tensor& x, const Ints& dims) { return at::permute(x, dims); });
  t[graph::Op::transpose] = MakeTranspose;
  t.Unary(graph::Op::t, at::t);
  t.Unary(graph::Op::T, T);
  t.Unary(graph::Op::mT, MT);
  t.Unary(graph::Op::H, H);
  t.Unary(graph::Op::mH, MH);
  t.Unary(graph::Op::adjoint, at::adjoint);
  t[graph::Op::movedim] = MakeMovedim;
  t[graph::Op::select] = MakeSelect;
  t[graph::Op::narrow] = MakeNarrow;
  t[graph::Op::diagonal] = MakeDiagonal;
  t[graph::Op::tensor_unfold] = MakeTensorUnfold;
  t[graph::Op::as_strided] = MakeAsStrided;
  t[graph::Op::split] = MakeSplit;
  t[graph::Op::tensor_split] = MakeTensorSplit;
  t[graph::Op::hsplit] = t[graph::Op::vsplit] = t[graph::Op::dsplit] = MakeTensorSplit;
  t[graph::Op::split_with_sizes] = MakeSplit;
  t[graph::Op::chunk] = MakeChunk;
  t[graph::Op::unbind] = MakeUnbind;
  t[graph::Op::meshgrid] = MakeMeshgrid;
  t[graph::Op::broadcast_tensors] = MakeBroadcastTensors;
  t[graph::Op::as_base] = MakeAsBase;
  t[graph::Op::squeeze] = MakeSqueeze;
  t[graph::Op::unsqueeze] = MakeUnsqueeze;
  t.Unary(graph::Op::contiguous, Contiguous);
  t.Unary(graph::Op::detach, at::detach);
  t.Unary(graph::Op::data, Same);
  t.Unary(graph::Op::alias, Same);
  t.Unary(graph::Op::real, at::real);
  t.Unary(graph::Op::imag, at::imag);
  t.Unary(graph::Op::view_as_real, at::view_as_real);
  t.Unary(graph::Op::view_as_complex, at::view_as_complex);
}

}  // namespace cobra::worker
