#include "frontend/python/runtime/interpreter/import_names.h"

#include <algorithm>
#include <iterator>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "frontend/python/runtime/interpreter/import.h"

namespace cobra::python {

bool IsCompiledPackage(absl::string_view name) {
  static const auto* const kNames = new absl::flat_hash_set<absl::string_view>(
      {"PIL", "av", "cv2", "h5py", "matplotlib", "numpy", "pandas", "scipy", "skimage", "sklearn", "triton"});
  return kNames->contains(name.substr(0, name.find('.')));
}

bool IsNetworkPackage(absl::string_view name) {
  static const auto* const kNames = new absl::flat_hash_set<absl::string_view>(
      {"aiohttp", "boto3", "certifi", "hf_xet", "httpcore", "httpcore2", "httpx", "httpx2", "requests", "urllib3"});
  return kNames->contains(name.substr(0, name.find('.')));
}

bool IsStandardLibraryName(absl::string_view name) {
  static const auto* const kNames = new absl::flat_hash_set<absl::string_view>({
#define COBRA_STDLIB_NAME(name) #name,
#include "frontend/python/runtime/interpreter/stdlib_names.def"
#undef COBRA_STDLIB_NAME
  });
  return kNames->contains(name.substr(0, name.find('.')));
}

// CPython's C modules (_heapq) are missing here: their importers have an `except ImportError` with
// the same code in Python.
bool IsNeverRead(absl::string_view name) {
  const bool in_c = !name.empty() && name[0] == '_';
  return !in_c && (IsStandardLibraryName(name) || IsCompiledPackage(name) || IsNetworkPackage(name));
}

bool HasPythonInstead(absl::string_view name) {
  constexpr absl::string_view kNames[] = {"frozenlist._frozenlist", "markupsafe._speedups", "multidict._multidict",
                                          "wrapt._wrappers", "yaml._yaml"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace cobra::python
