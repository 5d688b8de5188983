#include "client/answer/written_file.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/file/file.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::client {
namespace {

class WrittenFileTest : public testing::Test {
 protected:
  std::string Write(const std::string& name) {
    EXPECT_TRUE(WriteFileAtomic(directory_.File(name), "x = 1\n").ok());
    return directory_.File(name);
  }
  // "" if the file may be written; otherwise message and hint of the usage error.
  static std::string Fault(const WrittenFile& file, const std::string& model) {
    const absl::Status status = CheckWrittenFile(file, model);
    if (status.ok()) return "";
    const Diagnostic diagnostic = DiagnosticFromStatus(status).value_or(Diagnostic());
    EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kUsage);
    return diagnostic.message + "; " + diagnostic.hint;
  }
  tests::TemporaryDirectory directory_;
};

TEST_F(WrittenFileTest, TheModelThatIsReadIsNeverReplaced) {
  const std::string net = Write("net.py"), link = directory_.File("link.py");
  std::filesystem::create_symlink(net, link);
  for (const std::string& out : {net, link, directory_.File("./net.py")}) {
    for (const bool overwrite : {false, true})
      EXPECT_EQ(Fault({"python", out, overwrite}, net),
                "--out " + out + ": is the model being read; give another name");
  }
  EXPECT_NE(Fault({"python", net, true}, link), "");
  EXPECT_EQ(Fault({"python", directory_.File("out.py")}, net), "");
  // All files of a folder are the model; what is not there yet is none of them.
  const std::string folder = directory_.File("");
  EXPECT_NE(Fault({"python", net, true}, folder), "");
  EXPECT_EQ(Fault({"python", directory_.File("out.py"), true}, folder), "");
}

TEST_F(WrittenFileTest, AFileThatExistsIsReplacedOnlyIfTheUserSaysSo) {
  const std::string net = Write("net.py"), out = Write("out.onnx");
  EXPECT_EQ(Fault({"onnx", out}, net),
            "--out " + out + ": already exists; give another name, or add --overwrite to replace it");
  EXPECT_EQ(Fault({"onnx", out, true}, net), "");
  EXPECT_NE(Fault({"python", Write("out.py")}, net), "");
}

TEST_F(WrittenFileTest, APictureNeedsNoFile) {
  const std::string net = Write("net.py");
  EXPECT_EQ(Fault({"svg", ""}, net), "");
  EXPECT_EQ(Fault({"svg", directory_.File("net.svg")}, net), "");
  EXPECT_NE(Fault({"svg", directory_.File("net.png")}, net), "");
  EXPECT_NE(Fault({"svg", Write("old.svg")}, net), "");
  EXPECT_NE(Fault({"svg", "", true}, net), "") << "there is nothing to replace";
}

TEST_F(WrittenFileTest, SoAreTheWeightsBesideIt) {
  const std::string net = Write("net.py"), weights = Write("out.safetensors"), out = directory_.File("out.onnx");
  EXPECT_EQ(Fault({"onnx", out}, net), "--out " + out + ": " + weights +
                                           " beside it already exists; give another name, or add --overwrite to "
                                           "replace it");
  EXPECT_EQ(Fault({"onnx", out, true}, net), "");
  EXPECT_EQ(Fault({"python", directory_.File("out.py")}, net), "");
}

TEST_F(WrittenFileTest, TheNameMustFitTheFormat) {
  EXPECT_EQ(Fault({"onnx", ""}, "net.py"), "--out: is missing; --format onnx writes a file: --out net.onnx");
  EXPECT_NE(Fault({"onnx", "out.py"}, "net.py"), "");
  EXPECT_NE(Fault({"", "out.py"}, "net.py"), "");
  EXPECT_NE(Fault({"", "", true}, "net.py"), "");
  EXPECT_EQ(Fault({"", ""}, "net.py"), "");
}

TEST_F(WrittenFileTest, NoCommandReplacesWhatIsReadOrLooksLikeAModel) {
  const auto fault = [](const std::string& written, const std::vector<std::string>& read) {
    ConnectionFiles connection;
    connection.token_file = read.empty() ? "" : read.back();
    const absl::Status status = CheckReplaces("--out ", written, read, connection);
    return status.ok() ? "" : DiagnosticFromStatus(status).value_or(Diagnostic()).message;
  };
  const std::string list = Write("list.csv"), page = Write("page.html"), token = Write("token");
  const std::string link = directory_.File("link.html");
  std::filesystem::create_symlink(list, link);
  EXPECT_EQ(fault("-", {list}), "");
  EXPECT_EQ(fault(page, {list}), "");
  EXPECT_EQ(fault(page, {""}), "");
  EXPECT_EQ(fault(directory_.File("new.csv"), {list}), "");
  for (const std::string& written : {list, link, directory_.File("./list.csv")})
    EXPECT_EQ(fault(written, {page, list}), "--out " + written + ": is a file that this command reads");
  EXPECT_NE(fault(token, {list, token}), "");
  // Also those that nobody named: an import of the model, a configuration. A new one is not a loss.
  for (const std::string name : {"layers.py", "cobra.toml", "net.onnx", "net.safetensors"}) {
    EXPECT_EQ(fault(directory_.File(name), {list}), "") << name;
    EXPECT_NE(fault(Write(name), {list}), "") << name;
  }
  const std::string hidden = directory_.File("hidden.html");
  std::filesystem::create_symlink(directory_.File("layers.py"), hidden);
  EXPECT_NE(fault(hidden, {}), "");
}

TEST_F(WrittenFileTest, ALinkOfARepositoryDoesNotLeadOutOfIt) {
  namespace fs = std::filesystem;
  const std::string outside = Write("outside"), root = directory_.File("repository");
  fs::create_directories(root + "/.git");
  const fs::path before = fs::current_path();
  fs::current_path(root);
  std::ofstream("inside") << "";
  std::ofstream(".git/config") << "";
  fs::create_symlink(outside, "out.md");
  fs::create_symlink("inside", "in.md");
  fs::create_symlink(".git/config", "git.md");
  fs::create_symlink(root + "/out.md", directory_.File("of_the_user.md"));
  const auto refused = [](const std::string& written) { return !CheckReplaces("--out ", written, {}).ok(); };
  EXPECT_TRUE(refused("out.md"));
  EXPECT_TRUE(refused(root + "/out.md"));
  EXPECT_TRUE(refused("git.md"));
  EXPECT_FALSE(refused("in.md"));
  EXPECT_FALSE(refused("inside"));
  EXPECT_FALSE(refused(outside));
  EXPECT_FALSE(refused(directory_.File("of_the_user.md")));
  EXPECT_FALSE(refused("/dev/stdout"));
  fs::current_path(before);
}

}  // namespace
}  // namespace cobra::client
