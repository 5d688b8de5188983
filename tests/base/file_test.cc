#include "base/file/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "base/file/new_file.h"

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

// A link, a pipe or a device that is written to stays one.
TEST_F(FileTest, WhatIsNoFileStaysWhatItIs) {
  ASSERT_TRUE(WriteFileAtomic(Path("a"), "one").ok());
  ASSERT_EQ(::symlink("a", Path("link").c_str()), 0);
  ASSERT_TRUE(WriteFileAtomic(Path("link"), "two").ok());
  EXPECT_EQ(*ReadFile(Path("a")), "two");
  struct stat status = {};
  ASSERT_EQ(::lstat(Path("link").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  const int reader = ::open(Path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(WriteFileAtomic(Path("pipe"), "three").ok());
  char text[6] = {};
  EXPECT_EQ(::read(reader, text, 5), 5);
  EXPECT_EQ(std::string(text), "three");
  ::close(reader);
  EXPECT_FALSE(WriteFileAtomic("/dev/full", "no room").ok());
}

// Whoever may write to the folder cannot have another file written to instead.
TEST_F(FileTest, NoLinkIsFollowedFromATemporaryName) {
  ASSERT_TRUE(WriteFileAtomic(Path("other"), "one").ok());
  ASSERT_EQ(::symlink("other", Path("a.tmp." + std::to_string(::getpid())).c_str()), 0);
  ASSERT_TRUE(WriteFileAtomic(Path("a"), "two").ok());
  EXPECT_EQ(*ReadFile(Path("other")), "one");
  EXPECT_EQ(*ReadFile(Path("a")), "two");
  std::set<std::string> names;
  for (int i = 0; i < 3; ++i) {
    std::string name;
    std::FILE* file = CreateBeside(Path("a"), &name);
    ASSERT_NE(file, nullptr);
    std::fclose(file);
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST_F(FileTest, ANewFileHasTheUsualMode) {
  const mode_t before = ::umask(027);
  EXPECT_TRUE(WriteFileAtomic(Path("a"), "one").ok());
  ::umask(before);
  struct stat status = {};
  ASSERT_EQ(::stat(Path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
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
  EXPECT_EQ(*ReadMaybeCompressed(Path("z.gz")), text);
  EXPECT_EQ(ReadMaybeCompressed(Path("z.gz"), 50000).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Gzip(text), Gzip(text));
}

TEST_F(FileTest, ACutGzipFileIsDataLossAndADamagedOneIsCalledSo) {
  std::string packed = Gzip(std::string(100000, 'y'));
  ASSERT_TRUE(WriteFileAtomic(Path("cut.gz"), packed.substr(0, packed.size() / 2)).ok());
  EXPECT_EQ(ReadMaybeCompressed(Path("cut.gz")).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(ReadMaybeCompressed(Path("cut.gz")).status().message()), testing::HasSubstr("truncated"));
  packed[packed.size() - 6] ^= 1;  // of its checksum
  ASSERT_TRUE(WriteFileAtomic(Path("flipped.gz"), packed).ok());
  const absl::Status flipped = ReadMaybeCompressed(Path("flipped.gz")).status();
  EXPECT_EQ(flipped.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(flipped.message()), testing::HasSubstr("damaged"));
}

// As `cat` joins them, and as parallel compressors write them.
TEST_F(FileTest, AGzipFileOfSeveralMembersIsReadWhole) {
  const auto unpacked = [this](const std::string& packed, int64_t max_bytes = 1 << 20) {
    EXPECT_TRUE(WriteFileAtomic(Path("z.gz"), packed).ok());
    return ReadMaybeCompressed(Path("z.gz"), max_bytes);
  };
  EXPECT_EQ(*unpacked(Gzip("one") + Gzip("two") + Gzip("") + Gzip("three")), "onetwothree");
  EXPECT_EQ(*unpacked(Gzip("")), "");
  EXPECT_EQ(*unpacked(Gzip("one") + std::string(512, '\0')), "one");  // the last block of a tape
  EXPECT_EQ(unpacked(Gzip("one") + Gzip("two"), 60).value_or(""), "onetwo");
  EXPECT_EQ(unpacked(Gzip(std::string(600, 'y')) + Gzip(std::string(600, 'y')), 1000).status().code(),
            absl::StatusCode::kResourceExhausted);
  const std::string first = Gzip("one"), second = Gzip("two");
  for (size_t length = 1; length < second.size(); ++length) {
    const absl::Status cut = unpacked(first + second.substr(0, length)).status();
    EXPECT_EQ(cut.code(), absl::StatusCode::kDataLoss) << length;
    EXPECT_THAT(std::string(cut.message()), testing::HasSubstr("truncated")) << length;
  }
  const absl::Status garbage = unpacked(first + "no gzip").status();
  EXPECT_EQ(garbage.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(garbage.message()), testing::HasSubstr("damaged"));
}

// zlib is given a file in pieces, since it counts in 32 bits: these are several.
TEST_F(FileTest, AGzipFileOfManyPiecesIsPackedAndUnpackedWhole) {
  std::string text;
  uint32_t state = 1;
  while (text.size() < (size_t{5} << 20)) {
    state = state * 1664525 + 1013904223;
    text.push_back(static_cast<char>(state >> 24));  // cannot be compressed
  }
  const std::string packed = Gzip(text);
  EXPECT_GT(packed.size(), size_t{4} << 20);
  ASSERT_TRUE(WriteFileAtomic(Path("z.gz"), packed + packed).ok());
  const auto unpacked = ReadMaybeCompressed(Path("z.gz"));
  ASSERT_TRUE(unpacked.ok()) << unpacked.status();
  EXPECT_TRUE(*unpacked == text + text);
}

std::string Xz(const std::string& text) {
  lzma_options_lzma options;
  EXPECT_FALSE(lzma_lzma_preset(&options, 0));
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string packed(text.size() + 1024, '\0');
  size_t size = 0;
  EXPECT_EQ(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(text.data()),
                                      text.size(), reinterpret_cast<uint8_t*>(&packed[0]), &size, packed.size()),
            LZMA_OK);
  packed.resize(size);
  return packed;
}

TEST_F(FileTest, UnpacksXzAndBoundsWhatItUnpacks) {
  const std::string text(100000, 'y');
  ASSERT_TRUE(WriteFileAtomic(Path("z"), Xz(text)).ok());
  EXPECT_EQ(*ReadMaybeCompressed(Path("z")), text);
  EXPECT_EQ(*ReadMaybeCompressed(Path("z"), 100000), text);
  EXPECT_EQ(ReadMaybeCompressed(Path("z"), 50000).status().code(), absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(WriteFileAtomic(Path("two"), Xz("one") + Xz("two")).ok());  // as `cat` joins them
  EXPECT_EQ(*ReadMaybeCompressed(Path("two")), "onetwo");
  ASSERT_TRUE(WriteFileAtomic(Path("empty"), Xz("")).ok());
  EXPECT_EQ(*ReadMaybeCompressed(Path("empty")), "");
}

TEST_F(FileTest, ADamagedXzFileIsDataLoss) {
  const std::string packed = Xz("some text, and the same text, and the same text again");
  for (size_t length = 6; length < packed.size(); ++length) {
    ASSERT_TRUE(WriteFileAtomic(Path("cut"), packed.substr(0, length)).ok());
    EXPECT_EQ(ReadMaybeCompressed(Path("cut")).status().code(), absl::StatusCode::kDataLoss) << length;
  }
  for (size_t i = 6; i < packed.size(); ++i) {
    std::string damaged = packed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    ASSERT_TRUE(WriteFileAtomic(Path("damaged"), damaged).ok());
    EXPECT_FALSE(ReadMaybeCompressed(Path("damaged")).ok()) << i;
  }
  ASSERT_TRUE(WriteFileAtomic(Path("more"), packed + "more").ok());
  EXPECT_EQ(ReadMaybeCompressed(Path("more")).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(FileTest, AnXzFileThatNeedsMuchMemoryIsRefused) {
  // The block's header begins after the stream's 12 bytes: its length in words, less one; ...; the
  // filter LZMA2, its one byte of options, which is the dictionary's size (40: 4 GiB); checksum.
  std::string packed = Xz("small");
  const size_t begin = 12, size = 4 * (static_cast<size_t>(packed[begin]) + 1);
  const size_t filter = packed.find("\x21\x01", begin);
  ASSERT_LT(filter, begin + size);
  packed[filter + 2] = 40;
  const uint32_t checksum = lzma_crc32(reinterpret_cast<const uint8_t*>(&packed[begin]), size - 4, 0);
  for (size_t i = 0; i < 4; ++i) packed[begin + size - 4 + i] = static_cast<char>(checksum >> (8 * i));
  ASSERT_TRUE(WriteFileAtomic(Path("wide"), packed).ok());
  const absl::Status status = ReadMaybeCompressed(Path("wide")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("wide: "), absl::string_view::npos) << status;
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
