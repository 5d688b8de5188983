// Networks in the style of published families, with random widths, depths, kernels and input sizes.
// The model is trained on these instead of the published networks themselves.
#ifndef COBRA_WORKER_SAMPLE_FAMILIES_H_
#define COBRA_WORKER_SAMPLE_FAMILIES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "worker/sample/random.h"

namespace cobra::worker {

struct Family {
  const char* name;
  // Relative frequency of the family.
  double weight;
  absl::StatusOr<graph::Graph> (*draw)(Random*);
};

absl::Span<const Family> Families();

}  // namespace cobra::worker

#endif  // COBRA_WORKER_SAMPLE_FAMILIES_H_
