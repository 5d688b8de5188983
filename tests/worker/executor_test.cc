#include "worker/execute/executor.h"

#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "graph/builder/builder.h"
#include "graph/builder/net_builder.h"
#include "gtest/gtest.h"
#include "tests/worker/executor_cases.h"
#include "worker/run/probe.h"
#include "worker/sample/families.h"

namespace cobra::worker {
namespace {

// One call, every tensor an input of the graph; ok if it ran and every output had the shape and
// type that the graph says.
absl::Status RunCase(const Case& c) {
  graph::GraphBuilder builder;
  graph::ValueRefs inputs;
  for (const Operand& operand : c.operands) {
    inputs.push_back(operand.absent ? graph::ValueRef::None()
                                    : builder.AddInput("x", graph::TensorType{operand.shape, operand.dtype}));
  }
  absl::StatusOr<int32_t> node = builder.Add(c.op, c.attributes, std::move(inputs), {}, c.inplace);
  if (!node.ok()) return absl::FailedPreconditionError(absl::StrCat("the graph refuses it: ", node.status().message()));
  std::vector<graph::ValueRef> outputs;
  for (size_t i = 0; i < builder.nodes()[*node].outputs.size(); ++i) outputs.push_back(graph::ValueRef::Node(*node, i));
  const graph::Graph graph = std::move(builder).Build(outputs);
  absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::Create(graph, 1);
  if (!executor.ok()) return executor.status();
  if (absl::Status status = (*executor)->RunChecked(); !status.ok()) return status;
  return (*executor)->Run();
}

TEST(ExecutorTest, EveryOperatorHasAKernel) {
  for (const graph::OpInfo& info : graph::AllOps()) {
    EXPECT_EQ(HasKernel(info.op), NotInLibTorch().count(info.op) == 0) << info.name;
  }
}

TEST(ExecutorTest, EveryOperatorRunsAndHasTheShapeThatTheGraphSays) {
  std::set<graph::Op> ran;
  for (const Case& c : AllCases()) {
    const absl::Status status = RunCase(c);
    EXPECT_TRUE(status.ok()) << graph::OpName(c.op) << ": " << status;
    ran.insert(c.op);
  }
  EXPECT_EQ(ran.size() + NotInLibTorch().size(), static_cast<size_t>(graph::kNumOps));
}

TEST(ExecutorTest, WhatLibTorchLacksIsNamed) {
  const absl::Status status = RunCase({graph::Op::scaled_dot_product_attention,
                                       {{"dropout_p", 0.0}, {"is_causal", false}, {"scale", 0.5}},
                                       {{{2, 4, 8, 16}}, {{2, 4, 8, 16}}, {{2, 4, 8, 16}}, kNone}});
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_NE(status.message().find("scaled_dot_product_attention"), absl::string_view::npos);
}

TEST(ExecutorTest, IntegersThatStandForRealsAreRefused) {
  graph::GraphBuilder builder;
  const graph::ValueRef x = builder.AddInput("x", graph::TensorType{{1, 4}, graph::DType::int8});
  const int32_t node =
      builder.Add(graph::Op::softmax, {{"dim", int64_t{-1}}, {"quantized", std::string("int8")}}, {x}).value();
  const absl::StatusOr<std::unique_ptr<Executor>> executor =
      Executor::Create(std::move(builder).Build({graph::ValueRef::Node(node)}), 1);
  EXPECT_TRUE(absl::IsUnimplemented(executor.status())) << executor.status();
}

TEST(ExecutorTest, OneNetworkOfEveryFamilyRuns) {
  for (const Family& family : Families()) {
    Random random(11);
    absl::StatusOr<graph::Graph> graph = family.draw(&random);
    for (int i = 0; i < 50 && !graph.ok(); ++i) graph = family.draw(&random);
    ASSERT_TRUE(graph.ok()) << family.name;
    absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::Create(*graph, 1);
    ASSERT_TRUE(executor.ok()) << family.name << ": " << executor.status();
    EXPECT_TRUE((*executor)->RunChecked().ok()) << family.name;
  }
}

TEST(ExecutorTest, ValuesAreThoseOfTheOperators) {
  graph::NetBuilder b;
  const graph::ValueRef x = b.Input({1, 2});
  const graph::ValueRef y = b.Linear(x, 2);
  const graph::ValueRef z = b.ReluInPlace(b.Add(y, y));
  const graph::Graph graph = *std::move(b).Finish({z});
  auto executor = *Executor::Create(graph, 1);
  ASSERT_TRUE(executor->SetTensor(graph::ValueRef::Input(0), {1, 2}).ok());
  ASSERT_TRUE(executor->SetTensor(graph::ValueRef::Parameter(0), {1, 1, -1, 0}).ok());
  ASSERT_TRUE(executor->SetTensor(graph::ValueRef::Parameter(1), {0.5, 0.25}).ok());
  const auto outputs = executor->RunForOutputs();
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(outputs->at(0), (std::vector<float>{7, 0}));
  EXPECT_FALSE(executor->SetTensor(graph::ValueRef::Input(0), {1}).ok());
}

TEST(ExecutorTest, PeakMemoryFollowsLiveness) {
  // 1 MiB in; relu, sigmoid, tanh: an input and two live activations at most.
  graph::NetBuilder b;
  graph::ValueRef x = b.Input({1 << 18});
  x = b.Relu(x);
  x = b.Call(graph::Op::sigmoid, {}, {x});
  x = b.Call(graph::Op::tanh, {}, {x});
  const graph::Graph graph = *std::move(b).Finish({x});
  auto executor = *Executor::Create(graph, 1);
  ASSERT_TRUE(executor->Run().ok());
  const auto peak = executor->PeakMemoryBytes();
  ASSERT_TRUE(peak.ok());
  EXPECT_EQ(*peak, 3 << 20);
}

TEST(ExecutorTest, InPlaceTakesNoMemory) {
  graph::NetBuilder b;
  const graph::ValueRef x = b.Input({1 << 18});
  const graph::Graph graph = *std::move(b).Finish({b.ReluInPlace(x)});
  auto executor = *Executor::Create(graph, 1);
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_EQ(*executor->PeakMemoryBytes(), 1 << 20);
}

// Out of place they copy the whole tensor first.
TEST(ExecutorTest, InPlaceWritesByIndicesCopyNothing) {
  using graph::Op;
  constexpr int64_t kRows = 1 << 12, kWidth = 1 << 6, kBytes = 4 * kRows * kWidth;
  const graph::Attributes rows = {{"dim", int64_t{0}}}, filled = {{"dim", int64_t{0}}, {"value", 1.0}};
  for (const auto& [op, attributes, has_source] :
       {std::tuple(Op::index_add, rows, true), std::tuple(Op::index_copy, rows, true),
        std::tuple(Op::index_fill, filled, false), std::tuple(Op::scatter, filled, false),
        std::tuple(Op::scatter, rows, true), std::tuple(Op::scatter_add, rows, true)}) {
    SCOPED_TRACE(graph::OpName(op));
    const bool by_element = op == Op::scatter || op == Op::scatter_add;
    graph::NetBuilder b;
    const graph::ValueRef x = b.Input({kRows, kWidth});
    const graph::ValueRef index = b.Input(by_element ? graph::Shape{2, kWidth} : graph::Shape{2}, graph::DType::int64);
    const graph::ValueRef source = has_source ? b.Input({2, kWidth}) : graph::ValueRef::None();
    const graph::Graph graph = *std::move(b).Finish({b.CallInPlace(op, attributes, {x, index, source})});
    auto executor = *Executor::Create(graph, 1);
    ASSERT_TRUE(executor->RunChecked().ok());
    EXPECT_LT(*executor->PeakMemoryBytes(), kBytes + kBytes / 2);
  }
}

TEST(ExecutorTest, ProfileHasOneTimePerNode) {
  const std::vector<Sample> subjects = ProbeSubjects();
  auto executor = *Executor::Create(subjects.back().graph, 1);
  double now_ns = 0;
  const auto us = executor->RunProfiled([&] { return now_ns += 1000; });
  ASSERT_TRUE(us.ok());
  EXPECT_EQ(us->size(), subjects.back().graph.nodes().size());
  for (double of_node : *us) EXPECT_DOUBLE_EQ(of_node, 1);
}

TEST(ProbeTest, HasSixtyLayersAndANetworkOfEachFamily) {
  const std::vector<Sample> subjects = ProbeSubjects();
  int layers = 0, networks = 0;
  std::set<std::string> labels;
  for (const Sample& subject : subjects) {
    (subject.is_network ? networks : layers) += 1;
    labels.insert(subject.label);
    if (!subject.is_network) EXPECT_EQ(subject.graph.nodes().size(), 1u) << subject.label;
  }
  EXPECT_NEAR(layers, 60, 5);
  EXPECT_GE(networks, 15);
  EXPECT_LE(networks, 22);
  EXPECT_GE(labels.size(), 20u);
}

}  // namespace
}  // namespace cobra::worker
