// Windows, Fourier transforms, mel weights.
#include <cmath>

#include "base/status_macros.h"
#include "frontend/onnx/importer/registry.h"
#include "frontend/onnx/importer/tensor_data.h"

namespace cobra::onnx {
namespace {

constexpr double kPi = 3.14159265358979323846;

absl::StatusOr<graph::DType> OutputType(const NodeContext& c) {
  return DTypeOf(static_cast<int32_t>(c.Int("output_datatype", ::onnx::TensorProto::FLOAT)));
}

// A window that is a sum of cosines: a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N).
absl::StatusOr<Outputs> CosineWindow(NodeContext& c, double a0, double a1, double a2) {
  COBRA_ASSIGN_OR_RETURN(const int64_t size, c.KnownInt(0, "its size"));
  COBRA_ASSIGN_OR_RETURN(const graph::DType dtype, OutputType(c));
  if (size < 0 || size > c.importer().limits().onnx.max_const_elements) return Invalid("a window of ", size);
  const double period = static_cast<double>(c.Int("periodic", 1) != 0 ? size : size - 1);
  Values values;
  for (int64_t n = 0; n < size; ++n) {
    const double phase = 2 * kPi * static_cast<double>(n) / period;
    values.push_back(a0 - a1 * std::cos(phase) + a2 * std::cos(2 * phase));
  }
  return c.Out(c.Constant({{size}, dtype}, std::move(values)));
}

absl::StatusOr<Outputs> HannWindow(NodeContext& c) { return CosineWindow(c, 0.5, 0.5, 0); }
absl::StatusOr<Outputs> HammingWindow(NodeContext& c) { return CosineWindow(c, 25.0 / 46, 21.0 / 46, 0); }
absl::StatusOr<Outputs> BlackmanWindow(NodeContext& c) { return CosineWindow(c, 0.42, 0.5, 0.08); }

// Triangular filters on the mel scale: rows are bins of the spectrum, columns are bands.
absl::StatusOr<Outputs> MelWeightMatrix(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const int64_t bands, c.KnownInt(0, "num_mel_bins"));
  COBRA_ASSIGN_OR_RETURN(const int64_t length, c.KnownInt(1, "dft_length"));
  COBRA_ASSIGN_OR_RETURN(const double rate, c.KnownNumber(2, "sample_rate"));
  COBRA_ASSIGN_OR_RETURN(const double low, c.KnownNumber(3, "lower_edge_hertz"));
  COBRA_ASSIGN_OR_RETURN(const double high, c.KnownNumber(4, "upper_edge_hertz"));
  COBRA_ASSIGN_OR_RETURN(const graph::DType dtype, OutputType(c));
  const int64_t most = c.importer().limits().onnx.max_const_elements;
  if (bands < 1 || length < 1 || bands > most || length > most || !(rate > 0) || bands * (length / 2 + 1) > most)
    return Invalid(bands, " bands of ", length, " samples");
  const int64_t bins = length / 2 + 1;
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  std::vector<int64_t> edges;
  const double step = (mel(high) - mel(low)) / static_cast<double>(bands + 2);
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double hertz = 700 * (std::pow(10.0, (static_cast<double>(i) * step + mel(low)) / 2595) - 1);
    const double bin = std::floor(static_cast<double>(length + 1) * hertz / rate);
    if (!(bin >= 0 && bin < 1e9)) return Invalid("a band edge of ", hertz, " Hz");
    edges.push_back(static_cast<int64_t>(bin));
  }
  Values values(bins * bands, 0);
  for (int64_t band = 0; band < bands; ++band) {
    const int64_t lower = edges[band], middle = edges[band + 1], upper = edges[band + 2];
    if (middle == lower && middle < bins) values[middle * bands + band] = 1;
    for (int64_t bin = lower; middle > lower && bin <= middle && bin < bins; ++bin) {
      values[bin * bands + band] = static_cast<double>(bin - lower) / static_cast<double>(middle - lower);
    }
    for (int64_t bin = middle; upper > middle && bin < upper && bin < bins; ++bin) {
      values[bin * bands + band] = static_cast<double>(upper - bin) / static_cast<double>(upper - middle);
    }
  }
  return c.Out(c.Constant({{bins, bands}, dtype}, std::move(values)));
}

// The last dimension has size 1 for real numbers and size 2 for complex numbers.
absl::StatusOr<TensorPtr> Unpacked(NodeContext& c, const TensorPtr& x) {
  const int64_t parts = x->type.rank() == 0 ? 0 : x->type.shape.back();
  if (parts == 2) return c.Unary(graph::Op::view_as_complex, x);
  if (parts == 1) return c.Call(graph::Op::squeeze, {{"dim", int64_t{-1}}}, {x});
  return Invalid("the last dimension of ", graph::ShapeText(x->type.shape), " must be 1 (real) or 2 (complex)");
}

absl::StatusOr<Outputs> Dft(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, Unpacked(c, c.In(0)));
  int64_t given = c.Int("axis", 1);
  if (c.opset() >= 20) {
    given = -2;
    if (c.Has(2)) {
      COBRA_ASSIGN_OR_RETURN(given, c.KnownInt(2, "axis"));
    }
  }
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(given, c.Rank(0)));
  if (axis >= x->type.rank()) return Invalid("axis=", axis, " is the one of the parts");
  graph::Attributes attributes{{"dim", int64_t{axis}}};
  if (c.Has(1)) {
    COBRA_ASSIGN_OR_RETURN(const int64_t length, c.KnownInt(1, "dft_length"));
    attributes.Set("n", length);
  }
  const bool inverse = c.Int("inverse") != 0, onesided = c.Int("onesided") != 0;
  if (onesided && !inverse && graph::IsComplex(x->type.dtype)) return Unsupported("onesided=1 of complex numbers");
  // Computed in double, as in the reference: terms that cancel must give 0 to seven digits.
  const graph::DType dtype = c.Type(0).dtype;
  COBRA_ASSIGN_OR_RETURN(x,
                         c.Cast(x, graph::IsComplex(x->type.dtype) ? graph::DType::complex128 : graph::DType::float64));
  if (onesided && inverse) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr real, c.Call(graph::Op::fft_irfft, attributes, {x}));
    COBRA_ASSIGN_OR_RETURN(real, c.Call(graph::Op::unsqueeze, {{"dim", int64_t{-1}}}, {real}));
    return c.Out(c.Cast(real, dtype));
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(onesided  ? graph::Op::fft_rfft
                                             : inverse ? graph::Op::fft_ifft
                                                       : graph::Op::fft_fft,
                                             attributes, {x}));
  COBRA_ASSIGN_OR_RETURN(y, c.Unary(graph::Op::view_as_real, y));
  return c.Out(c.Cast(y, dtype));
}

// Weights each frame of the signal by the window and transforms it.
absl::StatusOr<Outputs> Stft(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const int64_t step, c.KnownInt(1, "frame_step"));
  TensorPtr x = c.In(0);
  if (x->type.rank() == 3) {
    COBRA_ASSIGN_OR_RETURN(x, Unpacked(c, x));
  }
  const TensorPtr window = c.In(2);
  int64_t length = window == nullptr ? 0 : window->type.num_elements();
  if (c.Has(3)) {
    COBRA_ASSIGN_OR_RETURN(length, c.KnownInt(3, "frame_length"));
  }
  COBRA_ASSIGN_OR_RETURN(
      x, c.Call(graph::Op::tensor_unfold, {{"dimension", int64_t{1}}, {"size", length}, {"step", step}}, {x}));
  if (window != nullptr) {
    COBRA_ASSIGN_OR_RETURN(x, c.Binary(graph::Op::mul, x, window));
  }
  const bool onesided = c.Int("onesided", 1) != 0 && !graph::IsComplex(x->type.dtype);
  COBRA_ASSIGN_OR_RETURN(TensorPtr y,
                         c.Call(onesided ? graph::Op::fft_rfft : graph::Op::fft_fft, {{"dim", int64_t{-1}}}, {x}));
  return c.Out(c.Unary(graph::Op::view_as_real, y));
}

}  // namespace

void AddSignalOperators(Registry* registry) {
  registry->Add("HannWindow", {HannWindow, 1, false, "the size is known beforehand"});
  registry->Add("HammingWindow", {HammingWindow, 1, false, "the size is known beforehand"});
  registry->Add("BlackmanWindow", {BlackmanWindow, 1, false, "the size is known beforehand"});
  registry->Add("MelWeightMatrix", {MelWeightMatrix, 5, false, "its inputs are known beforehand"});
  registry->Add("DFT", {Dft, 1, false, "onesided of real numbers"});
  registry->Add("STFT", {Stft, 2, false, "frame step and length are known beforehand"});
}

}  // namespace cobra::onnx
