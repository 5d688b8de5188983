#include "model/predict/weights/later_inputs.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file/tensor_file.h"
#include "base/status_macros.h"
#include "model/net/config.h"
#include "model/predict/work/features.h"

namespace cobra::predict {
namespace {

// Those that multiply a target's features (model/net/layer_head.h, graph_net.h and
// shared_graph_net.h).
constexpr const char* kOfTargets[] = {".target.weight", ".target_gain.weight", ".target_prices.weight", ".run.weight",
                                      ".whole_target.weight"};

bool IsOfTargets(absl::string_view name) {
  for (const char* end : kOfTargets) {
    if (absl::EndsWith(name, end)) return true;
  }
  return false;
}

// The numbers, `width` for each kind, of the kinds behind the first `had`: those of the kind that
// it was one with, or `added`.
void AppendKinds(absl::string_view had_bytes, int64_t had, int64_t width, float added, std::string* bytes) {
  const auto kind_bytes = static_cast<size_t>(width) * sizeof(float);
  for (int64_t kind = had; kind < kWorkTerms; ++kind) {
    const WorkTerm like = WasOneWith(static_cast<WorkTerm>(kind));
    if (like < had) {
      absl::StrAppend(bytes, had_bytes.substr(static_cast<size_t>(like) * kind_bytes, kind_bytes));
      continue;
    }
    for (int64_t i = 0; i < width; ++i) bytes->append(reinterpret_cast<const char*>(&added), sizeof(added));
  }
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

absl::StatusOr<std::string> WithAllWorkTerms(absl::string_view tensors, int64_t had) {
  COBRA_ASSIGN_OR_RETURN(const auto stored, ReadTensorFile(tensors, "F32"));
  std::map<std::string, std::string> larger;
  std::vector<std::pair<std::string, StoredTensor>> all(stored.begin(), stored.end());
  for (auto& [name, tensor] : all) {
    const bool is_bias = name == "layer_head.out.bias", is_work = name == "layer_head.work.weight";
    const bool is_price = is_bias || name == "layer_head.out.weight" || name == "layer_head.target_prices.weight";
    if ((!is_price && !is_work) || tensor.shape[is_work ? 1 : 0] != had) continue;
    std::string& bytes = larger[name];
    const float added = is_bias ? kNoPrice : 0;
    if (is_price) {  // a row for each kind
      bytes = std::string(tensor.bytes);
      AppendKinds(tensor.bytes, had, is_bias ? 1 : tensor.shape[1], added, &bytes);
    } else {  // a column
      const auto row_bytes = static_cast<size_t>(had) * sizeof(float);
      for (size_t row = 0; row < tensor.bytes.size(); row += row_bytes) {
        const absl::string_view before = tensor.bytes.substr(row, row_bytes);
        absl::StrAppend(&bytes, before);
        AppendKinds(before, had, 1, added, &bytes);
      }
    }
    tensor.shape[is_work ? 1 : 0] = kWorkTerms;
    tensor.bytes = bytes;
  }
  return WriteTensorFile(all);
}

}  // namespace cobra::predict
