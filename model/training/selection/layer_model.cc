#include "model/training/selection/layer_model.h"

#include <torch/types.h>

#include <exception>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "model/net/threads.h"
#include "model/predict/weights/bundle.h"
#include "model/predict/work/features.h"
#include "model/training/batch.h"

namespace cobra::training {
namespace {

class BundleLayerModel : public LayerModel {
 public:
  BundleLayerModel(predict::ModelBundle bundle, std::vector<const Sample*> layers)
      : bundle_(std::move(bundle)), layers_(std::move(layers)), texts_(layers_, bundle_.vocabulary) {}

  absl::StatusOr<std::vector<double>> Predict(absl::Span<const size_t> rows) const override {
    constexpr size_t kBatch = 256;
    try {
      at::InferenceMode inference;
      std::vector<double> latency_us;
      for (size_t begin = 0; begin < rows.size(); begin += kBatch) {
        const Batch batch = MakeBatch(bundle_, texts_, layers_, rows.subspan(begin, kBatch));
        const at::Tensor us = Forward(*bundle_.net, batch).log_total.exp().contiguous();
        latency_us.insert(latency_us.end(), us.data_ptr<float>(), us.data_ptr<float>() + us.numel());
      }
      return latency_us;
    } catch (const std::exception& e) {
      return absl::InternalError(absl::StrCat("predict: ", e.what()));
    }
  }

  absl::StatusOr<LayerSet> Embed(absl::Span<const size_t> rows) const override {
    absl::flat_hash_map<int32_t, size_t> place;  // index of a text among the encoded ones
    std::vector<const std::vector<text::Token>*> tokens;
    std::vector<size_t> place_of_row;
    LayerSet set;
    for (size_t row : rows) {
      const int32_t text = texts_.TextsOf(row)[static_cast<size_t>(predict::MainNode(layers_[row]->graph()))];
      const auto [it, inserted] = place.try_emplace(text, tokens.size());
      if (inserted) tokens.push_back(&texts_.TokensOf(text));
      place_of_row.push_back(it->second);
      set.kinds.push_back(KindOf(layers_[row]->graph()));
    }
    set.vectors.width = bundle_.manifest.net.width;
    if (rows.empty()) return set;
    try {
      at::InferenceMode inference;
      const at::Tensor encoded = net::EncodeTexts(*bundle_.net->encoder, tokens).contiguous();
      for (size_t p : place_of_row) {
        const float* vector = encoded.data_ptr<float>() + static_cast<int64_t>(p) * set.vectors.width;
        set.vectors.values.insert(set.vectors.values.end(), vector, vector + set.vectors.width);
      }
    } catch (const std::exception& e) {
      return absl::InternalError(absl::StrCat("embed: ", e.what()));
    }
    return set;
  }

 private:
  const predict::ModelBundle bundle_;
  const std::vector<const Sample*> layers_;
  const TextTable texts_;
};

}  // namespace

std::string KindOf(const graph::Graph& layer) { return std::string(graph::OpName(predict::MainOperator(layer))); }

absl::StatusOr<std::unique_ptr<LayerModel>> LayerModel::Load(absl::string_view directory,
                                                             std::vector<const Sample*> layers) {
  net::UseOneThread();
  COBRA_ASSIGN_OR_RETURN(predict::ModelBundle bundle, predict::LoadBundle(directory));
  return std::make_unique<BundleLayerModel>(std::move(bundle), std::move(layers));
}

}  // namespace cobra::training
