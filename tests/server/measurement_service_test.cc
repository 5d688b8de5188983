// The queue's RPCs over gRPC: what one task, or one record, must not do to the others.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "cobra/v1/measurements.grpc.pb.h"
#include "gmock/gmock.h"
#include "graph/builder/builder.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "proto/graph_proto.h"
#include "store/measurement.h"
#include "store/queue/task_subject.h"
#include "store/sql/sql.h"
#include "tests/server/server_testing.h"

namespace cobra::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MeasurementServiceTest : public ServerTest {
 protected:
  void SetUp() override {
    Start();
    stub_ =
        v1::Measurements::NewStub(grpc::CreateChannel(server_->listen_address(), grpc::InsecureChannelCredentials()));
  }

  template <typename Request, typename Response>
  grpc::Status Call(grpc::Status (v1::Measurements::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    const Request& request, Response* response) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    return (stub_.get()->*method)(&context, request, response);
  }

  static v1::MeasurementTask Task(int64_t width) {
    graph::GraphBuilder builder;
    const graph::ValueRef x = builder.AddInput("x", {{1, width}, graph::DType::float32});
    const int32_t relu = builder.Add(graph::Op::relu, {}, {x}).value();
    v1::MeasurementTask task;
    task.set_target("cpu");
    proto::GraphToProto(std::move(builder).Build({graph::ValueRef::Node(relu)}), task.mutable_graph());
    return task;
  }

  std::vector<std::string> Enqueue(const std::vector<v1::MeasurementTask>& tasks) {
    v1::EnqueueRequest request;
    for (const v1::MeasurementTask& task : tasks) *request.add_tasks() = task;
    v1::EnqueueResponse response;
    const grpc::Status status = Call(&v1::Measurements::Stub::Enqueue, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return {response.task_ids().begin(), response.task_ids().end()};
  }

  v1::LeaseResponse Lease() {
    v1::LeaseRequest request;
    request.set_worker("w");
    request.set_target("cpu");
    request.set_max_tasks(10);
    request.mutable_duration()->set_seconds(600);
    v1::LeaseResponse response;
    const grpc::Status status = Call(&v1::Measurements::Stub::Lease, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  static std::string RecordJson(const std::string& message = "no kernel") {
    store::Measurement measurement;
    measurement.subject.space = "asked";
    measurement.outcome = store::Outcome::unsupported;
    measurement.message = message;
    return store::MeasurementToJson(measurement);
  }

  void Sql(const char* statement, const std::string& id) {
    auto database = store::OpenDatabase(directory_.File("store.sqlite"));
    ASSERT_TRUE(database.ok()) << database.status();
    const absl::Status status =
        (*database)->Transaction([&](store::SqlSession& session) { return session.Execute(statement, {id}); });
    ASSERT_TRUE(status.ok()) << status;
  }

  std::unique_ptr<v1::Measurements::Stub> stub_;
};

TEST_F(MeasurementServiceTest, AnEnqueueIsBoundedInBytes) {
  v1::EnqueueRequest request;
  *request.add_tasks() = Task(8);
  v1::NamedTensor* const parameter = request.mutable_tasks(0)->mutable_graph()->add_parameters();
  parameter->mutable_type()->set_dtype(v1::DTYPE_FLOAT32);
  v1::EnqueueResponse response;
  for (int i = 0; i < 2'500; ++i) {
    *request.mutable_tasks(0)->mutable_graph()->add_parameters() = *parameter;
    request.mutable_tasks(0)->mutable_graph()->mutable_parameters(i)->set_name(std::string(4000, '\x01'));
  }
  const grpc::Status status = Call(&v1::Measurements::Stub::Enqueue, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("the tasks of one call"));
  EXPECT_THAT(Lease().tasks(), testing::IsEmpty());
}

// What a worker is given, it can report, whatever it is called.
TEST_F(MeasurementServiceTest, NamesDoNotReachAWorker) {
  v1::MeasurementTask task = Task(8);
  task.mutable_graph()->mutable_inputs(0)->set_name(std::string(4000, '\x01'));
  const std::vector<std::string> ids = Enqueue({task});
  EXPECT_THAT(Enqueue({Task(8)}), ElementsAre(ids[0]));
  const v1::LeaseResponse lease = Lease();
  ASSERT_EQ(lease.tasks_size(), 1);
  EXPECT_EQ(lease.tasks(0).graph().inputs(0).name(), "x0");
  EXPECT_EQ(lease.tasks(0).graph().inputs(0).type().shape(1), 8);
}

// An older server may have stored it.
TEST_F(MeasurementServiceTest, ATaskThatCannotBeReadIsPoisonedAndItsNeighboursAreLeased) {
  const std::vector<std::string> ids = Enqueue({Task(8), Task(9), Task(10)});
  Sql("UPDATE tasks SET subject_json = '{\"graph\":{\"inputs\":[' WHERE id = $1", ids[1]);
  const v1::LeaseResponse lease = Lease();
  ASSERT_EQ(lease.tasks_size(), 2);
  EXPECT_EQ(lease.tasks(0).task_id(), ids[0]);
  EXPECT_EQ(lease.tasks(1).task_id(), ids[2]);
  grpc::ClientContext context;
  v1::WatchRequest watch;
  watch.add_task_ids(ids[1]);
  auto events = stub_->Watch(&context, watch);
  v1::WatchResponse event;
  ASSERT_TRUE(events->Read(&event));
  EXPECT_EQ(event.events(0).state(), v1::TaskEvent::STATE_POISONED);
  EXPECT_THAT(event.events(0).message(), HasSubstr(ids[1]));
}

TEST_F(MeasurementServiceTest, ARecordThatIsRefusedDoesNotKeepTheOthersBack) {
  const std::vector<std::string> ids = Enqueue({Task(8), Task(9), Task(10)});
  ASSERT_EQ(Lease().tasks_size(), 3);
  // As a newer server might have stored it.
  Sql("UPDATE tasks SET subject_json = '{}' WHERE id = $1", ids[0]);
  v1::ReportRequest request;
  request.set_worker("w");
  for (const std::string& id : ids) {
    request.add_records()->set_task_id(id);
    request.mutable_records(request.records_size() - 1)->set_record_json(RecordJson());
  }
  request.mutable_records(1)->set_record_json(std::string(static_cast<size_t>(store::kMaxRecordBytes) + 1, ' '));
  v1::ReportResponse response;
  const grpc::Status status = Call(&v1::Measurements::Stub::Report, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(response.outcomes(), ElementsAre(v1::ReportResponse::OUTCOME_INVALID, v1::ReportResponse::OUTCOME_INVALID,
                                               v1::ReportResponse::OUTCOME_ACCEPTED));
  EXPECT_THAT(response.messages(0), HasSubstr(ids[0]));
  EXPECT_THAT(response.messages(1), HasSubstr("record_json"));
  // Nobody can read the first one, so nobody is given it again.
  grpc::ClientContext context;
  v1::WatchRequest watch;
  watch.add_task_ids(ids[0]);
  auto events = stub_->Watch(&context, watch);
  v1::WatchResponse event;
  ASSERT_TRUE(events->Read(&event));
  EXPECT_EQ(event.events(0).state(), v1::TaskEvent::STATE_POISONED);
}

}  // namespace
}  // namespace cobra::server
