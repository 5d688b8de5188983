#include "reader/image_process.h"

#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "frontend/python/interpreter_image.h"
#include "frontend/python/runtime/heap/dirty_pages.h"
#include "reader/library_files.h"
#include "reader/needed_pages.h"
#include "reader/request_reader.h"

namespace cobra::reader {
namespace {

constexpr int64_t kMaxCommandBytes = int64_t{1} << 20;
constexpr int kConfineExitCode = 79;

// Every child dies with the process that forked it, so that none outlives the server.
void DieWith(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
}

// The memory that a request allocates comes from the top of the heap, whose pages TakePages() can
// take ahead because they are mapped. Freed memory is joined at once: malloc would otherwise go
// through all of it at the next large request.
void GrowHeap() {
  constexpr int kBytes = 4 << 20;
  ::mallopt(M_MMAP_THRESHOLD, 2 * kBytes);
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
  ::mallopt(M_MXFAST, 0);
  void* volatile top = std::malloc(kBytes);  // volatile: the compiler drops a pair of malloc and free
  std::free(top);
}

class ImageProcess {
 public:
  ImageProcess(const ImageOptions& options, Channel control) : options_(options), control_(std::move(control)) {}

  int Run(const ImageCommand::Image& what) {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &children, nullptr);
    exits_ = Descriptor(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
    MakeImage(what);
    ImageReport report;
    report.mutable_ready()->set_made(image_ != nullptr);
    if (!control_.Send(report).ok() || image_ == nullptr) return image_ == nullptr ? 1 : 0;
    while (true) {
      pollfd entries[] = {{control_.fd(), POLLIN, 0}, {exits_.get(), POLLIN, 0}};
      if (::poll(entries, 2, -1) < 0) {
        if (errno == EINTR) continue;
        return 1;
      }
      if (entries[1].revents != 0) ReportExits();
      if (entries[0].revents != 0 && !Obey()) return 0;
    }
  }

 private:
  void MakeImage(const ImageCommand::Image& what) {
    for (size_t i = 0; i < options_.library_roots.size(); ++i) {
      files_.push_back(std::make_shared<LibraryFiles>(options_.library_roots[i], static_cast<uint32_t>(i)));
      libraries_.push_back(files_.back());
    }
    python::ImportList imports;
    for (const NeededImport& import : what.imports())
      imports.push_back({import.module(), import.attribute(), import.whole_module()});
    image_ = python::InterpreterImage::Create(libraries_, what.torch_version(), imports, ReaderLimits());
  }

  // False at the end of the control socket.
  bool Obey() {
    absl::StatusOr<Received> received = control_.Receive(kMaxCommandBytes);
    ImageCommand command;
    if (!received.ok() || !command.ParseFromString(received->bytes)) return false;
    if (command.has_check()) {
      ImageReport report;
      report.set_files_unchanged(image_->FilesUnchanged());
      return control_.Send(report).ok();
    }
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child != 0) return true;  // if there is none, the socket closes and the server sees it
    DieWith(parent);
    control_.Close();
    exits_.Close();
    if (command.has_image())
      ::_exit(RunImageProcess(options_, command.image(), Channel(std::move(received->descriptor))));
    RunReader(command.fork(), Channel(std::move(received->descriptor)));
  }

  [[noreturn]] void RunReader(const ImageCommand::Fork& command, Channel server) {
    std::set_new_handler([] { ::_exit(kMemoryExitCode); });
    ReaderSetup setup;
    setup.library_roots = options_.library_roots;
    setup.libraries = libraries_;
    setup.image = std::move(image_);
    const PageFinder pages;
    setup.pages = &pages;
    for (const auto& files : files_) files->AskServer(&server);
    GrowHeap();
    TakePages(PagesFromProto(command.pages()));
    python::KeepDirtyPagesOpen();
    if (!Confine(options_.sandbox).ok()) ::_exit(kConfineExitCode);
    RequestReader reader(&setup);
    ReaderMessage ready;
    ready.set_ready(::getpid());
    while (server.Send(ready).ok() && reader.AnswerOne(&server)) {
    }
    // To end takes a while, which the caller need not share a processor with: it closes the socket
    // when it is done.
    (void)server.Receive(1);
    ::_exit(0);
  }

  void ReportExits() {
    signalfd_siginfo info;
    while (::read(exits_.get(), &info, sizeof(info)) == sizeof(info)) {
    }
    int status = 0;
    for (pid_t child; (child = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
      ImageReport report;
      report.mutable_exit()->set_process(child);
      report.mutable_exit()->set_wait_status(status);
      // Only for the server's log: if the server does not read these, this process goes on.
      (void)control_.Send(report, -1, absl::InfinitePast());
    }
  }

  const ImageOptions options_;
  Channel control_;
  Descriptor exits_;  // signalfd(2)
  std::vector<std::shared_ptr<LibraryFiles>> files_;
  python::Libraries libraries_;
  std::unique_ptr<python::InterpreterImage> image_;
};

}  // namespace

int RunImageProcess(const ImageOptions& options, const ImageCommand::Image& image, Channel control) {
  return ImageProcess(options, std::move(control)).Run(image);
}

}  // namespace cobra::reader
