// The memory of this process.
#ifndef COBRA_BASE_ADDRESS_SPACE_H_
#define COBRA_BASE_ADDRESS_SPACE_H_

#include <cstdint>

namespace cobra {

// In bytes; 0 if the system does not say.
int64_t AddressSpaceBytes();
int64_t ResidentBytes();

}  // namespace cobra

#endif  // COBRA_BASE_ADDRESS_SPACE_H_
