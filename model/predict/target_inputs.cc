#include "model/predict/target_inputs.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/tensor_file.h"
#include "model/net/config.h"
#include "model/predict/features.h"

namespace cobra::predict {
namespace {

// Those that multiply a target's features (model/net/layer_head.h, graph_net.h).
constexpr const char* kOfTargets[] = {".target.weight", ".target_gain.weight", ".target_prices.weight", ".run.weight"};

bool IsOfTargets(absl::string_view name) {
  for (const char* end : kOfTargets) {
    if (absl::EndsWith(name, end)) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::string> WithAllSpecFeatures(absl::string_view tensors, int64_t had) {
  COBRA_ASSIGN_OR_RETURN(const auto stored, ReadTensorFile(tensors, "F32"));
  std::map<std::string, std::string> wider;
  std::vector<std::pair<std::string, StoredTensor>> all(stored.begin(), stored.end());
  for (auto& [name, tensor] : all) {
    if (!IsOfTargets(name) || tensor.shape.size() != 2 || tensor.shape[1] != had + net::kLearnedTargetFeatures)
      continue;
    const auto row_bytes = static_cast<size_t>(tensor.shape[1]) * sizeof(float);
    const auto spec_bytes = static_cast<size_t>(had) * sizeof(float);
    std::string& bytes = wider[name];
    for (size_t row = 0; row < tensor.bytes.size(); row += row_bytes) {
      absl::StrAppend(&bytes, tensor.bytes.substr(row, spec_bytes),
                      std::string(static_cast<size_t>(kTargetSpecFeatures - had) * sizeof(float), '\0'),
                      tensor.bytes.substr(row + spec_bytes, row_bytes - spec_bytes));
    }
    tensor.shape[1] = kTargetSpecFeatures + net::kLearnedTargetFeatures;
    tensor.bytes = bytes;
  }
  return WriteTensorFile(all);
}

}  // namespace cobra::predict
