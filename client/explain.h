// Where the cost of a network lies: by call, by module, by operator, by source line. With a server's answer shares are
// of the predicted latency; without one they are of arithmetic and of memory traffic, and nothing here calls them time.
#ifndef COBRA_CLIENT_EXPLAIN_H_
#define COBRA_CLIENT_EXPLAIN_H_

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
  int64_t parameters = 0;  // elements; a shared one counts where it is used first
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
  // Of the call, as the user typed it; of a layer that torch.nn calls (nn.Sequential), where it was constructed. Empty
  // if unknown.
  std::string file;
  int line = 0;
  std::string source;  // the line, without its indentation; empty if this machine does not have it
  std::string input;   // shape of the first tensor argument, "1x64x56x56"; a type other than float32 follows a colon
  std::string output;
  std::string
      unknown;  // why it is unlike what the model was trained on; empty where it is like it, or nobody was asked
  Cost cost;
};

// A module and what is below it, in order of execution. Sibling blocks of the same structure (layers.0 ... layers.11)
// can be one entry with `alike` members, whose costs are added up.
struct ModuleCost {
  std::string name;  // the last part of the path: "layer1"; "0 ... 11" where several are alike
  std::string path;
  int alike = 1;
  Cost cost;  // with everything below
  Cost own;   // of the calls that it makes itself
  std::vector<ModuleCost> children;
};

inline constexpr char kUnknownLine[] = "(unknown)";

struct GroupCost {
  std::string name;    // operator, or PlaceText() of a line, or kUnknownLine
  std::string source;  // of a line
  Cost cost;
};

// Calls that differ in nothing but numbers of their module paths: the same operator on the same source line, with the
// same shapes and costs.
struct AlikeCalls {
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
  // What lists are sorted by: the share of the predicted time; without a prediction the larger of the other two.
  double Share(const Cost& cost) const;
};

struct SourceLookup {
  std::function<std::string(const std::string& file)> user_path;
  std::function<std::optional<std::string>(const std::string& file)> text;
};

// `response` is the answer for one target with breakdown, or null. Internal error where its breakdown is not of this
// graph.
absl::StatusOr<Explanation> Explain(const graph::Graph& graph, const std::string& title, const SourceLookup& source,
                                    const v1::PredictResponse* response);

ModuleCost ByModule(const Explanation& explanation, bool merge_alike);
// Largest share first.
std::vector<GroupCost> ByOperator(const Explanation& explanation);
std::vector<GroupCost> ByLine(const Explanation& explanation);
std::vector<const CallCost*> BySize(const Explanation& explanation, size_t most);
std::vector<AlikeCalls> ByAlike(const Explanation& explanation);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_EXPLAIN_H_
