#include "model/text/canonical_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/cost.h"

namespace cobra::text {
namespace {

void AppendInputs(const graph::Graph& graph, const graph::Node& node, const graph::OpInfo& info, std::string* text) {
  const int named = static_cast<int>(info.inputs.size());
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    const graph::OpInputSpec& spec = info.inputs[std::min(i, named - 1)];
    // A list of tensors repeats its name: cat(tensors=...,tensors=...).
    absl::StrAppend(text, spec.name, "=",
                    node.inputs[i].is_none() ? "None" : graph::TypeText(graph.TypeOf(node.inputs[i])), ",");
  }
}

// Whether the attribute has a say in what runs at inference.
bool HasASay(const graph::Node& node, absl::string_view name, const graph::AttributeValue& value) {
  switch (node.op) {
    case graph::Op::embedding:
      if (name == "norm_type") return node.attributes.Find("max_norm") != nullptr;
      return name != "padding_idx" && name != "scale_grad_by_freq" && name != "sparse";
    case graph::Op::embedding_bag: return name != "scale_grad_by_freq" && name != "sparse";
    case graph::Op::interpolate:
      return name != "recompute_scale_factor" && (name != "antialias" || value == graph::AttributeValue(true));
    default: return true;
  }
}

void AppendAttribute(const graph::Node& node, absl::string_view name, const graph::AttributeValue& value,
                     std::string* text) {
  if (!HasASay(node, name, value)) return;
  if (node.op == graph::Op::interpolate &&
      name == "scale_factor") {  // the same kernel as for the size that it comes to
    const graph::Shape& shape = node.outputs[0].shape;
    const std::vector<int64_t> size(shape.begin() + std::min<size_t>(2, shape.size()), shape.end());
    absl::StrAppend(text, "size=", graph::AttributeText(size), ",");
    return;
  }
  absl::StrAppend(text, name, "=", graph::IsForTraining(node.op, name) ? "0.0" : graph::AttributeText(value), ",");
}

}  // namespace

std::string CanonicalText(const graph::Graph& graph, int32_t index) {
  const graph::Node& node = graph.nodes()[index];
  std::string text = absl::StrCat(graph::OpName(node.op), "(");
  AppendInputs(graph, node, graph::GetOpInfo(node.op), &text);
  for (const auto& [name, value] : node.attributes) AppendAttribute(node, name, value, &text);
  if (node.inplace) absl::StrAppend(&text, "inplace=True,");
  if (text.back() == ',') text.pop_back();
  absl::StrAppend(&text, ")->");
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ";", graph::TypeText(node.outputs[i]));
  }
  const graph::NodeCost cost = graph::CostOf(graph, index);
  absl::StrAppend(&text, "#macs=", cost.macs, ",read_bytes=", cost.input_bytes, ",weight_bytes=", cost.weight_bytes,
                  ",write_bytes=", cost.output_bytes);
  return text;
}

}  // namespace cobra::text
