#ifndef COBRA_TESTS_SERVER_INSECURE_READER_H_
#define COBRA_TESTS_SERVER_INSECURE_READER_H_

#include <cstdlib>

namespace cobra::tests {

// Whether readers start although nothing confines them: where the kernel is emulated without
// filters of system calls (tests/long/aarch64.sh).
inline bool MayStartInsecureReaders() { return std::getenv("COBRA_TESTS_INSECURE_READER") != nullptr; }

}  // namespace cobra::tests

#endif  // COBRA_TESTS_SERVER_INSECURE_READER_H_
