#include "report/answers.h"

#include <cstddef>
#include <utility>

#include "proto/graph_proto.h"

namespace cobra::report {

void Answers::Add(graph::Graph graph, v1::PredictResponse response) {
  std::string wire = proto::GraphToWire(graph);
  for (size_t i = 0; i < wires_.size(); ++i) {
    if (wires_[i] != wire) continue;
    answers_[i].response.mutable_predictions()->MergeFrom(response.predictions());
    return;
  }
  wires_.push_back(std::move(wire));
  graphs_.push_back(std::make_unique<graph::Graph>(std::move(graph)));
  answers_.push_back({graphs_.back().get(), std::move(response)});
}

}  // namespace cobra::report
