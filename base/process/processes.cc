#include "base/process/processes.h"

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "base/log.h"

namespace cobra {

absl::StatusOr<std::vector<size_t>> RunInProcesses(size_t count, int jobs,
                                                   absl::FunctionRef<absl::Status(size_t)> work) {
  std::map<pid_t, size_t> running;
  std::vector<size_t> failed;
  const auto wait_for_one = [&] {
    int code = 0;
    const pid_t pid = ::wait(&code);
    if (code != 0) failed.push_back(running[pid]);
    running.erase(pid);
  };
  bool started = true;
  std::fflush(nullptr);  // or each child writes it again
  for (size_t i = 0; i < count && started; ++i) {
    if (static_cast<int>(running.size()) >= jobs) wait_for_one();
    const pid_t pid = ::fork();
    if (pid == 0) {
      const absl::Status status = work(i);
      if (!status.ok()) LogError(status.ToString());
      ::_exit(status.ok() ? 0 : 1);
    }
    started = pid > 0;
    if (started) running[pid] = i;
  }
  while (!running.empty()) wait_for_one();
  if (!started) return absl::ResourceExhaustedError("no more processes can be started");
  std::sort(failed.begin(), failed.end());
  return failed;
}

}  // namespace cobra
