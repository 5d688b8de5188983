#include "worker/run/speeds.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/statistics.h"
#include "base/status_macros.h"
#include "graph/builder/net_builder.h"
#include "graph/cost/cost.h"
#include "worker/execute/executor.h"
#include "worker/machine/machine.h"
#include "worker/meter/meter.h"

namespace cobra::worker {
namespace {

double Rounded(double value) { return std::round(value * 100) / 100; }

Execution Warm(Execution execution) {
  execution.cache = CacheState::warm;
  return execution;
}

int64_t BytesOfFloat(const Execution& execution) {
  return execution.precision == Precision::bfloat16 || execution.precision == Precision::float16 ? 2 : 4;
}

PlainLimits LimitsOf(const Execution& execution) {
  return {execution.threads, execution.isa == Isa::native ? 512 : execution.isa == Isa::avx2 ? 256 : 128};
}

// Returns 0 if the graph does not run.
double MedianOfRuns(Executor* executor, int runs) {
  const RegionHooks hooks = executor->Hooks();
  std::vector<double> samples_us;
  for (int i = 0; i < runs; ++i) {
    const double start_ns = SteadyNowNs();
    if (hooks.begin) hooks.begin();
    if (!executor->Run().ok()) return 0;
    if (hooks.end) hooks.end();
    samples_us.push_back((SteadyNowNs() - start_ns) / 1000);
  }
  return executor->failure().ok() ? Median(std::move(samples_us)) : 0;
}

absl::StatusOr<TimedLoop> LoopOf(graph::NetBuilder&& builder, graph::ValueRef output, const Execution& execution) {
  COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, std::move(builder).Finish({output}));
  return LibTorchLoop(graph, execution);
}

absl::StatusOr<graph::Graph> SquareProduct(int64_t size) {
  graph::NetBuilder b;
  const graph::ValueRef left = b.Input({size, size}), right = b.Input({size, size});
  const graph::ValueRef product = b.Call(graph::Op::mm, {}, {left, right});
  return std::move(b).Finish({product});
}

absl::StatusOr<TimedLoop> ReluLoop(int64_t floats, const Execution& execution) {
  if (!HasLibTorch()) return PlainRelu(floats, LimitsOf(execution));
  graph::NetBuilder b;
  const graph::ValueRef y = b.ReluInPlace(b.Input({floats}));
  return LoopOf(std::move(b), y, execution);
}

// Operations a second of a square product, in 10^9.
double ProductGflops(int64_t size, double us) {
  const double edge = static_cast<double>(size);
  return us > 0 ? std::round(20 * edge * edge * edge / us / 1000) / 10 : 0;
}

// Without bias, on square images.
struct Convolution {
  int64_t channels, size;
  graph::Conv2dOptions options;
  double predict::TargetSpec::*gflops;
};
std::vector<Convolution> Convolutions() {
  return {{128, 28, {.out_channels = 128, .kernel_size = 3, .padding = 1}, &predict::TargetSpec::convolution_gflops},
          {256, 14, {.out_channels = 1024, .kernel_size = 1}, &predict::TargetSpec::pointwise_gflops},
          {192,
           28,
           {.out_channels = 192, .kernel_size = 3, .padding = 1, .groups = 192},
           &predict::TargetSpec::depthwise_gflops}};
}

absl::Status MeasureConvolutions(const GraphTimer& time_us, predict::TargetSpec* machine) {
  constexpr int kRuns = 25;
  for (const Convolution& convolution : Convolutions()) {
    graph::NetBuilder b;
    const graph::ValueRef y =
        b.Conv2d(b.Input({1, convolution.channels, convolution.size, convolution.size}), convolution.options);
    COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, std::move(b).Finish({y}));
    COBRA_ASSIGN_OR_RETURN(const double us, time_us(graph, kRuns));
    double& gflops = machine->*convolution.gflops;
    if (us > 0) gflops = std::max(gflops, Rounded(2e-3 * static_cast<double>(graph::CostOf(graph).macs) / us));
  }
  return absl::OkStatus();
}

// Bytes a second, read and written, of a relu in place.
absl::StatusOr<double> WorkingSetGbPerS(int64_t bytes, const Execution& execution) {
  COBRA_ASSIGN_OR_RETURN(const TimedLoop relu, ReluLoop(bytes / BytesOfFloat(execution), execution));
  relu(20);
  const double us = relu(100);
  return us > 0 ? Rounded(2e-3 * static_cast<double>(bytes) / us) : 0;
}

// Whether our own loops do what PyTorch's do. Where ATen may use 128 bits of a register it does not
// use vectors at all.
bool IsLikePyTorch(const Execution& execution) {
  return execution.precision == Precision::float32 && execution.isa != Isa::sse41;
}

absl::Status MeasureCaches(const Execution& execution, predict::TargetSpec* machine) {
  if (HasLibTorch() || IsLikePyTorch(execution)) {
    COBRA_ASSIGN_OR_RETURN(machine->l2_gb_per_s, WorkingSetGbPerS(int64_t{100} << 10, execution));
    COBRA_ASSIGN_OR_RETURN(machine->l3_gb_per_s, WorkingSetGbPerS(int64_t{3} << 20, execution));
  }
  machine->page_fault_us = Rounded(PageFaultUs());
  return absl::OkStatus();
}

constexpr int64_t kProductSize = 1024;  // on a processor

}  // namespace

absl::StatusOr<TimedLoop> LibTorchLoop(const graph::Graph& graph, const Execution& execution) {
  COBRA_ASSIGN_OR_RETURN(std::unique_ptr<Executor> created, Executor::Create(graph, 1, Warm(execution)));
  return TimedLoop([executor = std::shared_ptr<Executor>(std::move(created))](int runs) {
    return MedianOfRuns(executor.get(), runs);
  });
}

absl::StatusOr<TimedLoop> ProductLoop(int64_t size, const Execution& execution) {
  if (!HasLibTorch()) return PlainProduct(size, LimitsOf(execution));
  COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, SquareProduct(size));
  return LibTorchLoop(graph, execution);
}

absl::StatusOr<TimedLoop> CopyLoop(int64_t floats, const Execution& execution) {
  if (!HasLibTorch()) return PlainCopy(floats, LimitsOf(execution));
  graph::NetBuilder b;
  const graph::ValueRef to = b.Input({floats}), from = b.Input({floats});
  const graph::ValueRef copy = b.CallInPlace(graph::Op::copy, {}, {to, from});
  return LoopOf(std::move(b), copy, execution);
}

absl::Status MeasureSpeeds(const Execution& execution, predict::TargetSpec* machine) {
  const int64_t size = execution.is_cuda() ? 8192 : kProductSize,
                floats = int64_t{execution.is_cuda() ? 256 : 32} << 20;
  if (HasLibTorch() || execution.precision == Precision::float32) {
    COBRA_ASSIGN_OR_RETURN(const TimedLoop product, ProductLoop(size, execution));
    product(3);
    if (const double us = product(9); us > 0) machine->peak_gflops = ProductGflops(size, us);
  }
  {
    COBRA_ASSIGN_OR_RETURN(const TimedLoop copy, CopyLoop(floats, execution));
    copy(2);
    const double us = copy(7), bytes = static_cast<double>((HasLibTorch() ? BytesOfFloat(execution) : 4) * floats);
    if (us > 0) machine->memory_gb_per_s = Rounded(2e-3 * bytes / us);
  }
  if (execution.is_cuda()) return absl::OkStatus();
  COBRA_RETURN_IF_ERROR(MeasureCaches(execution, machine));
  if (!HasLibTorch()) return absl::OkStatus();
  return MeasureConvolutions(
      [&execution](const graph::Graph& graph, int runs) -> absl::StatusOr<double> {
        COBRA_ASSIGN_OR_RETURN(const TimedLoop loop, LibTorchLoop(graph, execution));
        loop(5);
        return loop(runs);
      },
      machine);
}

absl::Status MeasureSpeedsOfPyTorch(const Execution& execution, const GraphTimer& time_us,
                                    predict::TargetSpec* machine) {
  // A call that computes next to nothing: what is between a program in Python and its kernels, and
  // not between LibTorch and them.
  graph::NetBuilder b;
  const graph::ValueRef y = b.Relu(b.Input({1}));
  COBRA_ASSIGN_OR_RETURN(const graph::Graph nothing, std::move(b).Finish({y}));
  COBRA_ASSIGN_OR_RETURN(const double call_us, time_us(nothing, 25));
  const GraphTimer kernel_us = [&](const graph::Graph& graph, int runs) -> absl::StatusOr<double> {
    COBRA_ASSIGN_OR_RETURN(const double us, time_us(graph, runs));
    return std::max(0.0, us - call_us);
  };
  COBRA_RETURN_IF_ERROR(MeasureConvolutions(kernel_us, machine));
  if (execution.precision == Precision::float32) return absl::OkStatus();
  COBRA_ASSIGN_OR_RETURN(const graph::Graph product, SquareProduct(kProductSize));
  COBRA_ASSIGN_OR_RETURN(const double us, kernel_us(product, 9));
  machine->peak_gflops = std::max(machine->peak_gflops, ProductGflops(kProductSize, us));
  return absl::OkStatus();
}

}  // namespace cobra::worker
