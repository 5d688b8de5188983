#include "ATen/ops/_pack_padded_sequence.h"
#include "ATen/ops/_pad_packed_sequence.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/clone.h"
#include "ATen/ops/diag.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/empty_like.h"
#include "ATen/ops/flip.h"
#include "ATen/ops/hstack.h"
#include "ATen/ops/pad.h"
#include "ATen/ops/pad_sequence.h"
#include "ATen/ops/repeat_interleave.h"
#include "ATen/ops/roll.h"
#include "ATen/ops/rot90.h"
#include "ATen/ops/stack.h"
#include "ATen/ops/tensor.h"
#include "ATen/ops/tile.h"
#include "ATen/ops/tril.h"
#include "ATen/ops/triu.h"
#include "ATen/ops/vstack.h"
#include "worker/execute/executor_kernels.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;

template <typename F>
KernelFactory Joined(F f) {
  return [f](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const int64_t dim = c.Int("dim");
    return Kernel([=](const Call& call) { call.outputs[0] = f(call.From(0), dim); });
  };
}

absl::StatusOr<Kernel> MakePadSequence(const NodeContext& c) {
  const bool batch_first = c.Bool("batch_first");
  const double value = c.Double("padding_value");
  return Kernel([=](const Call& call) { call.outputs[0] = at::pad_sequence(call.From(0), batch_first, value); });
}

// The lengths come from the attribute: sequence i is in all steps that have more than i sequences.
absl::StatusOr<Kernel> MakePackPaddedSequence(const NodeContext& c) {
  const bool batch_first = c.Bool("batch_first");
  const Ints sizes = c.Ints("batch_sizes");
  Ints lengths(static_cast<size_t>(sizes.empty() ? 0 : sizes[0]), 0);
  for (int64_t size : sizes) {
    for (int64_t i = 0; i < size; ++i) ++lengths[static_cast<size_t>(i)];
  }
  const at::Tensor given = at::tensor(lengths, at::kLong);
  return Kernel([=](const Call& call) {
    std::tie(call.outputs[0], call.outputs[1]) = at::_pack_padded_sequence(call[0], given, batch_first);
  });
}

absl::StatusOr<Kernel> MakePadPackedSequence(const NodeContext& c) {
  const bool batch_first = c.Bool("batch_first");
  const Ints sizes = c.Ints("batch_sizes");
  const at::Tensor steps = at::tensor(sizes, at::kLong);
  const double value = c.Double("padding_value");
  const int64_t total = c.Int("total_length", static_cast<int64_t>(sizes.size()));
  return Kernel([=](const Call& call) {
    std::tie(call.outputs[0], call.outputs[1]) = at::_pad_packed_sequence(call[0], steps, batch_first, value, total);
  });
}

// x.new(size): uninitialized memory of the type of x.
absl::StatusOr<Kernel> MakeNew(const NodeContext& c) {
  const Ints size = c.Ints("size");
  return Kernel([=](const Call& call) { call.outputs[0] = at::empty(size, call[0].options()); });
}

template <typename F, typename InPlace>
KernelFactory Diagonal(F f, InPlace in_place) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const int64_t diagonal = c.Int("diagonal");
    if (c.inplace()) return Kernel([=](const Call& call) { call.outputs[0] = in_place(call.Mutable(0), diagonal); });
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], diagonal); });
  };
}

absl::StatusOr<Kernel> MakePad(const NodeContext& c) {
  const Ints pad = c.Ints("pad");
  const std::string mode = c.String("mode", "constant");
  const auto value = c.OptionalDouble("value");
  return Kernel([=](const Call& call) { call.outputs[0] = at::pad(call[0], pad, c10::string_view(mode), value); });
}

absl::StatusOr<Kernel> MakeRoll(const NodeContext& c) {
  const Ints shifts = c.Ints("shifts"), dims = c.Ints("dims");
  return Kernel([=](const Call& call) { call.outputs[0] = at::roll(call[0], shifts, dims); });
}

absl::StatusOr<Kernel> MakeRot90(const NodeContext& c) {
  const int64_t k = c.Int("k", 1);
  const Ints dims = c.HasValue("dims") ? c.Ints("dims") : Ints{0, 1};
  return Kernel([=](const Call& call) { call.outputs[0] = at::rot90(call[0], k, dims); });
}

absl::StatusOr<Kernel> MakeRepeatInterleave(const NodeContext& c) {
  if (c.has(1)) return BoxedKernel()(c);
  const int64_t repeats = c.Int("repeats", 1);
  const auto dim = c.OptionalInt("dim"), size = c.OptionalInt("output_size");
  return Kernel([=](const Call& call) { call.outputs[0] = at::repeat_interleave(call[0], repeats, dim, size); });
}

absl::StatusOr<Kernel> MakeClone(const NodeContext& c) {
  return Kernel([](const Call& call) { call.outputs[0] = at::clone(call[0]); });
}

absl::StatusOr<Kernel> MakeCopy(const NodeContext& c) {
  return Kernel([](const Call& call) { call.outputs[0] = call.Mutable(0).copy_(call[1]); });
}

absl::StatusOr<Kernel> MakeFill(const NodeContext& c) {
  if (c.has(1)) return Kernel([](const Call& call) { call.outputs[0] = call.Mutable(0).fill_(call[1]); });
  const at::Scalar value = c.Scalar("value", 0);
  return Kernel([=](const Call& call) { call.outputs[0] = call.Mutable(0).fill_(value); });
}

absl::StatusOr<Kernel> MakeZero(const NodeContext& c) {
  return Kernel([](const Call& call) { call.outputs[0] = call.Mutable(0).zero_(); });
}

template <typename F>
KernelFactory RandomFill(const char* a, double a_fallback, const char* b, double b_fallback, F f) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const double x = c.Double(a, a_fallback), y = c.Double(b, b_fallback);
    if (c.has(1) || (!c.inplace() && c.node.op != graph::Op::uniform)) return BoxedKernel()(c);
    if (c.inplace()) return Kernel([=](const Call& call) { call.outputs[0] = f(call.Mutable(0), x, y); });
    return Kernel([=](const Call& call) {
      at::Tensor copy = at::empty_like(call[0]);
      call.outputs[0] = f(copy, x, y);
    });
  };
}

// Casts to the output type of the graph; a tensor that already has it is returned as it is.
absl::StatusOr<Kernel> MakeCast(const NodeContext& c) {
  const at::ScalarType type = ToScalarType(c.node.outputs[0].dtype);
  return Kernel([=](const Call& call) { call.outputs[0] = call[0].to(type); });
}

// Quantized values, which mean (value - zero_point) * scale, as plain integer tensors: LibTorch's
// own quantized types have kernels for few calls only.
absl::StatusOr<Kernel> MakeQuantize(const NodeContext& c) {
  const double scale = c.Double("scale", 1), zero_point = c.Double("zero_point", 0);
  const at::ScalarType type = ToScalarType(c.node.outputs[0].dtype);
  const auto [low, high] = type == at::kByte   ? std::pair(0, 255)
                           : type == at::kChar ? std::pair(-128, 127)
                                               : std::pair(-32768, 32767);
  return Kernel([=, low = low, high = high](const Call& call) {
    call.outputs[0] = call[0].div(scale).round_().add_(zero_point).clamp_(low, high).to(type);
  });
}

absl::StatusOr<Kernel> MakeDequantize(const NodeContext& c) {
  const double scale = c.Double("scale", 1), zero_point = c.Double("zero_point", 0);
  return Kernel([=](const Call& call) { call.outputs[0] = call[0].to(at::kFloat).sub_(zero_point).mul_(scale); });
}

}  // namespace

void AddCopyKernels(KernelTable* table) {
  KernelTable& t = *table;
  using Tensors = std::vector<at::Tensor>;
  t[graph::Op::cat] = Joined([](const Tensors& list, int64_t dim) { return at::cat(list, dim); });
  t[graph::Op::stack] = Joined([](const Tensors& list, int64_t dim) { return at::stack(list, dim); });
  t[graph::Op::hstack] = Joined([](const Tensors& list, int64_t) { return at::hstack(list); });
  t[graph::Op::vstack] = Joined([](const Tensors& list, int64_t) { return at::vstack(list); });
  t[graph::Op::pad] = MakePad;
  t[graph::Op::pad_sequence] = MakePadSequence;
  t[graph::Op::_pack_padded_sequence] = MakePackPaddedSequence;
  t[graph::Op::_pad_packed_sequence] = MakePadPackedSequence;
  t[graph::Op::new_] = MakeNew;
  t[graph::Op::roll] = MakeRoll;
  t[graph::Op::rot90] = MakeRot90;
  t[graph::Op::flip] = WithInts("dims", [](const at::Tensor& x, const Ints& v) { return at::flip(x, v); });
  t[graph::Op::repeat] = WithInts("repeats", [](const at::Tensor& x, const Ints& v) { return x.repeat(v); });
  t[graph::Op::tile] = WithInts("dims", [](const at::Tensor& x, const Ints& v) { return at::tile(x, v); });
  t[graph::Op::repeat_interleave] = MakeRepeatInterleave;
  t[graph::Op::triu] = Diagonal([](const at::Tensor& x, int64_t d) { return at::triu(x, d); },
                                [](at::Tensor& x, int64_t d) -> at::Tensor { return x.triu_(d); });
  t[graph::Op::tril] = Diagonal([](const at::Tensor& x, int64_t d) { return at::tril(x, d); },
                                [](at::Tensor& x, int64_t d) -> at::Tensor { return x.tril_(d); });
  t[graph::Op::diag] = Diagonal([](const at::Tensor& x, int64_t d) { return at::diag(x, d); },
                                [](at::Tensor& x, int64_t d) -> at::Tensor { return at::diag(x, d); });
  t[graph::Op::quantize_per_tensor] = MakeQuantize;
  t[graph::Op::dequantize] = MakeDequantize;
  t[graph::Op::clone] = MakeClone;
  t[graph::Op::copy] = MakeCopy;
  t[graph::Op::fill] = MakeFill;
  t[graph::Op::zero] = MakeZero;
  t[graph::Op::normal] = RandomFill(
      "mean", 0, "std", 1, [](at::Tensor& x, double mean, double std) -> at::Tensor { return x.normal_(mean, std); });
  t[graph::Op::uniform] = RandomFill(
      "from", 0, "to", 1, [](at::Tensor& x, double from, double to) -> at::Tensor { return x.uniform_(from, to); });
  t[graph::Op::bernoulli] =
      RandomFill("p", 0.5, "", 0, [](at::Tensor& x, double p, double) -> at::Tensor { return x.bernoulli_(p); });
  for (graph::Op op : {graph::Op::to, graph::Op::type, graph::Op::type_as, graph::Op::float_, graph::Op::half,
                       graph::Op::bfloat16, graph::Op::double_, graph::Op::long_, graph::Op::int_, graph::Op::bool_,
                       graph::Op::byte, graph::Op::char_, graph::Op::short_, graph::Op::cfloat, graph::Op::cdouble}) {
    t[op] = MakeCast;
  }
}

}  // namespace cobra::worker
