#include "model/text/canonical_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/cost/cost.h"
#include "model/text/canonical_attributes.h"
#include "model/text/tokenizer.h"

namespace cobra::text {
namespace {

// A tensor is one token at least, so those beyond the first kMaxTokens would not be read. (A call
// may have a million, of 64 dimensions each.)
void AppendInputs(const graph::Graph& graph, const graph::Node& node, const graph::OpInfo& info, std::string* text) {
  for (size_t i = 0; i < std::min<size_t>(node.inputs.size(), kMaxTokens); ++i) {
    // A list of tensors repeats the argument's name: cat(tensors=...,tensors=...).
    absl::StrAppend(text, info.input(i).name, "=",
                    node.inputs[i].is_none() ? "None" : graph::TypeText(graph.TypeOf(node.inputs[i])), ",");
  }
}

// The text contains only what changes the call at inference.
void AppendAttribute(const graph::Node& node, const graph::OpInfo& info, absl::string_view name,
                     const graph::AttributeValue& value, std::string* text) {
  const graph::OpAttributeSpec* spec = info.FindAttribute(name);
  switch (spec == nullptr ? graph::AttributeUse::kAlways : spec->use) {
    case graph::AttributeUse::kAlways: break;
    case graph::AttributeUse::kNever: return;
    case graph::AttributeUse::kTraining:
      if (node.attributes.Bool("training")) break;
      absl::StrAppend(text, name, "=0.0,");
      return;
    case graph::AttributeUse::kWhereTrue:
      if (!(value == graph::AttributeValue(true))) return;
      break;
    case graph::AttributeUse::kBeside:
      if (node.attributes.Find(spec->other) == nullptr) return;
      break;
    case graph::AttributeUse::kOutputSize: {  // runs the same kernel as a call with this size
      const graph::Shape& shape = node.outputs[0].shape;
      const std::vector<int64_t> size(shape.begin() + std::min<size_t>(2, shape.size()), shape.end());
      absl::StrAppend(text, spec->other, "=", graph::AttributeText(size), ",");
      return;
    }
  }
  absl::StrAppend(text, name, "=", graph::AttributeText(value), ",");
}

}  // namespace

std::string CanonicalText(const graph::Graph& graph, int32_t index) {
  const graph::Node& node = graph.nodes()[index];
  std::string text = absl::StrCat(graph::OpName(node.op), "(");
  const graph::OpInfo& info = graph::GetOpInfo(node.op);
  AppendInputs(graph, node, info, &text);
  const bool returns_its_argument = graph::IsAlias(graph, node);
  for (const auto& [name, value] : CanonicalAttributes(graph, node)) {
    // So does a dropout at inference, whatever its p.
    AppendAttribute(node, info, name, returns_its_argument && name == "p" ? graph::AttributeValue(0.0) : value, &text);
  }
  if (node.inplace) absl::StrAppend(&text, "inplace=True,");
  if (text.back() == ',') text.pop_back();
  absl::StrAppend(&text, ")->");
  // Of results only the first eight numbers are read, and the words for their types.
  for (size_t i = 0; i < std::min<size_t>(node.outputs.size(), kMaxTokens); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ";", graph::TypeText(node.outputs[i]));
  }
  const graph::NodeCost cost = graph::CostOf(graph, index);
  absl::StrAppend(&text, "#macs=", cost.macs, ",read_bytes=", cost.input_bytes, ",weight_bytes=", cost.weight_bytes,
                  ",write_bytes=", cost.output_bytes);
  return text;
}

}  // namespace cobra::text
