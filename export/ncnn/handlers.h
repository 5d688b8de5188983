// The handlers that operators.def names, defined in ops_*.cc by family. A handler adds the layers
// of a call and returns the blobs of the call's outputs ("" for one that nobody reads), or
// Unimplemented if this form of the call cannot be written.
#ifndef COBRA_EXPORT_NCNN_HANDLERS_H_
#define COBRA_EXPORT_NCNN_HANDLERS_H_

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "export/ncnn/call_writer.h"

namespace cobra::exporting::ncnn {

using Handler = absl::StatusOr<Names> (*)(CallWriter& c);

#define COBRA_NCNN_WRITTEN(op, handler, note) absl::StatusOr<Names> handler(CallWriter& c);
#include "export/ncnn/operators.def"
#undef COBRA_NCNN_WRITTEN

// The numbers of x, a tensor of `shape`, with its dimensions in another order, as a blob of any
// sizes. In ops_shape.cc.
std::string Ordered(CallWriter& c, const std::string& x, const Ints& shape, const Ints& perm);

}  // namespace cobra::exporting::ncnn

#endif  // COBRA_EXPORT_NCNN_HANDLERS_H_
