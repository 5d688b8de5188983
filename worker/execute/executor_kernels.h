// Inside the executor only (LibTorch shows): the type of a kernel, and the table of kernels. Each
// executor_<group>.cc adds the kernels of a group of ops.def; a kernel is created once per node,
// with every attribute already read, so that a call only calls ATen.
#ifndef COBRA_WORKER_EXECUTE_EXECUTOR_KERNELS_H_
#define COBRA_WORKER_EXECUTE_EXECUTOR_KERNELS_H_

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace cobra::worker {

// The tensors of one call. Slots of the executor: pointers stay valid for its life.
struct Call {
  // Null for an absent optional tensor.
  std::vector<at::Tensor*> inputs;
  // An array with one tensor per output of the node.
  at::Tensor* outputs = nullptr;

  const at::Tensor& operator[](size_t i) const { return *inputs[i]; }
  at::Tensor& Mutable(size_t i) const { return *inputs[i]; }
  bool has(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  c10::optional<at::Tensor> Optional(size_t i) const {
    return has(i) ? c10::optional<at::Tensor>(*inputs[i]) : c10::nullopt;
  }
  std::vector<at::Tensor> From(size_t first) const {
    std::vector<at::Tensor> list;
    for (size_t i = first; i < inputs.size(); ++i) {
      if (inputs[i] != nullptr) list.push_back(*inputs[i]);
    }
    return list;
  }
};

using Kernel = std::function<void(const Call&)>;

// The input of a factory: the node and the types of its inputs (null if absent).
struct NodeContext {
  const graph::Node& node;
  std::vector<const graph::TensorType*> inputs;
  at::ScalarType float_type;  // that a float32 tensor of the graph has (ExecutionDevice::FloatType)
  c10::Device device;

  // Of the first output, for a call that has no input to take it from.
  at::TensorOptions NewTensor() const;
  bool inplace() const { return node.inplace; }
  bool has(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  bool HasValue(absl::string_view name) const {  // given and not None
    const graph::AttributeValue* value = node.attributes.Find(name);
    return value != nullptr && !std::holds_alternative<graph::NoneValue>(*value);
  }
  int64_t Int(absl::string_view name, int64_t fallback = 0) const { return node.attributes.Int(name, fallback); }
  double Double(absl::string_view name, double fallback = 0) const { return node.attributes.Double(name, fallback); }
  bool Bool(absl::string_view name, bool fallback = false) const { return node.attributes.Bool(name, fallback); }
  std::string String(absl::string_view name, absl::string_view fallback = "") const {
    return node.attributes.String(name, fallback);
  }
  std::vector<int64_t> Ints(absl::string_view name) const { return node.attributes.Ints(name); }
  c10::optional<int64_t> OptionalInt(absl::string_view name) const {
    return HasValue(name) ? c10::optional<int64_t>(Int(name)) : c10::nullopt;
  }
  c10::optional<double> OptionalDouble(absl::string_view name) const {
    return HasValue(name) ? c10::optional<double>(Double(name)) : c10::nullopt;
  }
  at::Scalar Scalar(absl::string_view name, at::Scalar fallback = 1) const;
  c10::optional<at::Scalar> OptionalScalar(absl::string_view name) const {
    return HasValue(name) ? c10::optional<at::Scalar>(Scalar(name)) : c10::nullopt;
  }
  // "float32", "torch.float32"
  c10::optional<at::ScalarType> DType(absl::string_view name) const;
};

using KernelFactory = std::function<absl::StatusOr<Kernel>(const NodeContext&)>;

// The kernel of a function of one tensor and the list of numbers in the attribute `name`.
template <typename F>
KernelFactory WithInts(const char* name, F f) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const std::vector<int64_t> values = c.Ints(name);
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], values); });
  };
}

class KernelTable {
 public:
  KernelFactory& operator[](graph::Op op) { return factories_[static_cast<size_t>(op)]; }
  const KernelFactory& operator[](graph::Op op) const { return factories_[static_cast<size_t>(op)]; }

  // Plain functions of one or two tensors; `in_place` may be null.
  void Unary(graph::Op op, at::Tensor (*f)(const at::Tensor&), at::Tensor& (*in_place)(at::Tensor&) = nullptr);
  void Binary(graph::Op op, at::Tensor (*f)(const at::Tensor&, const at::Tensor&));

 private:
  std::array<KernelFactory, graph::kNumOps> factories_;
};

// Unimplemented, naming the operator.
absl::Status Refused(const NodeContext& context, absl::string_view why);
at::ScalarType ToScalarType(graph::DType dtype);

void AddConvolutionKernels(KernelTable* table);
void AddProductKernels(KernelTable* table);
void AddNormKernels(KernelTable* table);
void AddPoolKernels(KernelTable* table);
void AddActivationKernels(KernelTable* table);
void AddArithmeticKernels(KernelTable* table);
void AddReductionKernels(KernelTable* table);
void AddIndexKernels(KernelTable* table);
void AddCopyKernels(KernelTable* table);
void AddCreationKernels(KernelTable* table);
void AddViewKernels(KernelTable* table);
void AddSpectrumKernels(KernelTable* table);
void AddRoiKernels(KernelTable* table);

void AddLossKernels(KernelTable* table);
void AddBoxedKernels(KernelTable* table);
// Runs a node by its operator's schema in PyTorch's dispatcher.
KernelFactory BoxedKernel();

const KernelTable& Kernels();

}  // namespace cobra::worker

#endif  // COBRA_WORKER_EXECUTE_EXECUTOR_KERNELS_H_
