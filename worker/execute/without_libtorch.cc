// executor.h of a worker that carries no LibTorch (portable/): it measures through runners.
#include "absl/strings/str_cat.h"
#include "worker/execute/executor.h"

namespace cobra::worker {
namespace {

absl::Status NoLibTorch() { return absl::UnimplementedError("this cobra-worker carries no LibTorch"); }

}  // namespace

class Executor::Impl {};

bool HasLibTorch() { return false; }
void ConfigureLibTorch(int threads) {}
std::string LibTorchVersion() { return ""; }
std::string RuntimeVersion(const Execution& execution) { return ""; }

absl::Status CheckLibTorchHas(const Execution& execution) {
  if (!execution.is_cuda()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--device ", DeviceText(execution),
      ": GPUs are measured in LibTorch, which this cobra-worker does not carry; scripts/measure-gpu.sh builds one that "
      "does (docs/adding-a-device.md); `cobra-worker describe --table \"NVIDIA L4\"` describes a GPU by its data "
      "sheet"));
}

bool DeviceIsBroken() { return false; }
void FreeDeviceMemory(const Execution& execution) {}
bool HasKernel(graph::Op op) { return false; }

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(const graph::Graph& graph, uint64_t seed,
                                                           const Execution& execution) {
  return NoLibTorch();
}

Executor::~Executor() = default;
absl::Status Executor::Run() { return NoLibTorch(); }
RegionHooks Executor::Hooks() { return {}; }
absl::Status Executor::failure() const { return NoLibTorch(); }
absl::Status Executor::RunChecked() { return NoLibTorch(); }
absl::StatusOr<int64_t> Executor::PeakMemoryBytes() { return NoLibTorch(); }
absl::StatusOr<std::vector<double>> Executor::RunProfiled(const ClockNs& now_ns) { return NoLibTorch(); }
absl::Status Executor::SetTensor(graph::ValueRef ref, absl::Span<const float> values) { return NoLibTorch(); }
absl::StatusOr<std::vector<std::vector<float>>> Executor::RunForOutputs() { return NoLibTorch(); }
absl::Status Executor::SetValues(graph::ValueRef ref, absl::Span<const double> values) { return NoLibTorch(); }
absl::StatusOr<std::vector<std::vector<double>>> Executor::RunForValues() { return NoLibTorch(); }

}  // namespace cobra::worker
