#include "frontend/ncnn/window.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cobra::ncnn {
namespace {

constexpr int64_t kSameUpper = -233, kSameLower = -234;

bool AllAre(const Window& window, int64_t value) {
  for (const auto* list : {&window.before, &window.after}) {
    if (std::any_of(list->begin(), list->end(), [&](int64_t v) { return v != value; })) return false;
  }
  return true;
}

}  // namespace

bool Window::HasPadding() const {
  const auto is_set = [](int64_t v) { return v != 0; };
  return std::any_of(before.begin(), before.end(), is_set) || std::any_of(after.begin(), after.end(), is_set);
}

std::vector<int64_t> Window::PadAmounts() const {
  std::vector<int64_t> amounts;
  for (size_t i = size(); i-- > 0;) {
    amounts.push_back(before[i]);
    amounts.push_back(after[i]);
  }
  return amounts;
}

// Defaults are ncnn's: height and depth are as the width, the end is as the beginning.
absl::StatusOr<Window> ReadWindow(const Importer& im, const Layer& layer, int n, const WindowKeys& keys) {
  Window window;
  for (int i = 0; i < n; ++i) {
    window.kernel.push_back(layer.Int(keys.kernel[i], i == 0 ? 0 : window.kernel[0]));
    window.stride.push_back(layer.Int(keys.stride[i], i == 0 ? 1 : window.stride[0]));
    window.dilation.push_back(keys.dilation[0] < 0 ? 1 : layer.Int(keys.dilation[i], i == 0 ? 1 : window.dilation[0]));
    window.before.push_back(layer.Int(keys.before[i], i == 0 ? 0 : window.before[0]));
    window.after.push_back(layer.Int(keys.after[i], window.before[i]));
  }
  for (auto* list : {&window.kernel, &window.stride, &window.dilation, &window.before, &window.after})
    std::reverse(list->begin(), list->end());
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a window", window.kernel));
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a stride", window.stride));
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a dilation", window.dilation));
  for (const auto* list : {&window.before, &window.after}) {
    for (const int64_t v : *list) {
      if (v > 1 << 20) return im.Wrong(layer, absl::StrCat("padding of ", v));
    }
  }
  return window;
}

absl::Status PadLikeSame(const Importer& im, const Layer& layer, const graph::Shape& in, bool lower, Window* window) {
  bool pads = false, cuts = false;
  for (size_t i = 0; i < window->size(); ++i) {
    const int64_t stride = window->stride[i];
    const int64_t total = window->Reach(i) + (in[i] - 1) / stride * stride - in[i];
    pads = pads || total > 0;
    cuts = cuts || total < 0;
    const int64_t padding = std::max<int64_t>(total, 0);
    window->before[i] = lower ? padding - padding / 2 : padding / 2;
    window->after[i] = padding - window->before[i];
  }
  // ncnn pads the one dimension and takes from the other, which is memory outside of its input.
  if (pads && cuts) return im.Unsupported(layer, "a stride beyond its window beside another dimension that is padded");
  return absl::OkStatus();
}

absl::Status ResolvePadding(const Importer& im, const Layer& layer, const graph::Shape& in, Window* window) {
  if (AllAre(*window, kSameUpper) || AllAre(*window, kSameLower)) {
    return PadLikeSame(im, layer, in, AllAre(*window, kSameLower), window);
  }
  for (const auto* list : {&window->before, &window->after}) {
    for (const int64_t v : *list) {
      if (v < 0) return im.Wrong(layer, absl::StrCat("padding of ", v, " beside other padding"));
    }
  }
  return absl::OkStatus();
}

}  // namespace cobra::ncnn
