// The inputs of multi_head_attention_forward, by position.
#ifndef COBRA_GRAPH_SHAPE_ATTENTION_INPUTS_H_
#define COBRA_GRAPH_SHAPE_ATTENTION_INPUTS_H_

#include <cstddef>

namespace cobra::graph::attention_inputs {

enum MhaInput : size_t {
  kQuery,
  kKey,
  kValue,
  kInWeight,
  kInBias,
  kBiasK,
  kBiasV,
  kOutWeight,
  kOutBias,
  kKeyPaddingMask,
  kAttnMask,
  kQWeight,
  kKWeight,
  kVWeight,
  kStaticK,
  kStaticV,
};

}  // namespace cobra::graph::attention_inputs

#endif  // COBRA_GRAPH_SHAPE_ATTENTION_INPUTS_H_
