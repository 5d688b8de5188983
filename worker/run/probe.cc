#include "worker/run/probe.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/names.h"
#include "base/status_macros.h"
#include "graph/builder/net_builder.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "model/predict/target/probe_design.h"
#include "nlohmann/json.hpp"
#include "store/measurement_json.h"
#include "worker/machine/machine.h"
#include "worker/run/group_runner.h"
#include "worker/run/measure.h"
#include "worker/sample/blocks.h"

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

// Random members of families of real networks. Small ones, a second each.
std::vector<Sample> NetworkPool() {
  constexpr int64_t kTries = 400;
  SamplerOptions options;
  options.seed = 20261123;
  options.caps.network_macs = 2'000'000'000;
  const std::unique_ptr<Sampler> sampler = MakeRealNetworkSampler(options);
  std::vector<Sample> pool;
  for (int64_t i = 0; i < kTries; ++i) {
    absl::StatusOr<Sample> sample = sampler->At(i);
    if (sample.ok()) pool.push_back(*std::move(sample));
  }
  return pool;
}

// One of each family: what layers alone do not show is that of all of them.
std::vector<Sample> OneOfEachFamily() {
  std::map<std::string, Sample> by_family;
  for (Sample& sample : NetworkPool()) by_family.try_emplace(sample.label, std::move(sample));
  std::vector<Sample> networks;
  for (auto& [family, sample] : by_family) networks.push_back(std::move(sample));
  return networks;
}

// The others of the pool, those first that tell most about networks.
std::vector<Sample> MoreNetworks(const std::vector<Sample>& known) {
  absl::flat_hash_set<Hash128> seen;
  for (const Sample& sample : known) seen.insert(graph::Fingerprint(sample.graph));
  std::vector<Sample> pool, ordered;
  for (Sample& sample : NetworkPool()) {
    if (seen.insert(graph::Fingerprint(sample.graph)).second) pool.push_back(std::move(sample));
  }
  std::vector<const graph::Graph*> graphs;
  for (const Sample& sample : pool) graphs.push_back(&sample.graph);
  for (const size_t i : predict::DesignProbe(graphs, pool.size())) ordered.push_back(std::move(pool[i]));
  return ordered;
}

// "linear: timeout: ..."
std::string FailureText(const Sample& sample, const std::optional<store::Measurement>& measured) {
  if (!measured) return absl::StrCat(sample.label, ": was left out");
  return absl::StrCat(sample.label, ": ", store::OutcomeName(measured->outcome), ": ", measured->message);
}

// The measurements of a probe, which grow as long as there is time.
class Probe {
 public:
  Probe(GroupRunner* runner, const ProbeProgress& progress) : runner_(runner), progress_(progress) {}

  // The fixed part, whatever time it takes; Unavailable if more than a quarter of its measurements
  // failed.
  absl::Status MeasureFixed() {
    subjects_ = ProbeSubjects();
    fixed_ = subjects_.size();
    for (size_t begin = 0; begin < fixed_; begin += kSubjectsPerCanary)
      COBRA_RETURN_IF_ERROR(Measure(begin, std::min(begin + kSubjectsPerCanary, fixed_)));
    size_t failed = 0;
    for (const auto& measured : best_) failed += !measured;
    if (failed * 4 <= fixed_) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat("probe: ", failed, " of ", fixed_,
                                               " measurements failed on this machine; the last one: ", last_failure_));
  }

  // Until `end`: networks, and after two groups of them one of the fixed part again, so that a
  // neighbour who disturbed it once does not count.
  absl::Status MeasureMore(absl::Time end) {
    size_t again = 0;
    std::vector<Sample> more;
    if (absl::Now() + longest_group_ < end) more = MoreNetworks(subjects_);
    for (size_t taken = 0, group = 0; absl::Now() + longest_group_ < end; ++group) {
      if (group % 3 == 2 || taken == more.size()) {
        COBRA_RETURN_IF_ERROR(Measure(again, std::min(again + kSubjectsPerCanary, fixed_)));
        again = again + kSubjectsPerCanary < fixed_ ? again + kSubjectsPerCanary : 0;
        continue;
      }
      const size_t begin = subjects_.size();
      for (; subjects_.size() < begin + kSubjectsPerCanary && taken < more.size(); ++taken)
        subjects_.push_back(std::move(more[taken]));
      COBRA_RETURN_IF_ERROR(Measure(begin, subjects_.size()));
    }
    return absl::OkStatus();
  }

  // Of each timing of a network: its median over the least that the network was known to take
  // undisturbed.
  std::vector<double> Disturbance() const {
    std::vector<double> ratios;
    for (size_t i = 0; i < best_.size(); ++i) {
      if (!best_[i] || !best_[i]->subject.is_network || best_[i]->latency.quiet_us <= 0) continue;
      for (const double median_us : medians_us_[i])
        ratios.push_back(std::round(1e4 * median_us / best_[i]->undisturbed_us()) / 1e4);
    }
    return ratios;
  }

  // A JSON array.
  std::string Records() const {
    std::string records;
    for (const std::optional<store::Measurement>& measured : best_) {
      if (!measured) continue;
      absl::StrAppend(&records, records.empty() ? "" : ",",
                      store::FieldsToJson(*measured, {"graph", "is_network", "label", "latency_us", "quiet_us",
                                                      "quiet_runs", "node_latency_us", "profile"}));
    }
    return absl::StrCat("[", records, "]");
  }

 private:
  // Of a subject that is measured again the less disturbed measurement stays.
  absl::Status Measure(size_t begin, size_t end) {
    const absl::Time start = absl::Now();
    std::vector<GroupTask> tasks;
    for (size_t i = begin; i < end; ++i)
      tasks.push_back({[this, i]() -> absl::StatusOr<Sample> { return subjects_[i]; }, /*seed=*/1, nullptr});
    COBRA_ASSIGN_OR_RETURN(std::vector<std::optional<store::Measurement>> measured, runner_->Run(tasks));
    best_.resize(subjects_.size());
    medians_us_.resize(subjects_.size());
    for (size_t k = 0; k < measured.size(); ++k) {
      std::optional<store::Measurement>& best = best_[begin + k];
      const bool is_ok = measured[k] && measured[k]->outcome == store::Outcome::ok;
      if (is_ok) medians_us_[begin + k].push_back(measured[k]->latency.median_us);
      if (is_ok && (!best || measured[k]->undisturbed_us() < best->undisturbed_us())) best = std::move(measured[k]);
      if (!is_ok) last_failure_ = FailureText(subjects_[begin + k], measured[k]);
      progress_(++done_, static_cast<int>(subjects_.size()), subjects_[begin + k].label);
    }
    longest_group_ = std::max(longest_group_, absl::Now() - start);
    return absl::OkStatus();
  }

  GroupRunner* const runner_;
  const ProbeProgress& progress_;
  std::vector<Sample> subjects_;
  std::vector<std::optional<store::Measurement>> best_;  // of each subject
  std::vector<std::vector<double>> medians_us_;          // likewise, of each measurement
  std::string last_failure_;
  size_t fixed_ = 0;
  int done_ = 0;
  absl::Duration longest_group_ = absl::ZeroDuration();
};

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

absl::StatusOr<std::string> RunProbe(GroupRunnerOptions options, absl::Duration budget, const ProbeProgress& progress) {
  const absl::Time end = absl::Now() + budget;
  options.layer_rules = options.network_rules = ProbeRules;
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<GroupRunner> runner, GroupRunner::Create(options));
  Probe probe(runner.get(), progress);
  COBRA_RETURN_IF_ERROR(probe.MeasureFixed());
  COBRA_RETURN_IF_ERROR(probe.MeasureMore(end));
  predict::TargetSpec machine = runner->machine();
  machine.name = kThisMachine;
  const CanaryRatios worst = WorstRatios(runner->canaries(), MedianCanary(runner->canaries()));
  Json j;
  j["canary"] = {{"compute_ratio", worst.compute},
                 {"copy_ratio", worst.copy},
                 {"disturbed", IsDisturbed(worst)},
                 {"load", LoadAverage()}};
  if (const std::vector<double> ratios = probe.Disturbance(); !ratios.empty()) j["disturbance"] = {{"ratios", ratios}};
  return absl::StrCat("{\"machine\":", predict::TargetSpecToJson(machine), ",\"records\":", probe.Records(), ",",
                      j.dump().substr(1));
}

}  // namespace cobra::worker
