// The queue client against a server that refuses: nothing of one task may stop the others.
#include "worker/queue/queue_client.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "store/queue/task_subject.h"
#include "tests/temporary_directory.h"
#include "worker/queue/spool.h"

namespace cobra::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string Id(char digit) { return std::string(32, digit); }

// A server in this process. What a test does not set answers that all is well.
struct FakeServer {
  // Tasks to lease, the next ones first.
  std::vector<v1::MeasurementTask> tasks;
  std::function<grpc::Status(const v1::ReportRequest&)> refuse_report;
  std::function<grpc::Status(const v1::LeaseRequest&)> refuse_lease;
  std::function<v1::ReportResponse::Outcome(const v1::TaskRecord&)> outcome;

  std::map<std::string, std::string> accepted;  // records, by task
  std::vector<v1::RenewRequest> renewals;
  std::vector<v1::ReportRequest> reports;
};

#define COBRA_UNUSED_RPC(name)                                                           \
  grpc::ClientAsyncResponseReaderInterface<v1::name##Response>* Async##name##Raw(        \
      grpc::ClientContext*, const v1::name##Request&, grpc::CompletionQueue*) override { \
    return nullptr;                                                                      \
  }                                                                                      \
  grpc::ClientAsyncResponseReaderInterface<v1::name##Response>* PrepareAsync##name##Raw( \
      grpc::ClientContext*, const v1::name##Request&, grpc::CompletionQueue*) override { \
    return nullptr;                                                                      \
  }

class FakeStub final : public v1::Measurements::StubInterface {
 public:
  explicit FakeStub(FakeServer* server) : server_(server) {}

  grpc::Status Enqueue(grpc::ClientContext*, const v1::EnqueueRequest&, v1::EnqueueResponse*) override {
    return grpc::Status::OK;
  }
  grpc::Status Cancel(grpc::ClientContext*, const v1::CancelRequest&, v1::CancelResponse*) override {
    return grpc::Status::OK;
  }
  grpc::Status Lease(grpc::ClientContext*, const v1::LeaseRequest& request, v1::LeaseResponse* response) override {
    if (server_->refuse_lease) {
      if (grpc::Status status = server_->refuse_lease(request); !status.ok()) return status;
    }
    for (int i = 0; i < request.max_tasks() && !server_->tasks.empty(); ++i) {
      *response->add_tasks() = server_->tasks.front();
      server_->tasks.erase(server_->tasks.begin());
    }
    return grpc::Status::OK;
  }
  grpc::Status Renew(grpc::ClientContext*, const v1::RenewRequest& request, v1::RenewResponse* response) override {
    server_->renewals.push_back(request);
    for (int i = 0; i < request.task_ids_size(); ++i) response->add_held(true);
    return grpc::Status::OK;
  }
  grpc::Status Report(grpc::ClientContext*, const v1::ReportRequest& request, v1::ReportResponse* response) override {
    server_->reports.push_back(request);
    if (server_->refuse_report) {
      if (grpc::Status status = server_->refuse_report(request); !status.ok()) return status;
    }
    for (const v1::TaskRecord& record : request.records()) {
      const auto outcome = server_->outcome ? server_->outcome(record) : v1::ReportResponse::OUTCOME_ACCEPTED;
      if (outcome == v1::ReportResponse::OUTCOME_ACCEPTED) server_->accepted[record.task_id()] = record.record_json();
      response->add_outcomes(outcome);
      response->add_messages("the reason");
    }
    return grpc::Status::OK;
  }

 private:
  COBRA_UNUSED_RPC(Enqueue)
  COBRA_UNUSED_RPC(Lease)
  COBRA_UNUSED_RPC(Renew)
  COBRA_UNUSED_RPC(Report)
  COBRA_UNUSED_RPC(Cancel)
  grpc::ClientReaderInterface<v1::WatchResponse>* WatchRaw(grpc::ClientContext*, const v1::WatchRequest&) override {
    return nullptr;
  }
  grpc::ClientAsyncReaderInterface<v1::WatchResponse>* AsyncWatchRaw(grpc::ClientContext*, const v1::WatchRequest&,
                                                                     grpc::CompletionQueue*, void*) override {
    return nullptr;
  }
  grpc::ClientAsyncReaderInterface<v1::WatchResponse>* PrepareAsyncWatchRaw(grpc::ClientContext*,
                                                                            const v1::WatchRequest&,
                                                                            grpc::CompletionQueue*) override {
    return nullptr;
  }

  FakeServer* const server_;
};
#undef COBRA_UNUSED_RPC

v1::MeasurementTask SampleTask(const std::string& id) {
  v1::MeasurementTask task;
  task.set_task_id(id);
  task.mutable_sample()->set_space("paper-layers");
  return task;
}

class QueueClientTest : public ::testing::Test {
 protected:
  QueueClientTest() : spool_(*Spool::Open(folder_, "w")) { Restart(); }

  // As if the process had died.
  void Restart() {
    QueueClientOptions options;
    options.target = "cpu";
    client_ = std::make_unique<QueueClient>(options, spool_, std::make_unique<FakeStub>(&server_));
  }
  void Measure(const std::string& id, const std::string& record = R"({"outcome":"ok"})") {
    ASSERT_TRUE(spool_.AddDone(id, {record, ""}).ok());
  }
  std::vector<std::string> Rejected() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/rejected"))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  // A record of about that size.
  static std::string RecordOf(int64_t bytes) {
    return absl::StrCat(R"({"outcome":"ok","message":")", std::string(static_cast<size_t>(bytes), 'x'), "\"}");
  }

  tests::TemporaryDirectory directory_;
  const std::string folder_ = directory_.File("spool");
  FakeServer server_;
  Spool spool_;
  std::unique_ptr<QueueClient> client_;
};

TEST_F(QueueClientTest, ARecordThatIsTooLargeIsAnOutcomeOfItsTaskAndStopsNothing) {
  Measure(Id('a'), RecordOf(store::kMaxRecordBytes));
  Measure(Id('b'));
  server_.tasks = {SampleTask(Id('c'))};
  ASSERT_TRUE(client_->RunOnce().ok());
  EXPECT_THAT(*spool_.Todo(), SizeIs(1));
  ASSERT_TRUE(client_->RunOnce().ok());
  ASSERT_THAT(server_.accepted, SizeIs(2));
  EXPECT_THAT(server_.accepted[Id('a')], HasSubstr("unsupported"));
  EXPECT_THAT(server_.accepted[Id('a')], HasSubstr("bytes"));
  EXPECT_THAT(*spool_.Done(), IsEmpty());
  EXPECT_THAT(Rejected(), ElementsAre("done-" + Id('a') + ".json"));
}

// A server with a lower limit, and one that finds a fault in one record.
TEST_F(QueueClientTest, WhatTheServerRefusesForGoodIsAnOutcomeOfItsTask) {
  for (const grpc::Status& refusal :
       {grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "SERVER: Received message larger than max (9 vs. 8)"),
        grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "the request: its bytes are not a ReportRequest")}) {
    server_ = FakeServer();
    Restart();
    server_.refuse_report = [&](const v1::ReportRequest& request) {
      for (const v1::TaskRecord& record : request.records()) {
        if (record.record_json().size() > 1000) return refusal;
      }
      return grpc::Status::OK;
    };
    Measure(Id('a'));
    Measure(Id('b'), RecordOf(2000));
    Measure(Id('c'));
    client_->RunOnce().IgnoreError();
    client_->RunOnce().IgnoreError();
    EXPECT_THAT(server_.accepted, SizeIs(3));
    EXPECT_THAT(server_.accepted[Id('b')], HasSubstr("unsupported"));
    EXPECT_THAT(*spool_.Done(), IsEmpty());
  }
}

// It may not be the record's fault: the credential, the database.
TEST_F(QueueClientTest, WhatTheServerDoesNotTakeNowStaysAndTheOthersGo) {
  bool heals = false;
  server_.refuse_report = [&](const v1::ReportRequest& request) {
    for (const v1::TaskRecord& record : request.records()) {
      if (record.task_id() == Id('b') && !heals) return grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "not yours");
    }
    return grpc::Status::OK;
  };
  for (const char digit : {'a', 'b', 'c'}) Measure(Id(digit));
  ASSERT_TRUE(spool_.AddTodo(Id('d'), "{}").ok());
  server_.tasks = {SampleTask(Id('e'))};
  EXPECT_EQ(client_->RunOnce().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(server_.accepted, SizeIs(2));
  EXPECT_THAT(*spool_.Done(), ElementsAre(Id('b')));
  EXPECT_THAT(server_.renewals, SizeIs(1));
  EXPECT_THAT(*spool_.Todo(), SizeIs(2));
  heals = true;
  EXPECT_TRUE(client_->RunOnce().ok());
  EXPECT_THAT(server_.accepted, SizeIs(3));
  EXPECT_THAT(Rejected(), IsEmpty());
}

TEST_F(QueueClientTest, ABusyServerIsNoReasonToGiveUpARecord) {
  server_.refuse_report = [](const v1::ReportRequest&) {
    return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                        "this client's requests that wait: more than the limit of 128 MiB; try again later");
  };
  Measure(Id('a'));
  EXPECT_EQ(client_->RunOnce().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(*spool_.Done(), ElementsAre(Id('a')));
}

TEST_F(QueueClientTest, ReportsAreSplitByBytes) {
  for (const char digit : {'1', '2', '3', '4', '5', '6'}) Measure(Id(digit), RecordOf(int64_t{3} << 20));
  ASSERT_TRUE(client_->RunOnce().ok());
  EXPECT_THAT(server_.accepted, SizeIs(6));
  EXPECT_THAT(server_.reports, SizeIs(3));
  for (const v1::ReportRequest& report : server_.reports) EXPECT_LE(report.ByteSizeLong(), size_t{9} << 20);
}

TEST_F(QueueClientTest, ARecordOfATaskThatIsNotItsOwnIsKept) {
  server_.outcome = [](const v1::TaskRecord& record) {
    return record.task_id() == Id('a')   ? v1::ReportResponse::OUTCOME_NOT_LEASED
           : record.task_id() == Id('b') ? v1::ReportResponse::OUTCOME_UNKNOWN_TASK
                                         : v1::ReportResponse::OUTCOME_DUPLICATE;
  };
  for (const char digit : {'a', 'b', 'c'}) Measure(Id(digit));
  ASSERT_TRUE(client_->RunOnce().ok());
  EXPECT_THAT(*spool_.Done(), IsEmpty());
  EXPECT_THAT(Rejected(), ElementsAre("done-" + Id('a') + ".json", "done-" + Id('b') + ".json"));
}

TEST_F(QueueClientTest, AnInvalidRecordIsMeasuredOnceMoreThenItIsAnOutcome) {
  server_.outcome = [](const v1::TaskRecord& record) {
    return record.record_json().find("unsupported") == std::string::npos ? v1::ReportResponse::OUTCOME_INVALID
                                                                         : v1::ReportResponse::OUTCOME_ACCEPTED;
  };
  Measure(Id('a'));
  ASSERT_TRUE(client_->RunOnce().ok());
  ASSERT_TRUE(client_->RunOnce().ok());
  EXPECT_THAT(server_.accepted, IsEmpty());
  Measure(Id('a'));
  ASSERT_TRUE(client_->RunOnce().ok());
  ASSERT_TRUE(client_->RunOnce().ok());
  EXPECT_THAT(server_.accepted[Id('a')], HasSubstr("the reason"));
}

TEST_F(QueueClientTest, WhatIsNotARecordStopsNothing) {
  for (const char* name : {"/done/garbage.json", "/todo/garbage.json"})
    ASSERT_TRUE(WriteFileAtomic(folder_ + name, "{}").ok());
  ASSERT_TRUE(WriteFileAtomic(folder_ + "/done/" + Id('d') + ".json", "{\"rec").ok());
  Measure(Id('a'));
  ASSERT_TRUE(spool_.AddTodo(Id('b'), "{}").ok());
  server_.tasks = {SampleTask(Id('c'))};
  ASSERT_TRUE(client_->RunOnce().ok());
  EXPECT_THAT(server_.accepted, SizeIs(1));
  ASSERT_THAT(server_.renewals, SizeIs(1));
  EXPECT_THAT(server_.renewals[0].task_ids(), ElementsAre(Id('b')));
  EXPECT_THAT(*spool_.Todo(), SizeIs(2));
  EXPECT_THAT(Rejected(), SizeIs(3));
}

TEST_F(QueueClientTest, ATaskThatItCannotReadIsAnOutcomeAndItsNeighboursAreMeasured) {
  v1::MeasurementTask unknown;
  unknown.set_task_id(Id('a'));
  unknown.mutable_graph()->add_nodes()->set_op("of_a_newer_server");
  server_.tasks = {unknown, SampleTask(Id('b'))};
  ASSERT_TRUE(client_->RunOnce().ok());
  ASSERT_THAT(*spool_.Todo(), SizeIs(1));
  ASSERT_TRUE(client_->RunOnce().ok());
  EXPECT_THAT(server_.accepted[Id('a')], HasSubstr("of_a_newer_server"));
}

// The id becomes the name of a file.
TEST_F(QueueClientTest, ATaskWhoseIdIsAPathIsLeftOut) {
  std::vector<v1::MeasurementTask> tasks;
  for (const char* id : {"../../settings", "", "..", "/tmp/x", "ABCDEFABCDEFABCDEFABCDEFABCDEFAB"}) {
    v1::MeasurementTask unknown;
    unknown.set_task_id(id);
    unknown.mutable_graph()->add_nodes()->set_op("of_a_newer_server");
    tasks.push_back(unknown);
    tasks.push_back(SampleTask(id));
  }
  tasks.push_back(SampleTask(Id('b')));
  server_.tasks = tasks;
  ASSERT_TRUE(client_->RunOnce().ok());
  EXPECT_THAT(*spool_.Todo(), SizeIs(1));
  EXPECT_THAT(*spool_.Done(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/../settings.json"));
  EXPECT_FALSE(std::filesystem::exists("/tmp/x.json"));
}

TEST_F(QueueClientTest, ALeaseThatIsTooLargeIsAskedForOneByOne) {
  std::vector<int> asked;
  server_.refuse_lease = [&](const v1::LeaseRequest& request) {
    asked.push_back(request.max_tasks());
    return request.max_tasks() < 2 ? grpc::Status::OK
                                   : grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                                                  "Received message larger than max (84273382 vs. 67108864)");
  };
  server_.tasks = {SampleTask(Id('a')), SampleTask(Id('b'))};
  EXPECT_FALSE(client_->RunOnce().ok());
  EXPECT_TRUE(client_->RunOnce().ok());
  EXPECT_THAT(*spool_.Todo(), SizeIs(1));
  EXPECT_THAT(asked, ElementsAre(120, 1));
}

TEST_F(QueueClientTest, TheStartedTaskIsReportedWheneverItIsAnother) {
  for (const char digit : {'a', 'b'}) ASSERT_TRUE(spool_.AddTodo(Id(digit), "{}").ok());
  for (const char digit : {'a', 'b'}) {
    spool_.MarkStarted(Id(digit));
    ASSERT_TRUE(client_->RunOnce().ok());
    EXPECT_THAT(server_.renewals.back().started_task_ids(), ElementsAre(Id(digit)));
  }
  EXPECT_THAT(server_.renewals, SizeIs(2));
}

TEST_F(QueueClientTest, WhileTheServerIsAwayNothingIsLost) {
  server_.refuse_report = [](const v1::ReportRequest&) {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "connection refused");
  };
  for (const char digit : {'a', 'b'}) Measure(Id(digit));
  EXPECT_TRUE(absl::IsUnavailable(client_->RunOnce()));
  EXPECT_THAT(*spool_.Done(), SizeIs(2));
  EXPECT_THAT(server_.reports, SizeIs(1));  // not each by itself
  server_.refuse_report = nullptr;
  Restart();
  EXPECT_TRUE(client_->Shutdown().ok());
  EXPECT_THAT(server_.accepted, SizeIs(2));
}

}  // namespace
}  // namespace cobra::worker
