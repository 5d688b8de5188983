#include "base/bytes/clock_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
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

// Look-ups take no lock: what they find must stay while entries move, are evicted and replaced.
TEST_F(ClockCacheTest, WhatIsFoundStaysBesideEvictions) {
  constexpr uint64_t kKeys = 3000;
  ClockCache<std::vector<uint64_t>> cache{int64_t{16} * 60 * 200};  // a third of them
  std::atomic<bool> is_over{false};
  std::atomic<int64_t> found{0};
  std::vector<std::thread> readers, writers;
  for (uint64_t t = 0; t < 3; ++t) {
    readers.emplace_back([&, t] {
      std::mt19937_64 random(t);
      while (!is_over) {
        std::vector<Hash128> keys(t == 0 ? 1 : 70);
        for (Hash128& key : keys) {
          const uint64_t number = random() % kKeys;
          key = {number, number * 7};
        }
        std::vector<std::shared_ptr<const std::vector<uint64_t>>> values(keys.size());
        cache.FindMany(keys, absl::MakeSpan(values));
        for (size_t i = 0; i < keys.size(); ++i) {
          if (values[i] == nullptr) continue;
          ASSERT_EQ(*values[i], std::vector<uint64_t>(8, keys[i].high));
          ++found;
        }
      }
    });
  }
  for (uint64_t t = 0; t < 2; ++t) {
    writers.emplace_back([&, t] {
      std::mt19937_64 random(100 + t);
      for (int i = 0; i < 30000; ++i) {
        const uint64_t number = random() % kKeys;
        cache.Insert({number, number * 7}, std::vector<uint64_t>(8, number), 64);
        if (i % 10000 == 9999) cache.Clear();
      }
    });
  }
  for (std::thread& thread : writers) thread.join();
  is_over = true;
  for (std::thread& thread : readers) thread.join();
  EXPECT_GT(found, 0);
  EXPECT_GT(cache.stats().evictions, 0);
  EXPECT_LE(cache.stats().bytes, cache.stats().capacity_bytes);
}

// What is not evicted is found, although others move in the table.
TEST_F(ClockCacheTest, NothingIsMissedBesideChanges) {
  constexpr uint64_t kKept = 100;
  ClockCache<uint64_t> cache{int64_t{1} << 30};
  for (uint64_t i = 0; i < kKept; ++i) cache.Insert({i, i * 16}, i, 0);
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    for (uint64_t round = 0; round < 200; ++round) {
      // Of one shard, and again: the old one of the same key is taken out.
      for (uint64_t i = kKept; i < 2 * kKept; ++i) cache.Insert({i % 110, i * 16}, i, 0);
    }
    is_over = true;
  });
  while (!is_over) {
    for (uint64_t i = 0; i < kKept; ++i) {
      const auto value = cache.Find({i, i * 16});
      ASSERT_NE(value, nullptr) << i;
      ASSERT_EQ(*value, i);
    }
  }
  writer.join();
}

// More threads than have a place read with locks.
TEST_F(ClockCacheTest, AnyNumberOfThreadsFinds) {
  Insert(1, 1);
  std::vector<std::thread> threads;
  std::atomic<int> arrived{0};
  constexpr int kThreads = kMostReadingThreads + 20;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      EXPECT_EQ(Find(1), 1);
      ++arrived;
      while (arrived < kThreads) std::this_thread::yield();  // all keep their places
      EXPECT_EQ(Find(1), 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace cobra
