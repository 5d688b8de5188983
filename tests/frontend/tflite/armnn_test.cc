// An independent reader: Arm NN's TensorFlow Lite parser and its reference backend read and run the
// files that the other tests read. Inputs, outputs and values of every network and of every
// operator that Arm NN 20.08 knows must be those of our graph, run by the worker's executor.
#include "armnn/ArmNN.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "armnnTfLiteParser/ITfLiteParser.hpp"
#include "frontend/tflite/reader.h"
#include "gtest/gtest.h"
#include "tests/frontend/tflite/operator_files.h"
#include "worker/execute/executor.h"

namespace cobra::tflite {
namespace {

using Floats = std::vector<float>;

std::vector<int64_t> Sizes(const armnn::TensorInfo& info) {
  std::vector<int64_t> sizes;
  for (unsigned i = 0; i < info.GetShape().GetNumDimensions(); ++i) sizes.push_back(info.GetShape()[i]);
  return sizes;
}

// What Arm NN says of a file with one input and one output.
class ArmnnNetwork {
 public:
  // Nothing where Arm NN does not know an operator; the message says which.
  static std::optional<ArmnnNetwork> Parse(const std::string& bytes, std::string* why) {
    try {
      ArmnnNetwork network;
      auto parser = armnnTfLiteParser::ITfLiteParser::Create();
      network.network_ = parser->CreateNetworkFromBinary(std::vector<uint8_t>(bytes.begin(), bytes.end()));
      network.input_ = parser->GetNetworkInputBindingInfo(0, parser->GetSubgraphInputTensorNames(0).at(0));
      network.output_ = parser->GetNetworkOutputBindingInfo(0, parser->GetSubgraphOutputTensorNames(0).at(0));
      return network;
    } catch (const std::exception& e) {
      *why = e.what();
      return std::nullopt;
    }
  }

  const armnn::TensorInfo& input() const { return input_.second; }
  const armnn::TensorInfo& output() const { return output_.second; }

  std::optional<Floats> Run(const Floats& values, std::string* why) {
    try {
      armnn::IRuntimePtr runtime = armnn::IRuntime::Create({});
      armnn::IOptimizedNetworkPtr optimized =
          armnn::Optimize(*network_, {armnn::Compute::CpuRef}, runtime->GetDeviceSpec());
      armnn::NetworkId id = 0;
      if (optimized == nullptr || runtime->LoadNetwork(id, std::move(optimized)) != armnn::Status::Success) {
        *why = "not loaded";
        return std::nullopt;
      }
      Floats out(runtime->GetOutputTensorInfo(id, output_.first).GetNumElements());
      const armnn::InputTensors inputs{
          {input_.first, armnn::ConstTensor(runtime->GetInputTensorInfo(id, input_.first), values.data())}};
      const armnn::OutputTensors outputs{
          {output_.first, armnn::Tensor(runtime->GetOutputTensorInfo(id, output_.first), out.data())}};
      if (runtime->EnqueueWorkload(id, inputs, outputs) != armnn::Status::Success) {
        *why = "not run";
        return std::nullopt;
      }
      return out;
    } catch (const std::exception& e) {
      *why = e.what();
      return std::nullopt;
    }
  }

 private:
  ArmnnNetwork() : network_(nullptr, nullptr) {}
  armnn::INetworkPtr network_;
  armnnTfLiteParser::BindingPointInfo input_, output_;
};

Floats RandomInput(int64_t n) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<float> uniform(0.1f, 2.0f);  // logarithms and roots are asked for too
  Floats values(static_cast<size_t>(n));
  for (float& v : values) v = uniform(random);
  return values;
}

// The file's numbers of a weight, in the order in which the graph has it.
Floats WeightValues(const schema::Model& file, const TfliteWeight& weight) {
  const auto* tensor = file.subgraphs()->Get(0)->tensors()->Get(weight.tensor);
  const auto* data = file.buffers()->Get(tensor->buffer())->data();
  const auto* floats = reinterpret_cast<const float*>(data->data());
  const size_t rank = weight.permutation.size();
  std::vector<int64_t> strides(rank, 1);
  for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * weight.shape[d];
  Floats values(data->size() / sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    int64_t from = 0;
    for (size_t d = rank; d-- > 0;) {
      const int64_t size = weight.shape[weight.permutation[d]];
      from += rest % size * strides[weight.permutation[d]];
      rest /= size;
    }
    values[i] = floats[from];
  }
  return values;
}

Floats RunOurs(const std::string& bytes, const Floats& input) {
  absl::StatusOr<TfliteModel> model = ReadTfliteModelWithWeights(bytes, {});
  EXPECT_TRUE(model.ok()) << model.status();
  if (!model.ok()) return {};
  absl::StatusOr<std::unique_ptr<worker::Executor>> executor = worker::Executor::Create(model->graph, 1);
  EXPECT_TRUE(executor.ok()) << executor.status();
  if (!executor.ok()) return {};
  for (const TfliteWeight& weight : model->weights) {
    if (model->graph.TypeOf(weight.ref).dtype != graph::DType::float32) continue;
    EXPECT_TRUE((*executor)->SetTensor(weight.ref, WeightValues(*schema::GetModel(bytes.data()), weight)).ok());
  }
  EXPECT_TRUE((*executor)->SetTensor(graph::ValueRef::Input(0), input).ok());
  EXPECT_TRUE((*executor)->RunChecked().ok()) << (*executor)->RunChecked();
  absl::StatusOr<std::vector<Floats>> outputs = (*executor)->RunForOutputs();
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? (*outputs)[0] : Floats{};
}

void ExpectClose(const Floats& ours, const Floats& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  float scale = 1e-3f;
  for (float v : theirs) scale = std::max(scale, std::abs(v));
  for (size_t i = 0; i < ours.size(); ++i) ASSERT_NEAR(ours[i], theirs[i], 2e-4f * scale) << "element " << i;
}

class ArmnnTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { worker::ConfigureLibTorch(1); }
};

TEST_F(ArmnnTest, OperatorsGiveTheSameValues) {
  std::set<std::string> unknown;
  int compared = 0;
  const std::vector<OperatorFile> files = OperatorFiles();
  for (const OperatorFile& file : files) {
    SCOPED_TRACE(file.name);
    // Arm NN 20.08 samples half pixels as if they were whole ones.
    if (file.name == "resize_bilinear") continue;
    // It takes negative axes for large ones, and writes there.
    if (absl::EndsWith(file.name, "_-1")) continue;
    // Arm NN 20.08 computes the SAME padding of a transposed convolution from its input's size;
    // TensorFlow from its output's, which at stride 3 is another.
    if (absl::StrContains(file.name, "transpose_conv") && absl::EndsWith(file.name, "s3_same")) continue;
    std::string why;
    std::optional<ArmnnNetwork> theirs = ArmnnNetwork::Parse(file.bytes, &why);
    if (!theirs.has_value()) {
      unknown.insert(absl::StrCat(file.name, ": ", why.substr(0, 100)));
      continue;
    }
    const graph::Graph graph = ReadTfliteModel(file.bytes, {}).value();
    const graph::Shape& in = graph.inputs()[0].type.shape;
    const graph::Shape& out = graph.TypeOf(graph.outputs()[0]).shape;
    EXPECT_EQ(Sizes(theirs->input()), std::vector<int64_t>(in.begin(), in.end()));
    if (!out.empty()) EXPECT_EQ(Sizes(theirs->output()), std::vector<int64_t>(out.begin(), out.end()));
    const Floats input = RandomInput(graph.inputs()[0].type.num_elements());
    const std::optional<Floats> values = theirs->Run(input, &why);
    if (!values.has_value()) {
      unknown.insert(absl::StrCat(file.name, ": ", why.substr(0, 100)));
      continue;
    }
    ExpectClose(RunOurs(file.bytes, input), *values);
    ++compared;
  }
  std::cout << compared << " of " << files.size() << " operator files compared\n"
            << absl::StrJoin(unknown, "\n") << "\n";
  EXPECT_GT(compared, 250);
}

// Also those that Arm NN does not know: our graph runs, and every tensor has the type that the
// graph says.
TEST_F(ArmnnTest, EveryOperatorRuns) {
  for (const OperatorFile& file : OperatorFiles()) {
    SCOPED_TRACE(file.name);
    const graph::Graph graph = ReadTfliteModel(file.bytes, {}).value();
    for (const float value : RunOurs(file.bytes, RandomInput(graph.inputs()[0].type.num_elements()))) {
      // Powers of negative numbers have no value.
      if (!absl::StrContains(file.name, "POW")) {
        ASSERT_TRUE(std::isfinite(value));
      }
    }
  }
}

TEST_F(ArmnnTest, NetworksGiveTheSameValues) {
  const std::pair<std::string, std::string> networks[] = {{"mobilenet_v1", MobileNetV1(64, false, 25)},
                                                          {"mobilenet_v2", MobileNetV2(64, false)},
                                                          {"resnet18", ResNet18(48, false)},
                                                          {"efficientnet", EfficientNetLike(64, false)}};
  for (const auto& [name, file] : networks) {
    SCOPED_TRACE(name);
    std::string why;
    std::optional<ArmnnNetwork> theirs = ArmnnNetwork::Parse(file, &why);
    ASSERT_TRUE(theirs.has_value()) << why;
    const Floats input = RandomInput(theirs->input().GetNumElements());
    const std::optional<Floats> values = theirs->Run(input, &why);
    ASSERT_TRUE(values.has_value()) << why;
    ExpectClose(RunOurs(file, input), *values);
  }
}

TEST_F(ArmnnTest, QuantizedNetworksHaveTheSameTensors) {
  for (const std::string& file :
       {MobileNetV1(64, true, 25), MobileNetV2(64, true), ResNet18(48, true), EfficientNetLike(64, true)}) {
    std::string why;
    std::optional<ArmnnNetwork> theirs = ArmnnNetwork::Parse(file, &why);
    ASSERT_TRUE(theirs.has_value()) << why;
    const graph::Graph graph = ReadTfliteModel(file, {}).value();
    EXPECT_EQ(theirs->input().GetDataType(), armnn::DataType::QAsymmS8);
    EXPECT_EQ(graph.inputs()[0].type.dtype, graph::DType::int8);
    const graph::Shape& out = graph.TypeOf(graph.outputs()[0]).shape;
    EXPECT_EQ(Sizes(theirs->output()), std::vector<int64_t>(out.begin(), out.end()));
    EXPECT_EQ(graph.TypeOf(graph.outputs()[0]).dtype, graph::DType::int8);
  }
}

}  // namespace
}  // namespace cobra::tflite
