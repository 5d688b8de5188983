#include "model/text/canonical_attributes.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"

namespace cobra::text {
namespace {

using graph::AttributeValue;
using Entry = graph::Attributes::Entry;

bool IsOneOf(absl::string_view name, std::initializer_list<absl::string_view> names) {
  return absl::c_linear_search(names, name);
}

int64_t RankOf(const graph::Graph& graph, const graph::Node& node, absl::string_view op) {
  if (node.inputs.empty() || node.inputs[0].is_none()) return 0;
  const auto rank = static_cast<int64_t>(graph.TypeOf(node.inputs[0]).shape.size());
  return rank + (IsOneOf(op, {"unsqueeze", "stack"}) ? 1 : 0);
}

// A dimension counted from the front; the last one as -1 if `last_is_minus_one`.
int64_t CountedDimension(int64_t dimension, int64_t rank, bool last_is_minus_one) {
  if (dimension < 0) dimension += rank;
  return last_is_minus_one && dimension == rank - 1 ? -1 : dimension;
}

void CountDimensions(absl::string_view op, int64_t rank, Entry* entry) {
  auto& [name, value] = *entry;
  if (auto* one = std::get_if<int64_t>(&value);
      one != nullptr && IsOneOf(name, {"dim", "dim0", "dim1", "start_dim", "end_dim"})) {
    const bool last = name == "end_dim" || IsOneOf(op, {"softmax", "log_softmax", "softmin", "normalize"});
    *one = CountedDimension(*one, rank, last);
  } else if (auto* many = std::get_if<std::vector<int64_t>>(&value);
             many != nullptr && IsOneOf(name, {"dim", "dims"})) {
    const bool last = name == "dim" && many->size() == 1;  // the mean over the last dimension
    for (int64_t& dimension : *many) dimension = CountedDimension(dimension, rank, last);
  }
}

// "same" and "valid" in numbers, where both sides get as many.
void WritePadding(const graph::Graph& graph, const graph::Node& node, Entry* entry) {
  const auto* word = std::get_if<std::string>(&entry->second);
  if (word == nullptr || node.inputs.size() < 2 || node.inputs[1].is_none()) return;
  const graph::Shape& weight = graph.TypeOf(node.inputs[1]).shape;
  const std::vector<int64_t> dilation = node.attributes.Ints("dilation");
  std::vector<int64_t> padding;
  for (size_t i = 2; i < weight.size(); ++i) {
    const int64_t spread = i - 2 < dilation.size() ? dilation[i - 2] : 1;
    const int64_t both = *word == "same" ? spread * (weight[i] - 1) : 0;
    if (both % 2 != 0) return;
    padding.push_back(both / 2);
  }
  entry->second = std::move(padding);
}

// Whether the call is the same without it.
bool IsWrittenDefault(absl::string_view op, const Entry& entry) {
  const auto& [name, value] = entry;
  if (name == "return_indices") return value == AttributeValue(false);
  return op == "pad" && name == "value" && (value == AttributeValue(0.0) || value == AttributeValue(int64_t{0}));
}

bool NeedsAlignCorners(absl::string_view op, const graph::Node& node, const Entry& entry) {
  if (op != "interpolate" || entry.first != "mode" || node.attributes.Find("align_corners") != nullptr) return false;
  const auto* mode = std::get_if<std::string>(&entry.second);
  return mode != nullptr && IsOneOf(*mode, {"linear", "bilinear", "bicubic", "trilinear"});
}

}  // namespace

std::vector<Entry> CanonicalAttributes(const graph::Graph& graph, const graph::Node& node) {
  const absl::string_view op = graph::OpName(node.op);
  const int64_t rank = RankOf(graph, node, op);
  std::vector<Entry> entries;
  for (Entry entry : node.attributes) {
    if (IsWrittenDefault(op, entry)) continue;
    CountDimensions(op, rank, &entry);
    if (entry.first == "padding") WritePadding(graph, node, &entry);
    if (const auto* correction = std::get_if<int64_t>(&entry.second);
        entry.first == "correction" && correction != nullptr && (*correction == 0 || *correction == 1)) {
      entry = {"unbiased", AttributeValue(*correction == 1)};
    }
    const bool needs_align_corners = NeedsAlignCorners(op, node, entry);
    entries.push_back(std::move(entry));
    if (needs_align_corners) entries.emplace_back("align_corners", AttributeValue(false));
  }
  if (op == "transpose" && entries.size() == 2 && entries[0].second.index() == entries[1].second.index() &&
      std::get_if<int64_t>(&entries[0].second) != nullptr &&
      std::get<int64_t>(entries[0].second) > std::get<int64_t>(entries[1].second)) {
    std::swap(entries[0].second, entries[1].second);
  }
  return entries;
}

}  // namespace cobra::text
