// Which messages the fields of ONNX's messages hold: to walk through a file's bytes before they are
// parsed.
#ifndef COBRA_FRONTEND_ONNX_MESSAGE_TREE_H_
#define COBRA_FRONTEND_ONNX_MESSAGE_TREE_H_

#include <cstdint>

namespace cobra::onnx {

enum class Message : uint8_t {
  kModel,
  kFunction,
  kTraining,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kValueInfo,
  kType,
  kTensorType,
  kElementType,
  kMapType,
  kShape,
  kDimension,
  kQuantization,
  kLeaf,
};

// The type of message that a field holds; kLeaf for text, bytes and messages without nested
// messages.
Message Inside(Message outer, uint64_t field);

constexpr int kMaxMessageDepth = 100;  // protobuf's own limit

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_MESSAGE_TREE_H_
