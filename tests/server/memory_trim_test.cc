#include "server/lanes/memory_trim.h"

#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/time/clock.h"
#include "base/process/address_space.h"
#include "base/sanitizer.h"
#include "gtest/gtest.h"

namespace cobra::server {
namespace {

// Small blocks between which one of a hundred stays, so that free() alone returns nothing.
TEST(MemoryTrimTest, WhatWasFreedGoesBack) {
#ifdef COBRA_SANITIZED
  GTEST_SKIP() << "the sanitizer has a malloc of its own";
#endif
  MemoryTrim trim;
  absl::Time now = absl::Now();
  trim.Tick(now);
  const int64_t before = ResidentBytes();
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<char[]>> blocks;
    for (int i = 0; i < 20000; ++i) blocks.push_back(std::make_unique<char[]>(3000));
    EXPECT_GT(ResidentBytes(), before + (40 << 20));
    for (size_t i = 0; i < blocks.size(); ++i)
      if (i % 100 != 0) blocks[i] = nullptr;
    trim.Tick(now += absl::Seconds(2));
    EXPECT_LT(ResidentBytes(), before + (16 << 20));
  }
}

}  // namespace
}  // namespace cobra::server
