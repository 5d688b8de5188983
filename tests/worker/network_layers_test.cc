#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "graph/builder/net_builder.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Convolution, in-place relu, the same relu again, flatten (a view), linear.
graph::Graph Network(int64_t width) {
  graph::NetBuilder b;
  const graph::ValueRef x = b.Conv2d(b.Input({1, 3, 8, 8}), {.out_channels = width, .kernel_size = 3, .padding = 1});
  const graph::ValueRef y = b.Flatten(b.ReluInPlace(b.ReluInPlace(x)));
  auto graph = std::move(b).Finish({b.Linear(y, 10)});
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

std::string Line(const graph::Graph& graph, absl::string_view family, absl::string_view more = "") {
  return absl::StrCat(R"({"kind":"record","label":")", family, R"(","outcome":"ok","is_network":true)", more,
                      R"(,"graph":)", graph::GraphToJson(graph, {false}), "}\n");
}

std::string Written(const std::string& name, const std::string& text) {
  const std::string path = absl::StrCat(::testing::TempDir(), name);
  EXPECT_TRUE(WriteFileAtomic(path, text).ok());
  return path;
}

std::vector<std::string> Labels(const Sampler& sampler) {
  std::vector<std::string> labels;
  for (int64_t i = 0; i < sampler.size(); ++i) {
    const auto sample = sampler.At(i);
    EXPECT_TRUE(sample.ok()) << sample.status();
    EXPECT_FALSE(sample->is_network);
    labels.push_back(sample->label);
  }
  return labels;
}

TEST(NetworkLayersTest, EachLayerOnceAndNoViews) {
  const auto sampler = MakeNetworkLayerSampler(Written("one.jsonl", Line(Network(4), "a")));
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  EXPECT_THAT(Labels(**sampler), ElementsAre("conv2d", "relu", "linear"));
  std::set<Hash128> layers;
  for (int64_t i = 0; i < (*sampler)->size(); ++i) layers.insert(graph::Fingerprint((*sampler)->At(i)->graph));
  EXPECT_EQ(layers.size(), 3u);
  EXPECT_EQ((*sampler)->At(3).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ((*sampler)->At(-1).status().code(), absl::StatusCode::kNotFound);
}

TEST(NetworkLayersTest, FamiliesTakeTurns) {
  const std::string text = Line(Network(4), "a") + Line(Network(5), "a") + Line(Network(6), "b");
  const auto sampler = MakeNetworkLayerSampler(Written("turns.jsonl", text));
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  ASSERT_EQ((*sampler)->size(), 9);
  std::vector<int64_t> widths;
  for (int64_t i = 0; i < 9; i += 3) widths.push_back((*sampler)->At(i)->graph.nodes()[0].outputs[0].shape[1]);
  EXPECT_THAT(widths, ElementsAre(4, 6, 5));
}

TEST(NetworkLayersTest, OnlyNetworksThatWereMeasured) {
  const std::string text = absl::StrCat(
      "{\"kind\":\"session\"}\n", Line(Network(4), "a"), Line(Network(4), "a", R"(,"repeat":1)"),
      R"({"kind":"record","is_network":false,"outcome":"ok","graph":)", graph::GraphToJson(Network(5), {false}), "}\n",
      R"({"kind":"record","is_network":true,"outcome":"timeout","graph":)", graph::GraphToJson(Network(6), {false}),
      "}\n");
  const auto sampler = MakeNetworkLayerSampler(Written("others.jsonl", text));
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  EXPECT_EQ((*sampler)->size(), 3);
}

TEST(NetworkLayersTest, WhatIsWrongIsNamedWithItsLine) {
  const auto broken = MakeNetworkLayerSampler(Written("broken.jsonl", Line(Network(4), "a") + "{\n"));
  EXPECT_THAT(std::string(broken.status().message()), HasSubstr("broken.jsonl:2"));
  const auto empty = MakeNetworkLayerSampler(Written("empty.jsonl", "{\"kind\":\"session\"}\n"));
  EXPECT_THAT(std::string(empty.status().message()), HasSubstr("has no networks"));
  EXPECT_FALSE(MakeNetworkLayerSampler("/no/such/file.jsonl").ok());
}

}  // namespace
}  // namespace cobra::worker
