#include "worker/probe.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/json.h"
#include "nlohmann/json.hpp"
#include "worker/blocks.h"
#include "worker/group_runner.h"
#include "worker/machine.h"
#include "worker/measure.h"
#include "worker/net_builder.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;

constexpr size_t kSubjectsPerCanary = 8;  // some five seconds

class Subjects {
 public:
  // One layer on an image of `channels` x `size` x `size`.
  template <typename Make>
  void Image(const char* label, int64_t channels, int64_t size, Make make, int64_t batch = 1) {
    NetBuilder b;
    const graph::ValueRef x = b.Input({batch, channels, size, size});
    Add(label, false, std::move(b), [&](NetBuilder* builder) { return make(builder, x); });
  }
  template <typename Make>
  void Tensor(const char* label, graph::Shape shape, Make make) {
    NetBuilder b;
    const graph::ValueRef x = b.Input(std::move(shape));
    Add(label, false, std::move(b), [&](NetBuilder* builder) { return make(builder, x); });
  }
  template <typename Make>
  void Network(const char* label, int64_t size, Make make) {
    NetBuilder b;
    const graph::ValueRef x = b.Input({1, 3, size, size});
    Add(label, true, std::move(b), [&](NetBuilder* builder) { return make(builder, x); });
  }
  std::vector<Sample> Take() && { return std::move(samples_); }

 private:
  template <typename Make>
  void Add(const char* label, bool is_network, NetBuilder builder, Make make) {
    const graph::ValueRef output = make(&builder);
    absl::StatusOr<graph::Graph> graph = std::move(builder).Finish(output);
    if (graph.ok()) samples_.push_back({is_network, label, *std::move(graph)});
  }
  std::vector<Sample> samples_;
};

void AddConvolutions(Subjects* s) {
  struct Row {
    int64_t channels, size;
    ConvSpec spec;
    int64_t batch = 1;
  };
  const Row rows[] = {
      {3, 224, {64, 7, 2, 3}},
      {3, 224, {32, 3, 2, 1}},
      {64, 224, {64, 3, 1, 1, 1, 1, true}},
      {64, 56, {64, 3, 1, 1}},
      {128, 28, {128, 3, 1, 1}},
      {256, 14, {256, 3, 1, 1}},
      {512, 7, {512, 3, 1, 1}},
      {64, 56, {128, 3, 2, 1}},
      {256, 56, {256, 3, 1, 1, 1, 1, true}},
      {128, 28, {32, 3, 1, 1}},
      {64, 28, {64, 3, 1, 1}, 4},
      {64, 56, {256, 1}},
      {256, 56, {64, 1}},
      {256, 14, {1024, 1}},
      {1024, 14, {256, 1}},
      {2048, 7, {512, 1}},
      {256, 56, {512, 1, 2}},
      {32, 28, {192, 1}},
      {320, 7, {1280, 1}},
      {32, 112, {32, 3, 1, 1, 32}},
      {96, 112, {96, 3, 2, 1, 96}},
      {192, 28, {192, 3, 1, 1, 192}},
      {576, 14, {576, 3, 1, 1, 576}},
      {960, 7, {960, 3, 1, 1, 960}},
      {240, 14, {240, 5, 1, 2, 240}},
      {128, 56, {128, 3, 1, 1, 32}},
      {64, 28, {64, 3, 1, 2, 1, 2}},
  };
  for (const Row& row : rows) {
    s->Image(
        "conv2d", row.channels, row.size, [&](NetBuilder* b, graph::ValueRef x) { return b->Conv(x, row.spec); },
        row.batch);
  }
}

void AddProducts(Subjects* s) {
  const auto linear = [&](graph::Shape shape, int64_t out) {
    s->Tensor("linear", std::move(shape), [&](NetBuilder* b, graph::ValueRef x) { return b->Linear(x, out); });
  };
  linear({1, 512}, 1000);
  linear({1, 2048}, 1000);
  linear({1, 4096}, 4096);
  linear({1, 25088}, 4096);
  linear({1, 197, 768}, 3072);
  linear({16, 256}, 256);
  s->Tensor("matmul", {1, 12, 197, 64}, [](NetBuilder* b, graph::ValueRef x) {
    return b->Call(graph::Op::matmul, {}, {x, b->Input({1, 12, 64, 197})});
  });
  s->Tensor("bmm", {8, 128, 64}, [](NetBuilder* b, graph::ValueRef x) {
    return b->Call(graph::Op::bmm, {}, {x, b->Input({8, 64, 128})});
  });
}

void AddNormsAndActivations(Subjects* s) {
  const auto norm = [](NetBuilder* b, graph::ValueRef x) { return b->BatchNorm(x); };
  s->Image("batch_norm", 64, 112, norm);
  s->Image("batch_norm", 256, 56, norm);
  s->Image("batch_norm", 1024, 14, norm);
  s->Image("batch_norm", 512, 7, norm);
  s->Tensor("layer_norm", {1, 197, 768}, [](NetBuilder* b, graph::ValueRef x) { return b->LayerNorm(x); });
  const auto relu = [](NetBuilder* b, graph::ValueRef x) { return b->Relu(x); };
  s->Image("relu", 64, 112, relu);
  s->Image("relu", 256, 56, relu);
  s->Image("relu", 512, 7, relu);
  s->Image("relu", 128, 28, [](NetBuilder* b, graph::ValueRef x) { return b->Relu(x, /*inplace=*/false); });
  s->Image("hardtanh", 96, 112, [](NetBuilder* b, graph::ValueRef x) { return b->Relu6(x); });
  const auto plain = [&](const char* label, graph::Op op, int64_t channels, int64_t size) {
    s->Image(label, channels, size, [op](NetBuilder* b, graph::ValueRef x) { return b->Call(op, {}, {x}); });
  };
  plain("silu", graph::Op::silu, 96, 56);
  plain("hardswish", graph::Op::hardswish, 64, 56);
  plain("sigmoid", graph::Op::sigmoid, 256, 14);
  s->Tensor("gelu", {1, 197, 3072}, [](NetBuilder* b, graph::ValueRef x) {
    return b->Call(graph::Op::gelu, {{"approximate", std::string("none")}}, {x});
  });
  s->Tensor("softmax", {1, 12, 197, 197}, [](NetBuilder* b, graph::ValueRef x) {
    return b->Call(graph::Op::softmax, {{"dim", int64_t{-1}}}, {x});
  });
}

void AddMemory(Subjects* s) {
  const auto add = [](bool inplace) {
    return [inplace](NetBuilder* b, graph::ValueRef x) { return b->Add(x, b->Input(b->ShapeOf(x)), inplace); };
  };
  s->Image("add", 256, 56, add(true));
  s->Image("add", 512, 7, add(true));
  s->Image("add", 64, 112, add(false));
  s->Image("mul", 96, 28, [](NetBuilder* b, graph::ValueRef x) {
    return b->Call(graph::Op::mul, {}, {b->Input({1, 96, 1, 1}), x});
  });
  s->Image("max_pool2d", 64, 112, [](NetBuilder* b, graph::ValueRef x) { return b->MaxPool(x, 3, 2, 1); });
  s->Image("max_pool2d", 128, 56, [](NetBuilder* b, graph::ValueRef x) { return b->MaxPool(x, 2, 2); });
  s->Image("avg_pool2d", 256, 28, [](NetBuilder* b, graph::ValueRef x) { return b->AvgPool(x, 2, 2); });
  s->Image("adaptive_avg_pool2d", 512, 7, [](NetBuilder* b, graph::ValueRef x) { return b->AdaptiveAvgPool(x, 1); });
  s->Image("adaptive_avg_pool2d", 2048, 7, [](NetBuilder* b, graph::ValueRef x) { return b->AdaptiveAvgPool(x, 1); });
  s->Image("cat", 128, 28, [](NetBuilder* b, graph::ValueRef x) { return b->Cat({x, b->Input({1, 128, 28, 28})}); });
  s->Image("cat", 64, 56, [](NetBuilder* b, graph::ValueRef x) {
    return b->Cat({x, b->Input({1, 32, 56, 56}), b->Input({1, 32, 56, 56}), b->Input({1, 32, 56, 56})});
  });
  s->Image("interpolate", 64, 28, [](NetBuilder* b, graph::ValueRef x) {
    return b->Call(graph::Op::interpolate, {{"size", Ints{56, 56}}, {"mode", std::string("nearest")}}, {x});
  });
  s->Image("mean", 512, 7, [](NetBuilder* b, graph::ValueRef x) {
    return b->Call(graph::Op::mean, {{"dim", Ints{2, 3}}, {"keepdim", false}}, {x});
  });
  s->Image("flatten", 512, 1, [](NetBuilder* b, graph::ValueRef x) { return b->Flatten(x); });
}

graph::ValueRef SmallResNet(NetBuilder* b, graph::ValueRef x) {
  x = b->MaxPool(b->ConvBnRelu(x, {64, 7, 2, 3}), 3, 2, 1);
  const ResNetConfig config;
  for (int64_t stage = 0; stage < 4; ++stage) x = ResidualBlock(b, x, config, int64_t{64} << stage, stage == 0 ? 1 : 2);
  return b->Linear(b->Flatten(b->AdaptiveAvgPool(x, 1)), 100);
}

graph::ValueRef SmallMobileNet(NetBuilder* b, graph::ValueRef x) {
  Mobile config;
  config.activation = 1;
  x = Activate(b, b->ConvBn(x, {32, 3, 2, 1}), config.activation);
  x = InvertedResidual(b, x, config, 16, 1, 3, 1);
  const int64_t widths[] = {24, 32, 64, 96};
  for (int64_t width : widths) {
    x = InvertedResidual(b, x, config, width, 2, 3, 6);
    x = InvertedResidual(b, x, config, width, 1, 3, 6);
  }
  x = Activate(b, b->ConvBn(x, {640, 1}), config.activation);
  return b->Linear(b->Dropout(b->Flatten(b->AdaptiveAvgPool(x, 1)), 0.2), 100);
}

graph::ValueRef SmallVgg(NetBuilder* b, graph::ValueRef x) {
  for (int64_t width : {64, 128, 256, 512}) {
    x = b->Relu(b->Conv(x, {width, 3, 1, 1, 1, 1, true}));
    if (width >= 256) x = b->Relu(b->Conv(x, {width, 3, 1, 1, 1, 1, true}));
    x = b->MaxPool(x, 2, 2);
  }
  x = b->Flatten(b->AdaptiveAvgPool(x, 4));
  return b->Linear(b->Dropout(b->Relu(b->Linear(x, 2048)), 0.5), 100);
}

}  // namespace

std::vector<Sample> ProbeSubjects() {
  Subjects subjects;
  AddConvolutions(&subjects);
  AddProducts(&subjects);
  AddNormsAndActivations(&subjects);
  AddMemory(&subjects);
  subjects.Network("resnet", 192, SmallResNet);
  subjects.Network("mobilenet", 192, SmallMobileNet);
  subjects.Network("vgg", 128, SmallVgg);
  return std::move(subjects).Take();
}

absl::StatusOr<std::string> RunProbe(int core, const Execution& execution,
                                     const std::function<void(int, int, absl::string_view)>& progress) {
  using Json = nlohmann::ordered_json;
  GroupRunnerOptions options;
  options.core = core;
  options.execution = execution;
  options.layer_rules = options.network_rules = ProbeRules;
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<GroupRunner> runner, GroupRunner::Create(options));
  const std::vector<Sample> subjects = ProbeSubjects();
  const size_t total = subjects.size();
  Json records = Json::array();
  size_t failed = 0;
  for (size_t begin = 0; begin < total; begin += kSubjectsPerCanary) {
    std::vector<GroupTask> tasks;
    for (size_t i = begin; i < std::min(begin + kSubjectsPerCanary, total); ++i) {
      tasks.push_back({[&subjects, i]() -> absl::StatusOr<Sample> { return subjects[i]; }, /*seed=*/1, nullptr});
    }
    COBRA_ASSIGN_OR_RETURN(const std::vector<std::optional<store::Record>> measured, runner->Run(tasks));
    for (size_t k = 0; k < measured.size(); ++k) {
      const Sample& subject = subjects[begin + k];
      const std::optional<store::Record>& record = measured[k];
      if (record && record->outcome == store::Outcome::ok) {
        records.push_back({{"graph", Json::parse(record->graph_json)},
                           {"is_network", subject.is_network},
                           {"label", subject.label},
                           {"latency_us", record->latency.median_us}});
      } else {
        ++failed;
      }
      progress(static_cast<int>(begin + k) + 1, static_cast<int>(total), subject.label);
    }
  }
  if (failed * 4 > total) {
    return absl::UnavailableError(
        absl::StrCat("probe: ", failed, " of ", total, " measurements failed on this machine"));
  }
  predict::TargetSpec machine = runner->machine();
  machine.name = "this-machine";
  Json j;
  j["machine"] = Json::parse(predict::TargetSpecToJson(machine));
  j["records"] = std::move(records);
  const CanaryRatios worst = WorstRatios(runner->canaries(), MedianCanary(runner->canaries()));
  j["canary"] = {{"compute_ratio", worst.compute},
                 {"copy_ratio", worst.copy},
                 {"disturbed", IsDisturbed(worst)},
                 {"load", LoadAverage()}};
  return j.dump();
}

}  // namespace cobra::worker
