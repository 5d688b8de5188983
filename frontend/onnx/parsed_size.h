// The memory that an ONNX file takes once it is parsed, computed from its bytes. Two bytes of the
// file may be an empty message of 200, so a file of a few megabytes could take gigabytes.
#ifndef COBRA_FRONTEND_ONNX_PARSED_SIZE_H_
#define COBRA_FRONTEND_ONNX_PARSED_SIZE_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace cobra::onnx {

struct ParsedSize {
  int64_t bytes = 0;  // of messages, names and lists; not of the weights' own bytes
  int64_t nodes = 0;  // of all graphs, those inside nodes included
  bool well_formed = true;
};
// `model` is a serialized ModelProto. Stops where the bytes are not a message any more, and soon
// after `most` bytes.
ParsedSize ParsedSizeOf(absl::string_view model, int64_t most);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_PARSED_SIZE_H_
