// Named tensors, for the safetensors layout (model/net/safetensors.h). Includes LibTorch headers.
#ifndef COBRA_MODEL_SPACE_MODELS_TENSOR_MAP_H_
#define COBRA_MODEL_SPACE_MODELS_TENSOR_MAP_H_

#include <torch/nn/module.h>
#include <torch/types.h>

#include <string>

namespace cobra::space {

class TensorMap : public torch::nn::Module {
 public:
  void Add(const std::string& name, const at::Tensor& tensor) {
    register_parameter(name, tensor.detach().to(at::kFloat).clone(), /*requires_grad=*/false);
  }
  at::Tensor Get(const std::string& name) const { return named_parameters()[name].to(at::kDouble); }
};

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_MODELS_TENSOR_MAP_H_
