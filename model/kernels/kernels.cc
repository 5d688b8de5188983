#include "model/kernels/kernels.h"

namespace cobra::kernels {

namespace base {
extern const Kernels kKernels;
}
#ifdef COBRA_KERNELS_X86
namespace avx2 {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}
#endif
#ifdef COBRA_KERNELS_ARM
namespace neon {
extern const Kernels kKernels;
}
#endif

KernelList AllKernels() {
  KernelList list = {};
#ifdef COBRA_KERNELS_X86
  if (__builtin_cpu_supports("avx512f")) list.kernels[list.count++] = &avx512::kKernels;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) list.kernels[list.count++] = &avx2::kKernels;
#endif
#ifdef COBRA_KERNELS_ARM
  list.kernels[list.count++] = &neon::kKernels;  // every processor of this architecture has it
#endif
  list.kernels[list.count++] = &base::kKernels;
  return list;
}

const Kernels& BestKernels() {
  static const Kernels& best = *AllKernels().kernels[0];
  return best;
}

}  // namespace cobra::kernels
