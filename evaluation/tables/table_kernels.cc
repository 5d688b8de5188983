#include "evaluation/tables/table_kernels.h"

#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/data_path.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "evaluation/tables/coverage.h"
#include "evaluation/tables/gpu_rows.h"
#include "evaluation/tables/kept_answers.h"
#include "evaluation/tables/work_folder.h"
#include "model/predict/predictor.h"

namespace cobra::evaluation {
namespace {

constexpr char kOurs[] = "COBRA", kFloorMethod[] = "roofline, times a factor per operator",
               kCeiling[] = "ceiling: COBRA, times a factor per GPU and operator of the test rows";
constexpr char kSource[] = "neusight", kModels[] = "neusight-models";
constexpr char kTrained[] = "neusight-train";
constexpr char kDrawn[] = "seen GPUs, a tenth of all shapes left out", kSeen[] = "seen GPUs, the source's test split",
               kNew[] = "GPU left out, data sheet alone", kEndToEnd[] = "language models end to end, GPU left out";

// Logarithms of measured over roofline: sum and count, by label.
using Factors = std::map<std::string, std::pair<double, int>>;

// As NeuSight groups them.
std::string OperatorOf(const fit::Sample& row) {
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
    COBRA_ASSIGN_OR_RETURN(const GpuRows rows, GpuRows::Read(run_.options));
    for (int seed = 1; seed <= (run_.options.quick ? 1 : run_.options.seeds); ++seed) {
      AnswersOfGroups tests;
      if (seed == 1) COBRA_RETURN_IF_ERROR(AskShipped(rows, &tests));
      COBRA_ASSIGN_OR_RETURN(const AnswersOfGroups seen, KeptOrAnswered(run_.options, absl::StrCat("seen-seed-", seed),
                                                                        [&] { return AskSeen(rows, seed); }));
      AddAnswers(seen, &tests);
      for (int fold = 0; fold < rows.folds(); ++fold) {
        COBRA_ASSIGN_OR_RETURN(const AnswersOfGroups of_new,
                               KeptOrAnswered(run_.options, absl::StrCat("new-gpus-", fold, "-seed-", seed),
                                              [&] { return AskNew(rows, fold, seed); }));
        AddAnswers(of_new, &tests);
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
  static void AddFactors(const fit::Dataset& data, const Known& is_known, Factors* factors) {
    for (const fit::Sample& row : data.samples) {
      if (!is_known(row)) continue;
      auto& [sum, count] = (*factors)[row.label()];
      sum += std::log(row.latency_us() / SheetRooflineUs(row, data.target));
      ++count;
    }
  }
  static bool IsNoKernelTest(const fit::Sample& row) { return row.space() != kKernelTests; }

  // The operators of whose kernels a GPU has rows to train on: of the A100 80GB convolutions alone.
  static std::set<std::string> TrainedOperators(const fit::Dataset& data) {
    std::set<std::string> trained;
    for (const fit::Sample& row : data.samples) {
      if (row.space() == kTrained) trained.insert(OperatorOf(row));
    }
    return trained;
  }

  // Every row that is a test, in the groups that `groups` names.
  template <typename Groups>
  static absl::Status Ask(const predict::Predictor& predictor, const fit::Dataset& data, const std::string& target,
                          const predict::Calibration* adapted, const Factors& factors, const Groups& groups,
                          AnswersOfGroups* tests) {
    for (const fit::Sample& row : data.samples) {
      const std::vector<std::string> of_row = groups(row);
      if (of_row.empty()) continue;
      COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction p, predictor.Predict(row.graph, target, adapted));
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
      const fit::Dataset& data = rows.sets()[set];
      if (rows.SourceOf(set) != kSource) continue;
      Factors factors;
      AddFactors(
          data, [](const fit::Sample& row) { return row.split != fit::Split::kTest; }, &factors);
      COBRA_RETURN_IF_ERROR(Ask(
          *shipped, data, data.target.name, nullptr, factors,
          [](const fit::Sample& row) -> std::vector<std::string> {
            if (row.split != fit::Split::kTest || row.is_network()) return {};
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
      const fit::Dataset& data = rows.sets()[set];
      if (rows.SourceOf(set) != kSource) continue;
      Factors factors;
      AddFactors(data, IsNoKernelTest, &factors);
      const std::set<std::string> trained = TrainedOperators(data);
      const std::string& name = data.target.name;
      COBRA_RETURN_IF_ERROR(Ask(
          *predictor, data, data.target.name, nullptr, factors,
          [&](const fit::Sample& row) { return SeenGroups(row, name, trained); }, &tests));
      COBRA_RETURN_IF_ERROR(AddCeiling(*predictor, data, trained, &tests));
    }
    return tests;
  }

  static std::vector<std::string> SeenGroups(const fit::Sample& row, const std::string& target,
                                             const std::set<std::string>& trained) {
    const std::string of_row = OperatorOf(row);
    if (row.space() != kKernelTests || trained.count(of_row) == 0) return {};
    return {absl::StrCat(kSeen, ", all"), absl::StrCat(kSeen, ", ", of_row),
            absl::StrCat(kSeen, ", ", target, ", ", of_row)};
  }

  // The source has measured its two splits at different times. On some GPUs the same work runs at another speed in each
  // (the P4's linear layers at .2 and .77 of its peak), which no method can know.
  static absl::Status AddCeiling(const predict::Predictor& predictor, const fit::Dataset& data,
                                 const std::set<std::string>& trained, AnswersOfGroups* tests) {
    std::map<std::string, std::vector<std::pair<const fit::Sample*, double>>> predicted_us;  // by operator
    for (const fit::Sample& row : data.samples) {
      if (SeenGroups(row, data.target.name, trained).empty()) continue;
      COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction p, predictor.Predict(row.graph, data.target.name));
      predicted_us[OperatorOf(row)].emplace_back(&row, p.latency_us);
    }
    for (const auto& [name, rows] : predicted_us) {
      std::vector<double> ratios;
      for (const auto& [row, us] : rows) ratios.push_back(row->latency_us() / us);
      const double factor = Median(ratios);
      for (const auto& [row, us] : rows) {
        for (const std::string& group : SeenGroups(*row, data.target.name, trained))
          (*tests)[{group, kCeiling}].AddWithoutInterval(us * factor, row->latency_us());
      }
    }
    return absl::OkStatus();
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
            rows.sets()[set], [](const fit::Sample&) { return true; }, &factors);
    }
    for (size_t set = 0; set < rows.sets().size(); ++set) {
      const fit::Dataset& data = rows.sets()[set];
      if (rows.SourceOf(set) != kSource || !rows.IsLeftOut(data, fold)) continue;
      COBRA_ASSIGN_OR_RETURN(const predict::Calibration adapted, predictor->Adapt(data.target, {}));
      const std::string& name = data.target.name;
      COBRA_RETURN_IF_ERROR(Ask(
          *predictor, data, adapted.base_target, &adapted, factors,
          [&name](const fit::Sample& row) -> std::vector<std::string> {
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

}  // namespace cobra::evaluation
