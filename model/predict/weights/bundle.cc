#include "model/predict/weights/bundle.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/bytes/hash.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "model/net/safetensors.h"
#include "model/predict/weights/version.h"
#include "model/predict/work/features.h"
#include "model/predict/work/target_work.h"

namespace cobra::predict {

absl::StatusOr<ModelBundle> LoadBundle(absl::string_view directory) {
  COBRA_ASSIGN_OR_RETURN(ModelVersion version, ReadVersion(directory));
  ModelBundle bundle;
  bundle.manifest = std::move(version.manifest);
  bundle.vocabulary = std::move(version.vocabulary);
  try {
    bundle.net =
        std::make_shared<net::CobraNet>(bundle.manifest.net, static_cast<int64_t>(bundle.manifest.targets.size()));
    COBRA_RETURN_IF_ERROR(net::LoadTensors(version.tensors, bundle.net.get()));
    bundle.net->eval();
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat(TensorsPath(directory), ": ", e.what()));
  }
  return bundle;
}

absl::Status SaveBundle(const ModelBundle& bundle, absl::string_view directory) {
  COBRA_RETURN_IF_ERROR(MakeDirectories(directory));
  const std::string tensors = net::SaveTensors(*bundle.net);
  Manifest manifest = bundle.manifest;
  manifest.tensors_sha256 = Sha256Hex(tensors);
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(TensorsPath(directory), tensors));
  return WriteFileAtomic(ManifestPath(directory), ManifestToJson(manifest));
}

at::Tensor TargetRows(const ModelBundle& bundle, absl::Span<const int> targets) {
  const auto count = static_cast<int64_t>(targets.size());
  at::Tensor specs = at::empty({count, kTargetSpecFeatures}, at::kFloat), index = at::empty({count}, at::kLong);
  for (int64_t i = 0; i < count; ++i) {
    const int target = targets[static_cast<size_t>(i)];
    const auto spec = TargetSpecFeatures(bundle.manifest.targets[static_cast<size_t>(target)].spec);
    std::copy(spec.begin(), spec.end(), specs.data_ptr<float>() + i * kTargetSpecFeatures);
    index.data_ptr<int64_t>()[i] = target;
  }
  const c10::Device device = bundle.net->target_vectors.device();
  return bundle.net->TargetFeatures(specs.to(device), index.to(device));
}

net::GraphBatch CollateGraphs(const ModelBundle& bundle, absl::Span<const graph::Graph* const> graphs,
                              absl::Span<const int> target_index) {
  std::vector<int64_t> sources, destinations, graph_of_node;
  at::Tensor features = at::empty({static_cast<int64_t>(graphs.size()), kGraphFeatures}, at::kFloat);
  std::vector<int> targets;  // each different one
  std::vector<int64_t> row_of_graph;
  std::vector<float> work;
  int64_t base = 0;
  for (size_t g = 0; g < graphs.size(); ++g) {
    for (const auto& [source, destination] : GraphEdges(*graphs[g])) {
      sources.push_back(base + source);
      destinations.push_back(base + destination);
    }
    const int64_t nodes = static_cast<int64_t>(graphs[g]->nodes().size());
    const TargetSpec& spec = bundle.manifest.targets[static_cast<size_t>(target_index[g])].spec;
    const TargetWorkKind kind = TargetWorkKindOf(spec, bundle.manifest.knows_gpu_work);
    std::vector<TargetWork> of_target;
    if (!kind.has_none()) of_target = TargetWorkOf(*graphs[g], kind);
    for (int32_t i = 0; i < static_cast<int32_t>(nodes); ++i) {
      auto terms = LogWork(*graphs[g], i);
      if (!of_target.empty()) SetTargetWork(of_target[static_cast<size_t>(i)], &terms);
      work.insert(work.end(), terms.begin(), terms.end());
    }
    graph_of_node.insert(graph_of_node.end(), nodes, static_cast<int64_t>(g));
    base += nodes;
    const auto totals = GraphFeatures(*graphs[g]);
    std::copy(totals.begin(), totals.end(), features.data_ptr<float>() + g * kGraphFeatures);
    const auto known = std::find(targets.begin(), targets.end(), target_index[g]);
    row_of_graph.push_back(known - targets.begin());
    if (known == targets.end()) targets.push_back(target_index[g]);
  }
  auto as_tensor = [](const std::vector<int64_t>& v) {
    at::Tensor t = at::empty({static_cast<int64_t>(v.size())}, at::kLong);
    std::copy(v.begin(), v.end(), t.data_ptr<int64_t>());
    return t;
  };
  at::Tensor work_of_node = at::empty({base, kWorkTerms}, at::kFloat);
  std::copy(work.begin(), work.end(), work_of_node.data_ptr<float>());
  return {as_tensor(sources),
          as_tensor(destinations),
          as_tensor(graph_of_node),
          features,
          TargetRows(bundle, targets).index_select(0, as_tensor(row_of_graph).to(bundle.net->target_vectors.device())),
          work_of_node};
}

}  // namespace cobra::predict
