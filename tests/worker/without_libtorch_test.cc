// The worker's parts in a program that is linked without LibTorch, as `cobra` is (portable/).
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <string>

#include "base/file/tensor_file.h"
#include "gmock/gmock.h"
#include "graph/builder/net_builder.h"
#include "gtest/gtest.h"
#include "worker/execute/executor.h"
#include "worker/machine/gpu.h"
#include "worker/machine/sensors.h"
#include "worker/run/describe.h"
#include "worker/run/group_runner.h"
#include "worker/run/runner_command.h"
#include "worker/run/same_results.h"
#include "worker/run/speeds.h"

namespace cobra::worker {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

graph::Graph Relu() {
  graph::NetBuilder b;
  const graph::ValueRef y = b.Relu(b.Input({1, 3}));
  return *std::move(b).Finish({y});
}

std::string FileOf(std::vector<float> numbers, const char* name = "0") {
  const std::string bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
  return WriteTensorFile({{name, {{static_cast<int64_t>(numbers.size())}, bytes, "F32"}}});
}

TEST(WithoutLibTorchTest, HasNoneAndLoadsNoDriver) {
  EXPECT_FALSE(HasLibTorch());
  EXPECT_EQ(LibTorchVersion(), "");
  EXPECT_TRUE(absl::IsUnimplemented(Executor::Create(Relu(), 1).status()));
  EXPECT_TRUE(CheckLibTorchHas({}).ok());
  Execution cuda;
  cuda.cuda_device = 0;
  EXPECT_THAT(std::string(CheckLibTorchHas(cuda).message()), StartsWith("--device cuda:0: "));
  EXPECT_TRUE(absl::IsNotFound(Nvml::Open(0).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadGpuFacts(0).status()));
  EXPECT_EQ(GpuSensors(0), nullptr);
}

TEST(WithoutLibTorchTest, TheCanaryIsOurOwn) {
  const absl::StatusOr<std::unique_ptr<Canary>> canary = Canary::Create();
  ASSERT_TRUE(canary.ok()) << canary.status();
  const CanaryTimes times = (*canary)->Measure();
  EXPECT_EQ(times.conv_us, 0);
  EXPECT_GT(times.matmul_us, 0);
  EXPECT_GT(times.copy_us, 0);
  EXPECT_EQ(RatiosOf({0, 110, 50}, {0, 100, 50}).compute, 1.1);  // what was not measured says nothing
}

TEST(WithoutLibTorchTest, SpeedsThatAreNotPyTorchsStayUnknown) {
  predict::TargetSpec machine;
  ASSERT_TRUE(MeasureSpeeds({}, &machine).ok());
  for (const double speed : {machine.peak_gflops, machine.memory_gb_per_s, machine.l2_gb_per_s, machine.l3_gb_per_s})
    EXPECT_GT(speed, 0);
  EXPECT_EQ(machine.convolution_gflops, 0);
  Execution half;
  half.precision = Precision::bfloat16;
  predict::TargetSpec of_half;
  ASSERT_TRUE(MeasureSpeeds(half, &of_half).ok());
  EXPECT_EQ(of_half.peak_gflops, 0);
  EXPECT_EQ(of_half.l2_gb_per_s, 0);
  EXPECT_GT(of_half.memory_gb_per_s, 0);
  // A PyTorch says the rest. Here a kernel takes a millisecond, and a call ten microseconds.
  const GraphTimer timer = [](const graph::Graph& graph, int) -> absl::StatusOr<double> {
    return graph.nodes()[0].op == graph::Op::relu ? 10 : 1010;
  };
  ASSERT_TRUE(MeasureSpeedsOfPyTorch(half, timer, &of_half).ok());
  EXPECT_EQ(of_half.convolution_gflops, 231.21);
  EXPECT_EQ(of_half.pointwise_gflops, 102.76);
  EXPECT_EQ(of_half.depthwise_gflops, 2.71);
  EXPECT_EQ(of_half.peak_gflops, 2147.5);
}

TEST(WithoutLibTorchTest, NoThreadIsLeftForAChild) {
  Execution two;
  two.threads = 2;
  EXPECT_TRUE(two.needs_child_process());
  EXPECT_FALSE(NeedsChild(two));
}

TEST(SameResultsTest, PyTorchsNumbersAreCompared) {
  const graph::Graph graph = Relu();
  const std::string torch = FileOf({0, 1, 2});
  const auto compare = [&](const std::string& other) { return CompareWithPyTorch(graph, torch, other, 1e-3); };
  EXPECT_TRUE(compare(FileOf({0, 1.001F, 2})).ok());
  EXPECT_THAT(std::string(compare(FileOf({0, 1.01F, 2})).message()), HasSubstr("output 0 is not PyTorch's: "));
  EXPECT_THAT(std::string(compare(FileOf({0, 1})).message()), HasSubstr("2 numbers, not 3"));
  EXPECT_THAT(std::string(compare(FileOf({0, 1, 2}, "1")).message()), HasSubstr("output 0 is missing"));
}

TEST(SameResultsTest, SizesAreCheckedWhereNobodyComputesThem) {
  const graph::Graph graph = Relu();
  EXPECT_TRUE(CheckSizes(graph, FileOf({5, 5, 5})).ok());
  EXPECT_THAT(std::string(CheckSizes(graph, FileOf({5, 5})).message()), HasSubstr("output 0 has 2 numbers, not 3"));
  EXPECT_FALSE(CheckSizes(graph, FileOf({5, 5, 5}, "x")).ok());
  EXPECT_FALSE(CheckSizes(graph, "no tensors").ok());
}

class RunnerCommandTest : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("COBRA_RUNNER_PYTHON"); }
  // A Python that has, or lacks, what `answer` says.
  void StandIn(const std::string& answer) {
    const std::string path = ::testing::TempDir() + "/stand_in_python";
    std::ofstream(path) << "#!/bin/sh\n" << answer << "\n";
    ::chmod(path.c_str(), 0755);
    ::setenv("COBRA_RUNNER_PYTHON", path.c_str(), 1);
  }
  static std::string ErrorOf(const char* runner) { return std::string(RunnerCommand(runner).status().message()); }
};

TEST_F(RunnerCommandTest, SaysWhatIsMissing) {
  ::setenv("COBRA_RUNNER_PYTHON", "/no/such/python3", 1);
  EXPECT_THAT(ErrorOf("torch"), StartsWith("--runner torch: there is no /no/such/python3; "));
  StandIn(R"(echo '{"torch": null, "numpy": "1.24"}')");
  EXPECT_TRUE(absl::IsFailedPrecondition(RunnerCommand("torch").status()));
  EXPECT_THAT(ErrorOf("torch"), HasSubstr("has no module torch: "));
  EXPECT_THAT(ErrorOf("torch"), HasSubstr(" -m pip install torch, or "));
  StandIn(R"(echo '{}')");
  EXPECT_THAT(ErrorOf("ncnn"), HasSubstr("has no module ncnn and no module numpy: "));
  StandIn("exit 3");
  EXPECT_THAT(ErrorOf("torch"), HasSubstr("exit status 3"));
  StandIn("echo nonsense");
  EXPECT_THAT(ErrorOf("torch"), HasSubstr("does not say which modules it has"));
}

TEST_F(RunnerCommandTest, ListsWhatIsThere) {
  StandIn(R"(echo '{"torch": "2.1", "numpy": "1.24", "ncnn": ""}')");
  std::vector<std::string> there;
  for (const OwnRuntime& runtime : OwnRuntimes()) {
    if (runtime.missing.empty()) there.push_back(runtime.name + " " + runtime.version);
  }
  EXPECT_THAT(there, testing::ElementsAre("torch 2.1", "torch-compile 2.1", "ncnn "));
  const absl::StatusOr<std::vector<std::string>> command = RunnerCommand("torch-compile");
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_THAT((*command)[1], testing::EndsWith("/worker/runners/eager_torch.py"));
  EXPECT_EQ((*command)[2], "--compile");
  EXPECT_TRUE(IsOwnRunner("torch"));
  EXPECT_FALSE(IsOwnRunner("python3 eager_torch.py"));
}

}  // namespace
}  // namespace cobra::worker
