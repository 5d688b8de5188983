#include "server/reader/runtime_support.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"

namespace cobra::server {
namespace {

constexpr size_t kNumOps = static_cast<size_t>(graph::kNumOps);

// Why each operator cannot be written in a form that the runtime reads; null if it can.
using Refusals = std::array<const char*, kNumOps>;

Refusals RefusedByNcnn() {
  Refusals refused;
  refused.fill("ncnn has no layer for it");
#define COBRA_NCNN_WRITTEN(op, handler, note) refused[static_cast<size_t>(graph::Op::op)] = nullptr;
#include "export/ncnn/operators.def"
#undef COBRA_NCNN_WRITTEN
  // Files in int8, which its own tools write and our exporter does not: layers Quantize, Dequantize
  // and Requantize.
  refused[static_cast<size_t>(graph::Op::quantize_per_tensor)] = refused[static_cast<size_t>(graph::Op::dequantize)] =
      nullptr;
  return refused;
}

Refusals RefusedByOnnx() {
  Refusals refused{};
#define COBRA_ONNX_WRITTEN(op, handler, note)
#define COBRA_ONNX_REFUSED(op, reason) refused[static_cast<size_t>(graph::Op::op)] = reason;
#include "export/onnx/operators.def"
#undef COBRA_ONNX_WRITTEN
#undef COBRA_ONNX_REFUSED
  return refused;
}

// What follows only from weights and constants is computed while the network is written.
std::string FirstRefused(const graph::Graph& graph, const Refusals& refusals) {
  std::vector<bool> varies(graph.nodes().size());
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const graph::Node& node = graph.nodes()[i];
    varies[i] = std::any_of(node.inputs.begin(), node.inputs.end(), [&](const graph::ValueRef& input) {
      return input.kind == graph::ValueRef::Kind::kInput ||
             (input.is_node() && varies[static_cast<size_t>(input.index)]);
    });
    const char* why = refusals[static_cast<size_t>(node.op)];
    if (varies[i] && why != nullptr) return absl::StrCat(graph::OpName(node.op), ": ", why);
  }
  return "";
}

}  // namespace

std::string WhyNotRunnable(const graph::Graph& graph, absl::string_view runtime) {
  constexpr size_t kImage = 4;                                            // dimensions
  const absl::string_view family = runtime.substr(0, runtime.find('-'));  // without its version, where it has one
  if (family == "ncnn") {
    static const Refusals* const refusals = new Refusals(RefusedByNcnn());
    for (const graph::NamedTensor& input : graph.inputs()) {
      if (input.type.shape.size() == kImage && input.type.shape[0] > 1)
        return absl::StrCat(input.name, ": a batch of ", input.type.shape[0], ": ncnn runs one sample at a time");
    }
    return FirstRefused(graph, *refusals);
  }
  if (family == "onnxruntime" || family == "openvino") {
    static const Refusals* const refusals = new Refusals(RefusedByOnnx());
    const std::string why = FirstRefused(graph, *refusals);
    return why.empty() ? why : absl::StrCat("cannot be written as ONNX: ", why);
  }
  return "";
}

}  // namespace cobra::server
