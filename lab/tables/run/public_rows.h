// Measurements of others (data/public): a folder a target, and the folds in which their problems or
// families are left out.
#ifndef COBRA_LAB_TABLES_RUN_PUBLIC_ROWS_H_
#define COBRA_LAB_TABLES_RUN_PUBLIC_ROWS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lab/tables/run/table.h"
#include "model/training/rows/dataset.h"

namespace cobra::lab {

struct PublicSource {
  const char* what;    // "Problems": what is left out
  const char* folder;  // of data/public
  const char* folds;   // a CSV file of `key,fold`, where a key is the label of rows
  // Folders whose rows are all trained on beside them: other devices' calls, say.
  std::vector<const char*> companions;
};

// FailedPrecondition if `model` was trained on one of these targets: what is left out would not be
// left out.
absl::Status CheckUnseen(const std::string& model, const std::vector<training::Dataset>& sets);

// A CSV file of `key,fold`.
absl::StatusOr<std::map<std::string, int>> ReadFolds(const std::string& path);

class PublicRows {
 public:
  // Reads every folder of `source.folder` (or of --rows, if it is given) that has a target.json. A
  // row whose label has no fold is an error: none may be trained on by accident. Of a quick run,
  // the first two folders, no companions.
  static absl::StatusOr<PublicRows> Read(const TableOptions& options, const PublicSource& source);

  // Makes the rows of `fold` test rows and all others training rows. Companions stay training rows.
  void LeaveOut(int fold);
  int folds() const { return folds_; }
  const std::string& what() const { return what_; }  // is left out
  const std::vector<training::Dataset>& sets() const { return sets_; }
  // Networks of a target, and what is a single call: all are questions here.
  std::vector<const training::Sample*> Of(size_t target, training::Split split) const;
  // "eager", "inductor" ...: of a target by its name.
  std::string ModeOf(const std::string& target) const;

 private:
  int FoldOf(const training::Sample& row) const { return fold_of_.at(row.label()); }

  std::string what_;
  std::vector<training::Dataset> sets_;
  size_t own_ = 0;  // of sets_, those that are left out; companions follow
  std::map<std::string, int> fold_of_;
  int folds_ = 0;
};

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_RUN_PUBLIC_ROWS_H_
