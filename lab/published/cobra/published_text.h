// A layer's call as text for COBRA's published encoder (section 3, "normalization"): the function,
// its arguments by name in one fixed order, no white space.
#ifndef COBRA_LAB_PUBLISHED_COBRA_PUBLISHED_TEXT_H_
#define COBRA_LAB_PUBLISHED_COBRA_PUBLISHED_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "lab/published/cobra/wordpiece.h"

namespace cobra::lab {

//   conv2d(input=(1,3,224,224),weight=(64,3,7,7),bias=None,stride=(2,2),padding=(3,3),dilation=(1,1),groups=1)
// The paper does not print its texts: ours are the arguments of PyTorch's functions in the order of
// ops.def, tensors as their shapes (in parentheses rather than 1x3x224x224, so that a dimension is
// a word of its own and "224" one piece), float32 not written out. What follows from them (the
// output's shape, operations, bytes) is left out, as in the paper.
std::string PublishedText(const graph::Graph& graph, int32_t node);
// All calls of a layer measured alone that are not views: nearly always one.
std::string PublishedText(const graph::Graph& layer);

struct PublishedTokens {
  std::vector<int32_t> ids;           // [CLS] text [SEP]
  std::vector<uint8_t> is_parameter;  // a piece of a number
};
// `appended` is added after the text (",latency=28.7"; empty: nothing). At most `max_tokens`;
// longer inputs are truncated in the text, not in `appended`.
PublishedTokens TokenizePublished(const WordPieceVocabulary& vocabulary, const std::string& text,
                                  const std::string& appended, int64_t max_tokens);
// The text to append in pre-training: the measured latency, four digits.
std::string AppendedLatency(double latency_us);

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_COBRA_PUBLISHED_TEXT_H_
