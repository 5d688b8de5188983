#include "client/check/temporary_folder.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace cobra::client {

namespace fs = std::filesystem;

absl::StatusOr<std::unique_ptr<TemporaryFolder>> TemporaryFolder::Create() {
  std::error_code error;
  std::string path = (fs::canonical(fs::temp_directory_path(error), error) / "cobra-client-XXXXXX").string();
  if (error || ::mkdtemp(path.data()) == nullptr)
    return absl::ErrnoToStatus(error ? error.value() : errno,
                               absl::StrCat(path, ": cannot be created (TMPDIR names its folder)"));
  std::unique_ptr<TemporaryFolder> folder(new TemporaryFolder(std::move(path)));
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    // One that whoever started us ignores (nohup) stays ignored.
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&ending, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &ending, &folder->before_);
  folder->signals_ = Descriptor(::signalfd(-1, &ending, SFD_CLOEXEC));
  folder->done_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
  if (!folder->signals_.valid() || !folder->done_.valid()) return absl::ErrnoToStatus(errno, "signalfd");
  folder->watcher_ = std::thread([self = folder.get()] { self->WatchSignals(); });
  return folder;
}

TemporaryFolder::~TemporaryFolder() {
  if (watcher_.joinable()) {
    const uint64_t one = 1;
    (void)!::write(done_.get(), &one, sizeof(one));
    watcher_.join();
  }
  Remove();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);  // a signal that came meanwhile acts now
}

void TemporaryFolder::Remove() {
  std::error_code error;
  fs::remove_all(path_, error);  // what cannot be removed stays: there is nobody to report it to
}

void TemporaryFolder::WatchSignals() {
  pollfd waiting[] = {{signals_.get(), POLLIN, 0}, {done_.get(), POLLIN, 0}};
  while (::poll(waiting, 2, -1) < 0 && errno == EINTR) {
  }
  if ((waiting[1].revents & POLLIN) != 0) return;
  signalfd_siginfo info;
  if (::read(signals_.get(), &info, sizeof(info)) != sizeof(info)) return;
  interrupted_ = true;
  const absl::MutexLock lock(&writing_);
  Remove();
  // The process ends as it would have ended without us.
  const int number = static_cast<int>(info.ssi_signo);
  ::signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(number);
}

}  // namespace cobra::client
