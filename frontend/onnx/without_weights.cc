#include "frontend/onnx/without_weights.h"

#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/bytes/wire_format.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "frontend/onnx/importer/tensor_data.h"
#include "frontend/onnx/message_tree.h"
#include "onnx/onnx_pb.h"

namespace cobra::onnx {
namespace {

using ::onnx::TensorProto;

constexpr int kFloatData = 4, kRawData = 9, kDataLocation = 14;  // fields of TensorProto

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 128; value >>= 7) out->push_back(static_cast<char>(value | 128));
  out->push_back(static_cast<char>(value));
}

// A message whose size is known only behind it has a size of so many bytes, which begins with zeros
// if need be.
constexpr size_t kSizeBytes = 5;

void EndMessage(size_t start, std::string* out) {
  uint64_t size = out->size() - start;
  for (size_t i = 0; i < kSizeBytes; ++i, size >>= 7)
    (*out)[start - kSizeBytes + i] = static_cast<char>((size & 127) | (i + 1 < kSizeBytes ? 128 : 0));
}

class Stripper {
 public:
  Stripper(const OnnxLimits& limits, int64_t most_left, const ReadExternal& external)
      // A tensor of more bytes has more elements than carry their values.
      : large_(16 * limits.max_const_elements), most_left_(most_left), limits_(limits), external_(external) {}

  // Appends what is left of the message. False if the bytes are not one.
  absl::StatusOr<bool> Strip(absl::string_view bytes, Message message, int depth, std::string* out) {
    if (depth > kMaxMessageDepth) return false;
    const size_t start = out->size();
    WireField field;
    bool is_external = false;
    while (!bytes.empty()) {
      if (!NextWireField(&bytes, &field)) return false;
      is_external = is_external || (message == Message::kTensor && field.number == kDataLocation && field.value == 1);
      if (IsWeight(message, field)) {
        AppendLeftOut(static_cast<int64_t>(field.bytes.size()), out);
        continue;
      }
      const Message inner =
          field.kind == WireField::Kind::kBytes ? Inside(message, static_cast<uint64_t>(field.number)) : Message::kLeaf;
      if (!MayHoldData(inner, static_cast<int64_t>(field.bytes.size()))) {
        left_ += static_cast<int64_t>(field.whole.size());
        if (left_ > most_left_)
          return absl::ResourceExhaustedError(LimitMessage("its contents other than weights", most_left_, "bytes"));
        out->append(field.whole.data(), field.whole.size());
        continue;
      }
      AppendVarint(static_cast<uint64_t>(field.number) << 3 | 2, out);
      out->append(kSizeBytes, '\0');
      const size_t inner_start = out->size();
      COBRA_ASSIGN_OR_RETURN(const bool well_formed, Strip(field.bytes, inner, depth + 1, out));
      if (!well_formed) return false;
      EndMessage(inner_start, out);
    }
    if (is_external && external_ != nullptr) COBRA_RETURN_IF_ERROR(FillIn(start, out));
    return true;
  }

 private:
  // Whether a message of this type and size may hold a weight, or a tensor whose data is in another
  // file.
  bool MayHoldData(Message message, int64_t bytes) const {
    constexpr int64_t kLeast = 16;  // of such a tensor
    switch (message) {
      case Message::kGraph:
      case Message::kNode:
      case Message::kAttribute:
      case Message::kTensor:
      case Message::kSparseTensor:
      case Message::kFunction:
      case Message::kTraining: return bytes > large_ || (external_ != nullptr && bytes >= kLeast);
      default: return false;
    }
  }

  bool IsWeight(Message message, const WireField& field) const {
    return message == Message::kTensor && field.kind == WireField::Kind::kBytes &&
           (field.number == kRawData || field.number == kFloatData) &&
           static_cast<int64_t>(field.bytes.size()) > large_;
  }

  // The tensor becomes one of an unnamed file; its size is kept, and compared with its shape
  // (tensor_data.cc).
  static void AppendLeftOut(int64_t bytes, std::string* out) {
    TensorProto mark;
    MarkLeftOut(bytes, &mark);
    mark.AppendToString(out);  // fields of one message may stand apart
  }

  // Puts the bytes of another file into the tensor that begins at `start`, if a shape may depend on
  // them.
  absl::Status FillIn(size_t start, std::string* out) {
    TensorProto proto;
    if (!proto.ParseFromString(out->substr(start))) return absl::OkStatus();  // the parser will say so
    const absl::StatusOr<graph::TensorType> type = TypeOf(proto);
    if (!type.ok()) return absl::OkStatus();
    constexpr int64_t kMostFloats = 1024;  // scales, exponents; nothing longer of that type gives shapes
    const int64_t most = graph::IsFloatingPoint(type->dtype) ? kMostFloats : limits_.max_const_elements;
    if (type->num_elements() > most || graph::IsComplex(type->dtype)) return absl::OkStatus();
    ExternalTensor wanted;
    wanted.name = proto.name();
    wanted.bytes = BytesOf(proto.data_type(), type->num_elements());
    for (const auto& entry : proto.external_data()) {
      if (entry.key() == "location") wanted.location = entry.value();
      if (entry.key() == "offset" && (!absl::SimpleAtoi(entry.value(), &wanted.offset) || wanted.offset < 0)) {
        return absl::InvalidArgumentError(
            absl::StrCat("initializer \"", proto.name(), "\": its data is at \"", entry.value(), "\" of a file"));
      }
    }
    if (wanted.location.empty()) return absl::OkStatus();
    read_bytes_ += wanted.bytes;
    if (read_bytes_ > limits_.max_const_bytes)
      return absl::ResourceExhaustedError(
          LimitMessage("small tensors in other files", limits_.max_const_bytes, "bytes"));
    COBRA_ASSIGN_OR_RETURN(std::optional<std::string> data, external_(wanted));
    if (!data.has_value()) return absl::OkStatus();
    proto.clear_external_data();
    proto.clear_data_location();
    proto.set_raw_data(*std::move(data));
    out->resize(start);
    proto.AppendToString(out);
    return absl::OkStatus();
  }

  const int64_t large_, most_left_;
  const OnnxLimits& limits_;
  const ReadExternal& external_;
  int64_t left_ = 0, read_bytes_ = 0;
};

}  // namespace

absl::StatusOr<std::optional<std::string>> WithoutWeights(absl::string_view model, const OnnxLimits& limits,
                                                          int64_t most_bytes, const ReadExternal& external) {
  std::string out;
  Stripper stripper(limits, most_bytes, external);
  COBRA_ASSIGN_OR_RETURN(const bool well_formed, stripper.Strip(model, Message::kModel, 0, &out));
  if (!well_formed) return std::nullopt;
  return std::optional<std::string>(std::move(out));
}

}  // namespace cobra::onnx
