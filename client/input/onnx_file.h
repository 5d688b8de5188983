// An ONNX file on the user's machine: read without its large weights, and with the small tensors
// that shapes may depend on, if these are in other files of its folder (external data).
#ifndef COBRA_CLIENT_INPUT_ONNX_FILE_H_
#define COBRA_CLIENT_INPUT_ONNX_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/limits.h"

namespace cobra::client {

// Errors are Diagnostics. A file in which a path leads out of the model's folder, by "..", an
// absolute path or a symbolic link, is read without what is there.
absl::StatusOr<std::string> ReadOnnxFile(const std::string& path, const Limits& limits);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_INPUT_ONNX_FILE_H_
