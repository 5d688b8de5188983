#include "proto/network_hash.h"

#include <cstring>
#include <string>
#include <utility>

#include "base/bytes/keyed_hash.h"
#include "graph/builder/untrusted.h"
#include "proto/graph_fields.h"

namespace cobra::proto {
namespace {

// The fields of a message but for those of one number. What is left of a message stands behind its
// own length, so that no two messages give the same sequence of bytes.
class Kept {
 public:
  explicit Kept(std::string* bytes) : bytes_(*bytes) { bytes_.clear(); }

  bool AddGraph(absl::string_view graph) {
    return EachField(graph, [this](const WireField& field) { return AddField(field); });
  }

 private:
  struct Head {
    uint64_t number, length;
  };

  void Append(absl::string_view bytes) { bytes_.append(bytes.data(), bytes.size()); }

  bool AddField(const WireField& field) {
    const bool bytes = field.kind == WireField::Kind::kBytes;
    switch (bytes ? field.number : 0) {
      case v1::Graph::kInputsFieldNumber:
      case v1::Graph::kParametersFieldNumber:
      case v1::Graph::kBuffersFieldNumber:
      case v1::Graph::kConstantsFieldNumber: return AddWithout(field, v1::NamedTensor::kNameFieldNumber);
      case v1::Graph::kNodesFieldNumber: return AddWithout(field, v1::Node::kOriginFieldNumber);
      case v1::Graph::kParameterAliasesFieldNumber:
      case v1::Graph::kSourceFilesFieldNumber: return true;
      default: Append(field.whole); return true;
    }
  }

  bool AddWithout(const WireField& message, int left_out) {
    const size_t head_at = bytes_.size();
    bytes_.resize(head_at + sizeof(Head));
    const char* part = message.bytes.data();  // where what is not kept yet begins
    const bool whole = EachField(message.bytes, [&](const WireField& field) {
      if (field.number != left_out || field.kind != WireField::Kind::kBytes) return true;
      Append(absl::string_view(part, static_cast<size_t>(field.whole.data() - part)));
      part = field.whole.data() + field.whole.size();
      return true;
    });
    if (!whole) return false;
    Append(absl::string_view(part, static_cast<size_t>(message.bytes.data() + message.bytes.size() - part)));
    const Head head{static_cast<uint64_t>(message.number), bytes_.size() - head_at - sizeof(Head)};
    std::memcpy(bytes_.data() + head_at, &head, sizeof(head));
    return true;
  }

  std::string& bytes_;
};

// Whether the reader (graph_from_wire.cc) accepts what is not hashed.
class NameCheck {
 public:
  explicit NameCheck(const GraphLimits& limits) : limits_(limits) {}

  bool Accepts(absl::string_view bytes) {
    if (!fields_.Merge(bytes)) return false;
    num_files_ = List(v1::Graph::kSourceFilesFieldNumber).count;
    return num_files_ <= kSourceFilesOfCall * limits_.max_nodes &&
           Each(v1::Graph::kSourceFilesFieldNumber, [](absl::string_view file) { return IsName(file); }) &&
           Tensors(v1::Graph::kInputsFieldNumber, nullptr) &&
           Tensors(v1::Graph::kParametersFieldNumber, &parameter_names_) &&
           Tensors(v1::Graph::kBuffersFieldNumber, &buffer_names_) &&
           Tensors(v1::Graph::kConstantsFieldNumber, nullptr) &&
           Each(v1::Graph::kParameterAliasesFieldNumber, [this](absl::string_view alias) { return IsAlias(alias); }) &&
           Each(v1::Graph::kNodesFieldNumber, [this](absl::string_view node) { return HasOrigin(node); });
  }

 private:
  const FieldRange& List(int number) const { return fields_.lists[static_cast<size_t>(number)]; }

  template <typename With>
  bool Each(int number, With with) const {
    return EachOf(List(number), number,
                  [&with](absl::string_view bytes) {
                    return with(bytes) ? absl::OkStatus() : absl::InvalidArgumentError("");
                  })
        .ok();
  }

  static bool IsName(absl::string_view name) { return IsUtf8(name) && graph::CheckNameLength(name).ok(); }

  bool Tensors(int number, graph::UniqueNames* unique) const {
    return Each(number, [&](absl::string_view bytes) {
      absl::string_view name;
      const bool merged = EachField(bytes, [&name](const WireField& field) {
        if (field.number != v1::NamedTensor::kNameFieldNumber || field.kind != WireField::Kind::kBytes) return true;
        return MergeText(field, &name);
      });
      return merged && IsName(name) && (unique == nullptr || unique->Add(name));
    });
  }

  bool IsAlias(absl::string_view bytes) {
    AliasFields alias;
    return alias.Merge(bytes) && IsName(alias.name) && alias.parameter >= 0 &&
           alias.parameter < List(v1::Graph::kParametersFieldNumber).count && !alias.name.empty() &&
           parameter_names_.Add(alias.name);
  }

  bool HasOrigin(absl::string_view bytes) const {
    OriginFields origin;
    const bool merged = EachField(bytes, [&origin](const WireField& field) {
      if (field.number != v1::Node::kOriginFieldNumber || field.kind != WireField::Kind::kBytes) return true;
      return origin.Merge(field.bytes);
    });
    return merged && origin.IsWithin(num_files_) && graph::CheckNameLength(origin.module_path).ok();
  }

  const GraphLimits& limits_;
  GraphFields fields_;
  int64_t num_files_ = 0;
  graph::UniqueNames parameter_names_, buffer_names_;
};

}  // namespace

std::optional<Hash128> NetworkHash(absl::string_view graph_bytes, const GraphLimits& limits) {
  constexpr size_t kRetained = 256 << 10;
  thread_local std::string bytes;
  const bool known = NameCheck(limits).Accepts(graph_bytes) && Kept(&bytes).AddGraph(graph_bytes);
  const std::optional<Hash128> hash = known ? std::make_optional(KeyedHash(bytes)) : std::nullopt;
  if (bytes.capacity() > kRetained) std::string().swap(bytes);
  return hash;
}

}  // namespace cobra::proto
