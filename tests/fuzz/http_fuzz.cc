#include <cstddef>
#include <cstdint>

#include "tests/fuzz/entry_points.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cobra::fuzz::Http(absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
