#include "export/call_arguments.h"

#include <algorithm>
#include <variant>

namespace cobra::exporting {

bool CallArguments::HasValue(absl::string_view name) const {
  const graph::AttributeValue* value = node_.attributes.Find(name);
  return value != nullptr && !std::holds_alternative<graph::NoneValue>(*value);
}

Ints CallArguments::IntList(absl::string_view name, int n, int64_t fallback) const {
  Ints values = IntList(name);
  if (values.empty()) values.assign(static_cast<size_t>(n), fallback);
  if (values.size() == 1) values.assign(static_cast<size_t>(n), values[0]);
  return values;
}

double CallArguments::Double(absl::string_view name, double fallback) const {
  const graph::AttributeValue* value = node_.attributes.Find(name);
  if (value == nullptr) return fallback;
  if (const auto* b = std::get_if<bool>(value)) return *b ? 1 : 0;
  if (const auto* i = std::get_if<int64_t>(value)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(value)) return *d;
  return fallback;
}

int CallArguments::WindowDims() const {
  const absl::string_view name = graph::OpName(op());
  return name[name.size() - 2] - '0';
}

int64_t CallArguments::Dim(absl::string_view name, int64_t fallback, int rank) const {
  const int64_t dim = Int(name, fallback);
  return dim < 0 ? dim + std::max(rank, 1) : dim;
}

}  // namespace cobra::exporting
