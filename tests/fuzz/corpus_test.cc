// Every committed input of the fuzzers through the code that the fuzzers run.
#include <sys/resource.h>

#include <algorithm>

#include "base/file/file.h"
#include "base/sanitizer.h"
#include "gtest/gtest.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {
namespace {

// The parser goes as deep as CPython's, and a sanitizer's frames are several times as large.
void AllowDeepStacks() {
#ifdef COBRA_SANITIZED
  rlimit stack = {};
  ASSERT_EQ(::getrlimit(RLIMIT_STACK, &stack), 0);
  stack.rlim_cur = std::min(stack.rlim_max, rlim_t{64} << 20);
  ASSERT_EQ(::setrlimit(RLIMIT_STACK, &stack), 0);
#endif
}

void RunAll(const std::string& name, void (*run)(absl::string_view)) {
  MakeEveryCheck();
  AllowDeepStacks();
  const std::string root = COBRA_FUZZ_CORPUS "/" + name;
  const absl::StatusOr<std::vector<std::string>> files = ListFiles(root, "");
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_GT(files->size(), 10u);
  for (const std::string& file : *files) {
    SCOPED_TRACE(file);
    const absl::StatusOr<std::string> data = ReadFile(root + "/" + file);
    ASSERT_TRUE(data.ok()) << data.status();
    run(*data);
  }
}

TEST(FuzzCorpusTest, Source) { RunAll("source", Source); }
TEST(FuzzCorpusTest, Graph) { RunAll("graph", GraphMessage); }
TEST(FuzzCorpusTest, Onnx) { RunAll("onnx", Onnx); }
TEST(FuzzCorpusTest, Tflite) { RunAll("tflite", Tflite); }
TEST(FuzzCorpusTest, Ncnn) { RunAll("ncnn", Ncnn); }
TEST(FuzzCorpusTest, File) { RunAll("file", File); }
TEST(FuzzCorpusTest, Message) { RunAll("message", Message); }
TEST(FuzzCorpusTest, Http) { RunAll("http", Http); }
TEST(FuzzCorpusTest, Architecture) { RunAll("arch", Architecture); }

}  // namespace
}  // namespace cobra::fuzz
