// torch.autocast('cpu'): which operators take their inputs in the lower precision, and which in float32. PyTorch casts
// inside the dispatcher; here a cast is a call of the graph, as it is work that the network does.
#include "frontend/python/torch/tensor.h"
#include "graph/cost.h"

namespace cobra::python {
namespace {

enum class Policy : uint8_t { kNone, kLower, kFloat32, kWidest };

// As PyTorch 1.13 registers them (aten/src/ATen/autocast_mode.cpp, AutocastCPU), seen from the functions that a program
// calls: an operator that is not listed there, but calls one that is, stands with it.
Policy ListedPolicy(Op op) {
  switch (op) {
    case Op::conv1d:
    case Op::conv2d:
    case Op::conv3d:
    case Op::conv_tbc:
    case Op::linear:
    case Op::matmul:
    case Op::linalg_matmul:
    case Op::bmm:
    case Op::mm:
    case Op::inner:
    case Op::tensordot:
    case Op::addmm:
    case Op::baddbmm:
    case Op::addbmm:
    case Op::chain_matmul:
    case Op::linalg_multi_dot:
    case Op::multi_head_attention_forward:
    case Op::scaled_dot_product_attention:
    case Op::rnn_tanh:
    case Op::rnn_relu:
    case Op::rnn_tanh_cell:
    case Op::rnn_relu_cell:
    case Op::affine_grid:
    case Op::matrix_power:
    case Op::cov:
    case Op::corrcoef: return Policy::kLower;
    case Op::conv_transpose1d:
    case Op::conv_transpose2d:
    case Op::conv_transpose3d:
    case Op::cdist:
    case Op::linalg_matrix_norm:
    case Op::avg_pool3d:
    case Op::max_pool3d:
    case Op::adaptive_avg_pool3d:
    case Op::adaptive_max_pool3d:
    case Op::max_unpool2d:
    case Op::max_unpool3d:
    case Op::fractional_max_pool2d:
    case Op::fractional_max_pool3d:
    case Op::grid_sample:
    case Op::prod:
    case Op::quantile:
    case Op::nanquantile:
    case Op::trace:
    case Op::view_as_complex:
    case Op::polar:
    case Op::stft:
    case Op::fft_fft:
    case Op::fft_ifft:
    case Op::fft_rfft:
    case Op::fft_irfft:
    case Op::fft_fft2:
    case Op::fft_ifft2:
    case Op::fft_rfft2:
    case Op::fft_irfft2:
    case Op::fft_fftn:
    case Op::fft_ifftn:
    case Op::fft_rfftn:
    case Op::fft_irfftn:
    case Op::fft_hfft:
    case Op::fft_ihfft:
    case Op::inverse:
    case Op::linalg_inv:
    case Op::cholesky:
    case Op::linalg_cholesky:
    case Op::cholesky_inverse:
    case Op::cholesky_solve:
    case Op::svd:
    case Op::linalg_svd:
    case Op::linalg_svdvals:
    case Op::qr:
    case Op::linalg_qr:
    case Op::linalg_eig:
    case Op::linalg_eigvals:
    case Op::linalg_eigh:
    case Op::linalg_eigvalsh:
    case Op::pinverse:
    case Op::linalg_solve:
    case Op::triangular_solve:
    case Op::linalg_lstsq:
    case Op::lu:
    case Op::linalg_cond:
    case Op::mse_loss:
    case Op::l1_loss:
    case Op::smooth_l1_loss:
    case Op::huber_loss:
    case Op::binary_cross_entropy:
    case Op::binary_cross_entropy_with_logits:
    case Op::cross_entropy:
    case Op::nll_loss:
    case Op::kl_div:
    case Op::poisson_nll_loss:
    case Op::hinge_embedding_loss:
    case Op::soft_margin_loss:
    case Op::margin_ranking_loss:
    case Op::cosine_embedding_loss:
    case Op::multi_margin_loss:
    case Op::multilabel_margin_loss:
    case Op::triplet_margin_loss:
    case Op::ctc_loss: return Policy::kFloat32;
    case Op::cat:
    case Op::stack:
    case Op::index_copy: return Policy::kWidest;
    default: return Policy::kNone;
  }
}

// What depends on the call: a product that sums is a matrix product, padding by reflection or replication has a kernel
// of its own.
Policy PolicyOf(Op op, const Attributes& attributes, const std::vector<Value>& inputs) {
  if (op == Op::pad) {
    const std::string mode = attributes.String("mode", "constant");
    return mode == "reflect" || mode == "replicate" ? Policy::kFloat32 : Policy::kNone;
  }
  if (op == Op::einsum) {
    std::vector<const TensorType*> types;
    for (Value input : inputs) types.push_back(&AsTensor(input)->type);
    const absl::StatusOr<std::vector<TensorType>> outputs = InferTypes(op, attributes, types);
    if (!outputs.ok() || types.size() < 2) return Policy::kNone;
    return MacsOfCall(op, attributes, types, *outputs) > (*outputs)[0].num_elements() ? Policy::kLower : Policy::kNone;
  }
  return ListedPolicy(op);
}

Result<Value> Cast(Interpreter& interp, Value tensor, DType dtype) {
  AutocastState& state = Torch(interp).autocast;
  const Tensor* key = AsTensor(tensor);
  const bool kept = state.caches && key->ref.kind == ValueRef::Kind::kParameter && key->requires_grad &&
                    key->type.dtype == DType::float32;
  if (kept) {
    const auto found = state.casts.find(key);
    if (found != state.casts.end()) return found->second;
  }
  COBRA_TRY_ASSIGN(Value made, Apply(interp, Op::to, {{"dtype", std::string(DTypeName(dtype))}}, {tensor}));
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
  state.dtype = AsDType(interp, dtype).value_or(DType::bfloat16);
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

Result<void> CastInputs(Interpreter& interp, Op op, const Attributes& attributes, std::vector<Value>* inputs) {
  const Policy policy = PolicyOf(op, attributes, *inputs);
  if (policy == Policy::kNone) return {};
  DType target = policy == Policy::kLower ? Torch(interp).autocast.dtype : DType::float32;
  if (policy == Policy::kWidest) {
    target = Torch(interp).autocast.dtype;
    for (Value input : *inputs) {
      if (AsTensor(input) != nullptr && AsTensor(input)->type.dtype == DType::float32) target = DType::float32;
    }
  }
  for (Value& input : *inputs) {
    const Tensor* tensor = input.IsNone() ? nullptr : AsTensor(input);
    const DType dtype = tensor == nullptr ? target : tensor->type.dtype;
    if (!IsFloatingPoint(dtype) || dtype == DType::float64 || dtype == target) continue;
    COBRA_TRY_SET(input, Cast(interp, input, target));
  }
  return {};
}

void DefineAutocast(NativeModuleBuilder& m) {
  m.Function("_set_autocast", SetAutocast).Function("_nest_autocast", NestAutocast);
}

}  // namespace cobra::python
