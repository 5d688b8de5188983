#include "base/file/open_below.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra {
namespace {

class OpenBelowTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string root = outer_.path() + "/root";
    ASSERT_EQ(::mkdir(root.c_str(), 0700) | ::mkdir((root + "/inner").c_str(), 0700), 0);
    std::ofstream(outer_.path() + "/secret") << "s";
    std::ofstream(root + "/inner/file") << "f";
    ASSERT_EQ(::symlink("inner/file", (root + "/link").c_str()), 0);
    ASSERT_EQ(::symlink("../secret", (root + "/up").c_str()), 0);
    ASSERT_EQ(::symlink(outer_.path().c_str(), (root + "/away").c_str()), 0);
    root_ = Descriptor(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  tests::TemporaryDirectory outer_;
  Descriptor root_;
};

TEST_F(OpenBelowTest, StaysInTheFolder) {
  for (const auto open : {OpenBelow, OpenBelowWithoutLinks}) {
    EXPECT_TRUE(open(root_.get(), "inner/file", O_RDONLY | O_CLOEXEC).valid());
    EXPECT_TRUE(open(root_.get(), "", O_RDONLY | O_DIRECTORY | O_CLOEXEC).valid());
    for (const char* path : {"../secret", "inner/../../secret", "up", "away/secret", "nothing", "inner/file/x"})
      EXPECT_FALSE(open(root_.get(), path, O_RDONLY | O_CLOEXEC).valid()) << path;
  }
}

TEST_F(OpenBelowTest, OnlyNewerKernelsFollowLinks) {
  for (const char* path : {"link", "away/root/inner/file"}) {
    EXPECT_FALSE(OpenBelowWithoutLinks(root_.get(), path, O_RDONLY | O_CLOEXEC).valid());
    EXPECT_EQ(errno, ELOOP) << path;  // what is there is not reported absent
  }
  EXPECT_FALSE(OpenBelowWithoutLinks(root_.get(), "inner/file/x", O_RDONLY | O_CLOEXEC).valid());
  EXPECT_EQ(errno, ENOTDIR);
}

}  // namespace
}  // namespace cobra
