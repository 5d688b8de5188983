// The same question gets the same answer, bit by bit: whatever was asked before, with or without
// caches, alone or beside other targets, before and after a reload, from any of several servers.
// Random networks, each also with calls that return their argument, asked in random orders of the
// shipped weights.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/bytes/keyed_hash.h"
#include "graph/builder/builder.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"
#include "model/predict/predictor.h"
#include "proto/graph_proto.h"
#include "server/predict/pipeline.h"
#include "tests/server/fake_store.h"
#include "worker/sample/families.h"
#include "worker/sample/random.h"

namespace cobra::server {
namespace {

using worker::Random;

const char kPretrained[] = COBRA_SOURCE_DIR "/model/pretrained";
const char kSlowMachine[] = "slow-machine";

// The same network, with calls after some of its calls that return their argument: dropout at
// inference, a cast to the same type. They take time.
graph::Graph WithCallsThatChangeNothing(const graph::Graph& graph, Random* random) {
  graph::GraphBuilder builder;
  builder.AddTensorsOf(graph);
  std::vector<graph::ValueRef> moved;  // the value of each node's first output
  const auto ref_of = [&moved](graph::ValueRef ref) {
    if (!ref.is_node()) return ref;
    return ref.output == 0 ? moved[ref.index] : graph::ValueRef::Node(moved[ref.index].index, ref.output);
  };
  for (const graph::Node& node : graph.nodes()) {
    graph::ValueRefs inputs;
    for (const graph::ValueRef& ref : node.inputs) inputs.push_back(ref_of(ref));
    graph::ValueRef value =
        graph::ValueRef::Node(builder.Add(node.op, node.attributes, inputs, node.origin, node.inplace).value());
    if (node.outputs.size() == 1 && node.outputs[0].dtype == graph::DType::float32 && random->Chance(0.3)) {
      value = graph::ValueRef::Node(
          random->Chance(0.7) ? builder.Add(graph::Op::dropout, {{"p", 0.1}}, {value}).value()
                              : builder.Add(graph::Op::to, {{"dtype", std::string("float32")}}, {value}).value());
    }
    moved.push_back(value);
  }
  std::vector<graph::ValueRef> outputs;
  for (const graph::ValueRef& ref : graph.outputs()) outputs.push_back(ref_of(ref));
  return std::move(builder).Build(std::move(outputs));
}

// Small ones of every family, in pairs: with calls that change nothing, and without.
std::vector<graph::Graph> RandomNetworks(Random* random) {
  std::vector<graph::Graph> networks;
  for (const worker::Family& family : worker::Families()) {
    absl::StatusOr<graph::Graph> drawn = family.draw(random);
    for (int i = 0; i < 50 && (!drawn.ok() || drawn->nodes().size() > 60); ++i) drawn = family.draw(random);
    if (!drawn.ok() || drawn->nodes().size() > 120) continue;
    networks.push_back(WithCallsThatChangeNothing(*drawn, random));
    networks.push_back(*std::move(drawn));
  }
  return networks;
}

graph::Graph Relu(int64_t width) {
  graph::GraphBuilder builder;
  const graph::ValueRef x = builder.AddInput("x", {{1, width, 56, 56}, graph::DType::float32});
  return std::move(builder).Build({graph::ValueRef::Node(builder.Add(graph::Op::relu, {}, {x}).value())});
}

// What a server has: a model, its caches, calibrated targets.
class Replica {
 public:
  Replica(int64_t embedding_cache_bytes, int64_t prediction_cache_bytes) {
    predict::PredictorOptions options;
    options.embedding_cache_bytes = embedding_cache_bytes;
    live_ = LiveModel::Create([options] { return predict::Predictor::Load(kPretrained, options); }, &store_, &metrics_)
                .value();
    const CacheSizes sizes{prediction_cache_bytes, prediction_cache_bytes, prediction_cache_bytes};
    log_ = std::make_unique<PredictionLog>(&store_, &metrics_);
    // A graph needs no reader, and what is kept private is not offered to the queue.
    reader_ = std::make_unique<NetworkReader>(ServerLimits(), nullptr, &metrics_);
    pipeline_ = std::make_unique<Pipeline>(sizes, live_.get(), reader_.get(), log_.get(), nullptr, &metrics_);
    EXPECT_TRUE(live_->Calibrate(kSlowMachine, Probe()).ok());
  }

  std::vector<std::string> Targets() const {
    std::vector<std::string> names;
    for (const predict::TargetInfo& info : live_->Get()->Targets()) names.push_back(info.spec.name);
    return names;
  }
  void Reload() { ASSERT_TRUE(live_->Reload().ok()); }

  // `name`: of the graph's first input, which has no effect.
  v1::PredictResponse Ask(const graph::Graph& graph, const std::vector<std::string>& targets, bool breakdown,
                          const std::string& name = "") {
    v1::Graph message;
    proto::GraphToProto(graph, &message);
    if (message.inputs_size() > 0) message.mutable_inputs(0)->set_name(name);
    const std::string bytes = message.SerializeAsString();
    v1::PredictRequest request;
    for (const std::string& target : targets) request.add_targets(target);
    request.set_breakdown(breakdown);
    request.set_keep_private(true);
    CallContext call;
    call.request = KeyedHash(absl::StrCat(request.SerializeAsString(), bytes));
    const auto text = [&bytes] { return bytes; };
    if (const auto known = pipeline_->FindReply(call, text, /*may_wait=*/true).reply) {
      v1::PredictResponse reply;
      EXPECT_TRUE(reply.ParseFromString(known->bytes));
      return reply;
    }
    absl::StatusOr<v1::PredictResponse> reply = pipeline_->Predict(&request, bytes, call);
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() ? *reply : v1::PredictResponse();
  }

 private:
  // A machine that takes 1.3 times as long for every layer.
  std::string Probe() const {
    const predict::Predictor& predictor = *live_->Get()->predictor;
    std::vector<std::string> records;
    for (int64_t width = 8; width <= 80; width += 8) {
      const graph::Graph relu = Relu(width);
      const double us = predictor.Predict(relu, predictor.targets()[0].spec.name)->latency_us;
      records.push_back(absl::StrCat("{\"latency_us\": ", 1.3 * us,
                                     ", \"is_network\": false, \"graph\": ", graph::GraphToJson(relu), "}"));
    }
    return absl::StrCat(
        R"({"machine": {"name": "x", "device": "Test CPU", "kind": "cpu", "runtime": "libtorch"}, "records": [)",
        absl::StrJoin(records, ", "), "]}");
  }

  FakeStore store_;
  Metrics metrics_;
  std::unique_ptr<LiveModel> live_;
  std::unique_ptr<PredictionLog> log_;
  std::unique_ptr<NetworkReader> reader_;
  std::unique_ptr<Pipeline> pipeline_;
};

class SameAnswerTest : public testing::Test {
 protected:
  // By (network, target): the answer of a server that keeps nothing, asked for nothing else.
  void AnswerEachAlone() {
    Replica forgetful(1, 1);
    targets_ = forgetful.Targets();
    for (size_t i = 0; i < networks_.size(); ++i) {
      for (const std::string& target : targets_) {
        const v1::PredictResponse reply = forgetful.Ask(networks_[i], {target}, /*breakdown=*/true);
        ASSERT_EQ(reply.predictions_size(), 1);
        answers_[{i, target}] = reply.predictions(0);
      }
    }
  }

  // The targets in any order, some of them, some twice.
  std::vector<std::string> RandomTargets() {
    std::vector<std::string> targets;
    for (const int64_t t : random_.Permutation(static_cast<int64_t>(targets_.size()))) {
      if (targets.empty() || random_.Chance(0.6)) targets.push_back(targets_[static_cast<size_t>(t)]);
    }
    return targets;
  }

  void AskAtRandom(Replica* replica, int questions) {
    for (int k = 0; k < questions; ++k) {
      if (random_.Chance(0.05)) replica->Reload();
      const auto i = static_cast<size_t>(random_.Between(0, static_cast<int64_t>(networks_.size()) - 1));
      const bool breakdown = random_.Chance(0.3);
      const std::vector<std::string> targets = RandomTargets();
      const std::string name = random_.Chance(0.5) ? "x" : absl::StrCat("x", k);
      const v1::PredictResponse reply = replica->Ask(networks_[i], targets, breakdown, name);
      ASSERT_EQ(reply.predictions_size(), static_cast<int>(targets.size()));
      for (const v1::TargetPrediction& prediction : reply.predictions()) {
        v1::TargetPrediction expected = answers_.at({i, prediction.target()});
        if (!breakdown) expected.clear_breakdown();
        EXPECT_EQ(prediction.SerializeAsString(), expected.SerializeAsString())
            << "network " << i << " on " << prediction.target() << ": " << prediction.latency_us() << " us, alone "
            << expected.latency_us() << " us";
      }
    }
  }

  Random random_{7};
  std::vector<graph::Graph> networks_ = RandomNetworks(&random_);
  std::vector<std::string> targets_;
  std::map<std::pair<size_t, std::string>, v1::TargetPrediction> answers_;
};

TEST_F(SameAnswerTest, WhateverWasAskedBefore) {
  AnswerEachAlone();
  ASSERT_GE(targets_.size(), 2u);
  // The pairs differ in calls that the fingerprint leaves out, and in price.
  int equal_fingerprints = 0;
  for (size_t i = 0; i < networks_.size(); i += 2) {
    equal_fingerprints += graph::Fingerprint(networks_[i]) == graph::Fingerprint(networks_[i + 1]);
    const double with = answers_.at({i, targets_[0]}).latency_us(),
                 without = answers_.at({i + 1, targets_[0]}).latency_us();
    EXPECT_NE(with, without);
  }
  EXPECT_GT(equal_fingerprints, 5);

  struct Caches {
    int64_t embedding_bytes, prediction_bytes;
  };
  for (const Caches& caches :
       {Caches{64 << 20, 32 << 20}, Caches{64 << 20, 1}, Caches{256 << 10, 64 << 10}, Caches{1, 1}}) {
    SCOPED_TRACE(absl::StrCat("caches of ", caches.embedding_bytes, " and ", caches.prediction_bytes, " bytes"));
    Replica replica(caches.embedding_bytes, caches.prediction_bytes);
    AskAtRandom(&replica, caches.embedding_bytes > 1 ? 120 : 8);
  }
}

}  // namespace
}  // namespace cobra::server
