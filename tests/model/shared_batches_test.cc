#include "model/predict/shared_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace cobra::predict {
namespace {

using Batches = SharedBatches<int, std::string>;

std::vector<Hash128> Keys(int begin, int end) {
  std::vector<Hash128> keys;
  for (int i = begin; i < end; ++i) keys.push_back({7, static_cast<uint64_t>(i)});
  return keys;
}

// Doubles numbers, and remembers the size of each batch.
class SharedBatchesTest : public testing::Test {
 protected:
  Batches::Values Double(absl::Span<const int* const> inputs) {
    if (before_) before_();
    absl::MutexLock lock(&mutex_);
    sizes_.push_back(inputs.size());
    Batches::Values values;
    for (const int* input : inputs) values.push_back(std::make_shared<std::string>(std::to_string(2 * *input)));
    return values;
  }
  // The values of [begin, end), in order.
  void Check(int begin, int end, const std::function<bool()>& cancelled = {}) {
    Batches::Values values(static_cast<size_t>(end - begin));
    const auto make = [begin](size_t i) { return begin + static_cast<int>(i); };
    ASSERT_TRUE(batches_.Get(Keys(begin, end), make, cancelled, absl::MakeSpan(values)));
    for (int i = begin; i < end; ++i) EXPECT_EQ(*values[static_cast<size_t>(i - begin)], std::to_string(2 * i));
  }
  size_t Computed() {
    absl::MutexLock lock(&mutex_);
    size_t sum = 0;
    for (const size_t size : sizes_) sum += size;
    return sum;
  }

  std::function<void()> before_;
  absl::Mutex mutex_;
  std::vector<size_t> sizes_;
  Batches batches_{[this](absl::Span<const int* const> inputs) { return Double(inputs); },
                   [](int input) { return input >= 1000 ? size_t{400} : size_t{1}; },
                   {.wait = absl::Seconds(10), .patience = absl::Seconds(60)}};
};

TEST_F(SharedBatchesTest, AloneItWaitsForNobodyAndFillsBatches) {
  const absl::Time start = absl::Now();
  Check(0, 40);
  EXPECT_LT(absl::Now() - start, absl::Seconds(5)) << "half of `wait`";
  EXPECT_EQ(sizes_, (std::vector<size_t>{16, 16, 8}));
  Check(100, 101);
  EXPECT_EQ(sizes_.back(), 1u);
}

TEST_F(SharedBatchesTest, WaitsForACallerThatIsWritingDown) {
  absl::Notification writing, go_on;
  std::thread slow([&] {
    Batches::Values values(3);
    const auto make = [&](size_t i) {
      if (i == 0) {
        writing.Notify();
        go_on.WaitForNotification();
      }
      return 100 + static_cast<int>(i);
    };
    ASSERT_TRUE(batches_.Get(Keys(100, 103), make, {}, absl::MakeSpan(values)));
    EXPECT_EQ(*values[2], "204");
  });
  writing.WaitForNotification();
  std::thread fast([&] { Check(0, 2); });
  absl::SleepFor(absl::Milliseconds(50));  // if it does not wait, it has computed its two by now
  go_on.Notify();
  slow.join();
  fast.join();
  EXPECT_EQ(sizes_, std::vector<size_t>{5}) << "one batch for both";
}

// One who wants little does not pay for one who wants much.
TEST_F(SharedBatchesTest, NobodyComputesAPartOfSomebodysLargeRequest) {
  for (const auto& [begin, end] : {std::make_pair(100, 107), std::make_pair(1000, 1002)}) {
    absl::Notification computing, go_on;
    std::atomic<int> batches{0};
    before_ = [&] {
      if (batches++ > 0) return;
      computing.Notify();
      go_on.WaitForNotification();
    };
    std::thread large([&, first = begin, last = end] { Check(first, last); });
    computing.WaitForNotification();
    std::thread also_large([&, first = begin, last = end] { Check(first + 500, last + 500); });
    while (batches < 2) absl::SleepFor(absl::Milliseconds(1));
    Check(0, 1);
    {
      absl::MutexLock lock(&mutex_);
      EXPECT_TRUE(std::find(sizes_.begin(), sizes_.end(), 1u) != sizes_.end()) << "the small one is alone";
      sizes_.clear();
    }
    go_on.Notify();
    large.join();
    also_large.join();
  }
}

TEST_F(SharedBatchesTest, WhatManyWantIsComputedOnce) {
  constexpr int kCallers = 8;
  std::atomic<int> came{0};
  absl::Notification all_came;
  before_ = [&] { all_came.WaitForNotification(); };
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&] {
      bool is_here = false;
      Check(0, 50, [&] {
        if (!std::exchange(is_here, true) && ++came == kCallers) all_came.Notify();
        return false;
      });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(Computed(), 50u);
}

TEST_F(SharedBatchesTest, WhoeverIsCancelledLeavesNothingBehind) {
  int asked = 0;
  Batches::Values values(100);
  const auto make = [](size_t i) { return static_cast<int>(i); };
  EXPECT_FALSE(batches_.Get(
      Keys(0, 100), make, [&asked] { return ++asked > 2; }, absl::MakeSpan(values)));
  EXPECT_EQ(Computed(), 32u);
  Check(200, 201);
  EXPECT_EQ(sizes_.back(), 1u) << "what nobody wants any more is not computed";
  Check(90, 100);
}

// A thread that has taken a batch and gets no processor does not hold up others for long.
TEST(SharedBatches, LosesPatienceWithACallerThatIsStuck) {
  absl::Notification stuck, go_on;
  std::atomic<int> calls{0};
  Batches batches(
      [&](absl::Span<const int* const> inputs) {
        if (calls++ == 0) {
          stuck.Notify();
          go_on.WaitForNotification();
        }
        Batches::Values values;
        for (const int* input : inputs) values.push_back(std::make_shared<std::string>(std::to_string(*input)));
        return values;
      },
      [](int) { return size_t{1}; }, {.patience = absl::Milliseconds(5)});
  const auto make = [](size_t i) { return static_cast<int>(i); };
  std::thread first([&] {
    Batches::Values values(2);
    EXPECT_TRUE(batches.Get(Keys(0, 2), make, {}, absl::MakeSpan(values)));
    EXPECT_EQ(*values[1], "1");
  });
  stuck.WaitForNotification();
  Batches::Values values(2);
  EXPECT_TRUE(batches.Get(Keys(0, 2), make, {}, absl::MakeSpan(values)));
  EXPECT_EQ(*values[1], "1");
  go_on.Notify();
  first.join();
}

TEST_F(SharedBatchesTest, ManyThreadsOverlap) {
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 200; ++round) {
        const int begin = 10 * round + caller;
        Check(begin, begin + 1 + (round * 7 + caller) % 37);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  absl::MutexLock lock(&mutex_);
  EXPECT_LE(*std::max_element(sizes_.begin(), sizes_.end()), 16u);
}

}  // namespace
}  // namespace cobra::predict
