// The handlers that operators.def names, defined in ops_*.cc by family. A handler adds the nodes of
// a call and returns the names of the call's outputs, or Unimplemented if this form of the call
// cannot be written.
#ifndef COBRA_EXPORT_ONNX_HANDLERS_H_
#define COBRA_EXPORT_ONNX_HANDLERS_H_

#include <string>

#include "absl/status/statusor.h"
#include "export/onnx/call_writer.h"

namespace cobra::exporting {

using Handler = absl::StatusOr<Names> (*)(CallWriter& c);

#define COBRA_ONNX_WRITTEN(op, handler, note) absl::StatusOr<Names> handler(CallWriter& c);
#define COBRA_ONNX_REFUSED(op, reason)
#include "export/onnx/operators.def"
#undef COBRA_ONNX_WRITTEN
#undef COBRA_ONNX_REFUSED

// ---- shared by the families
// (sum of |x|^p over the axes)^(1/p)
std::string VectorNorm(CallWriter& c, const std::string& x, double p, const Ints& axes, bool keep, DType dtype);
// x with each line along `dim` multiplied by a matrix [from, to].
std::string ProductAlong(CallWriter& c, const std::string& x, const std::string& matrix, int rank, int dim);
// The average over windows that cut each spatial dimension of the first input into as many parts as
// the output has.
std::string AreaAverage(CallWriter& c);
// Without the digits after the point.
std::string Truncated(CallWriter& c, const std::string& x);

}  // namespace cobra::exporting

#endif  // COBRA_EXPORT_ONNX_HANDLERS_H_
