// A space of single layers: types of calls, each drawn by a function, in fixed proportions.
#ifndef COBRA_WORKER_SAMPLE_LAYER_KINDS_H_
#define COBRA_WORKER_SAMPLE_LAYER_KINDS_H_

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/builder/net_builder.h"
#include "worker/sample/random.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {

struct LayerKind {
  const char* label;
  int64_t share;  // of all kinds' sum
  graph::ValueRef (*draw)(Random*, graph::NetBuilder*);
};

// `space` and `kinds` are not copied.
std::unique_ptr<Sampler> MakeKindSampler(absl::string_view space, absl::Span<const LayerKind> kinds,
                                         const SamplerOptions& options);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_SAMPLE_LAYER_KINDS_H_
