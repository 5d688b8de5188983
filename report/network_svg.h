// A network as a picture that needs no program: boxes inside boxes, coloured by arithmetic, light
// and dark.
#ifndef COBRA_REPORT_NETWORK_SVG_H_
#define COBRA_REPORT_NETWORK_SVG_H_

#include <string>

#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace cobra::report {

// Boxes with the most arithmetic are opened until there are about forty; the others stay closed,
// however large the network is. Of boxes that are alike one is drawn, with how many there are.
std::string NetworkSvg(const graph::Graph& graph, absl::string_view title);

}  // namespace cobra::report

#endif  // COBRA_REPORT_NETWORK_SVG_H_
