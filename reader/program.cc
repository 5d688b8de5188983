// cobra-reader: started by cobra-server, which talks to it on descriptor 3. Not for people.
#include "reader/program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "base/process/command_line.h"
#include "base/process/thread_priority.h"
#include "base/sanitizer.h"
#include "frontend/python/reader.h"
#include "reader/image_process.h"

namespace cobra::reader {
namespace {

// A reader has no standard streams: what it writes there is lost.
void CloseStandardStreams() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
}

}  // namespace

int Main(int argc, char** argv) {
  ImageOptions options;
  bool insecure = false;
  CLI::App app("Reads models for cobra-server, each in a separate process.", "cobra-reader");
  app.add_option("--library", options.library_roots, "Directory that source may import from; repeatable");
  std::string torch_version = python::kNewestTorchVersion;
  app.add_option("--torch-version", torch_version, "The version as which most programs will be read")
      ->capture_default_str();
  app.add_flag("--insecure", insecure, "Readers are not confined to their sockets");
  const absl::StatusOr<bool> parsed = ParseCommandLine(&app, argc, argv);
  if (!parsed.ok()) {
    PrintError(app.get_name(), parsed.status());
    return kUsageExitCode;
  }
  if (!*parsed) return 0;
#ifdef COBRA_SANITIZED
  options.sandbox.more_address_space_bytes = 0;
  options.sandbox.processor_seconds *= 20;  // as much slower as it is
#endif
  options.sandbox.filter_system_calls = !insecure;
  if (::fcntl(kControlDescriptor, F_SETFD, FD_CLOEXEC) != 0) {
    PrintError(app.get_name(), absl::InvalidArgumentError("cobra-server starts this program; there is nothing to do"));
    return kUsageExitCode;
  }
  CloseStandardStreams();
  UseBatchPriority();
  // A huge page costs a reader the time to clear 2 MiB when it first writes to one. A failure costs
  // that time.
  (void)::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  Channel control((Descriptor(kControlDescriptor)));
  ImageReport report;
  report.mutable_started()->set_can_confine(insecure || CanConfine());
  if (!control.Send(report).ok()) return 0;
  ImageCommand::Image image;
  image.set_torch_version(torch_version);
  return RunImageProcess(options, image, std::move(control));
}

}  // namespace cobra::reader
