#include "client/retry.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::client {
namespace {

struct Attempts {
  std::vector<absl::Status> results;
  std::vector<absl::Duration> sleeps;
  size_t made = 0, most_sleeps = 1000;

  absl::Status Run(const RetryPolicy& policy) {
    return RetryLoop(
        policy,
        [this](absl::Duration d) {
          sleeps.push_back(d);
          return sleeps.size() < most_sleeps;
        },
        [this] { return results[made++]; });
  }
};

RetryPolicy FourAttempts() {
  RetryPolicy policy;
  policy.max_attempts = 4;
  policy.initial_backoff = absl::Milliseconds(10);
  policy.max_backoff = absl::Milliseconds(25);
  return policy;
}

TEST(RetryLoopTest, BacksOffWhileUnavailable) {
  Attempts attempts{
      {absl::UnavailableError(""), absl::UnavailableError(""), absl::UnavailableError(""), absl::OkStatus()}};
  EXPECT_TRUE(attempts.Run(FourAttempts()).ok());
  EXPECT_THAT(attempts.sleeps,
              testing::ElementsAre(absl::Milliseconds(10), absl::Milliseconds(20), absl::Milliseconds(25)));
}

TEST(RetryLoopTest, GivesUpWithTheLastStatus) {
  Attempts attempts{{4, absl::UnavailableError("down")}};
  EXPECT_EQ(attempts.Run(FourAttempts()), absl::UnavailableError("down"));
  EXPECT_EQ(attempts.made, 4u);
  EXPECT_EQ(attempts.sleeps.size(), 3u);
}

TEST(RetryLoopTest, TheDefaultWaitsAsLongAsAServerTakesToStart) {
  Attempts attempts{{100, absl::UnavailableError("starting")}};
  EXPECT_TRUE(absl::IsUnavailable(attempts.Run(RetryPolicy())));
  absl::Duration waited;
  for (absl::Duration sleep : attempts.sleeps) waited += sleep;
  EXPECT_EQ(waited, absl::Milliseconds(5100));
}

TEST(RetryLoopTest, ABusyServerIsAskedAgainWhenItSays) {
  const absl::Status busy = WithRetryDelay(absl::ResourceExhaustedError("busy"), absl::Milliseconds(700));
  Attempts attempts{std::vector<absl::Status>(20, busy)};
  attempts.results.push_back(absl::OkStatus());
  EXPECT_TRUE(attempts.Run(FourAttempts()).ok());
  EXPECT_EQ(attempts.sleeps, std::vector<absl::Duration>(20, absl::Milliseconds(700)));
}

TEST(RetryLoopTest, TheDeadlineEndsIt) {
  const absl::Status busy = WithRetryDelay(absl::ResourceExhaustedError("busy"), absl::Milliseconds(700));
  Attempts attempts{std::vector<absl::Status>(20, busy)};
  attempts.most_sleeps = 3;
  EXPECT_EQ(attempts.Run(FourAttempts()), busy);
  EXPECT_EQ(attempts.made, 3u);
}

TEST(RetryLoopTest, NothingElseIsTriedAgain) {
  Attempts attempts{{absl::ResourceExhaustedError("limit")}};
  EXPECT_TRUE(absl::IsResourceExhausted(attempts.Run(FourAttempts())));
  EXPECT_THAT(attempts.sleeps, testing::IsEmpty());
}

}  // namespace
}  // namespace cobra::client
