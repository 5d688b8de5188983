// A network as boxes inside boxes: modules, and in them modules and calls, in the order in which
// they run. The picture of `report` and `graph --format svg` draws them.
//
// A box stands for calls that follow each other. A module that is called twice, with others in
// between, is two boxes; so an arrow never points back. Boxes of the same structure that follow
// each other are put into one box (kAlike), and what is too long to be looked at is cut into parts
// (kPart).
#ifndef COBRA_REPORT_BOXES_H_
#define COBRA_REPORT_BOXES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace cobra::report {

enum class BoxKind {
  kModule,  // its children are what it calls
  kCall,    // one call
  kAlike,   // its children have the same structure: the same calls with the same shapes
  kPart,    // a stretch of its parent's calls, for want of a module
};

struct Box {
  BoxKind kind = BoxKind::kModule;
  // Module names below the parent's: "layer1", ".0 to .11", "blocks.*" for all that blocks consists
  // of. Empty for the network itself, and for a call or a part that belongs to the module around
  // it.
  std::string label;
  int32_t parent = -1;                   // index of a box; parents come before their children
  int32_t first_call = 0, end_call = 0;  // of the graph; the end is not in it
  std::vector<int32_t> children;         // in the order in which they run; they cover the calls without gaps
  // What is in the same row does not depend on each other. Rows of a box count from 0.
  int32_t row = 0;
  // Pairs of children, the second one reads what the first one computes. Sorted, each once.
  std::vector<std::pair<int32_t, int32_t>> edges;
  bool reads_outside = false;  // what a box around its parent computes, or an input of the network

  int32_t calls() const { return end_call - first_call; }
};

// The first box is the network. Each call is one box of kind kCall.
std::vector<Box> MakeBoxes(const graph::Graph& graph);

}  // namespace cobra::report

#endif  // COBRA_REPORT_BOXES_H_
