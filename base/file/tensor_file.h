// The safetensors layout (huggingface/safetensors, README "Format"): 8 bytes little-endian header
// length, a JSON header {name: {"dtype":"F32","shape":[..],"data_offsets":[begin,end]}}, then the
// raw data, little-endian. No pickles; nothing is executed. Without LibTorch.
#ifndef COBRA_BASE_FILE_TENSOR_FILE_H_
#define COBRA_BASE_FILE_TENSOR_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra {

struct StoredTensor {
  std::vector<int64_t> shape;
  absl::string_view bytes;  // as many as type and shape require
  std::string dtype = "F32";
};

// For a type's name in such files ("F32", "I64", "BOOL"); 0 if the name is unknown.
int64_t BytesOfStoredType(absl::string_view dtype);

// The tensors by name; they point into `file`. DataLoss if the file is malformed, or has a tensor
// of another type than `dtype`, if that is given.
absl::StatusOr<std::map<std::string, StoredTensor>> ReadTensorFile(absl::string_view file,
                                                                   absl::string_view dtype = "");
std::string WriteTensorFile(const std::vector<std::pair<std::string, StoredTensor>>& tensors);

}  // namespace cobra

#endif  // COBRA_BASE_FILE_TENSOR_FILE_H_
