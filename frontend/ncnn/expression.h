// Sizes that a layer gives as expressions of its inputs' sizes: "*(0w,2),-1" is twice the width of
// input 0, then what is left. The letters are ncnn's: w, h, d and c, of which a blob without that
// dimension has 1. As in ncnn, numbers are int32 or float32, and a result that is not whole is cut
// off. ncnn reads more than the language that it documents (an operator without parentheses,
// letters behind a number); such a text is refused.
#ifndef COBRA_FRONTEND_NCNN_EXPRESSION_H_
#define COBRA_FRONTEND_NCNN_EXPRESSION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/types.h"

namespace cobra::ncnn {

// The numbers of the list, at least one. `blobs`: shapes of the layer's inputs without the batch,
// the outermost dimension first. InvalidArgument for a text that is not of this form or has no
// value; Unimplemented for what ncnn reads differently from version to version.
absl::StatusOr<std::vector<int64_t>> EvaluateSizes(absl::string_view text, absl::Span<const graph::Shape> blobs);

}  // namespace cobra::ncnn

#endif  // COBRA_FRONTEND_NCNN_EXPRESSION_H_
