// The handlers that operators.def names, by family: ops_activation.cc, ops_attention.cc,
// ops_binary.cc, ops_convolution.cc, ops_copy.cc, ops_getitem.cc, ops_index.cc, ops_loss.cc,
// ops_norm.cc, ops_pool.cc, ops_product.cc, ops_recurrent.cc, ops_reduction.cc, ops_resize.cc,
// ops_unary.cc, ops_view.cc. A handler adds the nodes of a call and returns the names of the call's
// outputs; Unimplemented where a form of the call cannot be written.
#ifndef COBRA_EXPORT_ONNX_HANDLERS_H_
#define COBRA_EXPORT_ONNX_HANDLERS_H_

#include <string>

#include "absl/status/statusor.h"
#include "export/onnx/call_writer.h"

namespace cobra::exporting {

using Handler = absl::StatusOr<Names> (*)(CallWriter& c);

absl::StatusOr<Names> WriteAdaptiveAvgPool(CallWriter& c);
absl::StatusOr<Names> WriteAdaptiveMaxPool(CallWriter& c);
absl::StatusOr<Names> WriteAddcmul(CallWriter& c);
absl::StatusOr<Names> WriteAddmm(CallWriter& c);
absl::StatusOr<Names> WriteAddr(CallWriter& c);
absl::StatusOr<Names> WriteAffineGrid(CallWriter& c);
absl::StatusOr<Names> WriteAngle(CallWriter& c);
absl::StatusOr<Names> WriteAnyAll(CallWriter& c);
absl::StatusOr<Names> WriteArgReduce(CallWriter& c);
absl::StatusOr<Names> WriteArithmetic(CallWriter& c);
absl::StatusOr<Names> WriteAsStrided(CallWriter& c);
absl::StatusOr<Names> WriteAtLeast(CallWriter& c);
absl::StatusOr<Names> WriteAvgPool(CallWriter& c);
absl::StatusOr<Names> WriteBatchNorm(CallWriter& c);
absl::StatusOr<Names> WriteBilinear(CallWriter& c);
absl::StatusOr<Names> WriteBinary(CallWriter& c);
absl::StatusOr<Names> WriteBinaryCrossEntropy(CallWriter& c);
absl::StatusOr<Names> WriteBitwise(CallWriter& c);
absl::StatusOr<Names> WriteBlockDiag(CallWriter& c);
absl::StatusOr<Names> WriteBroadcastTensors(CallWriter& c);
absl::StatusOr<Names> WriteBucketize(CallWriter& c);
absl::StatusOr<Names> WriteByElements(CallWriter& c);
absl::StatusOr<Names> WriteCartesianProd(CallWriter& c);
absl::StatusOr<Names> WriteCast(CallWriter& c);
absl::StatusOr<Names> WriteCat(CallWriter& c);
absl::StatusOr<Names> WriteCdist(CallWriter& c);
absl::StatusOr<Names> WriteChannelShuffle(CallWriter& c);
absl::StatusOr<Names> WriteClamp(CallWriter& c);
absl::StatusOr<Names> WriteClassLoss(CallWriter& c);
absl::StatusOr<Names> WriteCombinations(CallWriter& c);
absl::StatusOr<Names> WriteComparison(CallWriter& c);
absl::StatusOr<Names> WriteConvTbc(CallWriter& c);
absl::StatusOr<Names> WriteConvolution(CallWriter& c);
absl::StatusOr<Names> WriteCopy(CallWriter& c);
absl::StatusOr<Names> WriteCosineSimilarity(CallWriter& c);
absl::StatusOr<Names> WriteCountNonzero(CallWriter& c);
absl::StatusOr<Names> WriteCreated(CallWriter& c);
absl::StatusOr<Names> WriteCross(CallWriter& c);
absl::StatusOr<Names> WriteCumsum(CallWriter& c);
absl::StatusOr<Names> WriteDequantize(CallWriter& c);
absl::StatusOr<Names> WriteDet(CallWriter& c);
absl::StatusOr<Names> WriteDiag(CallWriter& c);
absl::StatusOr<Names> WriteDiagEmbed(CallWriter& c);
absl::StatusOr<Names> WriteDiagonalScatter(CallWriter& c);
absl::StatusOr<Names> WriteDiff(CallWriter& c);
absl::StatusOr<Names> WriteDist(CallWriter& c);
absl::StatusOr<Names> WriteDistanceLoss(CallWriter& c);
absl::StatusOr<Names> WriteDivision(CallWriter& c);
absl::StatusOr<Names> WriteDropout(CallWriter& c);
absl::StatusOr<Names> WriteEinsum(CallWriter& c);
absl::StatusOr<Names> WriteElu(CallWriter& c);
absl::StatusOr<Names> WriteEmbedding(CallWriter& c);
absl::StatusOr<Names> WriteEmbeddingBag(CallWriter& c);
absl::StatusOr<Names> WriteExpand(CallWriter& c);
absl::StatusOr<Names> WriteExtreme(CallWriter& c);
absl::StatusOr<Names> WriteEye(CallWriter& c);
absl::StatusOr<Names> WriteFakeQuantize(CallWriter& c);
absl::StatusOr<Names> WriteFill(CallWriter& c);
absl::StatusOr<Names> WriteFillDiagonal(CallWriter& c);
absl::StatusOr<Names> WriteFlatten(CallWriter& c);
absl::StatusOr<Names> WriteFlip(CallWriter& c);
absl::StatusOr<Names> WriteFold(CallWriter& c);
absl::StatusOr<Names> WriteFunction(CallWriter& c);
absl::StatusOr<Names> WriteGather(CallWriter& c);
absl::StatusOr<Names> WriteGaussianNll(CallWriter& c);
absl::StatusOr<Names> WriteGelu(CallWriter& c);
absl::StatusOr<Names> WriteGetItem(CallWriter& c);
absl::StatusOr<Names> WriteGlu(CallWriter& c);
absl::StatusOr<Names> WriteGridSample(CallWriter& c);
absl::StatusOr<Names> WriteGroupNorm(CallWriter& c);
absl::StatusOr<Names> WriteGroupedMm(CallWriter& c);
absl::StatusOr<Names> WriteGruCell(CallWriter& c);
absl::StatusOr<Names> WriteHardsigmoid(CallWriter& c);
absl::StatusOr<Names> WriteHardswish(CallWriter& c);
absl::StatusOr<Names> WriteHardtanh(CallWriter& c);
absl::StatusOr<Names> WriteIndexPut(CallWriter& c);
absl::StatusOr<Names> WriteIndexRows(CallWriter& c);
absl::StatusOr<Names> WriteIndexSelect(CallWriter& c);
absl::StatusOr<Names> WriteInner(CallWriter& c);
absl::StatusOr<Names> WriteInstanceNorm(CallWriter& c);
absl::StatusOr<Names> WriteInterpolate(CallWriter& c);
absl::StatusOr<Names> WriteIsClose(CallWriter& c);
absl::StatusOr<Names> WriteIsIn(CallWriter& c);
absl::StatusOr<Names> WriteKlDiv(CallWriter& c);
absl::StatusOr<Names> WriteKron(CallWriter& c);
absl::StatusOr<Names> WriteKthValue(CallWriter& c);
absl::StatusOr<Names> WriteLayerNorm(CallWriter& c);
absl::StatusOr<Names> WriteLeakyRelu(CallWriter& c);
absl::StatusOr<Names> WriteLerp(CallWriter& c);
absl::StatusOr<Names> WriteLinear(CallWriter& c);
absl::StatusOr<Names> WriteLocalResponseNorm(CallWriter& c);
absl::StatusOr<Names> WriteLogSigmoid(CallWriter& c);
absl::StatusOr<Names> WriteLogic(CallWriter& c);
absl::StatusOr<Names> WriteLogsumexp(CallWriter& c);
absl::StatusOr<Names> WriteLpPool(CallWriter& c);
absl::StatusOr<Names> WriteLstmCell(CallWriter& c);
absl::StatusOr<Names> WriteMarginLoss(CallWriter& c);
absl::StatusOr<Names> WriteMaskedFill(CallWriter& c);
absl::StatusOr<Names> WriteMaskedScatter(CallWriter& c);
absl::StatusOr<Names> WriteMatMul(CallWriter& c);
absl::StatusOr<Names> WriteMatrixPower(CallWriter& c);
absl::StatusOr<Names> WriteMaxMin(CallWriter& c);
absl::StatusOr<Names> WriteMaxPool(CallWriter& c);
absl::StatusOr<Names> WriteMaxUnpool(CallWriter& c);
absl::StatusOr<Names> WriteMean(CallWriter& c);
absl::StatusOr<Names> WriteMeshgrid(CallWriter& c);
absl::StatusOr<Names> WriteMish(CallWriter& c);
absl::StatusOr<Names> WriteMovedim(CallWriter& c);
absl::StatusOr<Names> WriteMultiDot(CallWriter& c);
absl::StatusOr<Names> WriteMultiHeadAttention(CallWriter& c);
absl::StatusOr<Names> WriteMultilabelSoftMargin(CallWriter& c);
absl::StatusOr<Names> WriteNanToNum(CallWriter& c);
absl::StatusOr<Names> WriteNarrow(CallWriter& c);
absl::StatusOr<Names> WriteNorm(CallWriter& c);
absl::StatusOr<Names> WriteNormalize(CallWriter& c);
absl::StatusOr<Names> WriteOneHot(CallWriter& c);
absl::StatusOr<Names> WriteOuter(CallWriter& c);
absl::StatusOr<Names> WritePad(CallWriter& c);
absl::StatusOr<Names> WritePadSequence(CallWriter& c);
absl::StatusOr<Names> WritePairwiseDistance(CallWriter& c);
absl::StatusOr<Names> WritePdist(CallWriter& c);
absl::StatusOr<Names> WritePermute(CallWriter& c);
absl::StatusOr<Names> WritePixelShuffle(CallWriter& c);
absl::StatusOr<Names> WritePixelUnshuffle(CallWriter& c);
absl::StatusOr<Names> WritePoissonNll(CallWriter& c);
absl::StatusOr<Names> WritePower(CallWriter& c);
absl::StatusOr<Names> WritePrelu(CallWriter& c);
absl::StatusOr<Names> WritePut(CallWriter& c);
absl::StatusOr<Names> WriteQuantize(CallWriter& c);
absl::StatusOr<Names> WriteRange(CallWriter& c);
absl::StatusOr<Names> WriteRecurrent(CallWriter& c);
absl::StatusOr<Names> WriteRelu(CallWriter& c);
absl::StatusOr<Names> WriteRepeat(CallWriter& c);
absl::StatusOr<Names> WriteRepeatInterleave(CallWriter& c);
absl::StatusOr<Names> WriteReshape(CallWriter& c);
absl::StatusOr<Names> WriteRmsNorm(CallWriter& c);
absl::StatusOr<Names> WriteRnnCell(CallWriter& c);
absl::StatusOr<Names> WriteRoiAlign(CallWriter& c);
absl::StatusOr<Names> WriteRoll(CallWriter& c);
absl::StatusOr<Names> WriteRot90(CallWriter& c);
absl::StatusOr<Names> WriteRunningExtreme(CallWriter& c);
absl::StatusOr<Names> WriteSame(CallWriter& c);
absl::StatusOr<Names> WriteScan(CallWriter& c);
absl::StatusOr<Names> WriteScatter(CallWriter& c);
absl::StatusOr<Names> WriteSdpa(CallWriter& c);
absl::StatusOr<Names> WriteSelect(CallWriter& c);
absl::StatusOr<Names> WriteSelectScatter(CallWriter& c);
absl::StatusOr<Names> WriteSetItem(CallWriter& c);
absl::StatusOr<Names> WriteShrink(CallWriter& c);
absl::StatusOr<Names> WriteSignAndRounding(CallWriter& c);
absl::StatusOr<Names> WriteSilu(CallWriter& c);
absl::StatusOr<Names> WriteSoftmax(CallWriter& c);
absl::StatusOr<Names> WriteSoftplus(CallWriter& c);
absl::StatusOr<Names> WriteSoftsign(CallWriter& c);
absl::StatusOr<Names> WriteSort(CallWriter& c);
absl::StatusOr<Names> WriteSplit(CallWriter& c);
absl::StatusOr<Names> WriteSpread(CallWriter& c);
absl::StatusOr<Names> WriteSqueeze(CallWriter& c);
absl::StatusOr<Names> WriteStack(CallWriter& c);
absl::StatusOr<Names> WriteStacks(CallWriter& c);
absl::StatusOr<Names> WriteSum(CallWriter& c);
absl::StatusOr<Names> WriteSumToSize(CallWriter& c);
absl::StatusOr<Names> WriteTake(CallWriter& c);
absl::StatusOr<Names> WriteTanhshrink(CallWriter& c);
absl::StatusOr<Names> WriteTensordot(CallWriter& c);
absl::StatusOr<Names> WriteTest(CallWriter& c);
absl::StatusOr<Names> WriteThreshold(CallWriter& c);
absl::StatusOr<Names> WriteTopk(CallWriter& c);
absl::StatusOr<Names> WriteTrace(CallWriter& c);
absl::StatusOr<Names> WriteTransposedConvolution(CallWriter& c);
absl::StatusOr<Names> WriteTrapezoid(CallWriter& c);
absl::StatusOr<Names> WriteTriangle(CallWriter& c);
absl::StatusOr<Names> WriteTriangleIndices(CallWriter& c);
absl::StatusOr<Names> WriteTripletLoss(CallWriter& c);
absl::StatusOr<Names> WriteUnbind(CallWriter& c);
absl::StatusOr<Names> WriteUnfold(CallWriter& c);
absl::StatusOr<Names> WriteUnsqueeze(CallWriter& c);
absl::StatusOr<Names> WriteVander(CallWriter& c);
absl::StatusOr<Names> WriteVecdot(CallWriter& c);
absl::StatusOr<Names> WriteWeightNorm(CallWriter& c);
absl::StatusOr<Names> WriteWhere(CallWriter& c);

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
