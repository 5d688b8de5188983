// Reads the graphs (graph/form/json.h) of many measurements. A text that was read before is not
// parsed again: its graph is copied, which takes no memory. Safe to call from several threads.
#ifndef COBRA_STORE_GRAPH_READER_H_
#define COBRA_STORE_GRAPH_READER_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/bytes/hash.h"
#include "graph/graph.h"
#include "store/subject.h"

namespace cobra::store {

class GraphReader {
 public:
  // Sets the subject's graph and its fingerprint, which is computed and not read: when it improves,
  // equal networks must not end up in two splits. The error is that of GraphFromJson().
  absl::Status Read(absl::string_view graph_json, Subject* subject);

 private:
  struct Known {
    graph::Graph graph;
    std::string fingerprint;
  };

  absl::Mutex mutex_;
  absl::flat_hash_map<Hash128, Known> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cobra::store

#endif  // COBRA_STORE_GRAPH_READER_H_
