// The memory of a process.
#ifndef COBRA_BASE_PROCESS_ADDRESS_SPACE_H_
#define COBRA_BASE_PROCESS_ADDRESS_SPACE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace cobra {

// In bytes; 0 if unknown. Without /proc it is found by trying limits, which other threads of the
// process would meet.
int64_t AddressSpaceBytes();
// In bytes; 0 if unknown. `pid` 0 is this process.
int64_t ResidentBytes(pid_t pid = 0);

// What the kernel maps at once: 4 KiB on x86-64; on aarch64 it was built with 4, 16 or 64 KiB.
size_t PageBytes();

}  // namespace cobra

#endif  // COBRA_BASE_PROCESS_ADDRESS_SPACE_H_
