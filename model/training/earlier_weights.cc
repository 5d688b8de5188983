#include "model/training/earlier_weights.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/predict/target/target.h"
#include "model/predict/weights/later_inputs.h"
#include "model/predict/work/features.h"

namespace cobra::training {
namespace {

// Row of each word in the earlier embedding.
at::Tensor RowsOfWords(const predict::ModelBundle& earlier, const text::Vocabulary& words) {
  at::Tensor rows = at::empty({words.size()}, at::kLong);
  for (int32_t i = 0; i < words.size(); ++i)
    rows.data_ptr<int64_t>()[i] =
        i == text::Vocabulary::kPad ? i : earlier.vocabulary.Find(words.words()[static_cast<size_t>(i)]);
  return rows;
}

at::Tensor VectorOfTarget(const predict::ModelBundle& earlier, const predict::TargetSpec& target) {
  std::vector<at::Tensor> alike;
  for (size_t i = 0; i < earlier.manifest.targets.size(); ++i) {
    const predict::TargetSpec& other = earlier.manifest.targets[i].spec;
    const at::Tensor vector = earlier.net->target_vectors[static_cast<int64_t>(i)];
    if (other.name == target.name) return vector;
    if (predict::RuntimeFamily(other) == predict::RuntimeFamily(target)) alike.push_back(vector);
  }
  return alike.empty() ? earlier.net->target_vectors.mean(0) : at::stack(alike).mean(0);
}

// A kind of work that the earlier version did not know begins with the price of one that is alike.
void PriceNewWork(net::CobraNet* net) {
  constexpr std::pair<predict::WorkTerm, predict::WorkTerm> kAlike[] = {
      {predict::kWideBytes, predict::kReadBytes},
      {predict::kCastBytes, predict::kReadBytes},
      {predict::kMissedBytes, predict::kReadBytes},
      {predict::kFusedBytes, predict::kReadBytes},
      {predict::kFusedKernels, predict::kOneCall},
      {predict::kCasts, predict::kComposedKernels},
      {predict::kArgumentCopies, predict::kComposedKernels},
      {predict::kArgumentCopyBytes, predict::kReadBytes},
      {predict::kStridedBytes, predict::kReadBytes},
      {predict::kTurnedBytes, predict::kReadBytes}};
  auto of_head = net->layer_head->named_parameters();
  const auto is_known = [&of_head](predict::WorkTerm term) {
    return of_head["out.bias"].size(0) <= term || of_head["out.bias"][term].item<float>() > predict::kNoPrice;
  };
  for (const auto& [term, like] : kAlike) {
    if (is_known(term)) continue;
    for (const char* name : {"out.weight", "out.bias", "target_prices.weight"})
      of_head[name][term].copy_(of_head[name][like]);
  }
}

}  // namespace

absl::Status TakeWeights(const predict::ModelBundle& earlier, predict::ModelBundle* bundle) {
  at::NoGradGuard no_grad;
  const at::Tensor rows = RowsOfWords(earlier, bundle->vocabulary);
  const auto from = earlier.net->named_parameters();
  const bool other_form = earlier.manifest.net.shared_graph_net != bundle->manifest.net.shared_graph_net;
  const auto is_new_round = [&](absl::string_view name) {
    const int64_t known = earlier.manifest.net.graph_layers, all = bundle->manifest.net.graph_layers;
    for (int64_t round = known; !other_form && round < all; ++round) {
      if (absl::StartsWith(name, absl::StrCat("graph_net.convolution", round, "."))) return true;
    }
    return false;
  };
  for (auto& parameter : bundle->net->named_parameters()) {
    at::Tensor after = parameter.value();
    const at::Tensor* before = from.find(parameter.key());
    if (parameter.key() == "target_vectors") {
      for (size_t i = 0; i < bundle->manifest.targets.size(); ++i)
        after[static_cast<int64_t>(i)].copy_(VectorOfTarget(earlier, bundle->manifest.targets[i].spec));
    } else if (before != nullptr && before->size(0) == earlier.vocabulary.size() &&
               after.size(0) == bundle->vocabulary.size() && before->sizes().slice(1) == after.sizes().slice(1)) {
      after.copy_(before->index_select(0, rows));  // an embedding: one row per word
    } else if (before != nullptr && before->sizes() == after.sizes()) {
      after.copy_(*before);
    } else if (other_form && absl::StartsWith(parameter.key(), "graph_net.")) {
      continue;  // it learns this from the beginning
    } else if (is_new_round(parameter.key())) {
      if (absl::StrContains(parameter.key(), ".out.")) after.zero_();  // and changes nothing yet
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("the version of ", earlier.manifest.trained_at, ": its networks have other sizes (",
                       parameter.key(), "): give the sizes that it was trained with, or train without it"));
    }
  }
  PriceNewWork(bundle->net.get());
  return absl::OkStatus();
}

absl::StatusOr<predict::ModelBundle> AverageWeights(std::vector<predict::ModelBundle> versions) {
  at::NoGradGuard no_grad;
  if (versions.empty()) return absl::InvalidArgumentError("no versions to average");
  predict::ModelBundle mean = std::move(versions.front());
  for (size_t i = 1; i < versions.size(); ++i) {
    const predict::ModelBundle& other = versions[i];
    if (other.vocabulary.words() != mean.vocabulary.words() ||
        other.manifest.targets.size() != mean.manifest.targets.size())
      return absl::InvalidArgumentError("the versions to average were trained on other rows");
    const auto from = other.net->named_parameters();
    for (auto& parameter : mean.net->named_parameters()) {
      const at::Tensor* value = from.find(parameter.key());
      if (value == nullptr || value->sizes() != parameter.value().sizes())
        return absl::InvalidArgumentError("the networks of the versions to average have other sizes");
      parameter.value().lerp_(*value, 1.0 / static_cast<double>(i + 1));
    }
  }
  return mean;
}

}  // namespace cobra::training
