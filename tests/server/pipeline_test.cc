#include "server/predict/pipeline.h"

#include <malloc.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "base/diagnostic.h"
#include "base/names.h"
#include "base/sanitizer.h"
#include "graph/builder/builder.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"
#include "proto/graph_proto.h"
#include "server/queue/measurement_task.h"
#include "server/queue/unseen_layers.h"
#include "store/queue/task_queue.h"
#include "tests/server/fake_predictor.h"
#include "tests/server/fake_store.h"
#include "tests/server/insecure_reader.h"
#include "tests/temporary_directory.h"

namespace cobra::server {
namespace {

class PipelineTest : public testing::Test {
 protected:
  PipelineTest() {
    live_ = LiveModel::Create([this] { return predictor_; }, &store_, &metrics_).value();
    ReaderOptions options;
    options.insecure = tests::MayStartInsecureReaders();
    readers_ = ReaderProcesses::Start(options, &metrics_).value();
    log_ = std::make_unique<PredictionLog>(&store_, &metrics_);
    auto database = store::OpenDatabase(directory_.File("queue.sqlite")).value();
    EXPECT_TRUE(store::PrepareSchema(database.get()).ok());
    queue_ = std::make_unique<store::TaskQueue>(std::move(database));
    UnseenLayersOptions unseen_options;
    unseen_options.max_waiting = 3;
    unseen_ = std::make_unique<UnseenLayers>(unseen_options, queue_.get(), &metrics_);
    MakePipeline(ServerLimits().max_reply_bytes);
    predictor_->calls = 0;  // warm-up
  }

  void MakePipeline(int64_t max_reply_bytes) {
    ServerLimits limits;
    limits.max_targets = 3;
    limits.max_reply_bytes = max_reply_bytes;
    pipeline_.reset();
    reader_ = std::make_unique<NetworkReader>(limits, readers_.get(), &metrics_);
    pipeline_ =
        std::make_unique<Pipeline>(CacheSizes(), live_.get(), reader_.get(), log_.get(), unseen_.get(), &metrics_);
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

  // Of all caches together, as Prometheus would read it.
  double CacheBytes() {
    double bytes = -1;
    for (const auto& collectable : metrics_.collectables()) {
      for (const prometheus::MetricFamily& family : collectable->Collect()) {
        if (family.name != "cobra_cache_bytes") continue;
        bytes = 0;
        for (const prometheus::ClientMetric& metric : family.metric) bytes += metric.gauge.value;
      }
    }
    EXPECT_GE(bytes, 0) << "no cobra_cache_bytes";
    return bytes;
  }

  // Of a copy, since the pipeline takes the model out of the request.
  absl::StatusOr<v1::PredictResponse> Predict(v1::PredictRequest request, const CallContext& call = {}) {
    if (!request.has_graph()) return pipeline_->Predict(&request, std::nullopt, call);
    const std::string graph = request.graph().SerializeAsString();
    request.clear_graph();
    return pipeline_->Predict(&request, graph, call);
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
  std::unique_ptr<NetworkReader> reader_;
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

// Whether a request is the first about its network, or not.
TEST_F(PipelineTest, WhatIsOmittedIsNotInTheReply) {
  for (const bool is_known : {false, true}) {
    const int64_t width = is_known ? 16 : 32;
    v1::PredictRequest latencies = MakeRequest({"cpu"}, width);
    latencies.add_omit(v1::NETWORK_PART_FINGERPRINT);
    latencies.add_omit(v1::NETWORK_PART_PEAK_MEMORY);
    v1::PredictRequest none = latencies;
    none.add_omit(v1::NETWORK_PART_COUNTS);
    v1::PredictResponse whole;
    if (is_known) whole = Predict(MakeRequest({"cpu"}, width)).value();
    const v1::PredictResponse least = Predict(none).value(), counts = Predict(latencies).value();
    if (!is_known) whole = Predict(MakeRequest({"cpu"}, width)).value();
    for (const v1::PredictResponse* reply : {&least, &counts}) {
      EXPECT_EQ(reply->predictions(0).latency_us(), whole.predictions(0).latency_us());
      EXPECT_EQ(reply->model_version(), whole.model_version());
      EXPECT_EQ(reply->fingerprint(), "");
      EXPECT_EQ(reply->peak_memory_bytes(), 0);
    }
    EXPECT_EQ(least.node_count(), 0);
    EXPECT_EQ(counts.node_count(), 2);
    EXPECT_EQ(counts.flops(), whole.flops());
    EXPECT_EQ(whole.fingerprint().size(), 32u);
    EXPECT_GT(whole.peak_memory_bytes(), 0);
    EXPECT_GT(whole.flops(), 0);
  }
  EXPECT_EQ(predictor_->calls, 2);
  log_->Flush();
  EXPECT_EQ(store_.num_predictions(), 1);
  CallContext call;
  call.labels = std::make_shared<const std::string>(R"({"team":"search"})");
  v1::PredictRequest labelled = MakeRequest({"cpu"}, 64);
  labelled.add_omit(v1::NETWORK_PART_FINGERPRINT);
  EXPECT_EQ(Predict(labelled, call)->fingerprint().size(), 32u);
}

TEST_F(PipelineTest, NoTargetIsPredictedAfterTheDeadline) {
  CallContext call;
  call.deadline = absl::Now() + absl::Seconds(30);
  predictor_->during_predict = [&call](const auto&) { call.deadline = absl::InfinitePast(); };
  EXPECT_TRUE(absl::IsDeadlineExceeded(Predict(MakeRequest({"cpu"}), call).status()));
  EXPECT_EQ(predictor_->calls, 0);
}

TEST_F(PipelineTest, WhatADrainEndsIsUnavailable) {
  std::atomic<bool> abandoned{false};
  CallContext call;
  call.abandoned = &abandoned;
  predictor_->during_predict = [&abandoned](const auto&) { abandoned = true; };
  EXPECT_TRUE(absl::IsUnavailable(Predict(MakeRequest({"cpu"}), call).status()));
}

// Two relus, one of them followed by a dropout, which returns its argument: the fingerprint leaves
// it out, but every call takes time.
TEST_F(PipelineTest, NetworksThatShareAFingerprintShareNoAnswer) {
  const auto ask = [this](bool dropout) {
    graph::GraphBuilder builder;
    graph::ValueRef x = builder.AddInput("x", {{1, 4}, graph::DType::float32});
    x = graph::ValueRef::Node(builder.Add(graph::Op::relu, {}, {x}).value());
    if (dropout) x = graph::ValueRef::Node(builder.Add(graph::Op::dropout, {{"p", 0.1}}, {x}).value());
    v1::PredictRequest request;
    proto::GraphToProto(std::move(builder).Build({x}), request.mutable_graph());
    request.add_targets("cpu");
    return Predict(request).value();
  };
  EXPECT_EQ(ask(true).predictions(0).latency_us(), 20);
  EXPECT_EQ(ask(false).predictions(0).latency_us(), 10);
  EXPECT_EQ(ask(true).predictions(0).latency_us(), 20);
  EXPECT_EQ(ask(true).fingerprint(), ask(false).fingerprint());
}

TEST_F(PipelineTest, EqualTargetsAreAnsweredOnce) {
  ASSERT_TRUE(live_->Calibrate(kThisMachine, SmallProbeJson()).ok());
  for (const bool breakdown : {false, true}) {
    predictor_->calls = 0;
    v1::PredictRequest request = MakeRequest({"cpu", "this-machine", "cpu"}, /*width=*/breakdown ? 5 : 6);
    request.set_breakdown(breakdown);
    const absl::StatusOr<v1::PredictResponse> reply = Predict(request);
    ASSERT_TRUE(reply.ok()) << reply.status();
    ASSERT_EQ(reply->predictions_size(), 2);
    EXPECT_EQ(reply->predictions(0).target(), "cpu");
    EXPECT_EQ(reply->predictions(1).target(), "this-machine");
    EXPECT_EQ(predictor_->calls, 2);
  }
}

// Rows repeat the names of a request: 200 KB of it become 800 MB.
TEST_F(PipelineTest, AReplyIsBoundedBeforeItIsMade) {
  ASSERT_TRUE(live_->Calibrate(kThisMachine, SmallProbeJson()).ok());
  MakePipeline(/*max_reply_bytes=*/1000);
  // A row counts 40 bytes, and those of "relu" or "sigmoid", its module and its file.
  const auto request = [](size_t first, size_t second, std::vector<std::string> targets) {
    v1::PredictRequest request = MakeRequest(std::move(targets));
    request.mutable_graph()->add_source_files("net.py");
    for (v1::Node& node : *request.mutable_graph()->mutable_nodes()) node.mutable_origin()->set_file(1);
    request.mutable_graph()->mutable_nodes(0)->mutable_origin()->set_module_path(std::string(first, 'm'));
    request.mutable_graph()->mutable_nodes(1)->mutable_origin()->set_module_path(std::string(second, 'm'));
    request.set_breakdown(true);
    return request;
  };
  const absl::StatusOr<v1::PredictResponse> reply = Predict(request(400, 497, {"cpu"}));
  ASSERT_TRUE(reply.ok()) << reply.status();
  int64_t rows = 0;
  for (const v1::NodeLatency& row : reply->predictions(0).breakdown())
    rows += static_cast<int64_t>(row.ByteSizeLong()) + 4;  // with its key and its length
  EXPECT_LE(rows, 1000);
  EXPECT_GT(rows, 900);

  predictor_->calls = 0;
  EXPECT_EQ(ErrorKind(request(400, 498, {"cpu"})), Diagnostic::Kind::kLimit);
  EXPECT_EQ(ErrorKind(request(150, 250, {"cpu", "this-machine"})), Diagnostic::Kind::kLimit);
  EXPECT_EQ(predictor_->calls, 0);
  v1::PredictRequest totals = request(400, 4000, {"cpu", "this-machine"});
  totals.set_breakdown(false);
  EXPECT_TRUE(Predict(totals).ok());
  predictor_->knows_sigmoid = false;  // the reasons count, too
  EXPECT_EQ(ErrorKind(request(400, 497, {"cpu"})), Diagnostic::Kind::kLimit);
}

TEST_F(PipelineTest, NewCalibrationIsSeenDespiteTheCache) {
  ASSERT_TRUE(live_->Calibrate(kThisMachine, SmallProbeJson()).ok());
  ASSERT_TRUE(Predict(MakeRequest({"this-machine"})).ok());
  const absl::Status again = live_->Calibrate(kThisMachine, SmallProbeJson()).status();
  ASSERT_TRUE(again.ok()) << again;
  const int calibrated = predictor_->calls;  // a calibration compares its probe with the version that serves
  ASSERT_TRUE(Predict(MakeRequest({"this-machine"})).ok());
  EXPECT_EQ(predictor_->calls, calibrated + 1);
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

// The rest of the targets is not computed, and the caller learns why: the predictor does not know
// it.
TEST_F(PipelineTest, TheDeadlineIsLookedAtBetweenTargets) {
  ASSERT_TRUE(live_->Calibrate(kThisMachine, SmallProbeJson()).ok());
  ASSERT_TRUE(live_->Calibrate("other-machine", SmallProbeJson()).ok());
  for (const bool breakdown : {false, true}) {
    int asked = 0;
    CallContext call;
    call.deadline = absl::Now() + absl::Seconds(1);
    predictor_->during_predict = [&](const std::function<bool()>&) {
      ++asked;
      absl::SleepFor(call.deadline - absl::Now() + absl::Milliseconds(1));
    };
    v1::PredictRequest request = MakeRequest({"cpu", "this-machine", "other-machine"}, /*width=*/breakdown ? 5 : 6);
    request.set_breakdown(breakdown);
    EXPECT_TRUE(absl::IsDeadlineExceeded(Predict(request, call).status()));
    EXPECT_EQ(asked, 1);
  }
}

// Networks of many calls, of which an entry keeps the totals and the reasons.
TEST_F(PipelineTest, TheCacheCountsWhatItHolds) {
#ifdef COBRA_SANITIZED
  GTEST_SKIP() << "the sanitizer has a malloc of its own";
#endif
  predictor_->reasons = 5;
  constexpr int kNetworks = 200, kCalls = 300;
  const auto ask = [this](int64_t width) {
    graph::GraphBuilder builder;
    graph::ValueRef x = builder.AddInput("x", {{1, width}, graph::DType::float32});
    for (int i = 0; i < kCalls; ++i) x = graph::ValueRef::Node(builder.Add(graph::Op::relu, {}, {x}).value());
    v1::PredictRequest request;
    proto::GraphToProto(std::move(builder).Build({x}), request.mutable_graph());
    request.add_targets("cpu");
    request.set_keep_private(true);
    ASSERT_TRUE(Predict(request).ok());
  };
  for (int64_t i = 1; i <= 20; ++i) ask(i);
  log_->Flush();
  const double counted = CacheBytes(), held = static_cast<double>(::mallinfo2().uordblks);
  for (int64_t i = 1; i <= kNetworks; ++i) ask(1000 + i);
  log_->Flush();
  const double more_counted = CacheBytes() - counted, more_held = static_cast<double>(::mallinfo2().uordblks) - held;
  EXPECT_GT(more_counted, kNetworks * 500.0);
  EXPECT_LT(more_held, 1.5 * more_counted);
  EXPECT_GT(more_held, more_counted / 1.5);
}

}  // namespace
}  // namespace cobra::server
