// Untrusted models are read in separate processes (reader/): whatever a model does there costs
// its own message and nothing else. Readers wait ready, forked ahead from a process that has
// imported the libraries, and end after one request, or with a call that keeps them
// (kept_readers.h).
//
// A process for each list of imports (an image) forks the readers of the requests that begin with
// those imports. The first request with a list runs in a reader of the first image, which has
// imported only torch; the second one creates the image of that list. It is used as soon as it is
// made.
#ifndef COBRA_SERVER_READER_READER_PROCESSES_H_
#define COBRA_SERVER_READER_READER_PROCESSES_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/limits.h"
#include "cobra/v1/cobra.pb.h"
#include "frontend/python/reader.h"
#include "graph/graph.h"
#include "server/lanes/call_context.h"
#include "server/lanes/metrics.h"

namespace cobra::server {

struct ReaderOptions {
  std::string program;                     // cobra-reader; empty: next to this program
  std::vector<std::string> library_roots;  // directories that source may import from
  // Of PyTorch, as which most programs will be read: a process is ready for it.
  std::string torch_version = python::kNewestTorchVersion;
  int ahead = 2;          // readers that each image keeps waiting
  bool insecure = false;  // continue without seccomp if the kernel refuses it
};

// Whether the library files that a model was read from are unchanged. May take a while.
using FilesUnchanged = std::function<bool()>;

struct ReadResult {
  graph::Graph graph;
  // Whether reading the same request again, with the same library files, gives the same graph, and
  // that can be known.
  bool repeatable = false;
  FilesUnchanged files_unchanged;  // empty: the model was read from no library file
};

class ReaderProcesses {
 public:
  // Returns when the kernel has accepted the confinement, before anything is imported.
  // FailedPrecondition if it refuses and `insecure` is not set. `metrics` is not owned and may be
  // null.
  static absl::StatusOr<std::unique_ptr<ReaderProcesses>> Start(const ReaderOptions& options, Metrics* metrics);
  virtual ~ReaderProcesses() = default;

  // Reads what `model` submits: source, ONNX or TensorFlow Lite. Source may name a file of a
  // library as its own; then that name is replaced by its full path. Blocks until the reader has
  // answered or `call` ends; then the reader is killed. The graph is checked like one that a
  // caller sent. Errors carry a Diagnostic if the model is at fault.
  virtual absl::StatusOr<ReadResult> Read(v1::PredictRequest* model, const GraphLimits& limits,
                                          const CallContext& call) = 0;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_READER_READER_PROCESSES_H_
