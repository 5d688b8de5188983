#include "base/bytes/heap_bytes.h"

#include <malloc.h>

#include <cstdlib>

#include "base/sanitizer.h"
#include "gtest/gtest.h"

namespace cobra {
namespace {

TEST(HeapBytesTest, IsWhatMallocTakes) {
#ifdef COBRA_SANITIZED
  GTEST_SKIP() << "the sanitizer has a malloc of its own";
#endif
  for (const size_t size : {1, 8, 24, 25, 40, 41, 100, 384, 4000, 100000}) {
    void* block = std::malloc(size);
    // The size of a block that was used before may be a unit larger.
    EXPECT_NEAR(static_cast<double>(MallocBytes(size)), static_cast<double>(::malloc_usable_size(block) + 8), 16)
        << size;
    std::free(block);
  }
}

TEST(HeapBytesTest, CountsCapacityAndNotSize) {
  std::vector<double> values(1000);
  values.clear();
  EXPECT_GE(HeapBytes(values), 8000);
  EXPECT_EQ(HeapBytes(std::vector<double>()), 0);
  EXPECT_EQ(HeapBytes(std::string("short")), 0);
  EXPECT_EQ(HeapBytes(std::string(100, 'x')), MallocBytes(101));
}

}  // namespace
}  // namespace cobra
