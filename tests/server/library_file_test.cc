#include "server/library_file.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/file.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::server {
namespace {

// A program of one file, of which `file` is the one that is meant.
python::SourceRequest Program(const std::string& file) {
  python::SourceRequest program;
  program.bundle = {{"net/model.py", "x = 1"}};
  program.file = file;
  return program;
}

Diagnostic::Kind ErrorKind(python::SourceRequest program, const std::vector<std::string>& libraries) {
  const absl::Status status = AddLibraries(libraries, &program);
  EXPECT_FALSE(status.ok());
  return DiagnosticFromStatus(status).value_or(Diagnostic()).kind;
}

TEST(LibraryFileTest, AFileOfTheBundleStaysWhatItIs) {
  python::SourceRequest program = Program("net/model.py");
  ASSERT_TRUE(AddLibraries({"/lib"}, &program).ok());
  EXPECT_EQ(program.file, "net/model.py");
  EXPECT_EQ(program.library_roots, std::vector<std::string>{"/lib"});
}

TEST(LibraryFileTest, AnotherFileIsFoundBelowARoot) {
  tests::TemporaryDirectory library;
  std::filesystem::create_directory(library.File("pkg"));
  ASSERT_TRUE(WriteFileAtomic(library.File("pkg/net.py"), "").ok());
  python::SourceRequest program = Program("pkg/net.py");
  const absl::Status status = AddLibraries({"/no/such", library.path()}, &program);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(program.file, library.File("pkg/net.py"));
  EXPECT_EQ(ErrorKind(Program("pkg"), {library.path()}), Diagnostic::Kind::kUsage);  // a folder is no file
}

TEST(LibraryFileTest, NoPathLeavesALibrary) {
  tests::TemporaryDirectory library;
  std::filesystem::create_directory(library.File("inner"));
  ASSERT_TRUE(WriteFileAtomic(library.File("secret.py"), "").ok());
  for (const std::string& path :
       {std::string("../secret.py"), std::string("/etc/passwd"), std::string("a/../../secret.py"),
        std::string("./a.py"), std::string("a//b.py"), std::string("a.py\0.txt", 9), std::string()}) {
    EXPECT_EQ(ErrorKind(Program(path), {library.File("inner")}), Diagnostic::Kind::kUsage) << path;
  }
}

}  // namespace
}  // namespace cobra::server
