// Data files beside the code: what a program may read, and what it may not, whatever lies in the
// folder.
#include "frontend/python/runtime/interpreter/data_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/frontend/python/runtime/runtime_test.h"
#include "tests/temporary_directory.h"

namespace cobra::python {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class DataFilesTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(directory_.File(name)).parent_path());
    ASSERT_TRUE(WriteFileAtomic(directory_.File(name), text).ok());
  }
  std::string Root() const { return directory_.File("root"); }
  // What the text of main.py prints, with root/ as its folder.
  Outcome Run(std::string main, std::string prefix = "") {
    Program program;
    const std::string file = prefix.empty() ? "main.py" : prefix + "/main.py";
    program.file = file;
    program.bundle[file] = std::move(main);
    DataFolder folder(Root(), std::move(prefix));
    const DataFolderScope scope(&folder);
    Outcome outcome = RunPython(program);
    read_ = folder.read();
    listed_ = folder.listed();
    return outcome;
  }

  tests::TemporaryDirectory directory_;
  std::map<std::string, std::string> read_;
  std::set<std::string> listed_;
};

TEST_F(DataFilesTest, AScriptReadsWhatLiesBesideIt) {
  Write("root/cfg.json", "{\"width\": 4}");
  Write("root/sub/names.txt", "one\r\ntwo\n");
  const Outcome o =
      Run("import json, os, glob, pathlib, io\n"
          "here = os.path.dirname(os.path.abspath(__file__))\n"
          "with open(os.path.join(here, 'cfg.json')) as f: print(json.load(f), f.name.endswith('cfg.json'), f.mode)\n"
          "print(f.closed, (pathlib.Path(__file__).parent / 'sub' / 'names.txt').read_text().splitlines())\n"
          "print(open('sub/names.txt', 'rb').read(), [line for line in open('sub/names.txt')], io.open is not None)\n"
          "print(sorted(os.listdir(here)), [e.name for e in os.scandir('sub') if e.is_file()])\n"
          "print([os.path.basename(p) for p in glob.glob(here + '/**/*.txt', recursive=True)], glob.glob('*.json'))\n"
          "print([str(p) for p in pathlib.Path('.').glob('*/*.txt')], os.path.getsize('cfg.json'), "
          "os.path.exists('no.txt'), os.path.isdir('sub'))\n"
          "try: open('no.txt')\nexcept FileNotFoundError as e: print(e)\n"
          "try: open('sub')\nexcept IsADirectoryError as e: print(type(e).__name__)\n");
  EXPECT_EQ(o.output,
            "{'width': 4} True r\nTrue ['one', 'two']\n"
            "b'one\\r\\ntwo\\n' ['one\\n', 'two\\n'] True\n"
            "['cfg.json', 'main.py', 'sub'] ['names.txt']\n"
            "['names.txt'] ['cfg.json']\n['sub/names.txt'] 12 False True\n"
            "[Errno 2] No such file or directory: 'no.txt'\nIsADirectoryError\n")
      << o.status;
  // What was read is what a server is sent.
  EXPECT_THAT(read_,
              ElementsAre(testing::Pair("cfg.json", "{\"width\": 4}"), testing::Pair("sub/names.txt", "one\r\ntwo\n")));
  EXPECT_TRUE(listed_.count("sub") == 1 && listed_.count("") == 1);
}

// As on a server, which has no such folder: there is what it was sent.
TEST_F(DataFilesTest, WhatWasSentIsThere) {
  Write("root/here.txt", "not this one");
  Program program;
  program.bundle = {{"main.py",
                     "import os\nprint(open('cfg/a.txt').read(), os.listdir('cfg'), sorted(os.listdir('.')))\n"
                     "print(os.path.exists('here.txt'), os.path.isdir('cfg'), os.path.getsize('cfg/a.txt'))\n"},
                    {"cfg/a.txt", "sent"},
                    {"cfg/b.txt", ""}};
  const Outcome o = RunPython(program);
  EXPECT_EQ(o.output, "sent ['a.txt', 'b.txt'] ['cfg', 'main.py']\nFalse True 4\n") << o.status;
  program.bundle["main.py"] = "open('cfg/c.txt')\n";
  EXPECT_THAT(RunPython(program).diagnostic.hint, HasSubstr("not among the files that were sent"));
}

TEST_F(DataFilesTest, AFileOfAPackageIsNamedAsInABundle) {
  Write("root/cfg.txt", "7");
  const Outcome o = Run(
      "import os\nprint(open(os.path.join(os.path.dirname(__file__), 'cfg.txt')).read(), os.path.exists('cfg.txt'))\n",
      "pkg");
  EXPECT_EQ(o.output, "7 False\n") << o.status;
  EXPECT_EQ(read_.count("pkg/cfg.txt"), 1u);
  // Beside the package there may be anything: it is not reported absent.
  EXPECT_THAT(Run("open('cfg.txt')\n", "pkg").diagnostic.message, HasSubstr("which is not below the model's folder"));
}

// Each is refused, or is not there: in no case is there a character of it.
TEST_F(DataFilesTest, NothingElseIsRead) {
  Write("outside.txt", "SECRET");
  Write("root/.env", "SECRET");
  Write("root/.git/config", "SECRET");
  Write("root/id.pem", "SECRET");
  Write("root/weights.pth", "SECRET");
  fs::create_symlink("../outside.txt", directory_.File("root/link.txt"));
  fs::create_symlink(directory_.File("outside.txt"), directory_.File("root/absolute.txt"));
  fs::create_symlink("..", directory_.File("root/up"));
  fs::create_symlink("/dev/zero", directory_.File("root/zero"));
  fs::create_symlink("/proc/self/environ", directory_.File("root/environ"));
  ASSERT_EQ(::mkfifo(directory_.File("root/pipe").c_str(), 0600), 0);  // which nobody writes to
  for (const char* path : {"link.txt", "absolute.txt", "up/outside.txt", "zero", "environ", "pipe", ".env",
                           ".git/config", "id.pem", "sub/../../outside.txt", "../outside.txt", "/etc/passwd",
                           "/proc/self/environ", "/dev/zero", "weights.pth", "link.txt\\0", "\\udc80"}) {
    const Outcome o = Run(absl::StrCat("try: print(open('", path,
                                       "').read(9))\nexcept (FileNotFoundError, ValueError): print('absent')\n"));
    // What is there is not reported absent, as Python would read it.
    const bool is_there = FileExists(directory_.File(absl::StrCat("root/", path))) || path[0] == '/';
    EXPECT_TRUE(!is_there || o.kind() == "unsupported") << path << ": " << o.output << o.status;
    const bool refused = o.output.empty() && o.kind() == "unsupported";
    EXPECT_TRUE(refused || o.output == "absent\n") << path << ": " << o.output << o.status;
    EXPECT_THAT(Run(absl::StrCat("import os\nprint(os.path.exists('", path, "'))\n")).output,
                testing::AnyOf("False\n", ""))
        << path;
  }
  EXPECT_THAT(Run("import os\nprint([n for n in os.listdir('.')])\n").output, "['main.py', 'weights.pth']\n");
  EXPECT_THAT(Run("import os\nos.listdir('..')\n").diagnostic.message,
              HasSubstr("looking at '..', which is not below the model's folder or a --library, is not supported"));
  for (const char* mode : {"w", "a", "x", "r+", "wb"}) {
    const Outcome o = Run(absl::StrCat("open('made.txt', '", mode, "')\n"));
    EXPECT_THAT(o.diagnostic.message, HasSubstr("writing the file 'made.txt' is not supported")) << mode;
  }
  EXPECT_FALSE(FileExists(directory_.File("root/made.txt")));
}

// As on a disk that may only be read. Of a program that does not expect that, the message is that
// COBRA writes nothing.
TEST_F(DataFilesTest, WhoIsPreparedForFilesThatMayNotBeWrittenGoesOn) {
  Write("root/there/a.txt", "");
  for (const char* call :
       {"os.makedirs('made')", "os.mkdir('made')", "open('made', 'w')", "pathlib.Path('made').mkdir()",
        "pathlib.Path('made').write_text('x')", "os.remove('made')", "os.rename('made', 'b')", "os.rmdir('made')"}) {
    const std::string imports = "import os, pathlib\n";
    const Outcome caught = Run(absl::StrCat(imports, "try: ", call, "\nexcept OSError as e: print(e)\n"));
    EXPECT_THAT(caught.output, HasSubstr("[Errno 30] Read-only file system: '")) << call << caught.status;
    const Outcome plain = Run(absl::StrCat(imports, call, "\n"));
    EXPECT_EQ(plain.kind(), "unsupported") << call << plain.status;
  }
  EXPECT_FALSE(fs::exists(directory_.File("root/made")));
  // Nothing is to be made: there it is.
  const Outcome o =
      Run("import os, pathlib\nos.makedirs('there', exist_ok=True)\npathlib.Path('there').mkdir(exist_ok=True)\n"
          "print('on')\n");
  EXPECT_EQ(o.output, "on\n") << o.status;
}

// Which machine this is, no program can ask; one that is prepared for machines without such files
// goes on.
TEST_F(DataFilesTest, WhatTellsMachinesApartIsAbsent) {
  const std::string guarded =
      "import contextlib, os\n"
      "for path in '/etc/os-release', '/etc/dgx-release', '/proc/cpuinfo', '/sys/class/net':\n"
      "  try: print(open(path).read())\n"
      "  except FileNotFoundError: print('absent', os.path.exists(path))\n"
      "with contextlib.suppress(OSError): print(open('/etc/os-release').read())\n";
  EXPECT_EQ(Run(guarded).output, "absent False\nabsent False\nabsent False\nabsent False\n");
  EXPECT_EQ(Run("open('/etc/os-release')\n").kind(), "unsupported");
  EXPECT_EQ(Run("import contextlib\nwith contextlib.suppress(OSError): pass\nopen('/etc/os-release')\n").kind(),
            "unsupported");
}

// Temporary files are the program's own: it sees none of the machine's, and leaves none there.
TEST_F(DataFilesTest, TemporaryFilesAreInMemory) {
  Write("root/x.txt", "");
  const tests::TemporaryDirectory of_machine;
  ASSERT_TRUE(WriteFileAtomic(of_machine.File("secret.txt"), "SECRET").ok());
  const std::string seen = of_machine.File("secret.txt");
  if (absl::StartsWith(seen, "/tmp/")) {
    EXPECT_EQ(Run(absl::StrCat("import os\ntry: open('", seen,
                               "')\nexcept FileNotFoundError: print(os.path.exists('/tmp'), os.listdir('/tmp'))\n"))
                  .output,
              "True []\n");
  }
  EXPECT_EQ(Run("import tempfile, os\n"
                "with tempfile.NamedTemporaryFile('w', delete=False) as f: f.write('mine')\n"
                "print(open(f.name).read(), os.stat(f.name).st_size, os.stat(f.name).st_mtime)\n"
                "os.rename(f.name, '/tmp/kept.txt')\n"
                "print(os.listdir('/tmp'), open('/tmp/../tmp/kept.txt').read())\n")
                .output,
            "mine 4 0.0\n['kept.txt'] mine\n");
  EXPECT_FALSE(FileExists("/tmp/kept.txt"));
  EXPECT_EQ(Run("import os\nprint(os.listdir('/tmp'))\n").output, "[]\n");  // another program has its own
  for (const char* path : {"/tmp/../etc/made", "/tmpx", "/var/tmp/made"}) {
    EXPECT_EQ(Run(absl::StrCat("open('", path, "', 'w')\n")).kind(), "unsupported") << path;
  }
  EXPECT_EQ(Run("with open('/tmp/a', 'wb') as f:\n  while True: f.write(b'x' * 100000)\n").kind(), "limit");
}

TEST_F(DataFilesTest, AFileIsNoLargerThanAnyOtherValue) {
  Write("root/large.txt", std::string(1001, 'x'));
  Program program;
  program.bundle["main.py"] = "print(len(open('large.txt').read()))\n";
  program.limits.sequence_items = 1001;
  DataFolder folder(Root(), "");
  const DataFolderScope scope(&folder);
  EXPECT_EQ(RunPython(program).output, "1001\n");
  program.limits.sequence_items = 1000;
  const Outcome o = RunPython(program);
  EXPECT_EQ(o.kind(), "limit");
  EXPECT_THAT(o.diagnostic.message, HasSubstr("large.txt: 1,001 bytes, more than the limit of 1,000"));
}

// Another process changes the folder while it is read: what is read is a file of the folder, or
// nothing.
TEST_F(DataFilesTest, AFileThatIsReplacedMeanwhileDoesNotLeadOut) {
  Write("outside.txt", "SECRET");
  Write("root/a/data.txt", "inside");
  std::atomic<bool> stop(false);
  const std::string data = directory_.File("root/a/data.txt"), other = directory_.File("root/a/other");
  std::thread changer([&] {
    while (!stop) {
      std::error_code error;
      fs::create_symlink("../../outside.txt", other, error);
      fs::rename(other, data, error);
      ::mkfifo(other.c_str(), 0600);
      fs::rename(other, data, error);
      (void)WriteFileAtomic(other, "inside");
      fs::rename(other, data, error);
    }
  });
  int inside = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto text = ReadBelow(Root(), "a/data.txt", 1 << 20);
    ASSERT_TRUE(text.has_value());
    if (!text->ok()) continue;
    EXPECT_TRUE(**text == "inside" || (**text).empty()) << **text;
    ++inside;
  }
  stop = true;
  changer.join();
  EXPECT_GT(inside, 0);
}

// A file that grows for ever ends at the limit.
TEST_F(DataFilesTest, ReadingEndsAtTheLimit) {
  Write("root/log.txt", "x");
  const auto text = ReadBelow(Root(), "log.txt", 0);
  ASSERT_TRUE(text.has_value());
  EXPECT_TRUE(absl::IsResourceExhausted(text->status()));
  EXPECT_FALSE(ReadBelow(directory_.File("nowhere"), "log.txt", 9).has_value());
  EXPECT_EQ(KindBelow(Root(), "log.txt"), FileKind::kFile);
  EXPECT_EQ(KindBelow(Root(), ""), FileKind::kFolder);
  EXPECT_EQ(KindBelow(Root(), "log.txt/x"), FileKind::kAbsent);
}

TEST_F(DataFilesTest, ALibrarysPackageIsReadAndItsNeighbourIsNotReachedByALink) {
  Write("root/lib/__init__.py", "");
  Write("root/lib/cfg.txt", "mine");
  Write("root/other/key.txt", "SECRET");
  fs::create_symlink("../other/key.txt", directory_.File("root/lib/link.txt"));
  fs::create_symlink("other", directory_.File("root/alias"));
  InterpreterOptions options;
  options.natives = Natives();
  options.library_roots.push_back(DirectorySource(Root()));
  options.bundle["main.py"] = absl::StrCat(
      "import os, lib, importlib.resources as r, pkgutil\nhere = os.path.dirname(lib.__file__)\n"
      "print(open(here + '/cfg.txt').read(), r.files('lib').joinpath('cfg.txt').read_text(), "
      "r.read_text(lib, 'cfg.txt'), pkgutil.get_data('lib', 'cfg.txt'))\n"
      "print(os.path.exists(here + '/link.txt'), os.path.exists(here + '/../alias/key.txt'))\n"
      "import glob\nnames = lambda p: sorted(os.path.basename(q) for q in glob.glob(here + p, recursive=True))\n"
      "print(names('/*.txt'), names('/**/*.txt'), names('/../*/key.txt'), names('/none/*'))\n");
  auto interp = Interpreter::Create(std::move(options));
  const absl::Status status = (*interp)->Run([](Interpreter& i) -> Result<void> {
    COBRA_TRY(i.LoadFile("main.py"));
    return {};
  });
  EXPECT_EQ((*interp)->captured_output(),
            "mine mine mine b'mine'\nFalse False\n['cfg.txt', 'link.txt'] ['cfg.txt', 'link.txt'] ['key.txt'] []\n")
      << status;
}

}  // namespace
}  // namespace cobra::python
