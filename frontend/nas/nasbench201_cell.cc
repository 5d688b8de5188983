#include "frontend/nas/nasbench201_cell.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cobra::nas {
namespace {

constexpr absl::string_view kNames[] = {"none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"};

}  // namespace

absl::StatusOr<Nasbench201Cell> ReadNasbench201Cell(ArchText& text) {
  Nasbench201Cell cell;
  for (int to = 1; to < cell.kNodes; ++to) {
    if (to > 1) COBRA_RETURN_IF_ERROR(text.Expect("+"));
    COBRA_RETURN_IF_ERROR(text.Expect("|"));
    for (int from = 0; from < to; ++from) {
      text.SkipSpace();
      const size_t begin = text.position();
      const absl::string_view name = text.Word("");
      int found = -1;
      for (int i = 0; i < cell.kOperations; ++i) {
        if (kNames[i] == name) found = i;
      }
      if (found < 0) {
        return text.ErrorAt(begin, "is not an operation of NAS-Bench-201",
                            "the operations are none, skip_connect, nor_conv_1x1, nor_conv_3x3, avg_pool_3x3");
      }
      cell.edge[to][from] = static_cast<Nasbench201Cell::Operation>(found);
      cell.runs[to][from] = true;
      COBRA_RETURN_IF_ERROR(text.Expect("~"));
      COBRA_ASSIGN_OR_RETURN(const int64_t source, text.Int());
      if (source != from) {
        return text.ErrorAt(begin, absl::StrCat("node ", to, " lists its edges from nodes 0 to ", to - 1, " in order"));
      }
      COBRA_RETURN_IF_ERROR(text.Expect("|"));
    }
  }
  COBRA_RETURN_IF_ERROR(text.ExpectEnd());
  return cell;
}

absl::StatusOr<Nasbench201Cell> ReadNasbench201Cell(absl::string_view arch) {
  ArchText text(arch, 0);
  return ReadNasbench201Cell(text);
}

bool Prune(Nasbench201Cell* cell) {
  constexpr int kNodes = Nasbench201Cell::kNodes;
  constexpr auto kNone = Nasbench201Cell::kNone;
  std::array<bool, kNodes> reached{true}, needed{};
  needed[kNodes - 1] = true;
  for (int to = 1; to < kNodes; ++to) {
    for (int from = 0; from < to; ++from) {
      reached[to] = reached[to] || (reached[from] && cell->edge[to][from] != kNone);
    }
  }
  for (int to = kNodes - 1; to > 0; --to) {
    for (int from = 0; from < to; ++from) {
      needed[from] = needed[from] || (needed[to] && cell->edge[to][from] != kNone);
    }
  }
  bool any = false;
  for (int to = 1; to < kNodes; ++to) {
    for (int from = 0; from < to; ++from) {
      cell->runs[to][from] = cell->edge[to][from] != kNone && reached[from] && needed[to];
      any = any || cell->runs[to][from];
    }
  }
  return any;
}

Nasbench201Cell Canonical(Nasbench201Cell cell) {
  if (cell.runs[2][1]) return cell;
  // The operations on the edges into and out of an inner node; -1 if the edge does not run.
  const auto around = [&cell](int node) {
    const auto operation = [&cell](int to, int from) {
      return cell.runs[to][from] ? static_cast<int>(cell.edge[to][from]) : -1;
    };
    return std::make_pair(operation(node, 0), operation(3, node));
  };
  if (around(1) <= around(2)) return cell;
  std::swap(cell.edge[1][0], cell.edge[2][0]);
  std::swap(cell.runs[1][0], cell.runs[2][0]);
  std::swap(cell.edge[3][1], cell.edge[3][2]);
  std::swap(cell.runs[3][1], cell.runs[3][2]);
  return cell;
}

}  // namespace cobra::nas
