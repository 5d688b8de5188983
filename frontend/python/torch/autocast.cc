// torch.autocast('cpu'): which operators take their inputs in the lower precision, and which in float32. PyTorch casts
// inside the dispatcher; here a cast is a call of the graph, as it is work that the network does.
#include "frontend/python/torch/tensor.h"
#include "graph/cost.h"

namespace cobra::python {
namespace {

enum class Policy : uint8_t { kNone, kLower, kFloat32, kWidest };

// As PyTorch 1.13 registers them (aten/src/ATen/autocast_mode.cpp, AutocastCPU), seen from the functions that a program
// calls: an operator that is not listed there, but calls one that is, stands with it.
Policy ListedPolicy(graph::Op op) {
  switch (op) {
    case graph::Op::conv1d:
    case graph::Op::conv2d:
    case graph::Op::conv3d:
    case graph::Op::conv_tbc:
    case graph::Op::linear:
    case graph::Op::matmul:
    case graph::Op::linalg_matmul:
    case graph::Op::bmm:
    case graph::Op::mm:
    case graph::Op::inner:
    case graph::Op::tensordot:
    case graph::Op::addmm:
    case graph::Op::baddbmm:
    case graph::Op::addbmm:
    case graph::Op::chain_matmul:
    case graph::Op::linalg_multi_dot:
    case graph::Op::multi_head_attention_forward:
    case graph::Op::scaled_dot_product_attention:
    case graph::Op::rnn_tanh:
    case graph::Op::rnn_relu:
    case graph::Op::rnn_tanh_cell:
    case graph::Op::rnn_relu_cell:
    case graph::Op::affine_grid:
    case graph::Op::matrix_power:
    case graph::Op::cov:
    case graph::Op::corrcoef: return Policy::kLower;
    case graph::Op::conv_transpose1d:
    case graph::Op::conv_transpose2d:
    case graph::Op::conv_transpose3d:
    case graph::Op::cdist:
    case graph::Op::linalg_matrix_norm:
    case graph::Op::avg_pool3d:
    case graph::Op::max_pool3d:
    case graph::Op::adaptive_avg_pool3d:
    case graph::Op::adaptive_max_pool3d:
    case graph::Op::max_unpool2d:
    case graph::Op::max_unpool3d:
    case graph::Op::fractional_max_pool2d:
    case graph::Op::fractional_max_pool3d:
    case graph::Op::grid_sample:
    case graph::Op::prod:
    case graph::Op::quantile:
    case graph::Op::nanquantile:
    case graph::Op::trace:
    case graph::Op::view_as_complex:
    case graph::Op::polar:
    case graph::Op::stft:
    case graph::Op::fft_fft:
    case graph::Op::fft_ifft:
    case graph::Op::fft_rfft:
    case graph::Op::fft_irfft:
    case graph::Op::fft_fft2:
    case graph::Op::fft_ifft2:
    case graph::Op::fft_rfft2:
    case graph::Op::fft_irfft2:
    case graph::Op::fft_fftn:
    case graph::Op::fft_ifftn:
    case graph::Op::fft_rfftn:
    case graph::Op::fft_irfftn:
    case graph::Op::fft_hfft:
    case graph::Op::fft_ihfft:
    case graph::Op::inverse:
    case graph::Op::linalg_inv:
    case graph::Op::cholesky:
    case graph::Op::linalg_cholesky:
    case graph::Op::cholesky_inverse:
    case graph::Op::cholesky_solve:
    case graph::Op::svd:
    case graph::Op::linalg_svd:
    case graph::Op::linalg_svdvals:
    case graph::Op::qr:
    case graph::Op::linalg_qr:
    case graph::Op::linalg_eig:
    case graph::Op::linalg_eigvals:
    case graph::Op::linalg_eigh:
    case graph::Op::linalg_eigvalsh:
    case graph::Op::pinverse:
    case graph::Op::linalg_solve:
    case graph::Op::triangular_solve:
    case graph::Op::linalg_lstsq:
    case graph::Op::lu:
    case graph::Op::linalg_cond:
    case graph::Op::mse_loss:
    case graph::Op::l1_loss:
    case graph::Op::smooth_l1_loss:
    case graph::Op::huber_loss:
    case graph::Op::binary_cross_entropy:
    case graph::Op::binary_cross_entropy_with_logits:
    case graph::Op::cross_entropy:
    case graph::Op::nll_loss:
    case graph::Op::kl_div:
    case graph::Op::poisson_nll_loss:
    case graph::Op::hinge_embedding_loss:
    case graph::Op::soft_margin_loss:
    case graph::Op::margin_ranking_loss:
    case graph::Op::cosine_embedding_loss:
    case graph::Op::multi_margin_loss:
    case graph::Op::multilabel_margin_loss:
    case graph::Op::triplet_margin_loss:
    case graph::Op::ctc_loss: return Policy::kFloat32;
    case graph::Op::cat:
    case graph::Op::stack:
    case graph::Op::index_copy: return Policy::kWidest;
    default: return Policy::kNone;
  }
}

// What depends on the call: a product that sums is a matrix product, padding by reflection or replication has a kernel
// of its own.
Policy PolicyOf(graph::Op op, const graph::Attributes& attributes, const std::vector<Value>& inputs) {
  if (op == graph::Op::pad) {
    const std::string mode = attributes.String("mode", "constant");
    return mode == "reflect" || mode == "replicate" ? Policy::kFloat32 : Policy::kNone;
  }
  if (op == graph::Op::einsum) {
    std::vector<const graph::TensorType*> types;
    for (Value input : inputs) types.push_back(&AsTensor(input)->type);
    const absl::StatusOr<std::vector<graph::TensorType>> outputs = graph::InferTypes(op, attributes, types);
    if (!outputs.ok() || types.size() < 2) return Policy::kNone;
    return graph::MacsOfCall(op, attributes, types, *outputs) > (*outputs)[0].num_elements() ? Policy::kLower
                                                                                             : Policy::kNone;
  }
  return ListedPolicy(op);
}

Result<Value> Cast(Interpreter& interp, Value tensor, graph::DType dtype) {
  AutocastState& state = Torch(interp).autocast;
  const Tensor* key = AsTensor(tensor);
  const bool kept = state.caches && key->ref.kind == graph::ValueRef::Kind::kParameter && key->requires_grad &&
                    key->type.dtype == graph::DType::float32;
  if (kept) {
    const auto found = state.casts.find(key);
    if (found != state.casts.end()) return found->second;
  }
  COBRA_TRY_ASSIGN(Value made,
                   Apply(interp, graph::Op::to, {{"dtype", std::string(graph::DTypeName(dtype))}}, {tensor}));
  if (kept) state.casts[key] = made;
  return made;
}

// torch._set_autocast(enabled, dtype, caches): the three as they were before.
Result<Value> SetAutocast(Interpreter& interp, const CallArgs& args) {
  bool enabled, caches;
  Value dtype;
  ArgReader reader(interp, "_set_autocast", args);
  COBRA_TRY(reader.Required("enabled", &enabled).Required("dtype", &dtype).Required("cache_enabled", &caches).Finish());
  AutocastState& state = Torch(interp).autocast;
  const Value before[] = {Value::Bool(state.enabled), Torch(interp).dtypes[static_cast<int>(state.dtype)],
                          Value::Bool(state.caches)};
  state.enabled = enabled;
  state.dtype = AsDType(interp, dtype).value_or(graph::DType::bfloat16);
  state.caches = caches;
  return interp.NewTuple(before);
}

// torch._nest_autocast(by): a context manager opens (1) or closes (-1). With the outermost one the casts of the
// parameters are forgotten.
Result<Value> NestAutocast(Interpreter& interp, const CallArgs& args) {
  int64_t by;
  ArgReader reader(interp, "_nest_autocast", args);
  COBRA_TRY(reader.Required("by", &by).Finish());
  AutocastState& state = Torch(interp).autocast;
  state.depth += static_cast<int>(by);
  if (state.depth == 0) state.casts.clear();
  return Value::None();
}

}  // namespace

Result<void> CastInputs(Interpreter& interp, graph::Op op, const graph::Attributes& attributes,
                        std::vector<Value>* inputs) {
  const Policy policy = PolicyOf(op, attributes, *inputs);
  if (policy == Policy::kNone) return {};
  graph::DType target = policy == Policy::kLower ? Torch(interp).autocast.dtype : graph::DType::float32;
  if (policy == Policy::kWidest) {
    target = Torch(interp).autocast.dtype;
    for (Value input : *inputs) {
      if (AsTensor(input) != nullptr && AsTensor(input)->type.dtype == graph::DType::float32)
        target = graph::DType::float32;
    }
  }
  for (Value& input : *inputs) {
    const Tensor* tensor = input.IsNone() ? nullptr : AsTensor(input);
    const graph::DType dtype = tensor == nullptr ? target : tensor->type.dtype;
    if (!graph::IsFloatingPoint(dtype) || dtype == graph::DType::float64 || dtype == target) continue;
    COBRA_TRY_SET(input, Cast(interp, input, target));
  }
  return {};
}

void DefineAutocast(NativeModuleBuilder& m) {
  m.Function("_set_autocast", SetAutocast).Function("_nest_autocast", NestAutocast);
}

}  // namespace cobra::python
