#include "worker/queue_client.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "grpcpp/grpcpp.h"
#include "proto/connection.h"
#include "proto/graph_proto.h"
#include "proto/grpc_status.h"
#include "store/task_subject.h"
#include "worker/meter.h"

namespace cobra::worker {
namespace {

constexpr absl::Duration kCallDeadline = absl::Seconds(30);
constexpr int kRecordsPerCall = 100;
constexpr int kMaxMessageBytes = 64 << 20;

volatile std::sig_atomic_t stop_requested = 0;
void RequestStop(int) { stop_requested = 1; }

void SetDuration(absl::Duration duration, google::protobuf::Duration* proto) {
  proto->set_seconds(absl::ToInt64Seconds(duration));
}

absl::StatusOr<store::TaskSubject> SubjectFromProto(const v1::MeasurementTask& task) {
  store::TaskSubject subject;
  subject.repeat = task.repeat();
  if (task.has_graph()) {
    COBRA_ASSIGN_OR_RETURN(subject.what, proto::GraphFromProto(task.graph()));
  } else {
    subject.what = store::SpaceIndex{task.sample().space(), task.sample().index(), task.sample().seed()};
  }
  return subject;
}

}  // namespace

QueueClient::QueueClient(const QueueClientOptions& options, Spool spool,
                         std::unique_ptr<v1::Measurements::StubInterface> stub)
    : options_(options), spool_(std::move(spool)), stub_(std::move(stub)) {}

template <typename Request, typename Response>
absl::Status QueueClient::Call(absl::string_view what,
                               grpc::Status (v1::Measurements::StubInterface::*method)(grpc::ClientContext*,
                                                                                       const Request&, Response*),
                               const Request& request, Response* response) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + kCallDeadline));
  COBRA_RETURN_IF_ERROR(proto::AddToken(options_.connection, &context));
  const absl::Status result = proto::FromGrpcStatus((stub_.get()->*method)(&context, request, response));
  return result.ok() ? result
                     : absl::Status(result.code(), absl::StrCat(options_.server, ": ", what, ": ", result.message()));
}

absl::Status QueueClient::RunOnce() {
  idle_ = false;
  COBRA_RETURN_IF_ERROR(UploadRecords());
  COBRA_RETURN_IF_ERROR(RenewLeases(/*release=*/false));
  return LeaseTasks();
}

absl::Status QueueClient::Shutdown() {
  COBRA_RETURN_IF_ERROR(UploadRecords());
  return RenewLeases(
      /*release=*/true);  // a started task keeps its lease until it expires: that start counts as an attempt
}

// The server returns an outcome for each record. Whatever it is, the record was received and leaves the spool.
absl::Status QueueClient::UploadRecords() {
  while (true) {
    COBRA_ASSIGN_OR_RETURN(std::vector<std::string> done, spool_.Done());
    if (done.empty()) return absl::OkStatus();
    if (done.size() > kRecordsPerCall) done.resize(kRecordsPerCall);
    v1::ReportRequest request;
    request.set_worker(spool_.worker_id());
    for (const std::string& id : done) {
      COBRA_ASSIGN_OR_RETURN(const FinishedTask finished, spool_.ReadDone(id));
      v1::TaskRecord* record = request.add_records();
      record->set_task_id(id);
      record->set_record_json(finished.record_json);
      record->set_session_json(finished.session_json);
    }
    v1::ReportResponse response;
    COBRA_RETURN_IF_ERROR(Call("Report", &v1::Measurements::StubInterface::Report, request, &response));
    if (response.outcomes_size() != static_cast<int>(done.size()))
      return absl::InternalError("Report: not one outcome per record");
    for (int i = 0; i < response.outcomes_size(); ++i) {
      const v1::ReportResponse::Outcome outcome = response.outcomes(i);
      if (outcome != v1::ReportResponse::OUTCOME_ACCEPTED && outcome != v1::ReportResponse::OUTCOME_DUPLICATE) {
        LogWarning(absl::StrCat("task ", done[static_cast<size_t>(i)], ": ", v1::ReportResponse::Outcome_Name(outcome),
                                " ", response.messages(i)));
      }
      COBRA_RETURN_IF_ERROR(spool_.DropDone(done[static_cast<size_t>(i)]));
    }
  }
}

absl::Status QueueClient::RenewLeases(bool release) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<SpooledTask> todo, spool_.Todo());
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> started, spool_.Started());
  if (todo.empty()) return absl::OkStatus();
  if (!release && SteadyNowNs() < renew_at_ns_ && started.size() == started_) return absl::OkStatus();
  const std::set<std::string> begun(started.begin(), started.end());
  v1::RenewRequest request;
  request.set_worker(spool_.worker_id());
  SetDuration(options_.lease, request.mutable_duration());
  for (const SpooledTask& task : todo) {
    if (release && begun.count(task.id) == 0) {
      request.add_released_task_ids(task.id);
      continue;
    }
    request.add_task_ids(task.id);
    if (begun.count(task.id) > 0) request.add_started_task_ids(task.id);
  }
  v1::RenewResponse response;
  COBRA_RETURN_IF_ERROR(Call("Renew", &v1::Measurements::StubInterface::Renew, request, &response));
  renew_at_ns_ = SteadyNowNs() + absl::ToDoubleNanoseconds(options_.lease) / 3;
  started_ = started.size();
  int kept = 0;
  for (const SpooledTask& task : todo) {
    const bool released = release && begun.count(task.id) == 0;
    const bool held = !released && kept < response.held_size() && response.held(kept);
    if (!released) ++kept;
    // Leased to another worker, or cancelled. A task that is being measured is kept: its record counts.
    if (!held && begun.count(task.id) == 0) COBRA_RETURN_IF_ERROR(spool_.DropTodo(task));
  }
  return absl::OkStatus();
}

absl::Status QueueClient::LeaseTasks() {
  COBRA_ASSIGN_OR_RETURN(const std::vector<SpooledTask> todo, spool_.Todo());
  const int room = options_.lease_tasks - static_cast<int>(todo.size());
  if (room <= 0 || room < options_.lease_tasks / 2) return absl::OkStatus();
  v1::LeaseRequest request;
  request.set_worker(spool_.worker_id());
  request.set_target(options_.target);
  request.set_max_tasks(room);
  SetDuration(options_.lease, request.mutable_duration());
  v1::LeaseResponse response;
  COBRA_RETURN_IF_ERROR(Call("Lease", &v1::Measurements::StubInterface::Lease, request, &response));
  for (const v1::MeasurementTask& task : response.tasks()) {
    COBRA_ASSIGN_OR_RETURN(const store::TaskSubject subject, SubjectFromProto(task));
    COBRA_RETURN_IF_ERROR(spool_.AddTodo(task.task_id(), store::TaskSubjectToJson(subject)));
  }
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> done, spool_.Done());
  idle_ = todo.empty() && done.empty() && response.tasks().empty();
  return absl::OkStatus();
}

absl::Status RunQueueClient(const QueueClientOptions& options, Spool spool) {
  signal(SIGTERM, RequestStop);
  signal(SIGINT, SIG_IGN);  // a terminal sends it to both processes, and the measuring one stops this one
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  const auto channel = proto::Connect(options.connection, options.server, arguments);
  QueueClient queue_client(options, std::move(spool), v1::Measurements::NewStub(channel));
  absl::Duration wait = options.period;
  while (stop_requested == 0) {
    const absl::Status status = queue_client.RunOnce();
    if (!status.ok()) {
      LogWarning(absl::StrCat(status.message(), "; trying again, what is measured stays in the spool"));
      wait = std::min(2 * wait, absl::Seconds(5));
    } else {
      wait = options.period;
      if (options.until_idle && queue_client.IsIdle()) return absl::OkStatus();
    }
    absl::SleepFor(wait);
  }
  return queue_client.Shutdown();
}

}  // namespace cobra::worker
