#include "worker/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "base/json.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"

namespace cobra::worker {
namespace {

using Json = nlohmann::ordered_json;

constexpr absl::string_view kJson = ".json";
constexpr size_t kSequenceDigits = 12;

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

}  // namespace

absl::StatusOr<Spool> Spool::Open(absl::string_view folder, absl::string_view worker) {
  for (const char* part : {"todo", "started", "done"})
    COBRA_RETURN_IF_ERROR(MakeDirectories(absl::StrCat(folder, "/", part)));
  const std::string name_file = absl::StrCat(folder, "/worker-id");
  absl::StatusOr<std::string> name = ReadFile(name_file);
  if (absl::IsNotFound(name.status()) || !worker.empty()) {
    std::random_device random;
    name = worker.empty() ? absl::StrFormat("%s-%08x%08x", HostName(), random(), random()) : std::string(worker);
    COBRA_RETURN_IF_ERROR(WriteFileAtomic(name_file, *name));
  }
  if (!name.ok()) return name.status();
  return Spool(std::string(folder), std::string(absl::StripAsciiWhitespace(*name)));
}

std::string Spool::Path(absl::string_view part, absl::string_view name) const {
  return absl::StrCat(folder_, "/", part, "/", name);
}

absl::Status Spool::AddTodo(absl::string_view id, absl::string_view json) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFiles(Path("todo", ""), kJson));
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
  return Remove(Path("started", task.id));
}

absl::StatusOr<std::vector<std::string>> Spool::Started() const { return ListFiles(Path("started", ""), ""); }

absl::StatusOr<std::vector<std::string>> Spool::Done() const {
  COBRA_ASSIGN_OR_RETURN(std::vector<std::string> names, ListFiles(Path("done", ""), kJson));
  for (std::string& name : names) name = std::string(absl::StripSuffix(name, kJson));
  return names;
}

absl::StatusOr<FinishedTask> Spool::ReadDone(absl::string_view id) const {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(Path("done", absl::StrCat(id, kJson))));
  const Json json = ParseJson<Json>(text);
  if (!json.is_object()) return FinishedTask();
  return FinishedTask{json.value("record", Json()).dump(), json.value("session", Json()).dump()};
}

absl::Status Spool::DropDone(absl::string_view id) { return Remove(Path("done", absl::StrCat(id, kJson))); }

absl::StatusOr<std::vector<SpooledTask>> Spool::Todo() const {
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFiles(Path("todo", ""), kJson));
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> done, Done());
  const std::set<std::string> finished(done.begin(), done.end());
  std::vector<SpooledTask> tasks;
  for (const std::string& name : names) {  // sorted, so in sequence
    if (name.size() <= kSequenceDigits + 1 + kJson.size()) continue;
    std::string id = name.substr(kSequenceDigits + 1, name.size() - kSequenceDigits - 1 - kJson.size());
    if (finished.count(id) == 0) tasks.push_back({name, std::move(id)});
  }
  return tasks;
}

absl::StatusOr<std::string> Spool::ReadTodo(const SpooledTask& task) const { return ReadFile(Path("todo", task.file)); }

void Spool::MarkStarted(absl::string_view id) const {
  const int fd = ::open(Path("started", id).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  if (fd >= 0) ::close(fd);
}

absl::Status Spool::Finish(const SpooledTask& task, const FinishedTask& finished) {
  Json json;
  json["record"] = ParseJson<Json>(finished.record_json);
  json["session"] = ParseJson<Json>(finished.session_json);
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(Path("done", absl::StrCat(task.id, kJson)), json.dump()));
  return DropTodo(task);
}

absl::Status Spool::ClearStarted() {
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> started, Started());
  for (const std::string& id : started) COBRA_RETURN_IF_ERROR(Remove(Path("started", id)));
  return absl::OkStatus();
}

}  // namespace cobra::worker
