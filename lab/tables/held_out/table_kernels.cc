#include "lab/tables/held_out/table_kernels.h"

#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file/data_path.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "lab/tables/run/coverage.h"
#include "lab/tables/run/gpu_rows.h"
#include "lab/tables/run/kept_answers.h"
#include "lab/tables/run/work_folder.h"
#include "model/predict/predictor.h"

namespace cobra::lab {
namespace {

constexpr char kOurs[] = "COBRA", kFloorMethod[] = "roofline, times a factor per operator",
               kCeiling[] = "ceiling: COBRA, times a factor per GPU and operator of the test rows";
constexpr char kSource[] = "neusight", kModels[] = "neusight-models";
constexpr char kTrained[] = "neusight-train";
constexpr char kSeenPart[] = "seen-seed-";  // kept_answers.h
constexpr char kDrawn[] = "seen GPUs, a tenth of all shapes left out", kSeen[] = "seen GPUs, the source's test split",
               kNew[] = "GPU left out, data sheet alone", kEndToEnd[] = "language models end to end, GPU left out";

// Logarithms of measured over roofline: sum and count, by label.
using Factors = std::map<std::string, std::pair<double, int>>;

// As NeuSight groups them.
std::string OperatorOf(const training::Sample& row) {
  const std::string& label = row.label();
  if (absl::EndsWith(label, "/bmm")) return "batched matmul";
  if (absl::EndsWith(label, "/linear")) return "linear";
  if (absl::EndsWith(label, "/softmax")) return "softmax";
  if (absl::EndsWith(label, "/ln")) return "layer norm";
  if (absl::EndsWith(label, "/conv")) return "convolution";
  return "elementwise";
}

class Table {
 public:
  Table(const TableOptions& options, WorkFolder work) : run_(options), work_(std::move(work)) {}

  absl::StatusOr<TableRun> Run() {
    run_.columns = MedianErrorIntervalAndCountColumns();
    COBRA_ASSIGN_OR_RETURN(const GpuRows rows, GpuRows::Read(run_.options, /*with_timm=*/false));
    const int seeds = run_.options.quick ? 1 : run_.options.seeds;
    std::vector<TablePart> all;
    for (int seed = 1; seed <= seeds; ++seed) {
      for (TablePart& part : PartsOf(rows, seed)) all.push_back(std::move(part));
    }
    COBRA_RETURN_IF_ERROR(AnswerInParallel(run_.options, all));
    if (run_.options.parts) return std::move(run_);
    for (int seed = 1; seed <= seeds; ++seed) {
      AnswersOfGroups tests;
      if (seed == 1) COBRA_RETURN_IF_ERROR(AskShipped(rows, &tests));
      for (const auto& [name, answer] : PartsOf(rows, seed)) {
        COBRA_ASSIGN_OR_RETURN(AnswersOfGroups answers, KeptOrAnswered(run_.options, name, answer));
        AddAnswers(absl::StartsWith(name, kSeenPart) ? WithCeilingAndSums(std::move(answers)) : answers, &tests);
      }
      for (const auto& [key, answers] : tests) {
        const auto& [group, method] = key;
        COBRA_RETURN_IF_ERROR(
            run_.Add(method, group, seed, [&a = answers]() -> absl::StatusOr<TableCell> { return a.Cell(); }));
      }
    }
    Describe();
    return std::move(run_);
  }

 private:
  std::vector<TablePart> PartsOf(const GpuRows& rows, int seed) const {
    std::vector<TablePart> parts = {{absl::StrCat(kSeenPart, seed), [=, &rows] { return AskSeen(rows, seed); }}};
    for (int fold = 0; fold < rows.folds(); ++fold)
      parts.emplace_back(absl::StrCat("new-gpus-", fold, "-seed-", seed),
                         [=, &rows] { return AskNew(rows, fold, seed); });
    return parts;
  }

  void Describe() {
    run_.before = {
        absl::StrCat("NeuSight's test split: kernels in shapes of language models. Seen GPUs are answered by a version "
                     "that has seen them in none of these shapes, only in random ones. A GPU is left out with all of "
                     "its silicon (data/splits/gpus.csv): its version has seen these shapes on other GPUs. Training is "
                     "on kernels, on calls and on whole models, and on KernelBench; the weights begin with ",
                     run_.options.model, ".")};
    run_.after = {
        "Published: NeuSight's mean error on GPUs that its training has seen, and on others; its GPUs and ours are not "
        "the same, and it has seen these shapes on none. The factor of the floor is the geometric mean of measured "
        "over roofline: of the same GPU where it is seen, of the others where it is left out."};
    const std::map<std::string, std::pair<const char*, const char*>> published = {{"batched matmul", {"26.0", "13.8"}},
                                                                                  {"linear", {"20.0", "13.9"}},
                                                                                  {"elementwise", {"14.0", "19.3"}},
                                                                                  {"softmax", {"19.3", "13.9"}},
                                                                                  {"layer norm", {"20.1", "56.7"}}};
    for (const auto& [name, errors] : published) {
      run_.published[absl::StrCat("NeuSight/", kSeen, ", ", name)] = errors.first;
      run_.published[absl::StrCat("NeuSight/", kNew, ", ", name)] = errors.second;
    }
  }

  // Of the rows for which `is_known` holds.
  template <typename Known>
  static void AddFactors(const training::Dataset& data, const Known& is_known, Factors* factors) {
    for (const training::Sample& row : data.samples) {
      if (!is_known(row)) continue;
      auto& [sum, count] = (*factors)[row.label()];
      sum += std::log(row.latency_us() / SheetRooflineUs(row, data.target));
      ++count;
    }
  }
  static bool IsNoKernelTest(const training::Sample& row) { return row.space() != kKernelTests; }

  // The operators of whose kernels a GPU has rows to train on: of the A100 80GB convolutions alone.
  static std::set<std::string> TrainedOperators(const training::Dataset& data) {
    std::set<std::string> trained;
    for (const training::Sample& row : data.samples) {
      if (row.space() == kTrained) trained.insert(OperatorOf(row));
    }
    return trained;
  }

  // Every row that is a test, in the groups that `groups` names.
  template <typename Groups>
  static absl::Status Ask(const predict::Predictor& predictor, const training::Dataset& data, const std::string& target,
                          const predict::Calibration* adapted, const Factors& factors, const Groups& groups,
                          AnswersOfGroups* tests) {
    for (const training::Sample& row : data.samples) {
      const std::vector<std::string> of_row = groups(row);
      if (of_row.empty()) continue;
      COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction p, predictor.Predict(row.graph(), target, adapted));
      const auto factor = factors.find(row.label());
      for (const std::string& group : of_row) {
        (*tests)[{group, kOurs}].Add(p.latency_us, row.latency_us(), std::log(p.high_us / p.latency_us));
        if (factor == factors.end()) continue;
        const auto& [sum, count] = factor->second;
        (*tests)[{group, kFloorMethod}].AddWithoutInterval(SheetRooflineUs(row, data.target) * std::exp(sum / count),
                                                           row.latency_us());
      }
    }
    return absl::OkStatus();
  }

  // The shipped weights were trained on all kernels but a tenth, drawn by the hash of their graphs.
  static absl::Status AskShipped(const GpuRows& rows, AnswersOfGroups* tests) {
    COBRA_ASSIGN_OR_RETURN(const std::shared_ptr<const predict::Predictor> shipped,
                           predict::Predictor::Load(DataPath(TableOptions{}.model)));
    for (size_t set = 0; set < rows.sets().size(); ++set) {
      const training::Dataset& data = rows.sets()[set];
      if (rows.SourceOf(set) != kSource) continue;
      Factors factors;
      AddFactors(
          data, [](const training::Sample& row) { return row.split != training::Split::kTest; }, &factors);
      COBRA_RETURN_IF_ERROR(Ask(
          *shipped, data, data.target.name, nullptr, factors,
          [](const training::Sample& row) -> std::vector<std::string> {
            if (row.split != training::Split::kTest || row.is_network()) return {};
            return {absl::StrCat(kDrawn, ", all"), absl::StrCat(kDrawn, ", ", OperatorOf(row))};
          },
          tests));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<AnswersOfGroups> AskSeen(const GpuRows& rows, int seed) const {
    COBRA_ASSIGN_OR_RETURN(const std::string version,
                           rows.VersionWithout(GpuRows::kNoGpu, kSource, run_.options, work_, seed));
    COBRA_ASSIGN_OR_RETURN(const std::shared_ptr<const predict::Predictor> predictor,
                           predict::Predictor::Load(version));
    AnswersOfGroups tests;
    for (size_t set = 0; set < rows.sets().size(); ++set) {
      const training::Dataset& data = rows.sets()[set];
      if (rows.SourceOf(set) != kSource) continue;
      Factors factors;
      AddFactors(data, IsNoKernelTest, &factors);
      const std::set<std::string> trained = TrainedOperators(data);
      const std::string& name = data.target.name;
      COBRA_RETURN_IF_ERROR(Ask(
          *predictor, data, data.target.name, nullptr, factors,
          [&](const training::Sample& row) { return SeenGroups(row, name, trained); }, &tests));
    }
    return tests;
  }

  static std::vector<std::string> SeenGroups(const training::Sample& row, const std::string& target,
                                             const std::set<std::string>& trained) {
    const std::string of_row = OperatorOf(row);
    if (row.space() != kKernelTests || trained.count(of_row) == 0) return {};
    return {absl::StrCat(kSeen, ", ", target, ", ", of_row)};
  }

  // The source has measured its two splits at different times. On some GPUs the same work runs at
  // another speed in each, which no method can know. `ours`: of one GPU and operator.
  static AnsweredRows Ceiling(const AnsweredRows& ours) {
    std::vector<double> ratios;
    for (size_t i = 0; i < ours.predicted().size(); ++i) ratios.push_back(ours.measured()[i] / ours.predicted()[i]);
    const double factor = Median(std::move(ratios));
    AnsweredRows rows;
    for (size_t i = 0; i < ours.predicted().size(); ++i)
      rows.AddWithoutInterval(ours.predicted()[i] * factor, ours.measured()[i]);
    return rows;
  }

  // What AskSeen has answered, which is kept, with the ceiling, and with the groups of all GPUs and
  // of all operators.
  static AnswersOfGroups WithCeilingAndSums(AnswersOfGroups answers) {
    AnswersOfGroups ceilings, sums;
    for (const auto& [key, rows] : answers) {
      if (key.second == kOurs) ceilings[{key.first, kCeiling}] = Ceiling(rows);
    }
    AddAnswers(ceilings, &answers);
    for (const auto& [key, rows] : answers) {
      const auto& [group, method] = key;
      sums[{absl::StrCat(kSeen, ", all"), method}].Append(rows);
      sums[{absl::StrCat(kSeen, group.substr(group.rfind(", "))), method}].Append(rows);
    }
    AddAnswers(answers, &sums);
    return sums;
  }

  absl::StatusOr<AnswersOfGroups> AskNew(const GpuRows& rows, int fold, int seed) const {
    bool is_asked = false;
    for (size_t set = 0; set < rows.sets().size(); ++set)
      is_asked = is_asked || (rows.SourceOf(set) == kSource && rows.IsLeftOut(rows.sets()[set], fold));
    if (!is_asked) return AnswersOfGroups();
    COBRA_ASSIGN_OR_RETURN(const std::string version, rows.VersionWithout(fold, kSource, run_.options, work_, seed));
    COBRA_ASSIGN_OR_RETURN(const std::shared_ptr<const predict::Predictor> predictor,
                           predict::Predictor::Load(version));
    AnswersOfGroups tests;
    Factors factors;
    for (size_t set = 0; set < rows.sets().size(); ++set) {
      if (rows.SourceOf(set) == kSource && !rows.IsLeftOut(rows.sets()[set], fold))
        AddFactors(
            rows.sets()[set], [](const training::Sample&) { return true; }, &factors);
    }
    for (size_t set = 0; set < rows.sets().size(); ++set) {
      const training::Dataset& data = rows.sets()[set];
      if (rows.SourceOf(set) != kSource || !rows.IsLeftOut(data, fold)) continue;
      COBRA_ASSIGN_OR_RETURN(const predict::Calibration adapted, predictor->Adapt(data.target, {}));
      const std::string& name = data.target.name;
      COBRA_RETURN_IF_ERROR(Ask(
          *predictor, data, adapted.base_target, &adapted, factors,
          [&name](const training::Sample& row) -> std::vector<std::string> {
            if (row.space() == kKernelTests)
              return {absl::StrCat(kNew, ", all"), absl::StrCat(kNew, ", ", OperatorOf(row)),
                      absl::StrCat(kNew, ", ", name)};
            if (row.space() == kModels) return {kEndToEnd, absl::StrCat(kEndToEnd, ", ", name)};
            return {};
          },
          &tests));
    }
    return tests;
  }

  TableRun run_;
  WorkFolder work_;
};

}  // namespace

absl::StatusOr<TableRun> RunKernelsTable(const TableOptions& options) { return RunInWorkFolder<Table>(options); }

}  // namespace cobra::lab
