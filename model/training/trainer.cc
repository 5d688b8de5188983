#include "model/training/trainer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "model/net/threads.h"
#include "model/predict/weights/bundle.h"
#include "model/training/earlier_weights.h"
#include "model/training/training_run.h"

namespace cobra::training {

absl::Status Train(absl::Span<const Dataset> sets, const TrainOptions& options, absl::string_view directory) {
  COBRA_ASSIGN_OR_RETURN(const predict::ModelBundle bundle, TrainBundle(sets, options, TrainingParts()));
  return predict::SaveBundle(bundle, directory);
}

absl::Status AverageVersions(absl::Span<const std::string> directories, absl::string_view directory) {
  std::vector<predict::ModelBundle> versions;
  for (const std::string& version : directories) {
    COBRA_ASSIGN_OR_RETURN(predict::ModelBundle bundle, predict::LoadBundle(version));
    versions.push_back(std::move(bundle));
  }
  COBRA_ASSIGN_OR_RETURN(predict::ModelBundle mean, AverageWeights(std::move(versions)));
  mean.manifest.training_notes.push_back(absl::StrCat("the mean of the weights of ", directories.size(), " seeds"));
  return predict::SaveBundle(mean, directory);
}

absl::StatusOr<Predictions> PredictSamples(absl::string_view directory, const std::vector<const Sample*>& samples,
                                           int target) {
  net::UseOneThread();
  COBRA_ASSIGN_OR_RETURN(const predict::ModelBundle bundle, predict::LoadBundle(directory));
  return PredictWithBundle(bundle, samples, text::SplitText, target);
}

}  // namespace cobra::training
