// The shape rules that ops.def names, one function each, by family: shape_attention.cc,
// shape_conv.cc, shape_matmul.cc, shape_norm.cc, shape_pool.cc, shape_elementwise.cc,
// shape_loss.cc, shape_reduce.cc, shape_index.cc, shape_join.cc, shape_view.cc, shape_spectrum.cc,
// shape_linalg.cc. A rule gets the attributes and the input types of one call and returns its
// output types, or InvalidArgument in PyTorch's own words: the Python reader raises them as
// RuntimeError, and programs catch those.
#ifndef COBRA_GRAPH_SHAPE_SHAPE_RULES_H_
#define COBRA_GRAPH_SHAPE_SHAPE_RULES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "graph/attributes.h"
#include "graph/op.h"
#include "graph/types.h"

namespace cobra::graph {

// The inputs of a shape rule: one call.
struct Call {
  Op op;
  const Attributes& attributes;
  absl::Span<const TensorType* const> inputs;  // null for an absent optional tensor

  bool has(int i) const { return i < static_cast<int>(inputs.size()) && inputs[i] != nullptr; }
  const TensorType& in(int i) const { return *inputs[i]; }  // REQUIRES: has(i)
  absl::string_view name() const { return OpName(op); }
};

using ShapeResult = absl::StatusOr<TensorTypes>;
using ShapeRule = ShapeResult (*)(const Call&);

namespace shape_rules {

ShapeResult AdaptivePool(const Call& call);
ShapeResult Addbmm(const Call& call);
ShapeResult Addmm(const Call& call);
ShapeResult Addmv(const Call& call);
ShapeResult Addr(const Call& call);
ShapeResult AffineGrid(const Call& call);
ShapeResult ArgReduce(const Call& call);
ShapeResult Argsort(const Call& call);
ShapeResult AsBase(const Call& call);
ShapeResult AsStrided(const Call& call);
ShapeResult AtLeast(const Call& call);
ShapeResult AvgPool(const Call& call);
ShapeResult AxisSplit(const Call& call);
ShapeResult Baddbmm(const Call& call);
ShapeResult GroupedMm(const Call& call);
ShapeResult BatchNorm(const Call& call);
ShapeResult Bce(const Call& call);
ShapeResult Bilinear(const Call& call);
ShapeResult Binary(const Call& call);
ShapeResult Bits(const Call& call);
ShapeResult BitsBinary(const Call& call);
ShapeResult BlockDiag(const Call& call);
ShapeResult Bmm(const Call& call);
ShapeResult BoolReduce(const Call& call);
ShapeResult Broadcast(const Call& call);
ShapeResult BroadcastTensors(const Call& call);
ShapeResult Bucketize(const Call& call);
ShapeResult CartesianProd(const Call& call);
ShapeResult Cast(const Call& call);
ShapeResult CastAs(const Call& call);
ShapeResult CastBFloat16(const Call& call);
ShapeResult CastBool(const Call& call);
ShapeResult CastComplex128(const Call& call);
ShapeResult CastComplex64(const Call& call);
ShapeResult CastFloat16(const Call& call);
ShapeResult CastFloat32(const Call& call);
ShapeResult CastFloat64(const Call& call);
ShapeResult CastInt16(const Call& call);
ShapeResult CastInt32(const Call& call);
ShapeResult CastInt64(const Call& call);
ShapeResult CastInt8(const Call& call);
ShapeResult CastUInt8(const Call& call);
ShapeResult Cat(const Call& call);
ShapeResult Cdist(const Call& call);
ShapeResult ChannelShuffle(const Call& call);
ShapeResult CholeskySolve(const Call& call);
ShapeResult Chunk(const Call& call);
ShapeResult Close(const Call& call);
ShapeResult ColumnStack(const Call& call);
ShapeResult Combinations(const Call& call);
ShapeResult Compare(const Call& call);
ShapeResult Complex(const Call& call);
ShapeResult Cond(const Call& call);
ShapeResult Conv(const Call& call);
ShapeResult ConvTbc(const Call& call);
ShapeResult ConvTranspose(const Call& call);
ShapeResult CosineLoss(const Call& call);
ShapeResult CosineSimilarity(const Call& call);
ShapeResult Cov(const Call& call);
ShapeResult Cross(const Call& call);
ShapeResult Created(const Call& call);
ShapeResult CrossEntropy(const Call& call);
ShapeResult Ctc(const Call& call);
ShapeResult DeformConv2d(const Call& call);
ShapeResult Det(const Call& call);
ShapeResult Diag(const Call& call);
ShapeResult DiagEmbed(const Call& call);
ShapeResult DiagFlat(const Call& call);
ShapeResult Diagonal(const Call& call);
ShapeResult DiagonalScatter(const Call& call);
ShapeResult Diff(const Call& call);
ShapeResult Dist(const Call& call);
ShapeResult Dot(const Call& call);
ShapeResult Dropout(const Call& call);
ShapeResult Dstack(const Call& call);
ShapeResult Eig(const Call& call);
ShapeResult Eigh(const Call& call);
ShapeResult Einsum(const Call& call);
ShapeResult ElementLoss(const Call& call);
ShapeResult Embedding(const Call& call);
ShapeResult EmbeddingBag(const Call& call);
ShapeResult Expand(const Call& call);
ShapeResult ExpandAs(const Call& call);
ShapeResult FakeQuantize(const Call& call);
ShapeResult Fft(const Call& call);
ShapeResult FftShift(const Call& call);
ShapeResult FillDiagonal(const Call& call);
ShapeResult Flatten(const Call& call);
ShapeResult Flip(const Call& call);
ShapeResult FloatBinary(const Call& call);
ShapeResult FloatNotBool(const Call& call);
ShapeResult FloatOnly(const Call& call);
ShapeResult FloatPower(const Call& call);
ShapeResult FloatSame(const Call& call);
ShapeResult FloatUnary(const Call& call);
ShapeResult Fold(const Call& call);
ShapeResult FractionalMaxPool(const Call& call);
ShapeResult Frexp(const Call& call);
ShapeResult Gather(const Call& call);
ShapeResult GaussianNll(const Call& call);
ShapeResult Gelu(const Call& call);
ShapeResult GetItem(const Call& call);
ShapeResult Glu(const Call& call);
ShapeResult Gradient(const Call& call);
ShapeResult GridSample(const Call& call);
ShapeResult GroupNorm(const Call& call);
ShapeResult Gru(const Call& call);
ShapeResult GumbelSoftmax(const Call& call);
ShapeResult Histc(const Call& call);
ShapeResult HouseholderProduct(const Call& call);
ShapeResult Hstack(const Call& call);
ShapeResult IndexAdd(const Call& call);
ShapeResult IndexCopy(const Call& call);
ShapeResult IndexFill(const Call& call);
ShapeResult IndexPut(const Call& call);
ShapeResult IndexSelect(const Call& call);
ShapeResult Inner(const Call& call);
ShapeResult InstanceNorm(const Call& call);
ShapeResult Interpolate(const Call& call);
ShapeResult Irfft(const Call& call);
ShapeResult IsIn(const Call& call);
ShapeResult Istft(const Call& call);
ShapeResult Kron(const Call& call);
ShapeResult LayerNorm(const Call& call);
ShapeResult Ldexp(const Call& call);
ShapeResult LdlFactor(const Call& call);
ShapeResult Linear(const Call& call);
ShapeResult LocalResponseNorm(const Call& call);
ShapeResult Logsumexp(const Call& call);
ShapeResult Loss(const Call& call);
ShapeResult LpPool(const Call& call);
ShapeResult Lstm(const Call& call);
ShapeResult Lstsq(const Call& call);
ShapeResult Lu(const Call& call);
ShapeResult LuFactor(const Call& call);
ShapeResult LuFactorEx(const Call& call);
ShapeResult LuUnpack(const Call& call);
ShapeResult MSort(const Call& call);
ShapeResult MT(const Call& call);
ShapeResult MaskedFill(const Call& call);
ShapeResult MaskedScatter(const Call& call);
ShapeResult Matmul(const Call& call);
ShapeResult MatrixRank(const Call& call);
ShapeResult MaxMin(const Call& call);
ShapeResult MaxPool(const Call& call);
ShapeResult MaxUnpool(const Call& call);
ShapeResult Meshgrid(const Call& call);
ShapeResult Mm(const Call& call);
ShapeResult Movedim(const Call& call);
ShapeResult MultiDot(const Call& call);
ShapeResult MultiHeadAttention(const Call& call);
ShapeResult MultiMargin(const Call& call);
ShapeResult MultilabelMargin(const Call& call);
ShapeResult MultilabelSoftMargin(const Call& call);
ShapeResult Multinomial(const Call& call);
ShapeResult Mv(const Call& call);
ShapeResult Narrow(const Call& call);
ShapeResult NllLoss(const Call& call);
ShapeResult NoBoolBinary(const Call& call);
ShapeResult Norm(const Call& call);
ShapeResult Normal(const Call& call);
ShapeResult Normalize(const Call& call);
ShapeResult NotBool(const Call& call);
ShapeResult OneHot(const Call& call);
ShapeResult Outer(const Call& call);
ShapeResult PackPaddedSequence(const Call& call);
ShapeResult Pad(const Call& call);
ShapeResult PadPackedSequence(const Call& call);
ShapeResult PadSequence(const Call& call);
ShapeResult PairwiseDistance(const Call& call);
ShapeResult Pdist(const Call& call);
ShapeResult Permute(const Call& call);
ShapeResult Pinv(const Call& call);
ShapeResult PixelShuffle(const Call& call);
ShapeResult PixelUnshuffle(const Call& call);
ShapeResult Polar(const Call& call);
ShapeResult Prelu(const Call& call);
ShapeResult Put(const Call& call);
ShapeResult Qr(const Call& call);
ShapeResult Quantile(const Call& call);
ShapeResult Quantize(const Call& call);
ShapeResult Ravel(const Call& call);
ShapeResult RealCompare(const Call& call);
ShapeResult RealFloatUnary(const Call& call);
ShapeResult RealPart(const Call& call);
ShapeResult RealToFloat(const Call& call);
ShapeResult RealUnary(const Call& call);
ShapeResult Reduce(const Call& call);
ShapeResult ReducePair(const Call& call);
ShapeResult Renorm(const Call& call);
ShapeResult Repeat(const Call& call);
ShapeResult RepeatInterleave(const Call& call);
ShapeResult Resize(const Call& call);
ShapeResult Rfft(const Call& call);
ShapeResult RnnCell(const Call& call);
ShapeResult RoiAlign(const Call& call);
ShapeResult Roll(const Call& call);
ShapeResult Rot90(const Call& call);
ShapeResult Rounded(const Call& call);
ShapeResult SameDTypeBinary(const Call& call);
ShapeResult SameType(const Call& call);
ShapeResult Scan(const Call& call);
ShapeResult ScanFloat(const Call& call);
ShapeResult ScanPair(const Call& call);
ShapeResult Scatter(const Call& call);
ShapeResult Sdpa(const Call& call);
ShapeResult Searchsorted(const Call& call);
ShapeResult Select(const Call& call);
ShapeResult SelectScatter(const Call& call);
ShapeResult SetItem(const Call& call);
ShapeResult SliceScatter(const Call& call);
ShapeResult Slogdet(const Call& call);
ShapeResult Softmax(const Call& call);
ShapeResult Solve(const Call& call);
ShapeResult SolveTriangular(const Call& call);
ShapeResult Sort(const Call& call);
ShapeResult Split(const Call& call);
ShapeResult Square(const Call& call);
ShapeResult SquareInfo(const Call& call);
ShapeResult SquareSame(const Call& call);
ShapeResult Squeeze(const Call& call);
ShapeResult Stack(const Call& call);
ShapeResult Stft(const Call& call);
ShapeResult Subtract(const Call& call);
ShapeResult Sum(const Call& call);
ShapeResult SumToSize(const Call& call);
ShapeResult Svd(const Call& call);
ShapeResult T(const Call& call);
ShapeResult Take(const Call& call);
ShapeResult TensorInv(const Call& call);
ShapeResult TensorSolve(const Call& call);
ShapeResult TensorSplit(const Call& call);
ShapeResult TensorUnfold(const Call& call);
ShapeResult Tensordot(const Call& call);
ShapeResult Tile(const Call& call);
ShapeResult Topk(const Call& call);
ShapeResult Trace(const Call& call);
ShapeResult Transpose(const Call& call);
ShapeResult Trapezoid(const Call& call);
ShapeResult Triangle(const Call& call);
ShapeResult TriangularSolve(const Call& call);
ShapeResult TripletLoss(const Call& call);
ShapeResult TrueDivide(const Call& call);
ShapeResult Unbind(const Call& call);
ShapeResult Unflatten(const Call& call);
ShapeResult Unfold(const Call& call);
ShapeResult Unsqueeze(const Call& call);
ShapeResult Vander(const Call& call);
ShapeResult Vecdot(const Call& call);
ShapeResult View(const Call& call);
ShapeResult ViewAs(const Call& call);
ShapeResult ViewAsComplex(const Call& call);
ShapeResult ViewAsReal(const Call& call);
ShapeResult Vstack(const Call& call);
ShapeResult Where(const Call& call);

// ---- shared by the families
template <typename... Args>
absl::Status ShapeError(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}
inline TensorTypes One(Shape shape, DType dtype) { return {TensorType{std::move(shape), dtype}}; }
std::string SizesText(const Shape& shape);  // "[1, 3, 224, 224]", as in PyTorch's messages

int Category(DType dtype);   // 0 bool, 1 integer, 2 floating point, 3 complex: the order of type promotion
DType ToFloat(DType dtype);  // the result type of functions of real numbers: integers become float32
DType RealOf(DType dtype);   // of a complex type the type of its parts
DType ComplexOf(DType dtype);
absl::StatusOr<DType> DTypeAttribute(const Call& call, DType fallback);
// "exp_cpu" not implemented for 'Bool'
absl::Status NotImplementedFor(const Call& call, DType dtype);

// No dimension of an output has more elements: beyond, a product of sizes may have wrapped around.
inline constexpr int64_t kMaxDimension = int64_t{1} << 40;
absl::Status TooManyElements(absl::string_view name);  // the corresponding limit error

// The number of dimensions in the operator's name: 2 for "conv2d". Internal if there is none.
absl::StatusOr<int> DimsInName(const Call& call);

// Checks the attribute batch_sizes of a packed batch (one per step, positive, not increasing) and
// returns their sum.
absl::StatusOr<int64_t> PackedSteps(const Call& call);

// Converts a dim in [-rank, rank) to [0, rank). A scalar counts as one dimension here, as in
// PyTorch.
absl::StatusOr<int> WrapDim(int64_t dim, int rank);
absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b);
// PyTorch's type promotion over the given tensors (null ones skipped) and one Python number (null
// if none).
DType ResultDType(absl::Span<const TensorType* const> inputs, const AttributeValue* number = nullptr);
// Attribute `name` as exactly `n` integers; a single one is repeated.
using IntTuple = absl::InlinedVector<int64_t, 4>;
absl::StatusOr<IntTuple> IntList(const Call& call, absl::string_view name, int n, int64_t fallback);
// An in-place call keeps shape and dtype of its first input: rejects results that do not fit, and
// sets the output's dtype.
absl::Status CheckInplace(absl::string_view name, absl::Span<const TensorType* const> inputs, TensorTypes* outputs);
// Applies `dim` and `keepdim` of a reduction to the shape; no `dim` means all.
absl::StatusOr<Shape> ReducedShape(const Call& call, const TensorType& input, bool keepdim);

}  // namespace shape_rules
}  // namespace cobra::graph

#endif  // COBRA_GRAPH_SHAPE_SHAPE_RULES_H_
