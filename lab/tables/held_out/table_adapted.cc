#include "lab/tables/held_out/table_adapted.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/file/csv.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "lab/tables/run/coverage.h"
#include "lab/tables/run/measured_rows.h"
#include "model/predict/predictor.h"
#include "model/predict/target/sheet_comparison.h"
#include "model/training/rows/dataset.h"

namespace cobra::lab {
namespace {

constexpr char kRows[] = "data/public/kernelbench", kSilicon[] = "data/splits/gpus.csv";
constexpr char kSheet[] = "data sheet alone", kAll[] = "all targets together", kMean[] = "mean over the targets";
constexpr size_t kTimings[] = {5, 10};
constexpr int kDraws = 4, kQuickDraws = 1;
// Of a target, drawn at random: what a list has that somebody chooses from, and what is asked then.
constexpr size_t kMostNetworks = 300, kQuickNetworks = 24, kQuickTargets = 2;

std::string MethodOf(size_t timings, bool is_suggested) {
  return absl::StrCat(timings, " timings, ", is_suggested ? "as suggested" : "at random");
}

// The silicon of targets by their names.
absl::StatusOr<std::map<std::string, std::string>> ReadSilicon() {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(kSilicon));
  COBRA_ASSIGN_OR_RETURN(const CsvTable table, ParseCsv(text));
  const int key = table.Column("key"), silicon = table.Column("silicon");
  if (key < 0 || silicon < 0)
    return absl::InvalidArgumentError(absl::StrCat(kSilicon, ": needs the columns key and silicon"));
  std::map<std::string, std::string> of_target;
  for (const CsvTable::Row& row : table.rows)
    of_target[row.fields[static_cast<size_t>(key)]] = row.fields[static_cast<size_t>(silicon)];
  return of_target;
}

class Table {
 public:
  explicit Table(const TableOptions& options) : run_(options) {}

  absl::StatusOr<TableRun> Run() {
    run_.columns = MedianErrorIntervalAndCountColumns();
    COBRA_RETURN_IF_ERROR(Read());
    COBRA_ASSIGN_OR_RETURN(predictor_, predict::Predictor::Load(run_.options.model));
    COBRA_ASSIGN_OR_RETURN(silicon_, ReadSilicon());
    for (int seed = 1; seed <= run_.options.seeds; ++seed) COBRA_RETURN_IF_ERROR(AddSeed(seed));
    run_.before = {absl::StrCat(
        "Each target as `Adapt` answers for it, with no target of the same silicon (", kSilicon,
        ") or device to explain it. The weights of ", run_.options.model,
        " have seen its rows among all others, so this shows how well the targets that are left explain a device; "
        "kernelbench.md has weights that were trained without it. Timings, at random or as suggested, are of one half "
        "of its networks, and the other half is asked; the halves are drawn ",
        kDraws, " times for each seed.")};
    return std::move(run_);
  }

 private:
  absl::Status Read() {
    if (run_.options.rows != TableOptions().rows) {
      COBRA_ASSIGN_OR_RETURN(training::Dataset data, training::LoadMeasurements(run_.options.rows));
      data_.push_back(std::move(data));
    } else {
      COBRA_ASSIGN_OR_RETURN(std::vector<std::string> folders, TargetFolders(kRows));
      if (run_.options.quick) folders.resize(std::min(folders.size(), kQuickTargets));
      COBRA_ASSIGN_OR_RETURN(data_, training::LoadAllMeasurements(folders));
    }
    for (training::Dataset& data : data_) {
      std::vector<training::Sample>& rows = data.samples;
      const size_t most = run_.options.quick ? kQuickNetworks : kMostNetworks;
      if (rows.size() <= most) continue;
      absl::c_shuffle(rows, std::mt19937_64(1));
      rows.resize(most);
    }
    return absl::OkStatus();
  }

  absl::Status AddSeed(int seed) {
    AnswersOfGroups answers;
    for (const training::Dataset& data : data_) COBRA_RETURN_IF_ERROR(Ask(data, seed, &answers));
    std::map<std::string, std::pair<MetricValues, double>> sums;  // by method: of the figures, of the targets
    for (const auto& [key, rows] : answers) {
      const auto& [group, method] = key;
      const MetricValues figures = rows.Cell().figures;
      COBRA_RETURN_IF_ERROR(run_.AddFigures(method, group, seed, figures));
      if (group == kAll) continue;
      auto& [sum, count] = sums[method];
      for (size_t i = 0; i < figures.size(); ++i) {
        if (sum.size() <= i) sum.emplace_back(figures[i].first, 0);
        sum[i].second += figures[i].second;
      }
      count += 1;
    }
    for (auto& [method, sum] : sums) {
      for (auto& [figure, value] : sum.first) value /= sum.second;
      COBRA_RETURN_IF_ERROR(run_.AddFigures(method, kMean, seed, sum.first));
    }
    return absl::OkStatus();
  }

  // Devices that may not explain `sheet`.
  predict::AdaptOptions Without(const predict::TargetSpec& sheet) const {
    const auto silicon_of = [this](const predict::TargetSpec& spec) {
      const auto found = silicon_.find(spec.name);
      return found == silicon_.end() ? std::string() : found->second;
    };
    const std::string silicon = silicon_of(sheet);
    predict::AdaptOptions options;
    for (const predict::TargetInfo& target : predictor_->targets()) {
      if (predict::IsNamedAlike(target.spec, sheet) || (!silicon.empty() && silicon_of(target.spec) == silicon))
        options.without_devices.push_back(target.spec.device);
    }
    return options;
  }

  using Positions = std::vector<size_t>;  // of rows

  absl::Status AskWith(const training::Dataset& data, const Positions& timed_rows, const Positions& asked_rows,
                       const predict::AdaptOptions& options, const std::string& method,
                       AnswersOfGroups* answers) const {
    std::vector<store::TimedNetwork> timed;
    for (const size_t i : timed_rows)
      timed.push_back({data.samples[i].label(), data.samples[i].graph(), data.samples[i].latency_us()});
    absl::StatusOr<predict::Calibration> adapted = predictor_->Adapt(data.target, timed, options);
    // Rows that `Adapt` refuses are answered from the data sheet, so that none is left out.
    if (!adapted.ok()) adapted = predictor_->Adapt(data.target, {}, options);
    COBRA_RETURN_IF_ERROR(adapted.status());
    for (const size_t i : asked_rows) {
      const training::Sample& row = data.samples[i];
      COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction p,
                             predictor_->Predict(row.graph(), adapted->base_target, &*adapted));
      for (const std::string& group : {std::string(kAll), data.target.name})
        (*answers)[{group, method}].Add(p.latency_us, row.latency_us(), std::log(p.high_us / p.latency_us));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Positions> Suggested(const training::Dataset& data, const Positions& list, size_t count,
                                      const predict::AdaptOptions& options) const {
    size_t read = 0;
    const auto next = [&]() -> absl::StatusOr<std::optional<graph::Graph>> {
      return read < list.size() ? std::make_optional(data.samples[list[read++]].graph()) : std::nullopt;
    };
    COBRA_ASSIGN_OR_RETURN(Positions chosen, predictor_->Suggest(data.target, next, count, options));
    for (size_t& position : chosen) position = list[position];
    return chosen;
  }

  absl::Status Ask(const training::Dataset& data, int seed, AnswersOfGroups* answers) const {
    const predict::AdaptOptions options = Without(data.target);
    Positions all(data.samples.size());
    std::iota(all.begin(), all.end(), size_t{0});
    COBRA_RETURN_IF_ERROR(AskWith(data, {}, all, options, kSheet, answers));
    std::mt19937_64 random(static_cast<uint64_t>(seed));
    for (int draw = 0; draw < (run_.options.quick ? kQuickDraws : kDraws); ++draw) {
      absl::c_shuffle(all, random);
      // What is typical is easy to predict, too: were it chosen from what is asked, harder networks
      // would be left.
      const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
      const Positions list(all.begin(), middle), asked(middle, all.end());
      for (const size_t timings : kTimings) {
        if (list.size() < timings) continue;
        const Positions first(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(timings));
        COBRA_RETURN_IF_ERROR(AskWith(data, first, asked, options, MethodOf(timings, false), answers));
        COBRA_ASSIGN_OR_RETURN(const Positions chosen, Suggested(data, list, timings, options));
        COBRA_RETURN_IF_ERROR(AskWith(data, chosen, asked, options, MethodOf(timings, true), answers));
      }
    }
    return absl::OkStatus();
  }

  TableRun run_;
  std::vector<training::Dataset> data_;
  std::map<std::string, std::string> silicon_;
  std::shared_ptr<const predict::Predictor> predictor_;
};

}  // namespace

absl::StatusOr<TableRun> RunAdaptedTable(const TableOptions& options) { return Table(options).Run(); }

}  // namespace cobra::lab
