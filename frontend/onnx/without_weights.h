// An ONNX file without the bytes of its large weights, which no shape depends on. What is left of a
// file of any size is small: it fits into protobuf's messages (2 GiB) and into a request of the
// API.
#ifndef COBRA_FRONTEND_ONNX_WITHOUT_WEIGHTS_H_
#define COBRA_FRONTEND_ONNX_WITHOUT_WEIGHTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"

namespace cobra::onnx {

// A tensor whose bytes are in another file.
struct ExternalTensor {
  std::string name;
  std::string location;  // as the model's file has it: nobody has checked the path
  int64_t offset = 0, bytes = 0;
};
// The bytes of the tensor, nullopt if there is no such file. An error ends the reading.
using ReadExternal = std::function<absl::StatusOr<std::optional<std::string>>(const ExternalTensor&)>;

// `model` is a serialized ModelProto; nullopt if it is not. Of tensors in other files, `external`
// is asked for those whose values a shape may depend on (small ones); it may be null.
// ResourceExhausted if more than `most_bytes` are left, or more than limits.max_const_bytes are
// read from other files.
absl::StatusOr<std::optional<std::string>> WithoutWeights(absl::string_view model, const OnnxLimits& limits,
                                                          int64_t most_bytes, const ReadExternal& external = nullptr);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_WITHOUT_WEIGHTS_H_
