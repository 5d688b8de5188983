#include "client/series/batch.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "frontend/python/input_spec.h"
#include "graph/types.h"

namespace cobra::client {
namespace {

using python::InputValue;

constexpr char kBatch = 'B';
constexpr char kBatchHint[] = "sizes as in 1,2,4,8 or 1..256 (doubling) or 1,2,4,...,256 or 8,16,24,...,64";

class BatchParser {
 public:
  explicit BatchParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<int64_t>> Parse() {
    const std::vector<absl::string_view> parts = absl::StrSplit(text_, ',');
    bool fill = false;  // the next number ends a "..."
    for (absl::string_view part : parts) {
      part = absl::StripAsciiWhitespace(part);
      if (part == "...") {
        if (fill || batches_.empty()) return Error("\"...\" follows no size");
        fill = true;
        continue;
      }
      const std::vector<std::string> ends = absl::StrSplit(absl::StrReplaceAll(part, {{"...", ".."}}), "..");
      if (ends.size() > 2 || (ends.size() == 2 && fill)) return Error(absl::StrCat("\"", part, "\" is not a size"));
      for (size_t i = 0; i < ends.size(); ++i) {
        COBRA_ASSIGN_OR_RETURN(const int64_t batch, Size(ends[i]));
        COBRA_RETURN_IF_ERROR(i == 1 ? FillTo(batch, 0) : fill ? FillTo(batch, batches_.size()) : Add(batch));
      }
      fill = false;
    }
    if (fill) return Error("nothing follows \"...\"");
    std::sort(batches_.begin(), batches_.end());
    batches_.erase(std::unique(batches_.begin(), batches_.end()), batches_.end());
    return batches_;
  }

 private:
  absl::Status Error(absl::string_view why) const {
    return UsageError(absl::StrCat("--batch ", text_.substr(0, 80), ": ", why), kBatchHint);
  }

  absl::StatusOr<int64_t> Size(absl::string_view text) const {
    int64_t batch = 0;
    if (!absl::SimpleAtoi(text, &batch)) return Error(absl::StrCat("\"", text.substr(0, 40), "\" is not a size"));
    if (batch < 1 || batch > kMostBatch) return Error(absl::StrCat(batch, " is not between 1 and ", kMostBatch));
    return batch;
  }

  absl::Status Add(int64_t batch) {
    if (batches_.size() >= kMostBatches) return Error(absl::StrCat("more than ", kMostBatches, " sizes"));
    batches_.push_back(batch);
    return absl::OkStatus();
  }

  // Up to `last`, in the step of the last two of the list's `known` numbers; with fewer, doubling.
  absl::Status FillTo(int64_t last, size_t known) {
    const int64_t b = batches_.back();
    if (last <= b) return Error(absl::StrCat(last, " is not above ", b));
    int64_t factor = 2, step = 0;
    if (known >= 2) {
      const int64_t a = batches_[batches_.size() - 2];
      if (b <= a) return Error(absl::StrCat("before \"...\", ", b, " is not above ", a));
      factor = b % a == 0 ? b / a : 1;
      step = factor == 1 ? b - a : 0;
    }
    for (int64_t next = b * factor + step; next < last; next = next * factor + step) COBRA_RETURN_IF_ERROR(Add(next));
    return Add(last);
  }

  const absl::string_view text_;
  std::vector<int64_t> batches_;
};

// Whether the B at `i` stands where a dimension does: "Bx3", "[Bx3", "128xBx512", "x=B:int64".
bool IsBatchAt(absl::string_view text, size_t i) {
  if (text[i] != kBatch) return false;
  const bool begins = i == 0 || absl::StrContains("=[({,: ", text.substr(i - 1, 1)) ||
                      (text[i - 1] == 'x' && i >= 2 && absl::StrContains("0123456789B", text.substr(i - 2, 1)));
  const bool ends = i + 1 == text.size() || absl::StrContains("x:,])} ", text.substr(i + 1, 1));
  return begins && ends;
}

bool HasBatch(absl::string_view input) {
  for (size_t i = 0; i < input.size(); ++i) {
    if (IsBatchAt(input, i)) return true;
  }
  return false;
}

// As ParseInput reads it; leading dimensions of size `batch` are B.
std::string ValueText(const InputValue& value, int64_t batch) {
  if (value.kind == InputValue::Kind::kNone) return "None";
  if (value.kind == InputValue::Kind::kTensor) {
    const graph::TensorType& type = value.tensor;
    std::vector<std::string> sizes;
    for (const int64_t size : type.shape) sizes.push_back(absl::StrCat(size));
    if (sizes.empty()) return graph::TypeText(type);
    if (type.shape[0] == batch) sizes[0] = std::string(1, kBatch);
    return absl::StrCat(absl::StrJoin(sizes, "x"),
                        type.dtype == graph::DType::float32 ? "" : absl::StrCat(":", graph::DTypeName(type.dtype)));
  }
  std::vector<std::string> items;
  for (size_t i = 0; i < value.items.size(); ++i) {
    items.push_back(absl::StrCat(value.keys.empty() ? "" : absl::StrCat("\"", value.keys[i], "\": "),
                                 ValueText(value.items[i], batch)));
  }
  const bool is_list = value.kind == InputValue::Kind::kList;
  const bool is_tuple = value.kind == InputValue::Kind::kTuple;
  return absl::StrCat(is_list    ? "["
                      : is_tuple ? "("
                                 : "{",
                      absl::StrJoin(items, ", "), is_tuple && items.size() == 1 ? "," : "",
                      is_list    ? "]"
                      : is_tuple ? ")"
                                 : "}");
}

// "NAME=", of any name that a file has ("input.1"), and the rest. A tensor as it is in a file needs
// no more.
std::pair<std::string, absl::StatusOr<InputValue>> ParseNamed(const std::string& input) {
  const size_t equals = input.rfind('=');
  const size_t begin = equals == std::string::npos ? 0 : equals + 1;
  if (absl::StatusOr<graph::TensorType> type = graph::ParseTensorType(input.substr(begin)); type.ok()) {
    InputValue value;
    value.tensor = *std::move(type);
    return {input.substr(0, begin), value};
  }
  absl::StatusOr<python::InputSpec> spec = python::ParseInput(input);
  if (!spec.ok()) return {"", spec.status()};
  return {spec->name.empty() ? "" : absl::StrCat(spec->name, "="), std::move(spec->value)};
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> ParseBatches(absl::string_view text) { return BatchParser(text).Parse(); }

absl::StatusOr<std::vector<std::string>> BatchInputs(const std::vector<std::string>& inputs) {
  if (std::any_of(inputs.begin(), inputs.end(), HasBatch)) return inputs;
  std::optional<int64_t> batch;
  std::vector<std::string> with_batch;
  for (const std::string& input : inputs) {
    const auto [name, value] = ParseNamed(input);
    if (!value.ok()) return value.status();
    if (!batch.has_value()) {
      const bool is_tensor = value->kind == InputValue::Kind::kTensor && !value->tensor.shape.empty();
      if (!is_tensor) {
        return UsageError(absl::StrCat("--input ", input, ": has no leading dimension that could be the batch"),
                          "write B for the batch: --input Bx3x224x224, --input 128xBx512");
      }
      batch = value->tensor.shape[0];
    }
    with_batch.push_back(absl::StrCat(name, ValueText(*value, *batch)));
  }
  return with_batch;
}

std::vector<std::string> InputsAt(const std::vector<std::string>& inputs, int64_t batch) {
  std::vector<std::string> at;
  for (const std::string& input : inputs) {
    std::string& text = at.emplace_back();
    for (size_t i = 0; i < input.size(); ++i) {
      if (IsBatchAt(input, i)) {
        absl::StrAppend(&text, batch);
      } else {
        text += input[i];
      }
    }
  }
  return at;
}

}  // namespace cobra::client
