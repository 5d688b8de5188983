#include "model/predict/weights/version.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/bytes/hash.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "model/net/config.h"
#include "model/predict/weights/later_inputs.h"
#include "model/predict/work/features.h"

namespace cobra::predict {
namespace {

// A manifest comes from a file: sizes beyond these limits mean that the file is damaged.
absl::Status CheckSizes(const net::NetConfig& c) {
  const bool sane =
      c.vocabulary_size >= 2 && c.vocabulary_size < 1000000 && c.value_features == text::kNumValueFeatures &&
      c.target_features >= kFewestTargetSpecFeatures + net::kLearnedTargetFeatures &&
      c.target_features <= kTargetSpecFeatures + net::kLearnedTargetFeatures && c.graph_features == kGraphFeatures &&
      c.work_terms >= kFewestWorkTerms && c.work_terms <= kWorkTerms && c.width > 0 && c.width <= 4096 && c.heads > 0 &&
      c.width % c.heads == 0 && c.encoder_layers >= 1 && c.encoder_layers <= 64 && c.feed_forward > 0 &&
      c.feed_forward <= 16384 && c.graph_width > 0 && c.graph_width <= 4096 && c.graph_layers >= 1 &&
      c.graph_layers <= 64;
  return sane ? absl::OkStatus() : absl::DataLossError("manifest: network sizes are not those of this build");
}

absl::Status CheckSpreads(const Manifest& manifest) {
  for (const TargetEntry& t : manifest.targets) {
    for (const IntervalWidth* width : {&t.interval.layer, &t.interval.network}) {
      if (!width->spread.weights.empty() && static_cast<int64_t>(width->spread.weights.size()) != manifest.net.width)
        return absl::DataLossError(
            absl::StrCat("manifest: spread_weights of ", t.spec.name, " are not as many as an embedding has numbers"));
    }
  }
  return absl::OkStatus();
}

// Of a version that is older than some inputs.
absl::Status Widen(ModelVersion* version) {
  net::NetConfig& sizes = version->manifest.net;
  if (const int64_t had = sizes.target_features - net::kLearnedTargetFeatures; had < kTargetSpecFeatures) {
    COBRA_ASSIGN_OR_RETURN(version->tensors, WithAllSpecFeatures(version->tensors, had));
    sizes.target_features = kTargetSpecFeatures + net::kLearnedTargetFeatures;
  }
  if (sizes.work_terms < kWorkTerms) {
    COBRA_ASSIGN_OR_RETURN(version->tensors, WithAllWorkTerms(version->tensors, sizes.work_terms));
    sizes.work_terms = kWorkTerms;
  }
  return absl::OkStatus();
}

}  // namespace

std::string ManifestPath(absl::string_view directory) { return absl::StrCat(directory, "/manifest.json"); }
std::string TensorsPath(absl::string_view directory) { return absl::StrCat(directory, "/tensors.safetensors"); }

absl::StatusOr<ModelVersion> ReadVersion(absl::string_view directory) {
  const std::string manifest_path = ManifestPath(directory), tensors_path = TensorsPath(directory);
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(manifest_path));
  if (const absl::Status hash = CheckManifestHash(text); !hash.ok())
    return absl::DataLossError(absl::StrCat(manifest_path, ": ", hash.message()));
  ModelVersion version;
  COBRA_ASSIGN_OR_RETURN(version.manifest, ManifestFromJson(text));
  COBRA_RETURN_IF_ERROR(CheckSizes(version.manifest.net));
  COBRA_RETURN_IF_ERROR(CheckSpreads(version.manifest));
  version.manifest_sha256 = Sha256Hex(text);
  COBRA_ASSIGN_OR_RETURN(version.tensors, ReadFile(tensors_path));
  if (Sha256Hex(version.tensors) != version.manifest.tensors_sha256) {
    return absl::DataLossError(
        absl::StrCat(tensors_path, ": SHA-256 differs from the manifest's; the file is damaged or of another version"));
  }
  if (const absl::Status widened = Widen(&version); !widened.ok())
    return absl::DataLossError(absl::StrCat(tensors_path, ": ", widened.message()));
  version.vocabulary = text::Vocabulary(version.manifest.vocabulary);
  return version;
}

}  // namespace cobra::predict
