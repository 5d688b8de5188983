// Fourier transforms.
#include <algorithm>

#include "base/status_macros.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph::shape_rules {
namespace {

enum class Dims { kOne, kLastTwo, kAny };

// The dimensions that a transform works on, taken from its name: fft_rfft, fft_rfft2, fft_rfftn.
absl::StatusOr<Dims> DimsOf(const Call& call) {
  switch (call.name().back()) {
    case 't': return Dims::kOne;
    case '2': return Dims::kLastTwo;
    case 'n': return Dims::kAny;
    default: return absl::InternalError(absl::StrCat(call.name(), ": the name does not tell its dimensions"));
  }
}

struct Transformation {
  Shape shape;   // the input's, with the sizes that `n` or `s` gives
  int last = 0;  // the dimension that real transforms halve
  bool last_given = false;
};

absl::StatusOr<Transformation> Transformed(const Call& call) {
  const TensorType& input = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const Dims kind, DimsOf(call));
  const bool one = kind == Dims::kOne;
  if (input.dtype == DType::float16 || input.dtype == DType::bfloat16)
    return ShapeError("Unsupported dtype ", DTypeName(input.dtype));
  const std::string norm = call.attributes.String("norm", "backward");
  if (norm != "backward" && norm != "forward" && norm != "ortho")
    return ShapeError("Invalid normalization mode: \"", norm, "\"");
  const AttributeValue* given_sizes = call.attributes.Find(one ? "n" : "s");
  const std::vector<int64_t> sizes = call.attributes.Ints(one ? "n" : "s");
  std::vector<int64_t> dims = call.attributes.Ints("dim");
  if (dims.empty() && call.attributes.Find("dim") == nullptr) {
    if (one) {
      dims = {-1};
    } else if (kind == Dims::kLastTwo) {
      dims = {-2, -1};
    } else {
      // Without `dim`: as many last dimensions as `s` has sizes, or all.
      const int count = given_sizes != nullptr ? static_cast<int>(sizes.size()) : input.rank();
      if (count > input.rank())
        return ShapeError("Got shape with ", count, " values but input tensor only has ", input.rank(), " dimensions.");
      for (int i = input.rank() - count; i < input.rank(); ++i) dims.push_back(i);
    }
  }
  if (!one && given_sizes != nullptr && sizes.size() != dims.size())
    return ShapeError("When given, dim and shape arguments must have the same length");
  Transformation t{input.shape};
  std::vector<bool> seen(std::max(input.rank(), 1), false);
  for (size_t i = 0; i < dims.size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(t.last, WrapDim(dims[i], input.rank()));
    if (input.rank() == 0) return ShapeError(call.name(), ": input has no dimension");
    if (seen[t.last]) return ShapeError("FFT dims must be unique");
    seen[t.last] = true;
    t.last_given = i < sizes.size() && sizes[i] != -1;
    if (t.last_given) t.shape[t.last] = sizes[i];
    if (t.shape[t.last] < 1) return ShapeError("Invalid number of data points (", t.shape[t.last], ") specified");
  }
  if (dims.empty() && call.op != Op::fft_fftn && call.op != Op::fft_ifftn)
    return ShapeError(call.name(), " must transform at least one axis");
  return t;
}

absl::StatusOr<bool> OneSided(const Call& call, bool complex) {
  const bool onesided = call.attributes.Find("onesided") != nullptr ? call.attributes.Bool("onesided") : !complex;
  if (onesided && complex) return ShapeError("Cannot have onesided output if window or input is complex");
  return onesided;
}

}  // namespace

ShapeResult Fft(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(const Transformation t, Transformed(call));
  return One(t.shape, ComplexOf(call.in(0).dtype));
}

// rfft and ihfft: the input is real, and the output has half of the last dimension.
ShapeResult Rfft(const Call& call) {
  if (IsComplex(call.in(0).dtype))
    return ShapeError(call.name(), " expects a real input tensor, but got ", DTypeName(call.in(0).dtype));
  COBRA_ASSIGN_OR_RETURN(Transformation t, Transformed(call));
  t.shape[t.last] = t.shape[t.last] / 2 + 1;
  return One(t.shape, ComplexOf(call.in(0).dtype));
}

// irfft and hfft: the input has half of the last dimension, and the output is real.
ShapeResult Irfft(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Transformation t, Transformed(call));
  if (!t.last_given) t.shape[t.last] = 2 * (t.shape[t.last] - 1);
  if (t.shape[t.last] < 1) return ShapeError("Invalid number of data points (", t.shape[t.last], ") specified");
  return One(t.shape, RealOf(ToFloat(call.in(0).dtype)));
}

ShapeResult FftShift(const Call& call) {
  if (call.in(0).rank() == 0) return absl::OutOfRangeError("Dimension specified as 0 but tensor has no dimensions");
  for (int64_t d : call.attributes.Ints("dim")) COBRA_RETURN_IF_ERROR(WrapDim(d, call.in(0).rank()).status());
  return TensorTypes{call.in(0)};
}

ShapeResult Stft(const Call& call) {
  const TensorType& input = call.in(0);
  const int64_t n_fft = call.attributes.Int("n_fft");
  const int64_t hop = call.attributes.Int("hop_length", n_fft / 4);
  const int64_t window = call.attributes.Int("win_length", n_fft);
  if (Category(input.dtype) < 2) return ShapeError("stft: expected a tensor of floating point or complex values");
  if (input.rank() != 1 && input.rank() != 2)
    return ShapeError("stft: expected a 1D or 2D tensor, but got ", input.rank(), "D tensor");
  const bool center = call.attributes.Bool("center", true);
  const int64_t length = input.shape.back() + (center ? n_fft / 2 * 2 : 0);
  const bool reflects = center && call.attributes.String("pad_mode", "reflect") == "reflect";
  if (reflects && n_fft / 2 >= input.shape.back())
    return ShapeError("Padding size should be less than the corresponding input dimension, but got: padding (",
                      n_fft / 2, ", ", n_fft / 2, ") at dimension 2 of input ", SizesText(input.shape));
  if (n_fft <= 0 || n_fft > length) return ShapeError("stft: expected 0 < n_fft < ", length, ", but got n_fft=", n_fft);
  if (hop <= 0) return ShapeError("stft: expected hop_length > 0, but got hop_length=", hop);
  if (window <= 0 || window > n_fft)
    return ShapeError("stft: expected 0 < win_length <= n_fft, but got win_length=", window);
  if (call.has(1) && (call.in(1).rank() != 1 || call.in(1).shape[0] != window))
    return ShapeError("stft: expected a 1D window tensor of size equal to win_length=", window,
                      ", but got window with size ", SizesText(call.in(1).shape));
  const bool complex = IsComplex(input.dtype) || (call.has(1) && IsComplex(call.in(1).dtype));
  COBRA_ASSIGN_OR_RETURN(const bool onesided, OneSided(call, complex));
  const AttributeValue* given = call.attributes.Find("return_complex");
  if (given == nullptr && !complex)
    return ShapeError(
        "stft requires the return_complex parameter be given for real inputs, and will further require that "
        "return_complex=True in a future PyTorch release.");
  Shape out;
  if (input.rank() == 2) out.push_back(input.shape[0]);
  out.push_back(onesided ? n_fft / 2 + 1 : n_fft);
  out.push_back(1 + (length - n_fft) / hop);
  const bool as_complex = given == nullptr || call.attributes.Bool("return_complex");
  if (!as_complex) out.push_back(2);
  return One(out, as_complex ? ComplexOf(input.dtype) : RealOf(input.dtype));
}

ShapeResult Istft(const Call& call) {
  const TensorType& input = call.in(0);
  const int64_t n_fft = call.attributes.Int("n_fft");
  const int64_t hop = call.attributes.Int("hop_length", n_fft / 4);
  const int64_t window = call.attributes.Int("win_length", n_fft);
  if (!IsComplex(input.dtype)) return ShapeError("istft requires a complex-valued input tensor");
  if (input.rank() != 2 && input.rank() != 3)
    return ShapeError("istft: expected a tensor with 2 or 3 dimensions, but got ", input.rank());
  if (input.num_elements() == 0) return ShapeError("istft: input tensor cannot be empty.");
  const bool complex = call.attributes.Bool("return_complex");
  const int64_t bins = input.shape[input.rank() - 2], frames = input.shape.back();
  const bool onesided = call.attributes.Find("onesided") != nullptr ? call.attributes.Bool("onesided") : bins != n_fft;
  if (bins != (onesided ? n_fft / 2 + 1 : n_fft))
    return ShapeError(
        "istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 when "
        "onesided=True, but got ",
        bins);
  if (complex && onesided) return ShapeError("Cannot have onesided output if window or input is complex");
  if (hop <= 0 || hop > window) return ShapeError("istft: expected 0 < hop_length <= win_length");
  if (window <= 0 || window > n_fft) return ShapeError("istft: expected 0 < win_length <= n_fft");
  if (call.has(1) && (call.in(1).rank() != 1 || call.in(1).shape[0] != window))
    return ShapeError("Invalid window shape. window has to be 1D and length of `win_length`");
  const int64_t expected = n_fft + hop * (frames - 1);
  const bool center = call.attributes.Bool("center", true);
  const int64_t start = center ? n_fft / 2 : 0;
  int64_t length = expected - start - (center ? n_fft / 2 : 0);
  if (call.attributes.Find("length") != nullptr) length = call.attributes.Int("length");
  if (length < 0) return ShapeError("istft: negative length");
  Shape out;
  if (input.rank() == 3) out.push_back(input.shape[0]);
  out.push_back(length);
  return One(out, complex ? input.dtype : RealOf(input.dtype));
}

}  // namespace cobra::graph::shape_rules
