#include "server/source_request.h"

#include <filesystem>
#include <string>

#include "base/diagnostic.h"
#include "base/file.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::server {
namespace {

v1::SourceModel OneFile(const std::string& path) {
  v1::SourceModel source;
  source.add_files()->set_path(path);
  source.mutable_files(0)->set_text("x = 1");
  source.set_file(path);
  source.set_entry("Net()");
  source.add_inputs("1x3");
  return source;
}

Diagnostic::Kind ErrorKind(const v1::SourceModel& source, const std::vector<std::string>& libraries = {}) {
  absl::StatusOr<python::SourceRequest> request = SourceRequestFromProto(source, libraries, ServerLimits());
  EXPECT_FALSE(request.ok());
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(request.status());
  EXPECT_TRUE(diagnostic.has_value());
  return diagnostic.value_or(Diagnostic()).kind;
}

TEST(SourceRequestTest, BundleFile) {
  absl::StatusOr<python::SourceRequest> request =
      SourceRequestFromProto(OneFile("net/model.py"), {"/lib"}, ServerLimits());
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->file, "net/model.py");
  EXPECT_EQ(request->method, "forward");
  EXPECT_EQ(request->bundle.at("net/model.py"), "x = 1");
  EXPECT_EQ(request->library_roots, std::vector<std::string>{"/lib"});
  EXPECT_FALSE(request->torch_version.empty());
}

TEST(SourceRequestTest, LibraryFileIsFoundBelowARoot) {
  tests::TemporaryDirectory library;
  std::filesystem::create_directory(library.File("pkg"));
  ASSERT_TRUE(WriteFileAtomic(library.File("pkg/net.py"), "").ok());
  v1::SourceModel source = OneFile("a.py");
  source.set_file("pkg/net.py");
  absl::StatusOr<python::SourceRequest> request =
      SourceRequestFromProto(source, {"/no/such", library.path()}, ServerLimits());
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->file, library.File("pkg/net.py"));
  source.set_file("pkg");  // a folder is no file
  EXPECT_EQ(ErrorKind(source, {library.path()}), Diagnostic::Kind::kUsage);
}

TEST(SourceRequestTest, NoPathLeavesBundleOrLibrary) {
  tests::TemporaryDirectory library;
  std::filesystem::create_directory(library.File("inner"));
  ASSERT_TRUE(WriteFileAtomic(library.File("secret.py"), "").ok());
  const std::string inside = library.File("inner");
  for (const std::string& path :
       {std::string("../secret.py"), std::string("/etc/passwd"), std::string("a/../../secret.py"),
        std::string("./a.py"), std::string("a//b.py"), std::string("a.py\0.txt", 9), std::string()}) {
    EXPECT_EQ(ErrorKind(OneFile(path)), Diagnostic::Kind::kUsage) << path;
    v1::SourceModel source = OneFile("a.py");
    source.set_file(path);
    EXPECT_EQ(ErrorKind(source, {inside}), Diagnostic::Kind::kUsage) << path;
  }
}

TEST(SourceRequestTest, TwiceTheSameFileOrNoEntryIsRefused) {
  v1::SourceModel twice = OneFile("a.py");
  *twice.add_files() = twice.files(0);
  EXPECT_EQ(ErrorKind(twice), Diagnostic::Kind::kUsage);
  v1::SourceModel no_entry = OneFile("a.py");
  no_entry.clear_entry();
  EXPECT_EQ(ErrorKind(no_entry), Diagnostic::Kind::kUsage);
}

TEST(SourceRequestTest, FilesAreLimited) {
  v1::SourceModel source = OneFile("a.py");
  ServerLimits limits;
  limits.read.bundle_files = 1;
  EXPECT_TRUE(SourceRequestFromProto(source, {}, limits).ok());
  limits.read.bundle_files = 0;
  EXPECT_EQ(DiagnosticFromStatus(SourceRequestFromProto(source, {}, limits).status())->kind, Diagnostic::Kind::kLimit);
}

}  // namespace
}  // namespace cobra::server
