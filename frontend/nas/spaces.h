// The spaces: each reads its string and builds its network. Its file names the published code.
#ifndef COBRA_FRONTEND_NAS_SPACES_H_
#define COBRA_FRONTEND_NAS_SPACES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "frontend/nas/arch_text.h"
#include "graph/builder/net_builder.h"
#include "graph/graph.h"

namespace cobra::nas {

struct SpaceRequest {
  ArchText text;
  Options options;
  // Empty: those of the space's paper.
  std::vector<graph::TensorType> inputs;
  GraphLimits limits;
  bool names_blocks = true;

  // The only input, or `fallback`. A usage error unless it has four dimensions.
  absl::StatusOr<graph::TensorType> Image(const graph::Shape& fallback) const;
  // For the network's NetBuilder: the limits, and what its errors advise.
  graph::NetBuilderOptions BuilderOptions() const;
};

absl::StatusOr<graph::Graph> BuildDarts(SpaceRequest request);
absl::StatusOr<graph::Graph> BuildFbnet(SpaceRequest request);
absl::StatusOr<graph::Graph> BuildHat(SpaceRequest request);
absl::StatusOr<graph::Graph> BuildNasbench101(SpaceRequest request);
absl::StatusOr<graph::Graph> BuildNasbench201(SpaceRequest request);
absl::StatusOr<graph::Graph> BuildNasbench201Pruned(SpaceRequest request);
absl::StatusOr<graph::Graph> BuildOfa(SpaceRequest request);

}  // namespace cobra::nas

#endif  // COBRA_FRONTEND_NAS_SPACES_H_
