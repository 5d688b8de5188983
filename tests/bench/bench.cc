#include "tests/bench/bench.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "absl/strings/str_cat.h"

namespace cobra::bench {
namespace {

double Clock(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double Total(const rusage& usage) {
  auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

Stopwatch::Stopwatch() : start_{Clock(CLOCK_MONOTONIC), Clock(CLOCK_THREAD_CPUTIME_ID)} {}
Seconds Stopwatch::Elapsed() const {
  return {Clock(CLOCK_MONOTONIC) - start_.wall, Clock(CLOCK_THREAD_CPUTIME_ID) - start_.cpu};
}

Seconds MiddleRun(std::vector<Seconds> runs) {
  std::sort(runs.begin(), runs.end(), [](const Seconds& a, const Seconds& b) { return a.wall < b.wall; });
  return runs[runs.size() / 2];
}

absl::StatusOr<Seconds> TimeProcess(const std::vector<std::string>& command, std::string* output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::InternalError("pipe failed");
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  const double start = Clock(CLOCK_MONOTONIC);
  const pid_t child = fork();
  if (child < 0) return absl::InternalError("fork failed");
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    setenv("OMP_NUM_THREADS", "1", 1);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t n = read(ends[0], buffer, sizeof(buffer));
    if (n <= 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  rusage usage;
  if (wait4(child, &status, 0, &usage) != child) return absl::InternalError("wait failed");
  const double wall = Clock(CLOCK_MONOTONIC) - start;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return absl::InternalError(absl::StrCat(command[0], " failed (status ", status, ")"));
  }
  if (output != nullptr) *output = std::move(text);
  return Seconds{wall, Total(usage)};
}

void AddRounds(CLI::App* app, int* rounds, const std::string& about) {
  app->add_option("--rounds", *rounds, about)->check(AboveZero())->capture_default_str();
}

void AddSeconds(CLI::App* app, double* seconds, const std::string& about) {
  app->add_option("--seconds", *seconds, about)->check(AboveZero())->capture_default_str();
}

}  // namespace cobra::bench
