// What a reader may still do once it is confined: compute, use memory and processor time up to
// limits, and talk on the sockets that it has. No files, no new sockets, no processes, no
// executable memory. libseccomp; seccomp(2).
#ifndef COBRA_READER_SANDBOX_H_
#define COBRA_READER_SANDBOX_H_

#include <cstdint>

#include "absl/status/status.h"

namespace cobra::reader {

struct SandboxLimits {
  // Beyond the address space that the process has when it is confined. Stacks of suspended
  // generators count, whether or not they are touched. 0: no limit (sanitizers reserve terabytes;
  // request_reader.h counts instead).
  int64_t more_address_space_bytes = int64_t{240} << 20;
  int processor_seconds = 3;  // then the kernel kills the process
  bool filter_system_calls = true;
};

// Confines this process for good. REQUIRES: it has one thread.
absl::Status Confine(const SandboxLimits& limits);

// Whether a child of this process can be confined with a filter of system calls. Tries it in one.
bool CanConfine();

}  // namespace cobra::reader

#endif  // COBRA_READER_SANDBOX_H_
