#include "frontend/onnx/parsed_size.h"

#include <optional>

#include "base/bytes/wire_format.h"
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

using Field = ParsedField<Message>;

Field SizeOfField(Message message, const WireField& field) {
  if (field.kind != WireField::Kind::kBytes) return {8, std::nullopt};
  const auto number = static_cast<uint64_t>(field.number);
  const Message inner = Inside(message, number);
  Field size{SizeOf(inner) + kOverhead, std::nullopt};
  // The importer also copies the shape.
  const int64_t each = message == Message::kTensor && number == 1 ? 24 : 8;
  if (IsNumbers(message, number)) size.bytes += each * static_cast<int64_t>(field.bytes.size());
  if (inner != Message::kLeaf) size.message = inner;
  return size;
}

}  // namespace

ModelSize SizeOfModel(absl::string_view model, int64_t most) {
  ModelSize size;
  const auto size_of = [&size](Message message, const WireField& field) {
    const Field of = SizeOfField(message, field);
    size.nodes += of.message == Message::kNode ? 1 : 0;
    return of;
  };
  (void)AddParsedSize<Message>(model, Message::kModel, most, size_of, &size.parsed);
  return size;
}

}  // namespace cobra::onnx
