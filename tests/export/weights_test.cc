#include "export/weights.h"

#include <cmath>

#include "base/file/file.h"
#include "graph/builder/builder.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace cobra::exporting {
namespace {

graph::Graph WithWeights() {
  graph::GraphBuilder builder;
  const graph::ValueRef x = builder.AddInput("x", {{2, 3}});
  const graph::ValueRef weight = builder.AddParameter("fc.weight", {{4, 3}});
  builder.AddBuffer("steps", {{}, graph::DType::int64});
  const graph::ValueRef index = builder.AddConstant("fc.weight", {{3}, graph::DType::int64});
  builder.SetKnownValues(index, std::make_shared<const std::vector<double>>(std::vector<double>{3, 0, 1}));
  const int32_t node = builder.Add(graph::Op::linear, {}, {x, weight}).value();
  return std::move(builder).Build({graph::ValueRef::Node(node)});
}

TEST(WeightsTest, NumbersOfEveryTypeComeBack) {
  const std::vector<double> values = {0, 1, 2, 100};
  for (graph::DType dtype :
       {graph::DType::float32, graph::DType::float16, graph::DType::bfloat16, graph::DType::float64,
        graph::DType::int64, graph::DType::int32, graph::DType::int16, graph::DType::int8, graph::DType::uint8}) {
    EXPECT_EQ(ValuesOf(dtype, BytesOf(dtype, values)), values) << graph::DTypeName(dtype);
    EXPECT_EQ(BytesOf(dtype, values).size(), values.size() * graph::DTypeBytes(dtype));
  }
  const std::vector<double> small = {-0.5, 65504, std::ldexp(1, -24), INFINITY};
  EXPECT_EQ(ValuesOf(graph::DType::float16, BytesOf(graph::DType::float16, small)), small);
}

TEST(WeightsTest, AreTheSameForOneSeedAndKnownValuesAreKept) {
  const graph::Graph graph = WithWeights();
  const Weights one = *Weights::Random(graph, 1), again = *Weights::Random(graph, 1),
                other = *Weights::Random(graph, 2);
  const graph::ValueRef weight = graph::ValueRef::Parameter(0);
  EXPECT_EQ(one.Bytes(weight), again.Bytes(weight));
  EXPECT_NE(one.Bytes(weight), other.Bytes(weight));
  for (double value : ValuesOf(graph::DType::float32, one.Bytes(weight))) EXPECT_LE(std::abs(value), 1);
  EXPECT_EQ(ValuesOf(graph::DType::int64, one.Bytes(graph::ValueRef::Constant(0))), (std::vector<double>{3, 0, 1}));
}

TEST(WeightsTest, TheFileIsWhatItsHeaderSays) {
  const graph::Graph graph = WithWeights();
  const Weights weights = *Weights::Random(graph, 1);
  const WeightsFile file(graph);
  const std::string path = ::testing::TempDir() + "/weights_test.safetensors";
  ASSERT_TRUE(file.Write(weights, path).ok());
  const std::string bytes = *ReadFile(path);
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length * 256 + static_cast<uint8_t>(bytes[i]);
  const auto header = nlohmann::json::parse(bytes.substr(8, length));
  EXPECT_EQ(header.size(), 3u);
  EXPECT_EQ(header["fc.weight"]["dtype"], "F32");
  EXPECT_EQ(header["fc.weight"]["shape"], (std::vector<int64_t>{4, 3}));
  EXPECT_TRUE(header.contains("fc.weight.1"));  // the constant of the same name
  EXPECT_EQ(bytes.size(), 8 + length + 48 + 8 + 24);
  EXPECT_EQ(bytes.substr(static_cast<size_t>(file.Offset(graph::ValueRef::Parameter(0))), 48),
            weights.Bytes(graph::ValueRef::Parameter(0)));
}

}  // namespace
}  // namespace cobra::exporting
