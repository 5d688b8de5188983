// The search spaces whose architecture strings `cobra-train fit --space` takes, each as numbers (lines, processes) and
// as a graph (networks).
#ifndef COBRA_MODEL_SPACE_SPACE_H_
#define COBRA_MODEL_SPACE_SPACE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/space/op_graph.h"

namespace cobra::space {

// An architecture in numbers, the same quantities for every architecture of the space.
struct SpaceFeatures {
  // What its cost depends on in the first place, few numbers: how often each operation runs; or multiplications,
  // activations, weights and layers. Not negative; a new device's price of each has to be learned from a handful of
  // samples.
  std::vector<double> costs;
  std::vector<double> choices;  // one-hot, place by place
  std::vector<double> pairs;    // products of two choices, halved; empty where a line through the choices does as well
  // Guesses at the latency up to a factor, in units of the space's own. First: multiplications. Then, where the space
  // knows its layers: each takes the longer of multiplying and of moving values, for devices that differ in how these
  // compare (Williams et al., "Roofline", 2009) and in how well they multiply in depthwise convolutions.
  std::vector<double> rooflines;
};

class Space {
 public:
  virtual ~Space() = default;
  virtual absl::string_view name() const = 0;  // as after --space
  // InvalidArgument that begins with the string where it is no architecture of this space.
  virtual absl::StatusOr<SpaceFeatures> Features(const std::string& arch) const = 0;
  virtual absl::StatusOr<OpGraph> Graph(const std::string& arch) const = 0;
  virtual int num_kinds() const = 0;  // of the nodes of Graph()
};

// "nasbench201", "nasbench201-pruned", "fbnet", "ofa"; NotFound lists them.
absl::StatusOr<const Space*> FindSpace(absl::string_view name);
// For messages and help: "fbnet, nasbench201, ...".
std::string SpaceNames();

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_SPACE_H_
