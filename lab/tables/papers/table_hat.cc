#include "lab/tables/papers/table_hat.h"

#include <functional>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/file/csv.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "lab/published/networks/hat_net.h"
#include "lab/published/regressions/boosted_trees.h"
#include "lab/published/regressions/linear.h"
#include "lab/tables/papers/hat_noise.h"
#include "lab/tables/run/coverage.h"
#include "model/space/models/hat_space.h"

namespace cobra::lab {
namespace {

struct Set {
  const char* name;
  double norm_ms;  // of HAT's network
};
constexpr Set kSets[] = {{"iwslt14deen-gpu_titanxp", 200}, {"wmt14ende-cpu_raspberrypi", 5000},
                         {"wmt14ende-gpu_titanxp", 200},   {"wmt14enfr-cpu_raspberrypi", 5000},
                         {"wmt14enfr-gpu_titanxp", 200},   {"wmt19ende-gpu_titanxp", 200}};
constexpr size_t kSimilarPairs = 400;

constexpr char kOurs[] = "COBRA: law and drift", kOursAlone[] = "COBRA: law, ten features",
               kNet[] = "HAT: 3 x 400 network", kNetFast[] = "3 x 400 network, learning rate 1e-3",
               kTrees[] = "boosted trees, ten features", kTreesOrder[] = "boosted trees, ten features and order",
               kLinear[] = "linear, ten features";

struct Part {
  std::vector<space::HatFeatures> features;
  std::vector<double> order, latency_ms;

  void Append(const space::HatRows& rows, size_t r) {
    features.push_back(rows.features[r]);
    order.push_back(rows.order[r]);
    latency_ms.push_back(rows.latency_ms[0][r]);
  }
};
struct Parts {
  Part train, validation, test;
  Part asked;  // validation rows, then test rows
};

absl::StatusOr<Parts> LoadParts(const std::string& file, const space::HatRows& rows) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  COBRA_ASSIGN_OR_RETURN(const CsvTable csv, ParseCsv(text));
  std::map<std::string, bool> is_test;
  for (const CsvTable::Row& line : csv.rows) is_test[line.fields[0]] = line.fields[1] == "test";
  Parts parts;
  std::vector<size_t> validation, test;
  for (size_t r = 0; r < rows.size(); ++r) {
    const auto part = is_test.find(rows.row[r]);
    (part == is_test.end() ? parts.train : part->second ? parts.test : parts.validation).Append(rows, r);
    if (part != is_test.end()) (part->second ? test : validation).push_back(r);
  }
  for (size_t r : validation) parts.asked.Append(rows, r);
  for (size_t r : test) parts.asked.Append(rows, r);
  return parts;
}

FeatureRows Numbers(const Part& part, bool with_order) {
  FeatureRows rows;
  for (size_t i = 0; i < part.features.size(); ++i) {
    rows.emplace_back(part.features[i].begin(), part.features[i].end());
    if (with_order) rows.back().push_back(part.order[i]);
  }
  return rows;
}

struct Predicted {
  std::vector<double> latency_ms;  // of validation and test rows
  int64_t parameters = 0;
};
using Predict = std::function<absl::StatusOr<Predicted>()>;

absl::StatusOr<Predicted> Ours(const Parts& parts, bool use_order) {
  COBRA_ASSIGN_OR_RETURN(const space::HatModel model, space::HatModel::Fit(parts.train.features, parts.train.order,
                                                                           parts.train.latency_ms, {use_order}));
  return Predicted{model.Predict(parts.asked.features, use_order ? parts.asked.order : std::vector<double>()), 17};
}

absl::StatusOr<Predicted> Trees(const Parts& parts, bool with_order, const TreeOptions& options) {
  COBRA_ASSIGN_OR_RETURN(
      std::vector<double> predicted,
      FitTrees(Numbers(parts.train, with_order), parts.train.latency_ms, Numbers(parts.asked, with_order), options));
  return Predicted{std::move(predicted), 0};
}

Predicted Net(const Parts& parts, const HatNetOptions& options) {
  HatNetFit fit = FitHatNet(parts.train.features, parts.train.latency_ms, parts.asked.features, options);
  return {std::move(fit.latency_ms), fit.parameters};
}

class Table {
 public:
  explicit Table(const TableOptions& options) : data_(options.tables + "/hat"), run_(options) {}

  absl::StatusOr<TableRun> Run() {
    run_.columns = ErrorAndIntervalColumns();
    const int seeds = run_.options.quick ? 1 : run_.options.seeds;
    // Fast methods first: networks take a hundred times as long.
    for (const bool networks : {false, true}) {
      for (int seed = 1; seed <= seeds; ++seed) {
        for (const Set& set : kSets) {
          if (run_.options.quick && &set != &kSets[0]) continue;
          COBRA_RETURN_IF_ERROR(OneSet(set, seed, networks));
        }
      }
    }
    return Describe();
  }

 private:
  absl::Status OneSet(const Set& set, int seed, bool networks) {
    COBRA_ASSIGN_OR_RETURN(const space::HatRows rows,
                           space::LoadHatRows(absl::StrCat(data_, "/", set.name, ".csv.gz")));
    COBRA_ASSIGN_OR_RETURN(const Parts parts, LoadParts(absl::StrCat(data_, "/split-", seed, ".csv"), rows));
    const bool quick = run_.options.quick;
    TreeOptions trees;
    trees.seed = static_cast<uint64_t>(seed);
    if (quick) trees.trees = 100;
    HatNetOptions net, fast;
    net.norm_ms = fast.norm_ms = set.norm_ms;
    net.seed = fast.seed = static_cast<uint64_t>(seed);
    fast.learning_rate = 1e-3;
    fast.steps = 2000;
    if (quick) net.steps = fast.steps = 100;
    const std::pair<const char*, Predict> methods[] = {
        {kLinear,
         [&]() -> absl::StatusOr<Predicted> {
           return Predicted{FitLinear(Numbers(parts.train, false), parts.train.latency_ms, Numbers(parts.asked, false)),
                            space::kHatFeatures + 1};
         }},
        {kTrees, [&] { return Trees(parts, false, trees); }},
        {kNet, [&]() -> absl::StatusOr<Predicted> { return Net(parts, net); }},
        {kNetFast, [&]() -> absl::StatusOr<Predicted> { return Net(parts, fast); }},
        {kOursAlone, [&] { return Ours(parts, false); }},
        {kTreesOrder, [&] { return Trees(parts, true, trees); }},
        {kOurs, [&] { return Ours(parts, true); }}};
    for (const auto& [name, predict] : methods) {
      if ((name == kNet || name == kNetFast) != networks) continue;
      const Predict& method = predict;
      COBRA_RETURN_IF_ERROR(run_.Add(name, set.name, seed, [&]() -> absl::StatusOr<TableCell> {
        COBRA_ASSIGN_OR_RETURN(const Predicted predicted, method());
        return MetricsCell(predicted, parts);
      }));
    }
    return absl::OkStatus();
  }

  // The interval's half-width is from validation rows, on which no method is trained; the figures
  // are from test rows.
  static TableCell MetricsCell(const Predicted& predicted, const Parts& parts) {
    const auto middle = predicted.latency_ms.begin() + static_cast<std::ptrdiff_t>(parts.validation.latency_ms.size());
    const std::vector<double> validation(predicted.latency_ms.begin(), middle),
        test(middle, predicted.latency_ms.end());
    TableCell cell;
    cell.figures = ToMetricValues(training::ComputeMetrics(test, parts.test.latency_ms));
    const double half_width = ConformalHalfWidth(validation, parts.validation.latency_ms);
    for (auto& figure : IntervalMetricValues(test, parts.test.latency_ms, std::vector<double>(test.size(), half_width),
                                             static_cast<int64_t>(validation.size()))) {
      cell.figures.push_back(std::move(figure));
    }
    cell.parameters = predicted.parameters;
    return cell;
  }

  absl::StatusOr<TableRun> Describe() {
    COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(data_ + "/spread.csv"));
    COBRA_ASSIGN_OR_RETURN(const CsvTable spread, ParseCsv(text));
    std::string noise =
        "| set | deviation within a measurement, % | rows alike in features, % | consecutive rows, % "
        "|\n|---|---|---|---|\n";
    for (const CsvTable::Row& line : spread.rows) {
      double within = 0;
      if (!absl::SimpleAtod(line.fields[1], &within))
        return absl::DataLossError(absl::StrCat(data_, "/spread.csv: line ", line.line, ": is not a number"));
      COBRA_ASSIGN_OR_RETURN(const space::HatRows rows,
                             space::LoadHatRows(absl::StrCat(data_, "/", line.fields[0], ".csv.gz")));
      COBRA_ASSIGN_OR_RETURN(const HatNoise measured,
                             MeasureHatNoise(rows.features, rows.latency_ms[0], kSimilarPairs));
      absl::StrAppend(&noise, absl::StrFormat("| %s | %.2f | %.2f | %.2f |\n", line.fields[0], 100 * within,
                                              100 * measured.alike, 100 * measured.consecutive));
    }
    run_.before = {
        "Encoder and decoder together, 1,600 rows for training, 200 for validation (here only the intervals are "
        "calibrated on them), 200 for testing; a split a seed, drawn once (`lab/data/hat`).",
        "What is there beside the ten features is when a row was measured. The rows stand in the order of measuring: "
        "what the features leave open changes little from a row to the next, and on the GPU (in three of four sets) "
        "and at the beginning of one CPU set it switches between two levels, about 20 % apart, that last for tens to "
        "hundreds of rows. *Law and drift* reads the level off the training rows measured next to the one asked for; "
        "no test row's latency enters. It says how well an architecture of that campaign can be filled in; for an "
        "architecture that nobody is about to measure there is no neighbour, and *law, ten features* is the row to "
        "look at. Both are given beside baselines that know as much. That the order tells something was seen in the "
        "whole file, before the splits were drawn."};
    run_.after = {
        "Noise: mean difference of two rows after what the law says of their features, over the square root of two, "
        "which for independent errors is their mean. *Rows alike in features* (the 400 rows with the most similar "
        "other row, of 2,000): what is left for a predictor that reads the features alone. *Consecutive rows*: what is "
        "left where the device's state is known.",
        noise,
        "Intervals: split-conformal, their half-width from the 200 validation rows; the band is the exact "
        "beta-binomial 95 % band of 200 test rows after 200 calibration rows."};
    return std::move(run_);
  }

  const std::string data_;
  TableRun run_;
};

}  // namespace

absl::StatusOr<TableRun> RunHatTable(const TableOptions& options) { return Table(options).Run(); }

}  // namespace cobra::lab
