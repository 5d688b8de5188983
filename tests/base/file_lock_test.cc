#include "base/file/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "tests/temporary_directory.h"

namespace cobra {
namespace {

TEST(FileLockTest, OneHoldsItUntilItsFileIsClosed) {
  tests::TemporaryDirectory directory;
  const std::string path = directory.File("lock");
  absl::StatusOr<Descriptor> first = WaitForLock(path);
  ASSERT_TRUE(first.ok()) << first.status();
  const Descriptor second(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(second.valid());
  EXPECT_FALSE(TryLock(second));
  first->Close();
  EXPECT_TRUE(TryLock(second));
  EXPECT_TRUE(TryLock(second));  // it has it already
}

TEST(FileLockTest, IsNotWaitedForLongerThanAsked) {
  tests::TemporaryDirectory directory;
  const std::string path = directory.File("lock");
  const absl::StatusOr<Descriptor> first = WaitForLock(path);
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::Status status = WaitForLock(path, absl::Milliseconds(50)).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_EQ(status.message(), path + ": another process holds it");
}

TEST(FileLockTest, AFolderThatIsMissingIsAnError) { EXPECT_FALSE(WaitForLock("/no/such/folder/lock").ok()); }

}  // namespace
}  // namespace cobra
