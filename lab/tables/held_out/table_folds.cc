#include "lab/tables/held_out/table_folds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "lab/published/regressions/roofline.h"
#include "lab/tables/run/coverage.h"
#include "lab/tables/run/fold_version.h"
#include "lab/tables/run/gpu_rows.h"
#include "lab/tables/run/kept_answers.h"
#include "lab/tables/run/measured_rows.h"
#include "lab/tables/run/public_rows.h"
#include "lab/tables/run/work_folder.h"
#include "model/training/rows/dataset.h"
#include "model/training/trainer.h"

namespace cobra::lab {
namespace {

constexpr char kOurs[] = "COBRA", kMeanOfSeeds[] = "COBRA, mean of the seeds' answers",
               kRoofline[] = "additive roofline, fitted", kMean[] = "mean over the targets",
               kOtherHost[] = "the same device on another host",
               kOtherVersion[] = "the same device with another version of PyTorch, times a factor";
constexpr char kTimm[] = "timm";
constexpr size_t kFewestTests = 20, kFewestOfQuick = 3;
constexpr double kLearningRate = 3e-3;
// A pass over the programs of kernelbench is short. One over timm's rows, eight times as many and
// of hundreds of calls each, takes a quarter of an hour.
struct Passes {
  int epochs;
  double embedding_dropout;  // after ten passes the few programs are known by heart, which it makes harder
};
constexpr Passes kOfPrograms{10, 0.1}, kOfModels{3, 0};

// Predictions of all rows of a target, each by the fit that had its fold left out.
struct LeftOut {
  AnsweredRows rows;
  std::vector<int> fold;
};
using LeftOutTargets = std::map<std::string, LeftOut>;

// What versions that differ in their seed say together: the geometric mean. It shows how much of
// the error is chance in training; one version serves.
LeftOutTargets MeanOfSeeds(const std::vector<LeftOutTargets>& seeds) {
  LeftOutTargets mean;
  for (const auto& [name, first] : seeds[0]) {
    LeftOut& of_target = mean[name];
    of_target.fold = first.fold;
    for (size_t i = 0; i < first.fold.size(); ++i) {
      double logs = 0;
      for (const LeftOutTargets& seed : seeds) logs += std::log(seed.at(name).rows.predicted()[i]);
      of_target.rows.AddWithoutInterval(std::exp(logs / static_cast<double>(seeds.size())), first.rows.measured()[i]);
    }
  }
  return mean;
}

MetricValues FiguresOf(const LeftOut& left_out) {
  const std::vector<double>&predicted = left_out.rows.predicted(), &measured = left_out.rows.measured();
  const std::vector<double> width = CrossConformalHalfWidths(predicted, measured, left_out.fold);
  AnsweredRows answers;
  for (size_t i = 0; i < predicted.size(); ++i) answers.Add(predicted[i], measured[i], width[i]);
  return answers.Cell().figures;
}

class Table {
 public:
  Table(const TableOptions& options, WorkFolder work, PublicRows rows, NewGpuQuestion new_gpus, Passes passes)
      : run_(options),
        work_(std::move(work)),
        rows_(std::move(rows)),
        new_gpus_(std::move(new_gpus)),
        passes_(passes) {}

  absl::StatusOr<TableRun> Run() {
    run_.columns = MedianErrorIntervalAndCountColumns();
    const int seeds = run_.options.quick ? 1 : run_.options.seeds;
    if (!run_.options.quick) COBRA_RETURN_IF_ERROR(CheckUnseen(run_.options.model, rows_.sets()));
    COBRA_ASSIGN_OR_RETURN(const GpuRows gpus,
                           GpuRows::Read(run_.options, absl::string_view(new_gpus_.source) == kTimm));
    std::vector<TablePart> parts;
    for (int seed = 1; seed <= seeds; ++seed) {
      for (int fold = 0; fold < folds(); ++fold) parts.push_back(Part(seed, fold));
    }
    // Last, because versions without a GPU are shared with the table `kernels`, which may be
    // running beside this one.
    for (int seed = 1; seed <= seeds; ++seed) {
      for (TablePart& part : NewGpuParts(new_gpus_, gpus, work_, seed, &run_)) parts.push_back(std::move(part));
    }
    COBRA_RETURN_IF_ERROR(AnswerInParallel(run_.options, parts));
    if (run_.options.parts) return std::move(run_);
    std::vector<LeftOutTargets> ours;  // by seed
    for (int seed = 1; seed <= seeds; ++seed) {
      COBRA_RETURN_IF_ERROR(AddNewGpuRows(new_gpus_, gpus, work_, seed, &run_));
      std::map<std::string, LeftOutTargets> methods;
      for (int fold = 0; fold < folds(); ++fold) {
        const auto [name, answer] = Part(seed, fold);
        COBRA_ASSIGN_OR_RETURN(const AnswersOfGroups answers, KeptOrAnswered(run_.options, name, answer));
        for (const auto& [target_and_method, rows] : answers) {
          LeftOut& all = methods[target_and_method.second][target_and_method.first];
          all.rows.Append(rows);
          all.fold.insert(all.fold.end(), rows.predicted().size(), fold);
        }
      }
      for (const auto& [method, targets] : methods) COBRA_RETURN_IF_ERROR(AddRows(method, targets, seed));
      ours.push_back(std::move(methods[kOurs]));
    }
    COBRA_RETURN_IF_ERROR(AddOtherMeasurements());
    if (seeds > 1) COBRA_RETURN_IF_ERROR(AddRows(kMeanOfSeeds, MeanOfSeeds(ours), 1));
    run_.before = {absl::StrCat(
        rows_.what(), " left out in five folds that were drawn once (data/splits). The weights begin with ",
        run_.options.model, ", which has seen none of these rows, and are trained on all targets together.")};
    return std::move(run_);
  }

 private:
  int folds() const { return run_.options.quick ? 1 : rows_.folds(); }
  TablePart Part(int seed, int fold) {
    return {absl::StrCat("fold-", fold, "-seed-", seed), [=] { return AnswerFold(seed, fold); }};
  }

  // Ours and the roofline, a group for each target.
  absl::StatusOr<AnswersOfGroups> AnswerFold(int seed, int fold) {
    rows_.LeaveOut(fold);
    const FoldTraining training{seed, fold, passes_.epochs, kLearningRate, passes_.embedding_dropout};
    COBRA_ASSIGN_OR_RETURN(const std::string directory, TrainFoldVersion(run_.options, work_, training, rows_.sets()));
    AnswersOfGroups answers;
    for (size_t target = 0; target < rows_.sets().size(); ++target) {
      const std::string& name = rows_.sets()[target].target.name;
      const auto train = rows_.Of(target, training::Split::kTrain), tests = rows_.Of(target, training::Split::kTest);
      if (tests.empty()) continue;
      COBRA_ASSIGN_OR_RETURN(const training::Predictions predicted,
                             training::PredictSamples(directory, tests, static_cast<int>(target)));
      AnsweredRows& ours = answers[{name, kOurs}];
      for (size_t i = 0; i < tests.size(); ++i)
        ours.AddWithoutInterval(predicted.latency_us[i], tests[i]->latency_us());
      if (!train.empty()) answers[{name, kRoofline}] = AnswersOfRoofline(train, tests);
    }
    return answers;
  }

  static AnsweredRows AnswersOfRoofline(const std::vector<const training::Sample*>& train,
                                        const std::vector<const training::Sample*>& tests) {
    FeatureRows of_train, of_tests;
    for (const training::Sample* row : train) of_train.push_back(RooflineFeatures(row->graph()));
    for (const training::Sample* row : tests) of_tests.push_back(RooflineFeatures(row->graph()));
    const std::vector<double> predicted = FitRelativeNonNegative(of_train, LatencyOf(train), of_tests);
    AnsweredRows answers;
    for (size_t i = 0; i < tests.size(); ++i) answers.AddWithoutInterval(predicted[i], tests[i]->latency_us());
    return answers;
  }

  absl::Status AddRows(const std::string& method, const LeftOutTargets& targets, int seed) {
    std::map<std::string, std::pair<MetricValues, double>> sums;  // by compile mode: of the figures, of the targets
    for (const auto& [name, left_out] : targets) {
      if (left_out.fold.size() < (run_.options.quick ? kFewestOfQuick : kFewestTests)) continue;
      const MetricValues figures = FiguresOf(left_out);
      COBRA_RETURN_IF_ERROR(run_.AddFigures(method, name, seed, figures));
      auto& [sum, count] = sums[rows_.ModeOf(name)];
      for (size_t i = 0; i < figures.size(); ++i) {
        if (sum.size() <= i) sum.emplace_back(figures[i].first, 0);
        sum[i].second += figures[i].second;
      }
      count += 1;
    }
    for (auto& [mode, of_mode] : sums) {
      for (auto& [figure, value] : of_mode.first) value /= of_mode.second;
      COBRA_RETURN_IF_ERROR(run_.AddFigures(method, absl::StrCat(kMean, ", ", mode), seed, of_mode.first));
    }
    return absl::OkStatus();
  }

  // How far two measurements of a device are apart that its data sheet does not tell apart: on
  // another host, where no prediction can do better for both; and with another version of PyTorch,
  // but for a factor.
  absl::Status AddOtherMeasurements() {
    for (const training::Dataset& data : rows_.sets()) {
      for (const bool of_version : {false, true}) {
        const training::Dataset* other = OtherMeasurementOf(data, of_version);
        if (other == nullptr) continue;
        const AnsweredRows answers = AnswersOfOther(data, *other, of_version);
        if (answers.predicted().empty()) continue;  // other networks
        COBRA_RETURN_IF_ERROR(
            run_.AddFigures(of_version ? kOtherVersion : kOtherHost, data.target.name, 1, answers.Cell().figures));
      }
    }
    return absl::OkStatus();
  }

  static AnsweredRows AnswersOfOther(const training::Dataset& data, const training::Dataset& other, bool times_factor) {
    std::map<std::string, double> there;
    for (const training::Sample& row : other.samples) there[row.fingerprint()] = row.latency_us();
    std::vector<double> predicted, measured, ratios;
    for (const training::Sample& row : data.samples) {
      const auto same = there.find(row.fingerprint());
      if (same == there.end()) continue;
      predicted.push_back(same->second);
      measured.push_back(row.latency_us());
      ratios.push_back(measured.back() / predicted.back());
    }
    const double factor = times_factor ? Median(std::move(ratios)) : 1;
    AnsweredRows answers;
    for (size_t i = 0; i < predicted.size(); ++i) answers.AddWithoutInterval(factor * predicted[i], measured[i]);
    return answers;
  }

  // Null: nobody else measured the device in this way, or with another version.
  const training::Dataset* OtherMeasurementOf(const training::Dataset& data, bool of_version) const {
    const predict::TargetSpec& spec = data.target;
    for (const training::Dataset& other : rows_.sets()) {
      const predict::TargetSpec& is = other.target;
      if (is.name != spec.name && is.device == spec.device && (is.runtime != spec.runtime) == of_version &&
          is.compile == spec.compile && is.precision == spec.precision && is.layout == spec.layout)
        return &other;
    }
    return nullptr;
  }

  TableRun run_;
  WorkFolder work_;
  PublicRows rows_;
  NewGpuQuestion new_gpus_;
  Passes passes_;
};

absl::StatusOr<TableRun> RunFolds(const TableOptions& options, const PublicSource& source, NewGpuQuestion new_gpus,
                                  Passes passes) {
  COBRA_ASSIGN_OR_RETURN(PublicRows rows, PublicRows::Read(options, source));
  absl::StatusOr<WorkFolder> work = WorkFolder::Make(options);
  if (!work.ok()) return work.status();
  return Table(options, *std::move(work), std::move(rows), std::move(new_gpus), passes).Run();
}

}  // namespace

absl::StatusOr<TableRun> RunKernelBenchTable(const TableOptions& options) {
  return RunFolds(
      options,
      {"Problems", "data/public/kernelbench", "data/splits/kernelbench-problems.csv", {"data/public/neusight"}},
      {"kernelbench", {0, 5}}, kOfPrograms);
}

absl::StatusOr<TableRun> RunRealModelsTable(const TableOptions& options) {
  return RunFolds(options, {"Families", "data/public/timm", "data/splits/timm-families.csv", {}}, {kTimm, {10}, 300},
                  kOfModels);
}

}  // namespace cobra::lab
