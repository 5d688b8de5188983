#include "lab/tables/run/fold_version.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/bytes/hash.h"
#include "base/file/file.h"
#include "base/file/file_lock.h"
#include "base/status_macros.h"
#include "model/training/trainer.h"

namespace cobra::lab {

std::string FoldDirectory(const TableOptions& options, const WorkFolder& work, const FoldTraining& training) {
  const absl::StatusOr<std::string> first = ReadFile(absl::StrCat(options.model, "/tensors.safetensors"));
  const std::string from = first.ok() ? Sha256Hex(*first).substr(0, 8) : "none";
  return absl::StrCat(work.path(), "/", training.name.empty() ? options.name : training.name, "-from-", from, "-fold-",
                      training.fold, "-seed-", training.seed);
}

bool HasFoldVersion(const std::string& directory) { return FileExists(absl::StrCat(directory, "/manifest.json")); }

absl::StatusOr<std::string> TrainFoldVersion(const TableOptions& options, const WorkFolder& work,
                                             const FoldTraining& training, absl::Span<const training::Dataset> sets) {
  const std::string directory = FoldDirectory(options, work, training);
  COBRA_RETURN_IF_ERROR(MakeDirectories(directory));
  // Tables that run side by side share versions: one trains it, and the other waits.
  COBRA_ASSIGN_OR_RETURN(const Descriptor lock, WaitForLock(absl::StrCat(directory, "/lock")));
  if (HasFoldVersion(directory)) return directory;
  training::TrainOptions train;
  train.epochs = options.quick ? 1 : training.epochs;
  train.learning_rate = training.learning_rate;
  train.embedding_dropout = training.embedding_dropout;
  train.seed = static_cast<uint64_t>(training.seed);
  train.from = options.model;
  train.device = options.device;
  train.checkpoint = absl::StrCat(directory, "/checkpoint");
  COBRA_RETURN_IF_ERROR(training::Train(sets, train, directory));
  return directory;
}

}  // namespace cobra::lab
