// OpenBLAS chooses its kernels from a table of processors when it is loaded. On a processor that is
// newer than the table it falls back to the kernels of 2004, which are five times slower. So we
// choose them by the processor's instruction sets.
#ifndef COBRA_BASE_PROCESS_BLAS_CORE_TYPE_H_
#define COBRA_BASE_PROCESS_BLAS_CORE_TYPE_H_

#include <string>

#include "absl/status/status.h"

namespace cobra {

// The value of OPENBLAS_CORETYPE: SkylakeX for AVX-512, Haswell for AVX2; empty: OpenBLAS's own
// choice.
std::string BlasCoreType(bool has_avx2, bool has_avx512);

// Sets OPENBLAS_CORETYPE for this processor, unless it is set, and restarts this program: OpenBLAS
// reads it before main(). Returns if nothing had to change, or on error.
absl::Status RestartWithBlasCoreType(char** argv);

}  // namespace cobra

#endif  // COBRA_BASE_PROCESS_BLAS_CORE_TYPE_H_
