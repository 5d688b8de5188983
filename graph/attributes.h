// Attributes of one operator call: the arguments that are not tensors, under PyTorch's own names.
#ifndef COBRA_GRAPH_ATTRIBUTES_H_
#define COBRA_GRAPH_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cobra::graph {

struct NoneValue {
  friend bool operator==(NoneValue, NoneValue) { return true; }
};

using AttributeValue =
    std::variant<NoneValue, bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>>;

// "(2,2)", "1e-05", "True", "None", "'nearest'": Python's own spelling, without blanks.
std::string AttributeText(const AttributeValue& value);

// A small ordered map; order is that of ops.def after GraphBuilder::Add.
class Attributes {
 public:
  using Entry = std::pair<std::string, AttributeValue>;
  Attributes() = default;
  Attributes(std::initializer_list<Entry> entries) : entries_(entries) {}

  void Set(absl::string_view name, AttributeValue value);  // replaces
  // REQUIRES: no attribute of that name exists.
  void Append(absl::string_view name, AttributeValue value) {
    entries_.emplace_back(std::string(name), std::move(value));
  }
  void Reserve(size_t n) { entries_.reserve(n); }
  const AttributeValue* Find(absl::string_view name) const;
  // The value, or `fallback` if the attribute is absent, None, or of another type (int converts to double and to a
  // one-element list).
  int64_t Int(absl::string_view name, int64_t fallback = 0) const;
  double Double(absl::string_view name, double fallback = 0) const;
  bool Bool(absl::string_view name, bool fallback = false) const;
  std::string String(absl::string_view name, absl::string_view fallback = "") const;
  std::vector<int64_t> Ints(absl::string_view name) const;  // empty if absent
  // The same without a copy; as long as nothing changes.
  absl::Span<const int64_t> IntSpan(absl::string_view name) const;

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  std::vector<Entry>::const_iterator begin() const { return entries_.begin(); }
  std::vector<Entry>::const_iterator end() const { return entries_.end(); }
  friend bool operator==(const Attributes& a, const Attributes& b) { return a.entries_ == b.entries_; }

 private:
  friend class GraphBuilder;  // puts the entries into the order of ops.def
  std::vector<Entry> entries_;
};

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_ATTRIBUTES_H_
