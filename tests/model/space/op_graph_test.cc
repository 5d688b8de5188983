#include "model/space/architectures/op_graph.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::space {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr int kInput = CellEncoding::kInput, kOutput = CellEncoding::kOutput;
constexpr int kSkip = 1, kConv1x1 = 2, kConv3x3 = 3, kPool = 4;

// The cell whose six edges are these operations, in the order of the architecture string.
std::string Cell(const std::vector<int>& operations) {
  const char* names[] = {"none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"};
  std::string arch;
  size_t next = 0;
  for (int to = 1; to < 4; ++to) {
    arch += to > 1 ? "+|" : "|";
    for (int from = 0; from < to; ++from)
      arch += std::string(names[operations[next++]]) + "~" + std::to_string(from) + "|";
  }
  return arch;
}

CellEncoding Pruned() {
  CellEncoding form;
  form.pruned = true;
  return form;
}

CellEncoding Contracted() {
  CellEncoding form = Pruned();
  form.contract_skip = true;
  return form;
}

TEST(OpGraph, OperationsAreNodesAndDataFlowsAlongEdges) {
  // 0 -3x3-> 1 -1x1-> 3
  const auto graph = Nasbench201Graph(Cell({kConv3x3, 0, 0, 0, kConv1x1, 0}), Pruned());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->kind, ElementsAre(kInput, kConv3x3, kConv1x1, kOutput));
  EXPECT_THAT(graph->edges, ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 3)));
}

TEST(OpGraph, WholeCellHasEveryEdgeAsANode) {
  const auto graph = Nasbench201Graph(Cell({0, 0, 0, 0, 0, 0}), CellEncoding());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->kind.size(), 8u);
  // Three edges leave the input, three reach the output; into a node of the cell 1, 2 edges lead,
  // out of it 2, 1.
  EXPECT_EQ(graph->edges.size(), 3u + 3u + 1u * 2u + 2u * 1u);
}

TEST(OpGraph, PruningLeavesOutWhatIsOnNoPath) {
  // 0 -pool-> 3 runs; 0 -3x3-> 1 leads nowhere; 2 -1x1-> 3 has no input.
  const auto graph = Nasbench201Graph(Cell({kConv3x3, 0, 0, kPool, 0, kConv1x1}), Pruned());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->kind, ElementsAre(kInput, kPool, kOutput));
  EXPECT_THAT(graph->edges, ElementsAre(Pair(0, 1), Pair(1, 2)));
}

TEST(OpGraph, NothingLeftIsAnErrorThatQuotesTheCell) {
  const std::string cell = Cell({kConv3x3, 0, 0, 0, 0, kConv1x1});
  const auto graph = Nasbench201Graph(cell, Pruned());
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(std::string(graph.status().message()), HasSubstr(cell));
  CellEncoding form = Pruned();
  form.empty = true;
  const auto empty = Nasbench201Graph(cell, form);
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_THAT(empty->kind, ElementsAre(kInput, kOutput));
  EXPECT_TRUE(empty->edges.empty());
}

TEST(OpGraph, NoCellIsAnError) {
  EXPECT_FALSE(Nasbench201Graph("|conv~0|+|none~0|none~1|+|none~0|none~1|none~2|", Pruned()).ok());
}

TEST(OpGraph, ContractionReadsThroughSkips) {
  // 0 -skip-> 1 -3x3-> 3, 0 -skip-> 3: what reads the skip reads the input, and the output reads
  // the input itself.
  const auto graph = Nasbench201Graph(Cell({kSkip, 0, 0, kSkip, kConv3x3, 0}), Contracted());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->kind, ElementsAre(kInput, kConv3x3, kOutput));
  EXPECT_THAT(graph->edges, ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 2)));
}

TEST(OpGraph, ACellOfSkipsIsInputToOutput) {
  const auto graph = Nasbench201Graph(Cell({kSkip, kSkip, kSkip, kSkip, kSkip, kSkip}), Contracted());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->kind, ElementsAre(kInput, kOutput));
  EXPECT_THAT(graph->edges, ElementsAre(Pair(0, 1)));
}

TEST(OpGraph, CellsThatDifferInNamesOfInnerNodesAreOne) {
  // 0 -3x3-> 1 -pool-> 3 and 0 -1x1-> 2 -skip-> 3, both ways round; and once with an edge between,
  // which tells 1 from 2.
  const std::string cell = Cell({kConv3x3, kConv1x1, 0, 0, kPool, kSkip});
  const std::string renamed = Cell({kConv1x1, kConv3x3, 0, 0, kSkip, kPool});
  const std::string another = Cell({kConv1x1, kConv3x3, kSkip, 0, kSkip, kPool});
  std::vector<OpGraph> graphs;
  for (const std::string& arch : {cell, renamed, another, cell}) graphs.push_back(*Nasbench201Graph(arch, Pruned()));
  const DistinctGraphs distinct = Distinct(graphs);
  EXPECT_THAT(distinct.first, ElementsAre(0, 2));
  EXPECT_THAT(distinct.place, ElementsAre(0, 0, 1, 0));
}

}  // namespace
}  // namespace cobra::space
