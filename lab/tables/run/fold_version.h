// The version of one fold of a table: trained once, found again by the next run.
#ifndef COBRA_LAB_TABLES_RUN_FOLD_VERSION_H_
#define COBRA_LAB_TABLES_RUN_FOLD_VERSION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lab/tables/run/table.h"
#include "lab/tables/run/work_folder.h"
#include "model/training/rows/dataset.h"

namespace cobra::lab {

struct FoldTraining {
  int seed = 1, fold = 0;
  int epochs = 1;  // of a quick run one
  double learning_rate = 1e-3;
  double embedding_dropout = 0;
  // Of versions that several tables share; empty: the table's.
  std::string name = {};
};

// Where it is, or will be: a folder for each of the weights that it begins with.
std::string FoldDirectory(const TableOptions& options, const WorkFolder& work, const FoldTraining& training);
bool HasFoldVersion(const std::string& directory);

// Trains on the training rows of `sets`, beginning with the weights of options.model, unless the
// version is there or another process has just made it. Returns the directory.
absl::StatusOr<std::string> TrainFoldVersion(const TableOptions& options, const WorkFolder& work,
                                             const FoldTraining& training, absl::Span<const training::Dataset> sets);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_RUN_FOLD_VERSION_H_
