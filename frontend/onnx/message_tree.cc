#include "frontend/onnx/message_tree.h"

namespace cobra::onnx {

Message Inside(Message outer, uint64_t field) {
  using M = Message;
  switch (outer) {
    case M::kModel: return field == 7 ? M::kGraph : field == 20 ? M::kTraining : field == 25 ? M::kFunction : M::kLeaf;
    case M::kFunction: return field == 7 ? M::kNode : field == 11 ? M::kAttribute : M::kLeaf;
    case M::kTraining: return field <= 2 ? M::kGraph : M::kLeaf;
    case M::kGraph:
      switch (field) {
        case 1: return M::kNode;
        case 5: return M::kTensor;
        case 11:
        case 12:
        case 13: return M::kValueInfo;
        case 14: return M::kQuantization;
        case 15: return M::kSparseTensor;
        default: return M::kLeaf;
      }
    case M::kNode: return field == 5 ? M::kAttribute : M::kLeaf;
    case M::kAttribute:
      switch (field) {
        case 5:
        case 10: return M::kTensor;
        case 6:
        case 11: return M::kGraph;
        case 14:
        case 15: return M::kType;
        case 22:
        case 23: return M::kSparseTensor;
        default: return M::kLeaf;
      }
    case M::kSparseTensor: return field <= 2 ? M::kTensor : M::kLeaf;
    case M::kValueInfo: return field == 2 ? M::kType : M::kLeaf;
    case M::kType:
      return field == 1 || field == 8   ? M::kTensorType
             : field == 4 || field == 9 ? M::kElementType
             : field == 5               ? M::kMapType
                                        : M::kLeaf;
    case M::kTensorType: return field == 2 ? M::kShape : M::kLeaf;
    case M::kElementType: return field == 1 ? M::kType : M::kLeaf;
    case M::kMapType: return field == 2 ? M::kType : M::kLeaf;
    case M::kShape: return field == 1 ? M::kDimension : M::kLeaf;
    default: return M::kLeaf;
  }
}

}  // namespace cobra::onnx
