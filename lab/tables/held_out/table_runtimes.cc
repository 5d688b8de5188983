#include "lab/tables/held_out/table_runtimes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "lab/published/regressions/roofline.h"
#include "lab/tables/run/coverage.h"
#include "lab/tables/run/measured_rows.h"
#include "model/predict/weights/bundle.h"
#include "model/training/rows/dataset.h"
#include "model/training/trainer.h"

namespace cobra::lab {
namespace {

constexpr char kOurs[] = "COBRA", kLayerSum[] = "sum of layers alone, scaled",
               kFused[] = "sum of fused kernels, fitted (in the manner of nn-Meter)",
               kRoofline[] = "additive roofline, fitted", kFastest[] = "fastest of the runtimes";
constexpr size_t kFewestTests = 5, kQuickRows = 60;
// Two runtimes that differ by less are equally good.
constexpr double kClearlyFaster = 1.1;

using Rows = std::vector<const training::Sample*>;

// A seed's predictions on one target.
struct Target {
  training::Dataset data;
  Rows train, tests;
  training::Predictions of_train, of_tests;
  std::vector<double> half_width;  // of tests
};

std::vector<double> OnlySpace(const Rows& rows, const std::vector<double>& values, absl::string_view space) {
  std::vector<double> kept;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i]->space() == space) kept.push_back(values[i]);
  }
  return kept;
}

FeatureRows FeaturesOf(const Rows& rows, std::vector<double> (*features)(const graph::Graph&)) {
  FeatureRows all;
  for (const training::Sample* row : rows) all.push_back(features(row->graph()));
  return all;
}

class Table {
 public:
  explicit Table(const TableOptions& options) : run_(options) {}

  absl::StatusOr<TableRun> Run() {
    run_.columns = ErrorIntervalAndCountColumns();
    run_.columns.push_back({"right", "named right", 100, 1});
    const std::vector<std::string> seeds = SeedsOf(run_.options.model);
    COBRA_RETURN_IF_ERROR(ReadTargets(seeds[0]));
    for (size_t seed = 0; seed < std::min(seeds.size(), static_cast<size_t>(run_.options.seeds)); ++seed) {
      for (auto& [name, target] : targets_) {
        COBRA_RETURN_IF_ERROR(Predict(seeds[seed], &target));
        for (const char* space : kLibraries)
          COBRA_RETURN_IF_ERROR(AddSpace(name, target, space, static_cast<int>(seed + 1)));
      }
      COBRA_RETURN_IF_ERROR(AddFastest(static_cast<int>(seed + 1)));
    }
    run_.before = {
        "Families of torchvision and of timm (a family: a module) that no training has seen, in each runtime. All "
        "methods have the same training rows and the same tests. The repeatability is the median difference of "
        "networks that were measured twice: nobody can be better."};
    run_.after = {
        "`named right`: of the test networks that were measured in at least two runtimes of a processor, of which the "
        "fastest is ahead by more than 10 %, the share for which the prediction names it."};
    return std::move(run_);
  }

 private:
  absl::Status ReadTargets(const std::string& model) {
    COBRA_ASSIGN_OR_RETURN(const predict::ModelBundle bundle, predict::LoadBundle(model));
    COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> folders, TargetFolders(run_.options.rows));
    for (const std::string& folder : folders) {
      COBRA_ASSIGN_OR_RETURN(training::Dataset data, training::LoadMeasurements(folder));
      if (!training::TargetOf(bundle.manifest, data).ok()) continue;
      const std::string name = data.target.name;
      Target& target = targets_[name];
      target.data = std::move(data);
      for (const training::Sample& s : target.data.samples) {
        if (!s.is_network()) continue;
        if (s.split == training::Split::kTrain) target.train.push_back(&s);
        if (s.split == training::Split::kTest && IsOfLibrary(s)) target.tests.push_back(&s);
      }
      if (run_.options.quick) {
        target.train.resize(std::min(target.train.size(), kQuickRows));
        target.tests.resize(std::min(target.tests.size(), kQuickRows));
      }
      if (target.tests.size() < kFewestTests) targets_.erase(name);
    }
    if (!targets_.empty()) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(run_.options.rows, ": no folder of a target of ", model, " has ",
                                                      kFewestTests, " test networks of torchvision and timm"));
  }

  static absl::Status Predict(const std::string& model, Target* target) {
    COBRA_ASSIGN_OR_RETURN(const predict::ModelBundle bundle, predict::LoadBundle(model));
    COBRA_ASSIGN_OR_RETURN(const int index, training::TargetOf(bundle.manifest, target->data));
    COBRA_ASSIGN_OR_RETURN(target->of_train, training::PredictSamples(model, target->train, index));
    COBRA_ASSIGN_OR_RETURN(target->of_tests, training::PredictSamples(model, target->tests, index));
    target->half_width.clear();
    for (const std::vector<float>& embedding : target->of_tests.embedding) {
      target->half_width.push_back(
          bundle.manifest.targets[static_cast<size_t>(index)].interval.network.HalfWidthOf(embedding));
    }
    return absl::OkStatus();
  }

  absl::Status AddSpace(const std::string& name, const Target& target, const char* space, int seed) {
    const std::vector<double> measured = OnlySpace(target.tests, LatencyOf(target.tests), space);
    if (measured.size() < kFewestTests) return absl::OkStatus();
    const std::string group = absl::StrCat(name, ": ", space);
    const auto errors = [&](const std::vector<double>& predicted) {
      TableCell cell{};
      cell.figures = ToMetricValues(training::ComputeMetrics(OnlySpace(target.tests, predicted, space), measured));
      return cell;
    };
    COBRA_RETURN_IF_ERROR(run_.Add(kOurs, group, seed, [&]() -> absl::StatusOr<TableCell> {
      return ErrorAndIntervalCell(OnlySpace(target.tests, target.of_tests.latency_us, space), measured,
                                  OnlySpace(target.tests, target.half_width, space), 0);
    }));
    COBRA_RETURN_IF_ERROR(run_.Add(kLayerSum, group, seed, [&]() -> absl::StatusOr<TableCell> {
      const std::vector<double> of_train = LatencyOf(target.train);
      std::vector<double> ratios, scaled;
      for (size_t i = 0; i < of_train.size(); ++i) ratios.push_back(of_train[i] / target.of_train.layer_sum_us[i]);
      const double scale = ratios.empty() ? 1 : UpperMedian(std::move(ratios));
      for (double us : target.of_tests.layer_sum_us) scaled.push_back(scale * us);
      return errors(scaled);
    }));
    const auto fitted = [&](const char* method, std::vector<double> (*features)(const graph::Graph&)) {
      return run_.Add(method, group, seed, [&]() -> absl::StatusOr<TableCell> {
        return errors(FitRelativeNonNegative(FeaturesOf(target.train, features), LatencyOf(target.train),
                                             FeaturesOf(target.tests, features)));
      });
    };
    COBRA_RETURN_IF_ERROR(fitted(kFused, FusedRooflineFeatures));
    COBRA_RETURN_IF_ERROR(fitted(kRoofline, RooflineFeatures));
    if (target.data.network_repeats.empty()) return absl::OkStatus();
    return run_.Add(kFloor, group, seed, [&] { return FloorCell(target.data.network_repeats); });
  }

  // Of one network, by target: measured and predicted latency.
  using Latencies = std::map<std::string, std::pair<double, double>>;

  absl::Status AddFastest(int seed) {
    std::map<std::string, std::map<std::string, Latencies>> by_processor;
    for (const auto& [name, target] : targets_) {
      for (size_t i = 0; i < target.tests.size(); ++i) {
        by_processor[ProcessorOf(target.data.target)][target.tests[i]->fingerprint()][name] = {
            target.tests[i]->latency_us(), target.of_tests.latency_us[i]};
      }
    }
    for (const auto& [processor, networks] : by_processor) {
      int64_t clear = 0, right = 0;
      for (const auto& [fingerprint, network] : networks) CountFastest(network, &clear, &right);
      if (clear == 0) continue;
      COBRA_RETURN_IF_ERROR(run_.AddFigures(
          kFastest, processor, seed,
          {{"n", static_cast<double>(clear)}, {"right", static_cast<double>(right) / static_cast<double>(clear)}}));
    }
    return absl::OkStatus();
  }

  // The target's name without its runtime. What else differs (threads, precision, instructions) is
  // another machine.
  static std::string ProcessorOf(const predict::TargetSpec& target) {
    return target.name.substr(0, target.name.rfind(absl::StrCat("-", predict::RuntimeFamily(target))));
  }

  static void CountFastest(const Latencies& network, int64_t* clear, int64_t* right) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    double first = kNone, second = kNone, predicted_first = kNone;
    std::string fastest, named;
    for (const auto& [name, us] : network) {
      if (us.first < first) {
        second = first;
        first = us.first;
        fastest = name;
      } else {
        second = std::min(second, us.first);
      }
      if (us.second < predicted_first) {
        predicted_first = us.second;
        named = name;
      }
    }
    if (second == kNone || second < kClearlyFaster * first) return;
    ++*clear;
    *right += fastest == named;
  }

  TableRun run_;
  std::map<std::string, Target> targets_;
};

}  // namespace

absl::StatusOr<TableRun> RunRuntimesTable(const TableOptions& options) { return Table(options).Run(); }

}  // namespace cobra::lab
