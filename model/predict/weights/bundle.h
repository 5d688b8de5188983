// A model version in memory: manifest, vocabulary, networks. Used by the trainer, by evaluation and
// by lab/. Includes LibTorch headers; only files of model/ and lab/ include it. The server reads
// the same files without LibTorch (version.h, model/infer).
#ifndef COBRA_MODEL_PREDICT_WEIGHTS_BUNDLE_H_
#define COBRA_MODEL_PREDICT_WEIGHTS_BUNDLE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/net/cobra_net.h"
#include "model/predict/weights/manifest.h"
#include "model/text/tokenizer.h"

namespace cobra::predict {

struct ModelBundle {
  Manifest manifest;
  text::Vocabulary vocabulary;
  std::shared_ptr<net::CobraNet> net;
};

absl::StatusOr<ModelBundle> LoadBundle(absl::string_view directory);
// Writes manifest.json and tensors.safetensors; fills in manifest.tensors_sha256.
absl::Status SaveBundle(const ModelBundle& bundle, absl::string_view directory);

// [targets, target_features], on the device of the networks.
at::Tensor TargetRows(const ModelBundle& bundle, absl::Span<const int> targets);

// Batches several graphs: edges, node numbers and features. All are on the CPU but the features of
// targets, which are in part learned, and on the device of the networks.
net::GraphBatch CollateGraphs(const ModelBundle& bundle, absl::Span<const graph::Graph* const> graphs,
                              absl::Span<const int> target_index);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WEIGHTS_BUNDLE_H_
