// The folder of a table's weights and checkpoints during its run.
#ifndef COBRA_LAB_TABLES_RUN_WORK_FOLDER_H_
#define COBRA_LAB_TABLES_RUN_WORK_FOLDER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

// build/tables, from which another run resumes; for a quick run a temporary folder, which is
// removed with this object.
class WorkFolder {
 public:
  static absl::StatusOr<WorkFolder> Make(const TableOptions& options);
  ~WorkFolder();
  WorkFolder(WorkFolder&& other) noexcept : path_(std::move(other.path_)), temporary_(other.temporary_) {
    other.temporary_ = false;
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  WorkFolder& operator=(WorkFolder&& other) = delete;
  const std::string& path() const { return path_; }

 private:
  WorkFolder(std::string path, bool temporary) : path_(std::move(path)), temporary_(temporary) {}
  std::string path_;
  bool temporary_ = false;
};

// Runs a table that needs such a folder.
template <typename Table>
absl::StatusOr<TableRun> RunInWorkFolder(const TableOptions& options) {
  absl::StatusOr<WorkFolder> work = WorkFolder::Make(options);
  if (!work.ok()) return work.status();
  return Table(options, *std::move(work)).Run();
}

// Settings of the published methods (lab/published/configs): a size for one processor; for a quick
// run the smallest.
std::string ConfigFolder(const TableOptions& options);
// The vocabulary of BERT-uncased, written by scripts/setup.sh --wordpiece.
inline constexpr char kWordPieceVocabulary[] = "build/wordpiece/vocab.txt";

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_RUN_WORK_FOLDER_H_
