// Pruned cells of NAS-Bench-201, the input of our methods; each distinct network once. Includes
// LibTorch headers.
#ifndef COBRA_MODEL_SPACE_MODELS_PRUNED_CELLS_H_
#define COBRA_MODEL_SPACE_MODELS_PRUNED_CELLS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/space/architectures/dense_graphs.h"
#include "model/space/architectures/op_graph.h"
#include "model/space/models/gaussian_process.h"
#include "model/space/models/space_fit.h"

namespace cobra::space {

struct PrunedCells {
  DistinctGraphs distinct;
  DenseGraphs graphs;                // of the distinct ones
  GaussianProcessFeatures features;  // of the distinct ones

  SpaceRowSet Places(const SpaceRowSet& rows) const;  // indices of architectures -> of distinct ones
  std::vector<double> Spread(const std::vector<double>& of_distinct) const;  // one number per architecture
};
// A cell without a path is represented by input and output only.
absl::StatusOr<PrunedCells> MakePrunedCells(const std::vector<std::string>& archs);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_MODELS_PRUNED_CELLS_H_
