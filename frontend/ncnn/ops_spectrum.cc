// Spectra of a signal, and signals of spectra.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/ncnn/handlers.h"

namespace cobra::ncnn {
namespace {

enum WindowType { kOnes, kHann, kHamming };

// The sum of the window's squares.
double EnergyOf(int64_t type, int64_t length) {
  const double offset = type == kHann ? 0.5 : type == kHamming ? 0.54 : 1;
  const double pi = std::acos(-1.0);
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    const double angle = 2 * pi * static_cast<double>(i) / static_cast<double>(length);
    const double value = offset - (1 - offset) * std::cos(angle);
    sum += value * value;
  }
  return sum;
}

// The magnitudes of x, [batch, frequencies, steps], which is complex, or their squares; or its
// parts as real numbers.
absl::StatusOr<graph::ValueRef> RealOf(Importer& im, const Layer& layer, graph::ValueRef x, int64_t power) {
  if (power == 1) return im.Call(layer, graph::Op::abs, {}, {x});
  COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::view_as_real, {}, {x}));
  if (power == 0) return x;
  COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::square, {}, {x}));
  return im.Call(layer, graph::Op::sum, {{"dim", std::vector<int64_t>{3}}, {"keepdim", false}}, {x});
}

// What both layers have.
struct Spectra {
  int64_t n, hop, length;  // of a spectrum's signal; from one to the next; of the window
  int64_t window, normalized;
  bool center;
  graph::ValueRef weights = graph::ValueRef::None();  // of the window; none if they are 1
};

absl::StatusOr<Spectra> ReadSpectra(Importer& im, const Layer& layer) {
  const int64_t n = layer.Int(0, 0);
  Spectra s{n, layer.Int(2, n / 4), layer.Int(3, n), layer.Int(4, kOnes), layer.Int(7, 0), layer.Int(5, 1) == 1};
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a size (0=, 2=, 3=)", {n, s.hop, s.length}));
  if (s.window < kOnes || s.window > kHamming || s.normalized < 0 || s.normalized > 2)
    return im.Wrong(layer, absl::StrCat("window type ", s.window, ", normalization ", s.normalized));
  if (s.length > n) return im.Wrong(layer, absl::StrCat("a window of ", s.length, " for spectra of ", n));
  if (s.window != kOnes) {
    COBRA_ASSIGN_OR_RETURN(s.weights, im.Constant(layer, {s.length}));
  }
  return s;
}

// Whether the windows leave no number out, so that none is divided by 0. In the middle the next
// window's center is not farther than half a hop; at the ends there is one only if the signal was
// padded.
bool CoversAll(const Spectra& s) {
  if (s.center) return s.hop + 2 <= s.length;
  return s.window != kHann && s.length == s.n && s.hop <= s.length;
}

}  // namespace

namespace handlers {

absl::Status Spectrogram(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 1));
  const int64_t power = layer.Int(1, 0), padding = layer.Int(6, 2);
  if (power < 0 || power > 2 || padding < 0 || padding > 2)
    return im.Wrong(layer, absl::StrCat("power ", power, ", padding type ", padding));
  COBRA_ASSIGN_OR_RETURN(const Spectra s, ReadSpectra(im, layer));
  constexpr const char* kPaddings[] = {"constant", "replicate", "reflect"};
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Call(layer, graph::Op::stft,
                                                    {{"n_fft", s.n},
                                                     {"hop_length", s.hop},
                                                     {"win_length", s.length},
                                                     {"center", s.center},
                                                     {"pad_mode", std::string(kPaddings[padding])},
                                                     {"normalized", s.normalized == 1},
                                                     {"onesided", layer.Int(8, 1) != 0},
                                                     {"return_complex", true}},
                                                    {im.In(layer, 0), s.weights}));
  COBRA_ASSIGN_OR_RETURN(x, RealOf(im, layer, x, power));
  if (s.normalized == 2) {
    const double energy = EnergyOf(s.window, s.length);
    COBRA_ASSIGN_OR_RETURN(
        x, im.Call(layer, graph::Op::mul, {{"other", 1 / (power == 2 ? energy : std::sqrt(energy))}}, {x}));
  }
  return im.Set(layer, 0, x);
}

// The real signal of spectra [frequencies, steps, 2].
absl::Status InverseSpectrogram(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 3));
  const graph::Shape shape = im.InShape(layer);
  COBRA_ASSIGN_OR_RETURN(const Spectra s, ReadSpectra(im, layer));
  // Versions of ncnn differ in what they return without 1=.
  if (layer.Int(1, 0) != 1) return im.Unsupported(layer, "a signal other than the real part (1=1)");
  if (shape[3] != 2) return im.Wrong(layer, absl::StrCat("complex numbers of ", shape[3], " parts"));
  if (shape[1] != s.n / 2 + 1)
    return im.Unsupported(layer, absl::StrCat(shape[1], " frequencies of ", s.n, ": other than the first half"));
  if (!CoversAll(s)) return im.Unsupported(layer, "a signal of which the windows leave numbers out");
  graph::ValueRef x = im.In(layer, 0);
  if (s.normalized == 2) {
    COBRA_ASSIGN_OR_RETURN(x,
                           im.Call(layer, graph::Op::mul, {{"other", std::sqrt(EnergyOf(s.window, s.length))}}, {x}));
  }
  COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::view_as_complex, {}, {x}));
  COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::istft,
                                    {{"n_fft", s.n},
                                     {"hop_length", s.hop},
                                     {"win_length", s.length},
                                     {"center", s.center},
                                     {"normalized", s.normalized == 1},
                                     {"onesided", true},
                                     {"return_complex", false}},
                                    {x, s.weights}));
  if (im.ShapeOf(x).back() < 1) return im.Wrong(layer, "an empty signal");
  return im.Set(layer, 0, x);
}

}  // namespace handlers
}  // namespace cobra::ncnn
