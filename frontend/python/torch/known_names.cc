#include "frontend/python/torch/known_names.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cobra::python {
namespace {

struct Names {
  absl::string_view module;
  absl::string_view names;  // with a blank around each
};
constexpr Names kNames[] = {
#include "frontend/python/torch/known_names.inc"
};

}  // namespace

bool IsKnownTorchName(absl::string_view module, absl::string_view name) {
  for (const Names& entry : kNames) {
    if (entry.module == module) return absl::StrContains(entry.names, absl::StrCat(" ", name, " "));
  }
  return false;
}

}  // namespace cobra::python
