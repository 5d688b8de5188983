#include "worker/queue/queue_client.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "grpcpp/grpcpp.h"
#include "proto/connection.h"
#include "proto/graph_proto.h"
#include "proto/grpc_status.h"
#include "store/measurement.h"
#include "store/queue/task_subject.h"
#include "worker/meter/meter.h"

namespace cobra::worker {
namespace {

constexpr absl::Duration kCallDeadline = absl::Seconds(30);
constexpr int kRecordsPerCall = 100;
// Of the records of one Report; a single one may be as large as the server takes it
// (kMaxRecordBytes).
constexpr int64_t kMaxReportBytes = int64_t{8} << 20;
constexpr int kMaxMessageBytes = 64 << 20;

volatile std::sig_atomic_t stop_requested = 0;
void RequestStop(int) { stop_requested = 1; }

void SetDuration(absl::Duration duration, google::protobuf::Duration* proto) {
  proto->set_seconds(absl::ToInt64Seconds(duration));
}

absl::StatusOr<store::Subject> SubjectFromProto(const v1::MeasurementTask& task) {
  if (task.has_graph()) {
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, proto::GraphFromProto(task.graph()));
    return store::AskedSubject(std::move(graph), task.repeat());
  }
  store::Subject subject;
  subject.space = task.sample().space();
  subject.index = task.sample().index();
  subject.seed = task.sample().seed();
  subject.repeat = task.repeat();
  return subject;
}

// gRPC's own limits, at either end, and that of a server for a request in memory. Other exhausted
// resources may be there the next time.
bool IsTooLarge(const absl::Status& status) {
  return absl::IsResourceExhausted(status) &&
         (absl::StrContains(status.message(), "larger than max") || absl::StrContains(status.message(), "in memory"));
}

// Whether the server refuses the same call the next time too, whatever else has changed.
bool IsForGood(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsOutOfRange(status) || IsTooLarge(status);
}

// A record that says why there is none.
std::string FailureJson(absl::string_view message) {
  store::Measurement measurement;
  measurement.subject.space = "asked";
  measurement.outcome = store::Outcome::unsupported;
  measurement.message = std::string(message.substr(0, 1000));
  return store::MeasurementToJson(measurement);
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
  absl::Status first;
  for (const auto& step : {&QueueClient::UploadRecords, &QueueClient::KeepLeases, &QueueClient::LeaseTasks}) {
    const absl::Status status = (this->*step)();
    if (absl::IsUnavailable(status)) return status;  // the others would only wait
    if (first.ok()) first = status;
  }
  return first;
}

absl::Status QueueClient::Shutdown() {
  const absl::Status uploaded = UploadRecords();
  const absl::Status released = RenewLeases(
      /*release=*/true);  // a started task keeps its lease until it expires: that start counts as an attempt
  return uploaded.ok() ? released : uploaded;
}

// The records from done[*next] on that fit into one call. A record that cannot be read, or that no
// server takes, leaves the spool here.
absl::StatusOr<QueueClient::Batch> QueueClient::NextBatch(const std::vector<std::string>& done, size_t* next) {
  Batch batch;
  batch.request.set_worker(spool_.worker_id());
  for (; *next < done.size() && static_cast<int>(batch.ids.size()) < kRecordsPerCall; ++*next) {
    const std::string& id = done[*next];
    absl::StatusOr<FinishedTask> finished = spool_.ReadDone(id);
    if (absl::IsNotFound(finished.status())) continue;
    if (!finished.ok()) {
      COBRA_RETURN_IF_ERROR(Refused(id, finished.status().message(), /*again=*/true));
      continue;
    }
    const auto record_bytes = static_cast<int64_t>(finished->record_json.size());
    if (record_bytes > store::kMaxRecordBytes) {
      COBRA_RETURN_IF_ERROR(
          Refused(id, LimitMessage("the record", record_bytes, store::kMaxRecordBytes, "bytes"), /*again=*/false));
      continue;  // the failure goes with the next run
    }
    const auto bytes = record_bytes + static_cast<int64_t>(finished->session_json.size());
    if (!batch.ids.empty() && batch.bytes + bytes > kMaxReportBytes) break;
    batch.bytes += bytes;
    batch.ids.push_back(id);
    v1::TaskRecord* record = batch.request.add_records();
    record->set_task_id(id);
    record->set_record_json(std::move(finished->record_json));
    record->set_session_json(std::move(finished->session_json));
  }
  return batch;
}

absl::Status QueueClient::UploadRecords() {
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> done, spool_.Done());
  absl::Status first;
  for (size_t next = 0; next < done.size();) {
    COBRA_ASSIGN_OR_RETURN(const Batch batch, NextBatch(done, &next));
    if (batch.ids.empty()) continue;
    const absl::Status status = SendBatch(batch);
    if (absl::IsUnavailable(status)) return status;
    if (first.ok()) first = status;
  }
  return first;
}

// If the server does not take the whole, each record by itself, so that one does not keep the
// others back.
absl::Status QueueClient::SendBatch(const Batch& batch) {
  const absl::Status all = SendReport(batch.request, batch.ids);
  if (all.ok() || absl::IsUnavailable(all) || absl::IsDeadlineExceeded(all)) return all;
  absl::Status first;
  for (int i = 0; i < batch.request.records_size(); ++i) {
    const std::string& id = batch.ids[static_cast<size_t>(i)];
    absl::Status one = all;
    if (batch.ids.size() > 1) {
      v1::ReportRequest request;
      request.set_worker(batch.request.worker());
      *request.add_records() = batch.request.records(i);
      one = SendReport(request, {id});
    }
    if (absl::IsUnavailable(one) || absl::IsDeadlineExceeded(one)) return one;
    if (IsForGood(one)) one = Refused(id, one.message(), /*again=*/false);
    if (first.ok()) first = one;
  }
  return first;
}

absl::Status QueueClient::SendReport(const v1::ReportRequest& request, const std::vector<std::string>& ids) {
  v1::ReportResponse response;
  COBRA_RETURN_IF_ERROR(Call("Report", &v1::Measurements::StubInterface::Report, request, &response));
  if (response.outcomes_size() != static_cast<int>(ids.size()) || response.messages_size() != response.outcomes_size())
    return absl::InternalError("Report: not one outcome per record");
  for (int i = 0; i < response.outcomes_size(); ++i) {
    COBRA_RETURN_IF_ERROR(TakeOutcome(ids[static_cast<size_t>(i)], response.outcomes(i), response.messages(i)));
  }
  return absl::OkStatus();
}

absl::Status QueueClient::TakeOutcome(const std::string& id, v1::ReportResponse::Outcome outcome,
                                      absl::string_view message) {
  const std::string text = absl::StrCat(v1::ReportResponse::Outcome_Name(outcome), " ", message);
  switch (outcome) {
    case v1::ReportResponse::OUTCOME_HELD: LogWarning(absl::StrCat("task ", id, ": ", text)); ABSL_FALLTHROUGH_INTENDED;
    case v1::ReportResponse::OUTCOME_ACCEPTED:
    case v1::ReportResponse::OUTCOME_DUPLICATE:
      refusals_.erase(id);
      failed_.erase(id);
      return spool_.DropDone(id);
    // Somebody else has the task, or nobody: the record is all that is left of the measurement.
    case v1::ReportResponse::OUTCOME_NOT_LEASED:
    case v1::ReportResponse::OUTCOME_UNKNOWN_TASK: return spool_.RejectDone(id, text);
    default: return Refused(id, text, /*again=*/true);
  }
}

absl::Status QueueClient::Refused(const std::string& id, absl::string_view why, bool again) {
  const bool is_first = ++refusals_[id] == 1;
  COBRA_RETURN_IF_ERROR(spool_.RejectDone(id, why));
  if ((again && is_first) || failed_.count(id) > 0) {
    given_up_.insert(id);
    return absl::OkStatus();
  }
  failed_.insert(id);
  return spool_.AddDone(id, {FailureJson(absl::StrCat("it was measured, but not reported: ", why)), ""});
}

absl::Status QueueClient::KeepLeases() { return RenewLeases(/*release=*/false); }

absl::Status QueueClient::RenewLeases(bool release) {
  COBRA_ASSIGN_OR_RETURN(std::vector<SpooledTask> tasks, spool_.Todo());
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> started, spool_.Started());
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> done, spool_.Done());
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> given_up, GivenUp());
  // What is measured is kept, too, until the server has it: otherwise its lease would end as that
  // of a start without a result.
  for (const std::string& id : done) tasks.push_back({/*file=*/"", id});
  if (tasks.empty() && given_up.empty()) return absl::OkStatus();
  if (!release && given_up.empty() && options_.steady_now_ns() < renew_at_ns_ && started == started_)
    return absl::OkStatus();
  std::set<std::string> begun(started.begin(), started.end());
  for (const std::string& id : done) begun.erase(id);
  absl::Status first;
  for (size_t i = 0; i < std::max<size_t>(tasks.size(), 1); i += kMostIds) {
    const absl::Status status = RenewSome(absl::MakeConstSpan(tasks).subspan(i, kMostIds), begun, release);
    if (absl::IsUnavailable(status)) return status;
    if (first.ok()) first = status;
  }
  COBRA_RETURN_IF_ERROR(first);
  renew_at_ns_ = options_.steady_now_ns() + absl::ToDoubleNanoseconds(options_.lease) / 3;
  started_ = started;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> QueueClient::GivenUp() const {
  if (given_up_.empty()) return std::vector<std::string>();
  std::set<std::string> rest = given_up_;
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> done, spool_.Done());
  COBRA_ASSIGN_OR_RETURN(const std::vector<SpooledTask> todo, spool_.Todo());
  for (const std::string& id : done) rest.erase(id);
  for (const SpooledTask& task : todo) rest.erase(task.id);
  return std::vector<std::string>(rest.begin(), rest.end());
}

// With what was given up: it is never more than what one Lease gives and one Report takes.
absl::Status QueueClient::RenewSome(absl::Span<const SpooledTask> tasks, const std::set<std::string>& begun,
                                    bool release) {
  v1::RenewRequest request;
  request.set_worker(spool_.worker_id());
  SetDuration(options_.lease, request.mutable_duration());
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> given_up, GivenUp());
  for (const std::string& id : given_up) request.add_released_task_ids(id);
  // What waits to be reported has no file in todo/.
  const auto is_released = [&](const SpooledTask& task) {
    return release && !task.file.empty() && begun.count(task.id) == 0;
  };
  for (const SpooledTask& task : tasks) {
    if (is_released(task)) {
      request.add_released_task_ids(task.id);
      continue;
    }
    request.add_task_ids(task.id);
    if (begun.count(task.id) > 0) request.add_started_task_ids(task.id);
  }
  v1::RenewResponse response;
  COBRA_RETURN_IF_ERROR(Call("Renew", &v1::Measurements::StubInterface::Renew, request, &response));
  given_up_.clear();
  int kept = 0;
  for (const SpooledTask& task : tasks) {
    const bool released = is_released(task);
    const bool held = !released && kept < response.held_size() && response.held(kept);
    if (!released) ++kept;
    // Leased to another worker, or cancelled. A task that is being measured is kept, and so is a
    // record: it counts.
    if (!held && !task.file.empty() && begun.count(task.id) == 0) COBRA_RETURN_IF_ERROR(spool_.DropTodo(task));
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
  request.set_max_tasks(std::min(room, most_leased_));
  SetDuration(options_.lease, request.mutable_duration());
  v1::LeaseResponse response;
  const absl::Status leased = Call("Lease", &v1::Measurements::StubInterface::Lease, request, &response);
  // The server gives the tasks of the lost reply to somebody when their lease ends. Meanwhile the
  // next ones come one by one.
  if (IsTooLarge(leased)) most_leased_ = 1;
  COBRA_RETURN_IF_ERROR(leased);
  most_leased_ = std::min(2 * most_leased_, kMostIds);
  absl::Status first;
  for (const v1::MeasurementTask& task : response.tasks()) {
    const absl::Status added = AddLeased(task);
    if (added.ok()) continue;
    if (absl::IsInvalidArgument(added)) {
      LogWarning(absl::StrCat("left out: ", added.message()));  // an id that is none; the others are measured
      continue;
    }
    given_up_.insert(task.task_id());
    if (first.ok()) first = added;
  }
  COBRA_RETURN_IF_ERROR(first);
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> done, spool_.Done());
  idle_ = todo.empty() && done.empty() && response.tasks().empty();
  return absl::OkStatus();
}

// A task that this worker cannot read, a newer server's perhaps, has that as its outcome.
absl::Status QueueClient::AddLeased(const v1::MeasurementTask& task) {
  const absl::StatusOr<store::Subject> subject = SubjectFromProto(task);
  if (subject.ok()) return spool_.AddTodo(task.task_id(), store::TaskSubjectToJson(*subject));
  const std::string message = absl::StrCat("this worker cannot read the task: ", subject.status().message());
  LogWarning(absl::StrCat("task ", task.task_id(), ": ", message));
  failed_.insert(task.task_id());
  return spool_.AddDone(task.task_id(), {FailureJson(message), ""});
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
