// Networks that the tests of report/ draw.
#ifndef COBRA_TESTS_REPORT_NETWORKS_H_
#define COBRA_TESTS_REPORT_NETWORKS_H_

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cobra/v1/cobra.pb.h"
#include "graph/builder/net_builder.h"
#include "gtest/gtest.h"

namespace cobra::report {

inline constexpr char kTag[] = "<img src=x onerror=alert(1)>";
inline constexpr char kEndOfScript[] = "</script><!-- \"'&";

// A stem; `blocks` blocks of a convolution, its norm, and an addition of what the block was given;
// a head.
inline graph::Graph Residual(int blocks, const std::string& blocks_path = "blocks") {
  graph::NetBuilder net;
  graph::ValueRef x =
      net.Conv2d(net.Input({1, 3, 16, 16}), {.out_channels = 8, .kernel_size = 3, .padding = 1}, "stem");
  for (int i = 0; i < blocks; ++i) {
    const std::string path = absl::StrCat(blocks_path, ".", i);
    const graph::ValueRef y = net.BatchNorm2d(net.Conv2d(x, {.out_channels = 8}, path + ".conv"), path + ".bn");
    x = net.Add(x, y, path);
  }
  x = net.Flatten(net.AdaptiveAvgPool2d(x, 1, "head.pool"), "head");
  absl::StatusOr<graph::Graph> graph = std::move(net).Finish({net.Linear(x, 10, "head.fc")});
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

// Relus of one module after the other.
inline graph::Graph Named(const std::vector<std::string>& modules) {
  graph::NetBuilder net;
  graph::ValueRef x = net.Input({1, 8});
  for (const std::string& module : modules) x = net.Relu(x, module);
  absl::StatusOr<graph::Graph> graph = std::move(net).Finish({x});
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

// One microsecond for each call, on target "cpu".
inline v1::PredictResponse Response(const graph::Graph& graph) {
  v1::PredictResponse response;
  response.set_model_version("2026-01-01-abc");
  v1::TargetPrediction* p = response.add_predictions();
  p->set_target("cpu");
  p->set_latency_us(static_cast<double>(graph.nodes().size()));
  p->set_low_us(1);
  p->set_high_us(1000);
  p->set_coverage(0.9);
  p->set_confidence(0.95);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    v1::NodeLatency* row = p->add_breakdown();
    row->set_node(static_cast<int>(i));
    row->set_latency_us(1);
    row->set_alone_us(2);
  }
  return response;
}

}  // namespace cobra::report

#endif  // COBRA_TESTS_REPORT_NETWORKS_H_
