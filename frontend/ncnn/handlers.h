// The handlers that layers.def names, defined in ops_*.cc by family, and what they share.
// ops_source.cc has inputs, weights, and layers that only pass blobs on.
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

#define COBRA_NCNN(name, handler, keys, calls, note) absl::Status handler(Importer& im, const Layer& layer);
#include "frontend/ncnn/layers.def"

}  // namespace handlers
}  // namespace cobra::ncnn

#endif  // COBRA_FRONTEND_NCNN_HANDLERS_H_
