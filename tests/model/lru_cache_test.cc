#include "model/predict/lru_cache.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace cobra::predict {
namespace {

class LruCacheTest : public testing::Test {
 protected:
  void Insert(uint64_t key, int value, int64_t bytes = 100) {
    // Same shard for all: the order of eviction is then the order of use.
    cache_.Insert({key, 16}, std::make_shared<const int>(value), bytes);
  }
  int Find(uint64_t key) {
    auto value = cache_.Find({key, 16});
    return value ? *value : -1;
  }
  LruCache<int> cache_{16 * 2000};
};

TEST_F(LruCacheTest, FindsWhatWasInserted) {
  EXPECT_EQ(Find(1), -1);
  Insert(1, 10);
  EXPECT_EQ(Find(1), 10);
  Insert(1, 11);
  EXPECT_EQ(Find(1), 11);
  EXPECT_EQ(cache_.stats().entries, 1);
}

TEST_F(LruCacheTest, TheLeastRecentlyUsedGoesFirst) {
  for (int i = 0; i < 100; ++i) {
    Insert(i, i);
    EXPECT_EQ(Find(0), 0) << "used again after every insertion, at " << i;
  }
  EXPECT_EQ(Find(1), -1);
  EXPECT_EQ(Find(99), 99);
  EXPECT_GT(cache_.stats().evictions, 0);
}

TEST_F(LruCacheTest, StaysWithinItsBytes) {
  for (int i = 0; i < 1000; ++i) Insert(i, i, i % 7 * 50);
  EXPECT_LE(cache_.stats().bytes, cache_.stats().capacity_bytes / 16);
}

TEST_F(LruCacheTest, AnEntryLargerThanItsShardIsNotKept) {
  Insert(5, 5, 1 << 20);
  EXPECT_EQ(Find(5), -1);
  EXPECT_EQ(cache_.stats().bytes, 0);
}

TEST_F(LruCacheTest, CountsHitsAndMisses) {
  Insert(1, 1);
  Find(1);
  Find(2);
  EXPECT_EQ(cache_.stats().hits, 1);
  EXPECT_EQ(cache_.stats().misses, 1);
}

TEST_F(LruCacheTest, ThreadsShareIt) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (uint64_t i = 0; i < 5000; ++i) {
        const Hash128 key{i % 300, i % 31};
        if (auto found = cache_.Find(key)) {
          EXPECT_EQ(*found, static_cast<int>(i % 300));
        } else {
          cache_.Insert(key, std::make_shared<const int>(static_cast<int>(i % 300)), 40);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(cache_.stats().hits + cache_.stats().misses, 4 * 5000);
}

}  // namespace
}  // namespace cobra::predict
