// Compares two data sheets: how near they are, whether the devices have the same maker, and whether
// they run networks in the same way.
#ifndef COBRA_MODEL_PREDICT_TARGET_SHEET_COMPARISON_H_
#define COBRA_MODEL_PREDICT_TARGET_SHEET_COMPARISON_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

// The logarithm of the second number of two sheets over the first; 0 if one of them is not known.
double LogRatio(double from, double to);

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

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_SHEET_COMPARISON_H_
