#include "server/reader/reader_processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/sanitizer.h"
#include "frontend/python/reader.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"
#include "server/reader/kept_readers.h"
#include "tests/server/insecure_reader.h"
#include "tests/temporary_directory.h"

namespace cobra::server {
namespace {

constexpr char kNet[] = R"(
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
    def forward(self, x):
        return torch.relu(self.conv(x))
)";

#ifdef COBRA_SANITIZED
constexpr absl::Duration kPatience = absl::Minutes(10);
#else
constexpr absl::Duration kPatience = absl::Seconds(30);
#endif

// As under `ulimit -c 0`: a limit that is lower already must not be raised.
TEST(ReaderLimitsTest, LimitsFromOutsideStay) {
#ifdef COBRA_SANITIZED
  GTEST_SKIP() << "a sanitizer reserves more address space than the limit of this test";
#endif
  const auto starts = [] {
    const rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    const rlimit some = {rlim_t{4} << 30, rlim_t{4} << 30};
    ::setrlimit(RLIMIT_AS, &some);
    Metrics metrics;
    ReaderOptions options;
    options.insecure = tests::MayStartInsecureReaders();
    return ReaderProcesses::Start(options, &metrics).ok();
  };
  EXPECT_EXIT(::_exit(starts() ? 0 : 1), testing::ExitedWithCode(0), "");
}

class ReaderProcessesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(MakeDirectories(root_).ok());
    Restart();
  }

  void Restart() {
    ReaderOptions options;
    options.library_roots = {root_};
    options.insecure = tests::MayStartInsecureReaders();
    readers_.reset();
    auto started = ReaderProcesses::Start(options, &metrics_);
    ASSERT_TRUE(started.ok()) << started.status();
    readers_ = *std::move(started);
  }

  void AddLibraryFile(const std::string& path, const std::string& text) {
    ASSERT_TRUE(MakeDirectories(std::filesystem::path(root_ + "/" + path).parent_path().string()).ok());
    ASSERT_TRUE(WriteFileAtomic(root_ + "/" + path, text).ok());
  }

  static v1::PredictRequest Program(const std::string& text, const std::string& entry = "Net()") {
    v1::PredictRequest request;
    v1::SourceModel* source = request.mutable_source();
    v1::SourceFile* file = source->add_files();
    file->set_path("net.py");
    file->set_text(text);
    source->set_file("net.py");
    source->set_entry(entry);
    source->add_inputs("1x3x8x8");
    return request;
  }

  absl::StatusOr<ReadResult> ReadWhole(v1::PredictRequest request, absl::Duration timeout = kPatience) {
    CallContext call;
    call.deadline = absl::Now() + timeout;
    return readers_->Read(&request, GraphLimits(), call);
  }
  absl::StatusOr<graph::Graph> Read(v1::PredictRequest request, absl::Duration timeout = kPatience) {
    absl::StatusOr<ReadResult> result = ReadWhole(std::move(request), timeout);
    if (!result.ok()) return result.status();
    return std::move(result->graph);
  }

  // What `forward` of a network does that otherwise computes nothing of interest.
  absl::StatusOr<graph::Graph> Run(const std::string& body, absl::Duration timeout = kPatience) {
    return Read(Program("import torch\nfrom torch import nn\nclass Net(nn.Module):\n  def forward(self, x):\n    " +
                        body + "\n    return x + 1\n"),
                timeout);
  }

  static Diagnostic::Kind KindOf(const absl::Status& status) {
    EXPECT_TRUE(DiagnosticFromStatus(status).has_value()) << status;
    return DiagnosticFromStatus(status).value_or(Diagnostic()).kind;
  }

  tests::TemporaryDirectory directory_;
  const std::string root_ = directory_.File("library");
  Metrics metrics_;
  std::unique_ptr<ReaderProcesses> readers_;
};

TEST_F(ReaderProcessesTest, ReadsWhatIsReadInProcess) {
  python::SourceRequest request;
  request.bundle = {{"net.py", kNet}};
  request.file = "net.py";
  request.entry = "Net()";
  request.inputs = {"1x3x8x8"};
  const absl::StatusOr<graph::Graph> here = python::ReadPythonModel(request);
  ASSERT_TRUE(here.ok()) << here.status();
  for (int i = 0; i < 4; ++i) {
    const absl::StatusOr<graph::Graph> there = Read(Program(kNet));
    ASSERT_TRUE(there.ok()) << there.status();
    EXPECT_EQ(graph::GraphToJson(*there), graph::GraphToJson(*here));
  }
}

TEST_F(ReaderProcessesTest, ImportsFromLibrariesBeforeAndWithAnImage) {
  AddLibraryFile("zoo/__init__.py", "");
  AddLibraryFile("zoo/layers.py", "from torch import nn\nclass Block(nn.ReLU): pass\n");
  const v1::PredictRequest request = Program("from zoo.layers import Block\n", "Block()");
  for (int i = 0; i < 20; ++i) {  // the image is made beside the requests
    const absl::StatusOr<graph::Graph> graph = Read(request);
    ASSERT_TRUE(graph.ok()) << graph.status();
    ASSERT_EQ(graph->nodes().size(), 1u);
    EXPECT_EQ(graph->nodes()[0].op, graph::Op::relu);
    absl::SleepFor(absl::Milliseconds(20));
  }
  // A change of the library shows, a second later at most.
  AddLibraryFile("zoo/layers.py", "from torch import nn\nclass Block(nn.Sigmoid): pass\n");
  absl::SleepFor(absl::Milliseconds(1100));
  const absl::StatusOr<graph::Graph> graph = Read(request);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes()[0].op, graph::Op::sigmoid);
}

TEST_F(ReaderProcessesTest, KnowsWhetherAModelWouldBeReadTheSameAgain) {
  const absl::StatusOr<ReadResult> alone = ReadWhole(Program(kNet));
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_TRUE(alone->repeatable);
  AddLibraryFile("zoo/__init__.py", "");
  AddLibraryFile("zoo/layers.py", "from torch import nn\nclass Block(nn.ReLU): pass\n");
  const v1::PredictRequest request = Program("from zoo.layers import Block\n", "Block()");
  absl::StatusOr<ReadResult> result = ReadWhole(request);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->repeatable);  // it asked for files that nobody watches
  for (int i = 0; i < 500 && !result->repeatable; ++i) {
    absl::SleepFor(absl::Milliseconds(20));
    result = ReadWhole(request);
    ASSERT_TRUE(result.ok()) << result.status();
  }
  ASSERT_TRUE(result->repeatable);
  EXPECT_TRUE(result->files_unchanged());
  AddLibraryFile("zoo/layers.py", "from torch import nn\nclass Block(nn.Sigmoid): pass\n");
  absl::SleepFor(absl::Milliseconds(1100));
  EXPECT_FALSE(result->files_unchanged());
}

TEST_F(ReaderProcessesTest, AFileOfALibraryIsTheModelsOwn) {
  AddLibraryFile("zoo/net.py", kNet);
  v1::PredictRequest request = Program(kNet);
  request.mutable_source()->clear_files();
  request.mutable_source()->set_file("zoo/net.py");
  EXPECT_TRUE(Read(request).ok());
  request.mutable_source()->set_file("zoo");
  EXPECT_EQ(KindOf(Read(request).status()), Diagnostic::Kind::kUsage);
}

// A call of many requests: one process reads them all, and each as if it were the first.
TEST_F(ReaderProcessesTest, AKeptReaderForgetsWhatARequestDid) {
  const absl::StatusOr<graph::Graph> fresh = Read(Program(kNet));
  ASSERT_TRUE(fresh.ok()) << fresh.status();
  KeptReaders kept;
  CallContext call;
  call.deadline = absl::Now() + kPatience;
  call.readers = &kept;
  const std::string spoils = absl::StrCat(
      "import torch, builtins\ntorch.relu = torch.sigmoid\nbuiltins.super = None\n"
      "torch.nn.Conv2d.forward = lambda self, x: x\ntorch.nn.functional.conv2d = 7\n",
      "class Net(torch.nn.Module):\n  def forward(self, x): return torch.tanh(x)\n");
  for (const std::string& text : {std::string(kNet), spoils, std::string("import torch\nraise ValueError('no')\n"),
                                  std::string(kNet), std::string("class Net: pass\n"), std::string(kNet)}) {
    v1::PredictRequest request = Program(text);
    const absl::StatusOr<ReadResult> read = readers_->Read(&request, GraphLimits(), call);
    // A second one when an image that has imported torch is ready.
    EXPECT_TRUE(kept.size() == 1 || kept.size() == 2) << kept.size();
    if (text != kNet) continue;
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(read->repeatable);
    EXPECT_EQ(graph::GraphToJson(read->graph), graph::GraphToJson(*fresh));
  }
}

// Whatever earlier requests have left of its limits, a request has its own.
TEST_F(ReaderProcessesTest, WhatEndsAKeptReaderIsReadByAnother) {
  KeptReaders kept;
  CallContext call;
  call.readers = &kept;
  const auto read = [&](const std::string& text) {
    call.deadline = absl::Now() + kPatience;
    v1::PredictRequest request = Program(text);
    return readers_->Read(&request, GraphLimits(), call).status();
  };
  const std::string takes_long = absl::StrCat("i = 0\nwhile i < 300000:\n  i += 1\n", kNet);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(read(takes_long).ok()) << i;
  EXPECT_TRUE(read(kNet).ok());
  EXPECT_GE(kept.size(), 1u);  // of each image
  EXPECT_EQ(KindOf(read("while True: pass\n")), Diagnostic::Kind::kLimit);
  EXPECT_TRUE(read(kNet).ok());
}

// The server need not read what became of each.
TEST_F(ReaderProcessesTest, ManyKilledReadersStopNobody) {
  for (int i = 0; i < 400; ++i) EXPECT_FALSE(Run("while True: pass", absl::Milliseconds(5)).ok());
  EXPECT_TRUE(Read(Program(kNet)).ok());
}

TEST_F(ReaderProcessesTest, NoPathAndNoLinkLeavesALibrary) {
  ASSERT_TRUE(WriteFileAtomic(directory_.File("secret.py"), kNet).ok());
  std::filesystem::create_symlink(directory_.File("secret.py"), root_ + "/link.py");
  for (const std::string& path : {std::string("../secret.py"), std::string("/etc/passwd"),
                                  std::string("a/../../secret.py"), std::string("./a.py"), std::string("a//b.py"),
                                  std::string("a.py\0.txt", 9), std::string("link.py"), std::string()}) {
    v1::PredictRequest request = Program(kNet);
    request.mutable_source()->clear_files();
    request.mutable_source()->set_file(path);
    EXPECT_EQ(KindOf(Read(request).status()), Diagnostic::Kind::kUsage) << path;
  }
  EXPECT_FALSE(Read(Program("import link\nNet = link.Net\n")).ok());
}

TEST_F(ReaderProcessesTest, AnErrorIsTheSameAsInProcess) {
  const absl::Status status = Read(Program("class Net:\n  x = 1 +\n")).status();
  EXPECT_EQ(KindOf(status), Diagnostic::Kind::kSyntaxError);
  EXPECT_EQ(DiagnosticFromStatus(status)->position.line, 2);
}

TEST_F(ReaderProcessesTest, AProgramThatChangesTorchChangesItForNobodyElse) {
  EXPECT_TRUE(Run("nn.ReLU.forward = None; torch.relu = None; import sys; sys.modules.clear()").ok());
  EXPECT_TRUE(Read(Program(kNet)).ok());
}

TEST_F(ReaderProcessesTest, TheDeadlineEndsWhatDoesNotLookAtIt) {
  const absl::Time start = absl::Now();
  const absl::Status status =
      Run("a = b'a' * 4000000; c = b'a' * 2000000 + b'c'\n    for i in range(1000): c in a", absl::Seconds(1)).status();
  EXPECT_FALSE(status.ok());
  EXPECT_LT(absl::Now() - start, absl::Seconds(3));
  EXPECT_TRUE(Read(Program(kNet)).ok());
}

TEST_F(ReaderProcessesTest, MemoryIsLimited) {
  const absl::Status status = Run("for i in range(3000): setattr(self, 'm' * 1000000 + str(i), nn.ReLU())").status();
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(Read(Program(kNet)).ok());
}

std::vector<pid_t> ChildrenOf(pid_t process) {
  const std::string all = absl::StrCat("/proc/", process, "/task/", process, "/children");
  std::vector<pid_t> children;
  for (const absl::string_view word : absl::StrSplit(ReadFile(all).value_or(""), ' ', absl::SkipWhitespace())) {
    int child = 0;
    if (absl::SimpleAtoi(word, &child)) children.push_back(child);
  }
  return children;
}

// Returns when it can take nothing any more.
void KillAndWait(pid_t process) {
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (descriptor < 0) return;  // it is gone
  ::kill(process, SIGKILL);
  pollfd entry = {descriptor, POLLIN, 0};
  EXPECT_EQ(::poll(&entry, 1, 10'000), 1);
  ::close(descriptor);
}

// The kernel's out-of-memory killer takes whom it likes.
TEST_F(ReaderProcessesTest, AReaderThatDiedWhileItWaitedCostsNoRequest) {
  ASSERT_TRUE(Read(Program(kNet)).ok());
  const std::vector<pid_t> images = ChildrenOf(::getpid());
  ASSERT_EQ(images.size(), 1u);
  for (int i = 0; i < 5; ++i) {
    std::vector<pid_t> waiting;
    for (int wait = 0; wait < 1000 && waiting.size() < 2; ++wait) {
      absl::SleepFor(absl::Milliseconds(10));
      waiting = ChildrenOf(images[0]);
    }
    ASSERT_GE(waiting.size(), 2u);
    absl::SleepFor(absl::Milliseconds(100));  // both have reported that they wait
    for (const pid_t reader : ChildrenOf(images[0])) KillAndWait(reader);
    const absl::StatusOr<graph::Graph> graph = Read(Program(kNet));
    ASSERT_TRUE(graph.ok()) << graph.status();
  }
}

TEST_F(ReaderProcessesTest, StartsAgainWhenItsProcessIsKilled) {
  ASSERT_TRUE(Read(Program(kNet)).ok());
  const std::vector<pid_t> images = ChildrenOf(::getpid());
  ASSERT_EQ(images.size(), 1u);
  KillAndWait(images[0]);
  for (int i = 0; i < 5; ++i) {
    const absl::StatusOr<graph::Graph> graph = Read(Program(kNet));
    ASSERT_TRUE(graph.ok()) << graph.status();
  }
}

// An image that was made for a request's imports, and the one that made it.
TEST_F(ReaderProcessesTest, NoRequestFailsWhenEveryProcessIsKilled) {
  AddLibraryFile("zoo/__init__.py", "");
  AddLibraryFile("zoo/layers.py", "from torch import nn\nclass Block(nn.ReLU): pass\n");
  const v1::PredictRequest request = Program("from zoo.layers import Block\n", "Block()");
  bool repeatable = false;  // its image serves
  for (int i = 0; i < 500 && !repeatable; ++i) {
    const absl::StatusOr<ReadResult> result = ReadWhole(request);
    ASSERT_TRUE(result.ok()) << result.status();
    repeatable = result->repeatable;
    absl::SleepFor(absl::Milliseconds(20));
  }
  ASSERT_TRUE(repeatable);
  const std::vector<pid_t> images = ChildrenOf(::getpid());
  ASSERT_EQ(images.size(), 1u);
  std::vector<pid_t> all = ChildrenOf(images[0]);
  for (size_t i = 0; i < all.size(); ++i) {
    for (const pid_t below : ChildrenOf(all[i])) all.push_back(below);
  }
  KillAndWait(images[0]);
  for (const pid_t process : all) ::kill(process, SIGKILL);
  // On a busy machine one that is killed may still take a request.
  for (const pid_t process : all) KillAndWait(process);
  for (int i = 0; i < 5; ++i) {
    const absl::StatusOr<graph::Graph> graph = Read(request);
    ASSERT_TRUE(graph.ok()) << graph.status();
  }
}

TEST(ReaderProcesses, WithoutItsProgramThereIsAnError) {
  ReaderOptions options;
  options.program = "/no/such/cobra-reader";
  EXPECT_FALSE(ReaderProcesses::Start(options, nullptr).ok());
}

}  // namespace
}  // namespace cobra::server
