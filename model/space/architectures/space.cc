#include "model/space/architectures/space.h"

#include <array>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "frontend/nas/nasbench201_cell.h"
#include "model/space/architectures/mobile_spaces.h"

namespace cobra::space {
namespace {

using Cell = nas::Nasbench201Cell;

// The six edges of a cell. Costs: how often each operation runs. A cell that is not pruned also
// runs its `none`, as a multiplication by zero.
class Nasbench201Space : public Space {
 public:
  explicit Nasbench201Space(bool pruned) : pruned_(pruned) {}
  absl::string_view name() const override { return pruned_ ? "nasbench201-pruned" : "nasbench201"; }
  int num_kinds() const override { return CellEncoding::kKinds; }
  absl::StatusOr<OpGraph> Graph(const std::string& arch) const override {
    return Nasbench201Graph(arch, {/*pruned=*/pruned_, /*contract_skip=*/false});
  }
  absl::StatusOr<SpaceFeatures> Features(const std::string& arch) const override {
    COBRA_ASSIGN_OR_RETURN(Cell cell, nas::ReadNasbench201Cell(arch));
    if (pruned_ && !nas::Prune(&cell)) {
      return absl::InvalidArgumentError(absl::StrCat(
          arch, ": no path leads from the cell's input to its output; such a cell runs in nasbench201 only"));
    }
    SpaceFeatures f;
    f.costs.assign(Cell::kOperations, 0);
    std::vector<int> operation;  // of each edge; none if it does not run
    for (int to = 1; to < Cell::kNodes; ++to) {
      for (int from = 0; from < to; ++from) {
        operation.push_back(cell.runs[to][from] ? cell.edge[to][from] : Cell::kNone);
        if (cell.runs[to][from]) f.costs[cell.edge[to][from]] += 1;
      }
    }
    for (int chosen : operation) {
      for (int o = 0; o < Cell::kOperations; ++o) f.choices.push_back(chosen == o ? 1 : 0);
    }
    for (size_t i = 0; i < operation.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        for (int o = 0; o < Cell::kOperations * Cell::kOperations; ++o) {
          f.pairs.push_back(operation[i] * Cell::kOperations + operation[j] == o ? 0.5 : 0);
        }
      }
    }
    f.rooflines = {9 * f.costs[Cell::kConv3x3] + f.costs[Cell::kConv1x1]};
    return f;
  }

 private:
  const bool pruned_;
};

const std::array<std::unique_ptr<const Space>, 4>& Spaces() {
  static const auto* spaces = new std::array<std::unique_ptr<const Space>, 4>{
      std::make_unique<const Nasbench201Space>(false), std::make_unique<const Nasbench201Space>(true), MakeFbnetSpace(),
      MakeOfaSpace()};
  return *spaces;
}

}  // namespace

std::string SpaceNames() {
  return absl::StrJoin(
      Spaces(), ", ", [](std::string* out, const std::unique_ptr<const Space>& s) { absl::StrAppend(out, s->name()); });
}

absl::StatusOr<const Space*> FindSpace(absl::string_view name) {
  for (const auto& space : Spaces()) {
    if (space->name() == name) return space.get();
  }
  return absl::NotFoundError(absl::StrCat(
      name, ": unknown space; this build fits measurements (a directory of worker records) and the search spaces ",
      SpaceNames(), ", hat"));  // its architectures are numbers: see model/space/models/hat_space.h
}

}  // namespace cobra::space
