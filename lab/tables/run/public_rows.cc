#include "lab/tables/run/public_rows.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/file/csv.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "lab/tables/run/measured_rows.h"
#include "model/predict/weights/version.h"

namespace cobra::lab {
namespace {

constexpr size_t kQuickTargets = 2, kQuickRows = 40;

}  // namespace

absl::Status CheckUnseen(const std::string& model, const std::vector<training::Dataset>& sets) {
  COBRA_ASSIGN_OR_RETURN(const predict::ModelVersion version, predict::ReadVersion(model));
  for (const predict::TargetEntry& known : version.manifest.targets) {
    for (const training::Dataset& data : sets) {
      if (data.target.name != known.spec.name) continue;
      return absl::FailedPreconditionError(
          absl::StrCat(model, ": was trained on ", known.spec.name,
                       ", so nothing of it is left out; give a version of other rows: cobra-train fit on "
                       "data/measurements, then --model"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::map<std::string, int>> ReadFolds(const std::string& path) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  absl::StatusOr<CsvTable> table = ParseCsv(text);
  if (!table.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", table.status().message()));
  const int key = table->Column("key"), fold = table->Column("fold");
  if (key < 0 || fold < 0) return absl::InvalidArgumentError(absl::StrCat(path, ": has no columns key, fold"));
  std::map<std::string, int> folds;
  for (const CsvTable::Row& row : table->rows) {
    int number = -1;
    if (!absl::SimpleAtoi(row.fields[static_cast<size_t>(fold)], &number) || number < 0)
      return absl::InvalidArgumentError(absl::StrCat(path, ": line ", row.line, ": the fold is not a number"));
    folds[row.fields[static_cast<size_t>(key)]] = number;
  }
  return folds;
}

absl::StatusOr<PublicRows> PublicRows::Read(const TableOptions& options, const PublicSource& source) {
  PublicRows rows;
  rows.what_ = source.what;
  COBRA_ASSIGN_OR_RETURN(rows.fold_of_, ReadFolds(source.folds));
  for (const auto& [key, fold] : rows.fold_of_) rows.folds_ = std::max(rows.folds_, fold + 1);
  const std::string root = options.rows == TableOptions().rows ? source.folder : options.rows;
  COBRA_ASSIGN_OR_RETURN(std::vector<std::string> targets, TargetFolders(root));
  if (options.quick) targets.resize(std::min(targets.size(), kQuickTargets));
  COBRA_ASSIGN_OR_RETURN(rows.sets_, training::LoadAllMeasurements(targets));
  for (size_t i = 0; i < targets.size(); ++i) {
    training::Dataset& data = rows.sets_[i];
    if (options.quick && data.samples.size() > kQuickRows)
      data.samples.erase(data.samples.begin() + kQuickRows, data.samples.end());
    for (const training::Sample& row : data.samples) {
      if (rows.fold_of_.count(row.label()) == 0)
        return absl::FailedPreconditionError(
            absl::StrCat(targets[i], ": a row of ", row.label(), ", which ", source.folds, " does not list"));
    }
  }
  rows.own_ = rows.sets_.size();
  for (const char* companion : options.quick ? std::vector<const char*>() : source.companions) {
    COBRA_ASSIGN_OR_RETURN(targets, TargetFolders(companion));
    COBRA_ASSIGN_OR_RETURN(std::vector<training::Dataset> more, training::LoadAllMeasurements(targets));
    for (training::Dataset& data : more) {
      for (training::Sample& row : data.samples) row.split = training::Split::kTrain;
      rows.sets_.push_back(std::move(data));
    }
  }
  training::NumberTargets(&rows.sets_);
  return rows;
}

void PublicRows::LeaveOut(int fold) {
  for (training::Dataset& data : absl::MakeSpan(sets_).first(own_)) {
    for (training::Sample& row : data.samples)
      row.split = FoldOf(row) == fold ? training::Split::kTest : training::Split::kTrain;
  }
}

std::vector<const training::Sample*> PublicRows::Of(size_t target, training::Split split) const {
  std::vector<const training::Sample*> rows;
  for (const training::Sample& row : sets_[target].samples) {
    if (row.split == split) rows.push_back(&row);
  }
  return rows;
}

std::string PublicRows::ModeOf(const std::string& target) const {
  for (const training::Dataset& data : sets_) {
    if (data.target.name == target) return data.target.compile;
  }
  return "";
}

}  // namespace cobra::lab
