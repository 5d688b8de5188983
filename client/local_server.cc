#include "client/local_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/file/data_path.h"
#include "base/file/descriptor.h"
#include "base/file/file.h"
#include "base/file/file_lock.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "base/version.h"

namespace cobra::client {
namespace {

constexpr absl::Duration kStartTime = absl::Seconds(60), kEndTime = absl::Seconds(30), kLockTime = absl::Seconds(90),
                         kPoll = absl::Milliseconds(10);
constexpr int kIdleMinutes = 10;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Of an absolute path in the environment, as the XDG Base Directory Specification wants it;
// otherwise `fallback`.
std::string FolderOr(const char* name, const std::string& fallback) {
  const std::string folder = Environment(name);
  return folder.empty() || folder[0] != '/' ? fallback : folder;
}

// Whether `folder` can be written to or, if it does not exist, be made. Something that is not a
// folder is an error to report, not to avoid.
bool MayWriteBelow(std::string folder) {
  struct stat status = {};
  while (::stat(folder.c_str(), &status) != 0 && folder.size() > 1)
    folder.erase(std::max<size_t>(folder.rfind('/'), 1));
  return !S_ISDIR(status.st_mode) || ::access(folder.c_str(), W_OK | X_OK) == 0;
}

// Of a home; empty without one.
std::string FolderOfHome() {
  const std::string home = FolderOr("HOME", ""), state = home.empty() ? "" : absl::StrCat(home, "/.local/state");
  const std::string folder = FolderOr("XDG_STATE_HOME", state);
  return folder.empty() ? "" : absl::StrCat(folder, "/cobra");
}

// Whether `folder` belongs to this user, or to nobody yet: su keeps the environment of another one.
bool IsOfThisUser(const std::string& folder) {
  struct stat status = {};
  return ::stat(folder.c_str(), &status) != 0 || status.st_uid == ::geteuid();
}

bool IsUsable(const std::string& folder) { return !folder.empty() && MayWriteBelow(folder) && IsOfThisUser(folder); }

std::string RuntimeFolder() {
  const std::string xdg = FolderOr("XDG_RUNTIME_DIR", ""), temporary = absl::StrCat("/tmp/cobra-", ::geteuid());
  if (!xdg.empty() && IsDirectory(xdg) && IsOfThisUser(xdg)) return absl::StrCat(xdg, "/cobra");
  return MayWriteBelow(temporary) || !IsUsable(FolderOfHome()) ? temporary : FolderOfHome();
}

// A folder that only the user can open. What another user made there is not trusted: it could be
// that user's server.
absl::Status CheckPrivateFolder(const std::string& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return absl::ErrnoToStatus(errno, path);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    return absl::FailedPreconditionError(
        absl::StrCat(path,
                     ": is not private to this user (mode 0700), so no server is searched for there; remove it, or "
                     "name a server: --server HOST:PORT"));
  return absl::OkStatus();
}

absl::Status MakePrivateFolder(const std::string& path) {
  (void)MakeDirectories(path.substr(0, path.rfind('/')));  // ~/.local/state of a new home
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return CheckPrivateFolder(path);
  return absl::FailedPreconditionError(absl::StrCat(path, ": cannot be made: ", std::strerror(errno),
                                                    "; set XDG_RUNTIME_DIR to a folder of this user's for the socket "
                                                    "of a server, or name a server: --server HOST:PORT"));
}

absl::Status MakeStateFolder(const std::string& path) {
  COBRA_RETURN_IF_ERROR(MakeDirectories(path));
  ::chmod(path.c_str(), 0700);  // the store has labels and names of models
  return CheckPrivateFolder(path);
}

// What a file was when a server was started from it.
std::string StampOf(const std::string& path) {
  struct stat status = {};
  if (::stat(FileOfProgram(path).c_str(), &status) != 0) return absl::StrCat(path, " is not there");
  return absl::StrCat(path, " ", status.st_size, " ", status.st_mtim.tv_sec, ".", status.st_mtim.tv_nsec);
}

Descriptor ConnectTo(const std::string& socket_path) {
  sockaddr_un to = {};
  to.sun_family = AF_UNIX;
  if (socket_path.size() + 1 > sizeof(to.sun_path)) return Descriptor();
  std::memcpy(to.sun_path, socket_path.data(), socket_path.size());
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid() || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0)
    return Descriptor();
  return socket;
}

// A process that was killed has no memory any more while its sockets are still being closed.
bool IsEnding(pid_t pid) {
  char path[1];
  return ::readlink(absl::StrCat("/proc/", pid, "/exe").c_str(), path, sizeof(path)) < 0 && errno == ENOENT &&
         ::access("/proc/self/exe", F_OK) == 0;
}

// The process that listens there, if one does: 0 in a container beside this one that has the same
// folder, whose processes have no numbers here.
std::optional<pid_t> ListenerOf(const std::string& socket_path) {
  const Descriptor socket = ConnectTo(socket_path);
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (!socket.valid() || ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  if (peer.uid != ::geteuid() || (peer.pid != 0 && IsEnding(peer.pid))) return std::nullopt;
  return peer.pid;
}

std::string LastLineOf(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return "";
  const absl::string_view lines = absl::StripTrailingAsciiWhitespace(*text);
  return std::string(lines.substr(lines.rfind('\n') == absl::string_view::npos ? 0 : lines.rfind('\n') + 1));
}

// Of the status of waitpid(). A signal leaves no last line: the kernel short of memory, a limit.
std::string HowItEnded(int status) {
  if (!WIFSIGNALED(status)) return "ended";
  return absl::StrCat("was ended by signal ", WTERMSIG(status), " (", ::strsignal(WTERMSIG(status)), ")");
}

class Starter {
 public:
  Starter()
      : folder_(RuntimeFolder()),
        state_(UserStateFolder()),
        program_(SiblingProgram("cobra-server")),
        model_(DataPath("model/pretrained")) {}

  std::string Find() const {
    if (!CheckPrivateFolder(folder_).ok()) return "";  // whatever lies there may be of others
    return ListenerOf(PathOf("socket")) && IsOfThisVersion() ? absl::StrCat("unix:", PathOf("socket")) : "";
  }

  LocalServerPlaces Places() const {
    LocalServerPlaces places{program_, model_, folder_, state_, absl::StrCat("unix:", PathOf("socket")), {}, false};
    places.folder_status = FileExists(folder_) ? CheckPrivateFolder(folder_) : absl::OkStatus();
    places.is_of_this_version = places.folder_status.ok() && IsOfThisVersion();
    return places;
  }

  absl::StatusOr<LocalServer> Run() {
    if (program_.find('/') == std::string::npos)
      return absl::FailedPreconditionError("there is no cobra-server next to this program, so none was started");
    COBRA_RETURN_IF_ERROR(MakePrivateFolder(folder_));
    COBRA_RETURN_IF_ERROR(MakeStateFolder(state_));
    LocalServer server{absl::StrCat("unix:", PathOf("socket")), false, absl::StrCat(state_, "/server.log")};
    if (ListenerOf(PathOf("socket")) && IsOfThisVersion()) return server;
    COBRA_ASSIGN_OR_RETURN(const Descriptor lock, Lock());
    const std::string identity = Identity();
    if (const std::optional<pid_t> listener = ListenerOf(PathOf("socket"))) {
      if (IsOfThisVersion()) return server;
      COBRA_RETURN_IF_ERROR(End(*listener));
    }
    COBRA_RETURN_IF_ERROR(Start(server.log));
    COBRA_RETURN_IF_ERROR(WriteFileAtomic(PathOf("version"), identity));
    server.was_started = true;
    return server;
  }

 private:
  std::string PathOf(absl::string_view name) const { return absl::StrCat(folder_, "/", name); }

  std::string Identity() const {
    return absl::StrCat(Version(), "\n", StampOf(program_), "\n", StampOf(absl::StrCat(model_, "/manifest.json")),
                        "\n");
  }

  bool IsOfThisVersion() const { return ReadFile(PathOf("version")).value_or("") == Identity(); }

  // Against other clients that start one.
  absl::StatusOr<Descriptor> Lock() const {
    absl::StatusOr<Descriptor> lock = WaitForLock(PathOf("lock"), kLockTime);
    if (!absl::IsDeadlineExceeded(lock.status())) return lock;
    return absl::FailedPreconditionError(absl::StrCat(
        "no server for this user was started: ", lock.status().message(), " since ", absl::FormatDuration(kLockTime),
        "; end that process (fuser ", PathOf("lock"), " names it), or name a server: --server HOST:PORT"));
  }

  // Another version's: it finishes what it is doing.
  absl::Status End(pid_t listener) const {
    if (listener == 0)
      return absl::FailedPreconditionError(
          absl::StrCat(folder_,
                       ": the server there is another version's, in another container; end it there, or set "
                       "XDG_RUNTIME_DIR to a folder of this container only"));
    ::kill(listener, SIGTERM);
    const absl::Time deadline = absl::Now() + kEndTime;
    while (ListenerOf(PathOf("socket"))) {
      if (absl::Now() > deadline)
        return absl::FailedPreconditionError(absl::StrCat("the server of another version (process ", listener,
                                                          ") does not end; stop it: kill ", listener));
      absl::SleepFor(kPoll);
    }
    return absl::OkStatus();
  }

  absl::Status Start(const std::string& log) const {
    const std::string ready = PathOf("ready.json");
    ::unlink(ready.c_str());
    // Nothing of the terminal or of a pipeline stays open in it: whoever waits for the end of our
    // output must not wait for the server's. Each line goes to the log's end: the server before
    // this one may still write its last ones.
    const Descriptor lines(::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lines.valid()) return absl::ErrnoToStatus(errno, log);
    const std::vector<std::string> command = {program_,
                                              "--listen",
                                              absl::StrCat("unix:", PathOf("socket")),
                                              "--metrics",
                                              "",
                                              "--model",
                                              model_,
                                              "--store",
                                              absl::StrCat(state_, "/cobra.sqlite"),
                                              "--ready-file",
                                              ready,
                                              "--idle-exit-minutes",
                                              absl::StrCat(kIdleMinutes)};
    COBRA_ASSIGN_OR_RETURN(const pid_t pid, StartProgram(command, {.output = lines.get(), .own_session = true}));
    const absl::Time deadline = absl::Now() + kStartTime;
    while (!FileExists(ready)) {
      int status = 0;
      const bool has_ended = ::waitpid(pid, &status, WNOHANG) == pid;
      if (has_ended || absl::Now() > deadline)
        return absl::FailedPreconditionError(absl::StrCat("the server for this user ",
                                                          has_ended ? HowItEnded(status) : "is not ready", ": ",
                                                          LastLineOf(log), " (", log, ")"));
      absl::SleepFor(kPoll);
    }
    return absl::OkStatus();
  }

  const std::string folder_, state_, program_, model_;
};

}  // namespace

bool SomebodyListens(absl::string_view local_address) {
  if (absl::ConsumePrefix(&local_address, "unix:")) return ConnectTo(std::string(local_address)).valid();
  const size_t colon = local_address.rfind(':');
  int port = 0;
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  if (colon == absl::string_view::npos || !absl::SimpleAtoi(local_address.substr(colon + 1), &port) ||
      ::inet_pton(AF_INET, std::string(local_address.substr(0, colon)).c_str(), &to.sin_addr) != 1)
    return false;
  to.sin_port = htons(static_cast<uint16_t>(port));
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return socket.valid() && ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0;
}

std::string UserStateFolder() { return IsUsable(FolderOfHome()) ? FolderOfHome() : RuntimeFolder(); }

absl::Status MakeUserStateFolder() { return MakeStateFolder(UserStateFolder()); }

LocalServerPlaces PlacesOfLocalServer() { return Starter().Places(); }

absl::StatusOr<LocalServer> FindOrStartServer() { return Starter().Run(); }

std::string FindRunningServer() { return Starter().Find(); }

}  // namespace cobra::client
