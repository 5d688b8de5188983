// The search spaces of `cobra-train fit --space`. Each converts its architecture strings to
// features (for linear models and Gaussian processes) and to a graph (for networks).
#ifndef COBRA_MODEL_SPACE_ARCHITECTURES_SPACE_H_
#define COBRA_MODEL_SPACE_ARCHITECTURES_SPACE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/space/architectures/op_graph.h"

namespace cobra::space {

// Features of an architecture; the same quantities for every architecture of the space.
struct SpaceFeatures {
  // The main cost factors, few numbers: how often each operation runs; or multiplications,
  // activations, weights and layers. Not negative. The price of each on a new device has to be
  // estimated from a handful of samples.
  std::vector<double> costs;
  std::vector<double> choices;  // one-hot, position by position
  // Products of two choices, halved; empty if a linear function of the choices is as accurate.
  std::vector<double> pairs;
  // Estimates of the latency up to a factor, in units of the space's own. First: multiplications.
  // Then, if the space knows its layers: the sum over layers of the longer of computing and moving
  // data (Williams et al., "Roofline", 2009), for devices with different ratios of these and
  // different efficiency of depthwise convolutions.
  std::vector<double> rooflines;
};

class Space {
 public:
  virtual ~Space() = default;
  virtual absl::string_view name() const = 0;  // the value of --space
  // InvalidArgument, beginning with the string, if it is not an architecture of this space.
  virtual absl::StatusOr<SpaceFeatures> Features(const std::string& arch) const = 0;
  virtual absl::StatusOr<OpGraph> Graph(const std::string& arch) const = 0;
  virtual int num_kinds() const = 0;  // of the nodes of Graph()
};

// "nasbench201", "nasbench201-pruned", "fbnet", "ofa"; NotFound lists them.
absl::StatusOr<const Space*> FindSpace(absl::string_view name);
// For messages and help: "fbnet, nasbench201, ...".
std::string SpaceNames();

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_ARCHITECTURES_SPACE_H_
