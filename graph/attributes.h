// Attributes of one operator call: the arguments that are not tensors, under PyTorch's own names.
#ifndef COBRA_GRAPH_ATTRIBUTES_H_
#define COBRA_GRAPH_ATTRIBUTES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
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

// "(2,2)", "1e-05", "True", "None", "'nearest'": Python's spelling, without blanks.
std::string AttributeText(const AttributeValue& value);

// A small ordered map; order is that of ops.def after GraphBuilder::Add. Copies share their entries
// until one of them changes: most calls of a network are copies of others (GraphBuilder::Append).
class Attributes {
 public:
  using Entry = std::pair<std::string, AttributeValue>;
  Attributes() = default;
  Attributes(std::initializer_list<Entry> entries) : entries_(std::make_shared<Entries>(entries)) {}

  void Set(absl::string_view name, AttributeValue value);  // replaces
  // REQUIRES: no attribute of that name exists.
  void Append(absl::string_view name, AttributeValue value) { Own().emplace_back(std::string(name), std::move(value)); }
  void Reserve(size_t n) { Own().reserve(n); }
  const AttributeValue* Find(absl::string_view name) const;
  // The value, or `fallback` if the attribute is absent, None, or of another type (int converts to
  // double and to a one-element list).
  int64_t Int(absl::string_view name, int64_t fallback = 0) const;
  double Double(absl::string_view name, double fallback = 0) const;
  bool Bool(absl::string_view name, bool fallback = false) const;
  std::string String(absl::string_view name, absl::string_view fallback = "") const;
  std::vector<int64_t> Ints(absl::string_view name) const;  // empty if absent
  // The same without a copy; valid until the attributes change.
  absl::Span<const int64_t> IntSpan(absl::string_view name) const;

  bool empty() const { return size() == 0; }
  size_t size() const { return entries_ == nullptr ? 0 : entries_->size(); }
  const Entry* begin() const { return entries_ == nullptr ? nullptr : entries_->data(); }
  const Entry* end() const { return begin() + size(); }
  friend bool operator==(const Attributes& a, const Attributes& b) {
    return a.entries_ == b.entries_ || std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  // Whether one is a copy of the other and neither has changed since.
  bool SharesEntriesWith(const Attributes& other) const { return entries_ == other.entries_; }

 private:
  using Entries = std::vector<Entry>;
  Entries& Own();  // not shared with any copy

  std::shared_ptr<Entries> entries_;  // null: none
};

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_ATTRIBUTES_H_
