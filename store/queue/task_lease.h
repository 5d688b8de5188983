// Leases of tasks: which ones a worker is given and for how long, and what becomes of them when the
// lease expires. All within the caller's transaction. The rules are those of task_queue.h.
#ifndef COBRA_STORE_QUEUE_TASK_LEASE_H_
#define COBRA_STORE_QUEUE_TASK_LEASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "store/queue/task_queue.h"
#include "store/sql/sql.h"

namespace cobra::store {

// Whether no other worker than `worker` has been active for the target.
absl::StatusOr<bool> IsOnlyWorker(SqlSession& session, absl::string_view target, absl::string_view worker,
                                  int64_t since_us);

// Ends the target's leases that have expired at `now`: their tasks are queued again, and those that
// were lost too often are poisoned. Then leases at most `max_tasks` to the worker.
absl::StatusOr<std::vector<TaskLease>> LeaseTasks(SqlSession& session, absl::string_view target,
                                                  absl::string_view worker, int64_t max_tasks, absl::Time now,
                                                  absl::Time expires);

// For each task whether it is still that worker's: its lease then lasts until `expires`.
absl::StatusOr<std::vector<bool>> RenewLeases(SqlSession& session, absl::string_view worker,
                                              absl::Span<const std::string> ids, absl::Span<const std::string> started,
                                              absl::Time now, absl::Time expires);

}  // namespace cobra::store

#endif  // COBRA_STORE_QUEUE_TASK_LEASE_H_
