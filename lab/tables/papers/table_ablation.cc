#include "lab/tables/papers/table_ablation.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "lab/tables/run/measured_rows.h"
#include "lab/variants/digit_tokens.h"
#include "lab/variants/net_variants.h"
#include "lab/variants/pretrain.h"
#include "model/training/training_run.h"

namespace cobra::lab {
namespace {

// A row of the table: our model with its changes.
struct Variant {
  std::string name;
  training::TrainOptions options;
  training::TrainingParts parts;
  bool layers = true;  // trains on layers measured alone
};

std::vector<Variant> MakeVariants() {
  std::vector<Variant> variants;
  const auto add = [&variants](const char* name) {
    variants.emplace_back().name = name;
    return &variants.back();
  };
  add("ours: everything on");
  add("the latency itself, not prices of work")->parts.make_net = MakeNetWithoutPrices;
  add("numbers as words of digits, not as numbers")->parts.split = SplitDigits;
  add("without the target")->parts.make_net = MakeNetWithoutTarget;
  Variant* means = add("one number from the mean over the calls, not a sum of contributions");
  means->parts.make_net = MakeNetOfMeans;
  means->parts.network_loss = TotalLoss;
  Variant* narrow = add("encoder 48 wide, not 96");
  narrow->options.net.width = 48;
  narrow->options.net.feed_forward = 96;
  Variant* wide = add("encoder 192 wide");
  wide->options.net.width = 192;
  wide->options.net.feed_forward = 384;
  add("two rounds of messages, not 3")->options.net.graph_layers = 2;
  for (const int rounds : {1, 2}) {
    net::NetConfig& net = add(rounds == 1 ? "one round, what the network is as a whole comes last"
                                          : "two rounds, what the network is as a whole comes last")
                              ->options.net;
    net.graph_layers = rounds;
    net.shared_graph_net = true;
  }
  add("encoder of 4 blocks, not 2")->options.net.encoder_layers = 4;
  add("networks alone: no layers to learn from")->layers = false;
  constexpr int kPretrainEpochs = 10;
  add("encoder pre-trained on masked numbers")->parts = PretrainedParts(kPretrainEpochs, /*append_latency=*/false);
  add("the same, the latency appended")->parts = PretrainedParts(kPretrainEpochs, /*append_latency=*/true);
  return variants;
}

struct Budget {
  size_t layers = 1500, networks = 250, test = 600;  // for each space
  int epochs = 20;
};

class Table {
 public:
  explicit Table(const TableOptions& options) : options_(options), run_(options) {
    if (options.quick) budget_ = {60, 6, 16, 1};
  }

  absl::StatusOr<TableRun> Run() {
    COBRA_ASSIGN_OR_RETURN(data_, training::LoadMeasurements(options_.rows));
    for (const char* space : {"paper-layers", "real-layers"}) {
      Append(space, training::Split::kTest, budget_.test, &test_layers_);
      Append(space, training::Split::kTrain, budget_.layers, &layers_);
      Append(space, training::Split::kValidation, budget_.test / 6, &layers_);
    }
    for (const char* space : {"paper-networks", "real-networks"}) {
      Append(space, training::Split::kTest, budget_.test, &test_networks_);
      Append(space, training::Split::kTrain, budget_.networks, &networks_);
      Append(space, training::Split::kValidation, budget_.test / 6, &networks_);
    }
    if (layers_.empty() || networks_.empty() || test_networks_.empty()) {
      return absl::NotFoundError(absl::StrCat(options_.rows, ": has no layers or no networks for training and test"));
    }
    run_.columns = LatencyColumns();
    const std::vector<Variant> variants = MakeVariants();
    for (int seed = 1; seed <= (options_.quick ? 1 : options_.seeds); ++seed) {
      for (const Variant& variant : variants) COBRA_RETURN_IF_ERROR(Add(variant, seed));
    }
    run_.after.push_back(
        absl::StrFormat("Every row has the same rows (at most %d training layers of each space of layers, %d networks "
                        "of each space of networks; the first by fingerprint) and as many steps: %d epochs over the "
                        "layers. That is a fraction of what the shipped version has "
                        "learned: compare the rows with each other, not with other tables.",
                        budget_.layers, budget_.networks, budget_.epochs));
    run_.after.push_back(
        "All of these measurements are of one target, for which conditioning on the target cannot help; it is what "
        "lets one version serve many.");
    return std::move(run_);
  }

 private:
  void Append(const char* space, training::Split split, size_t most, std::vector<const training::Sample*>* rows) const {
    const std::vector<const training::Sample*> more = RowsOf(data_, space, split, most);
    rows->insert(rows->end(), more.begin(), more.end());
  }

  struct Predictions {
    std::vector<double> layers, networks;
    double seconds = 0;
  };

  absl::StatusOr<Predictions> FitAndPredict(const Variant& variant, int seed) const {
    const absl::Time start = absl::Now();
    training::Dataset data;
    data.target = data_.target;
    for (const training::Sample* s : networks_) data.samples.push_back(*s);
    for (const training::Sample* s : layers_) {
      if (variant.layers) data.samples.push_back(*s);
    }
    training::TrainOptions train = variant.options;
    train.epochs = budget_.epochs;
    // Without layers an epoch is one pass over the networks: train for as many steps as the other
    // variants.
    const auto steps_of_layers = static_cast<int>(layers_.size()) / train.layer_batch + 1,
               steps = static_cast<int>(networks_.size()) / train.network_batch + 1;
    if (!variant.layers) train.epochs = std::max(1, budget_.epochs * steps_of_layers / steps);
    train.seed = static_cast<uint64_t>(seed);
    COBRA_ASSIGN_OR_RETURN(const predict::ModelBundle bundle,
                           training::TrainBundle(absl::MakeConstSpan(&data, 1), train, variant.parts));
    COBRA_ASSIGN_OR_RETURN(const training::Predictions of_layers,
                           training::PredictWithBundle(bundle, test_layers_, variant.parts.split));
    COBRA_ASSIGN_OR_RETURN(const training::Predictions of_networks,
                           training::PredictWithBundle(bundle, test_networks_, variant.parts.split));
    return Predictions{of_layers.latency_us, of_networks.latency_us, absl::ToDoubleSeconds(absl::Now() - start)};
  }

  absl::Status Add(const Variant& variant, int seed) {
    std::optional<Predictions> answers;
    for (const bool networks : {false, true}) {
      COBRA_RETURN_IF_ERROR(
          run_.Add(variant.name, networks ? "networks" : "layers", seed, [&]() -> absl::StatusOr<TableCell> {
            if (!answers) {
              COBRA_ASSIGN_OR_RETURN(answers, FitAndPredict(variant, seed));
            }
            TableCell cell;
            cell.figures = networks ? LatencyMetricValues(answers->networks, LatencyOf(test_networks_))
                                    : LatencyMetricValues(answers->layers, LatencyOf(test_layers_));
            cell.seconds = answers->seconds;
            return cell;
          }));
    }
    return absl::OkStatus();
  }

  const TableOptions options_;
  Budget budget_;
  training::Dataset data_;
  std::vector<const training::Sample*> layers_, networks_, test_layers_, test_networks_;
  TableRun run_;
};

}  // namespace

absl::StatusOr<TableRun> RunAblationTable(const TableOptions& options) { return Table(options).Run(); }

}  // namespace cobra::lab
