#include "frontend/onnx/parsed_size.h"

#include "base/wire_format.h"
#include "onnx/onnx_pb.h"

namespace cobra::onnx {
namespace {

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

// The type of message that a field holds; kLeaf for text, bytes and messages without nested messages.
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

int64_t SizeOf(Message message) {
  switch (message) {
    case Message::kGraph: return sizeof(::onnx::GraphProto);
    case Message::kNode: return sizeof(::onnx::NodeProto);
    case Message::kAttribute: return sizeof(::onnx::AttributeProto);
    case Message::kTensor: return sizeof(::onnx::TensorProto);
    case Message::kFunction: return sizeof(::onnx::FunctionProto);
    default: return 64;
  }
}

// Whether the field is a list of integers. In a packed list, one byte may encode an integer of eight bytes.
bool IsNumbers(Message message, uint64_t field) {
  if (message == Message::kAttribute) return field == 8;
  return message == Message::kTensor && (field == 1 || field == 5 || field == 7 || field == 11);
}

// The allocator's overhead for one object, and the pointer to it in the list.
constexpr int64_t kOverhead = 24;

class Scan {
 public:
  explicit Scan(int64_t most) : most_(most) {}
  const ParsedSize& size() const { return size_; }

  // Returns false if it stopped before the end.
  bool Read(absl::string_view bytes, Message message, int depth) {
    constexpr int kMaxDepth = 100;  // protobuf's own limit
    if (depth > kMaxDepth) return Damaged();
    WireField field;
    while (!bytes.empty()) {
      if (!NextWireField(&bytes, &field)) return Damaged();
      if (field.kind != WireField::Kind::kBytes) {
        size_.bytes += 8;
      } else {
        const auto number = static_cast<uint64_t>(field.number);
        const Message inner = Inside(message, number);
        size_.bytes += SizeOf(inner) + kOverhead;
        // The importer also copies the shape.
        const int64_t each = message == Message::kTensor && number == 1 ? 24 : 8;
        if (IsNumbers(message, number)) size_.bytes += each * static_cast<int64_t>(field.bytes.size());
        size_.nodes += inner == Message::kNode;
        if (inner != Message::kLeaf && !Read(field.bytes, inner, depth + 1)) return false;
      }
      if (size_.bytes > most_) return false;
    }
    return true;
  }

 private:
  bool Damaged() { return size_.well_formed = false; }

  const int64_t most_;
  ParsedSize size_;
};

}  // namespace

ParsedSize ParsedSizeOf(absl::string_view model, int64_t most) {
  Scan scan(most);
  (void)scan.Read(model, Message::kModel, 0);
  return scan.size();
}

}  // namespace cobra::onnx
