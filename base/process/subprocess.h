// Starts other programs; runs one and collects its output. Client and server measure this machine
// this way, without linking LibTorch (`cobra-worker probe --json`).
#ifndef COBRA_BASE_PROCESS_SUBPROCESS_H_
#define COBRA_BASE_PROCESS_SUBPROCESS_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cobra {

struct StartOptions {
  int descriptor = -1, as_descriptor = -1;  // the program has `descriptor` of this process as `as_descriptor`
  int standard_input = -1;                  // a descriptor of this process; -1: no input
  int output = -1;                          // a descriptor of this process for what it prints, errors too; -1: ours
  bool own_group = false;                   // a new process group: a terminal's Ctrl-C does not reach it
  bool own_session = false;                 // not ended with the terminal, and in no folder but /
};

// Starts `argv` with no signal blocked or ignored; the caller waits for it.
absl::StatusOr<pid_t> StartProgram(const std::vector<std::string>& argv, const StartOptions& options);

// Starts a program that is a part of this one: it keeps our signals and standard input, and gets
// `signal` when the thread that has started it ends, however it ends.
absl::StatusOr<pid_t> StartDependent(const std::vector<std::string>& argv, int signal);

// Waits for the end of a child and returns its status, as waitpid() does.
int WaitForChild(pid_t pid);

// Runs this program again from its beginning, with the environment as it is now. Returns only if
// that fails.
absl::Status RestartThisProgram(char** argv);

struct SubprocessOptions {
  absl::Duration timeout = absl::Minutes(10);    // then it is killed: DeadlineExceeded
  int64_t max_output_bytes = int64_t{64} << 20;  // of standard output: ResourceExhausted
  const std::atomic<bool>* cancelled = nullptr;  // killed when it turns true: Cancelled; not owned
  int standard_input = -1;                       // as in StartOptions
  bool with_errors = false;                      // standard error is in the output too
};

struct ProgramResult {
  std::string output;
  int exit_status = 0;  // minus the signal's number if a signal ended it
};
// Runs `argv` to its end, however it ends.
absl::StatusOr<ProgramResult> RunToEnd(const std::vector<std::string>& argv, const SubprocessOptions& options = {});

// The output of a program that exited with 0. NotFound or Internal as RunProgram() has them.
absl::StatusOr<std::string> OutputIfOk(absl::string_view program, ProgramResult result);

// The standard output of `argv` if it exits with 0; its standard error goes to ours. NotFound if
// there is no such program. Internal, naming the exit status or signal, if it fails. Safe in a
// process with threads.
absl::StatusOr<std::string> RunProgram(const std::vector<std::string>& argv, const SubprocessOptions& options = {});

// `name` in the folder of the running program; if it is not there, `name` itself, to be found on
// PATH.
std::string SiblingProgram(absl::string_view name);

// This file is several programs, chosen by the last component of argv[0] (portable/). From now on
// each of `names` is next to this program, whether or not a file or link has that name.
void HoldPrograms(std::vector<std::string> names);
// The file that has the program `path`: this one if it holds that program.
std::string FileOfProgram(const std::string& path);

}  // namespace cobra

#endif  // COBRA_BASE_PROCESS_SUBPROCESS_H_
