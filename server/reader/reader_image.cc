#include "server/reader/reader_image.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "absl/time/clock.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace cobra::server {
namespace {

constexpr int64_t kMaxReportBytes = 4096;
constexpr int kRepliesWithPages = 8;  // later ones have hardly any new pages
constexpr size_t kMaxRememberedExits = 1024;
constexpr absl::Duration kFilesTrusted = absl::Seconds(1);

}  // namespace

absl::Status WaitingReader::AwaitReady(absl::Time deadline) {
  COBRA_ASSIGN_OR_RETURN(const reader::Received received, socket.Receive(kMaxReportBytes, deadline));
  reader::ReaderMessage message;
  if (!message.ParseFromString(received.bytes) || message.ready() <= 0)
    return absl::InternalError("a reader did not report that it is ready");
  if (process != 0) return absl::OkStatus();  // it has answered before
  process = message.ready();
  process_fd = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  return absl::OkStatus();
}

void WaitingReader::Kill() const {
  if (process_fd.valid()) ::syscall(SYS_pidfd_send_signal, process_fd.get(), SIGKILL, nullptr, 0);
}

// A pidfd can be read when its process has ended.
bool WaitingReader::HasEnded() const {
  pollfd entry = {process_fd.get(), POLLIN, 0};
  return process_fd.valid() && ::poll(&entry, 1, 0) > 0;
}

std::optional<reader::ImageReport> ReaderImage::NextReport(absl::Time deadline) {
  const absl::StatusOr<reader::Received> received = control_.Receive(kMaxReportBytes, deadline);
  if (!received.ok()) {
    gone_ = gone_ || !absl::IsDeadlineExceeded(received.status());
    return std::nullopt;
  }
  reader::ImageReport report;
  if (!report.ParseFromString(received->bytes)) {
    gone_ = true;
    return std::nullopt;
  }
  if (report.has_exit()) {
    if (exits_.size() >= kMaxRememberedExits) exits_.clear();
    exits_[report.exit().process()] = report.exit().wait_status();
  }
  if (report.has_ready()) {
    made_ = report.ready().made();
    failed_ = !made_;
    gone_ = gone_ || failed_;
  }
  return report;
}

bool ReaderImage::IsReady() {
  absl::MutexLock lock(&mutex_);
  while (!made_ && !gone_ && NextReport(absl::Now()).has_value()) {
  }
  return made_ && !gone_;
}

bool ReaderImage::gone() {
  absl::MutexLock lock(&mutex_);
  return gone_;
}

bool ReaderImage::failed() {
  absl::MutexLock lock(&mutex_);
  return gone_ && failed_;
}

bool ReaderImage::FilesUnchanged(absl::Time now) {
  absl::MutexLock lock(&mutex_);
  if (now - files_checked_ < kFilesTrusted) return true;
  reader::ImageCommand command;
  command.mutable_check();
  if (!control_.Send(command).ok()) return false;
  while (const std::optional<reader::ImageReport> report = NextReport(now + absl::Seconds(5))) {
    if (report->report_case() != reader::ImageReport::kFilesUnchanged) continue;
    if (report->files_unchanged()) files_checked_ = now;
    return report->files_unchanged();
  }
  return false;
}

// A process that does not take a command within seconds is of no use any more, though it may live:
// without its socket it ends.
void ReaderImage::GiveUp() {
  gone_ = true;
  control_.Close();
}

absl::StatusOr<WaitingReader> ReaderImage::ForkReader() {
  while (!gone_ && NextReport(absl::InfinitePast()).has_value()) {  // of readers that have died since
  }
  if (gone_) return absl::UnavailableError("the process that forks readers has ended");
  COBRA_ASSIGN_OR_RETURN(auto sockets, reader::MakeSocketPair());
  reader::ImageCommand command;
  reader::PagesToProto(pages_, command.mutable_fork()->mutable_pages());
  const absl::Status sent = control_.Send(command, sockets.second.get(), absl::Now() + absl::Seconds(5));
  if (!sent.ok()) {
    GiveUp();
    return sent;
  }
  WaitingReader reader;
  reader.socket = reader::Channel(std::move(sockets.first));
  return reader;
}

absl::StatusOr<WaitingReader> ReaderImage::Take(absl::Time deadline) {
  WaitingReader taken;
  {
    absl::MutexLock lock(&mutex_);
    while (!waiting_.empty()) {
      taken = std::move(waiting_.front());
      waiting_.pop_front();
      num_waiting_ = waiting_.size();
      if (!taken.HasEnded()) return taken;
      LogWarning("a reader has ended while it waited for a request; another one is taken");
    }
    COBRA_ASSIGN_OR_RETURN(taken, ForkReader());
  }
  COBRA_RETURN_IF_ERROR(taken.AwaitReady(deadline));
  return taken;
}

void ReaderImage::ForkAhead() {
  absl::MutexLock lock(&mutex_);
  while (waiting_.size() + forked_.size() < static_cast<size_t>(ahead_)) {
    absl::StatusOr<WaitingReader> reader = ForkReader();
    if (!reader.ok()) return;
    forked_.push_back(*std::move(reader));
  }
}

void ReaderImage::AwaitForked() {
  for (WaitingReader& reader : forked_) {
    if (!reader.AwaitReady(absl::Now() + absl::Seconds(5)).ok()) continue;
    absl::MutexLock lock(&mutex_);
    waiting_.push_back(std::move(reader));
    num_waiting_ = waiting_.size();
  }
  forked_.clear();
}

absl::StatusOr<std::unique_ptr<ReaderImage>> ReaderImage::Fork(const reader::ImageCommand::Image& image) {
  COBRA_ASSIGN_OR_RETURN(auto sockets, reader::MakeSocketPair());
  reader::ImageCommand command;
  *command.mutable_image() = image;
  absl::MutexLock lock(&mutex_);
  COBRA_RETURN_IF_ERROR(control_.Send(command, sockets.second.get(), absl::Now() + absl::Seconds(5)));
  return std::make_unique<ReaderImage>(reader::Channel(std::move(sockets.first)), ahead_);
}

std::optional<int> ReaderImage::WaitStatus(pid_t process, absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  while (true) {
    if (const auto found = exits_.find(process); found != exits_.end()) {
      const int status = found->second;
      exits_.erase(found);
      return status;
    }
    if (!NextReport(deadline).has_value()) return std::nullopt;
  }
}

bool ReaderImage::WantsPages() {
  absl::MutexLock lock(&mutex_);
  return replies_with_pages_ < kRepliesWithPages;
}

void ReaderImage::AddPages(const reader::Pages& message) {
  const reader::NeededPages pages = reader::PagesFromProto(message);
  absl::MutexLock lock(&mutex_);
  ++replies_with_pages_;
  pages_.written = Union(pages_.written, pages.written);
  pages_.read = Union(pages_.read, pages.read);
}

}  // namespace cobra::server
