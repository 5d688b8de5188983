#include "lab/tables/run/gpu_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "lab/published/regressions/roofline.h"
#include "lab/tables/run/coverage.h"
#include "lab/tables/run/fold_version.h"
#include "lab/tables/run/kept_answers.h"
#include "lab/tables/run/measured_rows.h"
#include "lab/tables/run/public_rows.h"
#include "model/predict/predictor.h"

namespace cobra::lab {
namespace {

constexpr char kFolds[] = "data/splits/gpus.csv";
constexpr const char* kSources[] = {"kernelbench", "neusight", "timm"};
constexpr char kTimm[] = "timm";
// GPUs that we measured ourselves: trained on beside the others, in no fold.
constexpr char kMeasured[] = "measured", kMeasurements[] = "data/measurements";
constexpr int kInNoFold = -2;
constexpr char kOurs[] = "COBRA", kScaled[] = "other GPUs' latencies, scaled by roofline";
// A pass over timm's rows takes half an hour, over the others' two minutes.
constexpr int kEpochs = 10, kEpochsWithTimm = 3;
constexpr double kLearningRate = 3e-3;
constexpr size_t kQuickSources = 2, kQuickTargets = 3, kQuickRows = 40;
constexpr int kDraws = 4;
constexpr size_t kFewestRows = 20, kFewestOfQuick = 8;

// Asks for one GPU after the other, and adds the means over them.
class NewGpus {
 public:
  NewGpus(const NewGpuQuestion& question, const GpuRows& rows, const WorkFolder& work, int seed, TableRun* run)
      : question_(question), rows_(rows), work_(work), seed_(seed), run_(*run) {}

  // Of each fold that has GPUs to ask about.
  std::vector<TablePart> Parts() const {
    std::vector<TablePart> parts;
    for (int fold = 0; fold < rows_.folds(); ++fold) {
      if (!AskedIn(fold).empty()) parts.push_back(Part(fold));
    }
    return parts;
  }

  absl::Status Add() {
    for (int fold = 0; fold < rows_.folds(); ++fold) {
      const std::vector<const training::Dataset*> asked = AskedIn(fold);
      if (asked.empty()) continue;
      const auto [name, answer] = Part(fold);
      COBRA_ASSIGN_OR_RETURN(const AnswersOfGroups answers, KeptOrAnswered(run_.options, name, answer));
      for (const training::Dataset* data : asked) {
        for (const size_t samples : question_.samples) {
          for (const char* method : {kOurs, kScaled}) {
            const auto rows = answers.find({GroupOf(samples, data->target), method});
            if (rows != answers.end()) COBRA_RETURN_IF_ERROR(AddTarget(method, samples, data->target, rows->second));
          }
        }
      }
    }
    for (const auto& [key, sum] : sums_) {
      MetricValues mean = sum.first;
      for (auto& [figure, value] : mean) value /= sum.second;
      COBRA_RETURN_IF_ERROR(
          run_.AddFigures(key.second, absl::StrCat(key.first, ", mean over the targets"), seed_, mean));
    }
    return absl::OkStatus();
  }

 private:
  static std::string GroupOf(size_t samples) {
    return samples == 0 ? "GPU left out, data sheet alone" : absl::StrCat("GPU left out, ", samples, " timings");
  }
  static std::string GroupOf(size_t samples, const predict::TargetSpec& target) {
    return absl::StrCat(GroupOf(samples), ", ", target.name);
  }

  std::vector<const training::Dataset*> AskedIn(int fold) const {
    std::vector<const training::Dataset*> asked;
    for (size_t set = 0; set < rows_.sets().size(); ++set) {
      const training::Dataset& data = rows_.sets()[set];
      if (rows_.SourceOf(set) == question_.source && rows_.IsLeftOut(data, fold) &&
          data.samples.size() >= (run_.options.quick ? kFewestOfQuick : kFewestRows))
        asked.push_back(&data);
    }
    return asked;
  }

  TablePart Part(int fold) const {
    return {absl::StrCat("new-gpus-", fold, "-seed-", seed_), [this, fold] { return AnswerFold(AskedIn(fold), fold); }};
  }

  absl::StatusOr<AnswersOfGroups> AnswerFold(const std::vector<const training::Dataset*>& asked, int fold) const {
    COBRA_ASSIGN_OR_RETURN(const std::string version,
                           rows_.VersionWithout(fold, question_.source, run_.options, work_, seed_));
    COBRA_ASSIGN_OR_RETURN(const std::shared_ptr<const predict::Predictor> predictor,
                           predict::Predictor::Load(version));
    AnswersOfGroups answers;
    for (const training::Dataset* data : asked) COBRA_RETURN_IF_ERROR(Ask(*predictor, *data, fold, &answers));
    return answers;
  }

  absl::Status AddTarget(const char* method, size_t samples, const predict::TargetSpec& target,
                         const AnsweredRows& answers) {
    const MetricValues figures = answers.Cell().figures;
    COBRA_RETURN_IF_ERROR(run_.AddFigures(method, GroupOf(samples, target), seed_, figures));
    auto& [sum, count] = sums_[{absl::StrCat(GroupOf(samples), ", ", target.compile), method}];
    for (size_t i = 0; i < figures.size(); ++i) {
      if (sum.size() <= i) sum.emplace_back(figures[i].first, 0);
      sum[i].second += figures[i].second;
    }
    count += 1;
    return absl::OkStatus();
  }

  // What the other GPUs of the same source and mode take for each network, over their rooflines:
  // geometric means.
  std::map<std::string, double> OthersOverRoofline(const training::Dataset& asked, int fold) const {
    std::map<std::string, std::pair<double, int>> logs;
    for (size_t set = 0; set < rows_.sets().size(); ++set) {
      const training::Dataset& data = rows_.sets()[set];
      if (rows_.SourceOf(set) != question_.source || rows_.IsLeftOut(data, fold) ||
          data.target.compile != asked.target.compile)
        continue;
      for (const training::Sample& row : data.samples) {
        auto& [sum, count] = logs[row.fingerprint()];
        sum += std::log(row.latency_us() / SheetRooflineUs(row, data.target));
        ++count;
      }
    }
    std::map<std::string, double> means;
    for (const auto& [network, sum] : logs) means[network] = sum.first / sum.second;
    return means;
  }

  absl::Status Ask(const predict::Predictor& predictor, const training::Dataset& data, int fold,
                   AnswersOfGroups* answers) const {
    const std::map<std::string, double> others = OthersOverRoofline(data, fold);
    for (const size_t samples : question_.samples) {
      AnsweredRows &ours = (*answers)[{GroupOf(samples, data.target), kOurs}], floor;
      std::vector<const training::Sample*> rows;
      for (const training::Sample& row : data.samples) rows.push_back(&row);
      std::mt19937_64 random(static_cast<uint64_t>(seed_));
      for (int draw = 0; draw < (samples == 0 ? 1 : kDraws); ++draw) {
        std::shuffle(rows.begin(), rows.end(), random);
        std::vector<store::TimedNetwork> timed;
        double log_scale = 0;
        int scaled = 0;
        for (size_t i = 0; i < samples; ++i) {
          timed.push_back({rows[i]->label(), rows[i]->graph(), rows[i]->latency_us()});
          if (const auto known = others.find(rows[i]->fingerprint()); known != others.end()) {
            log_scale += std::log(rows[i]->latency_us() / SheetRooflineUs(*rows[i], data.target)) - known->second;
            ++scaled;
          }
        }
        absl::StatusOr<predict::Calibration> adapted = predictor.Adapt(data.target, timed);
        // Rows that `Adapt` refuses are answered from the data sheet, so that none is left out.
        if (!adapted.ok()) adapted = predictor.Adapt(data.target, {});
        COBRA_RETURN_IF_ERROR(adapted.status());
        const size_t end =
            question_.most_rows == 0 ? rows.size() : std::min(rows.size(), samples + question_.most_rows);
        for (size_t i = samples; i < end; ++i) {
          const double measured = rows[i]->latency_us();
          COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction p,
                                 predictor.Predict(rows[i]->graph(), adapted->base_target, &*adapted));
          ours.Add(p.latency_us, measured, std::log(p.high_us / p.latency_us));
          if (const auto known = others.find(rows[i]->fingerprint()); known != others.end())
            floor.AddWithoutInterval(
                SheetRooflineUs(*rows[i], data.target) * std::exp(known->second + log_scale / std::max(1, scaled)),
                measured);
        }
      }
      if (!floor.empty()) (*answers)[{GroupOf(samples, data.target), kScaled}] = std::move(floor);
    }
    return absl::OkStatus();
  }

  const NewGpuQuestion& question_;
  const GpuRows& rows_;
  const WorkFolder& work_;
  const int seed_;
  TableRun& run_;
  // By group and method: sums of the figures, of how many targets.
  std::map<std::pair<std::string, std::string>, std::pair<MetricValues, double>> sums_;
};

}  // namespace

double SheetRooflineUs(const training::Sample& row, const predict::TargetSpec& sheet) {
  return SheetRooflineUs(row.graph(), sheet.peak_gflops, sheet.memory_gb_per_s);
}

absl::StatusOr<GpuRows> GpuRows::Read(const TableOptions& options, bool with_timm) {
  GpuRows rows;
  COBRA_ASSIGN_OR_RETURN(rows.fold_of_, ReadFolds(kFolds));
  for (const auto& [target, fold] : rows.fold_of_) rows.folds_ = std::max(rows.folds_, fold + 1);
  if (options.quick) rows.folds_ = 1;
  size_t read = 0;
  for (const char* source : kSources) {
    if (options.quick && read++ == kQuickSources) break;
    if (!with_timm && absl::string_view(source) == kTimm) continue;  // it takes as long to read as all others
    COBRA_ASSIGN_OR_RETURN(std::vector<std::string> folders, TargetFolders(absl::StrCat("data/public/", source)));
    if (options.quick) folders.resize(std::min(folders.size(), kQuickTargets));
    COBRA_ASSIGN_OR_RETURN(std::vector<training::Dataset> of_source, training::LoadAllMeasurements(folders));
    for (size_t i = 0; i < of_source.size(); ++i) {
      const std::string& folder = folders[i];
      training::Dataset& data = of_source[i];
      if (data.target.kind != "gpu") continue;
      const auto fold = rows.fold_of_.find(data.target.name);
      if (fold == rows.fold_of_.end())
        return absl::FailedPreconditionError(absl::StrCat(folder, ": ", kFolds, " does not list it"));
      if (options.quick) {
        // Of the first target the fold that is left out.
        fold->second = i == 0 ? 0 : 1;
        if (data.samples.size() > kQuickRows) data.samples.erase(data.samples.begin() + kQuickRows, data.samples.end());
      }
      rows.sets_.push_back(std::move(data));
      rows.sources_.emplace_back(source);
    }
  }
  if (!options.quick) COBRA_RETURN_IF_ERROR(rows.ReadMeasured());
  return rows;
}

absl::Status GpuRows::ReadMeasured() {
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> folders, TargetFolders(kMeasurements));
  for (const std::string& folder : folders) {
    if (!absl::StartsWith(std::filesystem::path(folder).filename().string(), "gpu-")) continue;
    COBRA_ASSIGN_OR_RETURN(training::Dataset data, training::LoadMeasurements(folder));
    fold_of_.try_emplace(data.target.name, kInNoFold);
    sets_.push_back(std::move(data));
    sources_.emplace_back(kMeasured);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> GpuRows::VersionWithout(int fold, absl::string_view source, const TableOptions& options,
                                                    const WorkFolder& work, int seed) const {
  const bool needs_timm = source == kTimm;
  FoldTraining training{seed, fold == kNoGpu ? folds_ : fold, needs_timm ? kEpochsWithTimm : kEpochs, kLearningRate};
  training.name = needs_timm ? "gpus-and-timm" : "gpus";
  if (const std::string known = FoldDirectory(options, work, training); HasFoldVersion(known)) return known;
  std::vector<training::Dataset> used;
  for (size_t set = 0; set < sets_.size(); ++set) {
    if (IsLeftOut(sets_[set], fold) || (sources_[set] == kTimm && !needs_timm)) continue;
    used.push_back(sets_[set]);
    std::vector<training::Sample>& rows = used.back().samples;
    if (fold == kNoGpu) {
      rows.erase(std::remove_if(rows.begin(), rows.end(), [](const auto& row) { return row.space() == kKernelTests; }),
                 rows.end());
    }
    for (training::Sample& row : rows) row.split = training::Split::kTrain;
    if (rows.empty()) used.pop_back();
  }
  if (!options.quick) COBRA_RETURN_IF_ERROR(CheckUnseen(options.model, sets_));
  training::NumberTargets(&used);
  return TrainFoldVersion(options, work, training, used);
}

std::vector<TablePart> NewGpuParts(const NewGpuQuestion& question, const GpuRows& rows, const WorkFolder& work,
                                   int seed, TableRun* run) {
  const auto asks = std::make_shared<NewGpus>(question, rows, work, seed, run);
  std::vector<TablePart> parts;
  for (const auto& [name, answer] : asks->Parts())
    parts.emplace_back(name, [asks, answer = answer] { return answer(); });
  return parts;
}

absl::Status AddNewGpuRows(const NewGpuQuestion& question, const GpuRows& rows, const WorkFolder& work, int seed,
                           TableRun* run) {
  return NewGpus(question, rows, work, seed, run).Add();
}

}  // namespace cobra::lab
