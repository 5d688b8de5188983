// A folder between the measuring process (work.h) and the queue client. Either may die at any moment, and the server
// may be unreachable for as long as the disk has room: leased tasks are measured, and measured records are reported.
//
//   worker-id                  name of this worker for as long as the folder lives
//   todo/SEQUENCE-ID.json      leased, in the order in which to measure it (store/task_subject.h)
//   started/ID                 being measured
//   done/ID.json               measured: {"record", "session"}, two lines of store/measurement.h; gone once the server
//                              has them
//
// Files appear atomically (written to a temporary name, then renamed). A task is in done/ before it leaves todo/. If
// the process dies in between, both files exist, and Todo() does not list tasks that are done.
#ifndef COBRA_WORKER_SPOOL_H_
#define COBRA_WORKER_SPOOL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::worker {

struct SpooledTask {
  // Name in todo/.
  std::string file;
  std::string id;
};

// The report of a task: a measurement and its session, one line of JSON each (store/measurement.h).
struct FinishedTask {
  std::string record_json, session_json;
};

class Spool {
 public:
  // Creates the folder and the worker's name if they are missing. `worker`: the name to use from now on; empty: the one
  // that the spool has, or a new one.
  static absl::StatusOr<Spool> Open(absl::string_view folder, absl::string_view worker = "");

  const std::string& folder() const { return folder_; }
  const std::string& worker_id() const { return worker_id_; }

  // ---- the queue client ----

  absl::Status AddTodo(absl::string_view id, absl::string_view json);
  absl::Status DropTodo(const SpooledTask& task);
  absl::StatusOr<std::vector<std::string>> Started() const;
  // Identifiers.
  absl::StatusOr<std::vector<std::string>> Done() const;
  // Both lines are empty if the file is damaged.
  absl::StatusOr<FinishedTask> ReadDone(absl::string_view id) const;
  absl::Status DropDone(absl::string_view id);

  // ---- the measuring process ----

  // In order, without tasks that are done.
  absl::StatusOr<std::vector<SpooledTask>> Todo() const;
  absl::StatusOr<std::string> ReadTodo(const SpooledTask& task) const;
  // Also from a forked child. If the mark cannot be written, only the count of attempts is wrong
  void MarkStarted(absl::string_view id) const;
  absl::Status Finish(const SpooledTask& task, const FinishedTask& finished);
  // Removes the marks of tasks that were being measured when the last process died.
  absl::Status ClearStarted();

 private:
  Spool(std::string folder, std::string worker_id) : folder_(std::move(folder)), worker_id_(std::move(worker_id)) {}
  std::string Path(absl::string_view part, absl::string_view name) const;

  std::string folder_, worker_id_;
};

}  // namespace cobra::worker

#endif  // COBRA_WORKER_SPOOL_H_
