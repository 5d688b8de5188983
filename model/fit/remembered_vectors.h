// What the encoder gave for each call when training last encoded it. Encoding is most of the work of training, and the
// calls of networks come again in step after step. So a step encodes a share of its calls; the others take part with
// what is remembered, and the encoder learns nothing from them ("historical embeddings": Fey et al., "GNNAutoScale",
// ICML 2021, section 3). Includes LibTorch headers; only files of model/ include it.
#ifndef COBRA_MODEL_FIT_REMEMBERED_VECTORS_H_
#define COBRA_MODEL_FIT_REMEMBERED_VECTORS_H_

#include <cstdint>
#include <random>
#include <vector>

#include "model/fit/batch.h"
#include "model/net/encoder.h"

namespace cobra::fit {

class RememberedVectors {
 public:
  // `texts`: of the TextTable that the batches are made from.
  RememberedVectors(int32_t texts, int64_t width);

  // [batch.texts, width]. Encoded anew, with gradients: each text with probability `share`, and those that were never
  // encoded or are in no table.
  at::Tensor Encode(net::Encoder& encoder, const Batch& batch, double share, std::mt19937_64* random);

 private:
  at::Tensor vectors_;  // [texts, width]
  std::vector<bool> known_;
};

}  // namespace cobra::fit

#endif  // COBRA_MODEL_FIT_REMEMBERED_VECTORS_H_
