#include "server/pipeline.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "base/diagnostic.h"
#include "graph/builder.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"
#include "proto/graph_proto.h"
#include "server/measurement_task.h"
#include "server/unseen_layers.h"
#include "store/task_queue.h"
#include "tests/server/fake_predictor.h"
#include "tests/server/fake_store.h"
#include "tests/temporary_directory.h"

namespace cobra::server {
namespace {

class PipelineTest : public testing::Test {
 protected:
  PipelineTest() {
    PipelineOptions options;
    options.limits.max_targets = 3;
    live_ = LiveModel::Create([this] { return predictor_; }, &store_, &metrics_).value();
    readers_ = ReaderProcesses::Start({}, &metrics_).value();
    log_ = std::make_unique<PredictionLog>(&store_, &metrics_);
    auto database = store::OpenDatabase(directory_.File("queue.sqlite")).value();
    EXPECT_TRUE(store::PrepareSchema(database.get()).ok());
    queue_ = std::make_unique<store::TaskQueue>(std::move(database));
    UnseenLayersOptions unseen_options;
    unseen_options.max_waiting = 3;
    unseen_ = std::make_unique<UnseenLayers>(unseen_options, queue_.get(), &metrics_);
    pipeline_ = std::make_unique<Pipeline>(options, live_.get(), readers_.get(), log_.get(), unseen_.get(), &metrics_);
    predictor_->calls = 0;  // warm-up
  }

  // Two relus on an input of `width`.
  static v1::PredictRequest MakeRequest(std::vector<std::string> targets, int64_t width = 4) {
    graph::GraphBuilder builder;
    const graph::ValueRef x = builder.AddInput("x", {{1, width}, graph::DType::float32});
    const int32_t first = builder.Add(graph::Op::relu, {}, {x}).value();
    const int32_t second = builder.Add(graph::Op::sigmoid, {}, {graph::ValueRef::Node(first)}).value();
    v1::PredictRequest request;
    proto::GraphToProto(std::move(builder).Build({graph::ValueRef::Node(second)}), request.mutable_graph());
    for (const std::string& target : targets) request.add_targets(target);
    return request;
  }

  // Of a copy, since the pipeline takes the model out of the request.
  absl::StatusOr<v1::PredictResponse> Predict(v1::PredictRequest request, const CallContext& call = {}) {
    return pipeline_->Predict(&request, call);
  }

  Diagnostic::Kind ErrorKind(const v1::PredictRequest& request) {
    absl::StatusOr<v1::PredictResponse> reply = Predict(request);
    EXPECT_FALSE(reply.ok());
    std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(reply.status());
    EXPECT_TRUE(diagnostic.has_value()) << reply.status();
    return diagnostic.value_or(Diagnostic()).kind;
  }

  std::shared_ptr<FakePredictor> predictor_ = std::make_shared<FakePredictor>("v1");
  tests::TemporaryDirectory directory_;
  FakeStore store_;
  Metrics metrics_;
  std::unique_ptr<LiveModel> live_;
  std::unique_ptr<ReaderProcesses> readers_;
  std::unique_ptr<PredictionLog> log_;
  std::unique_ptr<store::TaskQueue> queue_;
  std::unique_ptr<UnseenLayers> unseen_;
  std::unique_ptr<Pipeline> pipeline_;
};

TEST_F(PipelineTest, AnswersEveryTargetInTheOrderAsked) {
  ASSERT_TRUE(live_->Calibrate(kThisMachine, SmallProbeJson()).ok());
  absl::StatusOr<v1::PredictResponse> reply = Predict(MakeRequest({"this-machine", "cpu"}));
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_EQ(reply->predictions_size(), 2);
  EXPECT_EQ(reply->predictions(0).target(), "this-machine");
  EXPECT_EQ(reply->predictions(0).latency_us(), 40);
  EXPECT_EQ(reply->predictions(1).latency_us(), 20);
  EXPECT_EQ(reply->node_count(), 2);
  EXPECT_EQ(reply->fingerprint().size(), 32u);
  EXPECT_EQ(reply->predictions(0).breakdown_size(), 0);
}

TEST_F(PipelineTest, ArchitecturesAreRead) {
  v1::PredictRequest request;
  request.add_targets("cpu");
  request.mutable_architecture()->set_text(
      "nasbench201:|nor_conv_3x3~0|+|none~0|none~1|+|skip_connect~0|none~1|none~2|");
  absl::StatusOr<v1::PredictResponse> reply = Predict(request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_GT(reply->node_count(), 200);
  request.mutable_architecture()->set_text("nasbench201:|max_pool~0|");
  EXPECT_EQ(ErrorKind(request), Diagnostic::Kind::kUsage);
}

TEST_F(PipelineTest, TfliteFilesAreRead) {
  v1::PredictRequest request;
  request.add_targets("cpu");
  request.mutable_tflite()->set_file("no such file");
  EXPECT_EQ(ErrorKind(request), Diagnostic::Kind::kModelError);
}

TEST_F(PipelineTest, BreakdownHasOneRowACall) {
  v1::PredictRequest request = MakeRequest({"cpu"});
  request.set_breakdown(true);
  absl::StatusOr<v1::PredictResponse> reply = Predict(request);
  ASSERT_TRUE(reply.ok());
  ASSERT_EQ(reply->predictions(0).breakdown_size(), 2);
  EXPECT_EQ(reply->predictions(0).breakdown(0).op(), "relu");
  EXPECT_EQ(reply->predictions(0).breakdown(1).op(), "sigmoid");
}

TEST_F(PipelineTest, RepeatsComeFromTheCacheAndAreNotStoredAgain) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Predict(MakeRequest({"cpu"})).ok());
  ASSERT_TRUE(Predict(MakeRequest({"cpu"}, /*width=*/8)).ok());
  EXPECT_EQ(predictor_->calls, 2);
  log_->Flush();
  EXPECT_EQ(store_.num_predictions(), 2);
}

TEST_F(PipelineTest, NewCalibrationIsSeenDespiteTheCache) {
  ASSERT_TRUE(live_->Calibrate(kThisMachine, SmallProbeJson()).ok());
  ASSERT_TRUE(Predict(MakeRequest({"this-machine"})).ok());
  ASSERT_TRUE(live_->Calibrate(kThisMachine, SmallProbeJson()).ok());
  const int before = predictor_->calls;  // a calibration compares its probe with what serves
  ASSERT_TRUE(Predict(MakeRequest({"this-machine"})).ok());
  EXPECT_EQ(predictor_->calls, before + 1);
}

TEST_F(PipelineTest, UnknownTargetIsNotFoundAndNamesThoseThereAre) {
  absl::Status status = Predict(MakeRequest({"tpu"})).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  ASSERT_TRUE(DiagnosticFromStatus(status).has_value());
  EXPECT_EQ(DiagnosticFromStatus(status)->kind, Diagnostic::Kind::kUsage);
  EXPECT_NE(DiagnosticFromStatus(status)->hint.find("cpu"), std::string::npos);
}

TEST_F(PipelineTest, EmptyAndOversizedRequestsAreRefused) {
  EXPECT_EQ(ErrorKind(MakeRequest({})), Diagnostic::Kind::kUsage);
  EXPECT_EQ(ErrorKind(MakeRequest({"cpu", "cpu", "cpu", "cpu"})), Diagnostic::Kind::kLimit);
  v1::PredictRequest no_model;
  no_model.add_targets("cpu");
  EXPECT_EQ(ErrorKind(no_model), Diagnostic::Kind::kUsage);
}

TEST_F(PipelineTest, OnnxFilesAreRead) {
  ::onnx::ModelProto model;
  model.add_opset_import()->set_version(13);
  ::onnx::ValueInfoProto* input = model.mutable_graph()->add_input();
  input->set_name("x");
  auto* type = input->mutable_type()->mutable_tensor_type();
  type->set_elem_type(::onnx::TensorProto::FLOAT);
  type->mutable_shape()->add_dim()->set_dim_param("batch");
  type->mutable_shape()->add_dim()->set_dim_value(4);
  ::onnx::NodeProto* node = model.mutable_graph()->add_node();
  node->set_op_type("Relu");
  node->add_input("x");
  node->add_output("y");
  model.mutable_graph()->add_output()->set_name("y");
  v1::PredictRequest request;
  request.add_targets("cpu");
  request.mutable_onnx()->set_file(model.SerializeAsString());
  request.mutable_onnx()->add_inputs("x=3x4");
  absl::StatusOr<v1::PredictResponse> reply = Predict(request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->node_count(), 1);
  EXPECT_EQ(reply->flops(), 12);
  request.mutable_onnx()->add_inputs("z=1");
  EXPECT_EQ(ErrorKind(request), Diagnostic::Kind::kUsage);
  request.mutable_onnx()->set_file("garbage");
  EXPECT_EQ(ErrorKind(request), Diagnostic::Kind::kModelError);
}

TEST_F(PipelineTest, UnknownLayersAreEnqueued) {
  predictor_->knows_sigmoid = false;
  ASSERT_TRUE(Predict(MakeRequest({"cpu"})).ok());
  unseen_->Flush();
  EXPECT_EQ(*queue_->Waiting(UnseenLayers::kOrigin), 2);  // the sigmoid, and the network that it is from
  auto leases = queue_->Lease("cpu", "w", 9, absl::Seconds(60));
  ASSERT_TRUE(leases.ok() && leases->size() == 2);
  auto layer = TaskSpecToProto((*leases)[0].spec);
  ASSERT_TRUE(layer.ok()) << layer.status();
  ASSERT_EQ(layer->graph().nodes_size(), 1);
  EXPECT_EQ(layer->graph().nodes(0).op(), "sigmoid");
  EXPECT_EQ(TaskSpecToProto((*leases)[1].spec)->graph().nodes_size(), 2);
}

TEST_F(PipelineTest, TasksAreUniqueRespectPrivacyAndAreBounded) {
  predictor_->knows_sigmoid = false;
  v1::PredictRequest secret = MakeRequest({"cpu"}, 64);
  secret.set_keep_private(true);
  ASSERT_TRUE(Predict(secret).ok());
  unseen_->Flush();
  EXPECT_EQ(*queue_->Waiting(UnseenLayers::kOrigin), 0);
  for (int64_t width : {8, 8, 9, 10, 11}) {
    v1::PredictRequest request = MakeRequest({"cpu"}, width);
    request.set_breakdown(true);  // not from the cache
    ASSERT_TRUE(Predict(request).ok());
    unseen_->Flush();
  }
  EXPECT_EQ(*queue_->Waiting(UnseenLayers::kOrigin), 3);
  predictor_->knows_sigmoid = true;
  ASSERT_TRUE(Predict(MakeRequest({"cpu"}, 77)).ok());
  unseen_->Flush();
  EXPECT_EQ(*queue_->Waiting(UnseenLayers::kOrigin), 3);
}

TEST_F(PipelineTest, TasksThatExceedTheCapsAreNotEnqueued) {
  predictor_->knows_sigmoid = false;
  ASSERT_TRUE(Predict(MakeRequest({"cpu"}, int64_t{1} << 31)).ok());
  unseen_->Flush();
  EXPECT_EQ(*queue_->Waiting(UnseenLayers::kOrigin), 0);
}

TEST_F(PipelineTest, AnEmptyInputIsASlip) {
  EXPECT_EQ(ErrorKind(MakeRequest({"cpu"}, /*width=*/0)), Diagnostic::Kind::kUsage);
  EXPECT_EQ(predictor_->calls, 0);
}

TEST_F(PipelineTest, DeadlineAndCancellationStopBeforeTheWork) {
  CallContext late;
  late.deadline = absl::Now() - absl::Seconds(1);
  EXPECT_TRUE(absl::IsDeadlineExceeded(Predict(MakeRequest({"cpu"}), late).status()));
  std::atomic<bool> cancelled{true};
  CallContext gone;
  gone.cancelled = &cancelled;
  EXPECT_TRUE(absl::IsCancelled(Predict(MakeRequest({"cpu"}), gone).status()));
  EXPECT_EQ(predictor_->calls, 0);
}

}  // namespace
}  // namespace cobra::server
