#include "model/training/batch.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "model/predict/work/features.h"
#include "model/text/canonical_text.h"

namespace cobra::training {

TextTable::TextTable(const std::vector<const Sample*>& samples, const text::Vocabulary& vocabulary,
                     SplitFunction split) {
  absl::flat_hash_map<const graph::Node*, size_t> known;  // copies of a graph share their nodes
  for (const Sample* s : samples) {
    const auto [number, is_new] = known.try_emplace(s->graph().nodes().data(), of_graph_.size());
    graph_of_sample_.push_back(number->second);
    if (!is_new) continue;
    std::vector<int32_t>& ids = of_graph_.emplace_back();
    for (int32_t i = 0; i < static_cast<int32_t>(s->graph().nodes().size()); ++i) {
      const std::string text = text::CanonicalText(s->graph(), i);
      auto [it, inserted] = index_.try_emplace(text, static_cast<int32_t>(tokens_.size()));
      if (inserted) tokens_.push_back(vocabulary.Encode(split(text)));
      ids.push_back(it->second);
    }
  }
}

void ExtendVocabulary(const std::vector<const Sample*>& training, SplitFunction split, text::Vocabulary* vocabulary,
                      std::vector<std::pair<double, double>>* ranges) {
  ranges->resize(static_cast<size_t>(vocabulary->size()), {1, 0});
  absl::flat_hash_set<const graph::Node*> known;  // copies of a graph share their nodes
  for (const Sample* s : training) {
    if (!known.insert(s->graph().nodes().data()).second) continue;
    for (int32_t i = 0; i < static_cast<int32_t>(s->graph().nodes().size()); ++i) {
      for (const text::RawToken& token : split(text::CanonicalText(s->graph(), i))) {
        const int32_t id = vocabulary->Add(token.word);
        if (id == static_cast<int32_t>(ranges->size())) ranges->emplace_back(1, 0);
        if (!token.numeric) continue;
        auto& [low, high] = (*ranges)[static_cast<size_t>(id)];
        if (low > high) low = high = token.value;
        low = std::min(low, token.value);
        high = std::max(high, token.value);
      }
    }
  }
}

namespace {

at::Tensor LongTensor(const std::vector<int64_t>& v) {
  at::Tensor t = at::empty({static_cast<int64_t>(v.size())}, at::kLong);
  std::copy(v.begin(), v.end(), t.data_ptr<int64_t>());
  return t;
}
at::Tensor FloatTensor(const std::vector<float>& v) {
  at::Tensor t = at::empty({static_cast<int64_t>(v.size())}, at::kFloat);
  std::copy(v.begin(), v.end(), t.data_ptr<float>());
  return t;
}

// Of a row that neighbours disturbed, beside one of a quiet machine.
constexpr float kDisturbedWeight = 0.5F;

// Half of a node's weight is its share of the latency, half is equal for all: cheap calls must not
// drift.
void AppendNodeTargets(const Sample& s, std::vector<float>* logs, std::vector<float>* weights) {
  const size_t n = s.graph().nodes().size();
  for (size_t i = 0; i < n; ++i) {
    const bool known = i < s.node_latency_us.size() && s.node_latency_us[i] > 0;
    logs->push_back(known ? static_cast<float>(std::log(s.node_latency_us[i])) : 0.f);
    weights->push_back(
        known ? static_cast<float>(0.5 * s.node_latency_us[i] / s.latency_us() + 0.5 / static_cast<double>(n)) : 0.f);
  }
}

}  // namespace

Batch MakeBatch(const predict::ModelBundle& bundle, const TextTable& texts, const std::vector<const Sample*>& samples,
                absl::Span<const size_t> chosen, int target) {
  std::vector<int> targets;
  for (size_t s : chosen) targets.push_back(target == kOwnTarget ? samples[s]->target : target);
  return MakeBatch(bundle, texts, samples, chosen, targets);
}

Batch MakeBatch(const predict::ModelBundle& bundle, const TextTable& texts, const std::vector<const Sample*>& samples,
                absl::Span<const size_t> chosen, const std::vector<int>& targets) {
  Batch batch;
  absl::flat_hash_map<int32_t, int64_t> position;
  std::vector<int64_t> text_of_node;
  std::vector<float> is_layer, log_latency, node_log, node_weight, row_weight;
  std::vector<const graph::Graph*> graphs;
  for (size_t s : chosen) {
    for (const graph::Node& node : samples[s]->graph().nodes()) {
      is_layer.push_back(graph::GetOpInfo(node.op).cost_class == graph::CostClass::kView ? 0.f : 1.f);
    }
    for (int32_t text : texts.TextsOf(s)) {
      auto [it, inserted] = position.try_emplace(text, static_cast<int64_t>(batch.texts.size()));
      if (inserted) batch.texts.push_back(&texts.TokensOf(text));
      if (inserted) batch.numbers.push_back(text);
      text_of_node.push_back(it->second);
    }
    graphs.push_back(&samples[s]->graph());
    row_weight.push_back(samples[s]->is_disturbed ? kDisturbedWeight : 1.f);
    log_latency.push_back(static_cast<float>(std::log(samples[s]->latency_us())));
    AppendNodeTargets(*samples[s], &node_log, &node_weight);
  }
  batch.text_of_node = LongTensor(text_of_node);
  batch.graphs = predict::CollateGraphs(bundle, graphs, targets);
  batch.is_layer = FloatTensor(is_layer);
  batch.log_latency = FloatTensor(log_latency);
  batch.node_log = FloatTensor(node_log);
  batch.node_weight = FloatTensor(node_weight);
  batch.row_weight = FloatTensor(row_weight);
  return batch;
}

void MoveTo(c10::Device device, Batch* batch) {
  net::GraphBatch& g = batch->graphs;
  for (at::Tensor* tensor : {&batch->text_of_node, &batch->is_layer, &batch->log_latency, &batch->node_log,
                             &batch->node_weight, &batch->row_weight, &g.sources, &g.destinations, &g.graph_of_node,
                             &g.graph_features, &g.target_features, &g.work})
    *tensor = tensor->to(device);
}

Outputs Forward(net::CobraNet& net, const Batch& b, const at::Tensor& embeddings) {
  const at::Tensor layers = embeddings.defined() ? embeddings : net::EncodeTexts(*net.encoder, b.texts);
  Outputs out;
  out.alone = net.layer_head->forward(layers, b.graphs.work, b.graphs.target_features,
                                      {b.text_of_node, b.graphs.graph_of_node});
  out.contribution = net.graph_net->forward(layers, out.alone, b.graphs, b.text_of_node);
  out.log_total = net::SumContributions(out.contribution, b.graphs).log();
  out.layer_sum = at::zeros(out.log_total.sizes(), layers.options())
                      .index_add(0, b.graphs.graph_of_node, out.alone.exp() * b.is_layer);
  return out;
}

at::Tensor LogLatencyLoss(const at::Tensor& a, const at::Tensor& b) {
  return at::smooth_l1_loss(a, b, at::Reduction::None, 0.05);
}

at::Tensor LogLayerSum(const Outputs& out) { return out.layer_sum.clamp_min(1e-3).log(); }

at::Tensor LayerBatchLoss(const Batch& batch, const Outputs& out, const at::Tensor& layer_target,
                          const at::Tensor& network_target) {
  return (batch.row_weight *
          (LogLatencyLoss(LogLayerSum(out), layer_target) + 0.5 * LogLatencyLoss(out.log_total, network_target)))
      .mean();
}

at::Tensor NetworkBatchLoss(const Batch& batch, const Outputs& out) {
  const auto networks = static_cast<double>(batch.log_latency.size(0));
  const at::Tensor nodes = (LogLatencyLoss(out.contribution, batch.node_log) * batch.node_weight).sum() / networks;
  return (batch.row_weight * LogLatencyLoss(out.log_total, batch.log_latency)).mean() + nodes;
}

}  // namespace cobra::training
