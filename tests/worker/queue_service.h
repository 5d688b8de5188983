// The measurement queue as a service in this process: a real queue (store/queue/task_queue.h) on
// SQLite, with a clock that the test sets, and calls that are lost on the way there or back.
#ifndef COBRA_TESTS_WORKER_QUEUE_SERVICE_H_
#define COBRA_TESTS_WORKER_QUEUE_SERVICE_H_

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cobra/v1/measurements.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "store/measurement.h"
#include "store/queue/task_queue.h"
#include "store/queue/task_subject.h"
#include "store/store.h"
#include "worker/queue/spool.h"

namespace cobra::worker {

// Folders of tests::TemporaryDirectory made from now on are in memory where there is room for them:
// these tests wait for the disk thousands of times otherwise.
inline void KeepFilesInMemory() {
  constexpr char kFolder[] = "/dev/shm";
  if (::access(kFolder, W_OK) == 0) ::setenv("TMPDIR", kFolder, /*replace=*/0);
}

inline std::string TaskIdOf(int i) { return absl::StrCat(absl::Hex(i, absl::kZeroPad8), std::string(24, '0')); }

class QueueService final : public v1::Measurements::Service {
 public:
  // The time when it was created, at first. `now` is not owned.
  QueueService(const std::string& database, const absl::Time* now) {
    auto opened = store::OpenDatabase(database);
    EXPECT_TRUE(opened.ok()) << opened.status();
    const absl::Status prepared = store::PrepareSchema(opened->get());
    EXPECT_TRUE(prepared.ok()) << prepared;
    queue_ = std::make_unique<store::TaskQueue>(*std::move(opened), [now] { return *now; });
  }

  store::TaskQueue* queue() { return queue_.get(); }
  // What becomes of a call, by its number from 1 and its name: an error before it is done
  // (kLostRequest), or after (kLostReply).
  enum class Fate { kAnswered, kLostRequest, kLostReply };
  std::function<Fate(int call, const std::string& method)> fate;
  grpc::StatusCode lost_code = grpc::StatusCode::UNAVAILABLE;
  int calls() const { return calls_; }

  void EnqueueTasks(int tasks) {
    std::vector<store::TaskSpec> specs;
    for (int i = 0; i < tasks; ++i) {
      store::Subject subject;
      subject.space = "paper-layers";
      subject.index = i;
      subject.seed = 1;
      store::TaskSpec spec;
      spec.id = TaskIdOf(i);
      spec.target = "cpu";
      spec.subject_json = store::TaskSubjectToJson(subject);
      specs.push_back(std::move(spec));
    }
    const auto enqueued = queue_->Enqueue("test", specs);
    EXPECT_TRUE(enqueued.ok()) << enqueued.status();
  }

  grpc::Status Lease(grpc::ServerContext*, const v1::LeaseRequest* request, v1::LeaseResponse* response) override {
    return Answer("Lease", [&]() -> absl::Status {
      auto leases = queue_->Lease(request->target(), request->worker(), std::min(request->max_tasks(), most_leased),
                                  absl::Seconds(request->duration().seconds()));
      if (!leases.ok()) return leases.status();
      for (const store::TaskLease& lease : *leases) {
        const auto subject = store::TaskSubjectFromJson(lease.spec.subject_json);
        if (!subject.ok()) return subject.status();
        v1::MeasurementTask* const task = response->add_tasks();
        task->set_task_id(lease.spec.id);
        task->mutable_sample()->set_space(subject->space);
        task->mutable_sample()->set_index(subject->index);
        task->mutable_sample()->set_seed(subject->seed);
      }
      return absl::OkStatus();
    });
  }
  grpc::Status Renew(grpc::ServerContext*, const v1::RenewRequest* request, v1::RenewResponse* response) override {
    return Answer("Renew", [&]() -> absl::Status {
      const auto list = [](const auto& ids) { return std::vector<std::string>(ids.begin(), ids.end()); };
      if (absl::Status released = queue_->Release(request->worker(), list(request->released_task_ids()));
          !released.ok())
        return released;
      auto held = queue_->Renew(request->worker(), list(request->task_ids()), list(request->started_task_ids()),
                                absl::Seconds(request->duration().seconds()));
      if (!held.ok()) return held.status();
      response->mutable_held()->Add(held->begin(), held->end());
      return absl::OkStatus();
    });
  }
  grpc::Status Report(grpc::ServerContext*, const v1::ReportRequest* request, v1::ReportResponse* response) override {
    return Answer("Report", [&]() -> absl::Status {
      for (const v1::TaskRecord& record : request->records()) {
        store::StoredMeasurement stored;
        stored.time = queue_->Now();
        stored.task_id = record.task_id();
        auto measurement = store::MeasurementFromJson(record.record_json());
        response->add_messages("");
        if (!measurement.ok()) {
          response->add_outcomes(v1::ReportResponse::OUTCOME_INVALID);
          continue;
        }
        stored.measurement = *std::move(measurement);
        auto outcome = queue_->Report(request->worker(), &stored);
        if (!outcome.ok()) return outcome.status();
        response->add_outcomes(OutcomeOf(*outcome));
      }
      return absl::OkStatus();
    });
  }

  int most_leased = 1000;  // of one call

 private:
  static v1::ReportResponse::Outcome OutcomeOf(store::ReportOutcome outcome) {
    switch (outcome) {
      case store::ReportOutcome::accepted: return v1::ReportResponse::OUTCOME_ACCEPTED;
      case store::ReportOutcome::held: return v1::ReportResponse::OUTCOME_HELD;
      case store::ReportOutcome::duplicate: return v1::ReportResponse::OUTCOME_DUPLICATE;
      case store::ReportOutcome::unknown: return v1::ReportResponse::OUTCOME_UNKNOWN_TASK;
      case store::ReportOutcome::not_leased: return v1::ReportResponse::OUTCOME_NOT_LEASED;
    }
    return v1::ReportResponse::OUTCOME_UNSPECIFIED;
  }

  grpc::Status Answer(const std::string& method, const std::function<absl::Status()>& work) {
    const Fate of_this = fate ? fate(++calls_, method) : Fate::kAnswered;
    if (of_this == Fate::kLostRequest) return {lost_code, "lost on the way there"};
    const absl::Status status = work();
    EXPECT_TRUE(status.ok()) << method << ": " << status;
    if (of_this == Fate::kLostReply) return {lost_code, "lost on the way back"};
    return status.ok() ? grpc::Status::OK : grpc::Status(grpc::StatusCode::INTERNAL, std::string(status.message()));
  }

  std::unique_ptr<store::TaskQueue> queue_;
  int calls_ = 0;
};

// A record of a task, which the queue takes as it is.
inline FinishedTask RecordOfTask() {
  store::Measurement measurement;
  measurement.subject.space = "asked";
  measurement.outcome = store::Outcome::unsupported;
  measurement.message = "there is no kernel";
  return {store::MeasurementToJson(measurement), ""};
}

// What the measuring process does with the first task that waits: all of it, without measuring.
// False: none waits.
inline bool MeasureNext(Spool* spool) {
  const auto todo = spool->Todo();
  if (!todo.ok() || todo->empty()) return false;
  const SpooledTask& task = todo->front();
  const auto text = spool->ReadTodo(task);
  if (absl::IsNotFound(text.status())) return true;  // cancelled meanwhile
  if (!text.ok() || !store::TaskSubjectFromJson(*text).ok()) {
    EXPECT_TRUE(spool->RejectTodo(task, "is not a task").ok());
    return true;
  }
  spool->MarkStarted(task.id);
  spool->MarkEnded(task.id);
  EXPECT_TRUE(spool->Finish(task, RecordOfTask()).ok());
  return true;
}

}  // namespace cobra::worker

#endif  // COBRA_TESTS_WORKER_QUEUE_SERVICE_H_
