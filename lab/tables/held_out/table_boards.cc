#include "lab/tables/held_out/table_boards.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "lab/published/regressions/profile_floors.h"
#include "lab/tables/run/coverage.h"
#include "lab/tables/run/fold_version.h"
#include "lab/tables/run/kept_answers.h"
#include "lab/tables/run/measured_rows.h"
#include "lab/tables/run/public_rows.h"
#include "lab/tables/run/work_folder.h"
#include "model/predict/predictor.h"
#include "model/training/rows/dataset.h"

namespace cobra::lab {
namespace {

constexpr char kRows[] = "data/public/ncnn-boards", kDeviceFolds[] = "data/splits/boards-devices.csv",
               kNetworkFolds[] = "data/splits/boards-networks.csv";
constexpr char kOurs[] = "COBRA", kPattern[] = "geometric pattern, scaled", kNearest[] = "eight nearest, scaled",
               kGaussian[] = "Gaussian over networks";
constexpr int kFolds = 5;  // of the ten of the devices two at a time
// The last is there to show what more timings would bring.
constexpr size_t kSamples[] = {0, 3, 5, 10, 20};
constexpr size_t kSamplesOfUnknown = 5, kFewestNetworks = 14, kFewestTests = 4;
constexpr int kDraws = 4;
constexpr size_t kQuickStep = 8;  // a quick run: of the devices every eighth
constexpr int kEpochs = 12;
constexpr double kLearningRate = 1.5e-3;

std::string GroupOf(size_t samples) {
  return samples == 0 ? "known networks, data sheet alone" : absl::StrCat("known networks, ", samples, " samples");
}

class Table {
 public:
  Table(const TableOptions& options, WorkFolder work) : run_(options), work_(std::move(work)) {}

  absl::StatusOr<TableRun> Run() {
    run_.columns = ErrorIntervalAndCountColumns();
    COBRA_RETURN_IF_ERROR(Read());
    const bool quick = run_.options.quick;
    if (!quick) COBRA_RETURN_IF_ERROR(CheckUnseen(run_.options.model, data_));
    const int seeds = quick ? 1 : run_.options.seeds, folds = quick ? 1 : kFolds;
    const auto part = [this](int seed, int fold) -> TablePart {
      return {absl::StrCat("fold-", fold, "-seed-", seed), [=] { return TestFold(seed, fold); }};
    };
    std::vector<TablePart> parts;
    for (int seed = 1; seed <= seeds; ++seed) {
      for (int fold = 0; fold < folds; ++fold) parts.push_back(part(seed, fold));
    }
    COBRA_RETURN_IF_ERROR(AnswerInParallel(run_.options, parts));
    if (run_.options.parts) return std::move(run_);
    for (int seed = 1; seed <= seeds; ++seed) {
      AnswersOfGroups tests;
      for (int fold = 0; fold < folds; ++fold) {
        const auto [name, answer] = part(seed, fold);
        COBRA_ASSIGN_OR_RETURN(const AnswersOfGroups of_fold, KeptOrAnswered(run_.options, name, answer));
        AddAnswers(of_fold, &tests);
      }
      for (const auto& [key, answers] : tests) {
        const auto& [group, method] = key;
        COBRA_RETURN_IF_ERROR(
            run_.Add(method, group, seed, [&a = answers]() -> absl::StatusOr<TableCell> { return a.Cell(); }));
      }
    }
    run_.before = {
        absl::StrCat("Devices left out, each with everything of the same silicon (data/splits/boards-devices.csv), and "
                     "with a fold of "
                     "the networks (boards-networks.csv). The weights begin with ",
                     run_.options.model, ", which has seen none of these rows. Random samples, ", kDraws,
                     " draws a device, as `Adapt` takes them; a known network was timed on other devices.")};
    run_.after = {
        "Where a device was timed twice (two series of one setting), two of three rows agree within 10 %: that is "
        "about "
        "what can be reached."};
    return std::move(run_);
  }

 private:
  absl::Status Read() {
    COBRA_ASSIGN_OR_RETURN(device_fold_, ReadFolds(kDeviceFolds));
    COBRA_ASSIGN_OR_RETURN(network_fold_, ReadFolds(kNetworkFolds));
    for (const auto& [label, fold] : network_fold_) {
      network_folds_ = std::max(network_folds_, fold + 1);
      const size_t next = index_.size();
      index_[label] = next;
    }
    COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> folders, TargetFolders(kRows));
    COBRA_ASSIGN_OR_RETURN(data_, training::LoadAllMeasurements(folders));
    for (size_t i = 0; i < data_.size(); ++i) {
      const training::Dataset& data = data_[i];
      const std::string& folder = folders[i];
      if (device_fold_.count(data.target.name) == 0)
        return absl::FailedPreconditionError(absl::StrCat(folder, ": ", kDeviceFolds, " does not list it"));
      for (const training::Sample& row : data.samples) {
        if (index_.count(row.label()) == 0)
          return absl::FailedPreconditionError(
              absl::StrCat(folder, ": a row of ", row.label(), ", which ", kNetworkFolds, " does not list"));
      }
    }
    if (!run_.options.quick) return absl::OkStatus();
    std::vector<training::Dataset> some;
    for (size_t i = 0; i < data_.size(); i += kQuickStep) some.push_back(std::move(data_[i]));
    data_ = std::move(some);
    return absl::OkStatus();
  }

  bool IsLeftOut(const training::Dataset& data, int fold) const {
    return device_fold_.at(data.target.name) % kFolds == fold;
  }
  bool IsUnknown(const training::Sample& row, int fold) const {
    return network_fold_.at(row.label()) == fold % network_folds_;
  }

  absl::StatusOr<std::string> TrainFold(int seed, int fold) const {
    const FoldTraining training{seed, fold, kEpochs, kLearningRate};
    if (const std::string known = FoldDirectory(run_.options, work_, training); HasFoldVersion(known)) return known;
    std::vector<training::Dataset> sets;
    for (const training::Dataset& data : data_) {
      if (IsLeftOut(data, fold)) continue;
      sets.push_back(data);
      std::vector<training::Sample>& rows = sets.back().samples;
      rows.erase(std::remove_if(rows.begin(), rows.end(), [&](const auto& row) { return IsUnknown(row, fold); }),
                 rows.end());
      for (training::Sample& row : rows) row.split = training::Split::kTrain;
    }
    training::NumberTargets(&sets);
    return TrainFoldVersion(run_.options, work_, training, sets);
  }

  absl::StatusOr<AnswersOfGroups> TestFold(int seed, int fold) const {
    COBRA_ASSIGN_OR_RETURN(const std::string directory, TrainFold(seed, fold));
    COBRA_ASSIGN_OR_RETURN(const std::shared_ptr<const predict::Predictor> predictor,
                           predict::Predictor::Load(directory));
    AnswersOfGroups tests;
    std::map<std::string, std::vector<Profile>> profiles;  // by kind: what the floors know
    for (const training::Dataset& data : data_) {
      if (IsLeftOut(data, fold)) continue;
      Profile profile(index_.size(), kNotMeasured);
      for (const training::Sample& row : data.samples) {
        if (!IsUnknown(row, fold)) profile[index_.at(row.label())] = std::log(row.latency_us());
      }
      profiles[data.target.kind].push_back(std::move(profile));
    }
    std::map<std::string, GaussianOverNetworks> gaussians;
    for (const auto& [kind, of_kind] : profiles) gaussians.emplace(kind, GaussianOverNetworks(of_kind));
    for (const training::Dataset& data : data_) {
      if (!IsLeftOut(data, fold) || profiles.count(data.target.kind) == 0) continue;
      std::vector<const training::Sample*> known, unknown;
      for (const training::Sample& row : data.samples) (IsUnknown(row, fold) ? unknown : known).push_back(&row);
      if (known.size() < kFewestNetworks) continue;
      std::mt19937_64 random(static_cast<uint64_t>(seed));
      for (int draw = 0; draw < kDraws; ++draw) {
        std::shuffle(known.begin(), known.end(), random);
        for (const size_t samples : kSamples) {
          if ((samples == 0 && draw > 0) || known.size() < samples + kFewestTests) continue;
          COBRA_RETURN_IF_ERROR(Ask(*predictor, data, known, unknown, samples, &tests));
          if (samples > 0)
            AskFloors(profiles.at(data.target.kind), gaussians.at(data.target.kind), known, samples, &tests);
        }
      }
    }
    return tests;
  }

  static absl::Status Ask(const predict::Predictor& predictor, const training::Dataset& data,
                          const std::vector<const training::Sample*>& known,
                          const std::vector<const training::Sample*>& unknown, size_t samples, AnswersOfGroups* tests) {
    std::vector<store::TimedNetwork> timed;
    for (size_t i = 0; i < samples; ++i)
      timed.push_back({known[i]->label(), known[i]->graph(), known[i]->latency_us()});
    absl::StatusOr<predict::Calibration> adapted = predictor.Adapt(data.target, timed);
    // Rows that `Adapt` refuses are answered from the data sheet, so that none is left out.
    if (!adapted.ok()) adapted = predictor.Adapt(data.target, {});
    COBRA_RETURN_IF_ERROR(adapted.status());
    const auto ask = [&](const training::Sample& row, const std::string& group) -> absl::Status {
      COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction p,
                             predictor.Predict(row.graph(), adapted->base_target, &*adapted));
      (*tests)[{group, kOurs}].Add(p.latency_us, row.latency_us(), std::log(p.high_us / p.latency_us));
      return absl::OkStatus();
    };
    for (size_t i = samples; i < known.size(); ++i) {
      COBRA_RETURN_IF_ERROR(ask(*known[i], GroupOf(samples)));
      COBRA_RETURN_IF_ERROR(ask(*known[i], absl::StrCat(GroupOf(samples), ", ", data.target.kind)));
    }
    if (samples != kSamplesOfUnknown) return absl::OkStatus();
    for (const training::Sample* row : unknown)
      COBRA_RETURN_IF_ERROR(ask(*row, absl::StrCat("unknown networks, ", samples, " samples")));
    return absl::OkStatus();
  }

  void AskFloors(const std::vector<Profile>& profiles, const GaussianOverNetworks& gaussian,
                 const std::vector<const training::Sample*>& known, size_t samples, AnswersOfGroups* tests) const {
    ProfileSamples timed;
    for (size_t i = 0; i < samples; ++i)
      timed.emplace_back(index_.at(known[i]->label()), std::log(known[i]->latency_us()));
    const std::pair<const char*, Profile> floors[] = {{kPattern, GeometricPattern(profiles, timed)},
                                                      {kNearest, NearestProfiles(profiles, timed)},
                                                      {kGaussian, gaussian.Given(timed)}};
    for (const auto& [method, profile] : floors) {
      for (size_t i = samples; i < known.size(); ++i) {
        const double log_us = profile[index_.at(known[i]->label())];
        if (log_us != kNotMeasured)
          (*tests)[{GroupOf(samples), method}].AddWithoutInterval(std::exp(log_us), known[i]->latency_us());
      }
    }
  }

  TableRun run_;
  WorkFolder work_;
  std::vector<training::Dataset> data_;
  std::map<std::string, int> device_fold_, network_fold_;
  std::map<std::string, size_t> index_;  // of a network by its label
  int network_folds_ = 0;
};

}  // namespace

absl::StatusOr<TableRun> RunBoardsTable(const TableOptions& options) { return RunInWorkFolder<Table>(options); }

}  // namespace cobra::lab
