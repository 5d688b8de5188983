#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "worker/machine/gpu.h"

namespace cobra::worker {

std::string VisibleGpu(int device, const char* visible) {
  if (visible == nullptr) return absl::StrCat(device);
  const std::vector<std::string> gpus = absl::StrSplit(visible, ',', absl::SkipEmpty());
  return static_cast<size_t>(device) < gpus.size() ? gpus[static_cast<size_t>(device)] : absl::StrCat(device);
}

}  // namespace cobra::worker
