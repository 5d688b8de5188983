#include "server/queue/measurement_service.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/log.h"
#include "base/names.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "proto/grpc_status.h"
#include "server/access/access.h"
#include "server/access/caller.h"
#include "server/access/credentials.h"
#include "server/lanes/request_record.h"
#include "server/queue/report_check.h"
#include "server/rpc/single_request_call.h"
#include "store/store.h"

namespace cobra::server {
namespace {

// What a request for 1,000 tasks takes once parsed, and room to spare. It is parsed in a thread of
// gRPC.
constexpr int64_t kMaxWatchRequestBytes = 256 << 10;
// A worker that wants more asks again: the graphs of all tasks of a reply are in memory at once.
constexpr int32_t kMaxTasksPerLease = 32;
// Changes that wait for a caller that reads slowly: some of each of its tasks.
constexpr int64_t kMaxPendingEvents = 8 * store::TaskQueue::kMaxTasksPerCall;

absl::Status CheckCount(int64_t tasks) {
  if (tasks <= store::TaskQueue::kMaxTasksPerCall) return absl::OkStatus();
  return UserError(Diagnostic::Kind::kLimit,
                   LimitMessage("one call", tasks, store::TaskQueue::kMaxTasksPerCall, "tasks"));
}

template <typename Ids>
absl::Status CheckIds(const Ids& ids) {
  COBRA_RETURN_IF_ERROR(CheckCount(static_cast<int64_t>(ids.size())));
  for (const absl::string_view id : ids) {
    if (!IsTaskId(id))
      return UsageError(absl::StrCat("\"", id.substr(0, 64), "\": a task_id has 32 digits, 0 to 9 and a to f"));
  }
  return absl::OkStatus();
}

template <typename Ids>
std::vector<std::string> ToVector(const Ids& ids) {
  return {ids.begin(), ids.end()};
}

absl::StatusOr<absl::Duration> LeaseDuration(const google::protobuf::Duration& proto) {
  const absl::Duration duration = absl::Seconds(proto.seconds()) + absl::Nanoseconds(proto.nanos());
  if (duration >= absl::Seconds(1) && duration <= absl::Hours(1)) return duration;
  return UsageError(absl::StrCat("duration ", absl::FormatDuration(duration), ": 1 s to 1 h"));
}

v1::TaskEvent::State StateToProto(store::TaskState state) {
  switch (state) {
    case store::TaskState::queued: return v1::TaskEvent::STATE_QUEUED;
    case store::TaskState::leased: return v1::TaskEvent::STATE_LEASED;
    case store::TaskState::done: return v1::TaskEvent::STATE_DONE;
    case store::TaskState::cancelled: return v1::TaskEvent::STATE_CANCELLED;
    case store::TaskState::poisoned: return v1::TaskEvent::STATE_POISONED;
  }
  return v1::TaskEvent::STATE_UNSPECIFIED;
}

void FillEvent(const store::TaskStatus& status, v1::TaskEvent* event) {
  event->set_task_id(status.id);
  event->set_state(StateToProto(status.state));
  event->set_attempts(static_cast<int32_t>(status.attempts));
  event->set_worker(status.worker);
  event->set_message(status.message);
}

absl::StatusOr<std::vector<std::string>> WatchedIds(const grpc::ByteBuffer& bytes) {
  v1::WatchRequest request;
  COBRA_RETURN_IF_ERROR(ParseMessage(bytes, kMaxWatchRequestBytes, &request));
  COBRA_RETURN_IF_ERROR(CheckIds(request.task_ids()));
  return ToVector(request.task_ids());
}

// One call of Watch. It lives until both gRPC and the watching thread have released it.
class WatchCall final : public SingleRequestCall, public TaskWatch::Watcher {
 public:
  WatchCall(TaskWatch* watch, Metrics* metrics, Arrivals* arrivals, grpc::CallbackServerContext* context)
      : SingleRequestCall(arrivals, context), watch_(watch), record_(Rpc::kWatch, metrics, context) {
    self_.reset(this);
  }

  // Takes the message, if the caller may call.
  void Start(Access* access, grpc::CallbackServerContext* context) {
    const auto principal = AdmitCall(access, Rpc::kWatch, context);
    if (!principal.ok()) return Lost(principal.status());
    caller_ = CallerOf(principal->get(), context->peer());
    AwaitRequest();
  }

  void Lost(const absl::Status& why) override {
    absl::MutexLock lock(&mutex_);
    End(gone_ ? absl::CancelledError("the caller disconnected") : why);
  }
  void Received() override {
    record_.Arrived();
    absl::StatusOr<std::vector<std::string>> ids = WatchedIds(request());
    const absl::Status status = ids.ok() ? watch_->Add(self_, caller_, *std::move(ids)) : ids.status();
    absl::MutexLock lock(&mutex_);
    watches_ = true;
    if (!status.ok()) return End(status);
    Go();  // the caller may be gone already
  }

  // Changes that arrive while a message is being written are collected, so that a slow reader gets
  // few large messages.
  void Changed(const std::vector<store::TaskStatus>& statuses, bool last) override {
    absl::MutexLock lock(&mutex_);
    if (pending_.events_size() + static_cast<int64_t>(statuses.size()) > kMaxPendingEvents) {
      ended_ = absl::ResourceExhaustedError(LimitMessage("Watch", kMaxPendingEvents, "changes that were not read"));
    } else if (ended_.ok()) {
      for (const store::TaskStatus& status : statuses) FillEvent(status, pending_.add_events());
    }
    has_changes_ = true;
    last_ = last_ || last;
    Go();
  }
  void Ended(const absl::Status& why) override {
    absl::MutexLock lock(&mutex_);
    ended_ = why;
    Go();
  }

  void OnWriteDone(bool ok) override {
    if (ok) record_.MessageSent();
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    gone_ = gone_ || !ok;
    Go();
  }
  void OnCancel() override {
    absl::MutexLock lock(&mutex_);
    gone_ = true;
    Go();
  }
  void OnDone() override {
    { absl::MutexLock lock(&mutex_); }  // whoever called Finish() has left
    watch_->Remove(this);
    const std::shared_ptr<WatchCall> self = std::move(self_);
  }

 private:
  void Go() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || finished_ || !watches_) return;
    if (gone_) return End(absl::CancelledError("the caller disconnected"));
    if (!ended_.ok()) return End(ended_);
    if (last_ && !has_changes_) return End(absl::OkStatus());
    if (!has_changes_) return;
    if (const absl::Status status = SerializeMessage(pending_, &message_); !status.ok()) return End(status);
    pending_.Clear();
    has_changes_ = false;
    writing_ = true;
    StartWrite(&message_);
  }

  void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    finished_ = true;
    record_.Done(status);
    Finish(proto::ToGrpcStatus(status));
  }

  TaskWatch* const watch_;
  RequestRecord record_;
  std::string caller_;
  std::shared_ptr<WatchCall> self_;
  absl::Mutex mutex_;
  grpc::ByteBuffer message_ ABSL_GUARDED_BY(mutex_);
  v1::WatchResponse pending_ ABSL_GUARDED_BY(mutex_);
  absl::Status ended_ ABSL_GUARDED_BY(mutex_);    // why the call is to end before its tasks have
  bool watches_ ABSL_GUARDED_BY(mutex_) = false;  // its message is there
  bool has_changes_ ABSL_GUARDED_BY(mutex_) = false;
  bool last_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

// Whether the same call may succeed later.
bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsCancelled(status) ||
         absl::IsAborted(status);
}

ReportLabel LabelOf(v1::ReportResponse::Outcome outcome) {
  static_assert(static_cast<int>(ReportLabel::kAccepted) + 1 == v1::ReportResponse::OUTCOME_ACCEPTED);
  static_assert(static_cast<int>(ReportLabel::kHeld) + 1 == v1::ReportResponse::OUTCOME_HELD);
  return static_cast<ReportLabel>(static_cast<int>(outcome) - 1);
}

}  // namespace

MeasurementService::MeasurementService(store::TaskQueue* queue, TaskWatch* watch, const LiveModel* model,
                                       Metrics* metrics, const UnaryCalls& calls, const GraphLimits& limits)
    : UnaryService(calls), queue_(queue), watch_(watch), model_(model), metrics_(metrics), limits_(limits) {
  AnswerUnary(Rpc::kEnqueue, this, &MeasurementService::HandleEnqueue);
  AnswerUnary(Rpc::kLease, this, &MeasurementService::HandleLease);
  AnswerUnary(Rpc::kRenew, this, &MeasurementService::HandleRenew);
  AnswerUnary(Rpc::kReport, this, &MeasurementService::HandleReport);
  AnswerUnary(Rpc::kCancel, this, &MeasurementService::HandleCancel);
  Answer(Rpc::kWatch, [this](grpc::CallbackServerContext* context) -> BytesReactor* {
    auto* call = new WatchCall(watch_, metrics_, this->calls().arrivals(), context);
    call->Start(this->calls().access(), context);
    return call;
  });
}

absl::Status MeasurementService::HandleEnqueue(const v1::EnqueueRequest& request, v1::EnqueueResponse* response,
                                               const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckCount(request.tasks_size()));
  EnqueueLimits left;
  if (const auto bytes = static_cast<int64_t>(request.ByteSizeLong()); bytes > left.max_request_bytes) {
    return UserError(Diagnostic::Kind::kLimit,
                     LimitMessage("the tasks of one call", bytes, left.max_request_bytes, "bytes"),
                     "enqueue the tasks in several calls; leave out the names of tensors and the calls' origins");
  }
  std::vector<store::TaskSpec> specs;
  for (const v1::MeasurementTask& task : request.tasks()) {
    COBRA_RETURN_IF_ERROR(call.Check());
    COBRA_ASSIGN_OR_RETURN(store::TaskSpec spec, TaskSpecFromProto(task, limits_, &left));
    response->add_task_ids(spec.id);
    specs.push_back(std::move(spec));
  }
  const store::QueueShare share = QueueShareOf(call.principal.get(), QueueLimits());
  COBRA_ASSIGN_OR_RETURN(const std::vector<bool> created,
                         queue_->Enqueue(CallerName(call, ""), specs, call.deadline, share));
  response->mutable_created()->Add(created.begin(), created.end());
  return absl::OkStatus();
}

// Whoever calls has others to deal with: what fails here is tried again with the next lease.
void MeasurementService::Poison(const std::string& task_id, const absl::Status& why, const CallContext& call) {
  LogWarning(absl::StrCat("poisoned: ", why.message()));
  if (const absl::Status status = queue_->Poison(task_id, why.message(), call.deadline); !status.ok())
    LogWarning(absl::StrCat("task ", task_id, " was not poisoned: ", status.message()));
}

absl::Status MeasurementService::HandleLease(const v1::LeaseRequest& request, v1::LeaseResponse* response,
                                             const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckApiName("worker", request.worker()));
  COBRA_RETURN_IF_ERROR(CheckApiName("target", request.target()));
  COBRA_RETURN_IF_ERROR(CheckWorker(call.principal.get(), request.worker()));
  COBRA_RETURN_IF_ERROR(CheckTarget(call.principal.get(), request.target()));
  COBRA_ASSIGN_OR_RETURN(const absl::Duration duration, LeaseDuration(request.duration()));
  if (request.max_tasks() < 1 || request.max_tasks() > store::TaskQueue::kMaxTasksPerCall) {
    return UsageError(absl::StrCat("max_tasks ", request.max_tasks(), ": 1 to ", store::TaskQueue::kMaxTasksPerCall));
  }
  COBRA_ASSIGN_OR_RETURN(const std::vector<store::TaskLease> leases,
                         queue_->Lease(request.target(), request.worker(),
                                       std::min(request.max_tasks(), kMaxTasksPerLease), duration, call.deadline));
  for (const store::TaskLease& lease : leases) {
    absl::StatusOr<v1::MeasurementTask> task = TaskSpecToProto(lease.spec);
    if (task.ok()) {
      *response->add_tasks() = *std::move(task);
      continue;
    }
    // An older server may have stored it. It must not keep the target's other tasks from their
    // workers.
    Poison(lease.spec.id, task.status(), call);
  }
  return absl::OkStatus();
}

absl::Status MeasurementService::HandleRenew(const v1::RenewRequest& request, v1::RenewResponse* response,
                                             const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckApiName("worker", request.worker()));
  COBRA_RETURN_IF_ERROR(CheckWorker(call.principal.get(), request.worker()));
  COBRA_RETURN_IF_ERROR(CheckIds(request.task_ids()));
  COBRA_RETURN_IF_ERROR(CheckIds(request.started_task_ids()));
  COBRA_RETURN_IF_ERROR(CheckIds(request.released_task_ids()));
  if (request.released_task_ids_size() > 0)
    COBRA_RETURN_IF_ERROR(queue_->Release(request.worker(), ToVector(request.released_task_ids()), call.deadline));
  if (request.task_ids().empty()) return absl::OkStatus();
  COBRA_ASSIGN_OR_RETURN(const absl::Duration duration, LeaseDuration(request.duration()));
  COBRA_ASSIGN_OR_RETURN(const std::vector<bool> held,
                         queue_->Renew(request.worker(), ToVector(request.task_ids()),
                                       ToVector(request.started_task_ids()), duration, call.deadline));
  response->mutable_held()->Add(held.begin(), held.end());
  return absl::OkStatus();
}

absl::Status MeasurementService::ReportOne(const std::string& worker, const v1::TaskRecord& proto,
                                           const CallContext& call, v1::ReportResponse* response) {
  const auto answer = [&](v1::ReportResponse::Outcome outcome, absl::string_view message = "") {
    metrics_->Reported(LabelOf(outcome));
    response->add_outcomes(outcome);
    response->add_messages(std::string(message));
    return absl::OkStatus();
  };
  constexpr char kNotLeased[] = "this worker neither holds the task's lease nor was the last to hold it";
  const absl::StatusOr<store::FoundTask> task = queue_->Find(proto.task_id(), call.deadline);
  if (absl::IsNotFound(task.status())) return answer(v1::ReportResponse::OUTCOME_UNKNOWN_TASK);
  COBRA_RETURN_IF_ERROR(task.status());
  if (task->status.state == store::TaskState::done) return answer(v1::ReportResponse::OUTCOME_DUPLICATE);
  if (task->status.worker != worker) return answer(v1::ReportResponse::OUTCOME_NOT_LEASED, kNotLeased);
  absl::StatusOr<CheckedReport> report = CheckReport(proto, task->spec, *model_->Get(), call);
  // The fault of one record, or of one task, is not that of the others: the worker would report all
  // of them for ever.
  if (absl::IsDataLoss(report.status())) Poison(proto.task_id(), report.status(), call);
  if (!report.ok() && !MayPass(report.status()))
    return answer(v1::ReportResponse::OUTCOME_INVALID, report.status().message());
  COBRA_RETURN_IF_ERROR(report.status());
  store::StoredMeasurement& stored = report->stored;
  stored.time = queue_->Now();
  stored.provenance.caller = CallerName(call, worker);
  const absl::StatusOr<store::ReportOutcome> outcome = queue_->Report(worker, &stored, call.deadline);
  if (!outcome.ok() && !MayPass(outcome.status())) {
    LogWarning(absl::StrCat("task ", stored.task_id, ": its record cannot be stored: ", outcome.status().message()));
    return answer(v1::ReportResponse::OUTCOME_INVALID, "the record cannot be stored");
  }
  COBRA_RETURN_IF_ERROR(outcome.status());
  switch (*outcome) {
    case store::ReportOutcome::duplicate: return answer(v1::ReportResponse::OUTCOME_DUPLICATE);
    case store::ReportOutcome::unknown: return answer(v1::ReportResponse::OUTCOME_UNKNOWN_TASK);
    case store::ReportOutcome::not_leased: return answer(v1::ReportResponse::OUTCOME_NOT_LEASED, kNotLeased);
    case store::ReportOutcome::accepted:
    case store::ReportOutcome::held: break;
  }
  // Held ones count too: on a device that has changed, all of them are.
  if (stored.provenance.predicted_us > 0) {
    metrics_->Measured(stored.target,
                       stored.measurement.subject.is_network ? "network" : stored.measurement.subject.label,
                       report->known, stored.measurement.latency.median_us / stored.provenance.predicted_us);
  }
  if (*outcome == store::ReportOutcome::accepted) return answer(v1::ReportResponse::OUTCOME_ACCEPTED);
  LogInfo(absl::StrCat("task ", stored.task_id, " for ", stored.target, ", worker ", worker, ": held: ", stored.held));
  return answer(v1::ReportResponse::OUTCOME_HELD, stored.held);
}

// A report touches the targets of its tasks. Nothing of it is stored if one of them is another
// worker's.
absl::Status MeasurementService::CheckTargetsOf(const std::vector<std::string>& task_ids, const CallContext& call) {
  if (call.principal == nullptr || call.principal->targets.empty()) return absl::OkStatus();
  COBRA_ASSIGN_OR_RETURN(const std::vector<store::TaskStatus> tasks, queue_->Get(task_ids, call.deadline));
  for (const store::TaskStatus& task : tasks) COBRA_RETURN_IF_ERROR(CheckTarget(call.principal.get(), task.target));
  return absl::OkStatus();
}

absl::Status MeasurementService::HandleReport(const v1::ReportRequest& request, v1::ReportResponse* response,
                                              const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckApiName("worker", request.worker()));
  COBRA_RETURN_IF_ERROR(CheckWorker(call.principal.get(), request.worker()));
  COBRA_RETURN_IF_ERROR(CheckCount(request.records_size()));
  std::vector<std::string> ids;
  for (const v1::TaskRecord& record : request.records()) ids.push_back(record.task_id());
  COBRA_RETURN_IF_ERROR(CheckIds(ids));
  COBRA_RETURN_IF_ERROR(CheckTargetsOf(ids, call));
  // What was reported before the deadline is stored; the worker reports all again.
  for (const v1::TaskRecord& record : request.records()) {
    COBRA_RETURN_IF_ERROR(call.Check());
    COBRA_RETURN_IF_ERROR(ReportOne(request.worker(), record, call, response));
  }
  return absl::OkStatus();
}

absl::Status MeasurementService::HandleCancel(const v1::CancelRequest& request, v1::CancelResponse* response,
                                              const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckIds(request.task_ids()));
  COBRA_ASSIGN_OR_RETURN(const std::vector<bool> cancelled,
                         queue_->Cancel(CallerName(call, ""), ToVector(request.task_ids()), call.deadline));
  response->mutable_cancelled()->Add(cancelled.begin(), cancelled.end());
  return absl::OkStatus();
}

}  // namespace cobra::server
