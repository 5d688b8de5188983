// The memory that an ONNX file takes once it is parsed (base/bytes/parsed_size.h).
#ifndef COBRA_FRONTEND_ONNX_PARSED_SIZE_H_
#define COBRA_FRONTEND_ONNX_PARSED_SIZE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "base/bytes/parsed_size.h"

namespace cobra::onnx {

struct ModelSize {
  ParsedSize parsed;  // of messages, names and lists; not of the weights' own bytes
  int64_t nodes = 0;  // of all graphs, those inside nodes included
};
// `model` is a serialized ModelProto. Stops where the bytes are not a message any more, and soon
// after `most` bytes.
ModelSize SizeOfModel(absl::string_view model, int64_t most);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_PARSED_SIZE_H_
