// What is measured: one form for a task of the queue, for the worker that measures it, and for the
// measurement that comes back. A sampling space and an index in it name a sample, which the worker
// draws; the graph is there if somebody asked about it, or once it was drawn.
#ifndef COBRA_STORE_SUBJECT_H_
#define COBRA_STORE_SUBJECT_H_

#include <cstdint>
#include <string>

#include "graph/graph.h"

namespace cobra::store {

struct Subject {
  // The sampling space, and the sample's seed and index in it. Space "asked" has no seed: the graph
  // comes from a request.
  std::string space;
  uint64_t seed = 0;
  int64_t index = 0;
  // 0: first measurement. 1: repetition for the repeatability floor. 2 to 4: repetition because the
  // machine was disturbed.
  int repeat = 0;
  // False: one layer.
  bool is_network = false;
  // Operator of a layer, family of a network.
  std::string label;
  // Of the graph, 32 hexadecimal digits (graph/form/fingerprint.h).
  std::string fingerprint;
  // Without calls it is not known yet: that of a sample before it is drawn.
  graph::Graph graph;

  bool has_graph() const { return !graph.nodes().empty(); }
  // "paper-layers@20261120/17"; "paper-layers/17" without a seed. Repetitions share it.
  std::string Name() const;
  // "paper-layers@20261120/17/0": unique in a file.
  std::string Key() const;
};

// Sets the graph and its fingerprint.
void SetGraph(graph::Graph graph, Subject* subject);

// What a task measures if somebody asked about the graph.
Subject AskedSubject(graph::Graph graph, int repeat = 0);

// Sets whether a graph that somebody asked about is a network, and its label: a layer if only one
// of its calls computes, with the operator's name; "asked" for a network.
void ClassifyGraph(const graph::Graph& graph, Subject* subject);

}  // namespace cobra::store

#endif  // COBRA_STORE_SUBJECT_H_
