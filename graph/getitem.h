// The text form of an index in getitem and setitem: "0, :, None, ..., 2:4, [0, 2], T0", where T0 is
// the first tensor among the indices.
#ifndef COBRA_GRAPH_GETITEM_H_
#define COBRA_GRAPH_GETITEM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/types.h"

namespace cobra::graph {

struct IndexItem {
  enum class Kind { kInt, kSlice, kEllipsis, kNone, kBool, kList, kTensor };
  Kind kind = Kind::kInt;
  int64_t value = 0;                         // kInt, kBool; kTensor: its index
  std::optional<int64_t> start, stop, step;  // kSlice
  Shape list_shape;                          // kList: shape of the nested lists
  // kList: its smallest and largest number; absent for an empty list
  std::optional<int64_t> least, most;
};
using IndexList = std::vector<IndexItem>;

absl::StatusOr<IndexList> ParseIndex(absl::string_view text);

// Whether an index without tensors copies what it selects: if it contains a list, True or False.
inline bool Gathers(const std::string& text) {
  // ", " separates items, so a bracket can only open a list; None is the only other word.
  return text.find_first_of("[TF") != std::string::npos;
}

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_GETITEM_H_
