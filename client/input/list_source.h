// What --list names: a file, a folder of models, or a list that we ship.
#ifndef COBRA_CLIENT_INPUT_LIST_SOURCE_H_
#define COBRA_CLIENT_INPUT_LIST_SOURCE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::client {

// Lists in data/lists. The models of the first are in a --library.
inline constexpr absl::string_view kTorchvisionList = "torchvision", kShippedLists[] = {kTorchvisionList, "ncnn"};

struct ListSource {
  std::string name;         // as messages call it
  std::string folder;       // in which its models are
  std::string text;         // of LIST.csv (client/input/model_list.h)
  bool of_library = false;  // its models are in a --library
};

// "torchvision" and "ncnn" are data/lists, unless there is a file of that name. A folder is the
// list of its files .onnx, .tflite and .param, and of those below it, by name; each asks for the
// inputs that it has itself. A usage Diagnostic that begins with what `flag` was given; kLimit if
// the file is larger than `most_bytes`.
absl::StatusOr<ListSource> ReadListSource(const std::string& given, absl::string_view flag, int64_t most_bytes);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_INPUT_LIST_SOURCE_H_
