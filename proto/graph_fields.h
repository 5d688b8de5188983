// The messages of proto/cobra/v1/graph.proto as they are found in bytes: views of the bytes,
// without a copy.
#ifndef COBRA_PROTO_GRAPH_FIELDS_H_
#define COBRA_PROTO_GRAPH_FIELDS_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/bytes/wire_format.h"
#include "base/status_macros.h"
#include "base/text/utf8.h"
#include "cobra/v1/graph.pb.h"
#include "graph/graph.h"

namespace cobra::proto {

// Both lists of types have the same order; graph.proto begins with "unspecified".
static_assert(v1::DTYPE_FLOAT32 == static_cast<int>(graph::DType::float32) + 1);
static_assert(v1::DTYPE_FLOAT16 == static_cast<int>(graph::DType::float16) + 1);
static_assert(v1::DTYPE_BFLOAT16 == static_cast<int>(graph::DType::bfloat16) + 1);
static_assert(v1::DTYPE_FLOAT64 == static_cast<int>(graph::DType::float64) + 1);
static_assert(v1::DTYPE_INT64 == static_cast<int>(graph::DType::int64) + 1);
static_assert(v1::DTYPE_INT32 == static_cast<int>(graph::DType::int32) + 1);
static_assert(v1::DTYPE_INT16 == static_cast<int>(graph::DType::int16) + 1);
static_assert(v1::DTYPE_INT8 == static_cast<int>(graph::DType::int8) + 1);
static_assert(v1::DTYPE_UINT8 == static_cast<int>(graph::DType::uint8) + 1);
static_assert(v1::DTYPE_BOOL == static_cast<int>(graph::DType::bool_) + 1);
static_assert(v1::DTYPE_COMPLEX64 == static_cast<int>(graph::DType::complex64) + 1);
static_assert(v1::DTYPE_COMPLEX128 == static_cast<int>(graph::DType::complex128) + 1);
static_assert(v1::DType_ARRAYSIZE == static_cast<int>(graph::DType::complex128) + 2);

inline int DTypeToProto(graph::DType dtype) { return static_cast<int>(dtype) + 1; }
inline std::optional<graph::DType> DTypeFromProto(int proto) {
  if (proto <= 0 || proto >= v1::DType_ARRAYSIZE) return std::nullopt;
  return static_cast<graph::DType>(proto - 1);
}

// ValueRef::Kind and v1::ValueRef::Kind have the same members in the same order.
static_assert(static_cast<int>(graph::ValueRef::Kind::kNode) == v1::ValueRef::KIND_NODE);
static_assert(static_cast<int>(graph::ValueRef::Kind::kConstant) == v1::ValueRef::KIND_CONSTANT);

// ---- Parts of messages. A part that occurs twice is merged, and of a number the last one counts,
// as in protobuf. Each Merge() is false if the bytes are not such a message.

inline int32_t Int32(const WireField& field) { return static_cast<int32_t>(field.value); }
inline int64_t Int64(const WireField& field) { return static_cast<int64_t>(field.value); }

inline bool MergeText(const WireField& field, absl::string_view* text) {
  *text = field.bytes;
  return IsUtf8(field.bytes);
}

// Calls `with` for each field of the message, and stops where it returns false.
template <typename With>
bool EachField(absl::string_view bytes, With with) {
  WireField field;
  while (!bytes.empty()) {
    if (!NextWireField(&bytes, &field) || !with(field)) return false;
  }
  return true;
}

// Where the fields of a number with bytes stand in a message: from the first to the last of them,
// and others in between if the sender mixed them. Kept instead of a list of them, of which each
// could take eight times its bytes.
struct FieldRange {
  absl::string_view bytes;
  int64_t count = 0;

  void Add(absl::string_view field) {
    const char* begin = count == 0 ? field.data() : bytes.data();
    bytes = absl::string_view(begin, static_cast<size_t>(field.data() + field.size() - begin));
    ++count;
  }
};

// Calls `with` for the bytes of each field of that number, until it fails. REQUIRES: the range is
// well formed.
template <typename With>
absl::Status EachOf(const FieldRange& range, int number, With with) {
  WireField field;
  for (absl::string_view rest = range.bytes; !rest.empty();) {
    if (!NextWireField(&rest, &field)) return absl::InternalError("a range of fields is damaged");
    if (field.number == number && field.kind == WireField::Kind::kBytes) COBRA_RETURN_IF_ERROR(with(field.bytes));
  }
  return absl::OkStatus();
}

// A list of numbers, packed or one by one. Stops where `add` returns false.
template <typename Add>
bool MergeIntegers(const WireField& field, Add add) {
  if (field.kind == WireField::Kind::kVarint) return add(Int64(field));
  if (field.kind != WireField::Kind::kBytes) return true;  // an unknown field
  uint64_t value = 0;
  for (absl::string_view rest = field.bytes; !rest.empty();) {
    if (!NextVarint(&rest, &value) || !add(static_cast<int64_t>(value))) return false;
  }
  return true;
}

inline bool MergeDoubles(const WireField& field, std::vector<double>* values) {
  const auto add = [values](const char* bits) { std::memcpy(&values->emplace_back(), bits, sizeof(double)); };
  if (field.kind == WireField::Kind::kFixed64) add(reinterpret_cast<const char*>(&field.value));
  if (field.kind != WireField::Kind::kBytes) return true;
  if (field.bytes.size() % sizeof(double) != 0) return false;
  for (size_t at = 0; at < field.bytes.size(); at += sizeof(double)) add(field.bytes.data() + at);
  return true;
}

struct TypeFields {
  graph::Shape shape;  // up to one dimension more than a tensor may have
  int64_t rank = 0;
  int32_t dtype = 0;

  bool Merge(absl::string_view bytes, int max_rank) {
    return EachField(bytes, [&](const WireField& field) {
      if (field.number == v1::TensorType::kDtypeFieldNumber && field.kind == WireField::Kind::kVarint)
        dtype = Int32(field);
      if (field.number != v1::TensorType::kShapeFieldNumber) return true;
      return MergeIntegers(field, [&](int64_t size) {
        if (++rank <= max_rank) shape.push_back(size);
        return true;
      });
    });
  }
};

struct TensorFields {
  absl::string_view name;
  TypeFields type;

  bool Merge(absl::string_view bytes, int max_rank) {
    return EachField(bytes, [&](const WireField& field) {
      if (field.kind != WireField::Kind::kBytes) return true;
      if (field.number == v1::NamedTensor::kNameFieldNumber) return MergeText(field, &name);
      if (field.number == v1::NamedTensor::kTypeFieldNumber) return type.Merge(field.bytes, max_rank);
      return true;
    });
  }
};

struct AliasFields {
  absl::string_view name;
  int32_t parameter = 0;

  bool Merge(absl::string_view bytes) {
    return EachField(bytes, [&](const WireField& field) {
      if (field.number == v1::ParameterAlias::kNameFieldNumber && field.kind == WireField::Kind::kBytes)
        return MergeText(field, &name);
      if (field.number == v1::ParameterAlias::kParameterFieldNumber && field.kind == WireField::Kind::kVarint)
        parameter = Int32(field);
      return true;
    });
  }
};

struct RefFields {
  int32_t kind = 0, index = 0, output = 0;

  bool Merge(absl::string_view bytes) {
    return EachField(bytes, [&](const WireField& field) {
      if (field.kind != WireField::Kind::kVarint) return true;
      if (field.number == v1::ValueRef::kKindFieldNumber) kind = Int32(field);
      if (field.number == v1::ValueRef::kIndexFieldNumber) index = Int32(field);
      if (field.number == v1::ValueRef::kOutputFieldNumber) output = Int32(field);
      return true;
    });
  }
};

// A graph may name this many source files for each call that it may have.
inline constexpr int64_t kSourceFilesOfCall = 2;

struct OriginFields {
  int32_t file = 0, line = 0, made_file = 0, made_line = 0;
  absl::string_view module_path;

  bool IsWithin(int64_t num_files) const { return FileIsWithin(num_files) && MadeFileIsWithin(num_files); }
  bool FileIsWithin(int64_t num_files) const { return file >= 0 && file <= num_files && line >= 0; }
  bool MadeFileIsWithin(int64_t num_files) const { return made_file >= 0 && made_file <= num_files && made_line >= 0; }

  bool Merge(absl::string_view bytes) {
    return EachField(bytes, [&](const WireField& field) {
      if (field.number == v1::Origin::kModulePathFieldNumber && field.kind == WireField::Kind::kBytes)
        return MergeText(field, &module_path);
      if (field.kind != WireField::Kind::kVarint) return true;
      if (field.number == v1::Origin::kFileFieldNumber) file = Int32(field);
      if (field.number == v1::Origin::kLineFieldNumber) line = Int32(field);
      if (field.number == v1::Origin::kMadeFileFieldNumber) made_file = Int32(field);
      if (field.number == v1::Origin::kMadeLineFieldNumber) made_line = Int32(field);
      return true;
    });
  }
};

// The list that the value is, which becomes one if it is something else.
template <typename List>
List* ListOf(graph::AttributeValue* value) {
  if (!std::holds_alternative<List>(*value)) value->emplace<List>();
  return &std::get<List>(*value);
}

struct AttributeFields {
  absl::string_view name;
  graph::AttributeValue value;
  // Numbers that lists may still have: each takes eight times its byte. Merge() fails when there
  // are more.
  int64_t* numbers_left;

  bool Merge(absl::string_view bytes) {
    return EachField(bytes, [&](const WireField& field) { return MergeField(field); });
  }

 private:
  bool MergeField(const WireField& field) {
    const bool varint = field.kind == WireField::Kind::kVarint, bytes = field.kind == WireField::Kind::kBytes;
    switch (field.number) {
      case v1::Attribute::kNameFieldNumber: return !bytes || MergeText(field, &name);
      case v1::Attribute::kBoolValueFieldNumber:
        if (varint) value = field.value != 0;
        return true;
      case v1::Attribute::kIntValueFieldNumber:
        if (varint) value = Int64(field);
        return true;
      case v1::Attribute::kDoubleValueFieldNumber:
        if (field.kind == WireField::Kind::kFixed64)
          std::memcpy(&value.emplace<double>(), &field.value, sizeof(double));
        return true;
      case v1::Attribute::kStringValueFieldNumber:
        if (bytes) value = std::string(field.bytes);
        return !bytes || IsUtf8(field.bytes);
      case v1::Attribute::kIntsFieldNumber:
        return !bytes ||
               EachField(field.bytes, [this, list = ListOf<std::vector<int64_t>>(&value)](const WireField& item) {
                 return item.number != v1::IntList::kValuesFieldNumber || MergeIntegers(item, [&](int64_t number) {
                          list->push_back(number);
                          return --*numbers_left >= 0;
                        });
               });
      case v1::Attribute::kDoublesFieldNumber:
        return !bytes || EachField(field.bytes, [list = ListOf<std::vector<double>>(&value)](const WireField& item) {
          return item.number != v1::DoubleList::kValuesFieldNumber || MergeDoubles(item, list);
        });
      default: return true;
    }
  }
};

struct NodeFields {
  absl::string_view op;
  FieldRange attributes, inputs, outputs;
  bool inplace = false;
  OriginFields origin;

  bool Merge(absl::string_view bytes) {
    return EachField(bytes, [this](const WireField& field) { return MergeField(field); });
  }

 private:
  bool MergeField(const WireField& field) {
    if (field.number == v1::Node::kInplaceFieldNumber && field.kind == WireField::Kind::kVarint)
      inplace = field.value != 0;
    if (field.kind != WireField::Kind::kBytes) return true;
    switch (field.number) {
      case v1::Node::kOpFieldNumber: return MergeText(field, &op);
      case v1::Node::kAttributesFieldNumber: attributes.Add(field.whole); return true;
      case v1::Node::kInputsFieldNumber: inputs.Add(field.whole); return true;
      case v1::Node::kOutputsFieldNumber: outputs.Add(field.whole); return true;
      case v1::Node::kOriginFieldNumber: return origin.Merge(field.bytes);
      default: return true;
    }
  }
};

// The lists of a graph, by the numbers of their fields.
struct GraphFields {
  std::array<FieldRange, v1::Graph::kSourceFilesFieldNumber + 1> lists;

  bool Merge(absl::string_view bytes) {
    return EachField(bytes, [this](const WireField& field) {
      const auto number = static_cast<size_t>(field.number);
      if (field.kind == WireField::Kind::kBytes && number < lists.size()) lists[number].Add(field.whole);
      return true;
    });
  }
};

}  // namespace cobra::proto

#endif  // COBRA_PROTO_GRAPH_FIELDS_H_
