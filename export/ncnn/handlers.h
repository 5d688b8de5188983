// The handlers that operators.def names, by family: ops_activation.cc, ops_binary.cc,
// ops_convolution.cc, ops_einsum.cc, ops_norm.cc, ops_part.cc, ops_pool.cc, ops_product.cc,
// ops_reduction.cc, ops_shape.cc. A handler adds the layers of a call and returns the blobs of the
// call's outputs, "" for one that nobody reads; Unimplemented where a form of the call cannot be
// written.
#ifndef COBRA_EXPORT_NCNN_HANDLERS_H_
#define COBRA_EXPORT_NCNN_HANDLERS_H_

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "export/ncnn/call_writer.h"

namespace cobra::exporting::ncnn {

using Handler = absl::StatusOr<Names> (*)(CallWriter& c);

absl::StatusOr<Names> WriteActivation(CallWriter& c);
absl::StatusOr<Names> WriteAdaptiveAvg1d(CallWriter& c);
absl::StatusOr<Names> WriteAdaptiveAvg2d(CallWriter& c);
absl::StatusOr<Names> WriteAdaptiveAvg3d(CallWriter& c);
absl::StatusOr<Names> WriteAdaptiveMax1d(CallWriter& c);
absl::StatusOr<Names> WriteAdaptiveMax2d(CallWriter& c);
absl::StatusOr<Names> WriteAdaptiveMax3d(CallWriter& c);
absl::StatusOr<Names> WriteAddmm(CallWriter& c);
absl::StatusOr<Names> WriteAvgPool1d(CallWriter& c);
absl::StatusOr<Names> WriteAvgPool2d(CallWriter& c);
absl::StatusOr<Names> WriteAvgPool3d(CallWriter& c);
absl::StatusOr<Names> WriteBatchNorm(CallWriter& c);
absl::StatusOr<Names> WriteBinary(CallWriter& c);
absl::StatusOr<Names> WriteCat(CallWriter& c);
absl::StatusOr<Names> WriteChannelShuffle(CallWriter& c);
absl::StatusOr<Names> WriteClamp(CallWriter& c);
absl::StatusOr<Names> WriteConvolution1d(CallWriter& c);
absl::StatusOr<Names> WriteConvolution2d(CallWriter& c);
absl::StatusOr<Names> WriteConvolution3d(CallWriter& c);
absl::StatusOr<Names> WriteCumsum(CallWriter& c);
absl::StatusOr<Names> WriteEinsum(CallWriter& c);
absl::StatusOr<Names> WriteEmbedding(CallWriter& c);
absl::StatusOr<Names> WriteExpand(CallWriter& c);
absl::StatusOr<Names> WriteFlatten(CallWriter& c);
absl::StatusOr<Names> WriteFlip(CallWriter& c);
absl::StatusOr<Names> WriteGetitem(CallWriter& c);
absl::StatusOr<Names> WriteGlu(CallWriter& c);
absl::StatusOr<Names> WriteGroupNorm(CallWriter& c);
absl::StatusOr<Names> WriteInstanceNorm(CallWriter& c);
absl::StatusOr<Names> WriteInterpolate(CallWriter& c);
absl::StatusOr<Names> WriteLayerNorm(CallWriter& c);
absl::StatusOr<Names> WriteLinear(CallWriter& c);
absl::StatusOr<Names> WriteLocalResponseNorm(CallWriter& c);
absl::StatusOr<Names> WriteMaskedFill(CallWriter& c);
absl::StatusOr<Names> WriteMatMul(CallWriter& c);
absl::StatusOr<Names> WriteMaxPool1d(CallWriter& c);
absl::StatusOr<Names> WriteMaxPool2d(CallWriter& c);
absl::StatusOr<Names> WriteMaxPool3d(CallWriter& c);
absl::StatusOr<Names> WriteMultiHeadAttention(CallWriter& c);
absl::StatusOr<Names> WriteNarrow(CallWriter& c);
absl::StatusOr<Names> WriteNorm(CallWriter& c);
absl::StatusOr<Names> WriteNormalize(CallWriter& c);
absl::StatusOr<Names> WritePad(CallWriter& c);
absl::StatusOr<Names> WritePermute(CallWriter& c);
absl::StatusOr<Names> WritePixelShuffle(CallWriter& c);
absl::StatusOr<Names> WritePixelUnshuffle(CallWriter& c);
absl::StatusOr<Names> WritePrelu(CallWriter& c);
absl::StatusOr<Names> WriteReduction(CallWriter& c);
absl::StatusOr<Names> WriteReshape(CallWriter& c);
absl::StatusOr<Names> WriteRmsNorm(CallWriter& c);
absl::StatusOr<Names> WriteRoll(CallWriter& c);
absl::StatusOr<Names> WriteRound(CallWriter& c);
absl::StatusOr<Names> WriteSame(CallWriter& c);
absl::StatusOr<Names> WriteSdpa(CallWriter& c);
absl::StatusOr<Names> WriteSelect(CallWriter& c);
absl::StatusOr<Names> WriteSoftmax(CallWriter& c);
absl::StatusOr<Names> WriteSoftplus(CallWriter& c);
absl::StatusOr<Names> WriteSplit(CallWriter& c);
absl::StatusOr<Names> WriteStack(CallWriter& c);
absl::StatusOr<Names> WriteTransposed1d(CallWriter& c);
absl::StatusOr<Names> WriteTransposed2d(CallWriter& c);
absl::StatusOr<Names> WriteTransposed3d(CallWriter& c);
absl::StatusOr<Names> WriteUnary(CallWriter& c);
absl::StatusOr<Names> WriteUnbind(CallWriter& c);
absl::StatusOr<Names> WriteVariance(CallWriter& c);

// The numbers of x, a tensor of `shape`, with its dimensions in another order; of whatever sizes.
// In ops_shape.cc.
std::string Ordered(CallWriter& c, const std::string& x, const Ints& shape, const Ints& perm);

}  // namespace cobra::exporting::ncnn

#endif  // COBRA_EXPORT_NCNN_HANDLERS_H_
