#include "proto/parsed_size.h"

#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "base/bytes/wire_format.h"
#include "google/protobuf/message.h"

namespace cobra::proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// The allocator's own bytes, and the pointer in the list.
constexpr int64_t kOverhead = 24;
constexpr int64_t kNumber = 8;
constexpr int64_t kUnknownField = 48;  // of 16 bytes, while their list grows: the old one, and one twice as large

int64_t BytesOfText(absl::string_view text) {
  const int64_t inside = sizeof(std::string) + kOverhead;
  return text.size() < sizeof(std::string) / 2 ? inside : inside + static_cast<int64_t>(text.size());
}

// How a single value of the field is written.
WireField::Kind KindOf(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_DOUBLE:
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_SFIXED64: return WireField::Kind::kFixed64;
    case FieldDescriptor::TYPE_FLOAT:
    case FieldDescriptor::TYPE_FIXED32:
    case FieldDescriptor::TYPE_SFIXED32: return WireField::Kind::kFixed32;
    case FieldDescriptor::TYPE_STRING:
    case FieldDescriptor::TYPE_BYTES:
    case FieldDescriptor::TYPE_MESSAGE:
    case FieldDescriptor::TYPE_GROUP: return WireField::Kind::kBytes;
    default: return WireField::Kind::kVarint;
  }
}

// Whether protobuf reads it. What is written as another kind counts as unknown, and is kept.
bool Fits(const WireField& field, const FieldDescriptor& known) {
  return field.kind == KindOf(known) || (field.kind == WireField::Kind::kBytes && known.is_packable());
}

// What generated messages take by themselves.
class MessageSizes {
 public:
  int64_t Of(const Descriptor& type) {
    auto [it, inserted] = sizes_.try_emplace(&type, 0);
    if (inserted) {
      const auto* prototype = google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type);
      it->second = static_cast<int64_t>(prototype->SpaceUsedLong());
    }
    return it->second;
  }

 private:
  absl::flat_hash_map<const Descriptor*, int64_t> sizes_;
};

using Field = ParsedField<const Descriptor*>;

Field SizeOfField(const Descriptor& type, const WireField& field, MessageSizes* sizes) {
  const bool has_bytes = field.kind == WireField::Kind::kBytes;
  const FieldDescriptor* const known = type.FindFieldByNumber(field.number);
  if (known == nullptr || !Fits(field, *known))
    return {kUnknownField + (has_bytes ? BytesOfText(field.bytes) : 0), std::nullopt};
  if (!has_bytes) return {known->is_repeated() ? kNumber : 0, std::nullopt};
  if (known->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
    return {sizes->Of(*known->message_type()) + kOverhead, known->message_type()};
  if (known->cpp_type() == FieldDescriptor::CPPTYPE_STRING) return {BytesOfText(field.bytes), std::nullopt};
  return {kNumber * static_cast<int64_t>(field.bytes.size()), std::nullopt};  // packed: one byte may become a number
}

}  // namespace

ParsedSize ParsedSizeOf(absl::string_view message, const Descriptor& type, int64_t most) {
  MessageSizes sizes;
  ParsedSize size;
  const auto size_of = [&sizes](const Descriptor* of, const WireField& field) {
    return SizeOfField(*of, field, &sizes);
  };
  (void)AddParsedSize<const Descriptor*>(message, &type, most, size_of, &size);
  return size;
}

}  // namespace cobra::proto
