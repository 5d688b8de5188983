#include "frontend/onnx/parsed_size.h"

#include "base/wire_format.h"
#include "frontend/onnx/message_tree.h"
#include "onnx/onnx_pb.h"

namespace cobra::onnx {
namespace {

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

// Whether the field is a list of integers. In a packed list, one byte may encode an integer of
// eight bytes.
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
    if (depth > kMaxMessageDepth) return Damaged();
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
