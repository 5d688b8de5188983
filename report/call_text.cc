#include "report/call_text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace cobra::report {

std::string ShortType(const graph::TensorType& type) {
  return type.dtype == graph::DType::float32 ? graph::ShapeText(type.shape) : graph::TypeText(type);
}

std::string FirstInput(const graph::Graph& graph, const graph::Node& node) {
  for (const graph::ValueRef& input : node.inputs) {
    if (!input.is_none()) return ShortType(graph.TypeOf(input));
  }
  return "";
}

std::string OutputText(const graph::Node& node) {
  if (node.outputs.empty()) return "";
  const std::string first = ShortType(node.outputs[0]);
  return node.outputs.size() == 1 ? first : absl::StrCat(first, " +", node.outputs.size() - 1);
}

std::optional<absl::string_view> NumberedStem(absl::string_view name) {
  size_t end = name.size();
  while (end > 0 && absl::ascii_isdigit(static_cast<unsigned char>(name[end - 1]))) --end;
  if (end == name.size()) return std::nullopt;
  return name.substr(0, end);
}

std::string SourceLines::Line(const std::string& file, int line) {
  const auto [it, added] = files_.try_emplace(file);
  if (added && text_) {
    if (const std::optional<std::string> text = text_(file)) it->second = absl::StrSplit(*text, '\n');
  }
  if (line < 1 || static_cast<size_t>(line) > it->second.size()) return "";
  return std::string(absl::StripAsciiWhitespace(it->second[static_cast<size_t>(line) - 1]));
}

}  // namespace cobra::report
