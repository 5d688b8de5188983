#include "client/ask/watch.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/ask/watch_command.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class WatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("watch" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    absl::StatusOr<FileWatch> watch = FileWatch::Create();
    ASSERT_TRUE(watch.ok()) << watch.status();
    watch_ = std::make_unique<FileWatch>(*std::move(watch));
  }
  void TearDown() override { fs::remove_all(folder_); }
  void Write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
  // The change is made on another thread, some time after waiting began.
  absl::Status WaitFor(const std::function<void()>& change) {
    std::thread other([&change] {
      absl::SleepFor(absl::Milliseconds(50));
      change();
    });
    const absl::Status status = watch_->Wait([](const std::string& name) { return absl::EndsWith(name, ".py"); });
    other.join();
    return status;
  }
  fs::path folder_;
  std::unique_ptr<FileWatch> watch_;
};

TEST_F(WatchTest, AFileIsWrittenReplacedAndRemoved) {
  ASSERT_TRUE(watch_->Add({folder_.string()}).ok());
  EXPECT_TRUE(WaitFor([&] { Write(folder_ / "net.py", "1"); }).ok());
  Write(folder_ / "new", "2");  // concerns nobody
  EXPECT_TRUE(WaitFor([&] { fs::rename(folder_ / "new", folder_ / "net.py"); }).ok());
  EXPECT_TRUE(WaitFor([&] { fs::remove(folder_ / "net.py"); }).ok());
}

TEST_F(WatchTest, AChangeBeforeWaitingCounts) {
  ASSERT_TRUE(watch_->Add({folder_.string()}).ok());
  Write(folder_ / "net.py", "1");
  EXPECT_TRUE(WaitFor([] {}).ok());
}

TEST_F(WatchTest, AFolderThatIsReplacedOrComesLater) {
  const fs::path inner = folder_ / "inner";
  ASSERT_TRUE(watch_->Add({inner.string()}).ok());
  EXPECT_TRUE(WaitFor([&] { fs::create_directories(inner); }).ok());
  EXPECT_TRUE(WaitFor([&] { Write(inner / "net.py", "1"); }).ok());
  fs::rename(inner, folder_ / "old");
  EXPECT_TRUE(WaitFor([&] {
                fs::create_directories(inner);
                Write(inner / "net.py", "2");
              }).ok());
  Write(folder_ / "old" / "net.py", "3");  // is not watched any more
  EXPECT_TRUE(WaitFor([&] { Write(inner / "net.py", "4"); }).ok());
}

v1::PredictResponse Answer(double us, const std::string& fingerprint) {
  v1::PredictResponse response;
  response.set_fingerprint(fingerprint);
  v1::TargetPrediction* p = response.add_predictions();
  p->set_target("cpu");
  p->set_latency_us(us);
  p->set_low_us(us / 2);
  p->set_high_us(us * 2);
  p->set_confidence(1);
  p->set_coverage(0.9);
  return response;
}

TEST(WatchTextTest, TheChangeIsThatFromTheLastAnswer) {
  const std::string slower = ChangedAnswerText(Answer(1000, "a"), Answer(1100, "b"), 0, {0, true});
  EXPECT_THAT(slower, HasSubstr("\033[31m+10.0 %\033[0m"));
  EXPECT_THAT(ChangedAnswerText(Answer(1000, "a"), Answer(900, "b"), 0, {0, true}), HasSubstr("\033[32m-10.0 %"));
  EXPECT_THAT(ChangedAnswerText(Answer(1000, "a"), Answer(1000, "a"), 0, {}), HasSubstr("nothing has changed"));
  EXPECT_THAT(ChangedAnswerText(Answer(1000, "a"), Answer(900, "b"), 0.5, {}), HasSubstr("over the budget of 0.5 ms"));
  v1::PredictResponse other = Answer(900, "b");
  other.mutable_predictions(0)->set_target("new");
  EXPECT_THAT(ChangedAnswerText(Answer(1000, "a"), other, 0, {}), Not(HasSubstr("-10.0 %")));
}

}  // namespace
}  // namespace cobra::client
