#include "worker/queue/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/names.h"
#include "base/status_macros.h"
#include "base/text/hex_digits.h"
#include "base/text/json.h"
#include "nlohmann/json.hpp"
#include "store/json_cut.h"
#include "worker/machine/device_lock.h"

namespace cobra::worker {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr absl::string_view kJson = ".json";
constexpr size_t kSequenceDigits = 12, kIdDigits = 32, kRandomDigits = 16;

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) return "unknown";
  for (char& c : name) {
    if (c != 0 && !absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '-';
  }
  return name;
}

absl::Status Remove(const std::string& path) {
  if (std::remove(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path, ": cannot be removed: ", std::strerror(errno)));
}

// It becomes the name of a file, and comes from a server.
absl::Status CheckId(absl::string_view id) {
  if (IsTaskId(id)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("task \"", LogText(id.substr(0, 64)), "\": is not an id, 32 digits of 0 to 9 and a to f"));
}

bool IsDoneFile(absl::string_view name) { return absl::ConsumeSuffix(&name, kJson) && IsTaskId(name); }

bool IsTodoFile(absl::string_view name) {
  return absl::ConsumeSuffix(&name, kJson) && name.size() == kSequenceDigits + 1 + kIdDigits &&
         std::all_of(name.begin(), name.begin() + kSequenceDigits,
                     [](const char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }) &&
         name[kSequenceDigits] == '-' && IsTaskId(name.substr(kSequenceDigits + 1));
}

std::string IdOfTodo(absl::string_view name) { return std::string(name.substr(kSequenceDigits + 1, kIdDigits)); }

// Removes the oldest files until there are at most kMaxRejectedBytes.
void TrimRejected(const std::string& folder) {
  const absl::StatusOr<std::vector<std::string>> names = ListFiles(folder, "");
  if (!names.ok()) return;
  std::vector<std::tuple<fs::file_time_type, std::string, int64_t>> files;
  int64_t bytes = 0;
  std::error_code error;
  for (const std::string& name : *names) {
    const std::string path = absl::StrCat(folder, "/", name);
    const auto size = static_cast<int64_t>(fs::file_size(path, error));
    if (error) continue;
    files.emplace_back(fs::last_write_time(path, error), path, size);
    bytes += size;
  }
  std::sort(files.begin(), files.end());
  for (const auto& [time, path, size] : files) {
    if (bytes <= Spool::kMaxRejectedBytes) return;
    LogWarning(absl::StrCat(path, ": removed, because the rejected files have more than ",
                            Spool::kMaxRejectedBytes >> 20, " MiB"));
    fs::remove(path, error);
    bytes -= size;
  }
}

// Moves SPOOL/PART/NAME to SPOOL/rejected/PART-NAME, whatever it is.
absl::Status Reject(const std::string& spool, absl::string_view part, absl::string_view name, absl::string_view why) {
  const std::string from = absl::StrCat(spool, "/", part, part.empty() ? "" : "/", name);
  const std::string folder = absl::StrCat(spool, "/rejected");
  const std::string to = absl::StrCat(folder, "/", part, part.empty() ? "" : "-", name);
  COBRA_RETURN_IF_ERROR(MakeDirectories(folder));
  std::error_code error;
  fs::rename(from, to, error);
  if (error == std::errc::no_such_file_or_directory) return absl::OkStatus();  // the other process has moved it
  if (error) {
    fs::remove_all(to, error);  // a folder of that name
    fs::rename(from, to, error);
  }
  if (error) return absl::InternalError(absl::StrCat(from, ": cannot be moved to ", to, ": ", error.message()));
  if (fs::is_regular_file(fs::symlink_status(to, error)))
    fs::last_write_time(to, fs::file_time_type::clock::now(), error);  // the newest
  LogWarning(absl::StrCat(from, ": ", why, "; moved to ", to));
  TrimRejected(folder);
  return absl::OkStatus();
}

struct KnownName {
  std::string name;      // empty: there is none that can be used
  bool is_whole = true;  // otherwise it may be the beginning of the name
};

// A name that Open() has made: of an earlier worker it ends without a newline.
bool IsGenerated(absl::string_view name) {
  return name.size() > kRandomDigits && name[name.size() - kRandomDigits - 1] == '-' &&
         IsHexDigits(name.substr(name.size() - kRandomDigits), kRandomDigits);
}

absl::StatusOr<KnownName> NameInSpool(const std::string& folder) {
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat(folder, "/worker-id"), 2 * kMaxNameLetters);
  if (absl::IsNotFound(text.status())) return KnownName();
  const absl::string_view name = text.ok() ? absl::StripAsciiWhitespace(*text) : "";
  if (IsApiName(name)) return KnownName{std::string(name), absl::EndsWith(*text, "\n") || IsGenerated(name)};
  COBRA_RETURN_IF_ERROR(Reject(folder, "", "worker-id", "is not the name of a worker"));
  return KnownName();
}

// Gives the spool another name, unless somebody may still report under the one that it has.
absl::Status CheckMayRename(const Spool& spool, absl::string_view known) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> done, spool.Done());
  COBRA_ASSIGN_OR_RETURN(const std::vector<SpooledTask> todo, spool.Todo());
  if (done.empty() && todo.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "--worker ", spool.worker_id(), ": the spool ", spool.folder(), " belongs to worker ", known, " and has ",
      done.size() + todo.size(), " of its tasks, which only that worker may report: start it ", "with --worker ", known,
      ", or give another --spool"));
}

}  // namespace

absl::StatusOr<Spool> Spool::Open(absl::string_view folder, absl::string_view worker) {
  if (!worker.empty() && !IsApiName(worker)) {
    return absl::InvalidArgumentError(absl::StrCat("--worker ", worker, ": may have up to ", kMaxNameLetters,
                                                   " letters, digits, '-', '_' and '.' only"));
  }
  for (const char* part : {"todo", "started", "interrupted", "done", "rejected"})
    COBRA_RETURN_IF_ERROR(MakeDirectories(absl::StrCat(folder, "/", part)));
  COBRA_ASSIGN_OR_RETURN(KnownName known, NameInSpool(std::string(folder)));
  if (worker.empty() && !known.is_whole) {  // two workers of one name would take each other's tasks
    COBRA_RETURN_IF_ERROR(Reject(std::string(folder), "", "worker-id", "is cut off"));
    known = KnownName();
  }
  std::random_device random;
  const std::string name = !worker.empty()       ? std::string(worker)
                           : !known.name.empty() ? known.name
                                                 : absl::StrFormat("%s-%08x%08x", HostName(), random(), random());
  Spool spool(std::string(folder), name);
  if (name == known.name && known.is_whole) return spool;
  const bool is_beginning = !known.is_whole && absl::StartsWith(name, known.name);
  if (known.name.empty() || is_beginning) {
    COBRA_RETURN_IF_ERROR(spool.WriteName());
    return spool;
  }
  COBRA_ASSIGN_OR_RETURN(const DeviceLock no_client, LockQueueClient(folder));
  COBRA_RETURN_IF_ERROR(CheckMayRename(spool, known.name));
  COBRA_RETURN_IF_ERROR(spool.WriteName());
  return spool;
}

absl::Status Spool::WriteName() const {
  return WriteFileAtomic(absl::StrCat(folder_, "/worker-id"), absl::StrCat(worker_id_, "\n"));
}

absl::StatusOr<std::vector<std::string>> Spool::List(absl::string_view part,
                                                     bool (*belongs)(absl::string_view name)) const {
  std::error_code error;
  fs::directory_iterator it(Path(part, ""), error);
  std::vector<std::string> names;
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!absl::EndsWith(name, kJson)) continue;  // being written
    std::error_code gone;
    const fs::file_type type = it->symlink_status(gone).type();
    if (type == fs::file_type::not_found) continue;
    if (type == fs::file_type::regular && belongs(name)) {
      names.push_back(std::move(name));
    } else if (const absl::Status status = Reject(folder_, part, name, "does not belong here"); !status.ok()) {
      LogWarning(status.message());
    }
  }
  if (error) return absl::UnavailableError(absl::StrCat(Path(part, ""), ": cannot be listed: ", error.message()));
  std::sort(names.begin(), names.end());
  return names;
}

std::string Spool::Path(absl::string_view part, absl::string_view name) const {
  return absl::StrCat(folder_, "/", part, "/", name);
}

absl::Status Spool::AddTodo(absl::string_view id, absl::string_view json) {
  COBRA_RETURN_IF_ERROR(CheckId(id));
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> names, List("todo", &IsTodoFile));
  uint64_t sequence = 0;
  for (const std::string& name : names) {
    if (absl::EndsWith(name, absl::StrCat("-", id, kJson))) return absl::OkStatus();  // the task arrived twice
    uint64_t number = 0;
    if (absl::SimpleAtoi(name.substr(0, kSequenceDigits), &number)) sequence = std::max(sequence, number + 1);
  }
  return WriteFileAtomic(
      Path("todo", absl::StrFormat("%0*d-%s%s", static_cast<int>(kSequenceDigits), sequence, id, kJson)), json);
}

absl::Status Spool::DropTodo(const SpooledTask& task) {
  COBRA_RETURN_IF_ERROR(Remove(Path("todo", task.file)));
  COBRA_RETURN_IF_ERROR(Remove(Path("interrupted", task.id)));
  return Remove(Path("started", task.id));
}

absl::StatusOr<std::vector<std::string>> Spool::Started() const { return ListFiles(Path("started", ""), ""); }

absl::StatusOr<std::vector<std::string>> Spool::Done() const {
  COBRA_ASSIGN_OR_RETURN(std::vector<std::string> names, List("done", &IsDoneFile));
  for (std::string& name : names) name = std::string(absl::StripSuffix(name, kJson));
  return names;
}

absl::StatusOr<FinishedTask> Spool::ReadDone(absl::string_view id) const {
  const absl::StatusOr<std::string> text = ReadFile(Path("done", absl::StrCat(id, kJson)), kMaxFileBytes);
  if (absl::IsNotFound(text.status())) return text.status();
  if (!text.ok()) return absl::DataLossError(text.status().message());
  const Json json = ParseJson<Json>(*text);
  const auto record = json.is_object() ? json.find("record") : json.end();
  if (record == json.end() || !record->is_object()) return absl::DataLossError("is not a record");
  // Handed on as it was written.
  FinishedTask finished;
  finished.record_json = std::string(store::MemberText(*text, "record"));
  if (const auto session = json.find("session"); session != json.end() && session->is_object())
    finished.session_json = std::string(store::MemberText(*text, "session"));
  if (finished.record_json.empty()) return absl::DataLossError("is not a record");
  return finished;
}

absl::Status Spool::AddDone(absl::string_view id, const FinishedTask& finished) {
  COBRA_RETURN_IF_ERROR(CheckId(id));
  // Two lines that were written as JSON: they may be long, and are not parsed here.
  return WriteFileAtomic(Path("done", absl::StrCat(id, kJson)),
                         absl::StrCat("{\"record\":", finished.record_json, ",\"session\":",
                                      finished.session_json.empty() ? "null" : finished.session_json, "}"));
}

absl::Status Spool::DropDone(absl::string_view id) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> names, List("todo", &IsTodoFile));
  for (const std::string& name : names) {
    if (IdOfTodo(name) == id) COBRA_RETURN_IF_ERROR(DropTodo({name, std::string(id)}));
  }
  return Remove(Path("done", absl::StrCat(id, kJson)));
}

absl::Status Spool::RejectDone(absl::string_view id, absl::string_view why) const {
  return Reject(folder_, "done", absl::StrCat(id, kJson), why);
}

absl::Status Spool::RejectTodo(const SpooledTask& task, absl::string_view why) const {
  return Reject(folder_, "todo", task.file, why);
}

absl::StatusOr<std::vector<SpooledTask>> Spool::Todo() const {
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> names, List("todo", &IsTodoFile));
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> done, Done());
  const std::set<std::string> finished(done.begin(), done.end());
  std::vector<SpooledTask> tasks;
  for (const std::string& name : names) {  // sorted, so in sequence
    std::string id = IdOfTodo(name);
    if (finished.count(id) == 0) tasks.push_back({name, std::move(id)});
  }
  return tasks;
}

absl::StatusOr<std::string> Spool::ReadTodo(const SpooledTask& task) const {
  return ReadFile(Path("todo", task.file), kMaxFileBytes);
}

void Spool::MarkStarted(absl::string_view id) const {
  // What was measured before in this group is not at fault if the machine dies now.
  if (const auto others = Started(); others.ok()) {
    for (const std::string& other : *others) {
      if (other != id) std::remove(Path("started", other).c_str());
    }
  }
  const int fd = ::open(Path("started", id).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  if (fd >= 0) ::close(fd);
}

void Spool::MarkEnded(absl::string_view id) const { std::remove(Path("started", id).c_str()); }

absl::Status Spool::Finish(const SpooledTask& task, const FinishedTask& finished) {
  COBRA_RETURN_IF_ERROR(AddDone(task.id, finished));
  return DropTodo(task);
}

absl::Status Spool::NoteInterrupted() {
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> started, Started());
  for (const std::string& id : started) {
    if (!IsTaskId(id)) continue;
    const std::string count(static_cast<size_t>(Interruptions(id)) + 1, '.');
    COBRA_RETURN_IF_ERROR(WriteFileAtomic(Path("interrupted", id), count));
  }
  return ClearStarted();
}

int64_t Spool::Interruptions(absl::string_view id) const {
  std::error_code error;
  const auto bytes = fs::file_size(Path("interrupted", id), error);
  return error ? 0 : static_cast<int64_t>(std::min<uintmax_t>(bytes, 1000));
}

absl::Status Spool::ClearStarted() {
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> started, Started());
  for (const std::string& id : started) COBRA_RETURN_IF_ERROR(Remove(Path("started", id)));
  return absl::OkStatus();
}

}  // namespace cobra::worker
