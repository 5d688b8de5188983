#include "graph/builder/untrusted.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/text/limit_message.h"

namespace cobra::graph {
namespace {

enum Kind : uint8_t {
  kBool = 1,
  kInt = 2,  // True is an int in Python
  kDouble = 4,
  kText = 8,
  kInts = 16,
  kDoubles = 32,
};
constexpr uint8_t kFlag = kBool;
constexpr uint8_t kInteger = kBool | kInt;
constexpr uint8_t kNumber = kBool | kInt | kDouble;
constexpr uint8_t kIntegers = kInteger | kInts;

struct Row {
  absl::string_view name;
  uint8_t kinds;
};

// None, the absence of the argument, is always allowed.
constexpr Row kRows[] = {
    {"align_corners", kFlag},
    {"aligned", kFlag},
    {"alpha", kNumber},
    {"antialias", kFlag},
    {"approximate", kText},
    {"batch_first", kFlag},
    {"beta", kNumber},
    {"bidirectional", kFlag},
    {"ceil_mode", kFlag},
    {"chunks", kInteger},
    {"count_include_pad", kFlag},
    {"decimals", kInteger},
    {"descending", kFlag},
    {"diagonal", kInteger},
    {"dilation", kIntegers},
    {"dim0", kInteger},
    {"dim1", kInteger},
    {"dim2", kInteger},
    {"divisor_override", kInteger},
    {"downscale_factor", kInteger},
    {"dropout_p", kNumber},
    {"end_dim", kInteger},
    {"eps", kNumber},
    {"equation", kText},
    {"groups", kInteger},
    {"has_biases", kFlag},
    {"is_causal", kFlag},
    {"keepdim", kFlag},
    {"kernel_size", kIntegers},
    {"largest", kFlag},
    {"n_offset_grps", kInteger},
    {"n_weight_grps", kInteger},
    {"negative_slope", kNumber},
    {"normalized_shape", kIntegers},
    {"num_classes", kInteger},
    {"num_groups", kInteger},
    {"num_layers", kInteger},
    {"output_padding", kIntegers},
    {"pad", kIntegers},
    {"padding", kIntegers | kText},
    {"padding_mode", kText},
    {"pooled_height", kInteger},
    {"pooled_width", kInteger},
    {"recompute_scale_factor", kFlag},
    {"return_indices", kFlag},
    {"rounding_mode", kText},
    {"sampling_ratio", kInteger},
    {"scale_factor", kNumber | kInts | kDoubles},
    {"shifts", kIntegers},
    {"sorted", kFlag},
    {"spatial_scale", kNumber},
    {"start_dim", kInteger},
    {"stride", kIntegers},
    {"training", kFlag},
    {"unbiased", kFlag},
    {"upscale_factor", kInteger},
    {"use_mask", kFlag},
};

uint8_t KindsOf(absl::string_view name) {
  static const auto* const kinds = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, uint8_t>();
    for (const Row& row : kRows) map->emplace(row.name, row.kinds);
    return map;
  }();
  const auto it = kinds->find(name);
  return it == kinds->end() ? 0xFF : it->second;
}

struct KindOf {
  uint8_t operator()(NoneValue) const { return 0xFF; }
  uint8_t operator()(bool) const { return kBool; }
  uint8_t operator()(int64_t) const { return kInt; }
  uint8_t operator()(double) const { return kDouble; }
  uint8_t operator()(const std::string&) const { return kText; }
  uint8_t operator()(const std::vector<int64_t>&) const { return kInts; }
  uint8_t operator()(const std::vector<double>& v) const { return v.empty() ? kInts | kDoubles : kDoubles; }
};

std::string ExpectedTypes(uint8_t kinds) {
  if (kinds == kFlag) return "True or False";
  if (kinds == kInteger) return "a whole number";
  if (kinds == kNumber) return "a number";
  if (kinds == kText) return "a string";
  if (kinds == kIntegers) return "a whole number or a list of them";
  if ((kinds & kText) != 0) return "whole numbers or a string";
  return "numbers";
}

}  // namespace

bool IsTooLarge(const TensorType& type, int64_t max_bytes) {
  int64_t bytes = DTypeBytes(type.dtype);
  for (int64_t size : type.shape) {
    if (size > 0 && __builtin_mul_overflow(bytes, size, &bytes)) return true;
  }
  return bytes > max_bytes;
}

absl::Status CheckTensorType(const TensorType& type, const GraphLimits& limits) {
  if (type.rank() > limits.max_rank) {
    return absl::InvalidArgumentError(LimitMessage("", type.rank(), limits.max_rank, "dimensions"));
  }
  for (int64_t size : type.shape) {
    if (size < 0) return absl::InvalidArgumentError(absl::StrCat("size ", size, " is negative"));
  }
  if (IsTooLarge(type, limits.max_tensor_bytes)) {
    return absl::ResourceExhaustedError(LimitMessage("", limits.max_tensor_bytes, "bytes"));
  }
  return absl::OkStatus();
}

absl::Status CheckAttributeTypes(const Attributes& attributes) {
  for (const auto& [name, value] : attributes) {
    const uint8_t kinds = KindsOf(name);
    if ((std::visit(KindOf(), value) & kinds) != 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("argument '", name, "' must be ", ExpectedTypes(kinds), ", not ", Quoted(AttributeText(value))));
  }
  return absl::OkStatus();
}

absl::Status CheckNameLength(absl::string_view name) {
  static const int64_t kMost = Limits().name_bytes;
  if (static_cast<int64_t>(name.size()) <= kMost) return absl::OkStatus();
  return absl::ResourceExhaustedError(LimitMessage("", static_cast<int64_t>(name.size()), kMost, "bytes"));
}

std::string NodeText(int64_t index, absl::string_view op) {
  return absl::StrCat("node ", index, " (", Quoted(op), ")");
}

std::string Quoted(absl::string_view text) {
  constexpr size_t kMost = 60;
  if (text.size() <= kMost) return std::string(text);
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a UTF-8 character
  return absl::StrCat(text.substr(0, end), "...");
}

}  // namespace cobra::graph
