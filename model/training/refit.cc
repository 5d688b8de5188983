#include "model/training/refit.h"

#include <torch/types.h>

// This header needs the names of torch/types.h.
#include <time.h>
#include <torch/nn/utils/clip_grad.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/text/utc_text.h"
#include "graph/builder/builder.h"
#include "model/net/threads.h"
#include "model/predict/weights/bundle.h"
#include "model/predict/work/features.h"
#include "model/training/batch.h"
#include "model/training/earlier_weights.h"
#include "model/training/first_prices.h"
#include "model/training/optimizer.h"

namespace cobra::training {
namespace {

constexpr double kWarmup = 0.05;  // of the time budget

// Known networks that a new layer is put into.
constexpr size_t kContexts = 4;

// The calls of `network` and, beside them, those of `layer`; takes what both take. What a network
// makes of a kind of layer nothing says before such a network is measured, and single layers of it
// may teach too much or too little.
absl::StatusOr<Sample> Beside(const Sample& network, const Sample& layer) {
  graph::GraphBuilder builder;
  std::vector<graph::ValueRef> outputs;
  for (const graph::Graph* each : {&network.graph(), &layer.graph()}) {
    const absl::string_view path = each == &layer.graph() ? "beside." : "";
    graph::ValueRefs inputs;
    for (const graph::NamedTensor& input : each->inputs())
      inputs.push_back(builder.AddInput(absl::StrCat(path, input.name), input.type));
    COBRA_ASSIGN_OR_RETURN(const std::vector<graph::ValueRef> added, builder.Append(*each, inputs, path));
    outputs.insert(outputs.end(), added.begin(), added.end());
  }
  Sample both{network.measurement};
  both.measurement.subject.graph = std::move(builder).Build(std::move(outputs));
  both.measurement.latency.median_us = network.latency_us() + layer.latency_us();
  both.measurement.latency.quiet_us = 0;
  return both;
}

// CPU time of this process: on a busy machine a refit then takes longer instead of training less.
double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class RefitRun {
 public:
  // `target`: of the rows, in the version.
  RefitRun(predict::ModelBundle bundle, int target, const Dataset& known, const Dataset& fresh,
           const RefitOptions& options)
      : options_(options), target_(target), random_(options.seed), earlier_(bundle), bundle_(std::move(bundle)) {
    Place(known, &known_layers_, &known_networks_);
    first_fresh_ = samples_.size();
    Place(fresh, &fresh_layers_, &fresh_networks_);
    PutBesideNetworks();
    const std::vector<const Sample*> fresh_samples(samples_.begin() + static_cast<std::ptrdiff_t>(first_fresh_),
                                                   samples_.end());
    predict::Manifest& m = bundle_.manifest;
    known_words_ = bundle_.vocabulary.size();
    ExtendVocabulary(fresh_samples, text::SplitText, &bundle_.vocabulary, &m.value_ranges);
    m.vocabulary = bundle_.vocabulary.words();
    m.net.vocabulary_size = bundle_.vocabulary.size();
    m.layers_trained += static_cast<int64_t>(fresh_layers_.size());
    const size_t fresh_networks = fresh_networks_.size() - beside_.size();
    m.networks_trained += static_cast<int64_t>(fresh_networks);
    m.trained_at = UtcText(absl::Now());
    m.training_notes.push_back(absl::StrCat("refitted on ", fresh_layers_.size(), " layers and ", fresh_networks,
                                            " networks, ", bundle_.vocabulary.size() - known_words_, " new words"));
    LogInfo(m.training_notes.back());
    texts_ = std::make_unique<TextTable>(samples_, bundle_.vocabulary);
  }

  absl::Status Run(absl::string_view directory) {
    COBRA_RETURN_IF_ERROR(StartFromEarlier());
    torch::optim::AdamW optimizer =
        MakeOptimizer(bundle_.net->parameters(), options_.learning_rate, options_.weight_decay);
    const double start = ProcessorSeconds();
    const bool holds_prices = HoldsPrices(*bundle_.net);
    bundle_.net->train();
    double progress = 0;
    int step = 0;
    for (; progress < 1; ++step) {
      const double seconds = ProcessorSeconds() - start;
      progress = std::max(seconds / options_.seconds, static_cast<double>(step) / options_.max_steps);
      SetLearningRate(&optimizer, options_.learning_rate, std::min(1.0, progress), kWarmup);
      optimizer.zero_grad();
      const at::Tensor loss = NewLoss() + OtherTargetsLoss();
      const double value = loss.item<double>();
      if (!std::isfinite(value)) return absl::InternalError("refit: the loss is not finite");
      loss.backward();
      torch::nn::utils::clip_grad_norm_(bundle_.net->parameters(), options_.gradient_clip);
      optimizer.step();
      if (holds_prices) HoldPrices(bundle_.net.get());
      average_->Update(step);
      if (step % 50 == 0) LogInfo(absl::StrFormat("refit step %d, %.0f s: loss %.4f", step, seconds, value));
    }
    average_->Swap();
    bundle_.net->eval();
    return predict::SaveBundle(bundle_, directory);
  }

 private:
  void Place(const Dataset& data, std::vector<size_t>* layers, std::vector<size_t>* networks) {
    for (const Sample& s : data.samples) {
      if (s.split != Split::kTrain) continue;
      (s.is_network() ? networks : layers)->push_back(samples_.size());
      samples_.push_back(&s);
    }
  }

  // New layers of operators that no network of this target has, beside known networks that take
  // less than they do.
  void PutBesideNetworks() {
    std::set<graph::Op> in_networks;
    for (const std::vector<size_t>* networks : {&known_networks_, &fresh_networks_}) {
      for (const size_t i : *networks) {
        for (const graph::Node& call : samples_[i]->graph().nodes()) in_networks.insert(call.op);
      }
    }
    for (const size_t i : fresh_layers_) {
      const Sample& layer = *samples_[i];
      if (known_networks_.empty() || in_networks.count(predict::MainOperator(layer.graph())) > 0) continue;
      size_t found = 0;
      for (size_t tries = 0; tries < 16 * kContexts && found < kContexts; ++tries) {
        const Sample& network = *samples_[known_networks_[random_() % known_networks_.size()]];
        if (network.latency_us() > layer.latency_us()) continue;
        absl::StatusOr<Sample> both = Beside(network, layer);
        if (both.ok()) beside_.push_back(*std::move(both)), ++found;
      }
    }
    for (const Sample& both : beside_) {
      fresh_networks_.push_back(samples_.size());
      samples_.push_back(&both);
    }
  }

  // The networks, and the teacher with the same weights.
  absl::Status StartFromEarlier() {
    torch::manual_seed(options_.seed);
    for (std::shared_ptr<net::CobraNet>* net : {&teacher_, &bundle_.net}) {
      bundle_.net =
          std::make_shared<net::CobraNet>(bundle_.manifest.net, static_cast<int64_t>(bundle_.manifest.targets.size()));
      COBRA_RETURN_IF_ERROR(TakeWeights(earlier_, &bundle_));
      *net = bundle_.net;
    }
    teacher_->eval();
    average_ = std::make_unique<WeightAverage>(bundle_.net->parameters(), options_.average_decay);
    return absl::OkStatus();
  }

  // Draws `count` rows of `fresh`, and rows of `known` up to `size`; each step draws again.
  std::vector<size_t> Draw(const std::vector<size_t>& fresh, const std::vector<size_t>& known, int count, int size) {
    std::vector<size_t> chosen;
    const auto take = [&](const std::vector<size_t>& from, int number) {
      for (int i = 0; i < number && !from.empty(); ++i) chosen.push_back(from[random_() % from.size()]);
    };
    count = fresh.empty() ? 0 : known.empty() ? size : std::min<int>(count, static_cast<int>(fresh.size()));
    take(fresh, count);
    take(known, size - count);
    return chosen;
  }

  // The values to train on, [graphs] or, with `graph_of_node`, [nodes]: the measurement of a new
  // row, the old version's prediction of a known row. Known rows whose predictions do not change
  // then have no gradient. Their measurements would keep a gradient from the errors that the old
  // version could not learn.
  at::Tensor Taught(const std::vector<size_t>& chosen, const at::Tensor& measured, const at::Tensor& before,
                    const at::Tensor& graph_of_node = {}) const {
    at::Tensor is_new = at::empty({static_cast<int64_t>(chosen.size())}, at::kBool);
    for (size_t i = 0; i < chosen.size(); ++i) is_new.data_ptr<bool>()[i] = chosen[i] >= first_fresh_;
    return at::where(graph_of_node.defined() ? is_new.index_select(0, graph_of_node) : is_new, measured, before);
  }
  // [nodes] 1 for a call with a word that the old version did not know. The time of a known call
  // within a new network is learned only from the network's latency.
  at::Tensor HasNewWords(const Batch& batch) const {
    at::Tensor is_new = at::zeros({batch.text_of_node.numel()});
    for (int64_t n = 0; n < is_new.numel(); ++n) {
      for (const text::Token& token : *batch.texts[static_cast<size_t>(batch.text_of_node.data_ptr<int64_t>()[n])]) {
        if (token.id >= known_words_) is_new.data_ptr<float>()[n] = 1;
      }
    }
    return is_new;
  }
  Outputs OldOutputs(const Batch& batch) const {
    at::NoGradGuard no_grad;
    return Forward(*teacher_, batch);
  }

  at::Tensor NewLoss() {
    const int fresh = fresh_networks_.size() > 1 ? 2 : 1;
    return LayerLoss(Draw(fresh_layers_, known_layers_, options_.layer_batch / 2, options_.layer_batch), target_) +
           NetworkLoss(Draw(fresh_networks_, known_networks_, fresh, options_.network_batch), target_);
  }

  // What the version says of known rows on another of its targets stays: nothing was measured
  // there.
  at::Tensor OtherTargetsLoss() {
    const size_t targets = bundle_.manifest.targets.size();
    if (targets < 2) return at::zeros({});
    const auto other = static_cast<int>((static_cast<size_t>(target_) + 1 + random_() % (targets - 1)) % targets);
    return LayerLoss(Draw({}, known_layers_, 0, options_.layer_batch / 2), other) +
           NetworkLoss(Draw({}, known_networks_, 0, 1), other);
  }

  at::Tensor LayerLoss(const std::vector<size_t>& chosen, int target) {
    if (chosen.empty()) return at::zeros({});
    const Batch batch = MakeBatch(bundle_, *texts_, samples_, chosen, target);
    const Outputs before = OldOutputs(batch);
    return LayerBatchLoss(batch, Forward(*bundle_.net, batch), Taught(chosen, batch.log_latency, LogLayerSum(before)),
                          Taught(chosen, batch.log_latency, before.log_total));
  }

  at::Tensor NetworkLoss(const std::vector<size_t>& chosen, int target) {
    if (chosen.empty()) return at::zeros({});
    Batch batch = MakeBatch(bundle_, *texts_, samples_, chosen, target);
    const Outputs before = OldOutputs(batch);
    batch.log_latency = Taught(chosen, batch.log_latency, before.log_total);
    batch.node_log = Taught(chosen, batch.node_log, before.contribution, batch.graphs.graph_of_node);
    batch.node_weight = batch.node_weight * Taught(chosen, HasNewWords(batch), at::ones_like(batch.node_weight),
                                                   batch.graphs.graph_of_node);
    return NetworkBatchLoss(batch, Forward(*bundle_.net, batch));
  }

  const RefitOptions options_;
  const int target_;
  std::mt19937_64 random_;
  const predict::ModelBundle earlier_;
  predict::ModelBundle bundle_;
  std::vector<const Sample*> samples_;
  std::deque<Sample> beside_;
  size_t first_fresh_ = 0;   // index in samples_
  int32_t known_words_ = 0;  // words of the old version
  std::vector<size_t> known_layers_, known_networks_, fresh_layers_, fresh_networks_;
  std::shared_ptr<net::CobraNet> teacher_;  // the old version
  std::unique_ptr<TextTable> texts_;
  std::unique_ptr<WeightAverage> average_;
};

}  // namespace

absl::Status Refit(absl::string_view model_directory, const Dataset& known, const Dataset& fresh,
                   const RefitOptions& options, absl::string_view directory) {
  net::UseOneThread();
  net::RetainHeap();
  COBRA_ASSIGN_OR_RETURN(predict::ModelBundle bundle, predict::LoadBundle(model_directory));
  COBRA_ASSIGN_OR_RETURN(const int target, TargetOf(bundle.manifest, known));
  try {
    return RefitRun(std::move(bundle), target, known, fresh, options).Run(directory);
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("refit: ", e.what()));
  }
}

}  // namespace cobra::training
