// The networks of a program with what was predicted of each: for another version of PyTorch it may
// be another one.
#ifndef COBRA_REPORT_ANSWERS_H_
#define COBRA_REPORT_ANSWERS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cobra/v1/cobra.pb.h"
#include "graph/graph.h"

namespace cobra::report {

struct Answer {
  const graph::Graph* graph = nullptr;
  v1::PredictResponse response;  // with breakdown
};

class Answers {
 public:
  // Most programs are the same network for all versions: then it is there once, with all its
  // predictions.
  void Add(graph::Graph graph, v1::PredictResponse response);
  // The graphs stay here. Nothing may be added afterwards.
  std::vector<Answer> Take() { return std::move(answers_); }

 private:
  std::vector<std::string> wires_;
  std::vector<std::unique_ptr<graph::Graph>> graphs_;
  std::vector<Answer> answers_;
};

}  // namespace cobra::report

#endif  // COBRA_REPORT_ANSWERS_H_
