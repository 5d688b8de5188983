// What is known of a device before anything was timed on it: how near its data sheet is to the
// trained targets', what the data sheets make of the difference, and how trained targets differ
// from each other beyond their data sheets.
#ifndef COBRA_MODEL_PREDICT_ADAPT_PRIOR_H_
#define COBRA_MODEL_PREDICT_ADAPT_PRIOR_H_

#include <array>
#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "model/predict/adapt_terms.h"
#include "model/predict/target.h"

namespace cobra::predict {

// 0: the same as far as the sheets say; 1: a factor of about 1.6 in all numbers that both have.
// Another precision, layout, compiler or runtime counts like several of that, another version of
// one runtime (if both are known) like 1.5.
double SheetDistance(const TargetSpec& a, const TargetSpec& b);

// By the words of its device.
bool IsAmd(const TargetSpec& gpu);
// Of GPUs: both are AMD's, or neither is.
bool IsSameVendor(const TargetSpec& a, const TargetSpec& b);
// Likewise, and both are Intel's, or neither is: PyTorch's kernels there are others. No such GPU
// has been trained on.
bool IsSameMaker(const TargetSpec& a, const TargetSpec& b);

// Whether the same kernels run: LibTorch's are PyTorch's, and on a GPU the difference is what
// launches them.
bool IsSameRuntime(const TargetSpec& a, const TargetSpec& b);

// Whether numbers have the same formats. By default PyTorch's float32 is TF32 in convolutions.
bool IsSamePrecision(const TargetSpec& a, const TargetSpec& b);

// Whether both are one device, with other software or another number of threads.
bool IsSameDevice(const TargetSpec& a, const TargetSpec& b);

// The same, however their names are written ("RTX 3090", "NVIDIA GeForce RTX 3090").
bool IsNamedAlike(const TargetSpec& a, const TargetSpec& b);

// Whether data sheets say why they differ: two devices of one kind, with the same software and
// precision.
bool AreComparable(const TargetSpec& a, const TargetSpec& b);

// How two GPUs under PyTorch compute and launch: what explains the one says little about the other
// where they differ. Tensors in half precision read half the bytes, autocast casts weights in every
// run, and float32 does neither; a compiler fuses; Python takes longer to launch than C++.
struct WayOfRunning {
  enum Computing { kFloat32, kHalfTensors, kCasts, kInt8 };
  Computing computing = kFloat32;
  bool is_compiled = false, is_from_python = false;
  bool is_half() const { return computing == kHalfTensors || computing == kCasts; }
};
WayOfRunning WayOf(const TargetSpec& spec);
// Of `others`, in their order, those that run most like `spec`: that compute in half precision or
// do not, like it, of these those that compute like it, then those that are compiled and that are
// launched like it; each only if there are any. All, unless it is a GPU under PyTorch.
std::vector<size_t> ThatRunAlike(const TargetSpec& spec, absl::Span<const TargetSpec* const> others);

// Whether a sheet says anything about how fast its device is.
bool HasNumbers(const TargetSpec& spec);

// Numbers of a data sheet that are missing in `spec`, from `other`, a trained target that is asked
// in its place; of two half precisions that of `other`.
TargetSpec FilledFrom(TargetSpec spec, const TargetSpec& other);

// How much faster an operator group gets with arithmetic and with bandwidth: exponents.
struct SheetLaw {
  std::array<double, kNumOperatorGroups> of_compute, of_memory;
};
// What is plausible without any data.
SheetLaw PlausibleLaw();
// The coefficients by which a target with sheet `from` becomes one with sheet `to`.
AdaptVector SheetShift(const TargetSpec& from, const TargetSpec& to, const SheetLaw& law);

// A trained target as the reference networks show it.
struct KnownTarget {
  const TargetSpec* spec = nullptr;
  const std::vector<NetworkView>* networks = nullptr;  // all in one order
};

struct TargetDifferences {
  SheetLaw law = PlausibleLaw();
  AdaptMatrix covariance{};    // of the coefficients between neighbours, beyond the law and a common factor
  double scale_variance = 0;   // of the common factor's logarithm
  double launch_variance = 0;  // of what launching takes on other hosts; 0: no GPUs
};
// Learned from all pairs of different devices of one kind and runtime; with few of them, near what
// is plausible.
TargetDifferences DifferencesOf(absl::Span<const KnownTarget> targets);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ADAPT_PRIOR_H_
