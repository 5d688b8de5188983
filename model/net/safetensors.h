// Parameters of a network to and from a file of tensors (base/file/tensor_file.h).
#ifndef COBRA_MODEL_NET_SAFETENSORS_H_
#define COBRA_MODEL_NET_SAFETENSORS_H_

#include <torch/nn/module.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cobra::net {

// The parameters of `module` by name.
std::string SaveTensors(const torch::nn::Module& module);
// Fills the parameters of `module`; DataLoss if one is missing, has another shape, or the file is
// malformed.
absl::Status LoadTensors(absl::string_view file, torch::nn::Module* module);

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_SAFETENSORS_H_
