// The handlers that operators.def names, defined in ops_*.cc by family, and what they share.
#ifndef COBRA_FRONTEND_TFLITE_HANDLERS_H_
#define COBRA_FRONTEND_TFLITE_HANDLERS_H_

#include "absl/status/status.h"
#include "frontend/tflite/importer.h"

namespace cobra::tflite::handlers {

#define COBRA_TFLITE(name, handler, calls, note) absl::Status handler(Importer& im, const OpCall& call);
#include "frontend/tflite/operators.def"
#undef COBRA_TFLITE

// ---- shared by the families

// How one dimension is padded.
struct Window {
  int64_t out = 0;  // size of the result
  int64_t before = 0, after = 0;
};
// TensorFlow's rule for one spatial dimension; `reach` is the dilated size of the window.
Window WindowOf(schema::Padding padding, int64_t in, int64_t reach, int64_t stride);
// Converts a possibly negative dimension of the file's order; the error names the operator.
absl::StatusOr<int> Axis(Importer& im, const OpCall& call, int64_t axis, int rank);
// Dimension of [batch, channels, height, width] that holds dimension `d` of [batch, height, width,
// channels].
inline int ImageDim(int d) { return d == 0 ? 0 : d == 3 ? 1 : d + 1; }
// Whether the operator is best computed on images: one of its inputs is one, the others have four
// dimensions or are constants.
bool OnImages(const Importer& im, const OpCall& call);

}  // namespace cobra::tflite::handlers

#endif  // COBRA_FRONTEND_TFLITE_HANDLERS_H_
