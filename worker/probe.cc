#include "worker/probe.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status_macros.h"
#include "graph/json.h"
#include "graph/net_builder.h"
#include "nlohmann/json.hpp"
#include "store/measurement_json.h"
#include "worker/blocks.h"
#include "worker/group_runner.h"
#include "worker/machine.h"
#include "worker/measure.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;
using Json = nlohmann::ordered_json;

constexpr size_t kSubjectsPerCanary = 8;  // about five seconds

// Layers and networks, each made by a function (NetBuilder*, ValueRef input) -> ValueRef output.
class Subjects {
 public:
  // One layer on an image of `channels` x `size` x `size`.
  template <typename Make>
  void Image(const char* label, int64_t channels, int64_t size, Make make, int64_t batch = 1) {
    Add(label, false, {batch, channels, size, size}, make);
  }
  template <typename Make>
  void Tensor(const char* label, graph::Shape shape, Make make) {
    Add(label, false, std::move(shape), make);
  }
  template <typename Make>
  void Network(const char* label, int64_t size, Make make) {
    Add(label, true, {1, 3, size, size}, make);
  }
  std::vector<Sample> Take() && { return std::move(samples_); }

 private:
  template <typename Make>
  void Add(const char* label, bool is_network, graph::Shape input, Make make) {
    graph::NetBuilder builder;
    const graph::ValueRef output = make(&builder, builder.Input(std::move(input)));
    absl::StatusOr<graph::Graph> graph = std::move(builder).Finish({output});
    if (graph.ok()) samples_.push_back({is_network, label, *std::move(graph)});
  }
  std::vector<Sample> samples_;
};

void AddConvolutions(Subjects* s) {
  struct Row {
    int64_t channels, size;
    graph::Conv2dOptions conv;
    int64_t batch = 1;
  };
  const Row rows[] = {
      {.channels = 3, .size = 224, .conv = {.out_channels = 64, .kernel_size = 7, .stride = 2, .padding = 3}},
      {.channels = 3, .size = 224, .conv = {.out_channels = 32, .kernel_size = 3, .stride = 2, .padding = 1}},
      {.channels = 64, .size = 224, .conv = {.out_channels = 64, .kernel_size = 3, .padding = 1, .bias = true}},
      {.channels = 64, .size = 56, .conv = {.out_channels = 64, .kernel_size = 3, .padding = 1}},
      {.channels = 128, .size = 28, .conv = {.out_channels = 128, .kernel_size = 3, .padding = 1}},
      {.channels = 256, .size = 14, .conv = {.out_channels = 256, .kernel_size = 3, .padding = 1}},
      {.channels = 512, .size = 7, .conv = {.out_channels = 512, .kernel_size = 3, .padding = 1}},
      {.channels = 64, .size = 56, .conv = {.out_channels = 128, .kernel_size = 3, .stride = 2, .padding = 1}},
      {.channels = 256, .size = 56, .conv = {.out_channels = 256, .kernel_size = 3, .padding = 1, .bias = true}},
      {.channels = 128, .size = 28, .conv = {.out_channels = 32, .kernel_size = 3, .padding = 1}},
      {.channels = 64, .size = 28, .conv = {.out_channels = 64, .kernel_size = 3, .padding = 1}, .batch = 4},
      {.channels = 64, .size = 56, .conv = {.out_channels = 256, .kernel_size = 1}},
      {.channels = 256, .size = 56, .conv = {.out_channels = 64, .kernel_size = 1}},
      {.channels = 256, .size = 14, .conv = {.out_channels = 1024, .kernel_size = 1}},
      {.channels = 1024, .size = 14, .conv = {.out_channels = 256, .kernel_size = 1}},
      {.channels = 2048, .size = 7, .conv = {.out_channels = 512, .kernel_size = 1}},
      {.channels = 256, .size = 56, .conv = {.out_channels = 512, .kernel_size = 1, .stride = 2}},
      {.channels = 32, .size = 28, .conv = {.out_channels = 192, .kernel_size = 1}},
      {.channels = 320, .size = 7, .conv = {.out_channels = 1280, .kernel_size = 1}},
      {.channels = 32, .size = 112, .conv = {.out_channels = 32, .kernel_size = 3, .padding = 1, .groups = 32}},
      {.channels = 96,
       .size = 112,
       .conv = {.out_channels = 96, .kernel_size = 3, .stride = 2, .padding = 1, .groups = 96}},
      {.channels = 192, .size = 28, .conv = {.out_channels = 192, .kernel_size = 3, .padding = 1, .groups = 192}},
      {.channels = 576, .size = 14, .conv = {.out_channels = 576, .kernel_size = 3, .padding = 1, .groups = 576}},
      {.channels = 960, .size = 7, .conv = {.out_channels = 960, .kernel_size = 3, .padding = 1, .groups = 960}},
      {.channels = 240, .size = 14, .conv = {.out_channels = 240, .kernel_size = 5, .padding = 2, .groups = 240}},
      {.channels = 128, .size = 56, .conv = {.out_channels = 128, .kernel_size = 3, .padding = 1, .groups = 32}},
      {.channels = 64, .size = 28, .conv = {.out_channels = 64, .kernel_size = 3, .padding = 2, .dilation = 2}},
  };
  for (const Row& row : rows) {
    s->Image(
        "conv2d", row.channels, row.size,
        [&](graph::NetBuilder* b, graph::ValueRef x) { return b->Conv2d(x, row.conv); }, row.batch);
  }
}

void AddProducts(Subjects* s) {
  const auto linear = [&](graph::Shape shape, int64_t out) {
    s->Tensor("linear", std::move(shape), [&](graph::NetBuilder* b, graph::ValueRef x) { return b->Linear(x, out); });
  };
  linear({1, 512}, 1000);
  linear({1, 2048}, 1000);
  linear({1, 4096}, 4096);
  linear({1, 25088}, 4096);
  linear({1, 197, 768}, 3072);
  linear({16, 256}, 256);
  s->Tensor("matmul", {1, 12, 197, 64}, [](graph::NetBuilder* b, graph::ValueRef x) {
    return b->Call(graph::Op::matmul, {}, {x, b->Input({1, 12, 64, 197})});
  });
  s->Tensor("bmm", {8, 128, 64}, [](graph::NetBuilder* b, graph::ValueRef x) {
    return b->Call(graph::Op::bmm, {}, {x, b->Input({8, 64, 128})});
  });
}

void AddNormsAndActivations(Subjects* s) {
  const auto norm = [](graph::NetBuilder* b, graph::ValueRef x) { return b->BatchNorm2d(x); };
  s->Image("batch_norm", 64, 112, norm);
  s->Image("batch_norm", 256, 56, norm);
  s->Image("batch_norm", 1024, 14, norm);
  s->Image("batch_norm", 512, 7, norm);
  s->Tensor("layer_norm", {1, 197, 768}, [](graph::NetBuilder* b, graph::ValueRef x) { return b->LayerNorm(x); });
  const auto relu = [](graph::NetBuilder* b, graph::ValueRef x) { return b->ReluInPlace(x); };
  s->Image("relu", 64, 112, relu);
  s->Image("relu", 256, 56, relu);
  s->Image("relu", 512, 7, relu);
  s->Image("relu", 128, 28, [](graph::NetBuilder* b, graph::ValueRef x) { return b->Relu(x); });
  s->Image("hardtanh", 96, 112, [](graph::NetBuilder* b, graph::ValueRef x) { return b->Relu6InPlace(x); });
  const auto plain = [&](const char* label, graph::Op op, int64_t channels, int64_t size) {
    s->Image(label, channels, size, [op](graph::NetBuilder* b, graph::ValueRef x) { return b->Call(op, {}, {x}); });
  };
  plain("silu", graph::Op::silu, 96, 56);
  plain("hardswish", graph::Op::hardswish, 64, 56);
  plain("sigmoid", graph::Op::sigmoid, 256, 14);
  s->Tensor("gelu", {1, 197, 3072}, [](graph::NetBuilder* b, graph::ValueRef x) {
    return b->Call(graph::Op::gelu, {{"approximate", std::string("none")}}, {x});
  });
  s->Tensor("softmax", {1, 12, 197, 197}, [](graph::NetBuilder* b, graph::ValueRef x) {
    return b->Call(graph::Op::softmax, {{"dim", int64_t{-1}}}, {x});
  });
}

void AddMemory(Subjects* s) {
  const auto add = [](bool inplace) {
    return [inplace](graph::NetBuilder* b, graph::ValueRef x) {
      const graph::ValueRef y = b->Input(b->ShapeOf(x));
      return inplace ? b->AddInPlace(x, y) : b->Add(x, y);
    };
  };
  s->Image("add", 256, 56, add(true));
  s->Image("add", 512, 7, add(true));
  s->Image("add", 64, 112, add(false));
  s->Image("mul", 96, 28, [](graph::NetBuilder* b, graph::ValueRef x) {
    return b->Call(graph::Op::mul, {}, {b->Input({1, 96, 1, 1}), x});
  });
  s->Image("max_pool2d", 64, 112, [](graph::NetBuilder* b, graph::ValueRef x) {
    return b->MaxPool2d(x, {.kernel_size = 3, .stride = 2, .padding = 1});
  });
  s->Image("max_pool2d", 128, 56,
           [](graph::NetBuilder* b, graph::ValueRef x) { return b->MaxPool2d(x, {.kernel_size = 2, .stride = 2}); });
  s->Image("avg_pool2d", 256, 28,
           [](graph::NetBuilder* b, graph::ValueRef x) { return b->AvgPool2d(x, {.kernel_size = 2, .stride = 2}); });
  s->Image("adaptive_avg_pool2d", 512, 7,
           [](graph::NetBuilder* b, graph::ValueRef x) { return b->AdaptiveAvgPool2d(x, 1); });
  s->Image("adaptive_avg_pool2d", 2048, 7,
           [](graph::NetBuilder* b, graph::ValueRef x) { return b->AdaptiveAvgPool2d(x, 1); });
  s->Image("cat", 128, 28, [](graph::NetBuilder* b, graph::ValueRef x) {
    return b->Cat({x, b->Input({1, 128, 28, 28})}, 1);
  });
  s->Image("cat", 64, 56, [](graph::NetBuilder* b, graph::ValueRef x) {
    return b->Cat({x, b->Input({1, 32, 56, 56}), b->Input({1, 32, 56, 56}), b->Input({1, 32, 56, 56})}, 1);
  });
  s->Image("interpolate", 64, 28, [](graph::NetBuilder* b, graph::ValueRef x) {
    return b->Call(graph::Op::interpolate, {{"size", Ints{56, 56}}, {"mode", std::string("nearest")}}, {x});
  });
  s->Image("mean", 512, 7, [](graph::NetBuilder* b, graph::ValueRef x) {
    return b->Call(graph::Op::mean, {{"dim", Ints{2, 3}}, {"keepdim", false}}, {x});
  });
  s->Image("flatten", 512, 1, [](graph::NetBuilder* b, graph::ValueRef x) { return b->Flatten(x); });
}

graph::ValueRef SmallResNet(graph::NetBuilder* b, graph::ValueRef x) {
  x = b->MaxPool2d(b->ConvBnRelu(x, {.out_channels = 64, .kernel_size = 7, .stride = 2, .padding = 3}),
                   {.kernel_size = 3, .stride = 2, .padding = 1});
  const ResNetConfig config;
  for (int64_t stage = 0; stage < 4; ++stage) x = ResidualBlock(b, x, config, int64_t{64} << stage, stage == 0 ? 1 : 2);
  return b->Linear(b->Flatten(b->AdaptiveAvgPool2d(x, 1)), 100);
}

graph::ValueRef SmallMobileNet(graph::NetBuilder* b, graph::ValueRef x) {
  Mobile config;
  config.activation = 1;
  x = Activate(b, b->ConvBn(x, {.out_channels = 32, .kernel_size = 3, .stride = 2, .padding = 1}), config.activation);
  x = InvertedResidual(b, x, config, 16, 1, 3, 1);
  const int64_t widths[] = {24, 32, 64, 96};
  for (int64_t width : widths) {
    x = InvertedResidual(b, x, config, width, 2, 3, 6);
    x = InvertedResidual(b, x, config, width, 1, 3, 6);
  }
  x = Activate(b, b->ConvBn(x, {.out_channels = 640, .kernel_size = 1}), config.activation);
  return b->Linear(b->Dropout(b->Flatten(b->AdaptiveAvgPool2d(x, 1)), 0.2), 100);
}

graph::ValueRef SmallVgg(graph::NetBuilder* b, graph::ValueRef x) {
  for (int64_t width : {64, 128, 256, 512}) {
    x = b->ReluInPlace(b->Conv2d(x, {.out_channels = width, .kernel_size = 3, .padding = 1, .bias = true}));
    if (width >= 256)
      x = b->ReluInPlace(b->Conv2d(x, {.out_channels = width, .kernel_size = 3, .padding = 1, .bias = true}));
    x = b->MaxPool2d(x, {.kernel_size = 2, .stride = 2});
  }
  x = b->Flatten(b->AdaptiveAvgPool2d(x, 4));
  return b->Linear(b->Dropout(b->ReluInPlace(b->Linear(x, 2048)), 0.5), 100);
}

// Random members of families of real networks, one of each: what layers alone do not show is that of all of them. Small
// ones, a second each.
std::vector<Sample> OneOfEachFamily() {
  constexpr int64_t kTries = 400;
  SamplerOptions options;
  options.seed = 20261123;
  options.caps.network_macs = 2'000'000'000;
  const std::unique_ptr<Sampler> sampler = MakeRealNetworkSampler(options);
  std::map<std::string, Sample> by_family;
  for (int64_t i = 0; i < kTries; ++i) {
    absl::StatusOr<Sample> sample = sampler->At(i);
    if (sample.ok()) by_family.try_emplace(sample->label, *std::move(sample));
  }
  std::vector<Sample> networks;
  for (auto& [family, sample] : by_family) networks.push_back(std::move(sample));
  return networks;
}

// Measures the records of a probe; Unavailable if more than a quarter of the measurements failed.
absl::StatusOr<Json> MeasureSubjects(const std::vector<Sample>& subjects, GroupRunner* runner,
                                     const std::function<void(int, int, absl::string_view)>& progress) {
  const size_t total = subjects.size();
  Json records = Json::array();
  size_t failed = 0;
  for (size_t begin = 0; begin < total; begin += kSubjectsPerCanary) {
    std::vector<GroupTask> tasks;
    for (size_t i = begin; i < std::min(begin + kSubjectsPerCanary, total); ++i) {
      tasks.push_back({[&subjects, i]() -> absl::StatusOr<Sample> { return subjects[i]; }, /*seed=*/1, nullptr});
    }
    COBRA_ASSIGN_OR_RETURN(const std::vector<std::optional<store::Measurement>> measured, runner->Run(tasks));
    for (size_t k = 0; k < measured.size(); ++k) {
      if (measured[k] && measured[k]->outcome == store::Outcome::ok) {
        records.push_back(store::FieldsToJson(
            *measured[k], {"graph", "is_network", "label", "latency_us", "quiet_us", "quiet_runs", "node_latency_us"}));
      } else {
        ++failed;
      }
      progress(static_cast<int>(begin + k) + 1, static_cast<int>(total), subjects[begin + k].label);
    }
  }
  if (failed * 4 <= total) return records;
  return absl::UnavailableError(absl::StrCat("probe: ", failed, " of ", total, " measurements failed on this machine"));
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
  std::vector<Sample> all = std::move(subjects).Take();
  for (Sample& network : OneOfEachFamily()) all.push_back(std::move(network));
  return all;
}

absl::StatusOr<std::string> RunProbe(GroupRunnerOptions options,
                                     const std::function<void(int, int, absl::string_view)>& progress) {
  options.layer_rules = options.network_rules = ProbeRules;
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<GroupRunner> runner, GroupRunner::Create(options));
  COBRA_ASSIGN_OR_RETURN(Json records, MeasureSubjects(ProbeSubjects(), runner.get(), progress));
  predict::TargetSpec machine = runner->machine();
  machine.name = "this-machine";
  Json j;
  j["machine"] = ParseJson<Json>(predict::TargetSpecToJson(machine));
  j["records"] = std::move(records);
  const CanaryRatios worst = WorstRatios(runner->canaries(), MedianCanary(runner->canaries()));
  j["canary"] = {{"compute_ratio", worst.compute},
                 {"copy_ratio", worst.copy},
                 {"disturbed", IsDisturbed(worst)},
                 {"load", LoadAverage()}};
  return j.dump();
}

}  // namespace cobra::worker
