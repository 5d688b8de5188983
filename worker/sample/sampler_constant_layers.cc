// Calls that programs run on buffers, plain tensors and tensors that they have just made: weights
// unpacked from int8 and int4, masks, positions, random draws. Eager PyTorch runs them in every
// call of the network; layers of image networks have hardly any. Most calls take inputs here, so
// that no runtime can fold them; those that make a tensor of none say something of a runtime that
// runs them only (graph/constants/constant_calls.h).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder/net_builder.h"
#include "worker/sample/layer_kinds.h"
#include "worker/sample/random.h"

namespace cobra::worker {
namespace {

using graph::Attributes;
using graph::DType;
using graph::NetBuilder;
using graph::Op;
using graph::Shape;
using graph::ValueRef;
using Ints = std::vector<int64_t>;

std::string Name(DType dtype) { return std::string(graph::DTypeName(dtype)); }

// Of a matrix of weights, as often as of something small.
int64_t Elements(Random* r) { return r->Chance(0.5) ? r->LogBetween(1 << 18, 1 << 24) : r->LogBetween(16, 1 << 20); }
int64_t Side(Random* r) { return r->Chance(0.5) ? r->LogBetween(1, 32) * 128 : r->LogBetween(4, 4096); }
// [out, in] of a linear layer's weight, as it is or in groups; [batch, channels, height, width];
// anything.
Shape AnyShape(Random* r) {
  switch (r->Between(0, 3)) {
    case 0: return {Side(r), Side(r)};
    case 1: {
      const int64_t group = r->Pick<int64_t>({32, 64, 128, 128, 256});
      return {Side(r), std::max<int64_t>(1, Side(r) / group), group};
    }
    case 2: {
      const int64_t size = r->LogBetween(4, 256);
      return {r->Pick<int64_t>({1, 1, 2, 8}), r->LogBetween(1, 256), size, size};
    }
    default: return {Elements(r)};
  }
}
DType Packed(Random* r) { return r->Pick<DType>({DType::int8, DType::int8, DType::uint8, DType::int32}); }
DType AnyDType(Random* r) {
  return r->Pick<DType>({DType::int8, DType::uint8, DType::int16, DType::int32, DType::int64, DType::bool_,
                         DType::float16, DType::bfloat16, DType::float64});
}
DType Number(Random* r) { return r->Pick<DType>({DType::float32, DType::float32, DType::int64, DType::int32}); }

ValueRef To(Random* r, NetBuilder* b) {
  const DType from = r->Chance(0.8) ? AnyDType(r) : DType::float32;
  const DType to = from == DType::float32 || r->Chance(0.2) ? AnyDType(r) : DType::float32;
  return b->Call(Op::to, {{"dtype", Name(to)}}, {b->Input(AnyShape(r), from)});
}

// Two or eight numbers of each element: packed[..., None] >> [0, 4, ...].
ValueRef Shift(Random* r, NetBuilder* b) {
  const DType dtype = Packed(r);
  if (r->Chance(0.4)) return b->Call(Op::bitwise_right_shift, {{"other", int64_t{4}}}, {b->Input(AnyShape(r), dtype)});
  const int64_t numbers = dtype == DType::int32 ? 8 : 2, rows = Side(r),
                columns = std::max<int64_t>(1, Side(r) / numbers);
  const bool is_last = r->Chance(0.6);
  return b->Call(Op::bitwise_right_shift, {},
                 {b->Input(is_last ? Shape{rows, columns, 1} : Shape{rows, 1, columns}, dtype),
                  b->Input(is_last ? Shape{1, 1, numbers} : Shape{1, numbers, 1}, dtype)});
}
ValueRef Mask(Random* r, NetBuilder* b) {
  return b->Call(Op::bitwise_and, {{"other", int64_t{15}}}, {b->Input(AnyShape(r), Packed(r))});
}
ValueRef Bits(Random* r, NetBuilder* b) {
  const Op op = r->Pick<Op>({Op::bitwise_and, Op::bitwise_or, Op::bitwise_xor, Op::bitwise_left_shift});
  const Shape shape = AnyShape(r);
  const DType dtype = Packed(r);
  return b->Call(op, {}, {b->Input(shape, dtype), b->Input(shape, dtype)});
}

// A number of each group or row, of weights that were unpacked.
ValueRef Scale(Random* r, NetBuilder* b) {
  const Op op = r->Pick<Op>({Op::sub, Op::mul, Op::mul, Op::add});
  const Shape weight = AnyShape(r);
  Shape scale = weight;
  scale.back() = 1;
  if (r->Chance(0.2)) scale = {weight.back()};
  const DType dtype = r->Chance(0.6) ? DType::float32 : Packed(r);
  return b->Call(op, {}, {b->Input(weight, dtype), b->Input(scale)});
}
ValueRef Integers(Random* r, NetBuilder* b) {
  const Op op = r->Pick<Op>({Op::add, Op::sub, Op::mul, Op::floor_divide, Op::remainder});
  const Shape shape = AnyShape(r);
  const DType dtype = r->Chance(0.6) ? DType::int64 : DType::int32;
  if (r->Chance(0.7)) return b->Call(op, {{"other", r->Between(2, 64)}}, {b->Input(shape, dtype)});
  return b->Call(op, {}, {b->Input(shape, dtype), b->Input(shape, dtype)});
}

ValueRef Compare(Random* r, NetBuilder* b) {
  const Op op = r->Pick<Op>({Op::eq, Op::ne, Op::lt, Op::ge});
  const DType dtype = Number(r);
  if (r->Chance(0.6)) return b->Call(op, {{"other", int64_t{0}}}, {b->Input(AnyShape(r), dtype)});
  const int64_t rows = Side(r), columns = r->Chance(0.5) ? rows : Side(r);
  return b->Call(op, {}, {b->Input({rows, 1}, dtype), b->Input({1, columns}, dtype)});
}
// Differences of positions: [windows, 1, n] and [windows, n, 1].
ValueRef Differences(Random* r, NetBuilder* b) {
  const int64_t windows = r->LogBetween(1, 2048), n = r->Pick<int64_t>({16, 49, 64, 100, 144, 256});
  const DType dtype = Number(r);
  return b->Call(Op::sub, {}, {b->Input({windows, 1, n}, dtype), b->Input({windows, n, 1}, dtype)});
}
ValueRef MaskedFill(Random* r, NetBuilder* b) {
  const Shape shape = AnyShape(r);
  const ValueRef x = b->Input(shape), mask = b->Input(r->Chance(0.8) ? shape : Shape{shape.back()}, DType::bool_);
  const Attributes value = {{"value", -100.0}};
  return r->Chance(0.8) ? b->Call(Op::masked_fill, value, {x, mask})
                        : b->CallInPlace(Op::masked_fill, value, {x, mask});
}
ValueRef Where(Random* r, NetBuilder* b) {
  const Shape shape = AnyShape(r);
  const ValueRef mask = b->Input(shape, DType::bool_);
  if (r->Chance(0.5))
    return b->Call(Op::where, {{"input", 0.0}, {"other", -100.0}}, {mask, ValueRef::None(), ValueRef::None()});
  return b->Call(Op::where, {}, {mask, b->Input(shape), b->Input(shape)});
}
ValueRef Triangle(Random* r, NetBuilder* b) {
  const int64_t side = Side(r);
  const Shape shape = r->Chance(0.8) ? Shape{side, side} : Shape{r->LogBetween(1, 16), side, side};
  return b->Call(r->Chance(0.5) ? Op::triu : Op::tril, {{"diagonal", r->Between(0, 1)}},
                 {b->Input(shape, r->Chance(0.8) ? DType::float32 : DType::bool_)});
}
// A window of a mask is set to a number.
ValueRef SetItem(Random* r, NetBuilder* b) {
  const int64_t side = r->LogBetween(7, 512), last = r->Pick<int64_t>({1, 1, 8, 64});
  const int64_t row = r->Between(0, side - 1), column = r->Between(0, side - 1);
  const std::string rows = std::to_string(row) + ":" + std::to_string(r->Between(row + 1, side));
  const std::string columns = std::to_string(column) + ":" + std::to_string(r->Between(column + 1, side));
  return b->CallInPlace(Op::setitem, {{"index", ":, " + rows + ", " + columns + ", :"}, {"value", int64_t{1}}},
                        {b->Input({1, side, side, last})});
}

ValueRef Function(Random* r, NetBuilder* b) {
  const Op op = r->Pick<Op>({Op::sin, Op::cos, Op::exp, Op::reciprocal, Op::neg, Op::abs, Op::sqrt});
  return b->Call(op, {}, {b->Input(AnyShape(r))});
}
ValueRef Power(Random* r, NetBuilder* b) {
  if (r->Chance(0.5)) return b->Call(Op::pow, {{"exponent", int64_t{2}}}, {b->Input(AnyShape(r))});
  return b->Call(Op::pow, {{"input", 10000.0}}, {ValueRef::None(), b->Input({Elements(r)})});
}
// Angles of positions: [positions, 1] times [1, width].
ValueRef Angles(Random* r, NetBuilder* b) {
  return b->Call(Op::mul, {}, {b->Input({r->LogBetween(1, 16384), 1}), b->Input({1, r->LogBetween(2, 512) * 2})});
}
ValueRef Cumsum(Random* r, NetBuilder* b) {
  const Shape shape = {r->LogBetween(1, 64), r->LogBetween(16, 16384)};
  return b->Call(Op::cumsum, {{"dim", int64_t{-1}}}, {b->Input(shape, r->Chance(0.6) ? DType::int64 : DType::float32)});
}
ValueRef Copy(Random* r, NetBuilder* b) {
  const ValueRef x = b->Input(AnyShape(r), r->Chance(0.5) ? DType::float32 : Packed(r));
  return b->Call(Op::clone, {}, {x});
}
ValueRef Refill(Random* r, NetBuilder* b) {
  const ValueRef x = b->Input(AnyShape(r), r->Chance(0.7) ? DType::float32 : Packed(r));
  return r->Chance(0.5) ? b->CallInPlace(Op::fill, {{"value", 1.0}}, {x}) : b->CallInPlace(Op::zero, {}, {x});
}

// ---- tensors of none ----
Ints SizeOf(const Shape& shape) { return {shape.begin(), shape.end()}; }

ValueRef Filled(Random* r, NetBuilder* b) {
  const Attributes made = {{"size", SizeOf(AnyShape(r))},
                           {"dtype", Name(r->Chance(0.7) ? DType::float32 : AnyDType(r))}};
  if (r->Chance(0.4)) return b->Call(r->Chance(0.6) ? Op::zeros : Op::ones, made, {});
  Attributes filled = made;
  filled.Set("fill_value", int64_t{1});
  return b->Call(Op::full, filled, {});
}
ValueRef Range(Random* r, NetBuilder* b) {
  const Ints size = {r->LogBetween(1, 1 << 20)};
  const DType dtype = Number(r);
  if (r->Chance(0.2))
    return b->Call(Op::linspace, {{"size", size}, {"start", 0.0}, {"end", 1.0}, {"dtype", Name(DType::float32)}}, {});
  return b->Call(Op::arange,
                 {{"size", size}, {"start", int64_t{0}}, {"step", r->Between(1, 2)}, {"dtype", Name(dtype)}}, {});
}
ValueRef Eye(Random* r, NetBuilder* b) {
  const int64_t side = r->LogBetween(2, 4096);
  return b->Call(Op::eye, {{"size", Ints{side, side}}, {"dtype", Name(DType::float32)}}, {});
}
ValueRef Drawn(Random* r, NetBuilder* b) {
  const Op op = r->Pick<Op>({Op::rand, Op::randn, Op::randn});
  return b->Call(op, {{"size", SizeOf(AnyShape(r))}, {"dtype", Name(DType::float32)}}, {});
}
ValueRef DrawnInteger(Random* r, NetBuilder* b) {
  if (r->Chance(0.4))
    return b->Call(Op::randperm, {{"size", Ints{r->LogBetween(2, 1 << 18)}}, {"dtype", Name(DType::int64)}}, {});
  return b->Call(Op::randint,
                 {{"size", SizeOf(AnyShape(r))},
                  {"low", int64_t{0}},
                  {"high", r->LogBetween(2, 1 << 20)},
                  {"dtype", Name(DType::int64)}},
                 {});
}
ValueRef DrawnInPlace(Random* r, NetBuilder* b) {
  const ValueRef x = b->Input(AnyShape(r));
  if (r->Chance(0.5)) return b->CallInPlace(Op::normal, {{"mean", 0.0}, {"std", 1.0}}, {x, ValueRef::None()});
  return b->CallInPlace(Op::uniform, {{"from", 0.0}, {"to", 1.0}}, {x});
}

constexpr LayerKind kKinds[] = {
    {"to", 14, To},
    {"bitwise_right_shift", 7, Shift},
    {"bitwise_and", 5, Mask},
    {"bits", 2, Bits},
    {"scale", 8, Scale},
    {"integers", 4, Integers},
    {"compare", 4, Compare},
    {"differences", 3, Differences},
    {"masked_fill", 6, MaskedFill},
    {"where", 3, Where},
    {"triangle", 3, Triangle},
    {"setitem", 4, SetItem},
    {"function", 4, Function},
    {"pow", 2, Power},
    {"angles", 2, Angles},
    {"cumsum", 2, Cumsum},
    {"clone", 2, Copy},
    {"fill", 2, Refill},
    {"full", 6, Filled},
    {"arange", 4, Range},
    {"eye", 1, Eye},
    {"rand", 6, Drawn},
    {"randint", 3, DrawnInteger},
    {"normal", 2, DrawnInPlace},
};

}  // namespace

std::unique_ptr<Sampler> MakeConstantLayerSampler(const SamplerOptions& options) {
  return MakeKindSampler("constant-layers", kKinds, options);
}

}  // namespace cobra::worker
