// A folder between the process that measures (work.h) and the one that talks to the server (courier.h). Either may die at any moment, and the
// server be away for as long as the disk has room: what was leased is measured, what was measured is handed in.
//
//   worker-id                  name of this worker for as long as the folder lives
//   todo/SEQUENCE-ID.json      leased, in the order in which to measure it (store/task_subject.h)
//   started/ID                 being measured
//   done/ID.json               measured: {"record", "session"}; gone once the server has it
//
// Files appear whole (written beside, then renamed). A task is in done/ before it leaves todo/: whoever dies between the two leaves both, and
// Todo() does not list what is done.
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
  std::string file;  // name in todo/
  std::string id;
};

class Spool {
 public:
  // Makes the folder and its name where they are missing.
  static absl::StatusOr<Spool> Open(absl::string_view folder);

  const std::string& folder() const { return folder_; }
  const std::string& worker_id() const { return worker_id_; }

  // ---- the courier ----
  absl::Status AddTodo(absl::string_view id, absl::string_view json);
  absl::Status DropTodo(const SpooledTask& task);
  absl::StatusOr<std::vector<std::string>> Started() const;
  absl::StatusOr<std::vector<std::string>> Done() const;  // identifiers
  absl::StatusOr<std::string> ReadDone(absl::string_view id) const;
  absl::Status DropDone(absl::string_view id);

  // ---- the measuring process ----
  // In order, without those that are done.
  absl::StatusOr<std::vector<SpooledTask>> Todo() const;
  absl::StatusOr<std::string> ReadTodo(const SpooledTask& task) const;
  void MarkStarted(
      absl::string_view id) const;  // also from a forked child; a mark that cannot be written only costs fairness
  absl::Status Finish(const SpooledTask& task, absl::string_view json);
  // What was being measured when the last process died is not any more.
  absl::Status ForgetStarted();

 private:
  Spool(std::string folder, std::string worker_id) : folder_(std::move(folder)), worker_id_(std::move(worker_id)) {}
  std::string Path(absl::string_view part, absl::string_view name) const;

  std::string folder_, worker_id_;
};

}  // namespace cobra::worker

#endif  // COBRA_WORKER_SPOOL_H_
