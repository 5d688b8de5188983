// The safetensors layout (huggingface/safetensors, README "Format"): 8 bytes little-endian header length, a JSON header
// {name: {"dtype":"F32","shape":[..],"data_offsets":[begin,end]}}, then the raw data. Only F32 is used; no pickles,
// nothing is executed. Without LibTorch.
#ifndef COBRA_MODEL_NET_TENSOR_FILE_H_
#define COBRA_MODEL_NET_TENSOR_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::net {

struct StoredTensor {
  std::vector<int64_t> shape;
  absl::string_view bytes;  // of float32, as many as the shape says
};

// The tensors by name; they point into `file`. DataLoss if the file is malformed.
absl::StatusOr<std::map<std::string, StoredTensor>> ReadTensorFile(absl::string_view file);
std::string WriteTensorFile(const std::vector<std::pair<std::string, StoredTensor>>& tensors);

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_TENSOR_FILE_H_
