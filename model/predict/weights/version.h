// The files of a model version, read and verified. Without LibTorch.
#ifndef COBRA_MODEL_PREDICT_WEIGHTS_VERSION_H_
#define COBRA_MODEL_PREDICT_WEIGHTS_VERSION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/predict/weights/manifest.h"
#include "model/text/tokenizer.h"

namespace cobra::predict {

struct ModelVersion {
  Manifest manifest;
  text::Vocabulary vocabulary;
  std::string manifest_sha256;
  // The file (base/file/tensor_file.h), with all inputs of this build (later_inputs.h).
  std::string tensors;
};

// DataLoss names the file that is damaged, or what does not fit this build.
absl::StatusOr<ModelVersion> ReadVersion(absl::string_view directory);

std::string ManifestPath(absl::string_view directory);
std::string TensorsPath(absl::string_view directory);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WEIGHTS_VERSION_H_
