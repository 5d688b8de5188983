// Where a table keeps weights and checkpoints while it runs.
#ifndef COBRA_EVALUATION_TABLES_WORK_FOLDER_H_
#define COBRA_EVALUATION_TABLES_WORK_FOLDER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "evaluation/tables/table.h"

namespace cobra::evaluation {

// build/tables, which another run goes on from; of a quick run a folder of its own, which goes with this object.
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

// A table that keeps something in such a folder, run.
template <typename Table>
absl::StatusOr<TableRun> RunInWorkFolder(const TableOptions& options) {
  absl::StatusOr<WorkFolder> work = WorkFolder::Make(options);
  if (!work.ok()) return work.status();
  return Table(options, *std::move(work)).Run();
}

// Settings of the published methods (evaluation/published/configs): as far as a processor gets; of a quick run the smallest.
std::string ConfigFolder(const TableOptions& options);
// The vocabulary of BERT-uncased, as scripts/setup.sh --wordpiece puts it.
inline constexpr char kWordPieceVocabulary[] = "build/wordpiece/vocab.txt";

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_TABLES_WORK_FOLDER_H_
