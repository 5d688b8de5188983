// Four losses, all on log-latency so that a 1 ms and a 100 ms network count alike:
//   layers    the layer head against layers measured by themselves;
//   nodes     the graph network's contributions against the profile of each node inside a measured
//             network;
//   networks  the sum of the contributions against the network's latency (and against single
//             layers, as networks of one);
//   growth    needs no measurement: on no target is a network faster at twice the batch, a
//             perceptron at a larger width, or either with less bandwidth.
// The many layers determine the cost of a call; the few networks determine the effects of context
// (caches, allocator).
#include "model/training/training_run.h"

#include <ATen/Context.h>
#include <torch/types.h>

// These headers need the names of torch/types.h.
#include <torch/nn/utils/clip_grad.h>
#include <torch/serialize.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/text/significant.h"
#include "base/text/utc_text.h"
#include "model/net/threads.h"
#include "model/predict/target/sheet_comparison.h"
#include "model/predict/work/features.h"
#include "model/training/earlier_weights.h"
#include "model/training/first_prices.h"
#include "model/training/frozen_encoder.h"
#include "model/training/optimizer.h"
#include "model/training/rows/larger_network.h"
#include "model/training/rows/metrics.h"
#include "model/training/rows/other_gpu.h"

namespace cobra::training {
namespace {

constexpr double kWarmup = 0.03;  // of all steps
constexpr double kRepeatPower = 0.6;
constexpr double kFewRowsOfOperator = 5000;  // of all targets, in which it is the call that a layer is about
constexpr size_t kMostOthers = 15;
// Networks that are asked about growth: how many of a target, of how many calls at most;
// perceptrons, and in how many steps of all they are; on how many targets at a time, and how many
// of these measured the network.
constexpr size_t kGrowingOfTarget = 40, kMostCallsOfGrowing = 100, kGrowingPerceptrons = 60, kPerceptronSteps = 8,
                 kTargetsOfGrowing = 6, kMeasuredOfGrowing = 3;
constexpr int kDoublings = 2;
constexpr double kMoreBandwidth = 1.5;
constexpr double kFirstSwapped = 0.4;        // of the rows of GPUs, that have another GPU's vector; later fewer
constexpr int kDigitsOfNetworks = 5;         // in a manifest: no two measurements agree as well
constexpr int kFewestTargetsOfProfile = 16;  // on which a network of TargetEntry::network_us was measured

class TrainingRun {
 public:
  TrainingRun(absl::Span<const Dataset> sets, const TrainOptions& options, const TrainingParts& parts)
      : options_(options), parts_(parts), device_(options.device), random_(options.seed) {
    for (const Dataset& data : sets) {
      for (const Sample& s : data.samples) {
        if (s.split == Split::kTrain) Place(s, &train_layers_, &train_networks_);
        if (s.split == Split::kValidation) Place(s, &validation_layers_, &validation_networks_);
      }
    }
    std::vector<const Sample*> training;
    for (size_t i : train_layers_) training.push_back(samples_[i]);
    for (size_t i : train_networks_) training.push_back(samples_[i]);
    for (const std::string& word : parts.more_words) bundle_.vocabulary.Add(word);
    ExtendVocabulary(training, parts.split, &bundle_.vocabulary, &bundle_.manifest.value_ranges);
    torch::manual_seed(options.seed);
    DescribeVersion(sets);
    bundle_.net = parts.make_net(bundle_.manifest.net, static_cast<int64_t>(sets.size()));
    bundle_.net->to(device_);
    if (sets.size() > 1) {
      for (size_t i : train_networks_) networks_of_graph_[samples_[i]->fingerprint()].push_back(i);
      RepeatSmallTargets(sets.size(), &train_layers_);
      RepeatSmallTargets(sets.size(), &train_networks_);
      FindGrowing();
      for (const Dataset& data : sets) more_bandwidth_.push_back(MoreBandwidth(data.target));
    }
    for (const Dataset& data : sets) alike_gpus_.push_back(AlikeGpus(data.target, sets));
    LogInfo(absl::StrCat("seed ", options.seed, ": ", train_layers_.size(), " layers and ", train_networks_.size(),
                         " networks an epoch"));
    texts_ = std::make_unique<TextTable>(samples_, bundle_.vocabulary, parts.split);
    const torch::nn::Module& learning =
        options.graph_net_only ? static_cast<const torch::nn::Module&>(*bundle_.net->graph_net) : *bundle_.net;
    weights_ = std::make_unique<FlatParameters>(learning.parameters());
    average_ = std::make_unique<WeightAverage>(std::vector{weights_->all()}, options.average_decay);
  }

  absl::StatusOr<predict::ModelBundle> Run() {
    torch::optim::AdamW optimizer = MakeOptimizer({weights_->all()}, options_.learning_rate, options_.weight_decay);
    if (!options_.from.empty()) COBRA_RETURN_IF_ERROR(StartFrom(options_.from));
    if (options_.graph_net_only) frozen_ = std::make_unique<FrozenEncoder>(bundle_.net.get(), texts_.get());
    int epoch = Resume(&optimizer);
    if (epoch == 0 && parts_.before_first_epoch) parts_.before_first_epoch(Start());
    for (; epoch < options_.epochs; ++epoch) {
      const absl::Time start = absl::Now();
      const double loss = Epoch(epoch, &optimizer);
      if (!std::isfinite(loss)) return absl::InternalError("train: the loss is not finite");
      std::string validated;
      if (epoch % 5 == 4 || epoch + 1 == options_.epochs) {
        average_->Swap();
        const Metrics layers = Validate(validation_layers_), networks = Validate(validation_networks_);
        average_->Swap();
        validated =
            absl::StrFormat(", validation layers %.2f %%, networks %.2f %%", 100 * layers.mape, 100 * networks.mape);
      }
      LogInfo(absl::StrFormat("seed %d epoch %d: loss %.4f%s (%.1f s)", options_.seed, epoch + 1, loss, validated,
                              absl::ToDoubleSeconds(absl::Now() - start)));
      Checkpoint(epoch + 1, optimizer);
    }
    average_->Swap();
    HoldPrices(bundle_.net.get());
    bundle_.net->eval();
    bundle_.net->to(at::kCPU);
    return std::move(bundle_);
  }

 private:
  void Place(const Sample& s, std::vector<size_t>* layers, std::vector<size_t>* networks) {
    (s.is_network() ? networks : layers)->push_back(samples_.size());
    samples_.push_back(&s);
  }

  absl::Status StartFrom(const std::string& directory) {
    COBRA_ASSIGN_OR_RETURN(const predict::ModelBundle earlier, predict::LoadBundle(directory));
    const absl::Status taken = TakeWeights(earlier, &bundle_);
    if (!taken.ok()) return absl::InvalidArgumentError(absl::StrCat(directory, ": ", taken.message()));
    HoldPrices(bundle_.net.get());
    average_ = std::make_unique<WeightAverage>(std::vector{weights_->all()}, options_.average_decay);
    bundle_.manifest.training_notes.push_back(
        absl::StrCat("began with the weights of the version of ", earlier.manifest.trained_at));
    return absl::OkStatus();
  }

  // On how many others of the targets that a network was measured on it is predicted, whenever it
  // is drawn for one.
  static size_t OthersOf(const std::vector<size_t>& alike) {
    const auto root = static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(alike.size()))));
    return std::min(root, kMostOthers);
  }

  // In how many rows an operator is the call that the layer is about.
  std::map<graph::Op, double> CountOperators(const std::vector<size_t>& rows) const {
    std::map<graph::Op, double> counts;
    for (size_t i : rows) ++counts[predict::MainOperator(samples_[i]->graph())];
    return counts;
  }

  // Of a target with few rows each is used several times, but not as often as the largest has more
  // of them; likewise of an operator that few layers are about. Networks that come along with
  // others (OthersOf) are drawn as much less often.
  void RepeatSmallTargets(size_t targets, std::vector<size_t>* rows) {
    std::vector<size_t> counts(targets);
    for (size_t i : *rows) ++counts[static_cast<size_t>(samples_[i]->target)];
    const double most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
    std::map<graph::Op, double> of_operator;
    if (rows == &train_layers_) of_operator = CountOperators(*rows);
    std::vector<size_t> repeated;
    for (size_t i : *rows) {
      double more = most / static_cast<double>(counts[static_cast<size_t>(samples_[i]->target)]);
      if (!samples_[i]->is_network())
        more *= std::max(1.0, kFewRowsOfOperator / of_operator[predict::MainOperator(samples_[i]->graph())]);
      const auto alike = networks_of_graph_.find(samples_[i]->fingerprint());
      const double others = samples_[i]->is_network() && alike != networks_of_graph_.end()
                                ? static_cast<double>(OthersOf(alike->second))
                                : 1;
      const double times = std::pow(more, kRepeatPower) * 2 / (1 + others);
      const double whole = std::floor(times);
      const bool once_more = std::uniform_real_distribution<>()(random_) < times - whole;
      repeated.insert(repeated.end(), static_cast<size_t>(whole) + once_more, i);
    }
    *rows = std::move(repeated);
  }

  // A network, and what is the same but larger.
  struct Growth {
    size_t small, large;
    const std::vector<size_t>* measured = nullptr;  // the rows of the network, on all targets
  };

  void FindGrowing() {
    absl::flat_hash_map<size_t, std::vector<size_t>> larger_of;  // several targets measured the same network
    for (const std::vector<size_t>& networks : GrowingByTarget()) {
      std::vector<Growth>& found = growth_of_target_.emplace_back();
      for (size_t i : networks) {
        const std::vector<size_t>& measured = networks_of_graph_.at(samples_[i]->fingerprint());
        const auto [known, is_new] = larger_of.try_emplace(measured[0]);
        if (is_new) known->second = AddDoubled(measured[0]);
        size_t small = measured[0];
        for (size_t large : known->second) found.push_back({std::exchange(small, large), large, &measured});
      }
      if (!found.empty()) growing_targets_.push_back(growth_of_target_.size() - 1);
    }
    for (size_t i = 0; i < kGrowingPerceptrons; ++i) {
      std::optional<size_t> narrower;
      for (graph::Graph& wider : PerceptronsByWidth(&random_)) {
        const size_t next = AddUnmeasured(std::move(wider));
        if (narrower.has_value()) growth_of_perceptrons_.push_back({*narrower, next});
        narrower = next;
      }
    }
  }

  std::vector<std::vector<size_t>> GrowingByTarget() {
    std::vector<std::vector<size_t>> networks(bundle_.manifest.targets.size());
    for (size_t i : train_networks_) {
      if (samples_[i]->graph().nodes().size() <= kMostCallsOfGrowing)
        networks[static_cast<size_t>(samples_[i]->target)].push_back(i);
    }
    for (std::vector<size_t>& of_target : networks) {
      std::sort(of_target.begin(), of_target.end());
      of_target.erase(std::unique(of_target.begin(), of_target.end()), of_target.end());  // some are repeated
      std::shuffle(of_target.begin(), of_target.end(), random_);
      of_target.resize(std::min(of_target.size(), kGrowingOfTarget));
    }
    return networks;
  }

  // At twice the batch, and twice that; none if it cannot be doubled.
  std::vector<size_t> AddDoubled(size_t network) {
    std::vector<size_t> larger;
    for (int doubled = 0; doubled < kDoublings; ++doubled) {
      std::optional<graph::Graph> twice =
          WithTwiceTheBatch(samples_[larger.empty() ? network : larger.back()]->graph());
      if (!twice.has_value()) break;
      larger.push_back(AddUnmeasured(*std::move(twice)));
    }
    return larger;
  }

  size_t AddUnmeasured(graph::Graph graph) {
    unmeasured_.push_back(std::make_unique<Sample>());
    unmeasured_.back()->measurement.subject.graph = std::move(graph);
    samples_.push_back(unmeasured_.back().get());
    return samples_.size() - 1;
  }

  // Other GPUs that run networks in the same way.
  static std::vector<int64_t> AlikeGpus(const predict::TargetSpec& spec, absl::Span<const Dataset> sets) {
    std::vector<int64_t> alike;
    for (size_t i = 0; i < sets.size(); ++i) {
      const predict::TargetSpec& other = sets[i].target;
      if (spec.kind == "gpu" && other.kind == "gpu" && other.device != spec.device &&
          predict::IsSameVendor(other, spec) && other.runtime == spec.runtime && other.compile == spec.compile &&
          (other.precision == "int8") == (spec.precision == "int8"))
        alike.push_back(static_cast<int64_t>(i));
    }
    return alike;
  }

  // What changes in the features of a target that moves data faster.
  static std::array<float, predict::kTargetSpecFeatures> MoreBandwidth(predict::TargetSpec spec) {
    const auto before = predict::TargetSpecFeatures(spec);
    spec.memory_gb_per_s *= kMoreBandwidth;
    auto change = predict::TargetSpecFeatures(spec);
    for (size_t i = 0; i < change.size(); ++i) change[i] -= before[i];
    return change;
  }

  // REQUIRES: the vocabulary is complete.
  void DescribeVersion(absl::Span<const Dataset> sets) {
    predict::Manifest& m = bundle_.manifest;
    m.vocabulary = bundle_.vocabulary.words();
    m.net = options_.net;
    m.net.vocabulary_size = bundle_.vocabulary.size();
    m.net.value_features = text::kNumValueFeatures;
    m.net.target_features = predict::kTargetSpecFeatures + net::kLearnedTargetFeatures;
    m.net.graph_features = predict::kGraphFeatures;
    m.net.work_terms = predict::kWorkTerms;
    m.num_ops = graph::kNumOps;
    m.layers_trained = static_cast<int64_t>(train_layers_.size());
    m.networks_trained = static_cast<int64_t>(train_networks_.size());
    m.trained_at = UtcText(absl::Now());
    std::map<std::string, int> measured_on;
    for (const Dataset& data : sets) {
      for (const Sample& s : data.samples) measured_on[s.fingerprint()] += s.is_network() ? 1 : 0;
    }
    for (const Dataset& data : sets) {
      predict::TargetEntry entry;
      entry.spec = data.target;
      for (const Sample& s : data.samples) {
        if (measured_on[s.fingerprint()] >= kFewestTargetsOfProfile && s.is_network())
          entry.network_us[s.fingerprint()] = Significant(s.latency_us(), kDigitsOfNetworks);
      }
      m.targets.push_back(std::move(entry));
    }
  }

  TrainingStart Start() const {
    TrainingStart start{bundle_, options_, {}, {}};
    for (size_t i : train_layers_) {
      const auto main_node = static_cast<size_t>(predict::MainNode(samples_[i]->graph()));
      start.calls.push_back(&texts_->TokensOf(texts_->TextsOf(i)[main_node]));
      start.latency_us.push_back(samples_[i]->latency_us());
    }
    return start;
  }

  int StepsPerEpoch() const {
    const auto steps = (train_layers_.size() + options_.layer_batch - 1) / options_.layer_batch;
    // Without layers (a search space of networks only): one pass over the networks.
    return static_cast<int>(steps > 0 ? steps
                                      : (train_networks_.size() + options_.network_batch - 1) / options_.network_batch);
  }

  double Epoch(int epoch, torch::optim::AdamW* optimizer) {
    std::shuffle(train_layers_.begin(), train_layers_.end(), random_);
    std::shuffle(train_networks_.begin(), train_networks_.end(), random_);
    bundle_.net->train();
    const int steps = StepsPerEpoch();
    at::Tensor total = at::zeros({}, at::TensorOptions(at::kDouble).device(device_));
    for (int step = 0; step < steps; ++step) {
      progress_ = static_cast<double>(epoch * steps + step) / (options_.epochs * steps);
      SetLearningRate(optimizer, options_.learning_rate, progress_, kWarmup);
      weights_->ZeroGradients();
      at::Tensor loss = LayerLoss(step) + NetworkLoss(step) + GrowthLoss();
      loss.backward();
      torch::nn::utils::clip_grad_norm_(weights_->all(), options_.gradient_clip);
      optimizer->step();
      HoldPrices(bundle_.net.get());
      average_->Update(epoch * steps + step);
      total += loss.detach();  // its value would wait for the device in each step
    }
    return total.item<double>() / steps;
  }

  // The `step`-th batch of a shuffled list. It wraps around, so that the shorter list is used more
  // often.
  static std::vector<size_t> Slice(const std::vector<size_t>& all, int step, int size) {
    std::vector<size_t> chosen;
    for (int i = 0; i < size && !all.empty(); ++i)
      chosen.push_back(all[(static_cast<size_t>(step) * size + i) % all.size()]);
    return chosen;
  }

  // Each network also on other targets that it was measured on, at random: its calls are encoded
  // anyway, which is most of the work, and what differs is the target alone.
  std::vector<size_t> WithOtherTargets(std::vector<size_t> chosen) {
    if (networks_of_graph_.empty()) return chosen;  // one target
    const size_t drawn = chosen.size();
    for (size_t i = 0; i < drawn; ++i) {
      const std::vector<size_t>& alike = networks_of_graph_.at(samples_[chosen[i]]->fingerprint());
      for (size_t k = 0; k < OthersOf(alike); ++k) {
        const size_t other = alike[random_() % alike.size()];
        if (std::find(chosen.begin(), chosen.end(), other) == chosen.end()) chosen.push_back(other);
      }
    }
    return chosen;
  }

  // Takes the names of some operators away, so that there is an answer for those that training
  // never sees: by their arguments and their work.
  void HideOperators(Batch* batch) {
    std::bernoulli_distribution hides(options_.hidden_operators);
    for (const std::vector<text::Token>*& text : batch->texts) {
      if (!hides(random_) || text->empty()) continue;
      batch->hidden_texts.push_back(std::make_unique<std::vector<text::Token>>(*text));
      batch->hidden_texts.back()->front().id = text::Vocabulary::kUnknown;
      text = batch->hidden_texts.back().get();
    }
  }

  // What is known of a row on a GPU without a measurement on another one (other_gpu.h). And what
  // was learned of a GPU besides its sheet is in part of its host: with another's the sheet has to
  // say how fast this GPU is. The last epochs are for what each is by itself.
  void ImagineOtherGpus(const std::vector<size_t>& chosen, Batch* batch) {
    const auto rows = static_cast<int64_t>(chosen.size());
    constexpr int64_t kSpec = predict::kTargetSpecFeatures;
    at::Tensor change = at::zeros({rows, kSpec}), is_swapped = at::zeros({rows});
    at::Tensor vector_of = at::zeros({rows}, at::kLong);
    std::bernoulli_distribution swaps(kFirstSwapped * (1 - progress_));
    for (int64_t row = 0; row < rows; ++row) {
      const Sample& sample = *samples_[chosen[static_cast<size_t>(row)]];
      const predict::TargetSpec& spec = bundle_.manifest.targets[static_cast<size_t>(sample.target)].spec;
      if (spec.kind != "gpu") continue;
      const std::vector<int64_t>& alike = alike_gpus_[static_cast<size_t>(sample.target)];
      if (!alike.empty() && swaps(random_)) {
        is_swapped.data_ptr<float>()[row] = 1;
        vector_of.data_ptr<int64_t>()[row] = alike[random_() % alike.size()];
      }
      if (random_() % 2 == 0) continue;
      const OtherGpu other = OtherGpuFor(sample, spec, &random_);
      if (!other.spec.has_value()) continue;
      const auto before = predict::TargetSpecFeatures(spec), after = predict::TargetSpecFeatures(*other.spec);
      for (size_t i = 0; i < after.size(); ++i)
        change.data_ptr<float>()[row * kSpec + static_cast<int64_t>(i)] = after[i] - before[i];
      batch->log_latency.data_ptr<float>()[row] -= static_cast<float>(other.log_faster);
    }
    at::Tensor& features = batch->graphs.target_features;
    const at::Tensor vectors = bundle_.net->target_vectors.index_select(0, vector_of.to(device_));
    const at::Tensor swapped = is_swapped.to(device_).unsqueeze(1);
    features = at::cat({features.slice(1, 0, kSpec) + change.to(device_),
                        features.slice(1, kSpec) * (1 - swapped) + vectors * swapped},
                       1);
  }

  Batch TrainingBatch(const std::vector<size_t>& chosen) {
    Batch batch = MakeBatch(bundle_, *texts_, samples_, chosen);
    HideOperators(&batch);
    ImagineOtherGpus(chosen, &batch);
    MoveTo(device_, &batch);
    return batch;
  }

  at::Tensor Embeddings(const Batch& batch) {
    return frozen_ != nullptr ? frozen_->VectorsOf(batch) : net::EncodeTexts(*bundle_.net->encoder, batch.texts);
  }

  at::Tensor Embed(const Batch& batch) {
    const at::Tensor embeddings = Embeddings(batch);
    return options_.embedding_dropout > 0 ? at::dropout(embeddings, options_.embedding_dropout, /*train=*/true)
                                          : embeddings;
  }

  at::Tensor LayerLoss(int step) {
    const auto chosen = Slice(train_layers_, step, options_.layer_batch);
    if (chosen.empty()) return at::zeros({});
    const Batch batch = TrainingBatch(chosen);
    return LayerBatchLoss(batch, Forward(*bundle_.net, batch, Embed(batch)), batch.log_latency, batch.log_latency);
  }

  at::Tensor NetworkLoss(int step) {
    const auto chosen = WithOtherTargets(Slice(train_networks_, step, options_.network_batch));
    if (chosen.empty()) return at::zeros({});
    const Batch batch = TrainingBatch(chosen);
    return parts_.network_loss(batch, Forward(*bundle_.net, batch, Embed(batch)));
  }

  // Of a network on some targets: by how much it is faster when it is larger, and slower with more
  // bandwidth. Targets are drawn first, and each is asked of networks that it measured: where a row
  // says that a call takes long, it takes no less at twice the batch.
  at::Tensor GrowthLoss() {
    if (growth_of_target_.empty()) return at::zeros({});
    const bool of_perceptrons = growing_targets_.empty() || random_() % kPerceptronSteps == 0;
    const size_t drawn =
        of_perceptrons ? random_() % growth_of_target_.size() : growing_targets_[random_() % growing_targets_.size()];
    const std::vector<Growth>& all = of_perceptrons ? growth_of_perceptrons_ : growth_of_target_[drawn];
    const Growth& growth = all[random_() % all.size()];
    std::vector<size_t> chosen;
    std::vector<int> targets;
    for (size_t i = 0; i < kTargetsOfGrowing; ++i) {
      size_t target = i == 0 ? drawn : random_() % growth_of_target_.size();
      if (i > 0 && i < kMeasuredOfGrowing && growth.measured != nullptr)
        target = static_cast<size_t>(samples_[(*growth.measured)[random_() % growth.measured->size()]]->target);
      chosen.insert(chosen.end(), {growth.small, growth.large, growth.small});
      targets.insert(targets.end(), 3, static_cast<int>(target));
    }
    Batch batch = MakeBatch(bundle_, *texts_, samples_, chosen, targets);
    at::Tensor change = at::zeros(batch.graphs.target_features.sizes());
    for (size_t row = 2; row < chosen.size(); row += 3) {
      const auto& more = more_bandwidth_[static_cast<size_t>(targets[row])];
      std::copy(more.begin(), more.end(), change.data_ptr<float>() + static_cast<int64_t>(row) * change.size(1));
    }
    batch.graphs.target_features = batch.graphs.target_features + change.to(device_);
    MoveTo(device_, &batch);
    const at::Tensor log_us = Forward(*bundle_.net, batch, Embeddings(batch)).log_total.view({-1, 3});
    const at::Tensor once = log_us.select(1, 0), larger = log_us.select(1, 1), faster = log_us.select(1, 2);
    return ((once - larger).relu() + (faster - once).relu()).sum();
  }

  Metrics Validate(const std::vector<size_t>& which) {
    at::NoGradGuard no_grad;
    bundle_.net->eval();
    std::vector<double> predicted, measured;
    for (size_t begin = 0; begin < which.size(); begin += 32) {
      const auto part = absl::MakeConstSpan(which).subspan(begin, 32);
      Batch batch = MakeBatch(bundle_, *texts_, samples_, part);
      MoveTo(device_, &batch);
      const at::Tensor total = Forward(*bundle_.net, batch, Embeddings(batch)).log_total.exp().to(at::kCPU);
      for (size_t i = 0; i < part.size(); ++i) {
        predicted.push_back(total.data_ptr<float>()[i]);
        measured.push_back(samples_[part[i]]->latency_us());
      }
    }
    return ComputeMetrics(predicted, measured);
  }

  void Checkpoint(int epoch, const torch::optim::AdamW& optimizer) {
    if (options_.checkpoint.empty()) return;
    torch::serialize::OutputArchive archive, moments;
    archive.write("epoch", at::full({}, epoch, at::kLong), /*is_buffer=*/true);
    archive.write("weights", weights_->all().detach(), true);
    archive.write("average", average_->values()[0], true);
    optimizer.save(moments);
    archive.write("optimizer", moments);
    const std::string partial = options_.checkpoint + ".partial";
    archive.save_to(partial);
    std::rename(partial.c_str(), options_.checkpoint.c_str());
  }

  // Returns the epoch at which to resume: 0 without a checkpoint. LibTorch refuses a checkpoint of
  // another data set, because its shapes differ.
  int Resume(torch::optim::AdamW* optimizer) {
    if (options_.checkpoint.empty() || !FileExists(options_.checkpoint)) return 0;
    torch::serialize::InputArchive archive, moments;
    archive.load_from(options_.checkpoint, device_);  // it may be another device's
    at::NoGradGuard no_grad;
    at::Tensor epoch, weights, average;
    archive.read("epoch", epoch, true);
    archive.read("weights", weights, true);
    archive.read("average", average, true);
    weights_->all().detach().copy_(weights);
    average_->values()[0].copy_(average);
    archive.read("optimizer", moments);
    optimizer->load(moments);
    const int done = static_cast<int>(epoch.item<int64_t>());
    random_.discard(static_cast<unsigned long long>(done) * samples_.size());
    LogInfo(absl::StrCat("seed ", options_.seed, ": continues after epoch ", done));
    return done;
  }

  const TrainOptions options_;
  const TrainingParts parts_;
  const c10::Device device_;
  std::mt19937_64 random_;
  double progress_ = 0;  // of all steps
  std::vector<const Sample*> samples_;
  absl::flat_hash_map<std::string, std::vector<size_t>> networks_of_graph_;  // by fingerprint; of several targets
  std::vector<size_t> train_layers_, train_networks_, validation_layers_, validation_networks_;
  std::vector<std::unique_ptr<Sample>> unmeasured_;    // larger networks; behind the others in samples_
  std::vector<std::vector<Growth>> growth_of_target_;  // of networks measured there
  std::vector<size_t> growing_targets_;                // of which there are some
  std::vector<Growth> growth_of_perceptrons_;
  std::vector<std::array<float, predict::kTargetSpecFeatures>> more_bandwidth_;  // by target
  std::vector<std::vector<int64_t>> alike_gpus_;                                 // by target
  predict::ModelBundle bundle_;
  std::unique_ptr<TextTable> texts_;
  std::unique_ptr<FrozenEncoder> frozen_;  // of an encoder that does not learn; else null
  std::unique_ptr<FlatParameters> weights_;
  std::unique_ptr<WeightAverage> average_;
};

// Predicts one sample and adds the result to `predictions`.
void PredictOne(const predict::ModelBundle& bundle, const TextTable& texts, const std::vector<const Sample*>& samples,
                size_t sample, int target, Predictions* predictions) {
  const Batch batch = MakeBatch(bundle, texts, samples, {sample}, target);
  const at::Tensor embeddings = net::EncodeTexts(*bundle.net->encoder, batch.texts);
  const Outputs out = Forward(*bundle.net, batch, embeddings);
  predictions->latency_us.push_back(out.log_total.exp()[0].item<double>());
  predictions->layer_sum_us.push_back(out.layer_sum[0].item<double>());
  const at::Tensor mean =
      net::ShareWeightedMean(embeddings.index_select(0, batch.text_of_node), out.contribution, batch.graphs)
          .contiguous();
  predictions->embedding.emplace_back(mean.data_ptr<float>(), mean.data_ptr<float>() + mean.numel());
}

absl::Status CheckDevice(const std::string& device) {
  if (device == "cpu" || at::globalContext().hasCUDA()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("--device ", device, ": this LibTorch finds no GPU; leave it out to train on a processor"));
}

}  // namespace

absl::StatusOr<predict::ModelBundle> TrainBundle(absl::Span<const Dataset> sets, const TrainOptions& options,
                                                 const TrainingParts& parts) {
  COBRA_RETURN_IF_ERROR(CheckDevice(options.device));
  net::UseOneThread();
  net::RetainHeap();
  try {
    return TrainingRun(sets, options, parts).Run();
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("train: ", e.what()));
  }
}

absl::StatusOr<Predictions> PredictWithBundle(const predict::ModelBundle& bundle,
                                              const std::vector<const Sample*>& samples, SplitFunction split,
                                              int target) {
  net::UseOneThread();
  Predictions predictions;
  try {
    at::InferenceMode inference;
    const TextTable texts(samples, bundle.vocabulary, split);
    for (size_t s = 0; s < samples.size(); ++s) PredictOne(bundle, texts, samples, s, target, &predictions);
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("predict: ", e.what()));
  }
  return predictions;
}

}  // namespace cobra::training
