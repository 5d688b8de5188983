#include "server/measurement_service.h"

#include <atomic>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "graph/json.h"
#include "nlohmann/json.hpp"
#include "proto/status_proto.h"
#include "store/record.h"

namespace cobra::server {
namespace {

using Json = nlohmann::ordered_json;

absl::Status Usage(std::string message) { return UserError(Diagnostic::Kind::kUsage, std::move(message)); }

template <typename Ids>
absl::Status CheckIds(const Ids& ids) {
  if (ids.size() > store::TaskQueue::kMaxTasksPerCall) {
    return UserError(Diagnostic::Kind::kLimit, absl::StrCat(ids.size(), " tasks are more than the limit of ",
                                                            store::TaskQueue::kMaxTasksPerCall, " in one call"));
  }
  for (const std::string& id : ids) {
    if (!IsTaskId(id))
      return Usage(absl::StrCat("\"", id.substr(0, 64), "\": a task_id has 32 digits, 0 to 9 and a to f"));
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
  return Usage(absl::StrCat("duration ", absl::FormatDuration(duration), ": 1 s to 1 h"));
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

// A caller of Watch. It lives until gRPC and the watching thread have both let go of it.
class WatchCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer>, public TaskWatch::Watcher {
 public:
  explicit WatchCall(TaskWatch* watch) : watch_(watch) {}

  void Start(std::vector<std::string> ids) {
    self_.reset(this);
    if (absl::Status status = watch_->Add(self_, std::move(ids)); !status.ok()) Finish(proto::ToGrpcStatus(status));
  }

  // Changes that come while a message is on its way wait for it, so that a slow reader gets few large ones.
  void Changed(const std::vector<store::TaskStatus>& statuses, bool last) override {
    absl::MutexLock lock(&mutex_);
    for (const store::TaskStatus& status : statuses) FillEvent(status, pending_.add_events());
    has_news_ = true;
    last_ = last_ || last;
    Go();
  }

  void OnWriteDone(bool ok) override {
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
    watch_->Remove(this);
    const std::shared_ptr<WatchCall> self = std::move(self_);
  }

 private:
  void Go() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || finished_) return;
    if (gone_ || (last_ && !has_news_)) {
      finished_ = true;
      Finish(gone_ ? grpc::Status(grpc::StatusCode::CANCELLED, "the caller went away") : grpc::Status::OK);
      return;
    }
    if (!has_news_) return;
    if (const absl::Status status = SerializeMessage(pending_, &message_); !status.ok()) {
      finished_ = true;
      Finish(proto::ToGrpcStatus(status));
      return;
    }
    pending_.Clear();
    has_news_ = false;
    writing_ = true;
    StartWrite(&message_);
  }

  TaskWatch* const watch_;
  std::shared_ptr<WatchCall> self_;
  absl::Mutex mutex_;
  grpc::ByteBuffer message_ ABSL_GUARDED_BY(mutex_);
  v1::WatchResponse pending_ ABSL_GUARDED_BY(mutex_);
  bool has_news_ ABSL_GUARDED_BY(mutex_) = false;
  bool last_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

class RefusedWatch final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  explicit RefusedWatch(const absl::Status& status) { Finish(proto::ToGrpcStatus(status)); }
  void OnDone() override { delete this; }
};

}  // namespace

absl::Status MeasurementService::HandleEnqueue(const v1::EnqueueRequest& request, v1::EnqueueResponse* response,
                                               const CallContext& call) {
  std::vector<store::TaskSpec> specs;
  for (const v1::MeasurementTask& task : request.tasks()) {
    COBRA_RETURN_IF_ERROR(call.Check());
    COBRA_ASSIGN_OR_RETURN(store::TaskSpec spec, TaskSpecFromProto(task, limits_));
    response->add_task_ids(spec.id);
    specs.push_back(std::move(spec));
  }
  COBRA_RETURN_IF_ERROR(CheckIds(response->task_ids()));
  COBRA_ASSIGN_OR_RETURN(const std::vector<bool> created, queue_->Enqueue(specs));
  response->mutable_created()->Add(created.begin(), created.end());
  return absl::OkStatus();
}

absl::Status MeasurementService::HandleLease(const v1::LeaseRequest& request, v1::LeaseResponse* response,
                                             const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckName("worker", request.worker(), 200));
  COBRA_RETURN_IF_ERROR(CheckName("target", request.target(), 200));
  COBRA_ASSIGN_OR_RETURN(const absl::Duration duration, LeaseDuration(request.duration()));
  if (request.max_tasks() < 1 || request.max_tasks() > store::TaskQueue::kMaxTasksPerCall) {
    return Usage(absl::StrCat("max_tasks ", request.max_tasks(), ": 1 to ", store::TaskQueue::kMaxTasksPerCall));
  }
  COBRA_ASSIGN_OR_RETURN(const std::vector<store::TaskLease> leases,
                         queue_->Lease(request.target(), request.worker(), request.max_tasks(), duration));
  for (const store::TaskLease& lease : leases) {
    COBRA_ASSIGN_OR_RETURN(*response->add_tasks(), TaskSpecToProto(lease.spec));
  }
  return absl::OkStatus();
}

absl::Status MeasurementService::HandleRenew(const v1::RenewRequest& request, v1::RenewResponse* response,
                                             const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckName("worker", request.worker(), 200));
  COBRA_RETURN_IF_ERROR(CheckIds(request.task_ids()));
  COBRA_RETURN_IF_ERROR(CheckIds(request.released_task_ids()));
  if (request.released_task_ids_size() > 0)
    COBRA_RETURN_IF_ERROR(queue_->Release(request.worker(), ToVector(request.released_task_ids())));
  if (request.task_ids().empty()) return absl::OkStatus();
  COBRA_ASSIGN_OR_RETURN(const absl::Duration duration, LeaseDuration(request.duration()));
  COBRA_ASSIGN_OR_RETURN(const std::vector<bool> held, queue_->Renew(request.worker(), ToVector(request.task_ids()),
                                                                     ToVector(request.started_task_ids()), duration));
  response->mutable_held()->Add(held.begin(), held.end());
  return absl::OkStatus();
}

// What the serving model would have said: how drift shows, in cobra_measured_over_predicted.
void MeasurementService::CompareWithPrediction(const store::MeasurementRecord& record) {
  const std::shared_ptr<const ModelSnapshot> model = model_->Get();
  if (record.outcome != "ok" || !model->Knows(record.target)) return;
  const absl::StatusOr<graph::Graph> graph = graph::GraphFromJson(record.graph_json);
  if (!graph.ok() || graph->nodes().empty()) return;
  const absl::StatusOr<predict::LatencyPrediction> predicted =
      model->predictor->Predict(*graph, record.target, model->FindCalibration(record.target), nullptr);
  if (!predicted.ok() || !(predicted->latency_us > 0)) return;
  const absl::string_view layer_type = record.is_network ? "network" : graph::OpName(graph->nodes().back().op);
  metrics_->Measured(record.target, layer_type, /*known=*/!predicted->extrapolating,
                     record.latency_us / predicted->latency_us);
}

absl::Status MeasurementService::ReportOne(const std::string& worker, const v1::TaskRecord& proto,
                                           v1::ReportResponse* response) {
  const auto answer = [response](v1::ReportResponse::Outcome outcome, absl::string_view message = "") {
    response->add_outcomes(outcome);
    response->add_messages(std::string(message));
    return absl::OkStatus();
  };
  absl::StatusOr<store::MeasurementRecord> record = store::MeasurementFromRecordJson(proto.record_json());
  if (!record.ok()) return answer(v1::ReportResponse::OUTCOME_INVALID, record.status().message());
  record->time = queue_->Now();
  record->task_id = proto.task_id();
  const Json session = Json::parse(proto.session_json(), nullptr, /*allow_exceptions=*/false);
  if (session.is_object() && !record->session.empty()) record->session_json = session.dump();
  COBRA_ASSIGN_OR_RETURN(const store::ReportOutcome outcome, queue_->Report(worker, &*record));
  switch (outcome) {
    case store::ReportOutcome::accepted:
      CompareWithPrediction(*record);
      return answer(v1::ReportResponse::OUTCOME_ACCEPTED);
    case store::ReportOutcome::duplicate: return answer(v1::ReportResponse::OUTCOME_DUPLICATE);
    case store::ReportOutcome::unknown: return answer(v1::ReportResponse::OUTCOME_UNKNOWN_TASK);
  }
  return absl::InternalError("no such outcome");
}

absl::Status MeasurementService::HandleReport(const v1::ReportRequest& request, v1::ReportResponse* response,
                                              const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckName("worker", request.worker(), 200));
  std::vector<std::string> ids;
  for (const v1::TaskRecord& record : request.records()) ids.push_back(record.task_id());
  COBRA_RETURN_IF_ERROR(CheckIds(ids));
  for (const v1::TaskRecord& record : request.records())
    COBRA_RETURN_IF_ERROR(ReportOne(request.worker(), record, response));
  return absl::OkStatus();
}

absl::Status MeasurementService::HandleCancel(const v1::CancelRequest& request, v1::CancelResponse* response,
                                              const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckIds(request.task_ids()));
  COBRA_ASSIGN_OR_RETURN(const std::vector<bool> cancelled, queue_->Cancel(ToVector(request.task_ids())));
  response->mutable_cancelled()->Add(cancelled.begin(), cancelled.end());
  return absl::OkStatus();
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* MeasurementService::Watch(grpc::CallbackServerContext*,
                                                                      const grpc::ByteBuffer* bytes) {
  v1::WatchRequest request;
  absl::Status status = ParseMessage(*bytes, calls_.max_parsed_bytes(), &request);
  if (status.ok()) status = CheckIds(request.task_ids());
  if (!status.ok()) return new RefusedWatch(status);
  auto* call = new WatchCall(watch_);
  call->Start(ToVector(request.task_ids()));
  return call;
}

}  // namespace cobra::server
