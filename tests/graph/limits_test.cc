// A graph's limits: at the limit, and one past it.
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/diagnostic.h"
#include "graph/builder/builder.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"

namespace cobra::graph {
namespace {

TEST(GraphLimitsTest, Nodes) {
  GraphLimits limits;
  limits.max_nodes = 3;
  GraphBuilder builder(limits);
  ValueRef x = builder.AddInput("x", {{2}});
  for (int i = 0; i < 3; ++i) x = ValueRef::Node(builder.Add(Op::relu, {}, {x}).value());
  EXPECT_TRUE(absl::IsResourceExhausted(builder.Add(Op::relu, {}, {x}).status()));
}

// unbind makes as many as a dimension has elements.
TEST(GraphLimitsTest, Results) {
  GraphLimits limits;
  limits.max_results = 7;
  GraphBuilder builder(limits);
  const ValueRef x = builder.AddInput("x", {{3, 2}});
  const auto unbind = [&] { return builder.Add(Op::unbind, {{"dim", int64_t{0}}}, {x}).status(); };
  EXPECT_TRUE(unbind().ok());
  EXPECT_TRUE(unbind().ok());
  EXPECT_EQ(unbind().message(), "the network: more than the limit of 7 results of calls");
  EXPECT_TRUE(builder.Add(Op::relu, {}, {x}).ok());
  GraphBuilder block;
  const ValueRef y = block.AddInput("x", {{3, 2}});
  const ValueRef z = ValueRef::Node(block.Add(Op::relu, {}, {y}).value());
  const Graph relu = std::move(block).Build({z});
  EXPECT_TRUE(absl::IsResourceExhausted(builder.Append(relu, {x}, "").status()));
}

// A result of unbind takes no byte of a program, and has as many dimensions as its argument less
// one.
TEST(GraphLimitsTest, Dimensions) {
  GraphLimits limits;
  limits.max_dimensions = 2 * (3 + 4 * 2) - 1;
  GraphBuilder builder(limits);
  const ValueRef x = builder.AddInput("x", {{4, 7}});
  const auto unbind = [&] { return builder.Add(Op::unbind, {{"dim", int64_t{0}}}, {x}).status(); };
  EXPECT_TRUE(unbind().ok());
  EXPECT_EQ(unbind().message(),
            "the network: more than the limit of 21 dimensions, numbers and letters of arguments and results");
  EXPECT_TRUE(builder.Add(Op::relu, {}, {x}).ok());
  GraphBuilder block;
  const ValueRef y = block.AddInput("x", {{4, 7}});
  const ValueRef z = ValueRef::Node(block.Add(Op::relu, {}, {y}).value());
  const Graph relu = std::move(block).Build({z});
  EXPECT_TRUE(absl::IsResourceExhausted(builder.Append(relu, {x}, "").status()));
  // At the limit.
  limits.max_dimensions = 3 + 4 * 2;
  GraphBuilder exact(limits);
  const ValueRef w = exact.AddInput("x", {{4, 7}});
  EXPECT_TRUE(exact.Add(Op::unbind, {{"dim", int64_t{0}}}, {w}).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(exact.Add(Op::relu, {}, {w}).status()));
}

// What rules go through for each call, whatever it is.
TEST(GraphLimitsTest, NumbersAndLettersOfArguments) {
  GraphLimits limits;
  limits.max_dimensions = 100;
  GraphBuilder builder(limits);
  const ValueRef x = builder.AddInput("x", {{4}});
  const auto roll = [&](size_t count) {
    return builder
        .Add(Op::roll, {{"shifts", std::vector<int64_t>(count, 1)}, {"dims", std::vector<int64_t>(count, 0)}}, {x})
        .status();
  };
  EXPECT_TRUE(roll(20).ok()) << roll(20);
  EXPECT_TRUE(absl::IsResourceExhausted(roll(40)));
  EXPECT_TRUE(absl::IsResourceExhausted(
      builder.Add(Op::getitem, {{"index", absl::StrCat("[0", std::string(90, ' '), "]")}}, {x}).status()));
  EXPECT_TRUE(builder.Add(Op::getitem, {{"index", "[0, 1]"}}, {x}).ok());
}

TEST(GraphLimitsTest, AnIndexHasNoMoreItemsThanATensorHasDimensions) {
  GraphBuilder builder;
  const ValueRef x = builder.AddInput("x", {{4}});
  std::string index = "0";
  for (int i = 0; i < 100'000; ++i) index += ", 0";
  EXPECT_TRUE(absl::IsOutOfRange(builder.Add(Op::getitem, {{"index", index}}, {x}).status()));
}

// A kilobyte of a request becomes no gigabyte before any limit is looked at.
TEST(GraphLimitsTest, WhatGrowsWithTheSquareOfTheArguments) {
  GraphBuilder builder;
  const ValueRef scalar = builder.AddInput("x", {{}});
  const auto meshgrid = [&](size_t count) {
    return builder.Add(Op::meshgrid, {{"indexing", "ij"}}, ValueRefs(count, scalar)).status();
  };
  EXPECT_TRUE(meshgrid(64).ok()) << meshgrid(64);
  EXPECT_TRUE(absl::IsInvalidArgument(meshgrid(65)));
  EXPECT_TRUE(absl::IsInvalidArgument(meshgrid(60'000)));
  const ValueRef x = builder.AddInput("y", {{4, 4}});
  const auto gradient = [&](std::vector<int64_t> dims) {
    return builder.Add(Op::gradient, {{"dim", std::move(dims)}}, {x}).status();
  };
  EXPECT_TRUE(gradient({0, 1}).ok()) << gradient({0, 1});
  EXPECT_EQ(gradient(std::vector<int64_t>(1'000'000, 1)).message(), "dim 1 appears multiple times in the list of dims");
}

TEST(GraphLimitsTest, Rank) {
  GraphLimits limits;
  limits.max_rank = 5;
  GraphBuilder builder(limits);
  const ValueRef x = builder.AddInput("x", {{2}});
  const auto reshape = [&](int rank) {
    std::vector<int64_t> size(rank, 1);
    size[0] = 2;
    return builder.Add(Op::reshape, {{"shape", size}}, {x}).status();
  };
  EXPECT_TRUE(reshape(5).ok()) << reshape(5);
  EXPECT_TRUE(absl::IsInvalidArgument(reshape(6)));
}

TEST(GraphLimitsTest, BytesOfATensor) {
  GraphLimits limits;
  limits.max_tensor_bytes = 4000;
  GraphBuilder builder(limits);
  const ValueRef x = builder.AddInput("x", {{1}});
  const auto repeat = [&](int64_t n) {
    return builder.Add(Op::repeat, {{"repeats", std::vector<int64_t>{n}}}, {x}).status();
  };
  EXPECT_TRUE(repeat(1000).ok()) << repeat(1000);
  EXPECT_TRUE(absl::IsResourceExhausted(repeat(1001)));
}

class JsonLimitsTest : public testing::Test {
 protected:
  static std::string Chain(int calls) {
    GraphBuilder builder;
    ValueRef x = builder.AddInput("x", {{2}});
    for (int i = 0; i < calls; ++i) x = ValueRef::Node(builder.Add(Op::relu, {}, {x}).value());
    return GraphToJson(std::move(builder).Build({x}));
  }
  static Diagnostic::Kind KindOf(const std::string& json, const GraphLimits& limits) {
    const absl::StatusOr<Graph> graph = GraphFromJson(json, limits);
    EXPECT_FALSE(graph.ok());
    return DiagnosticFromStatus(graph.status()).value_or(Diagnostic{}).kind;
  }
};

TEST_F(JsonLimitsTest, Nodes) {
  GraphLimits limits;
  limits.max_nodes = 10;
  EXPECT_TRUE(GraphFromJson(Chain(10), limits).ok());
  EXPECT_EQ(KindOf(Chain(11), limits), Diagnostic::Kind::kLimit);
}

TEST_F(JsonLimitsTest, TensorsAndRank) {
  const auto text = [](const char* shape) {
    return std::string(R"({"inputs":[{"name":"x","shape":)") + shape +
           R"(,"dtype":"float32"}],"ops":[],"output":["in:0"]})";
  };
  GraphLimits limits;
  limits.max_rank = 2;
  limits.max_tensor_bytes = 400;
  EXPECT_TRUE(GraphFromJson(text("[10,10]"), limits).ok()) << GraphFromJson(text("[10,10]"), limits).status();
  EXPECT_EQ(KindOf(text("[10,11]"), limits), Diagnostic::Kind::kLimit);
  EXPECT_EQ(KindOf(text("[1,1,1]"), limits), Diagnostic::Kind::kUsage);
}

TEST_F(JsonLimitsTest, Values) {
  const std::string json = Chain(10);
  GraphLimits limits;
  int64_t low = 1, high = 1000;
  while (low + 1 < high) {
    limits.max_json_values = (low + high) / 2;
    (GraphFromJson(json, limits).ok() ? high : low) = limits.max_json_values;
  }
  EXPECT_GT(high, 50);
  limits.max_json_values = high;
  EXPECT_TRUE(GraphFromJson(json, limits).ok());
  --limits.max_json_values;
  EXPECT_EQ(KindOf(json, limits), Diagnostic::Kind::kLimit);
}

TEST(GraphLimitsTest, NamesInJson) {
  const auto kind = [](const char* key, size_t length) -> std::optional<Diagnostic::Kind> {
    const std::string name(length, 'n'), where = key == std::string("where") ? absl::StrCat(name, ":1") : name;
    std::string json = R"({"inputs": [{"name": "x", "shape": [2]}], "param_shapes": {"w": [2]},
      "ops": [{"op": "relu", "inputs": ["in:0"]}], "output": [0]})";
    if (key == std::string("mod") || key == std::string("where")) {
      absl::StrReplaceAll({{"\"op\"", absl::StrCat("\"", key, "\": \"", where, "\", \"op\"")}}, &json);
    } else {
      absl::StrReplaceAll({{absl::StrCat("\"", key, "\""), absl::StrCat("\"", name, "\"")}}, &json);
    }
    const absl::Status status = GraphFromJson(json).status();
    if (status.ok()) return std::nullopt;
    return DiagnosticFromStatus(status).value().kind;
  };
  const auto most = static_cast<size_t>(Limits().name_bytes);
  for (const char* key : {"mod", "where", "x", "w"}) {
    EXPECT_EQ(kind(key, most), std::nullopt) << key;
    EXPECT_EQ(kind(key, most + 1), Diagnostic::Kind::kLimit) << key;
  }
}

}  // namespace
}  // namespace cobra::graph
