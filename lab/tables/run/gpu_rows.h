// GPUs that others measured (data/public): each left out with all of its silicon. The versions that
// are trained without them serve several tables.
#ifndef COBRA_LAB_TABLES_RUN_GPU_ROWS_H_
#define COBRA_LAB_TABLES_RUN_GPU_ROWS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lab/tables/run/kept_answers.h"
#include "lab/tables/run/table.h"
#include "lab/tables/run/work_folder.h"
#include "model/training/rows/dataset.h"

namespace cobra::lab {

// NeuSight's own test split: kernels in shapes of language models.
inline constexpr char kKernelTests[] = "neusight-test";

// What the data sheet of the row's target promises.
double SheetRooflineUs(const training::Sample& row, const predict::TargetSpec& sheet);

class GpuRows {
 public:
  // kernelbench, neusight, timm if a question is about it, and the GPUs of data/measurements, which
  // are never left out. Of a quick run, two targets each of the first two and few rows of each.
  static absl::StatusOr<GpuRows> Read(const TableOptions& options, bool with_timm);

  static constexpr int kNoGpu = -1;  // as a fold: no GPU is left out, the kernels' test split of all is
  int folds() const { return folds_; }
  bool IsLeftOut(const training::Dataset& data, int fold) const { return fold_of_.at(data.target.name) == fold; }
  const std::vector<training::Dataset>& sets() const { return sets_; }
  // "kernelbench": the space of its rows begins with it.
  const std::string& SourceOf(size_t set) const { return sources_[set]; }

  // The version that is trained without the GPUs of `fold`, from an earlier run or from this one;
  // on timm's rows too only if `source` is timm, because they are most of the work.
  absl::StatusOr<std::string> VersionWithout(int fold, absl::string_view source, const TableOptions& options,
                                             const WorkFolder& work, int seed) const;

 private:
  absl::Status ReadMeasured();

  std::vector<training::Dataset> sets_;
  std::vector<std::string> sources_;
  std::map<std::string, int> fold_of_;  // by target
  int folds_ = 0;
};

// How well a GPU is answered for that is left out: `samples` of its rows are timed.
struct NewGpuQuestion {
  const char* source = "";  // of the rows that are asked: "timm"
  std::vector<size_t> samples;
  // Of a GPU, drawn at random; 0: all.
  size_t most_rows = 0;
};
// Its parts (AnswerInParallel), a fold each. `rows`, `work` and `run` outlive them.
std::vector<TablePart> NewGpuParts(const NewGpuQuestion& question, const GpuRows& rows, const WorkFolder& work,
                                   int seed, TableRun* run);
// Adds the mean over GPUs and each GPU, ours and floors, of all folds.
absl::Status AddNewGpuRows(const NewGpuQuestion& question, const GpuRows& rows, const WorkFolder& work, int seed,
                           TableRun* run);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_RUN_GPU_ROWS_H_
