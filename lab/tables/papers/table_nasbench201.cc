#include "lab/tables/papers/table_nasbench201.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "lab/published/networks/gcn.h"
#include "lab/published/regressions/boosted_trees.h"
#include "lab/published/regressions/linear.h"
#include "lab/tables/papers/nasbench201_data.h"
#include "lab/variants/space_net_variants.h"
#include "model/space/models/space_fit.h"

namespace cobra::lab {
namespace {

constexpr const char* kGpu = "desktop_gpu_gtx_1080ti_fp32";
constexpr const char* kCpu = "desktop_cpu_core_i7_7820x_fp32";
constexpr const char* kDsp = "mobile_dsp_snapdragon_855_hexagon_690_int8";

constexpr const char* kOurs = "COBRA: mean of both";
constexpr const char* kNetworks = "COBRA: additive networks";
constexpr const char* kProcess = "COBRA: Gaussian process";
constexpr const char* kGcnPaper = "BRP-NAS: GCN 4 x 600, batch 10, rate 8e-4";
constexpr const char* kGcnCode = "BRP-NAS, Yue: GCN 4 x 600, batch 1, rate 4e-4";
constexpr const char* kTrees = "boosted trees, one-hot";
constexpr const char* kPathTrees = "boosted trees, paths of the pruned cell";
constexpr const char* kLinear = "linear, one-hot";
constexpr const char* kLayerWise = "layer-wise: a fitted look-up table";
constexpr const char* kOtherColumn = "ceiling: the other desktop column";
constexpr const char* kSameCell = "ceiling: other test cells that prune to the same network";

constexpr const char* kMoreRows = "desktop GPU, 2,000 rows for training";
constexpr const char* kTheirParts = "desktop GPU, what the published network owes to its parts";
constexpr const char* kOurParts = "desktop GPU, what ours owes to its parts";
constexpr const char* kAllCells = "15,625 cells, strings to latencies";

struct Predicted {
  std::vector<double> latency_ms;  // of each row of the table
  int64_t parameters = 0;
  double seconds = 0;  // time of fitting and predicting
};

double SecondsSince(double start) { return ProcessorSeconds() - start; }

// The geometric mean of each pair of values.
std::vector<double> Between(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> mean;
  for (size_t i = 0; i < a.size(); ++i) mean.push_back(std::sqrt(a[i] * b[i]));
  return mean;
}

// Rows of one device and seed, and the models fitted to them. Both parts of our prediction also
// have their own rows.
class Fits {
 public:
  Fits(const Nasbench201Data& data, SpaceSplit split, const TableOptions& options, int seed)
      : data_(data), split_(std::move(split)), quick_(options.quick), seed_(static_cast<uint64_t>(seed)) {}

  const SpaceSplit& split() const { return split_; }

  const Predicted& Networks() {
    if (!networks_) networks_ = Networks(OurOptions(), /*described=*/false);
    return *networks_;
  }
  const Predicted& Process() {
    if (!process_) {
      const double start = ProcessorSeconds();
      const space::GaussianProcess process = FitProcess();
      process_ = Predicted{data_.cells.Spread(process.Predict(data_.cells.features)), process.parameters(),
                           SecondsSince(start)};
    }
    return *process_;
  }
  Predicted Both() {
    const Predicted &networks = Networks(), &process = Process();
    return {Between(networks.latency_ms, process.latency_ms), networks.parameters + process.parameters,
            networks.seconds + process.seconds};
  }

  Predicted Networks(const space::AdditiveFitOptions& options, bool described) const {
    const double start = ProcessorSeconds();
    const space::DenseGraphs& graphs = described ? data_.described : data_.cells.graphs;
    const space::AdditiveEnsemble ensemble(graphs, data_.cells.Places(split_.train), options);
    return {data_.cells.Spread(ensemble.LatencyMs(graphs)), ensemble.parameters(), SecondsSince(start)};
  }
  space::GaussianProcess FitProcess() const {
    space::GaussianProcessOptions options;
    options.seed = seed_;
    if (quick_) options.rows = 100, options.steps = 5, options.draws = 1;
    const space::SpaceRowSet train = data_.cells.Places(split_.train);
    return space::GaussianProcess(data_.cells.features.Select(space::IndexTensor(train)), train.latency_ms, options);
  }
  Predicted PublishedNetwork(const GcnFitOptions& options) const {
    GcnFit fit = FitGcn(data_.contracted, split_.train, split_.validation, options);
    return {std::move(fit.latency_ms), fit.parameters};
  }

  space::AdditiveFitOptions OurOptions() const {
    space::AdditiveFitOptions ours;
    ours.net.kinds = data_.cells.graphs.kinds.size(2);
    ours.seed = seed_;
    if (quick_) ours.networks = 1, ours.epochs = 2, ours.net.width = 32;
    return ours;
  }
  GcnFitOptions PublishedOptions(int batch, double rate) const {
    GcnFitOptions gcn;
    gcn.net.kinds = data_.contracted.kinds.size(2);
    gcn.batch = batch;
    gcn.learning_rate = rate;
    gcn.seed = seed_;
    if (quick_) gcn.epochs = 1, gcn.net.width = 64, gcn.batch = std::max(gcn.batch, 32);
    return gcn;
  }
  // Predictions of trees fitted to `features`, which all rows have.
  absl::StatusOr<Predicted> Trees(const FeatureRows& features) const {
    TreeOptions trees;
    trees.seed = seed_;
    if (quick_) trees.trees = 50;
    COBRA_ASSIGN_OR_RETURN(std::vector<double> latency,
                           FitTrees(TrainRows(features), split_.train.latency_ms, features, trees));
    return Predicted{std::move(latency)};
  }
  Predicted Line(const FeatureRows& features) const {
    return {FitLinear(TrainRows(features), split_.train.latency_ms, features),
            static_cast<int64_t>(features[0].size()) + 1};
  }

 private:
  FeatureRows TrainRows(const FeatureRows& all) const {
    FeatureRows chosen;
    for (int64_t i : split_.train.index) chosen.push_back(all[static_cast<size_t>(i)]);
    return chosen;
  }

  const Nasbench201Data& data_;
  const SpaceSplit split_;
  const bool quick_;
  const uint64_t seed_;
  std::optional<Predicted> networks_, process_;
};

class Table {
 public:
  explicit Table(const TableOptions& options)
      : options_(options), folder_(options.tables + "/nasbench201"), run_(options) {}

  // The most important rows come first: an interrupted run has three seeds of the main rows before
  // it starts the slow ones.
  absl::StatusOr<TableRun> Run() {
    COBRA_ASSIGN_OR_RETURN(data_, LoadNasbench201(folder_));
    Describe();
    const std::vector<std::string> devices =
        options_.quick ? std::vector<std::string>{kGpu} : std::vector<std::string>{kGpu, kCpu, kDsp};
    using Part = absl::Status (Table::*)(const std::string& device, int seed);
    const auto each = [&](Part part, bool all_devices) -> absl::Status {
      for (int seed = 1; seed <= options_.seeds; ++seed) {
        for (const std::string& device : devices) {
          if (all_devices || device == kGpu) COBRA_RETURN_IF_ERROR((this->*part)(device, seed));
        }
      }
      return absl::OkStatus();
    };
    COBRA_RETURN_IF_ERROR(each(&Table::FastRows, true));
    COBRA_RETURN_IF_ERROR(AllCells());
    COBRA_RETURN_IF_ERROR(each(&Table::NetworkRows, true));
    COBRA_RETURN_IF_ERROR(each(&Table::MoreRows, false));
    COBRA_RETURN_IF_ERROR(each(&Table::OurParts, false));
    COBRA_RETURN_IF_ERROR(each(&Table::TheirParts, false));
    COBRA_RETURN_IF_ERROR(each(&Table::ReleasedCode, true));
    return std::move(run_);
  }

 private:
  using Make = std::function<absl::StatusOr<Predicted>()>;

  void Describe() {
    const auto published = [this](const char* method, const char* group, const char* figures) {
      run_.published[absl::StrCat(method, "/", group)] = figures;
    };
    published(kGcnPaper, kGpu, "BRP-NAS 36.7 ± 4.0 / 85.9 ± 1.9 / 96.9 ± 0.8");
    published(kGcnPaper, kCpu, "BRP-NAS 36.0 ± 3.5 / 85.2 ± 1.8 / 96.4 ± 0.7");
    published(kGcnPaper, kDsp, "BRP-NAS 21.3 ± 1.9 / 77.5 ± 2.6 / 94.2 ± 0.4");
    published(kGcnCode, kGpu, "Yue 38.5 / 85.8 / 97.1");
    published(kGcnCode, kCpu, "Yue 34.5 / 84.1 / 96.1");
    published(kGcnCode, kDsp, "Yue 23.8 / 76.9 / 90.1");
    published(kTrees, kGpu, "11.2 / 50.4 / 78.7");
    published(kLinear, kGpu, "6.0 / 30.0 / 54.5");
    published(kLayerWise, kGpu, "4.2 ± 0.2 / 18.2 ± 1.5 / 29.6 ± 1.1");
    published(kGcnPaper, kMoreRows, "Yue 43.5 / 90.0 / 97.9 (batch 1)");
    published("identity adjacency", kTheirParts, "Yue 3.3 / 10.25 / 18.9");
    published("random features", kTheirParts, "Yue 3.1 / 16.0 / 31.7");
    published("batch 1, rate 4e-4", kTheirParts, "Yue 38.5 / 85.8 / 97.1");
    published("batch 2, rate 4e-4", kTheirParts, "Yue 39.4 / 86.7 / 97.2");
    published("batch 4, rate 4e-4", kTheirParts, "Yue 37.5 / 86.7 / 97.0");
    published("batch 8, rate 4e-4", kTheirParts, "Yue 30.6 / 80.5 / 94.8");
    published("batch 64, rate 4e-4", kTheirParts, "Yue 7.2 / 35.4 / 60.8");
    published(kGcnPaper, kAllCells, "Yue 6.74 s for 14,000 (Xeon 8163, PyTorch)");
    run_.methods = {kLayerWise, kLinear,   kTrees, kPathTrees,   kGcnPaper, kGcnCode,
                    kProcess,   kNetworks, kOurs,  kOtherColumn, kSameCell};
    run_.columns.push_back({"n", "test rows", 1, 0});
    run_.columns.push_back({"seconds", "seconds for all", 1, 2});
    run_.before = {
        "900 cells for training, 100 for validation (of which the published network alone makes use), every other cell "
        "that the device has is a test row: `lab/data/nasbench201`. "
        "Published figures are shares within 1, 5, 10 % on other splits of the same data, by their authors; Yue's "
        "network is that of BRP-NAS with the rate and the batch of its released code."};
    run_.after = {
        "*COBRA: Gaussian process* (`model/space/models/gaussian_process.h`) compares cells by what runs in them after "
        "pruning; *additive networks* are four graph networks (`model/space/models/space_nets.h`), *mean of both* is "
        "geometric. The process's features and options were chosen by cross-validation within the 900 rows of the "
        "first split; those of the networks come from a prototype that was judged on random splits of its own, whose "
        "test rows are partly test rows here.",
        "*Ceilings* are no methods: they look at measurements of the test rows. The two desktop columns are "
        "near-repeats of each other (two runs on one device, it seems). Cells that prune to the same network ran the "
        "same program; each is predicted by the median of the others, where there are four at least."};
  }

  // Adds predictions for every row of the data set, evaluated on the test rows.
  absl::Status Add(const std::string& method, const std::string& group, int seed, const SpaceSplit& split,
                   const Make& make) {
    return run_.Add(method, group, seed, [&]() -> absl::StatusOr<TableCell> {
      COBRA_ASSIGN_OR_RETURN(const Predicted predicted, make());
      const auto chosen = [&predicted](const space::SpaceRowSet& rows) {
        std::vector<double> latency_ms;
        for (int64_t i : rows.index) latency_ms.push_back(predicted.latency_ms[static_cast<size_t>(i)]);
        return latency_ms;
      };
      TableCell cell = MetricsCell(chosen(split.test), split.test.latency_ms);
      // The only figures that may decide a choice between methods; in the JSON form only.
      const training::Metrics validation =
          training::ComputeMetrics(chosen(split.validation), split.validation.latency_ms);
      cell.figures.insert(cell.figures.end(), {{"validation_mape", validation.mape},
                                               {"validation_within_1", validation.within_1},
                                               {"validation_within_5", validation.within_5}});
      cell.parameters = predicted.parameters;
      cell.seconds = predicted.seconds;
      return cell;
    });
  }

  static TableCell MetricsCell(const std::vector<double>& predicted, const std::vector<double>& measured) {
    TableCell cell;
    cell.figures = ToMetricValues(training::ComputeMetrics(predicted, measured));
    return cell;
  }

  // `rows`: "" for 900, "2000-" for 2,000.
  absl::StatusOr<Fits> FitsOf(const std::string& device, int seed, const std::string& rows = "") {
    COBRA_ASSIGN_OR_RETURN(const size_t column, data_.rows.Device(device));
    COBRA_ASSIGN_OR_RETURN(SpaceSplit split,
                           LoadSpaceSplit(absl::StrCat(folder_, "/split-", rows, seed, ".csv"), data_.rows, column));
    return Fits(data_, std::move(split), options_, seed);
  }

  absl::Status FastRows(const std::string& device, int seed) {
    COBRA_ASSIGN_OR_RETURN(Fits fits, FitsOf(device, seed));
    const auto add = [&](const char* method, const Make& make) {
      return Add(method, device, seed, fits.split(), make);
    };
    COBRA_RETURN_IF_ERROR(add(kLayerWise, [&] { return fits.Line(data_.counts); }));
    COBRA_RETURN_IF_ERROR(add(kLinear, [&] { return fits.Line(data_.one_hot); }));
    COBRA_RETURN_IF_ERROR(add(kTrees, [&] { return fits.Trees(data_.one_hot); }));
    COBRA_RETURN_IF_ERROR(add(kPathTrees, [&] { return fits.Trees(data_.paths); }));
    COBRA_RETURN_IF_ERROR(add(kProcess, [&] { return fits.Process(); }));
    if (device != kDsp) COBRA_RETURN_IF_ERROR(OtherColumn(device, seed, fits.split()));
    return SameCells(device, seed, fits.split());
  }

  absl::Status NetworkRows(const std::string& device, int seed) {
    COBRA_ASSIGN_OR_RETURN(Fits fits, FitsOf(device, seed));
    const auto add = [&](const char* method, const Make& make) {
      return Add(method, device, seed, fits.split(), make);
    };
    COBRA_RETURN_IF_ERROR(add(kGcnPaper, [&] { return fits.PublishedNetwork(fits.PublishedOptions(10, 8e-4)); }));
    COBRA_RETURN_IF_ERROR(add(kNetworks, [&] { return fits.Networks(); }));
    return add(kOurs, [&] { return fits.Both(); });
  }

  absl::Status ReleasedCode(const std::string& device, int seed) {
    COBRA_ASSIGN_OR_RETURN(Fits fits, FitsOf(device, seed));
    return Add(kGcnCode, device, seed, fits.split(),
               [&] { return fits.PublishedNetwork(fits.PublishedOptions(1, 4e-4)); });
  }

  absl::Status OtherColumn(const std::string& device, int seed, const SpaceSplit& split) {
    return run_.Add(kOtherColumn, device, seed, [&]() -> absl::StatusOr<TableCell> {
      COBRA_ASSIGN_OR_RETURN(const size_t other, data_.rows.Device(device == kGpu ? kCpu : kGpu));
      std::vector<double> predicted, measured;
      for (size_t i = 0; i < split.test.index.size(); ++i) {
        const double ms = data_.rows.latency_ms[other][static_cast<size_t>(split.test.index[i])];
        if (std::isnan(ms)) continue;
        predicted.push_back(ms);
        measured.push_back(split.test.latency_ms[i]);
      }
      return MetricsCell(predicted, measured);
    });
  }

  absl::Status SameCells(const std::string& device, int seed, const SpaceSplit& split) {
    return run_.Add(kSameCell, device, seed, [&]() -> absl::StatusOr<TableCell> {
      std::map<int64_t, std::vector<double>> by_cell;
      for (size_t i = 0; i < split.test.index.size(); ++i) {
        by_cell[data_.cells.distinct.place[static_cast<size_t>(split.test.index[i])]].push_back(
            split.test.latency_ms[i]);
      }
      std::vector<double> predicted, measured;
      for (const auto& [place, latencies] : by_cell) {
        for (size_t left_out = 0; latencies.size() > 4 && left_out < latencies.size(); ++left_out) {
          std::vector<double> others = latencies;
          others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
          predicted.push_back(UpperMedian(std::move(others)));
          measured.push_back(latencies[left_out]);
        }
      }
      return MetricsCell(predicted, measured);
    });
  }

  absl::Status MoreRows(const std::string& device, int seed) {
    COBRA_ASSIGN_OR_RETURN(Fits fits, FitsOf(device, seed, "2000-"));
    const auto add = [&](const char* method, const Make& make) {
      return Add(method, kMoreRows, seed, fits.split(), make);
    };
    COBRA_RETURN_IF_ERROR(add(kPathTrees, [&] { return fits.Trees(data_.paths); }));
    COBRA_RETURN_IF_ERROR(add(kProcess, [&] { return fits.Process(); }));
    COBRA_RETURN_IF_ERROR(add(kNetworks, [&] { return fits.Networks(); }));
    COBRA_RETURN_IF_ERROR(add(kOurs, [&] { return fits.Both(); }));
    return add(kGcnPaper, [&] { return fits.PublishedNetwork(fits.PublishedOptions(10, 8e-4)); });
  }

  absl::Status OurParts(const std::string& device, int seed) {
    COBRA_ASSIGN_OR_RETURN(Fits fits, FitsOf(device, seed));
    space::AdditiveFitOptions one = fits.OurOptions();
    one.networks = 1;
    const auto add = [&](const char* what, const space::AdditiveFitOptions& options, bool described = false) {
      return Add(what, kOurParts, seed, fits.split(),
                 [&fits, options, described] { return fits.Networks(options, described); });
    };
    const auto variant = [&one](MakeSpaceNet make_net) {
      space::AdditiveFitOptions options = one;
      options.make_net = std::move(make_net);
      return options;
    };
    space::AdditiveFitOptions of_descriptions = one;
    of_descriptions.net.kinds = data_.described.kinds.size(2);
    COBRA_RETURN_IF_ERROR(add("one additive network", one));
    COBRA_RETURN_IF_ERROR(add("no global node", variant(WithoutMessages({"global"}))));
    COBRA_RETURN_IF_ERROR(add("messages along the data flow only", variant(WithoutMessages({"against"}))));
    COBRA_RETURN_IF_ERROR(add("messages against the data flow only", variant(WithoutMessages({"along"}))));
    COBRA_RETURN_IF_ERROR(add("operators described, not one-hot", of_descriptions, /*described=*/true));
    return add("one number off the sum of features, not contributions", variant(MakeNetOfSums));
  }

  // Uses the batch size of the paper's supplement, except where the batch size itself is studied.
  absl::Status TheirParts(const std::string& device, int seed) {
    COBRA_ASSIGN_OR_RETURN(Fits fits, FitsOf(device, seed));
    const auto add = [&](const std::string& what, const GcnFitOptions& options) {
      return Add(what, kTheirParts, seed, fits.split(), [&fits, options] { return fits.PublishedNetwork(options); });
    };
    GcnFitOptions changed = fits.PublishedOptions(10, 8e-4);
    changed.net.identity_adjacency = true;
    COBRA_RETURN_IF_ERROR(add("identity adjacency", changed));
    changed = fits.PublishedOptions(10, 8e-4);
    changed.net.random_features = true;
    COBRA_RETURN_IF_ERROR(add("random features", changed));
    for (int batch : {64, 8, 4, 2})
      COBRA_RETURN_IF_ERROR(add(absl::StrCat("batch ", batch, ", rate 4e-4"), fits.PublishedOptions(batch, 4e-4)));
    return absl::OkStatus();
  }

  // Both models read the strings. The published one runs once as published, and once without equal
  // cells, as ours.
  absl::Status AllCells() {
    COBRA_ASSIGN_OR_RETURN(Fits fits, FitsOf(kGpu, 1));
    const std::vector<std::string> archs = AllNasbench201();
    const auto add = [&](const char* method, int64_t parameters, const std::function<absl::Status()>& predict) {
      return run_.Add(method, kAllCells, 1, [&]() -> absl::StatusOr<TableCell> {
        const double start = ProcessorSeconds();
        COBRA_RETURN_IF_ERROR(predict());
        TableCell cell;
        cell.seconds = SecondsSince(start);
        cell.figures = {{"seconds", cell.seconds}};
        cell.parameters = parameters;
        return cell;
      });
    };
    // Only the prediction is timed: networks of the table's sizes are fitted very briefly.
    space::AdditiveFitOptions ours = fits.OurOptions();
    ours.epochs = 1;
    const space::SpaceRowSet train = data_.cells.Places(fits.split().train);
    const space::AdditiveEnsemble ensemble(data_.cells.graphs, train, ours);
    const space::GaussianProcess process = fits.FitProcess();
    COBRA_RETURN_IF_ERROR(add(kOurs, ensemble.parameters() + process.parameters(), [&]() -> absl::Status {
      COBRA_ASSIGN_OR_RETURN(const space::PrunedCells cells, space::MakePrunedCells(archs));
      return Complete(cells.Spread(Between(ensemble.LatencyMs(cells.graphs), process.Predict(cells.features))));
    }));
    COBRA_RETURN_IF_ERROR(add(kProcess, process.parameters(), [&]() -> absl::Status {
      COBRA_ASSIGN_OR_RETURN(const space::PrunedCells cells, space::MakePrunedCells(archs));
      return Complete(cells.Spread(process.Predict(cells.features)));
    }));
    Gcn net(fits.PublishedOptions(10, 8e-4).net);
    const GcnOptions form = fits.PublishedOptions(10, 8e-4).net;
    COBRA_RETURN_IF_ERROR(add(kGcnPaper, space::ParametersOf(net), [&]() -> absl::Status {
      COBRA_ASSIGN_OR_RETURN(const space::DenseGraphs graphs, MakeContractedCells(archs));
      return Complete(GcnLatencyMs(MakeGcnGraphs(graphs, form), net, 1));
    }));
    return add("BRP-NAS: GCN 4 x 600, each pruned cell once", space::ParametersOf(net), [&]() -> absl::Status {
      COBRA_ASSIGN_OR_RETURN(const space::PrunedCells cells, space::MakePrunedCells(archs));
      std::vector<std::string> once;
      for (int64_t first : cells.distinct.first) once.push_back(archs[static_cast<size_t>(first)]);
      COBRA_ASSIGN_OR_RETURN(const space::DenseGraphs graphs, MakeContractedCells(once));
      return Complete(cells.Spread(GcnLatencyMs(MakeGcnGraphs(graphs, form), net, 1)));
    });
  }

  static absl::Status Complete(const std::vector<double>& latency_ms) {
    const bool finite =
        std::all_of(latency_ms.begin(), latency_ms.end(), [](double ms) { return std::isfinite(ms) && ms > 0; });
    return finite && latency_ms.size() == 15625 ? absl::OkStatus() : absl::InternalError("a cell has no latency");
  }

  const TableOptions options_;
  const std::string folder_;
  Nasbench201Data data_;
  TableRun run_;
};

}  // namespace

absl::StatusOr<TableRun> RunNasbench201Table(const TableOptions& options) { return Table(options).Run(); }

}  // namespace cobra::lab
