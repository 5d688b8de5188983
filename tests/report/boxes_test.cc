#include "report/boxes.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/report/networks.h"

namespace cobra::report {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::SizeIs;

std::vector<std::string> Labels(const std::vector<Box>& boxes, const Box& parent) {
  std::vector<std::string> labels;
  for (const int32_t child : parent.children) labels.push_back(boxes[child].label);
  return labels;
}

const Box& Child(const std::vector<Box>& boxes, const Box& parent, size_t i) { return boxes[parent.children[i]]; }

// What holds of every network's boxes.
void ExpectWhole(const graph::Graph& graph, const std::vector<Box>& boxes) {
  size_t calls = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    const Box& box = boxes[i];
    if (box.kind == BoxKind::kCall) {
      ++calls;
      EXPECT_EQ(box.calls(), 1);
      EXPECT_TRUE(box.children.empty());
      continue;
    }
    int32_t at = box.first_call;
    for (const int32_t child : box.children) {
      EXPECT_GT(child, static_cast<int32_t>(i));
      EXPECT_EQ(boxes[child].parent, static_cast<int32_t>(i));
      EXPECT_EQ(boxes[child].first_call, at);
      at = boxes[child].end_call;
    }
    EXPECT_EQ(at, box.end_call);
    for (const auto& [from, to] : box.edges) {
      EXPECT_LT(boxes[from].row, boxes[to].row);
      EXPECT_LE(boxes[from].end_call, boxes[to].first_call);
    }
  }
  EXPECT_EQ(calls, graph.nodes().size());
}

TEST(BoxesTest, ModulesAreBoxesAndAlikeOnesAreOne) {
  const graph::Graph graph = Residual(4);
  const std::vector<Box> boxes = MakeBoxes(graph);
  ExpectWhole(graph, boxes);
  EXPECT_THAT(Labels(boxes, boxes[0]), ElementsAre("stem", "blocks.*", "head"));
  const Box& blocks = Child(boxes, boxes[0], 1);
  EXPECT_EQ(blocks.kind, BoxKind::kAlike);
  EXPECT_THAT(Labels(boxes, blocks), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(Labels(boxes, Child(boxes, blocks, 2)), ElementsAre("conv", "bn", ""));
}

TEST(BoxesTest, ArrowsAreBetweenNeighboursInOneBox) {
  const std::vector<Box> boxes = MakeBoxes(Residual(2));
  const Box& root = boxes[0];
  EXPECT_THAT(root.edges,
              ElementsAre(Pair(root.children[0], root.children[1]), Pair(root.children[1], root.children[2])));
  const Box& blocks = Child(boxes, root, 1);
  EXPECT_THAT(blocks.edges, ElementsAre(Pair(blocks.children[0], blocks.children[1])));
  const Box& block = Child(boxes, blocks, 1);
  EXPECT_THAT(block.edges,
              ElementsAre(Pair(block.children[0], block.children[1]), Pair(block.children[1], block.children[2])));
  // What the block is given goes into its convolution, and around it into the addition.
  EXPECT_TRUE(Child(boxes, block, 0).reads_outside);
  EXPECT_FALSE(Child(boxes, block, 1).reads_outside);
  EXPECT_TRUE(Child(boxes, block, 2).reads_outside);
  EXPECT_TRUE(Child(boxes, root, 0).reads_outside) << "an input of the network";
  EXPECT_FALSE(Child(boxes, root, 1).reads_outside);
}

TEST(BoxesTest, WhatDoesNotDependOnEachOtherIsInOneRow) {
  graph::NetBuilder net;
  const graph::ValueRef x = net.Input({1, 8});
  const graph::ValueRef a = net.Relu(x, "a"), b = net.Relu(x, "b");
  const graph::ValueRef sum = net.Add(net.Relu(a, "c"), b);
  const graph::Graph graph = *std::move(net).Finish({sum});
  const std::vector<Box> boxes = MakeBoxes(graph);
  ExpectWhole(graph, boxes);
  EXPECT_EQ(Child(boxes, boxes[0], 0).row, 0);
  EXPECT_EQ(Child(boxes, boxes[0], 2).row, 1);
  EXPECT_EQ(Child(boxes, boxes[0], 1).row, 1) << "right above what reads it";
  EXPECT_EQ(Child(boxes, boxes[0], 3).row, 2);
}

TEST(BoxesTest, OthersBesideAlikeOnesKeepTheirNames) {
  const std::vector<Box> boxes = MakeBoxes(Named({"f.0.a", "f.0.b", "f.1.a", "f.1.b", "f.last.a", "f.last.c"}));
  const Box& f = Child(boxes, boxes[0], 0);
  EXPECT_THAT(Labels(boxes, f), ElementsAre(".0 to .1", "last"));
  const std::vector<Box> stems = MakeBoxes(Named({"x", "layer_0.a", "layer_0.b", "layer_1.a", "layer_1.b"}));
  EXPECT_THAT(Labels(stems, stems[0]), ElementsAre("x", "layer_0 to 1"));
}

TEST(BoxesTest, AModuleThatIsCalledTwiceIsTwoBoxes) {
  const graph::Graph graph = Named({"a.x", "a.y", "b", "a.x", "a.y"});
  const std::vector<Box> boxes = MakeBoxes(graph);
  ExpectWhole(graph, boxes);
  EXPECT_THAT(Labels(boxes, boxes[0]), ElementsAre("a", "b", "a"));
}

TEST(BoxesTest, NamesThatGoOnAloneAreOneName) {
  const std::vector<Box> boxes = MakeBoxes(Named({"a.b.c.x", "a.b.c.y", "z"}));
  EXPECT_THAT(Labels(boxes, boxes[0]), ElementsAre("a.b.c", "z"));
}

TEST(BoxesTest, NamesOfExportersHaveSlashes) {
  const std::vector<Box> boxes = MakeBoxes(Named({"/layer1/layer1.0/Relu", "/layer1/layer1.0/Relu_1",
                                                  "/layer1/layer1.1/Relu", "/layer1/layer1.1/Relu_1", "/Relu"}));
  EXPECT_THAT(Labels(boxes, boxes[0]), ElementsAre("layer1.*", "Relu"));
}

TEST(BoxesTest, WhatRepeatsWithoutNamesIsFound) {
  graph::NetBuilder net;
  graph::ValueRef x = net.Input({1, 8});
  for (int i = 0; i < 200; ++i) x = net.Relu(net.Add(x, x));
  const graph::Graph graph = *std::move(net).Finish({x});
  const std::vector<Box> boxes = MakeBoxes(graph);
  ExpectWhole(graph, boxes);
  ASSERT_THAT(boxes[0].children, SizeIs(1));
  const Box& alike = Child(boxes, boxes[0], 0);
  EXPECT_EQ(alike.kind, BoxKind::kAlike);
  EXPECT_THAT(alike.children, SizeIs(200));
  EXPECT_EQ(Child(boxes, alike, 7).kind, BoxKind::kPart);
}

TEST(BoxesTest, ALongListWithoutRepetitionIsCutIntoParts) {
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i) names.push_back(absl::StrCat("m", i % 7, i % 11, i % 13, "x"));
  graph::NetBuilder net;
  graph::ValueRef x = net.Input({1, 1});
  for (size_t i = 0; i < names.size(); ++i) {
    // Another shape each time, so that no two are alike.
    x = net.Cat({x, net.Input({1, static_cast<int64_t>(i) + 1})}, 1, names[i]);
  }
  const graph::Graph graph = *std::move(net).Finish({x});
  const std::vector<Box> boxes = MakeBoxes(graph);
  ExpectWhole(graph, boxes);
  for (const Box& box : boxes) {
    if (box.kind != BoxKind::kAlike) {
      EXPECT_LE(box.children.size(), 40u);
    }
  }
}

TEST(BoxesTest, DeepNamesAndEmptyPartsAreNoTrouble) {
  std::string deep = "a";
  for (int i = 0; i < 5000; ++i) deep += ".a";
  const graph::Graph graph = Named({deep, deep + ".b", "..", ".", "", "/", "//", kTag, kEndOfScript});
  ExpectWhole(graph, MakeBoxes(graph));
}

}  // namespace
}  // namespace cobra::report
