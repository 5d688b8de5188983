// The cost of a network by call, by module, by operator and by source line. With a prediction,
// shares are of the predicted latency. Without one they are of arithmetic and of memory traffic,
// and are not called time.
#ifndef COBRA_CLIENT_EXPLAIN_EXPLAIN_H_
#define COBRA_CLIENT_EXPLAIN_EXPLAIN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cobra/v1/cobra.pb.h"
#include "graph/graph.h"

namespace cobra::client {

struct Cost {
  int64_t calls = 0;
  int64_t parameters = 0;  // elements; a shared parameter counts where it is first used
  int64_t macs = 0;
  int64_t flops = 0;
  int64_t bytes = 0;      // read and written
  double latency_us = 0;  // predicted; 0 without a prediction. A call that saves its neighbours time has a negative one

  Cost& operator+=(const Cost& other);
};

struct CallCost {
  int32_t node = 0;  // position in the graph
  std::string op;
  std::string module_path;
  // The source line of the call, with the file as the user typed it. For a layer that torch.nn
  // calls (nn.Sequential), the line that constructed it. Empty if unknown.
  std::string file;
  int line = 0;
  std::string source;  // the line, without its indentation; empty if this machine does not have it
  std::string input;   // shape of the first tensor argument, "1x64x56x56"; a type other than float32 follows a colon
  std::string output;
  // Why the call differs from the training data. Empty if it does not, or if there is no
  // prediction.
  std::string unknown;
  // Predicted for the call by itself; 0 without a prediction.
  double alone_us = 0;
  Cost cost;
};

// A module and what is below it, in order of execution. Sibling blocks of the same structure
// (layers.0 ... layers.11) can be merged into one entry: `alike` is their number, and their costs
// are added.
struct ModuleCost {
  std::string name;  // the last part of the path: "layer1"; "0 ... 11" if several are merged
  std::string path;
  int alike = 1;
  Cost cost;  // with the submodules
  Cost own;   // of the calls that it makes itself
  std::vector<ModuleCost> children;
};

// Whether the runtime seems to fuse the call with a neighbour: in the network it takes less than a
// quarter of what it takes by itself, which is not negligible.
bool IsFused(const CallCost& call, const Cost& total);

struct GroupCost {
  std::string name;    // operator, or PlaceText() of a line, or kUnknownLine
  std::string source;  // of a line
  Cost cost;
};

// Calls that differ only in the numbers of their module paths: the same operator on the same source
// line, with the same shapes and costs.
struct CallGroup {
  std::vector<const CallCost*> calls;  // in order of execution; never empty
  std::string module_path;             // "transformer.h.*.mlp.c_fc": a star where they differ
  Cost cost;                           // of all of them
  const CallCost& first() const { return *calls[0]; }
};

struct Explanation {
  std::string title;
  std::vector<std::string> inputs;  // "1x3x224x224:float32"
  std::vector<CallCost> calls;      // every call of the graph, in its order
  Cost total;
  int64_t unused_parameters = 0;  // in no call
  int64_t peak_memory_bytes = 0;
  std::optional<v1::TargetPrediction> prediction;
  std::string model_version;

  double TimeShare(const Cost& cost) const;
  double FlopsShare(const Cost& cost) const;
  double BytesShare(const Cost& cost) const;
  // The sort key of lists: the share of the predicted time, or without a prediction the larger of
  // the other two.
  double Share(const Cost& cost) const;
};

struct SourceLookup {
  std::function<std::string(const std::string& file)> user_path;
  std::function<std::optional<std::string>(const std::string& file)> text;
};

// `response` is the response for one target with breakdown, or null. Internal error if its
// breakdown does not match the graph.
absl::StatusOr<Explanation> Explain(const graph::Graph& graph, const std::string& title, const SourceLookup& source,
                                    const v1::PredictResponse* response);

ModuleCost ByModule(const Explanation& explanation, bool merge_repeated_modules);
// Largest share first.
std::vector<GroupCost> ByOperator(const Explanation& explanation);
std::vector<GroupCost> ByLine(const Explanation& explanation);
std::vector<const CallCost*> LargestCalls(const Explanation& explanation, size_t most);
std::vector<CallGroup> GroupCalls(const Explanation& explanation);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_EXPLAIN_EXPLAIN_H_
