#include "base/bytes/clock_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace cobra {
namespace {

class ClockCacheTest : public testing::Test {
 protected:
  void Insert(uint64_t key, int value, int64_t bytes = 100) {
    // The same shard for all.
    cache_.Insert({key, 16}, value, bytes);
  }
  int Find(uint64_t key) {
    auto value = cache_.Find({key, 16});
    return value ? *value : -1;
  }
  ClockCache<int> cache_{16 * 2000};
};

TEST_F(ClockCacheTest, FindsWhatWasInserted) {
  EXPECT_EQ(Find(1), -1);
  Insert(1, 10);
  EXPECT_EQ(Find(1), 10);
  Insert(1, 11);
  EXPECT_EQ(Find(1), 11);
  EXPECT_EQ(cache_.stats().entries, 1);
}

TEST_F(ClockCacheTest, WhatIsUsedIsSpared) {
  for (int i = 0; i < 100; ++i) {
    Insert(i, i);
    EXPECT_EQ(Find(0), 0) << "used again after every insertion, at " << i;
  }
  EXPECT_EQ(Find(1), -1);
  EXPECT_EQ(Find(99), 99);
  EXPECT_GT(cache_.stats().evictions, 0);
}

// Whoever asks for many things once does not drive out what others ask for.
TEST_F(ClockCacheTest, WhatIsNeverUsedGoesFirst) {
  ClockCache<int> cache{16 * 20000};
  const auto insert = [&](uint64_t key) { cache.Insert({key, 16}, 1, 100); };
  for (uint64_t key = 0; key < 10; ++key) insert(key);
  for (uint64_t once = 100; once < 2000; ++once) {
    insert(once);
    if (once % 30 != 0) continue;
    for (uint64_t key = 0; key < 10; ++key) ASSERT_NE(cache.Find({key, 16}), nullptr) << key << " after " << once;
  }
  EXPECT_GT(cache.stats().evictions, 1000);
}

TEST_F(ClockCacheTest, WhenAllAreUsedOneGoesNevertheless) {
  int many = 0;
  while (cache_.stats().evictions == 0) {
    Insert(many, many);
    for (int i = 0; i <= many; ++i) Find(i);
    ++many;
  }
  EXPECT_EQ(cache_.stats().entries, many - 1);
  EXPECT_EQ(Find(many - 1), many - 1);
}

TEST_F(ClockCacheTest, ManyAreFoundAsOneIs) {
  ClockCache<int> cache{int64_t{1} << 30};
  std::vector<Hash128> keys;
  for (uint64_t i = 0; i < 1000; ++i) {
    keys.push_back({i * 7, i});
    if (i % 3 != 0) cache.Insert(keys.back(), static_cast<int>(i), 8);
  }
  keys.push_back(keys[1]);  // twice
  std::vector<std::shared_ptr<const int>> values(keys.size(), std::make_shared<const int>(-1));
  cache.FindMany(keys, absl::MakeSpan(values));
  for (size_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(values[i] == nullptr, i % 3 == 0) << i;
    if (values[i] != nullptr) EXPECT_EQ(*values[i], static_cast<int>(i));
  }
  EXPECT_EQ(values[1000], values[1]);
  EXPECT_EQ(cache.stats().hits, 667);
  EXPECT_EQ(cache.stats().misses, 334);
  cache.FindMany({}, {});
}

TEST_F(ClockCacheTest, ClearForgetsAll) {
  for (int i = 0; i < 100; ++i) Insert(i, i);
  cache_.Clear();
  EXPECT_EQ(cache_.stats().entries, 0);
  EXPECT_EQ(cache_.stats().bytes, 0);
  for (int i = 0; i < 100; ++i) Insert(i, i);
  EXPECT_EQ(Find(99), 99);
}

TEST_F(ClockCacheTest, StaysWithinItsBytes) {
  for (int i = 0; i < 1000; ++i) Insert(i, i, i % 7 * 50);
  EXPECT_LE(cache_.stats().bytes, cache_.stats().capacity_bytes / 16);
}

TEST_F(ClockCacheTest, AnEntryLargerThanItsShardIsNotKept) {
  Insert(4, 4);
  Insert(5, 5);
  Insert(5, 6, 1 << 20);
  EXPECT_EQ(Find(5), -1) << "the old value would be wrong";
  EXPECT_EQ(Find(4), 4) << "nobody else pays for it";
}

TEST_F(ClockCacheTest, CountsHitsAndMisses) {
  Insert(1, 1);
  Find(1);
  Find(2);
  EXPECT_EQ(cache_.stats().hits, 1);
  EXPECT_EQ(cache_.stats().misses, 1);
}

TEST_F(ClockCacheTest, ThreadsShareIt) {
  std::vector<std::thread> threads;
  std::atomic<int64_t> num_looked_up{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < 5000; ++i) {
        const Hash128 key{i % 300, i % 31};
        if (auto found = cache_.Find(key)) {
          EXPECT_EQ(*found, static_cast<int>(i % 300));
          const std::vector<Hash128> keys = {key, {i % 299, i % 29}, {i % 293, i % 23}};
          std::vector<std::shared_ptr<const int>> values(keys.size());
          cache_.FindMany(keys, absl::MakeSpan(values));
          num_looked_up += 3;
        } else {
          cache_.Insert(key, static_cast<int>(i % 300), 40);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(cache_.stats().hits + cache_.stats().misses, 4 * 5000 + num_looked_up);
}

}  // namespace
}  // namespace cobra
