// The handlers that operators.def names, by family: ops_convolution.cc, ops_pool.cc,
// ops_elementwise.cc, ops_reduce.cc, ops_shape.cc, ops_slice.cc.
#ifndef COBRA_FRONTEND_TFLITE_HANDLERS_H_
#define COBRA_FRONTEND_TFLITE_HANDLERS_H_

#include "absl/status/status.h"
#include "frontend/tflite/importer.h"

namespace cobra::tflite::handlers {

absl::Status AddN(Importer& im, const OpCall& call);
absl::Status ArgReduce(Importer& im, const OpCall& call);
absl::Status BatchMatMul(Importer& im, const OpCall& call);
absl::Status BatchToSpace(Importer& im, const OpCall& call);
absl::Status Binary(Importer& im, const OpCall& call);
absl::Status BroadcastTo(Importer& im, const OpCall& call);
absl::Status Cast(Importer& im, const OpCall& call);
absl::Status Concatenation(Importer& im, const OpCall& call);
absl::Status Conv2d(Importer& im, const OpCall& call);
absl::Status Cumsum(Importer& im, const OpCall& call);
absl::Status DepthToSpace(Importer& im, const OpCall& call);
absl::Status Dequantize(Importer& im, const OpCall& call);
absl::Status EmbeddingLookup(Importer& im, const OpCall& call);
absl::Status ExpandDims(Importer& im, const OpCall& call);
absl::Status FullyConnected(Importer& im, const OpCall& call);
absl::Status Gather(Importer& im, const OpCall& call);
absl::Status Gelu(Importer& im, const OpCall& call);
absl::Status L2Normalization(Importer& im, const OpCall& call);
absl::Status LeakyRelu(Importer& im, const OpCall& call);
absl::Status LocalResponseNormalization(Importer& im, const OpCall& call);
absl::Status Pack(Importer& im, const OpCall& call);
absl::Status Pad(Importer& im, const OpCall& call);
absl::Status Pool(Importer& im, const OpCall& call);
absl::Status Prelu(Importer& im, const OpCall& call);
absl::Status Quantize(Importer& im, const OpCall& call);
absl::Status Reduce(Importer& im, const OpCall& call);
absl::Status Reshape(Importer& im, const OpCall& call);
absl::Status Resize(Importer& im, const OpCall& call);
absl::Status Reverse(Importer& im, const OpCall& call);
absl::Status Select(Importer& im, const OpCall& call);
absl::Status ShapeOf(Importer& im, const OpCall& call);
absl::Status Slice(Importer& im, const OpCall& call);
absl::Status Softmax(Importer& im, const OpCall& call);
absl::Status SpaceToBatch(Importer& im, const OpCall& call);
absl::Status SpaceToDepth(Importer& im, const OpCall& call);
absl::Status Split(Importer& im, const OpCall& call);
absl::Status SquaredDifference(Importer& im, const OpCall& call);
absl::Status Squeeze(Importer& im, const OpCall& call);
absl::Status StridedSlice(Importer& im, const OpCall& call);
absl::Status Tile(Importer& im, const OpCall& call);
absl::Status TopK(Importer& im, const OpCall& call);
absl::Status Transpose(Importer& im, const OpCall& call);
absl::Status TransposeConv(Importer& im, const OpCall& call);
absl::Status Unary(Importer& im, const OpCall& call);
absl::Status Unpack(Importer& im, const OpCall& call);

// ---- shared by the families How one dimension is padded.
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
