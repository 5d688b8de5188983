// A frozen heap comes back byte for byte, whoever wrote to it and however much.
#include "frontend/python/runtime/heap/heap.h"

#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>

#include "base/process/address_space.h"
#include "base/sanitizer.h"
#include "gtest/gtest.h"

namespace cobra::python {
namespace {

constexpr size_t kImageBytes = size_t{12} << 20;

class HeapTest : public ::testing::Test {
 protected:
  HeapTest() : heap_(int64_t{64} << 20) {
    data_ = static_cast<unsigned char*>(heap_.Allocate(kImageBytes));
    std::mt19937 random(1);
    for (size_t i = 0; i < kImageBytes; ++i) data_[i] = static_cast<unsigned char>(random());
    before_.assign(reinterpret_cast<const char*>(data_), kImageBytes);
  }
  bool Same() const { return std::memcmp(data_, before_.data(), kImageBytes) == 0; }

  // One request: writes to `pages` pages and to what it allocates.
  void Scribble(uint32_t seed, int pages) {
    heap_.NoteThread();
    std::mt19937 random(seed);
    for (int i = 0; i < pages; ++i) data_[random() % kImageBytes] ^= 0x5a;
    std::memset(heap_.Allocate(100'000), static_cast<int>(seed), 100'000);
  }

  Heap heap_;
  unsigned char* data_;
  std::string before_;
};

TEST_F(HeapTest, ComesBackAfterFewAndManyWrites) {
  ASSERT_TRUE(heap_.Freeze());
  ASSERT_TRUE(Same());
  const int64_t used = heap_.used_bytes();
  // The same pages again and again, then others, then more than are filled one by one, then few
  // again, then none.
  for (const auto& [seed, pages] :
       {std::pair(1u, 50), {1u, 50}, {2u, 50}, {3u, 5000}, {4u, 3}, {4u, 3}, {5u, 0}, {6u, 200}}) {
    Scribble(seed, pages);
    ASSERT_EQ(Same(), pages == 0);
    ASSERT_TRUE(heap_.Rollback());
    ASSERT_TRUE(Same()) << "seed " << seed;
    ASSERT_EQ(heap_.used_bytes(), used);
  }
}

TEST_F(HeapTest, ComesBackWhicheverThreadWrote) {
  ASSERT_TRUE(heap_.Freeze());
  for (uint32_t seed = 1; seed < 20; ++seed) {
    // Written by another thread and rolled back here, where no page fault was; the other way round;
    // both in another.
    std::thread([&] {
      Scribble(seed, 20);
      if (seed % 3 == 0) ASSERT_TRUE(heap_.Rollback());
    }).join();
    if (seed % 3 != 0) ASSERT_TRUE(heap_.Rollback());
    ASSERT_TRUE(Same()) << "seed " << seed;
    Scribble(seed + 100, 20);
    std::thread([&] { ASSERT_TRUE(heap_.Rollback()); }).join();
    ASSERT_TRUE(Same()) << "seed " << seed;
  }
}

struct OwnsMemory {
  std::string text;
};

TEST_F(HeapTest, AnObjectThatOwnsMemoryAndChangedSpoilsTheImage) {
  auto* kept = heap_.New<OwnsMemory>(OwnsMemory{"a string that is too long for its object"});
  ASSERT_TRUE(heap_.Freeze());
  Scribble(1, 30);
  heap_.New<OwnsMemory>(OwnsMemory{"another one, which Rollback destroys"});
  ASSERT_TRUE(heap_.Rollback());
  ASSERT_TRUE(heap_.Rollback());
  kept->text += ", now longer";
  EXPECT_FALSE(heap_.Rollback());
}

TEST(DirtyPagesTest, NamesThePagesThatWereWritten) {
  // Where the system does not say, every request drops all pages and reads those that it needs
  // again: correct, but slower.
  if (!CanFindDirtyPages()) GTEST_SKIP() << "/proc/self/pagemap or getrusage() does not say what was written";
  Heap heap(int64_t{8} << 20);
  const size_t page_bytes = PageBytes();
  auto* data = static_cast<char*>(heap.Allocate(40 * page_bytes));
  std::memset(data, 1, 40 * page_bytes);
  ASSERT_TRUE(heap.Freeze());
  std::vector<uint32_t> pages;
  ASSERT_TRUE(FindDirtyPages(data, 40 * page_bytes, &pages));
  EXPECT_TRUE(pages.empty());
  for (int page : {39, 7, 8}) data[static_cast<size_t>(page) * page_bytes + 5] = 2;
  ASSERT_TRUE(FindDirtyPages(data, 40 * page_bytes, &pages));
  EXPECT_EQ(pages, (std::vector<uint32_t>{7, 8, 39}));
}

#ifndef COBRA_ASAN  // which takes terabytes of address space
// As `ulimit -v` leaves little to a program.
TEST(HeapOfASmallProcess, HasASmallerBudget) {
  const auto run = [] {
    rlimit little = {};
    little.rlim_cur = little.rlim_max = rlim_t{1} << 30;
    if (setrlimit(RLIMIT_AS, &little) != 0) std::_Exit(2);
    Heap heap(int64_t{4} << 30);
    std::memset(heap.Allocate(100'000), 1, 100'000);
    std::_Exit(heap.budget_bytes() > 0 && heap.budget_bytes() < int64_t{1} << 30 ? 0 : 1);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace cobra::python
