// run_graph GRAPH.json TENSORS OUTPUTS: runs a graph on given numbers. TENSORS holds float32 of
// every float input, parameter, buffer and constant, in this order; OUTPUTS gets the graph's
// outputs. For executor_python_test.py.
#include <cstdio>
#include <cstring>

#include "base/file/file.h"
#include "base/status_macros.h"
#include "graph/form/json.h"
#include "worker/execute/executor.h"

namespace cobra::worker {
namespace {

absl::Status RunGraph(char** argv) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(argv[1]));
  COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, graph::GraphFromJson(text));
  COBRA_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(argv[2]));
  ConfigureLibTorch(1);
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor, Executor::Create(graph, 1));
  size_t at = 0;
  const auto set_all = [&](absl::Span<const graph::NamedTensor> tensors,
                           graph::ValueRef (*ref)(int32_t)) -> absl::Status {
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].type.dtype != graph::DType::float32) continue;
      std::vector<float> values(tensors[i].type.num_elements());
      if (at + values.size() * sizeof(float) > bytes.size()) return absl::InvalidArgumentError("TENSORS is too short");
      std::memcpy(values.data(), bytes.data() + at, values.size() * sizeof(float));
      at += values.size() * sizeof(float);
      COBRA_RETURN_IF_ERROR(executor->SetTensor(ref(static_cast<int32_t>(i)), values));
    }
    return absl::OkStatus();
  };
  COBRA_RETURN_IF_ERROR(set_all(graph.inputs(), graph::ValueRef::Input));
  COBRA_RETURN_IF_ERROR(set_all(graph.parameters(), graph::ValueRef::Parameter));
  COBRA_RETURN_IF_ERROR(set_all(graph.buffers(), graph::ValueRef::Buffer));
  COBRA_RETURN_IF_ERROR(set_all(graph.constants(), graph::ValueRef::Constant));
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::vector<float>> outputs, executor->RunForOutputs());
  std::string result;
  for (const std::vector<float>& output : outputs) {
    result.append(reinterpret_cast<const char*>(output.data()), output.size() * sizeof(float));
  }
  return WriteFileAtomic(argv[3], result);
}

}  // namespace
}  // namespace cobra::worker

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: run_graph GRAPH.json TENSORS OUTPUTS\n", stderr);
    return 2;
  }
  const absl::Status status = cobra::worker::RunGraph(argv);
  if (!status.ok()) std::fprintf(stderr, "run_graph: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
