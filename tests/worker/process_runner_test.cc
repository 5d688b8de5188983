#include "worker/meter/process_runner.h"

#include <signal.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::worker {
namespace {

using ::testing::HasSubstr;
using tests::TemporaryDirectory;

// A runner in Python that answers `describe`; `rest` says what it does with other requests, in a
// function body in which `request` is the request and `answer(...)` sends what it is given.
std::vector<std::string> Runner(const TemporaryDirectory& folder, const std::string& rest) {
  const std::string path = folder.File("runner.py");
  EXPECT_TRUE(WriteFileAtomic(path, absl::StrCat(R"py(
import json, os, signal, sys, time

def answer(id, **keys):
    print(json.dumps(dict(keys, id=id)), flush=True)

def rest(request, id, what):
)py",
                                                 rest, R"py(
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "describe":
        answer(request["id"], runtime="example", version="1", format="json", profile=True)
    else:
        rest(request, request["id"], request["do"])
)py"))
                  .ok());
  return {"/usr/bin/python3", path};
}

RunnerLimits Short() {
  RunnerLimits limits;
  limits.load = limits.answer = absl::Seconds(2);
  limits.max_answer_bytes = 100'000;
  return limits;
}

absl::StatusOr<std::vector<double>> RunOf(const std::string& rest, int calls = 3, int batch = 1) {
  const TemporaryDirectory folder;
  const auto runner = ProcessRunner::Start(Runner(folder, rest), Short());
  if (!runner.ok()) return runner.status();
  return (*runner)->Run(calls, batch);
}

TEST(ProcessRunnerTest, AnswersOfARunner) {
  const TemporaryDirectory folder;
  const auto started = ProcessRunner::Start(Runner(folder, R"py(
    if what == "load":
        answer(id, unsupported="conv2d: groups") if request["threads"] > 2 else answer(id)
    elif what == "run":
        answer(id, ns=[1000.5] * request["calls"])
    elif what == "memory":
        answer(id, peak_bytes=12345)
    elif what == "profile":
        answer(id, entries=[{"name": "Conv", "us": 2.5, "calls": [0, 1]}, {"name": "Reorder", "us": 1}])
    else:
        answer(id, error="no " + what)
)py"),
                                            Short());
  ASSERT_TRUE(started.ok()) << started.status();
  ProcessRunner& runner = **started;
  EXPECT_EQ(runner.description().runtime, "example");
  EXPECT_TRUE(runner.description().profiles);
  RunnerModel model;
  model.threads = 4;
  EXPECT_EQ(runner.Load(model), absl::UnimplementedError("conv2d: groups"));
  model.threads = 1;
  EXPECT_TRUE(runner.Load(model).ok());
  const auto ns = runner.Run(4, 10);
  ASSERT_TRUE(ns.ok()) << ns.status();
  EXPECT_EQ(*ns, std::vector<double>(4, 1000.5));
  EXPECT_EQ(runner.PeakMemoryBytes().value(), 12345);
  const auto profile = runner.Profile(2, 100);
  ASSERT_TRUE(profile.ok());
  ASSERT_EQ(profile->size(), 2u);
  EXPECT_EQ((*profile)[0].calls, (std::vector<int>{0, 1}));
  EXPECT_THAT(std::string(runner.Unload().message()), HasSubstr("unload: no unload"));
  EXPECT_TRUE(runner.alive());  // an error is an answer
}

TEST(ProcessRunnerTest, ARunnerThatCannotBeStarted) {
  EXPECT_FALSE(ProcessRunner::Start({"/nonexistent/runner"}).ok());
  const auto silent = ProcessRunner::Start({"/bin/true"}, Short());
  EXPECT_EQ(silent.status().code(), absl::StatusCode::kUnavailable);
  const auto nameless = ProcessRunner::Start({"/bin/sh", "-c", "read line; echo '{\"id\":1,\"runtime\":\"x\"}'"});
  EXPECT_THAT(std::string(nameless.status().message()), HasSubstr("\"version\""));
  for (const char* runtime : {"../../etc/x", "a b"}) {
    const std::string answer = absl::StrCat("{\\\"id\\\":1,\\\"runtime\\\":\\\"", runtime, "\\\"}");
    const auto odd = ProcessRunner::Start({"/bin/sh", "-c", absl::StrCat("read line; echo \"", answer, "\"")}, Short());
    EXPECT_THAT(std::string(odd.status().message()), HasSubstr("\"runtime\""));
  }
}

TEST(ProcessRunnerTest, ARunnerThatDies) {
  EXPECT_THAT(std::string(RunOf("    os._exit(3)\n").status().message()), HasSubstr("exit status 3"));
  EXPECT_THAT(std::string(RunOf("    os.kill(os.getpid(), signal.SIGSEGV)\n").status().message()),
              HasSubstr("signal 11"));
}

TEST(ProcessRunnerTest, ARunnerThatHangsIsEndedWithItsChildren) {
  const TemporaryDirectory folder;
  const auto runner = ProcessRunner::Start(Runner(folder, absl::StrCat(R"py(
    child = os.fork()
    if child == 0:
        time.sleep(600)
    with open(")py",
                                                                       folder.File("child"), R"py(", "w") as file:
        file.write(str(child))
    time.sleep(600)
)py")),
                                           Short());
  ASSERT_TRUE(runner.ok());
  EXPECT_EQ((*runner)->Run(1, 1).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_FALSE((*runner)->alive());
  EXPECT_EQ((*runner)->Run(1, 1).status().code(), absl::StatusCode::kUnavailable);
  const int child = std::stoi(ReadFile(folder.File("child")).value());
  for (int i = 0; i < 100 && ::kill(child, 0) == 0; ++i) {
    const std::string state = ReadFile(absl::StrCat("/proc/", child, "/stat")).value_or(std::string());
    if (state.find(") Z") != std::string::npos) break;  // it has ended, and nobody has asked how
    absl::SleepFor(absl::Milliseconds(20));
    ASSERT_LT(i, 99);
  }
}

TEST(ProcessRunnerTest, ARunnerThatPrintsGarbage) {
  for (const char* rest :
       {"    print('hello', flush=True)\n", "    print('[1, 2', flush=True)\n", "    answer(id + 1, ns=[1, 1, 1])\n",
        "    print('null', flush=True)\n", "    print('[' * 50000, flush=True)\n",
        "    sys.stdout.write('x' * 10**6); sys.stdout.flush(); time.sleep(600)\n"}) {
    const auto ns = RunOf(rest);
    EXPECT_EQ(ns.status().code(), absl::StatusCode::kUnavailable) << rest << ns.status();
  }
}

TEST(ProcessRunnerTest, ARunnerThatLies) {
  for (const char* times : {"[]", "[1, 2]", "[1, 2, -3]", "[1, 2, 0]", "[1, 2, 'three']", "'many'"}) {
    const auto ns = RunOf(absl::StrCat("    answer(id, ns=", times, ")\n"));
    EXPECT_EQ(ns.status().code(), absl::StatusCode::kInternal) << times;
  }
  // A clock that is too fast, and one that is too slow.
  EXPECT_THAT(std::string(RunOf("    answer(id, ns=[1e9, 1e9, 1e9])\n").status().message()), HasSubstr("add up to"));
  EXPECT_THAT(std::string(RunOf("    time.sleep(0.2); answer(id, ns=[10, 10, 10])\n").status().message()),
              HasSubstr("add up to"));
}

TEST(ProcessRunnerTest, SmallLiesAddUp) {
  const TemporaryDirectory folder;
  const auto runner = ProcessRunner::Start(Runner(folder, "    time.sleep(0.01); answer(id, ns=[1000])\n"), Short());
  ASSERT_TRUE(runner.ok());
  int answered = 0;
  while (answered < 20 && (*runner)->Run(1, 1).ok()) ++answered;
  EXPECT_LT(answered, 20);
}

// A run of 10 us whose clock says something else: too little to show in the measurement of a small
// network.
TEST(ProcessRunnerTest, ASmallLieShowsOnceInALongRun) {
  for (const char* says : {"us // 2", "us * 2", "us * 10", "100"}) {
    const TemporaryDirectory folder;
    const auto runner = ProcessRunner::Start(
        Runner(folder, absl::StrCat("    us = 10 * request['calls'] * request['batch']; time.sleep(us / 1e6); "
                                    "answer(id, ns=[1000 * (",
                                    says, ")])\n")),
        Short());
    ASSERT_TRUE(runner.ok());
    EXPECT_TRUE((*runner)->Run(1, 1).ok());
    EXPECT_THAT(std::string((*runner)->CheckClock().message()), HasSubstr("add up to")) << says;
  }
}

TEST(ProcessRunnerTest, TheClockIsCheckedOnceForEachProcess) {
  const TemporaryDirectory folder;
  const auto runner = ProcessRunner::Start(Runner(folder, R"py(
    if what != "run":
        return answer(id)
    start = time.perf_counter_ns()
    time.sleep(1e-4 * request["batch"])
    answer(id, ns=[time.perf_counter_ns() - start])
)py"),
                                           Short());
  ASSERT_TRUE(runner.ok());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE((*runner)->Load({}).ok());
    ASSERT_TRUE((*runner)->Run(1, 1).ok());
    const absl::Time start = absl::Now();
    EXPECT_TRUE((*runner)->CheckClock().ok());
    EXPECT_EQ(absl::Now() - start > absl::Milliseconds(20), i == 0);
  }
}

TEST(ProcessRunnerTest, WhatAProfileCannotSay) {
  for (const auto& [entries, fault] :
       {std::pair("[{'name': 'a', 'us': 1e9}]", "add up to"),
        {"[{'name': 'a', 'us': 1, 'calls': [1, 1]}]", "twice"},
        {"[{'name': 'a', 'us': 0, 'calls': [i]} for i in range(1000) for _ in range(60)]", "more than the limit"},
        {"[{'name': 'a', 'us': 1, 'calls': [100000]}]", "not a call"},
        {"[{'name': 'a', 'us': -1}]", "not a time"}}) {
    const TemporaryDirectory folder;
    RunnerLimits limits;
    const auto runner =
        ProcessRunner::Start(Runner(folder, absl::StrCat("    answer(id, entries=", entries, ")\n")), limits);
    ASSERT_TRUE(runner.ok());
    EXPECT_THAT(std::string((*runner)->Profile(1, 2000).status().message()), HasSubstr(fault)) << entries;
  }
}

TEST(ProcessRunnerTest, TextsAreBoundedAndPlain) {
  const TemporaryDirectory folder;
  const auto runner = ProcessRunner::Start(
      Runner(folder, "    answer(id, unsupported='conv2d \\x1b[31m' + '\u00e9' * 50000)\n"), RunnerLimits());
  ASSERT_TRUE(runner.ok());
  const std::string message((*runner)->Load({}).message());
  EXPECT_THAT(message, ::testing::StartsWith("conv2d ?[31m"));
  EXPECT_LT(message.size(), 1100u);
}

// The kernel is to end it, not the worker, where there is no memory left.
TEST(ProcessRunnerTest, ARunnerIsEndedBeforeTheWorker) {
  const TemporaryDirectory folder;
  const auto runner = ProcessRunner::Start(Runner(folder, "    answer(id)\n"), Short());
  ASSERT_TRUE(runner.ok());
  const std::string theirs = ReadFile(absl::StrCat("/proc/", (*runner)->pid(), "/oom_score_adj")).value();
  const std::string ours = ReadFile("/proc/self/oom_score_adj").value();
  EXPECT_GE(std::stoi(theirs), std::stoi(ours));
  EXPECT_GE(std::stoi(theirs), 500);
}

}  // namespace
}  // namespace cobra::worker
