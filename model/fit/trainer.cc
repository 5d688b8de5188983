#include "model/fit/trainer.h"

#include "base/status_macros.h"
#include "model/fit/training_run.h"
#include "model/net/threads.h"
#include "model/predict/bundle.h"

namespace cobra::fit {

absl::Status Train(absl::Span<const Dataset> sets, const TrainOptions& options, absl::string_view directory) {
  COBRA_ASSIGN_OR_RETURN(const predict::ModelBundle bundle, TrainBundle(sets, options, TrainingParts()));
  return predict::SaveBundle(bundle, directory);
}

absl::StatusOr<Predictions> PredictSamples(absl::string_view directory, const std::vector<const Sample*>& samples,
                                           int target) {
  net::UseOneThread();
  COBRA_ASSIGN_OR_RETURN(const predict::ModelBundle bundle, predict::LoadBundle(directory));
  return PredictWithBundle(bundle, samples, text::SplitText, target);
}

}  // namespace cobra::fit
