#include "model/space/nasbench201_data.h"

#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "model/space/nasbench201_features.h"

namespace cobra::space {
namespace {

absl::StatusOr<std::vector<OpGraph>> GraphsOf(const std::vector<std::string>& archs, const CellForm& form) {
  std::vector<OpGraph> graphs;
  for (const std::string& arch : archs) {
    COBRA_ASSIGN_OR_RETURN(graphs.emplace_back(), Nasbench201Graph(arch, form));
  }
  return graphs;
}

template <typename F>
absl::StatusOr<std::vector<std::vector<double>>> FeaturesOf(const std::vector<std::string>& archs, F features) {
  std::vector<std::vector<double>> all;
  for (const std::string& arch : archs) {
    COBRA_ASSIGN_OR_RETURN(all.emplace_back(), features(arch));
  }
  return all;
}

// What each kind of node is: it computes, pools, passes on, begins, ends; side of its window over 3;
// multiply-accumulates and weights a channel pair, over 9.
at::Tensor Descriptions() {
  const std::vector<float> rows = {
      0, 0, 0, 0, 0, 0,       0,       0,        // none
      0, 0, 1, 0, 0, 1 / 3.F, 0,       0,        // skip_connect
      1, 0, 0, 0, 0, 1 / 3.F, 1 / 9.F, 1 / 9.F,  // nor_conv_1x1
      1, 0, 0, 0, 0, 1,       1,       1,        // nor_conv_3x3
      0, 1, 0, 0, 0, 1,       0,       0,        // avg_pool_3x3
      0, 0, 0, 1, 0, 0,       0,       0,        // input
      0, 0, 0, 0, 1, 0,       0,       0,        // output
  };
  return at::tensor(rows, at::kFloat).view({CellForm::kKinds, -1});
}

}  // namespace

SpaceRowSet PrunedCells::Places(const SpaceRowSet& rows) const {
  SpaceRowSet places{{}, rows.latency_ms};
  for (int64_t i : rows.index) places.index.push_back(distinct.place[static_cast<size_t>(i)]);
  return places;
}

std::vector<double> PrunedCells::Spread(const std::vector<double>& of_distinct) const {
  std::vector<double> all;
  for (int64_t place : distinct.place) all.push_back(of_distinct[static_cast<size_t>(place)]);
  return all;
}

absl::StatusOr<PrunedCells> MakePrunedCells(const std::vector<std::string>& archs) {
  CellForm form;
  form.pruned = form.empty = true;
  COBRA_ASSIGN_OR_RETURN(const std::vector<OpGraph> graphs, GraphsOf(archs, form));
  PrunedCells cells;
  cells.distinct = Distinct(graphs);
  std::vector<OpGraph> distinct;
  std::vector<std::vector<std::vector<double>>> features;
  for (int64_t first : cells.distinct.first) {
    distinct.push_back(graphs[static_cast<size_t>(first)]);
    COBRA_ASSIGN_OR_RETURN(features.emplace_back(), Nasbench201Groups(archs[static_cast<size_t>(first)]));
  }
  cells.graphs = MakeDense(distinct, CellForm::kKinds);
  cells.described = cells.graphs;
  cells.described.kinds = at::matmul(cells.graphs.kinds, Descriptions());
  cells.features = MakeProcessFeatures(features, /*linear_group=*/0, /*single_groups=*/5);
  return cells;
}

absl::StatusOr<DenseGraphs> MakeContractedCells(const std::vector<std::string>& archs) {
  CellForm form;
  form.pruned = form.contract_skip = form.empty = true;
  COBRA_ASSIGN_OR_RETURN(const std::vector<OpGraph> graphs, GraphsOf(archs, form));
  return MakeDense(graphs, CellForm::kKinds);
}

absl::StatusOr<Nasbench201Data> LoadNasbench201(const std::string& folder) {
  Nasbench201Data data;
  COBRA_ASSIGN_OR_RETURN(data.rows, LoadArchRows(folder + "/latency.csv.gz"));
  const std::vector<std::string>& archs = data.rows.arch;
  COBRA_ASSIGN_OR_RETURN(data.cells, MakePrunedCells(archs));
  COBRA_ASSIGN_OR_RETURN(data.contracted, MakeContractedCells(archs));
  COBRA_ASSIGN_OR_RETURN(data.one_hot, FeaturesOf(archs, Nasbench201OneHot));
  COBRA_ASSIGN_OR_RETURN(data.counts, FeaturesOf(archs, Nasbench201Counts));
  COBRA_ASSIGN_OR_RETURN(data.paths, FeaturesOf(archs, Nasbench201PathFeatures));
  return data;
}

absl::StatusOr<SpaceSplit> LoadSpaceSplit(const std::string& file, const ArchRows& rows, size_t device) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const absl::StatusOr<CsvTable> csv = ParseCsv(text);
  if (!csv.ok()) return absl::InvalidArgumentError(absl::StrCat(file, ": ", csv.status().message()));
  const int row = csv->Column("row"), part = csv->Column("part");
  if (row < 0 || part < 0)
    return absl::InvalidArgumentError(absl::StrCat(file, ": line 1: the header needs row and part"));
  const absl::flat_hash_set<std::string> known(rows.row.begin(), rows.row.end());
  absl::flat_hash_map<std::string, bool> is_train;
  for (const CsvTable::Row& line : csv->rows) {
    const std::string& name = line.fields[static_cast<size_t>(row)];
    const std::string& value = line.fields[static_cast<size_t>(part)];
    if (value != "train" && value != "validation") {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": line ", line.line, ": \"", value, "\": a row is for train or validation"));
    }
    if (!known.contains(name))
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": line ", line.line, ": row ", name, " is not in the table"));
    is_train[name] = value == "train";
  }
  SpaceSplit split;
  for (size_t r = 0; r < rows.size(); ++r) {
    const double ms = rows.latency_ms[device][r];
    if (std::isnan(ms)) continue;
    const auto found = is_train.find(rows.row[r]);
    SpaceRowSet& set = found == is_train.end() ? split.test : found->second ? split.train : split.validation;
    set.index.push_back(static_cast<int64_t>(r));
    set.latency_ms.push_back(ms);
  }
  return split;
}

std::vector<std::string> AllNasbench201() {
  constexpr const char* kNames[] = {"none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"};
  std::vector<std::string> archs;
  for (int number = 0; number < 5 * 5 * 5 * 5 * 5 * 5; ++number) {
    std::string arch;
    int rest = number;
    for (int to = 1; to < 4; ++to) {
      absl::StrAppend(&arch, to > 1 ? "+|" : "|");
      for (int from = 0; from < to; ++from, rest /= 5) absl::StrAppend(&arch, kNames[rest % 5], "~", from, "|");
    }
    archs.push_back(std::move(arch));
  }
  return archs;
}

}  // namespace cobra::space
