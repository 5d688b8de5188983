// The shipped weights: that the parts are what they claim to be. Accuracy is stated by `cobra-train
// evaluate`, not here.
#include "model/predict/predictor.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/process/address_space.h"
#include "base/sanitizer.h"
#include "graph/builder/builder.h"
#include "graph/builder/net_builder.h"
#include "graph/cost/cost.h"
#include "graph/form/fingerprint.h"
#include "model/predict/target/sheet_check.h"

namespace cobra::predict {
namespace {

using Ints = std::vector<int64_t>;
const char kPretrained[] = COBRA_SOURCE_DIR "/model/pretrained";

int32_t AddConv(graph::GraphBuilder* b, graph::ValueRef x, int64_t out) {
  const int64_t in = b->TypeOf(x).shape[1];
  const graph::ValueRef w =
      b->AddParameter(absl::StrCat("w", b->nodes().size()), {{out, in, 3, 3}, graph::DType::float32});
  return b
      ->Add(graph::Op::conv2d,
            {{"stride", Ints{1, 1}}, {"padding", Ints{1, 1}}, {"dilation", Ints{1, 1}}, {"groups", int64_t{1}}},
            {x, w, graph::ValueRef::None()})
      .value();
}

// conv - relu - conv - relu - add. The addition joins the second branch with what `skip_from` says:
// 0 the first convolution, 1 the first relu.
graph::Graph Residual(int64_t channels = 32, int64_t size = 28, int skip_from = 1) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", {{1, channels, size, size}, graph::DType::float32});
  const int32_t conv1 = AddConv(&b, x, channels);
  const int32_t relu1 = b.Add(graph::Op::relu, {}, {graph::ValueRef::Node(conv1)}).value();
  const int32_t conv2 = AddConv(&b, graph::ValueRef::Node(relu1), channels);
  const int32_t relu2 = b.Add(graph::Op::relu, {}, {graph::ValueRef::Node(conv2)}).value();
  const int32_t add =
      b.Add(graph::Op::add, {}, {graph::ValueRef::Node(relu2), graph::ValueRef::Node(skip_from == 0 ? conv1 : relu1)})
          .value();
  return std::move(b).Build({graph::ValueRef::Node(add)});
}

class PredictorTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto loaded = Predictor::Load(kPretrained);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    predictor_ = *loaded;
  }
  static std::string Target() { return predictor_->targets()[0].spec.name; }
  static LatencyPrediction Predict(const graph::Graph& g, const Calibration* c = nullptr) {
    auto p = predictor_->Predict(g, Target(), c);
    EXPECT_TRUE(p.ok()) << p.status();
    return p.ok() ? *p : LatencyPrediction();
  }
  static std::shared_ptr<const Predictor> predictor_;
};
std::shared_ptr<const Predictor> PredictorTest::predictor_;

TEST_F(PredictorTest, ContributionsAddUpToTheLatency) {
  const graph::Graph g = Residual();
  const LatencyPrediction p = Predict(g);
  ASSERT_EQ(p.node_latency_us.size(), g.nodes().size());
  EXPECT_NEAR(std::accumulate(p.node_latency_us.begin(), p.node_latency_us.end(), 0.0), p.latency_us,
              1e-6 * p.latency_us);
  for (double us : p.node_latency_us) EXPECT_GT(us, 0);
  EXPECT_LT(p.low_us, p.latency_us);
  EXPECT_GT(p.high_us, p.latency_us);
}

// Also where networks alone were measured.
TEST_F(PredictorTest, OneCallHasAnIntervalOnEveryTarget) {
  graph::NetBuilder net;
  const graph::ValueRef x = net.Input({1, 64, 56, 56});
  const graph::Graph graph = std::move(net).Finish({net.Relu(x)}).value();
  for (const TargetInfo& target : predictor_->targets()) {
    const auto answer = predictor_->Predict(graph, target.spec.name);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_LT(answer->low_us, 0.99 * answer->latency_us) << target.spec.name;
    EXPECT_GT(answer->high_us, 1.01 * answer->latency_us) << target.spec.name;
  }
}

// What was measured exists: whoever sends such a sheet makes no mistake.
TEST_F(PredictorTest, EveryTargetHasAGoodSheet) {
  EXPECT_GT(predictor_->targets().size(), 200u);
  for (const TargetInfo& target : predictor_->targets())
    EXPECT_TRUE(CheckSheet(target.spec).ok()) << target.spec.name << ": " << CheckSheet(target.spec);
}

TEST_F(PredictorTest, CachedAndFreshAnswersAreTheSame) {
  const auto fresh = Predictor::Load(kPretrained).value();
  const graph::Graph g = Residual(24, 30);
  const double first = fresh->Predict(g, Target())->latency_us;
  const int64_t misses = fresh->embedding_cache_stats().misses;
  const double second = fresh->Predict(g, Target())->latency_us;
  EXPECT_EQ(first, second);
  EXPECT_EQ(fresh->embedding_cache_stats().misses, misses);
  EXPECT_GT(fresh->embedding_cache_stats().hits, 0);
}

// What was encoded beside a layer, and when, changes no bit of its share.
TEST_F(PredictorTest, OtherLayersChangeNoBit) {
  const graph::Graph a = Residual(24, 30), b = Residual(24, 31), c = Residual(40, 30);
  const auto ask = [](const std::vector<const graph::Graph*>& before, const graph::Graph& asked) {
    const auto fresh = Predictor::Load(kPretrained).value();
    for (const graph::Graph* g : before) EXPECT_TRUE(fresh->Predict(*g, Target()).ok());
    return fresh->Predict(asked, Target())->node_latency_us;
  };
  const std::vector<double> alone = ask({}, a);
  EXPECT_EQ(ask({&b}, a), alone);
  EXPECT_EQ(ask({&c, &b}, a), alone);
  EXPECT_EQ(Predict(a).node_latency_us, alone);
}

TEST_F(PredictorTest, AWiderLayerCostsMore) {
  double before = 0;
  for (int64_t channels : {16, 32, 64, 128, 256}) {
    const double now = Predict(Residual(channels)).latency_us;
    EXPECT_GT(now, 1.3 * before) << channels;
    before = now;
  }
}

// Same calls, another edge: only the adjacency can tell the two apart.
TEST_F(PredictorTest, TheAdjacencyMatters) {
  const graph::Graph a = Residual(32, 28, 0), b = Residual(32, 28, 1);
  ASSERT_NE(graph::Fingerprint(a), graph::Fingerprint(b));
  EXPECT_NE(Predict(a).latency_us, Predict(b).latency_us);
}

TEST_F(PredictorTest, UnknownTargetListsTheKnown) {
  const auto p = predictor_->Predict(Residual(), "quantum-9000");
  EXPECT_EQ(p.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(p.status().message().find("quantum-9000: unknown target"), absl::string_view::npos);
  EXPECT_NE(p.status().message().find(" (the nearest of "), absl::string_view::npos);
}

TEST_F(PredictorTest, WhatLiesFarOutsideTrainingIsMarked) {
  EXPECT_FALSE(Predict(Residual()).extrapolating);
  const LatencyPrediction far = Predict(Residual(3, 40000));
  EXPECT_TRUE(far.extrapolating);
  EXPECT_LT(far.confidence, 0.5);
  EXPECT_GT(far.high_us / far.latency_us, Predict(Residual()).high_us / Predict(Residual()).latency_us);
}

// Beyond what was measured the answer goes on growing with the work, and is never below what the
// machine can do.
TEST_F(PredictorTest, LargerNeverTakesLess) {
  double before = 0;
  for (int64_t size : {128, 512, 2048, 8192, 32768}) {
    const graph::Graph g = Residual(64, size);
    const LatencyPrediction p = Predict(g);
    EXPECT_GT(p.latency_us, before) << size;
    before = p.latency_us;
    const double floor_us =
        static_cast<double>(graph::CostOf(g).flops) / 1e3 / predictor_->targets()[0].spec.peak_gflops;
    EXPECT_GT(p.latency_us, 0.5 * floor_us) << size;
  }
}

TEST_F(PredictorTest, SaysWhatItDoesNotKnow) {
  EXPECT_TRUE(Predict(Residual()).unknown.empty());
  const LatencyPrediction far = Predict(Residual(3, 40000));
  EXPECT_EQ(far.coverage, 0);
  ASSERT_FALSE(far.unknown.empty());
  EXPECT_LE(far.unknown.size(), LatencyPrediction::kMaxUnknownParts);
  EXPECT_NE(far.unknown[0].why.find("measured"), std::string::npos) << far.unknown[0].why;
  ASSERT_EQ(far.node_unknown.size(), far.node_latency_us.size());
  double unknown_us = 0;
  for (size_t i = 0; i < far.node_unknown.size(); ++i)
    unknown_us += far.node_unknown[i].empty() ? 0 : far.node_latency_us[i];
  EXPECT_GT(unknown_us, 0.5 * far.latency_us);
}

// Files of ncnn have no batch normalization after a convolution; a source in PyTorch has one that
// its converter folds.
TEST_F(PredictorTest, WhatNcnnFoldsIsNotUnknown) {
  const auto unknown = [](bool after_convolution) {
    graph::GraphBuilder b;
    const auto parameter = [&b](const char* name) { return b.AddParameter(name, {{32}, graph::DType::float32}); };
    graph::ValueRef x = b.AddInput("x", {{1, 32, 28, 28}, graph::DType::float32});
    if (after_convolution) x = graph::ValueRef::Node(AddConv(&b, x, 32));
    const int32_t norm = b.Add(graph::Op::batch_norm, {{"eps", 1e-5}},
                               {x, parameter("mean"), parameter("var"), parameter("weight"), parameter("bias")})
                             .value();
    const auto p = predictor_->Predict(std::move(b).Build({graph::ValueRef::Node(norm)}), "cpu-raspberry-pi-5-4t-ncnn");
    EXPECT_TRUE(p.ok()) << p.status();
    return p->node_unknown.back();
  };
  EXPECT_EQ(unknown(true), "");
  EXPECT_NE(unknown(false), "");
}

TEST_F(PredictorTest, UnknownWorkHasTheUnitsOfUsers) {
  const LatencyPrediction far = Predict(Residual(64, 40000));
  EXPECT_EQ(far.node_unknown[0].rfind("conv2d: 58982 GMAC, measured up to ", 0), 0) << far.node_unknown[0];
  EXPECT_EQ(far.node_unknown[1].rfind("relu: 409600 MB read, measured up to ", 0), 0) << far.node_unknown[1];
  std::string reasons;
  for (const UnknownPart& part : far.unknown) absl::StrAppend(&reasons, part.why, "\n");
  EXPECT_NE(reasons.find("the network has 2.362e+05 GFLOP; the largest measured one has "), std::string::npos)
      << reasons;
}

TEST_F(PredictorTest, RefusesWeightsOfAnotherPrecision) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", {{1, 8}, graph::DType::float16});
  const graph::ValueRef w = b.AddParameter("w", {{4, 8}, graph::DType::float16});
  const absl::StatusOr<int32_t> node = b.Add(graph::Op::linear, {}, {x, w, graph::ValueRef::None()});
  ASSERT_TRUE(node.ok()) << node.status();
  const graph::Graph g = std::move(b).Build({graph::ValueRef::Node(*node)});
  const auto p = predictor_->Predict(g, Target());
  EXPECT_EQ(p.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(p.status().message().find("weights are float16"), absl::string_view::npos) << p.status();
}

// Its target's measurements have the graph in float32: the precision is the target's.
TEST_F(PredictorTest, HalfPrecisionIsAskedAsItWasMeasured) {
  const auto network = [](graph::DType dtype) {
    graph::GraphBuilder b;
    const graph::ValueRef x = b.AddInput("x", {{1, 64, 56, 56}, dtype}),
                          w = b.AddParameter("w", {{64, 64, 3, 3}, dtype});
    const graph::Attributes attributes = {{"stride", std::vector<int64_t>{1, 1}},
                                          {"padding", std::vector<int64_t>{1, 1}},
                                          {"dilation", std::vector<int64_t>{1, 1}},
                                          {"groups", int64_t{1}}};
    const auto conv = b.Add(graph::Op::conv2d, attributes, {x, w, graph::ValueRef::None()});
    EXPECT_TRUE(conv.ok()) << conv.status();
    const auto relu = b.Add(graph::Op::relu, {}, {graph::ValueRef::Node(*conv)});
    return std::move(b).Build({graph::ValueRef::Node(*relu)});
  };
  constexpr char kTarget[] = "cpu-epyc-turin-1t-bfloat16-torch";
  const auto half = predictor_->Predict(network(graph::DType::bfloat16), kTarget),
             full = predictor_->Predict(network(graph::DType::float32), kTarget);
  ASSERT_TRUE(half.ok() && full.ok()) << half.status() << full.status();
  EXPECT_EQ(half->latency_us, full->latency_us);
  EXPECT_EQ(half->node_latency_us, full->node_latency_us);
  EXPECT_EQ(half->confidence, full->confidence);
  EXPECT_TRUE(half->unknown.empty());
  EXPECT_FALSE(predictor_->Predict(network(graph::DType::float16), kTarget).ok());
}

// timm's GPUs were timed with the largest batches that fit, KernelBench's in training mode.
TEST_F(PredictorTest, SaysWhatATargetWasNotMeasuredFor) {
  const auto reasons = [](const graph::Graph& g, absl::string_view target) {
    const auto p = predictor_->Predict(g, target);
    EXPECT_TRUE(p.ok()) << p.status();
    std::string all;
    for (const UnknownPart& part : p->unknown) absl::StrAppend(&all, part.why, "\n");
    EXPECT_EQ(p->extrapolating, !p->unknown.empty()) << all;
    return all;
  };
  const auto net = [](int64_t batch) {
    graph::NetBuilder net;
    graph::ValueRef x = net.Input({batch, 3, 224, 224});
    for (int64_t width : {32, 64, 128})
      x = net.ConvBnRelu(x, {.out_channels = width, .kernel_size = 3, .stride = 2, .padding = 1});
    return std::move(net).Finish({x}).value();
  };
  constexpr char kTimm[] = "gpu-rtx-3090-amp-float16-torch-2.4";
  EXPECT_NE(reasons(net(1), kTimm).find(absl::StrCat("a batch of 1: ", kTimm, " was measured with batches from")),
            std::string::npos);
  EXPECT_EQ(reasons(net(256), kTimm).find("a batch of"), std::string::npos);
  constexpr char kKernelBench[] = "gpu-t4-modal-torch-2.5-eager-train";
  EXPECT_NE(reasons(net(1), kKernelBench).find("batch_norm of a network in inference"), std::string::npos);
  EXPECT_EQ(reasons(net(1), Target()), "");
}

// Kernels in int8 are others than those in float32; ncnn's boards have measured networks with them.
TEST_F(PredictorTest, LayersInInt8AreUnknownWhereNoneWasMeasured) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", {{1, 32, 28, 28}, graph::DType::float32});
  const auto quantized = b.Add(graph::Op::quantize_per_tensor,
                               {{"scale", 0.1}, {"zero_point", int64_t{0}}, {"dtype", std::string("int8")}}, {x});
  ASSERT_TRUE(quantized.ok()) << quantized.status();
  const int32_t relu = b.Add(graph::Op::relu, {}, {x}).value();
  const graph::Graph g = std::move(b).Build({graph::ValueRef::Node(*quantized), graph::ValueRef::Node(relu)});
  const auto torch = predictor_->Predict(g, Target()), board = predictor_->Predict(g, "cpu-raspberry-pi-5-4t-ncnn");
  ASSERT_TRUE(torch.ok() && board.ok()) << torch.status() << board.status();
  EXPECT_EQ(torch->confidence, 0);
  const std::string why = absl::StrCat("layers in int8: ", Target(), " was measured in float32 alone");
  EXPECT_TRUE(absl::c_any_of(torch->unknown, [&why](const UnknownPart& part) { return part.why == why; }));
  for (const UnknownPart& part : board->unknown) EXPECT_EQ(part.why.find("int8"), std::string::npos) << part.why;
}

// While layers are encoded, and between the steps after that.
TEST_F(PredictorTest, CancelsAtEveryStep) {
  const auto chain = [](int64_t width) {
    graph::GraphBuilder b;
    graph::ValueRef x = b.AddInput("x", {{1, width}, graph::DType::float32});
    for (int64_t i = 1; i <= 200; ++i) {  // each a layer of its own
      const graph::ValueRef w = b.AddParameter("", {{width + i, width + i - 1}, graph::DType::float32});
      x = graph::ValueRef::Node(b.Add(graph::Op::linear, {}, {x, w, graph::ValueRef::None()}).value());
    }
    return std::move(b).Build({x});
  };
  int asked = 0;
  ASSERT_TRUE(predictor_->Predict(chain(1000), Target(), nullptr, [&asked] { return ++asked < 0; }).ok());
  EXPECT_GE(asked, 6);
  for (int after = 0; after < asked; ++after) {
    int left = after;
    const auto p = predictor_->Predict(chain(2000 + 1000 * after), Target(), nullptr, [&left] { return left-- == 0; });
    EXPECT_EQ(p.status().code(), absl::StatusCode::kCancelled) << after;
  }
}

// A reason is repeated for every call of a breakdown.
TEST_F(PredictorTest, ReasonsAreShortWhateverTheArgumentsAre) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", {{2, 2}, graph::DType::float32});
  const absl::StatusOr<int32_t> node = b.Add(graph::Op::linalg_eigh, {{"UPLO", std::string(1 << 20, 'L')}}, {x});
  ASSERT_TRUE(node.ok()) << node.status();
  const LatencyPrediction p = Predict(std::move(b).Build({graph::ValueRef::Node(*node)}));
  ASSERT_EQ(p.node_unknown.size(), 1u);
  EXPECT_NE(p.node_unknown[0].find("was never measured"), std::string::npos);
  EXPECT_LT(p.node_unknown[0].size(), 200u);
}

// `n` relus, each on a size of its own if `different`.
graph::Graph Relus(int n, int64_t first_size, bool different) {
  graph::GraphBuilder b;
  int32_t node = 0;
  graph::ValueRef x = b.AddInput("x", {{1, first_size}, graph::DType::float32});
  for (int i = 0; i < n; ++i) {
    node = b.Add(graph::Op::relu, {}, {x}).value();
    x = different ? b.AddInput("x", {{1, first_size + 1 + i}, graph::DType::float32}) : graph::ValueRef::Node(node);
  }
  return std::move(b).Build({graph::ValueRef::Node(node)});
}

TEST_F(PredictorTest, TheCacheCountsWhatItHolds) {
#ifdef COBRA_SANITIZED
  GTEST_SKIP() << "the sanitizer has a malloc of its own";
#endif
  ASSERT_TRUE(predictor_->Predict(Relus(500, 1000, true), Target()).ok());
  // Layers of a known size, then layers that have a reason.
  for (const int64_t first_size : {2000, 20'000'000}) {
    const graph::Graph g = Relus(1000, first_size, true);
    const auto counted = static_cast<double>(predictor_->embedding_cache_stats().bytes);
    const auto held = static_cast<double>(::mallinfo2().uordblks);
    ASSERT_TRUE(predictor_->Predict(g, Target()).ok());
    const double more_counted = static_cast<double>(predictor_->embedding_cache_stats().bytes) - counted;
    const double more_held = static_cast<double>(::mallinfo2().uordblks) - held;
    EXPECT_GT(more_counted, 1000 * 400.0);
    EXPECT_LT(more_held, 1.5 * more_counted) << first_size;
    EXPECT_GT(more_held, more_counted / 1.5) << first_size;
  }
}

// Layers that nobody asked about before take time, however small the program is that makes them.
TEST_F(PredictorTest, TheDifferentLayersOfANetworkAreBounded) {
  PredictorOptions options;
  options.max_layer_words = 500;
  const auto bounded = Predictor::Load(kPretrained, options).value();
  EXPECT_TRUE(bounded->Predict(Relus(5000, 64, false), Target()).ok());  // of one layer
  for (const int n : {40, 40}) {                                         // known or not
    const auto few = bounded->Predict(Relus(n, 1000, true), Target());
    EXPECT_TRUE(few.ok()) << few.status();
    const absl::Status many = bounded->Predict(Relus(100, 1000, true), Target()).status();
    ASSERT_TRUE(DiagnosticFromStatus(many).has_value()) << many;
    EXPECT_EQ(DiagnosticFromStatus(many)->kind, Diagnostic::Kind::kLimit);
  }
}

// A network of a new size leaves nothing behind but its layers.
TEST_F(PredictorTest, NewSizesOfNetworksTakeNoMemory) {
#ifdef COBRA_SANITIZED
  GTEST_SKIP() << "the sanitizer has a malloc of its own";
#endif
  const auto ask = [](int n) { ASSERT_TRUE(predictor_->Predict(Relus(n, 64, false), Target()).ok()); };
  for (const int n : {1500, 1, 500}) ask(n);
  const int64_t before = ResidentBytes();
  for (int i = 0; i < 200; ++i) ask(1 + i * 7919 % 1500);
  EXPECT_LT(ResidentBytes() - before, int64_t{12} << 20);
}

TEST_F(PredictorTest, CalibratesToAMachineTwiceAsSlow) {
  ProbeResult probe;
  probe.machine.kind = "cpu";
  for (int64_t channels : {8, 16, 24, 32, 48, 64, 80, 96, 112, 128}) {
    graph::GraphBuilder b;
    const int32_t conv = AddConv(&b, b.AddInput("x", {{1, channels, 28, 28}, graph::DType::float32}), channels);
    graph::Graph g = std::move(b).Build({graph::ValueRef::Node(conv)});
    const double us = Predict(g).latency_us;
    store::Measurement& twice_as_slow = probe.records.emplace_back();
    store::SetGraph(std::move(g), &twice_as_slow.subject);
    twice_as_slow.latency.median_us = 2 * us;
  }
  const auto c = predictor_->Calibrate(probe);
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->disturbance.timings, 0);
  probe.disturbance.assign(20, 1.25);
  EXPECT_EQ(predictor_->Calibrate(probe)->disturbance.typical, 1.25);
  EXPECT_EQ(c->machine.name, "this-machine");
  const graph::Graph g = Residual();
  EXPECT_NEAR(Predict(g, &*c).latency_us / Predict(g).latency_us, 2, 0.2);
}

// A calibration is of the undisturbed machine; what else runs on it is added to each answer, and
// stated.
TEST_F(PredictorTest, APredictionIncludesWhatElseRunsOnTheMachine) {
  Calibration quiet;
  quiet.machine = predictor_->targets()[0].spec;
  quiet.base_target = Target();
  Calibration loud = quiet;
  loud.disturbance = {1.25, 1.1, 1.5, 40};
  const graph::Graph g = Residual();
  const LatencyPrediction before = Predict(g, &quiet), after = Predict(g, &loud);
  EXPECT_EQ(before.undisturbed_us, 0);
  EXPECT_EQ(after.undisturbed_us, before.latency_us);
  EXPECT_EQ(after.undisturbed_low_us, before.low_us);
  EXPECT_EQ(after.undisturbed_high_us, before.high_us);
  EXPECT_NEAR(after.latency_us, 1.25 * before.latency_us, 1e-6 * before.latency_us);
  EXPECT_GT(after.high_us, 1.5 * before.latency_us);
  EXPECT_LT(after.low_us, 1.1 * before.latency_us);
  double calls_us = 0;
  for (const double us : after.node_latency_us) calls_us += us;
  EXPECT_NEAR(calls_us, after.latency_us, 1e-6 * after.latency_us);
  EXPECT_EQ(CalibrationFromJson(CalibrationToJson(loud))->disturbance.high, 1.5);
  EXPECT_EQ(CalibrationFromJson(CalibrationToJson(loud))->disturbance.timings, 40);
}

// What the networks make of a specification that is not the base's is part of the reference: a
// machine that behaves as they say needs no other correction.
TEST_F(PredictorTest, CalibratesBesideItsOwnSpecification) {
  Calibration own;
  own.machine = predictor_->targets()[0].spec;
  own.machine.peak_gflops *= 3;
  own.machine.memory_gb_per_s *= 3;
  own.machine.convolution_gflops = own.machine.l2_gb_per_s = 100;
  own.base_target = Target();
  own.own_specification = true;
  ProbeResult probe;
  probe.machine = own.machine;
  probe.machine.name = "faster";
  for (int64_t channels : {8, 16, 24, 32, 48, 64, 80, 96, 112, 128}) {
    graph::GraphBuilder b;
    const int32_t conv = AddConv(&b, b.AddInput("x", {{1, channels, 28, 28}, graph::DType::float32}), channels);
    graph::Graph g = std::move(b).Build({graph::ValueRef::Node(conv)});
    store::Measurement& measured = probe.records.emplace_back();
    measured.latency.median_us = Predict(g, &own).latency_us;
    EXPECT_NE(measured.latency.median_us, Predict(g).latency_us);
    store::SetGraph(std::move(g), &measured.subject);
  }
  const auto c = predictor_->Calibrate(probe);
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_TRUE(c->own_specification);
  EXPECT_EQ(CalibrationFromJson(CalibrationToJson(*c))->own_specification, true);
  const graph::Graph g = Residual();
  EXPECT_NEAR(Predict(g, &*c).latency_us / Predict(g, &own).latency_us, 1, 0.05);
}

TEST(PredictorLoad, ADamagedFileIsNamed) {
  const std::string directory = testing::TempDir() + "/cobra_damaged";
  ASSERT_TRUE(MakeDirectories(directory).ok());
  ASSERT_TRUE(
      WriteFileAtomic(directory + "/manifest.json", ReadFile(absl::StrCat(kPretrained, "/manifest.json")).value())
          .ok());
  std::string tensors = ReadFile(absl::StrCat(kPretrained, "/tensors.safetensors")).value();
  tensors[tensors.size() / 2] ^= 1;
  ASSERT_TRUE(WriteFileAtomic(directory + "/tensors.safetensors", tensors).ok());
  const auto loaded = Predictor::Load(directory);
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(loaded.status().message().find("tensors.safetensors"), absl::string_view::npos);
  EXPECT_FALSE(Predictor::Load(directory + "/nowhere").ok());
}

}  // namespace
}  // namespace cobra::predict
