#include "model/predict/as_run/half_precision.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/user_error.h"
#include "graph/builder/builder.h"

namespace cobra::predict {
namespace {

using graph::ValueRef;

class Conversion {
 public:
  Conversion(const graph::Graph& graph, graph::DType half) : graph_(graph), half_(half) {}

  std::optional<graph::Graph> Run() {
    builder_.AddTensorsOf(graph_, [this](ValueRef ref) { return TypeOf(ref); });
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (!AddCall(static_cast<int32_t>(i))) return std::nullopt;
    }
    return std::move(builder_).Build(std::vector<ValueRef>(graph_.outputs().begin(), graph_.outputs().end()));
  }

 private:
  graph::TensorType TypeOf(ValueRef ref) const {
    graph::TensorType type = graph_.TypeOf(ref);
    if (type.dtype == half_) type.dtype = graph::DType::float32;
    return type;
  }

  // Nodes and tensors keep their numbers, so that references do.
  bool AddCall(int32_t index) {
    const graph::Node& call = graph_.nodes()[static_cast<size_t>(index)];
    graph::Attributes attributes = call.attributes;
    const std::string half(graph::DTypeName(half_)), full(graph::DTypeName(graph::DType::float32));
    for (const auto& [name, value] : call.attributes) {
      if (const auto* text = std::get_if<std::string>(&value); text != nullptr && *text == half)
        attributes.Set(name, full);
    }
    const auto added = builder_.Add(call.op, std::move(attributes), call.inputs, call.origin, call.inplace);
    return added.ok() && *added == index;
  }

  const graph::Graph& graph_;
  const graph::DType half_;
  graph::GraphBuilder builder_;
};

}  // namespace

absl::Status CheckPrecision(const graph::Graph& graph, const TargetSpec& spec) {
  for (const graph::NamedTensor& parameter : graph.parameters()) {
    const graph::DType dtype = parameter.type.dtype;
    if ((dtype != graph::DType::float16 && dtype != graph::DType::bfloat16) ||
        graph::DTypeName(dtype) == spec.precision)
      continue;
    return UserError(
        Diagnostic::Kind::kUsage,
        absl::StrCat("the model's weights are ", graph::DTypeName(dtype), "; ", spec.name, " runs ", spec.precision),
        absl::StrCat("leave .", dtype == graph::DType::float16 ? "half" : "bfloat16",
                     "() out, or name a target of that precision"));
  }
  return absl::OkStatus();
}

std::optional<graph::Graph> InFloat32(const graph::Graph& graph, absl::string_view precision) {
  for (const graph::DType half : {graph::DType::bfloat16, graph::DType::float16}) {
    if (graph::DTypeName(half) != precision) continue;
    const bool has_it =
        absl::c_any_of(graph.parameters(), [half](const graph::NamedTensor& p) { return p.type.dtype == half; });
    if (has_it) return Conversion(graph, half).Run();
  }
  return std::nullopt;
}

}  // namespace cobra::predict
