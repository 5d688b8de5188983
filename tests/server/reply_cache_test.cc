#include "server/predict/reply_cache.h"

#include <gtest/gtest.h>

namespace cobra::server {
namespace {

constexpr Hash128 kRequest{1, 2};

CachedReply ReplyOf(int64_t generation, std::string bytes = "reply") {
  CachedReply reply;
  reply.generation = generation;
  reply.bytes = std::move(bytes);
  return reply;
}

class ReplyCacheTest : public testing::Test {
 protected:
  std::shared_ptr<const CachedReply> Find(int64_t generation, bool may_wait = false) {
    const FoundReply found = cache_.Find(kRequest, generation, may_wait);
    must_wait_ = found.must_wait;
    return found.reply;
  }

  ReplyCache cache_{1 << 20};
  bool must_wait_ = false;
};

TEST_F(ReplyCacheTest, AnswersForItsGenerationOnly) {
  EXPECT_EQ(Find(7), nullptr);
  cache_.Insert(kRequest, ReplyOf(7));
  ASSERT_NE(Find(7), nullptr);
  EXPECT_EQ(Find(7)->bytes, "reply");
  EXPECT_EQ(Find(8), nullptr);
  cache_.Insert(kRequest, ReplyOf(8, "newer"));
  EXPECT_EQ(Find(8)->bytes, "newer");
  EXPECT_EQ(Find(7)->bytes, "reply");  // of what still serves, while the newer one is prepared
  EXPECT_EQ(cache_.stats().entries, 2);
}

TEST_F(ReplyCacheTest, LooksAtFilesWhereItMayWait) {
  int looks = 0;
  bool unchanged = true;
  CachedReply reply = ReplyOf(1);
  reply.files_unchanged = [&] {
    ++looks;
    return unchanged;
  };
  cache_.Insert(kRequest, std::move(reply));
  EXPECT_EQ(Find(1), nullptr);  // nobody has looked yet
  EXPECT_TRUE(must_wait_);
  EXPECT_EQ(looks, 0);
  EXPECT_NE(Find(1, /*may_wait=*/true), nullptr);
  EXPECT_EQ(looks, 1);
  EXPECT_NE(Find(1), nullptr);  // for a second
  EXPECT_EQ(looks, 1);
  Find(1)->files_checked_ns = 0;
  unchanged = false;
  EXPECT_EQ(Find(1, /*may_wait=*/true), nullptr);
  EXPECT_FALSE(must_wait_);
  EXPECT_EQ(looks, 2);
}

TEST_F(ReplyCacheTest, KnowsARequestTheSecondTime) {
  EXPECT_FALSE(cache_.SeenBefore({1, 2}));
  EXPECT_TRUE(cache_.SeenBefore({1, 2}));
  EXPECT_FALSE(cache_.SeenBefore({3, 2}));  // in the same place
  EXPECT_FALSE(cache_.SeenBefore({1, 2}));
}

TEST_F(ReplyCacheTest, KeepsNoLongReplies) {
  cache_.Insert(kRequest, ReplyOf(1, std::string(300 << 10, 'x')));
  EXPECT_EQ(Find(1), nullptr);
}

}  // namespace
}  // namespace cobra::server
