// The handlers that layers.def names, by family: ops_source.cc (inputs, weights, what passes blobs
// on), ops_convolution.cc, ops_product.cc, ops_recurrent.cc, ops_pool.cc, ops_norm.cc,
// ops_activation.cc, ops_elementwise.cc, ops_shape.cc, ops_reduce.cc, ops_spectrum.cc,
// ops_detect.cc.
#ifndef COBRA_FRONTEND_NCNN_HANDLERS_H_
#define COBRA_FRONTEND_NCNN_HANDLERS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frontend/ncnn/importer.h"

namespace cobra::ncnn {

// ---- shared by the families
// A product of `in` and `out` numbers with the layer's weight, bias and activation; its first input
// becomes rows of `in`.
struct Product {
  int64_t in = 0, out = 0;
  int bias_key = 1;
  graph::Shape weight_shape;  // in the .bin file
};
absl::Status InnerProductOf(Importer& im, const Layer& layer, const Product& product);
// x as int8; its scale lies in the .bin file.
absl::StatusOr<graph::ValueRef> Quantized(Importer& im, const Layer& layer, graph::ValueRef x);
// The scales that follow the weights of an int8 layer in the .bin file; `term` is its parameter 8.
void SkipInt8Scales(Importer& im, int64_t weight_scales, int64_t term);

namespace handlers {

absl::Status AbsVal(Importer& im, const Layer& layer);
absl::Status ArgMax(Importer& im, const Layer& layer);
absl::Status BatchNorm(Importer& im, const Layer& layer);
absl::Status Bias(Importer& im, const Layer& layer);
absl::Status BinaryOp(Importer& im, const Layer& layer);
absl::Status CELU(Importer& im, const Layer& layer);
absl::Status Cast(Importer& im, const Layer& layer);
absl::Status Clip(Importer& im, const Layer& layer);
absl::Status Concat(Importer& im, const Layer& layer);
absl::Status Convolution(Importer& im, const Layer& layer);
absl::Status Convolution1D(Importer& im, const Layer& layer);
absl::Status Convolution3D(Importer& im, const Layer& layer);
absl::Status ConvolutionDepthWise(Importer& im, const Layer& layer);
absl::Status ConvolutionDepthWise1D(Importer& im, const Layer& layer);
absl::Status ConvolutionDepthWise3D(Importer& im, const Layer& layer);
absl::Status CopyTo(Importer& im, const Layer& layer);
absl::Status Crop(Importer& im, const Layer& layer);
absl::Status CumulativeSum(Importer& im, const Layer& layer);
absl::Status Deconvolution(Importer& im, const Layer& layer);
absl::Status Deconvolution1D(Importer& im, const Layer& layer);
absl::Status Deconvolution3D(Importer& im, const Layer& layer);
absl::Status DeconvolutionDepthWise(Importer& im, const Layer& layer);
absl::Status DeconvolutionDepthWise1D(Importer& im, const Layer& layer);
absl::Status DeconvolutionDepthWise3D(Importer& im, const Layer& layer);
absl::Status DeepCopy(Importer& im, const Layer& layer);
absl::Status DeformableConv2D(Importer& im, const Layer& layer);
absl::Status Dequantize(Importer& im, const Layer& layer);
absl::Status DetectionOutput(Importer& im, const Layer& layer);
absl::Status Diag(Importer& im, const Layer& layer);
absl::Status Dropout(Importer& im, const Layer& layer);
absl::Status ELU(Importer& im, const Layer& layer);
absl::Status Einsum(Importer& im, const Layer& layer);
absl::Status Eltwise(Importer& im, const Layer& layer);
absl::Status Embed(Importer& im, const Layer& layer);
absl::Status Erf(Importer& im, const Layer& layer);
absl::Status Exp(Importer& im, const Layer& layer);
absl::Status ExpandDims(Importer& im, const Layer& layer);
absl::Status Flatten(Importer& im, const Layer& layer);
absl::Status Flip(Importer& im, const Layer& layer);
absl::Status Fold(Importer& im, const Layer& layer);
absl::Status GELU(Importer& im, const Layer& layer);
absl::Status GLU(Importer& im, const Layer& layer);
absl::Status GRU(Importer& im, const Layer& layer);
absl::Status Gemm(Importer& im, const Layer& layer);
absl::Status GridSample(Importer& im, const Layer& layer);
absl::Status GroupNorm(Importer& im, const Layer& layer);
absl::Status HardSigmoid(Importer& im, const Layer& layer);
absl::Status HardSwish(Importer& im, const Layer& layer);
absl::Status InnerProduct(Importer& im, const Layer& layer);
absl::Status Input(Importer& im, const Layer& layer);
absl::Status InstanceNorm(Importer& im, const Layer& layer);
absl::Status Interp(Importer& im, const Layer& layer);
absl::Status InverseSpectrogram(Importer& im, const Layer& layer);
absl::Status LRN(Importer& im, const Layer& layer);
absl::Status LSTM(Importer& im, const Layer& layer);
absl::Status LayerNorm(Importer& im, const Layer& layer);
absl::Status Log(Importer& im, const Layer& layer);
absl::Status MVN(Importer& im, const Layer& layer);
absl::Status MatMul(Importer& im, const Layer& layer);
absl::Status MemoryData(Importer& im, const Layer& layer);
absl::Status Mish(Importer& im, const Layer& layer);
absl::Status MultiHeadAttention(Importer& im, const Layer& layer);
absl::Status Noop(Importer& im, const Layer& layer);
absl::Status Normalize(Importer& im, const Layer& layer);
absl::Status PReLU(Importer& im, const Layer& layer);
absl::Status Packing(Importer& im, const Layer& layer);
absl::Status Padding(Importer& im, const Layer& layer);
absl::Status Permute(Importer& im, const Layer& layer);
absl::Status PixelShuffle(Importer& im, const Layer& layer);
absl::Status Pooling(Importer& im, const Layer& layer);
absl::Status Pooling1D(Importer& im, const Layer& layer);
absl::Status Pooling3D(Importer& im, const Layer& layer);
absl::Status Power(Importer& im, const Layer& layer);
absl::Status PriorBox(Importer& im, const Layer& layer);
absl::Status Proposal(Importer& im, const Layer& layer);
absl::Status Quantize(Importer& im, const Layer& layer);
absl::Status RMSNorm(Importer& im, const Layer& layer);
absl::Status RNN(Importer& im, const Layer& layer);
absl::Status ROIAlign(Importer& im, const Layer& layer);
absl::Status ReLU(Importer& im, const Layer& layer);
absl::Status Reduction(Importer& im, const Layer& layer);
absl::Status Reorg(Importer& im, const Layer& layer);
absl::Status Requantize(Importer& im, const Layer& layer);
absl::Status Reshape(Importer& im, const Layer& layer);
absl::Status RotaryEmbed(Importer& im, const Layer& layer);
absl::Status SDPA(Importer& im, const Layer& layer);
absl::Status SELU(Importer& im, const Layer& layer);
absl::Status Scale(Importer& im, const Layer& layer);
absl::Status Shrink(Importer& im, const Layer& layer);
absl::Status ShuffleChannel(Importer& im, const Layer& layer);
absl::Status Sigmoid(Importer& im, const Layer& layer);
absl::Status Slice(Importer& im, const Layer& layer);
absl::Status Softmax(Importer& im, const Layer& layer);
absl::Status Softplus(Importer& im, const Layer& layer);
absl::Status Spectrogram(Importer& im, const Layer& layer);
absl::Status Split(Importer& im, const Layer& layer);
absl::Status Squeeze(Importer& im, const Layer& layer);
absl::Status StatisticsPooling(Importer& im, const Layer& layer);
absl::Status Swish(Importer& im, const Layer& layer);
absl::Status TanH(Importer& im, const Layer& layer);
absl::Status Threshold(Importer& im, const Layer& layer);
absl::Status Tile(Importer& im, const Layer& layer);
absl::Status UnaryOp(Importer& im, const Layer& layer);
absl::Status Unfold(Importer& im, const Layer& layer);
absl::Status YoloDetectionOutput(Importer& im, const Layer& layer);
absl::Status Yolov3DetectionOutput(Importer& im, const Layer& layer);

}  // namespace handlers
}  // namespace cobra::ncnn

#endif  // COBRA_FRONTEND_NCNN_HANDLERS_H_
