#include "client/ask/watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cobra::client {
namespace {

constexpr int kQuietMs = 60;  // an editor's next step comes sooner
constexpr int kLookForMissingMs = 500;
constexpr uint32_t kEvents =
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

// Whether there is something to read within the time; -1: however long that takes.
absl::StatusOr<bool> IsReadable(int descriptor, int milliseconds) {
  pollfd one = {descriptor, POLLIN, 0};
  const int ready = ::poll(&one, 1, milliseconds);
  if (ready < 0 && errno != EINTR) return absl::ErrnoToStatus(errno, "poll");
  return ready > 0;
}

}  // namespace

absl::StatusOr<FileWatch> FileWatch::Create() {
  Descriptor inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify.valid()) return absl::ErrnoToStatus(errno, "--watch: inotify (see fs.inotify.max_user_instances)");
  return FileWatch(std::move(inotify));
}

absl::Status FileWatch::Add(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const bool known = std::any_of(folders_.begin(), folders_.end(), [&](const auto& f) { return f.second == folder; });
    if (known) continue;
    const int watch = ::inotify_add_watch(inotify_.get(), folder.c_str(), kEvents);
    if (watch >= 0) {
      folders_[watch] = folder;
      missing_.erase(folder);
    } else if (errno == ENOENT || errno == ENOTDIR) {
      missing_.insert(folder);
    } else {
      return absl::ErrnoToStatus(errno, absl::StrCat("--watch ", folder, " (see fs.inotify.max_user_watches)"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> FileWatch::ReadEvents(const std::function<bool(const std::string& name)>& concerns) {
  alignas(inotify_event) char buffer[16384];
  bool found = false;
  for (;;) {
    const ssize_t bytes = ::read(inotify_.get(), buffer, sizeof(buffer));
    if (bytes <= 0) break;  // EAGAIN: that was all
    for (ssize_t at = 0; at < bytes;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      if ((event->mask & IN_Q_OVERFLOW) != 0) found = true;  // what was lost may concern us
      if (event->len > 0 && concerns(event->name)) found = true;
      if ((event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) == 0) continue;
      const auto folder = folders_.find(event->wd);
      if (folder == folders_.end()) continue;
      missing_.insert(folder->second);
      folders_.erase(folder);
      ::inotify_rm_watch(inotify_.get(), event->wd);
    }
  }
  return found;
}

absl::StatusOr<bool> FileWatch::AddMissing() {
  const std::vector<std::string> looked_for(missing_.begin(), missing_.end());
  COBRA_RETURN_IF_ERROR(Add(looked_for));
  return missing_.size() < looked_for.size();
}

absl::Status FileWatch::Wait(const std::function<bool(const std::string& name)>& concerns) {
  bool changed = false;
  for (;;) {
    const int patience = changed ? kQuietMs : missing_.empty() ? -1 : kLookForMissingMs;
    COBRA_ASSIGN_OR_RETURN(const bool readable, IsReadable(inotify_.get(), patience));
    if (!readable && changed) return absl::OkStatus();
    bool found = false;
    if (readable) {
      COBRA_ASSIGN_OR_RETURN(found, ReadEvents(concerns));
    }
    COBRA_ASSIGN_OR_RETURN(const bool is_back, AddMissing());
    changed = changed || found || is_back;
  }
}

}  // namespace cobra::client
