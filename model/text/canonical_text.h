// The text that the encoder reads: one line per layer call, arguments by name in the fixed order of
// ops.def, no white space (COBRA, section 3, "normalization"). Two calls with the same text cost
// the same; the text is the key of the embedding cache.
//
//   conv2d(input=1x3x224x224:float32,weight=64x3x7x7:float32,bias=None,stride=(2,2),padding=(3,3),dilation=(1,1),
//     groups=1)->1x64x112x112:float32#macs=118013952,read_bytes=602112,weight_bytes=37632,write_bytes=3211264
//
// (one line; wrapped here). The part after '#' is the work that follows from the shapes.
#ifndef COBRA_MODEL_TEXT_CANONICAL_TEXT_H_
#define COBRA_MODEL_TEXT_CANONICAL_TEXT_H_

#include <string>

#include "graph/graph.h"

namespace cobra::text {

std::string CanonicalText(const graph::Graph& graph, int32_t node);

}  // namespace cobra::text

#endif  // COBRA_MODEL_TEXT_CANONICAL_TEXT_H_
