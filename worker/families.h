// Networks in the manner of published families with random widths, depths, kernels and input sizes: what a model of
// real networks is trained on without seeing one of them.
#ifndef COBRA_WORKER_FAMILIES_H_
#define COBRA_WORKER_FAMILIES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "worker/random.h"

namespace cobra::worker {

struct Family {
  const char* name;
  double weight;  // how often it is drawn
  absl::StatusOr<graph::Graph> (*draw)(Random*);
};

absl::Span<const Family> Families();

}  // namespace cobra::worker

#endif  // COBRA_WORKER_FAMILIES_H_
