#include "base/file/open_below.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra {
namespace {

// Target, name.
constexpr const char* kLinks[] = {"inner", "folder",  "folder", "chain", "..",   "inner/back",
                                  "..",    "outside", "round",  "round", "none", "gone"};

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
  for (const auto open : {OpenBelow, OpenBelowStepwise}) {
    EXPECT_TRUE(open(root_.get(), "inner/file", O_RDONLY | O_CLOEXEC).valid());
    EXPECT_TRUE(open(root_.get(), "", O_RDONLY | O_DIRECTORY | O_CLOEXEC).valid());
    for (const char* path : {"../secret", "inner/../../secret", "up", "away/secret", "nothing", "inner/file/x"})
      EXPECT_FALSE(open(root_.get(), path, O_RDONLY | O_CLOEXEC).valid()) << path;
  }
}

TEST_F(OpenBelowTest, FollowsLinksThatStayInTheFolder) {
  for (const char* const* link = std::begin(kLinks); link != std::end(kLinks); link += 2)
    ASSERT_EQ(::symlinkat(link[0], root_.get(), link[1]), 0) << link[1];
  for (const auto open : {OpenBelow, OpenBelowStepwise}) {
    for (const char* path : {"link", "folder/file", "inner/../folder/../link", "inner/back/link", "chain/file"})
      EXPECT_TRUE(open(root_.get(), path, O_RDONLY | O_CLOEXEC).valid()) << path << ": " << std::strerror(errno);
    for (const auto& [path, error] : std::initializer_list<std::pair<const char*, int>>{{"up", EXDEV},
                                                                                        {"away/root/inner/file", EXDEV},
                                                                                        {"outside/secret", EXDEV},
                                                                                        {"round", ELOOP},
                                                                                        {"round/x", ELOOP},
                                                                                        {"gone", ENOENT},
                                                                                        {"link/x", ENOTDIR}}) {
      EXPECT_FALSE(open(root_.get(), path, O_RDONLY | O_CLOEXEC).valid()) << path;
      EXPECT_EQ(errno, error) << path << ": " << std::strerror(errno);
    }
  }
}

// There is always something of that name, inside the folder or a link that leads out.
TEST_F(OpenBelowTest, AFileThatIsReplacedMeanwhileIsNeverAbsent) {
  const std::string root = outer_.path() + "/root", file = root + "/inner/file", other = root + "/inner/other";
  for (const auto open : {OpenBelow, OpenBelowStepwise}) {
    std::atomic<bool> stop(false);
    std::thread changer([&] {
      while (!stop) {
        EXPECT_EQ(::symlink("../../secret", other.c_str()), 0);
        EXPECT_EQ(::rename(other.c_str(), file.c_str()), 0);
        std::ofstream(other) << "f";
        EXPECT_EQ(::rename(other.c_str(), file.c_str()), 0);
      }
    });
    for (int i = 0; i < 2000; ++i) {
      const Descriptor opened = open(root_.get(), "inner/file", O_RDONLY | O_CLOEXEC);
      const int error = errno;
      char text = 'f';
      if (opened.valid()) {
        EXPECT_EQ(::read(opened.get(), &text, 1), 1);
        EXPECT_EQ(text, 'f');
      } else {
        EXPECT_NE(error, ENOENT);
      }
    }
    stop = true;
    changer.join();
  }
}

}  // namespace
}  // namespace cobra
