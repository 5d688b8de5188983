// Parts of tensors: what a basic index selects, and tensors with such a part replaced.
#ifndef COBRA_EXPORT_ONNX_REGION_H_
#define COBRA_EXPORT_ONNX_REGION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "export/onnx/call_writer.h"

namespace cobra::exporting {

// An index tensor, or a list of numbers, in an index.
struct AdvancedIndex {
  size_t dim;         // of what the rest of the index selects
  std::string index;  // int64, or bool
  Shape shape;
  bool is_mask = false;
};

// x[index]: first slices, numbers and new dimensions, then the index tensors.
struct Selection {
  Shape shape;         // before the index tensors
  Ints strides;        // of each of its dimensions among the elements of x
  int64_t offset = 0;  // of its first element
  bool whole = true;   // all of x
  std::vector<AdvancedIndex> advanced;
  Ints starts, ends, steps, axes;  // of the dimensions of x that are not taken whole
  Shape sliced;                    // the shape after these slices
};

// The index tensors are the call's inputs from `first` on.
absl::StatusOr<Selection> SelectionOf(CallWriter& c, const std::string& text, const Shape& shape, size_t first);
// The part of x that the slices, numbers and new dimensions select.
std::string Selected(CallWriter& c, const std::string& x, const Selection& selection);
// Which elements of x these are.
Ints PositionsOf(const Selection& selection);

// x with the elements at `positions` (row-major, each at most once) replaced by those of `value`,
// in the same order. `value` has as many elements, and the type of x.
absl::StatusOr<std::string> WithReplaced(CallWriter& c, const std::string& x, const TensorType& type,
                                         const Ints& positions, const std::string& value);

}  // namespace cobra::exporting

#endif  // COBRA_EXPORT_ONNX_REGION_H_
