#include "proto/parsed_size.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "base/wire_format.h"
#include "google/protobuf/message.h"

namespace cobra::proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// The allocator's own bytes, and the pointer in the list.
constexpr int64_t kOverhead = 24;
constexpr int64_t kNumber = 8;
constexpr int64_t kUnknownField = 48;  // of 16 bytes, while their list grows: the old one, and one twice as large
constexpr int kMaxDepth = 100;         // protobuf's own limit

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

class Scan {
 public:
  explicit Scan(int64_t most) : most_(most) {}
  const ParsedSize& size() const { return size_; }

  // Returns false if it stopped early.
  bool Read(absl::string_view bytes, const Descriptor& type, int depth) {
    if (depth > kMaxDepth) return Damaged();
    WireField field;
    while (!bytes.empty()) {
      if (!NextWireField(&bytes, &field)) return Damaged();
      if (!Add(field, type.FindFieldByNumber(field.number), depth)) return false;
      if (size_.bytes > most_) return false;
    }
    return true;
  }

 private:
  bool Add(const WireField& field, const FieldDescriptor* known, int depth) {
    const bool has_bytes = field.kind == WireField::Kind::kBytes;
    if (known == nullptr || !Fits(field, *known)) {
      size_.bytes += kUnknownField + (has_bytes ? BytesOfText(field.bytes) : 0);
    } else if (!has_bytes) {
      size_.bytes += known->is_repeated() ? kNumber : 0;
    } else if (known->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      size_.bytes += SizeOf(*known->message_type()) + kOverhead;
      return Read(field.bytes, *known->message_type(), depth + 1);
    } else if (known->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      size_.bytes += BytesOfText(field.bytes);
    } else {
      size_.bytes += kNumber * static_cast<int64_t>(field.bytes.size());  // packed: one byte may become a number
    }
    return true;
  }

  int64_t SizeOf(const Descriptor& type) {
    auto [it, inserted] = sizes_.try_emplace(&type, 0);
    if (inserted) {
      const auto* prototype = google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type);
      it->second = static_cast<int64_t>(prototype->SpaceUsedLong());
    }
    return it->second;
  }

  bool Damaged() { return size_.well_formed = false; }

  const int64_t most_;
  absl::flat_hash_map<const Descriptor*, int64_t> sizes_;
  ParsedSize size_;
};

}  // namespace

ParsedSize ParsedSizeOf(absl::string_view message, const Descriptor& type, int64_t most) {
  Scan scan(most);
  (void)scan.Read(message, type, 0);
  return scan.size();
}

}  // namespace cobra::proto
