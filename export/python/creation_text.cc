#include "export/python/creation_text.h"

#include <cstdint>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "export/python/call_text.h"

namespace cobra::exporting {
namespace {

using graph::Op;

// An int or a double, as the attribute has it.
std::string Number(const graph::Node& node, absl::string_view name, int64_t fallback) {
  const graph::AttributeValue* value = node.attributes.Find(name);
  if (value != nullptr && std::holds_alternative<double>(*value)) return NumberText(std::get<double>(*value));
  return absl::StrCat(node.attributes.Int(name, fallback));
}

bool IsWhole(const graph::Node& node, absl::string_view name) {
  const graph::AttributeValue* value = node.attributes.Find(name);
  return value == nullptr || std::holds_alternative<int64_t>(*value);
}

// The end of a range of so many steps.
std::string End(const graph::Node& node, int64_t steps) {
  if (IsWhole(node, "start") && IsWhole(node, "step"))
    return absl::StrCat(node.attributes.Int("start") + steps * node.attributes.Int("step", 1));
  const double last = steps > 0 ? static_cast<double>(steps) - .5 : 0;  // rounding adds no number
  return NumberText(node.attributes.Double("start") + last * node.attributes.Double("step", 1));
}

// [[0, 0], [0, 0]] as [[0] * 2] * 2.
std::string Zeros(const graph::Shape& shape, graph::DType dtype) {
  std::string text = dtype == graph::DType::bool_ ? "False" : graph::IsIntegral(dtype) ? "0" : "0.0";
  for (size_t i = shape.size(); i-- > 0;) text = absl::StrCat("[", text, "] * ", shape[i]);
  return text;
}

std::vector<std::string> Arguments(const graph::Node& node) {
  const graph::Shape& shape = node.outputs[0].shape;
  const std::string size = TupleText(std::vector<int64_t>(shape.begin(), shape.end()));
  switch (node.op) {
    case Op::full: return {size, Number(node, "fill_value", 0)};
    case Op::tensor: return {Zeros(shape, node.outputs[0].dtype)};
    case Op::arange: return {Number(node, "start", 0), End(node, shape[0]), Number(node, "step", 1)};
    case Op::linspace: return {Number(node, "start", 0), Number(node, "end", 1), absl::StrCat(shape[0])};
    case Op::eye: return {absl::StrCat(shape[0]), absl::StrCat(shape[1])};
    case Op::tril_indices:
    case Op::triu_indices: return {Number(node, "row", 0), Number(node, "col", 0), Number(node, "offset", 0)};
    case Op::randint: return {Number(node, "low", 0), Number(node, "high", 1), size};
    case Op::randperm: return {absl::StrCat(shape[0])};
    default: return {size};
  }
}

}  // namespace

std::string CreationText(const graph::Node& node, absl::string_view function) {
  std::vector<std::string> arguments = Arguments(node);
  arguments.push_back(absl::StrCat("dtype=", DTypeText(node.outputs[0].dtype)));
  return absl::StrCat(function, "(", absl::StrJoin(arguments, ", "), ")");
}

}  // namespace cobra::exporting
