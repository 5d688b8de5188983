// A folder between the measuring process (work.h) and the queue client. Either may die at any
// moment, and the server may be unreachable for as long as the disk has room: leased tasks are
// measured, and measured records are reported.
//
//   worker-id                  name of this worker for as long as the folder exists, and a newline:
//                              without it, the file may have been cut off, and the name may be
//                              another worker's
//   todo/SEQUENCE-ID.json      leased, in the order in which to measure it (store/queue/task_subject.h)
//   started/ID                 being measured; one at a time
//   interrupted/ID             as many bytes as measuring processes have died while they measured
//                              it
//   done/ID.json               measured: {"record", "session"}, two lines of store/measurement.h;
//                              gone once the server has them
//   rejected/                  what nobody could read or the server did not take, for people to
//                              look at; the oldest files are removed beyond kMaxRejectedBytes
//
// Files appear atomically (written to a temporary name, then renamed). A task is in done/ before it
// leaves todo/. If the process dies in between, both files exist, and Todo() does not list tasks
// that are done.
//
// A file that does not belong here stops nothing: it is moved to rejected/, with a line in the log.
#ifndef COBRA_WORKER_QUEUE_SPOOL_H_
#define COBRA_WORKER_QUEUE_SPOOL_H_

#include <cstdint>
#include <string>
#include <utility>
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
// The session may be empty.
struct FinishedTask {
  std::string record_json, session_json;
};

class Spool {
 public:
  static constexpr int64_t kMaxFileBytes = int64_t{64} << 20;  // far more than a record that a server takes
  static constexpr int64_t kMaxRejectedBytes = int64_t{64} << 20;

  // Creates the folder and the worker's name if they are missing. `worker`: the name to use from
  // now on; empty: the one that the spool has, or a new one. FailedPrecondition if tasks of a
  // worker of another name are there: only that one may report them. FailedPrecondition, too, if a
  // queue client still knows the spool under another name: it would report what is measured from
  // now on. The caller that gives a name holds the spool's lock (device_lock.h).
  static absl::StatusOr<Spool> Open(absl::string_view folder, absl::string_view worker = "");

  const std::string& folder() const { return folder_; }
  const std::string& worker_id() const { return worker_id_; }

  // ---- the queue client ----

  absl::Status AddTodo(absl::string_view id, absl::string_view json);
  absl::Status DropTodo(const SpooledTask& task);
  absl::StatusOr<std::vector<std::string>> Started() const;
  // Identifiers.
  absl::StatusOr<std::vector<std::string>> Done() const;
  // NotFound if it is gone; DataLoss if it cannot be read.
  absl::StatusOr<FinishedTask> ReadDone(absl::string_view id) const;
  absl::Status AddDone(absl::string_view id, const FinishedTask& finished);
  // Also what Finish() has left of the task in todo/, if the process died in between.
  absl::Status DropDone(absl::string_view id);
  // Moves the record to rejected/. `why` is for the log.
  absl::Status RejectDone(absl::string_view id, absl::string_view why) const;

  // ---- the measuring process ----

  // In order, without tasks that are done.
  absl::StatusOr<std::vector<SpooledTask>> Todo() const;
  absl::StatusOr<std::string> ReadTodo(const SpooledTask& task) const;
  absl::Status RejectTodo(const SpooledTask& task, absl::string_view why) const;
  // Marks that task, and no other. Also from a forked child. If the mark cannot be written, only
  // the count of attempts is wrong.
  void MarkStarted(absl::string_view id) const;
  // Its result is there: if the machine dies now, that task is not at fault.
  void MarkEnded(absl::string_view id) const;
  absl::Status Finish(const SpooledTask& task, const FinishedTask& finished);
  absl::Status ClearStarted();
  // At the start of a measuring process: the task that the last one was measuring when it died is
  // counted once more.
  absl::Status NoteInterrupted();
  // How many measuring processes have died while they measured it.
  int64_t Interruptions(absl::string_view id) const;

 private:
  Spool(std::string folder, std::string worker_id) : folder_(std::move(folder)), worker_id_(std::move(worker_id)) {}
  absl::Status WriteName() const;
  std::string Path(absl::string_view part, absl::string_view name) const;
  // Names of the files below `part` for which `belongs` says so; what else ends in ".json" is
  // rejected.
  absl::StatusOr<std::vector<std::string>> List(absl::string_view part, bool (*belongs)(absl::string_view name)) const;

  std::string folder_, worker_id_;
};

}  // namespace cobra::worker

#endif  // COBRA_WORKER_QUEUE_SPOOL_H_
