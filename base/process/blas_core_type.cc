#include "base/process/blas_core_type.h"

#include <cstdlib>

#include "base/process/subprocess.h"

namespace cobra {

std::string BlasCoreType(bool has_avx2, bool has_avx512) {
  if (has_avx512) return "SkylakeX";
  return has_avx2 ? "Haswell" : "";
}

absl::Status RestartWithBlasCoreType(char** argv) {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return absl::OkStatus();
#if defined(__x86_64__)
  const std::string core_type = BlasCoreType(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("avx512f"));
#else
  const std::string core_type;
#endif
  if (core_type.empty()) return absl::OkStatus();
  setenv("OPENBLAS_CORETYPE", core_type.c_str(), 1);
  return RestartThisProgram(argv);
}

}  // namespace cobra
