// The cell of a NAS-Bench-201 architecture, for code that needs its graph and not its network.
#ifndef COBRA_FRONTEND_NAS_NASBENCH201_CELL_H_
#define COBRA_FRONTEND_NAS_NASBENCH201_CELL_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "frontend/nas/arch_text.h"

namespace cobra::nas {

// Four nodes; edge (from, to), from < to, is an operation that reads node `from` and adds to node
// `to`.
struct Nasbench201Cell {
  enum Operation { kNone, kSkip, kConv1x1, kConv3x3, kAvgPool };
  static constexpr int kNodes = 4, kOperations = 5;
  // Indexed [to][from].
  Operation edge[kNodes][kNodes] = {};
  // Indexed [to][from].
  bool runs[kNodes][kNodes] = {};
};

// "|op~0|+|op~0|op~1|+|op~0|op~1|op~2|", all of which runs.
absl::StatusOr<Nasbench201Cell> ReadNasbench201Cell(ArchText& text);
absl::StatusOr<Nasbench201Cell> ReadNasbench201Cell(absl::string_view arch);
// Sets `runs` only for edges on a path from the cell's input to its output over edges that are not
// `none` (as BRP-NAS measured). False: there are none.
bool Prune(Nasbench201Cell* cell);
// If neither of the inner nodes 1 and 2 reads the other, exchanging them gives the same network.
// Returns one representative of the two cells.
Nasbench201Cell Canonical(Nasbench201Cell cell);

}  // namespace cobra::nas

#endif  // COBRA_FRONTEND_NAS_NASBENCH201_CELL_H_
