#include "model/net/safetensors.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file/tensor_file.h"
#include "base/status_macros.h"

namespace cobra::net {

std::string SaveTensors(const torch::nn::Module& module) {
  std::vector<at::Tensor> kept;
  std::vector<std::pair<std::string, StoredTensor>> tensors;
  for (const auto& item : module.named_parameters()) {
    const at::Tensor& t = kept.emplace_back(item.value().detach().to(at::kFloat).contiguous());
    tensors.push_back({item.key(), {t.sizes().vec(), {static_cast<const char*>(t.data_ptr()), t.nbytes()}}});
  }
  return WriteTensorFile(tensors);
}

absl::Status LoadTensors(absl::string_view file, torch::nn::Module* module) {
  COBRA_ASSIGN_OR_RETURN(const auto tensors, ReadTensorFile(file, "F32"));
  at::NoGradGuard no_grad;
  for (auto& item : module->named_parameters()) {
    const auto found = tensors.find(item.key());
    if (found == tensors.end()) return absl::DataLossError(absl::StrCat("tensors: ", item.key(), " is missing"));
    at::Tensor& t = item.value();
    if (found->second.shape != t.sizes().vec()) {
      return absl::DataLossError(absl::StrCat("tensors: ", item.key(), " must be [",
                                              absl::StrJoin(t.sizes().vec(), ", "), "], the file has [",
                                              absl::StrJoin(found->second.shape, ", "), "]"));
    }
    std::memcpy(t.data_ptr(), found->second.bytes.data(), t.nbytes());
  }
  return absl::OkStatus();
}

}  // namespace cobra::net
