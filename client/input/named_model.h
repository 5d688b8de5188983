// Models of the lists that we ship (data/lists), by their names: `torchvision:resnet18`,
// `ncnn:mobilenet`, or without the list where only one has the name.
#ifndef COBRA_CLIENT_INPUT_NAMED_MODEL_H_
#define COBRA_CLIENT_INPUT_NAMED_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::client {

struct NamedModel {
  std::string path;   // of its file; below a --library if of_library
  std::string entry;  // empty if the file is not a program
  std::string inputs;
  bool of_library = false;
};

// Whether it is written as the name of a model: `torchvision:...`, `ncnn:...`, or a word that a
// list has.
bool IsModelName(absl::string_view name);
// A usage Diagnostic that begins with the name if the list has no such model, or several lists
// have.
absl::StatusOr<NamedModel> FindNamedModel(absl::string_view name);
// Its file, of one of the `libraries` if it is of a library. A usage Diagnostic if none has it.
absl::StatusOr<std::string> FileOfNamedModel(const NamedModel& named, absl::string_view name,
                                             const std::vector<std::string>& libraries);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_INPUT_NAMED_MODEL_H_
