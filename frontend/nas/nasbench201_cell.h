// The cell of a NAS-Bench-201 architecture, for those who need its graph and not its network.
#ifndef COBRA_FRONTEND_NAS_NASBENCH201_CELL_H_
#define COBRA_FRONTEND_NAS_NASBENCH201_CELL_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "frontend/nas/arch_text.h"

namespace cobra::nas {

// Four nodes; edge (from, to), from < to, is an operation that reads node `from` and adds to node `to`.
struct Nasbench201Cell {
  enum Operation { kNone, kSkip, kConv1x1, kConv3x3, kAvgPool };
  static constexpr int kNodes = 4, kOperations = 5;
  Operation edge[kNodes][kNodes] = {};  // [to][from]
  bool runs[kNodes][kNodes] = {};       // [to][from]
};

// "|op~0|+|op~0|op~1|+|op~0|op~1|op~2|", all of which runs.
absl::StatusOr<Nasbench201Cell> ReadNasbench201Cell(ArchText& text);
absl::StatusOr<Nasbench201Cell> ReadNasbench201Cell(absl::string_view arch);
// Leaves running what lies on a path from the cell's input to its output over edges that are not `none` (what BRP-NAS
// measured). False: nothing does.
bool Prune(Nasbench201Cell* cell);
// Where neither of the inner nodes 1 and 2 reads the other, either may go by either name; of the two cells that are the
// same then, one.
Nasbench201Cell Canonical(Nasbench201Cell cell);

}  // namespace cobra::nas

#endif  // COBRA_FRONTEND_NAS_NASBENCH201_CELL_H_
