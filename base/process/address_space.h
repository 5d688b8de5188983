// The memory of a process.
#ifndef COBRA_BASE_PROCESS_ADDRESS_SPACE_H_
#define COBRA_BASE_PROCESS_ADDRESS_SPACE_H_

#include <sys/types.h>

#include <cstdint>

namespace cobra {

// In bytes; 0 if unknown. `pid` 0 is this process.
int64_t AddressSpaceBytes();
int64_t ResidentBytes(pid_t pid = 0);

}  // namespace cobra

#endif  // COBRA_BASE_PROCESS_ADDRESS_SPACE_H_
