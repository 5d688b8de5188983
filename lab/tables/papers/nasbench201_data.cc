#include "lab/tables/papers/nasbench201_data.h"

#include <array>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/file/csv.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "frontend/nas/nasbench201_cell.h"
#include "model/space/architectures/nasbench201_features.h"
#include "model/space/architectures/op_graph.h"

namespace cobra::lab {
namespace {

using Cell = nas::Nasbench201Cell;
constexpr int kNodes = Cell::kNodes, kOperations = Cell::kOperations;

// How often each operation is on the path to the output with most 3x3 convolutions, then 1x1, then
// poolings.
std::array<double, kOperations> LongestPath(const Cell& cell) {
  constexpr std::array<double, kOperations> kWeight = {0, 0.001, 1, 4, 0.5};
  std::array<std::array<double, kOperations>, kNodes> counts{};
  std::array<double, kNodes> length{};
  for (int to = 1; to < kNodes; ++to) {
    length[static_cast<size_t>(to)] = -1;
    for (int from = 0; from < to; ++from) {
      if (!cell.runs[to][from] || length[static_cast<size_t>(from)] < 0) continue;
      const double candidate = length[static_cast<size_t>(from)] + kWeight[cell.edge[to][from]];
      if (candidate <= length[static_cast<size_t>(to)]) continue;
      length[static_cast<size_t>(to)] = candidate;
      counts[static_cast<size_t>(to)] = counts[static_cast<size_t>(from)];
      counts[static_cast<size_t>(to)][cell.edge[to][from]] += 1;
    }
  }
  return counts[kNodes - 1];
}

absl::StatusOr<std::vector<double>> OneHot(const std::string& arch) {
  COBRA_ASSIGN_OR_RETURN(const Cell cell, nas::ReadNasbench201Cell(arch));
  std::vector<double> features;
  for (int to = 1; to < kNodes; ++to) {
    for (int from = 0; from < to; ++from) {
      for (int o = 0; o < kOperations; ++o) features.push_back(cell.edge[to][from] == o ? 1 : 0);
    }
  }
  return features;
}

absl::StatusOr<std::vector<double>> PathFeatures(const std::string& arch) {
  COBRA_ASSIGN_OR_RETURN(const Cell cell, space::PrunedCell(arch));
  COBRA_ASSIGN_OR_RETURN(std::vector<double> features, space::Nasbench201Counts(arch));
  for (int to = 1; to < kNodes; ++to) {
    double terms = 0;
    for (int from = 0; from < to; ++from) {
      terms += cell.runs[to][from];
      for (int o = 0; o < kOperations; ++o) features.push_back(cell.runs[to][from] && cell.edge[to][from] == o ? 1 : 0);
    }
    features.push_back(terms);
  }
  for (double count : LongestPath(cell)) features.push_back(count);
  return features;
}

template <typename F>
absl::StatusOr<std::vector<std::vector<double>>> FeaturesOf(const std::vector<std::string>& archs, F features) {
  std::vector<std::vector<double>> all;
  for (const std::string& arch : archs) {
    COBRA_ASSIGN_OR_RETURN(all.emplace_back(), features(arch));
  }
  return all;
}

// The properties of each kind of node: computes, pools, passes on, begins, ends; side of its window
// over 3; multiply-accumulates and weights per channel pair, over 9.
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
  return at::tensor(rows, at::kFloat).view({space::CellEncoding::kKinds, -1});
}

}  // namespace

absl::StatusOr<space::DenseGraphs> MakeContractedCells(const std::vector<std::string>& archs) {
  space::CellEncoding form;
  form.pruned = form.contract_skip = form.empty = true;
  std::vector<space::OpGraph> graphs;
  for (const std::string& arch : archs) {
    COBRA_ASSIGN_OR_RETURN(graphs.emplace_back(), space::Nasbench201Graph(arch, form));
  }
  return space::MakeDense(graphs, space::CellEncoding::kKinds);
}

absl::StatusOr<Nasbench201Data> LoadNasbench201(const std::string& folder) {
  Nasbench201Data data;
  COBRA_ASSIGN_OR_RETURN(data.rows, space::LoadArchRows(folder + "/latency.csv.xz"));
  const std::vector<std::string>& archs = data.rows.arch;
  COBRA_ASSIGN_OR_RETURN(data.cells, space::MakePrunedCells(archs));
  data.described = data.cells.graphs;
  data.described.kinds = at::matmul(data.cells.graphs.kinds, Descriptions());
  COBRA_ASSIGN_OR_RETURN(data.contracted, MakeContractedCells(archs));
  COBRA_ASSIGN_OR_RETURN(data.one_hot, FeaturesOf(archs, OneHot));
  COBRA_ASSIGN_OR_RETURN(data.counts, FeaturesOf(archs, space::Nasbench201Counts));
  COBRA_ASSIGN_OR_RETURN(data.paths, FeaturesOf(archs, PathFeatures));
  return data;
}

absl::StatusOr<SpaceSplit> LoadSpaceSplit(const std::string& file, const space::ArchRows& rows, size_t device) {
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
    space::SpaceRowSet& set = found == is_train.end() ? split.test : found->second ? split.train : split.validation;
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

}  // namespace cobra::lab
