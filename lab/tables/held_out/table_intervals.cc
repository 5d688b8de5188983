#include "lab/tables/held_out/table_intervals.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "lab/tables/papers/nasbench201_data.h"
#include "lab/tables/run/coverage.h"
#include "lab/tables/run/measured_rows.h"
#include "model/predict/weights/bundle.h"
#include "model/predict/weights/spread.h"
#include "model/training/evaluation/interval_fit.h"
#include "model/training/rows/dataset.h"
#include "model/training/trainer.h"

namespace cobra::lab {
namespace {

constexpr char kKnown[] = "In distribution: the shipped weights on test rows of what they learned from",
               kUnseen[] =
                   "Out of distribution: the shipped weights on families of torchvision that they have not seen",
               kCells[] = "In distribution: NAS-Bench-201 cells, Gaussian process of 900";
constexpr size_t kFewest = 20;     // rows needed for a line of the table
constexpr size_t kQuickRows = 60;  // of each kind and split
constexpr char kUnseenSpace[] = "torchvision";

// Predictions of rows, half-widths of their intervals in log-latency, and measurements.
struct PredictedIntervals {
  std::vector<double> predicted, half_width, measured;
  void Add(double p, double h, double m) {
    predicted.push_back(p);
    half_width.push_back(h);
    measured.push_back(m);
  }
};

TableCell CellOf(const PredictedIntervals& rows, int64_t calibration) {
  return ErrorAndIntervalCell(rows.predicted, rows.measured, rows.half_width, calibration);
}

class Table {
 public:
  explicit Table(const TableOptions& options) : run_(options) {}

  absl::StatusOr<TableRun> Run() {
    run_.columns = ErrorIntervalAndCountColumns();
    COBRA_ASSIGN_OR_RETURN(data_, training::LoadMeasurements(run_.options.rows));
    COBRA_RETURN_IF_ERROR(Shipped(/*networks=*/false));
    COBRA_RETURN_IF_ERROR(Shipped(/*networks=*/true));
    COBRA_RETURN_IF_ERROR(Cells());
    run_.before = {
        "An interval is right if the share of measurements that it holds is the share that it claims: one of 90 % that "
        "holds 99 % is as wrong as one that holds 80 %. The band beside a share has the coverages that are compatible "
        "with it (95 %, exact: binomial in the test rows, beta-binomial with the rows that set the width); 90 lies in "
        "it, or the interval is wrong."};
    run_.after = {
        "Shipped weights: the width follows what the answer is about (`model/predict/weights/spread.h`): quantile "
        "regression on the rows that are kept for intervals and on the validation rows (`SplitOf`), none of which "
        "training has seen, times one number for layers and one for networks, which nine of ten of these rows need, "
        "each by a regression without its fold. The share is promised over all layers and over all networks; within "
        "one kind alone it may be off on either side. On unseen families nothing promises 90 %. The regression was "
        "chosen by cross-validation on these rows; that the validation rows count as well, and how far out the line "
        "is believed, was decided when test rows had been seen (ledger.csv).",
        "Cells: the width is from the 100 validation cells of the split, which the process does not learn.",
        "Unseen devices have theirs in [few_shot](few_shot.md), Transformers in [hat](hat.md), PerfSAGE's spaces in "
        "[perfsage](perfsage.md)."};
    return std::move(run_);
  }

 private:
  std::vector<const training::Sample*> Rows(bool networks, training::Split split, bool unseen) const {
    std::vector<const training::Sample*> rows;
    for (const training::Sample& s : data_.samples) {
      if (s.is_network() != networks || s.split != split || (s.space() == kUnseenSpace) != unseen) continue;
      rows.push_back(&s);
      if (run_.options.quick && rows.size() == kQuickRows) break;
    }
    return rows;
  }

  absl::StatusOr<PredictedIntervals> Predict(const std::vector<const training::Sample*>& rows, bool networks) const {
    COBRA_ASSIGN_OR_RETURN(const predict::ModelBundle bundle, predict::LoadBundle(run_.options.model));
    const predict::IntervalWidths& intervals = bundle.manifest.targets[0].interval;
    const predict::IntervalWidth& interval = networks ? intervals.network : intervals.layer;
    COBRA_ASSIGN_OR_RETURN(const training::Predictions p, training::PredictSamples(run_.options.model, rows));
    PredictedIntervals judged;
    for (size_t i = 0; i < rows.size(); ++i)
      judged.Add(p.latency_us[i], interval.HalfWidthOf(p.embedding[i]), rows[i]->latency_us());
    return judged;
  }

  // Adds a line for all rows, and one for each kind with enough rows. `kind` returns the kind of a
  // sample.
  absl::Status Lines(bool networks, const char* group, const std::vector<const training::Sample*>& rows,
                     const std::function<std::string(const training::Sample&)>& kind) {
    const std::string what = networks ? "networks" : "layers";
    int64_t calibration = 0;
    for (training::Split split : training::kIntervalSplits)
      calibration += static_cast<int64_t>(training::RowsOf(data_, split, networks).size());
    std::optional<PredictedIntervals> all;
    std::map<std::string, std::vector<size_t>> kinds;
    for (size_t i = 0; i < rows.size(); ++i) {
      kinds[what].push_back(i);
      kinds[absl::StrCat(what, ": ", kind(*rows[i]))].push_back(i);
    }
    for (const auto& [name, places] : kinds) {
      if (places.size() < kFewest && name != what) continue;
      const std::vector<size_t>& index = places;
      COBRA_RETURN_IF_ERROR(run_.Add(name, group, 1, [&]() -> absl::StatusOr<TableCell> {
        if (!all) {
          COBRA_ASSIGN_OR_RETURN(all, Predict(rows, networks));
        }
        PredictedIntervals chosen;
        for (size_t i : index) chosen.Add(all->predicted[i], all->half_width[i], all->measured[i]);
        return CellOf(chosen, calibration);
      }));
    }
    return absl::OkStatus();
  }

  absl::Status Shipped(bool networks) {
    COBRA_RETURN_IF_ERROR(Lines(networks, kKnown, Rows(networks, training::Split::kTest, false),
                                [](const training::Sample& s) { return s.space(); }));
    if (!networks) return absl::OkStatus();
    return Lines(networks, kUnseen, Rows(true, training::Split::kTest, true),
                 [](const training::Sample& s) { return s.label(); });
  }

  absl::Status Cells() {
    const std::string folder = run_.options.tables + "/nasbench201";
    std::optional<Nasbench201Data> cells;
    for (int seed = 1; seed <= (run_.options.quick ? 1 : run_.options.seeds); ++seed) {
      for (const char* device : {"desktop_gpu_gtx_1080ti_fp32", "desktop_cpu_core_i7_7820x_fp32",
                                 "mobile_dsp_snapdragon_855_hexagon_690_int8"}) {
        COBRA_RETURN_IF_ERROR(run_.Add(device, kCells, seed, [&]() -> absl::StatusOr<TableCell> {
          if (!cells) {
            COBRA_ASSIGN_OR_RETURN(cells, LoadNasbench201(folder));
          }
          COBRA_ASSIGN_OR_RETURN(const size_t column, cells->rows.Device(device));
          COBRA_ASSIGN_OR_RETURN(const SpaceSplit split,
                                 LoadSpaceSplit(absl::StrCat(folder, "/split-", seed, ".csv"), cells->rows, column));
          return CellOfProcess(*cells, split, static_cast<uint64_t>(seed));
        }));
        if (run_.options.quick) break;
      }
    }
    return absl::OkStatus();
  }

  TableCell CellOfProcess(const Nasbench201Data& cells, const SpaceSplit& split, uint64_t seed) const {
    space::GaussianProcessOptions options;
    options.seed = seed;
    if (run_.options.quick) options.rows = 100, options.steps = 5, options.draws = 1;
    const space::SpaceRowSet train = cells.cells.Places(split.train);
    const space::GaussianProcess process(cells.cells.features.Select(space::IndexTensor(train)), train.latency_ms,
                                         options);
    const std::vector<double> all = cells.cells.Spread(process.Predict(cells.cells.features));
    const auto judged = [&all](const space::SpaceRowSet& rows, double half_width) {
      PredictedIntervals chosen;
      for (size_t i = 0; i < rows.index.size(); ++i)
        chosen.Add(all[static_cast<size_t>(rows.index[i])], half_width, rows.latency_ms[i]);
      return chosen;
    };
    const PredictedIntervals validation = judged(split.validation, 0);
    TableCell cell = CellOf(judged(split.test, ConformalHalfWidth(validation.predicted, validation.measured)),
                            static_cast<int64_t>(validation.measured.size()));
    cell.parameters = process.parameters();
    return cell;
  }

  training::Dataset data_;
  TableRun run_;
};

}  // namespace

absl::StatusOr<TableRun> RunIntervalsTable(const TableOptions& options) { return Table(options).Run(); }

}  // namespace cobra::lab
