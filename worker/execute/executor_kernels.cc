#include "worker/execute/executor_kernels.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace cobra::worker {

absl::Status Refused(const NodeContext& context, absl::string_view why) {
  return absl::UnimplementedError(absl::StrCat("executor: ", graph::OpName(context.node.op), ": ", why));
}

at::ScalarType ToScalarType(graph::DType dtype) {
  switch (dtype) {
    case graph::DType::float32: return at::kFloat;
    case graph::DType::float16: return at::kHalf;
    case graph::DType::bfloat16: return at::kBFloat16;
    case graph::DType::float64: return at::kDouble;
    case graph::DType::int64: return at::kLong;
    case graph::DType::int32: return at::kInt;
    case graph::DType::int16: return at::kShort;
    case graph::DType::int8: return at::kChar;
    case graph::DType::uint8: return at::kByte;
    case graph::DType::bool_: return at::kBool;
    case graph::DType::complex64: return at::kComplexFloat;
    case graph::DType::complex128: return at::kComplexDouble;
  }
  return at::kFloat;
}

at::TensorOptions NodeContext::NewTensor() const {
  const at::ScalarType type = ToScalarType(node.outputs[0].dtype);
  return at::TensorOptions().dtype(type == at::kFloat ? float_type : type).device(device);
}

at::Scalar NodeContext::Scalar(absl::string_view name, at::Scalar fallback) const {
  const graph::AttributeValue* value = node.attributes.Find(name);
  if (value == nullptr) return fallback;
  if (const bool* b = std::get_if<bool>(value)) return at::Scalar(*b);
  if (const int64_t* i = std::get_if<int64_t>(value)) return at::Scalar(*i);
  if (const double* d = std::get_if<double>(value)) return at::Scalar(*d);
  return fallback;
}

c10::optional<at::ScalarType> NodeContext::DType(absl::string_view name) const {
  const std::string text = String(name);
  const std::optional<cobra::graph::DType> dtype = graph::DTypeFromName(absl::StripPrefix(text, "torch."));
  if (!dtype) return c10::nullopt;
  return ToScalarType(*dtype);
}

void KernelTable::Unary(graph::Op op, at::Tensor (*f)(const at::Tensor&), at::Tensor& (*in_place)(at::Tensor&)) {
  (*this)[op] = [f, in_place](const NodeContext& c) -> absl::StatusOr<Kernel> {
    if (!c.inplace()) return Kernel([f](const Call& call) { call.outputs[0] = f(call[0]); });
    if (in_place == nullptr) return BoxedKernel()(c);
    return Kernel([in_place](const Call& call) { call.outputs[0] = in_place(call.Mutable(0)); });
  };
}

void KernelTable::Binary(graph::Op op, at::Tensor (*f)(const at::Tensor&, const at::Tensor&)) {
  (*this)[op] = [f](const NodeContext& c) -> absl::StatusOr<Kernel> {
    if (c.inplace()) return BoxedKernel()(c);
    return Kernel([f](const Call& call) { call.outputs[0] = f(call[0], call[1]); });
  };
}

const KernelTable& Kernels() {
  static const KernelTable* const table = [] {
    auto* t = new KernelTable;
    AddConvolutionKernels(t);
    AddProductKernels(t);
    AddNormKernels(t);
    AddPoolKernels(t);
    AddActivationKernels(t);
    AddArithmeticKernels(t);
    AddReductionKernels(t);
    AddIndexKernels(t);
    AddCopyKernels(t);
    AddCreationKernels(t);
    AddViewKernels(t);
    AddSpectrumKernels(t);
    AddRoiKernels(t);
    AddLossKernels(t);
    AddBoxedKernels(t);
    return t;
  }();
  return *table;
}

}  // namespace cobra::worker
