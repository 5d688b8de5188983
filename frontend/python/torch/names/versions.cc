#include "frontend/python/torch/names/versions.h"

#include "absl/strings/str_split.h"

namespace cobra::python {
namespace {

struct Since {
  absl::string_view module, names;
  int major, minor;
};
constexpr Since kSince[] = {
#define COBRA_TORCH_SINCE(module, names, major, minor) {module, names, major, minor},
#include "frontend/python/torch/names/versions.def"
#undef COBRA_TORCH_SINCE
};

}  // namespace

std::optional<std::pair<int, int>> TorchNameSince(absl::string_view module, absl::string_view name) {
  for (const Since& since : kSince) {
    if (since.module != module) continue;
    for (absl::string_view known : absl::StrSplit(since.names, ' ')) {
      if (known == name) return std::make_pair(since.major, since.minor);
    }
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, std::pair<int, int>>> LaterTorchNames(absl::string_view module) {
  std::vector<std::pair<std::string, std::pair<int, int>>> names;
  for (const Since& since : kSince) {
    if (since.module != module) continue;
    for (absl::string_view name : absl::StrSplit(since.names, ' ')) {
      names.push_back({std::string(name), {since.major, since.minor}});
    }
  }
  return names;
}

}  // namespace cobra::python
