#include "client/check/repository.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/diagnostic.h"
#include "client/answer/repository_root.h"
#include "client/check/diff_command.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Optional;

std::string TextOf(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A repository of its own, with real git.
class RepositoryTest : public testing::Test {
 protected:
  void SetUp() override {
    Run("git init -q -b main");
    Write("net.py", "old = 1\n");
    Write("lib/blocks.py", "block = 1\n");
    Write("data.bin", "large");
    Commit("one");
  }
  void Write(const std::string& path, const std::string& text) {
    const fs::path file = fs::path(folder_.path()) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void Run(const std::string& command) {
    const std::string whole =
        absl::StrCat("cd '", folder_.path(), "' && export GIT_CONFIG_GLOBAL=/dev/null && ", command);
    ASSERT_EQ(::system(whole.c_str()), 0) << command;
  }
  void Commit(const std::string& message) {
    Run(absl::StrCat("git add -A && git -c user.name=t -c user.email=t@t commit -q -m ", message));
  }
  Repository Found() {
    absl::StatusOr<Repository> repository = Repository::Find(folder_.File("net.py"));
    EXPECT_TRUE(repository.ok()) << repository.status();
    return *std::move(repository);
  }
  std::string CommitOf(const std::string& revision) {
    const absl::StatusOr<std::string> commit = Found().Commit(revision);
    EXPECT_TRUE(commit.ok()) << commit.status();
    return commit.value_or("");
  }
  fs::path Exported(const std::string& revision, TemporaryFolder* temporary) {
    const absl::StatusOr<std::string> folder = Found().Export(
        CommitOf(revision), [](absl::string_view path) { return path != "data.bin"; }, temporary);
    EXPECT_TRUE(folder.ok()) << folder.status();
    return folder.value_or("");
  }

  tests::TemporaryDirectory folder_;
};

TEST_F(RepositoryTest, OfAnotherUserSaysWhatToDo) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  Run("chown -R 12345 .");
  const absl::StatusOr<Repository> opened = Repository::Find(folder_.File("net.py"));
  const std::optional<Diagnostic> error = DiagnosticFromStatus(opened.status());
  ASSERT_TRUE(error.has_value()) << opened.status();
  EXPECT_THAT(error->message, testing::HasSubstr("belongs to another user, so git does not open it"));
  EXPECT_THAT(error->hint, testing::HasSubstr("git config --global --add safe.directory "));
}

TEST_F(RepositoryTest, ExportsWhatIsWantedAndTouchesNothing) {
  Write("net.py", "new = 1\n");
  Write("staged.py", "");
  Run("git add staged.py");
  Run("git status --porcelain > .git/before; ls .git/worktrees 2>/dev/null; cp .git/index .git/index.before");
  {
    const auto temporary = TemporaryFolder::Create();
    ASSERT_TRUE(temporary.ok()) << temporary.status();
    const fs::path folder = Exported("HEAD", temporary->get());
    EXPECT_EQ(TextOf(folder / "net.py"), "old = 1\n");
    EXPECT_EQ(TextOf(folder / "lib/blocks.py"), "block = 1\n");
    EXPECT_FALSE(fs::exists(folder / "data.bin"));
    EXPECT_FALSE(fs::exists(folder / "staged.py"));
  }
  Run("git status --porcelain | cmp - .git/before && cmp .git/index .git/index.before && test ! -e .git/worktrees");
  EXPECT_EQ(TextOf(folder_.File("net.py")), "new = 1\n");
}

TEST_F(RepositoryTest, HooksOfTheUserDoNotRunAndTheirEnvironmentIsIgnored) {
  Run("mkdir -p .git/hooks && printf '#!/bin/sh\\ntouch ran\\n' > .git/hooks/post-index-change && "
      "chmod +x .git/hooks/post-index-change");
  ::setenv("GIT_INDEX_FILE", "/nonexistent/index", 1);
  ::setenv("GIT_DIR", "/nonexistent", 1);
  const auto temporary = TemporaryFolder::Create();
  ASSERT_TRUE(temporary.ok());
  EXPECT_TRUE(fs::exists(Exported("main", temporary->get()) / "net.py"));
  ::unsetenv("GIT_INDEX_FILE");
  ::unsetenv("GIT_DIR");
  EXPECT_FALSE(fs::exists(folder_.File("ran")));
}

TEST_F(RepositoryTest, AttributesAreThoseOfTheCommit) {
  Write("lib/.gitattributes", "*.py eol=crlf\n");
  Commit("attributes");
  Write(".gitattributes", "*.py working-tree-encoding=UTF-16\n");
  const auto temporary = TemporaryFolder::Create();
  ASSERT_TRUE(temporary.ok());
  const fs::path old = Exported("HEAD", temporary->get());
  EXPECT_EQ(TextOf(old / "net.py"), "old = 1\n");
  EXPECT_EQ(TextOf(old / "lib/blocks.py"), "block = 1\r\n");
}

TEST_F(RepositoryTest, OddNames) {
  const std::string name = "a \"b\"\n\t\\ \xc3\xa9 [x]*.py";
  Write(name, "odd = 1\n");
  Commit("two");
  const auto temporary = TemporaryFolder::Create();
  ASSERT_TRUE(temporary.ok());
  EXPECT_EQ(TextOf(Exported("HEAD", temporary->get()) / name), "odd = 1\n");
  EXPECT_TRUE(Found().Has(CommitOf("HEAD"), name).value_or(false));
  EXPECT_FALSE(Found().Has(CommitOf("HEAD"), "*.py").value_or(true));  // a name, not a pattern
  EXPECT_EQ(Found().Text(CommitOf("HEAD"), name).value_or(""), "odd = 1\n");
}

TEST_F(RepositoryTest, RevisionsAndMergeBases) {
  const std::string one = CommitOf("HEAD");
  Run("git checkout -q -b branch");
  Write("net.py", "branch = 1\n");
  Commit("two");
  Run("git checkout -q main");
  Write("other.py", "");
  Commit("three");
  EXPECT_EQ(CommitOf("main...branch"), one);
  EXPECT_EQ(CommitOf("branch..."), one);
  EXPECT_NE(CommitOf("main"), one);
  EXPECT_EQ(Repository::Label("main", one), absl::StrCat("main (", one.substr(0, 8), ")"));
  EXPECT_EQ(Repository::Label(one.substr(0, 10), one), one.substr(0, 8));
  for (const char* wrong : {"nothing", "", "...", "--output=x", "HEAD:net.py"}) {
    const absl::StatusOr<std::string> commit = Found().Commit(wrong);
    ASSERT_FALSE(commit.ok()) << wrong;
    EXPECT_EQ(DiagnosticFromStatus(commit.status())->kind, Diagnostic::Kind::kUsage);
  }
  EXPECT_THAT(DiagnosticFromStatus(Found().Commit("nothing").status())->hint, HasSubstr("fetch-depth"));
}

TEST_F(RepositoryTest, RenamesInCommitsAndInTheWorkingTree) {
  const std::string one = CommitOf("HEAD");
  Run("mkdir models && mv net.py models/net.py && mv lib layers");  // git does not know of it yet
  EXPECT_THAT(*Found().EarlierPath("models/net.py", one, ""), Optional(std::string("net.py")));
  EXPECT_THAT(*Found().EarlierPath("layers", one, ""), Optional(std::string("lib")));
  Commit("two");
  const std::string two = CommitOf("HEAD");
  EXPECT_THAT(*Found().EarlierPath("models/net.py", one, two), Optional(std::string("net.py")));
  EXPECT_THAT(*Found().EarlierPath("layers", one, two), Optional(std::string("lib")));
  EXPECT_THAT(*Found().LaterPath("net.py", one, two), Optional(std::string("models/net.py")));
  EXPECT_THAT(*Found().EarlierPath("data.bin", one, two), Optional(std::string("data.bin")));
  EXPECT_EQ(*Found().EarlierPath("none.py", one, two), std::nullopt);
  EXPECT_EQ(*Found().LaterPath("none.py", one, two), std::nullopt);
}

TEST_F(RepositoryTest, SubmodulesAreThoseOfThen) {
  Run("git init -q -b main sub && cd sub && echo 'v = 1' > part.py && git add -A && "
      "git -c user.name=t -c user.email=t@t commit -q -m s1");
  Run("git -c advice.addEmbeddedRepo=false add sub");
  Commit("two");
  Run("cd sub && echo 'v = 2' > part.py && git -c user.name=t -c user.email=t@t commit -q -a -m s2");
  const auto temporary = TemporaryFolder::Create();
  ASSERT_TRUE(temporary.ok());
  EXPECT_EQ(TextOf(Exported("HEAD", temporary->get()) / "sub/part.py"), "v = 1\n");
}

TEST_F(RepositoryTest, LinkedWorktreesAreRepositoriesToo) {
  Run("git worktree add -q --detach .linked");
  const absl::StatusOr<Repository> linked = Repository::Find(folder_.File(".linked/net.py"));
  ASSERT_TRUE(linked.ok()) << linked.status();
  EXPECT_EQ(fs::path(linked->root()).filename(), ".linked");
  EXPECT_EQ(*linked->Commit("HEAD"), CommitOf("main"));
}

TEST(RepositoryRootTest, NoneIsAnError) {
  tests::TemporaryDirectory folder;
  EXPECT_EQ(RepositoryRoot(folder.File("a/b/net.py")), "");
  const absl::StatusOr<Repository> none = Repository::Find(folder.File("net.py"));
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.status().message(), HasSubstr("is not in a git repository"));
}

TEST(PathInFolderTest, ResolvesLinks) {
  tests::TemporaryDirectory folder;
  fs::create_directories(folder.File("a/b"));
  fs::create_directory_symlink(folder.File("a"), folder.File("link"));
  EXPECT_THAT(PathInFolder(folder.File("link/b/net.py"), folder.File("a")), Optional(std::string("b/net.py")));
  EXPECT_THAT(PathInFolder(folder.File("a"), folder.File("a")), Optional(std::string()));
  EXPECT_EQ(PathInFolder(folder.File("a/../net.py"), folder.File("a")), std::nullopt);
}

// Of a process that a signal ends, nothing is left, and its parent sees the signal.
TEST(TemporaryFolderTest, IsGoneAfterASignal) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    int paths[2];
    ASSERT_EQ(::pipe(paths), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto temporary = TemporaryFolder::Create();
      std::ofstream((*temporary)->path() + "/file") << "x";
      const std::string& path = (*temporary)->path();
      (void)!::write(paths[1], path.data(), path.size());
      ::close(paths[1]);
      ::sleep(60);
      ::_exit(0);
    }
    ::close(paths[1]);
    char path[4096];
    const ssize_t size = ::read(paths[0], path, sizeof(path));
    ::close(paths[0]);
    ASSERT_GT(size, 0);
    EXPECT_TRUE(fs::exists(std::string(path, size)));
    ::kill(child, signal);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_FALSE(fs::exists(std::string(path, size)));
  }
}

std::string Sides(const std::vector<std::string>& arguments) {
  const auto exists = [](const std::string& path) { return path == "old.py" || path == "net.py"; };
  const absl::StatusOr<DiffSides> sides = ParseDiffSides(arguments, exists);
  if (!sides.ok()) return "error";
  const auto text = [](const DiffSide& s) {
    return absl::StrCat(s.revision.empty() ? "-" : s.revision, s.from_root ? ":" : " ", s.path);
  };
  return absl::StrCat(text(sides->before), " | ", text(sides->after));
}

TEST(ParseDiffSidesTest, AsForGitDiff) {
  EXPECT_EQ(Sides({"net.py"}), "HEAD net.py | - net.py");
  EXPECT_EQ(Sides({"main", "net.py"}), "main net.py | - net.py");
  EXPECT_EQ(Sides({"v1", "v2", "net.py"}), "v1 net.py | v2 net.py");
  EXPECT_EQ(Sides({"main...", "net.py"}), "main... net.py | - net.py");
  EXPECT_EQ(Sides({"main...topic", "net.py"}), "main...topic net.py | topic net.py");
  EXPECT_EQ(Sides({"old.py", "net.py"}), "- old.py | - net.py");
  EXPECT_EQ(Sides({"HEAD:a/net.py", "net.py"}), "HEAD:a/net.py | - net.py");
  EXPECT_EQ(Sides({"v1:net.py", "v2:net.py"}), "v1:net.py | v2:net.py");
  EXPECT_EQ(Sides({"old.py", "none.py"}), "error");
  EXPECT_EQ(Sides({"main", "gone.py"}), "main gone.py | - gone.py");
}

}  // namespace
}  // namespace cobra::client
