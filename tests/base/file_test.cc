#include "base/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace cobra {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/cobra_file_test_XXXXXX";
    directory_ = ::mkdtemp(pattern);
  }
  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  std::string directory_;
};

TEST_F(FileTest, WritesAndReadsBack) {
  ASSERT_TRUE(WriteFileAtomic(Path("a"), "one").ok());
  ASSERT_TRUE(WriteFileAtomic(Path("a"), "two").ok());
  EXPECT_EQ(*ReadFile(Path("a")), "two");
  EXPECT_EQ(ListFiles(directory_, "").value(), std::vector<std::string>{"a"});  // no temporary is left behind
}

TEST_F(FileTest, AMissingFileIsNotFoundAndNamed) {
  const auto missing = ReadFile(Path("nowhere"));
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(missing.status().message().find("nowhere"), absl::string_view::npos);
}

TEST_F(FileTest, LimitsBytes) {
  ASSERT_TRUE(WriteFileAtomic(Path("big"), std::string(1000, 'x')).ok());
  EXPECT_EQ(ReadFile(Path("big"), 999).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(ReadFile(Path("big"), 1000).ok());
}

TEST_F(FileTest, GunzipsAndBoundsWhatItUnpacks) {
  const std::string text(100000, 'y');
  ASSERT_TRUE(WriteFileAtomic(Path("z.gz"), Gzip(text)).ok());
  EXPECT_EQ(*ReadMaybeGzip(Path("z.gz")), text);
  EXPECT_EQ(ReadMaybeGzip(Path("z.gz"), 50000).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Gzip(text), Gzip(text));
}

TEST_F(FileTest, ACutGzipFileIsDataLoss) {
  const std::string packed = Gzip(std::string(100000, 'y'));
  ASSERT_TRUE(WriteFileAtomic(Path("cut.gz"), packed.substr(0, packed.size() / 2)).ok());
  EXPECT_EQ(ReadMaybeGzip(Path("cut.gz")).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(FileTest, ListsBySuffixSorted) {
  ASSERT_TRUE(MakeDirectories(Path("d/e")).ok());
  ASSERT_TRUE(WriteFileAtomic(Path("d/e/b.py"), "").ok());
  ASSERT_TRUE(WriteFileAtomic(Path("a.py"), "").ok());
  ASSERT_TRUE(WriteFileAtomic(Path("c.txt"), "").ok());
  EXPECT_EQ(ListFiles(directory_, ".py").value(), (std::vector<std::string>{"a.py", "d/e/b.py"}));
}

TEST_F(FileTest, APathThatLeavesItsFolderIsNotInside) {
  for (const char* inside : {"a.py", "net/blocks.py", "..net/...py"}) EXPECT_TRUE(IsPathInside(inside)) << inside;
  for (const char* outside : {"", "/etc/passwd", "../a.py", "a/../../b.py", "./a.py", "a//b.py", "a/"})
    EXPECT_FALSE(IsPathInside(outside)) << outside;
  EXPECT_FALSE(IsPathInside(absl::string_view("a.py\0.txt", 9)));
  EXPECT_FALSE(IsPathInside(std::string(4097, 'a')));
}

}  // namespace
}  // namespace cobra
