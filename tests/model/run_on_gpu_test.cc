// Calls whose parts a GPU's targets know: they compute what the call computes, and what they take
// is the call's.
#include "model/predict/as_run/run_on_gpu.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder/builder.h"
#include "graph/cost/cost.h"
#include "graph/shape/attention_inputs.h"
#include "model/predict/predictor.h"

namespace cobra::predict {
namespace {

using graph::DType;
using graph::Op;
using graph::Shape;
using graph::ValueRef;
using graph::ValueRefs;
using namespace graph::attention_inputs;

constexpr int64_t kRows = 12, kKeys = 20, kBatch = 3, kEmbed = 32, kHeads = 4;

TargetSpec Gpu() {
  TargetSpec spec;
  spec.kind = "gpu";
  spec.runtime = "torch-2.4.0";
  return spec;
}

struct Asked {
  bool is_self = true, has_one_source = true, has_own_weights = false, has_weights = true, is_mean = true;
  bool is_batched = true, has_mask = false, has_padding = false, is_training = false;
  DType mask = DType::bool_;
};

// One attention, whose results are the network's.
graph::Graph Attention(const Asked& asked, bool add_zero_attn = false) {
  graph::GraphBuilder b;
  const auto input = [&](int64_t rows, int64_t width, const char* name) {
    return b.AddInput(name, {asked.is_batched ? Shape{rows, kBatch, width} : Shape{rows, width}, DType::float32});
  };
  const auto parameter = [&](Shape shape) {
    return b.AddParameter("p" + std::to_string(b.graph().parameters().size()), {std::move(shape), DType::float32});
  };
  const int64_t keys = asked.is_self ? kRows : kKeys, width = asked.has_own_weights ? 24 : kEmbed;
  ValueRefs inputs(kStaticV + 1);
  inputs[kQuery] = input(kRows, kEmbed, "query");
  inputs[kKey] = asked.is_self ? inputs[kQuery] : input(keys, width, "key");
  inputs[kValue] = asked.has_one_source ? inputs[kKey] : input(keys, width, "value");
  if (asked.has_own_weights) {
    inputs[kQWeight] = parameter({kEmbed, kEmbed});
    inputs[kKWeight] = parameter({kEmbed, width});
    inputs[kVWeight] = parameter({kEmbed, width});
  } else {
    inputs[kInWeight] = parameter({3 * kEmbed, kEmbed});
  }
  inputs[kInBias] = parameter({3 * kEmbed});
  inputs[kOutWeight] = parameter({kEmbed, kEmbed});
  inputs[kOutBias] = parameter({kEmbed});
  if (asked.has_mask) inputs[kAttnMask] = b.AddInput("mask", {{kRows, keys}, asked.mask});
  if (asked.has_padding)
    inputs[kKeyPaddingMask] = b.AddInput("padding", {asked.is_batched ? Shape{kBatch, keys} : Shape{keys}, asked.mask});
  graph::Attributes attributes = {
      {"embed_dim_to_check", kEmbed},         {"num_heads", kHeads},
      {"add_zero_attn", add_zero_attn},       {"dropout_p", asked.is_training ? 0.1 : 0.0},
      {"need_weights", asked.has_weights},    {"use_separate_proj_weight", asked.has_own_weights},
      {"average_attn_weights", asked.is_mean}};
  if (asked.is_training) attributes.Set("training", true);
  const auto call = b.Add(Op::multi_head_attention_forward, std::move(attributes), std::move(inputs));
  EXPECT_TRUE(call.ok()) << call.status();
  std::vector<ValueRef> outputs{ValueRef::Node(*call)};
  if (asked.has_weights) outputs.push_back(ValueRef::Node(*call, 1));
  return std::move(b).Build(std::move(outputs));
}

TEST(RunOnGpu, PartsOfAnAttentionComputeWhatItComputes) {
  std::vector<Asked> all(12);
  all[1].has_weights = false;
  all[2].is_self = false;
  all[3].is_self = all[3].has_one_source = false;
  all[4].is_self = all[4].has_one_source = false;
  all[4].has_own_weights = true;
  all[5].is_batched = false;
  all[6].has_mask = all[6].has_padding = true;
  all[7] = all[6];
  all[7].has_weights = false;
  all[8] = all[6];
  all[8].mask = DType::float32;
  all[9].is_training = true;
  all[10].is_mean = false;
  all[11] = all[6];
  all[11].is_batched = false;
  for (size_t i = 0; i < all.size(); ++i) {
    const graph::Graph graph = Attention(all[i]);
    const std::optional<RunOnGpu> run = AsRunOnGpu(graph, Gpu());
    ASSERT_TRUE(run.has_value()) << i;
    EXPECT_EQ(graph::CostOf(run->graph).macs, graph::CostOf(graph).macs) << i;
    ASSERT_EQ(run->graph.outputs().size(), graph.outputs().size()) << i;
    for (size_t k = 0; k < graph.outputs().size(); ++k)
      EXPECT_EQ(run->graph.TypeOf(run->graph.outputs()[k]), graph.TypeOf(graph.outputs()[k])) << i << " " << k;
    EXPECT_FALSE(AsRunOnGpu(run->graph, Gpu()).has_value()) << i;
  }
}

TEST(RunOnGpu, OtherRuntimesAndOtherAttentionsStayAsTheyAre) {
  TargetSpec cpu = Gpu(), ncnn = Gpu();
  cpu.kind = "cpu";
  ncnn.runtime = "ncnn";
  for (const TargetSpec& spec : {cpu, ncnn}) EXPECT_FALSE(AsRunOnGpu(Attention({}), spec).has_value());
  EXPECT_FALSE(AsRunOnGpu(Attention({}, /*add_zero_attn=*/true), Gpu()).has_value());
}

// A normalization in training mode, before it what counts its batches.
graph::Graph Normalization(bool is_counter_read) {
  graph::GraphBuilder b;
  const ValueRef x = b.AddInput("x", {{4, 8, 16, 16}, DType::float32});
  const ValueRef batches = b.AddBuffer("batches", {{}, DType::int64});
  const auto counted = b.Add(Op::add, {{"other", int64_t{1}}}, {batches, ValueRef::None()}, {}, /*inplace=*/true);
  EXPECT_TRUE(counted.ok()) << counted.status();
  const auto vector = [&b](const char* name) { return b.AddBuffer(name, {{8}, DType::float32}); };
  const auto norm = b.Add(Op::batch_norm, {{"training", true}, {"eps", 1e-5}},
                          {x, vector("mean"), vector("variance"), ValueRef::None(), ValueRef::None()});
  EXPECT_TRUE(norm.ok()) << norm.status();
  std::vector<ValueRef> outputs{ValueRef::Node(*norm)};
  if (is_counter_read) outputs.push_back(ValueRef::Node(*counted));
  return std::move(b).Build(std::move(outputs));
}

TEST(RunOnGpu, CountersOfBatchesAreInThePriceOfTheirNormalization) {
  const std::optional<RunOnGpu> run = AsRunOnGpu(Normalization(false), Gpu());
  ASSERT_TRUE(run.has_value());
  ASSERT_EQ(run->graph.nodes().size(), 1U);
  EXPECT_EQ(run->first_part, (std::vector<int32_t>{0, 0, 1}));
  EXPECT_FALSE(AsRunOnGpu(Normalization(true), Gpu()).has_value());
}

TEST(RunOnGpu, ACallTakesWhatItsPartsTake) {
  RunOnGpu run;
  run.first_part = {0, 2, 2, 3};
  LatencyPrediction of_parts;
  of_parts.node_latency_us = {1, 2, 4};
  of_parts.node_alone_us = {1, 1, 3};
  of_parts.node_unknown = {"", "why", ""};
  const LatencyPrediction of_calls = run.ExpandToOriginalCalls(of_parts);
  EXPECT_EQ(of_calls.node_latency_us, (std::vector<double>{3, 0, 4}));
  EXPECT_EQ(of_calls.node_alone_us, (std::vector<float>{2, 0, 3}));
  EXPECT_EQ(of_calls.node_unknown, (std::vector<std::string>{"why", "", ""}));
}

// The one call was never measured under autocast; what it consists of was.
TEST(RunOnGpu, AnAttentionUnderAutocastIsKnown) {
  const auto predictor = Predictor::Load(COBRA_SOURCE_DIR "/model/pretrained").value();
  graph::GraphBuilder b;
  const ValueRef x = b.AddInput("x", {{197, 128, 512}, DType::float32});
  ValueRefs inputs(kStaticV + 1);
  inputs[kQuery] = inputs[kKey] = inputs[kValue] = x;
  inputs[kInWeight] = b.AddParameter("in", {{3 * 512, 512}, DType::float32});
  inputs[kOutWeight] = b.AddParameter("out", {{512, 512}, DType::float32});
  const auto call = b.Add(Op::multi_head_attention_forward,
                          {{"embed_dim_to_check", int64_t{512}}, {"num_heads", int64_t{8}}, {"need_weights", false}},
                          std::move(inputs));
  ASSERT_TRUE(call.ok()) << call.status();
  const graph::Graph graph = std::move(b).Build({ValueRef::Node(*call)});
  const auto answer = predictor->Predict(graph, "gpu-rtx-3090-amp-float16-torch-2.4");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_FALSE(answer->extrapolating);
  ASSERT_EQ(answer->node_latency_us.size(), 1U);
  EXPECT_NEAR(answer->node_latency_us[0], answer->latency_us, 1e-6 * answer->latency_us);
}

}  // namespace
}  // namespace cobra::predict
