// The address space of this process.
#ifndef COBRA_BASE_ADDRESS_SPACE_H_
#define COBRA_BASE_ADDRESS_SPACE_H_

#include <cstdint>

namespace cobra {

// In bytes; 0 if the system does not say.
int64_t AddressSpaceBytes();

}  // namespace cobra

#endif  // COBRA_BASE_ADDRESS_SPACE_H_
