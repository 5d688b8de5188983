#include "worker/executor.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "ATen/Parallel.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/view_as_real.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "c10/core/CPUAllocator.h"
#include "c10/core/InferenceMode.h"
#include "torch/version.h"
#include "worker/executor_kernels.h"
#include "worker/random.h"

// Weak: another BLAS may stand in OpenBLAS's place.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);

namespace cobra {
namespace {

// Counts what is alive between Start() and Stop(). It wraps the allocator that is installed and takes from it, so that
// memory may be freed through either, before or after.
class CountingAllocator final : public c10::Allocator {
 public:
  void Start() {
    base_ = c10::GetCPUAllocator();
    sizes_.clear();
    live_ = peak_ = 0;
    c10::SetCPUAllocator(this);
  }
  int64_t Stop() {
    c10::SetCPUAllocator(base_);
    return peak_;
  }
  c10::DataPtr allocate(size_t n) const override {
    void* data = base_->raw_allocate(n);
    sizes_[data] = n;
    live_ += n;
    peak_ = std::max(peak_, live_);
    return {data, data, &Delete, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Delete; }

 private:
  static void Delete(void* data);

  c10::Allocator* base_ = nullptr;
  mutable std::unordered_map<void*, int64_t> sizes_;
  mutable int64_t live_ = 0;
  mutable int64_t peak_ = 0;
};

CountingAllocator& Counter() {
  static CountingAllocator* const counter = new CountingAllocator;
  return *counter;
}

void CountingAllocator::Delete(void* data) {
  CountingAllocator& counter = Counter();
  if (const auto it = counter.sizes_.find(data); it != counter.sizes_.end()) {
    counter.live_ -= it->second;
    counter.sizes_.erase(it);
  }
  counter.base_->raw_deallocate(data);
}

std::vector<int64_t> Sizes(const TensorType& type) { return {type.shape.begin(), type.shape.end()}; }

at::Tensor Empty(const TensorType& type) {
  return at::empty(Sizes(type), at::TensorOptions().dtype(ToScalarType(type.dtype)));
}

// Fills quickly: a block of 65,521 (prime: no period that a cache or a kernel could meet) random numbers, copied on and
// on.
template <typename T>
void FillWith(T* data, int64_t count, Random* random, double low, double high) {
  constexpr int64_t kBlock = 65521;
  const int64_t head = std::min(count, kBlock);
  for (int64_t i = 0; i < head; ++i) {
    double value = random->Uniform(low, high);
    if (std::is_floating_point_v<T> && std::abs(value) < 1e-3)
      value = 1e-3;  // zeros would hide denormals and skip work
    data[i] = static_cast<T>(value);
  }
  for (int64_t i = head; i < count; i += kBlock) std::copy_n(data, std::min(kBlock, count - i), data + i);
}

void Fill(const at::Tensor& tensor, Random* random, double low, double high) {
  const int64_t n = tensor.numel();
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return FillWith(tensor.data_ptr<float>(), n, random, low, high);
    case at::kDouble:
      return FillWith(tensor.data_ptr<double>(), n, random, low, high);
    case at::kLong:
      return FillWith(tensor.data_ptr<int64_t>(), n, random, low, high);
    case at::kInt:
      return FillWith(tensor.data_ptr<int32_t>(), n, random, low, high);
    case at::kShort:
      return FillWith(tensor.data_ptr<int16_t>(), n, random, low, high);
    case at::kChar:
      return FillWith(tensor.data_ptr<int8_t>(), n, random, low, high);
    case at::kByte:
      return FillWith(tensor.data_ptr<uint8_t>(), n, random, low, high);
    case at::kBool: {
      bool* data = tensor.data_ptr<bool>();
      for (int64_t i = 0; i < n; ++i) data[i] = random->Chance(0.5);
      return;
    }
    default: {  // half precision and complex numbers
      const at::Tensor floats = at::empty(tensor.is_complex() ? at::view_as_real(tensor).sizes() : tensor.sizes());
      FillWith(floats.data_ptr<float>(), floats.numel(), random, low, high);
      (tensor.is_complex() ? at::view_as_real(tensor) : tensor).copy_(floats);
    }
  }
}

// An integer tensor is nearly always an index: numbers below the size of what it indexes.
std::map<std::pair<ValueRef::Kind, int32_t>, int64_t> IndexBounds(const Graph& graph) {
  std::map<std::pair<ValueRef::Kind, int32_t>, int64_t> bounds;
  const auto bound = [&](ValueRef ref, int64_t limit) {
    if (ref.is_none() || IsFloatingPoint(graph.TypeOf(ref).dtype)) return;
    const auto [it, is_new] = bounds.try_emplace({ref.kind, ref.index}, limit);
    if (!is_new) it->second = std::min(it->second, limit);
  };
  for (const Node& node : graph.nodes()) {
    const auto size_of = [&](int input, int64_t dim) {
      const Shape& shape = graph.TypeOf(node.inputs[input]).shape;
      const int64_t rank = static_cast<int64_t>(shape.size());
      return rank == 0 ? int64_t{1} : shape[(dim + rank) % rank];
    };
    switch (node.op) {
      case Op::embedding:
        bound(node.inputs[0], size_of(1, 0));
        break;
      case Op::one_hot:
        bound(node.inputs[0], node.outputs[0].shape.back());
        break;
      case Op::embedding_bag:
        bound(node.inputs[0], size_of(1, 0));
        if (!node.inputs[2].is_none()) bound(node.inputs[2], 1);  // every bag begins at the first index
        break;
      case Op::multi_margin_loss:
      case Op::multilabel_margin_loss:
        bound(node.inputs[1], size_of(0, -1));
        break;
      case Op::max_unpool1d:
        bound(node.inputs[1], size_of(0, -1));
        break;
      case Op::max_unpool3d:
        bound(node.inputs[1], size_of(0, -1) * size_of(0, -2) * size_of(0, -3));
        break;
      case Op::take:
      case Op::put:
        bound(node.inputs[1], std::max<int64_t>(1, graph.TypeOf(node.inputs[0]).num_elements()));
        break;
      case Op::index_put:
        for (size_t i = 2; i < node.inputs.size(); ++i) bound(node.inputs[i], size_of(0, static_cast<int64_t>(i) - 2));
        break;
      case Op::nll_loss:
      case Op::cross_entropy:
        bound(node.inputs[1], size_of(0, graph.TypeOf(node.inputs[0]).rank() > 1 ? 1 : 0));
        break;
      case Op::max_unpool2d:
        bound(node.inputs[1], size_of(0, -1) * size_of(0, -2));
        break;
      case Op::gather:
      case Op::take_along_dim:
      case Op::scatter:
      case Op::scatter_add:
      case Op::index_select:
      case Op::index_add:
      case Op::index_copy:
      case Op::index_reduce:
      case Op::scatter_reduce:
      case Op::index_fill:
        bound(node.inputs[1], size_of(0, node.attributes.Int("dim")));
        break;
      case Op::getitem:
      case Op::setitem:
        for (size_t i = 1; i < node.inputs.size(); ++i) {
          // Which dimension an index selects does not matter: below the smallest it fits all of them.
          const Shape& shape = graph.TypeOf(node.inputs[0]).shape;
          if (!shape.empty()) bound(node.inputs[i], *std::min_element(shape.begin(), shape.end()));
        }
        break;
      default:
        break;
    }
  }
  return bounds;
}

absl::Status FromException(const std::exception& e, absl::string_view where) {
  const std::string what = e.what();
  const std::string first = what.substr(0, what.find('\n'));
  if (absl::StrContains(what, "allocate memory") || absl::StrContains(what, "bad_alloc")) {
    return absl::ResourceExhaustedError(absl::StrCat(where, ": out of memory: ", first));
  }
  return absl::InternalError(absl::StrCat(where, ": LibTorch: ", first));
}

// What a call frees stays with the process, as it does in one that has served larger networks before. glibc's
// thresholds otherwise depend on what ran earlier: below them it gives freed memory back to the system, and the next
// call faults it in again, page by page. A MobileNetV2 at 224 x 224 takes 12.5 ms in one process and 19 ms in the next
// (docs/targets.md).
void RetainHeap() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that glibc takes
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

}  // namespace

void ConfigureLibTorch(int threads) {
  at::set_num_threads(threads);
  // at::set_num_threads does not reach OpenBLAS's own pool.
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(threads);
  at::set_num_interop_threads(1);
  RetainHeap();
}

std::string LibTorchVersion() { return TORCH_VERSION; }

bool HasKernel(Op op) { return static_cast<bool>(Kernels()[op]); }

class Executor::Impl {
 public:
  explicit Impl(const Graph& graph) : graph_(graph) {}

  absl::Status Prepare(uint64_t seed) {
    COBRA_RETURN_IF_ERROR(MakeSteps());
    try {
      const c10::InferenceMode guard;
      Allocate(seed);
    } catch (const std::exception& e) {
      return FromException(e, "allocating weights and inputs");
    }
    return absl::OkStatus();
  }

  // `after(i)` sees the outputs of step i before anything is released.
  template <typename After>
  absl::Status Pass(After after) {
    size_t i = 0;
    try {
      const c10::InferenceMode guard;
      for (; i < steps_.size(); ++i) {
        Step& step = steps_[i];
        step.kernel(step.call);
        after(i);
        for (at::Tensor* dead : step.dead) dead->reset();
      }
      ReleaseOutputs();
    } catch (const std::exception& e) {
      for (at::Tensor& value : values_) value.reset();
      return FromException(e, absl::StrCat("node ", i, " (", OpName(graph_.nodes()[i].op), ")"));
    }
    return absl::OkStatus();
  }

  // One pass; `visit` sees the graph's outputs in order. A graph may have no nodes at all.
  template <typename Visit>
  absl::Status PassForOutputs(Visit visit) {
    const auto visit_all = [&] {
      for (ValueRef ref : graph_.outputs()) visit(*Slot(ref));
    };
    if (steps_.empty()) {
      const c10::InferenceMode guard;
      visit_all();
      return absl::OkStatus();
    }
    return Pass([&](size_t i) {
      if (i + 1 == steps_.size()) visit_all();
    });
  }

  absl::Status Check(size_t i) const {
    const Node& node = graph_.nodes()[i];
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      const at::Tensor& got = steps_[i].call.outputs[k];
      const TensorType& want = node.outputs[k];
      if (got.defined() && got.sizes() == at::IntArrayRef(want.shape.data(), want.shape.size()) &&
          got.scalar_type() == ToScalarType(want.dtype)) {
        continue;
      }
      const std::string text =
          got.defined() ? absl::StrCat(ShapeTextOf(got), ":", at::toString(got.scalar_type())) : "nothing";
      return absl::InternalError(absl::StrCat("node ", i, " (", OpName(node.op), "): output ", k, " is ", text,
                                              ", the graph says ", TypeText(want)));
    }
    return absl::OkStatus();
  }

  at::Tensor* Slot(ValueRef ref) {
    switch (ref.kind) {
      case ValueRef::Kind::kNone:
        return nullptr;
      case ValueRef::Kind::kNode:
        return &values_[first_value_[ref.index] + ref.output];
      case ValueRef::Kind::kInput:
        return &inputs_[ref.index];
      case ValueRef::Kind::kParameter:
        return &parameters_[ref.index];
      case ValueRef::Kind::kBuffer:
        return &buffers_[ref.index];
      case ValueRef::Kind::kConstant:
        return &constants_[ref.index];
    }
    return nullptr;
  }

  void ReleaseOutputs() {
    for (at::Tensor* slot : kept_) slot->reset();
  }

  int64_t fixed_bytes() const {
    int64_t bytes = 0;
    for (const auto* list : {&inputs_, &parameters_, &buffers_, &constants_}) {
      for (const at::Tensor& tensor : *list) bytes += static_cast<int64_t>(tensor.nbytes());
    }
    return bytes;
  }

  const Graph& graph() const { return graph_; }

 private:
  struct Step {
    Kernel kernel;
    Call call;
    std::vector<at::Tensor*> dead;  // node outputs that nobody reads after this step
  };

  static std::string ShapeTextOf(const at::Tensor& tensor) {
    return ShapeText(Shape(tensor.sizes().begin(), tensor.sizes().end()));
  }

  absl::Status MakeSteps() {
    size_t total = 0;
    for (const Node& node : graph_.nodes()) {
      first_value_.push_back(total);
      total += node.outputs.size();
    }
    values_.resize(total);
    inputs_.resize(graph_.inputs().size());
    parameters_.resize(graph_.parameters().size());
    buffers_.resize(graph_.buffers().size());
    constants_.resize(graph_.constants().size());
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      NodeContext context{node, {}};
      Step step;
      for (ValueRef ref : node.inputs) {
        context.inputs.push_back(ref.is_none() ? nullptr : &graph_.TypeOf(ref));
        step.call.inputs.push_back(Slot(ref));
      }
      step.call.outputs = values_.data() + first_value_[i];
      if (node.attributes.Find("quantized") != nullptr) {
        return absl::UnimplementedError(
            absl::StrCat("node ", i, " (", OpName(node.op), "): LibTorch has no kernel for integers that stand for reals"));
      }
      const KernelFactory& factory = Kernels()[node.op];
      if (!factory) return Refused(context, "has no kernel");
      COBRA_ASSIGN_OR_RETURN(step.kernel, factory(context));
      steps_.push_back(std::move(step));
    }
    FindLastUses();
    return absl::OkStatus();
  }

  void FindLastUses() {
    std::vector<size_t> last(values_.size());
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      for (size_t k = 0; k < node.outputs.size(); ++k) last[first_value_[i] + k] = i;
      for (ValueRef ref : node.inputs) {
        if (ref.is_node()) last[first_value_[ref.index] + ref.output] = i;
      }
    }
    std::vector<bool> kept(values_.size());
    for (ValueRef ref : graph_.outputs()) {
      if (ref.is_node()) kept[first_value_[ref.index] + ref.output] = true;
    }
    for (size_t v = 0; v < values_.size(); ++v) {
      if (kept[v]) {
        kept_.push_back(&values_[v]);
      } else {
        steps_[last[v]].dead.push_back(&values_[v]);
      }
    }
  }

  // A random matrix may have no inverse and seldom has a Cholesky factor: what is factored becomes symmetric and
  // positive definite.
  void MakeDefinite() {
    for (const Node& node : graph_.nodes()) {
      const bool factors = absl::StrContains(OpName(node.op), "cholesky") ||
                           absl::StrContains(OpName(node.op), "solve") || absl::StrContains(OpName(node.op), "inv") ||
                           node.op == Op::logdet;
      for (const ValueRef& ref : node.inputs) {
        if (!factors || ref.kind != ValueRef::Kind::kInput) continue;
        at::Tensor& tensor = inputs_[ref.index];
        const int64_t rank = tensor.dim();
        if (rank < 2 || tensor.size(rank - 1) != tensor.size(rank - 2) || !tensor.is_floating_point()) continue;
        const at::Tensor product = tensor.matmul(tensor.transpose(-2, -1));
        tensor = product.clone();
        tensor.diagonal(0, -2, -1).add_(1);
      }
    }
  }

  void Allocate(uint64_t seed) {
    Random random(seed);
    const auto bounds = IndexBounds(graph_);
    const auto fill_all = [&](ValueRef::Kind kind, absl::Span<const NamedTensor> types,
                              std::vector<at::Tensor>* tensors) {
      for (size_t i = 0; i < types.size(); ++i) {
        const TensorType& type = types[i].type;
        at::Tensor tensor = Empty(type);
        double low = -1, high = 1;
        if (IsIntegral(type.dtype)) {
          const auto it = bounds.find({kind, static_cast<int32_t>(i)});
          low = 0;
          high = it == bounds.end() ? 2 : static_cast<double>(std::max<int64_t>(it->second, 1));
        } else if (kind == ValueRef::Kind::kBuffer || (kind == ValueRef::Kind::kParameter && type.rank() <= 1)) {
          low = 0.5;  // running variances, scales: positive and about one
          high = 1.5;
        } else if (kind == ValueRef::Kind::kParameter && type.shape[0] > 0) {
          const double fan_in = static_cast<double>(std::max<int64_t>(type.num_elements() / type.shape[0], 1));
          high = std::sqrt(3 / fan_in);  // keeps the variance of activations near one
          low = -high;
        }
        Fill(tensor, &random, low, high);
        (*tensors)[i] = std::move(tensor);
      }
    };
    fill_all(ValueRef::Kind::kInput, graph_.inputs(), &inputs_);
    MakeDefinite();
    fill_all(ValueRef::Kind::kParameter, graph_.parameters(), &parameters_);
    fill_all(ValueRef::Kind::kBuffer, graph_.buffers(), &buffers_);
    fill_all(ValueRef::Kind::kConstant, graph_.constants(), &constants_);
  }

  const Graph graph_;  // a copy: the factories keep references into it
  std::vector<Step> steps_;
  std::vector<size_t> first_value_;
  // Slots: sized once in MakeSteps, because the steps point into them.
  std::vector<at::Tensor> values_, inputs_, parameters_, buffers_, constants_;
  std::vector<at::Tensor*> kept_;
};

Executor::Executor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executor::~Executor() = default;

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(const Graph& graph, uint64_t seed) {
  auto impl = std::make_unique<Impl>(graph);
  COBRA_RETURN_IF_ERROR(impl->Prepare(seed));
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

absl::Status Executor::Run() {
  return impl_->Pass([](size_t) {});
}

absl::Status Executor::RunChecked() {
  absl::Status first;
  COBRA_RETURN_IF_ERROR(impl_->Pass([&](size_t i) {
    if (first.ok()) first = impl_->Check(i);
  }));
  return first;
}

absl::StatusOr<int64_t> Executor::PeakMemoryBytes() {
  Counter().Start();
  const absl::Status status = Run();
  const int64_t peak = Counter().Stop();
  COBRA_RETURN_IF_ERROR(status);
  return impl_->fixed_bytes() + peak;
}

absl::StatusOr<std::vector<double>> Executor::RunProfiled(const ClockNs& now_ns) {
  std::vector<double> us(impl_->graph().nodes().size());
  double before_ns = now_ns();
  COBRA_RETURN_IF_ERROR(impl_->Pass([&](size_t i) {
    const double after_ns = now_ns();
    us[i] = (after_ns - before_ns) / 1000;
    before_ns = after_ns;
  }));
  return us;
}

absl::Status Executor::SetTensor(ValueRef ref, absl::Span<const float> values) {
  const at::Tensor* slot = impl_->Slot(ref);
  if (slot == nullptr || !slot->defined() || slot->scalar_type() != at::kFloat ||
      slot->numel() != static_cast<int64_t>(values.size())) {
    return absl::InvalidArgumentError("SetTensor: no float tensor of that size");
  }
  std::copy(values.begin(), values.end(), slot->data_ptr<float>());
  return absl::OkStatus();
}

absl::Status Executor::SetValues(ValueRef ref, absl::Span<const double> values) {
  at::Tensor* slot = impl_->Slot(ref);
  if (slot == nullptr || !slot->defined() || slot->is_complex() || slot->numel() != static_cast<int64_t>(values.size())) {
    return absl::InvalidArgumentError("SetValues: no real tensor of that size");
  }
  const c10::InferenceMode guard;
  const at::Tensor from = at::empty({slot->numel()}, at::kDouble);
  std::copy(values.begin(), values.end(), from.data_ptr<double>());
  slot->copy_(from.reshape(slot->sizes()));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::vector<float>>> Executor::RunForOutputs() {
  std::vector<std::vector<float>> outputs;
  COBRA_RETURN_IF_ERROR(impl_->PassForOutputs([&](const at::Tensor& tensor) {
    const at::Tensor flat = tensor.contiguous().to(at::kFloat);
    outputs.emplace_back(flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  }));
  return outputs;
}

absl::StatusOr<std::vector<std::vector<double>>> Executor::RunForValues() {
  std::vector<std::vector<double>> outputs;
  COBRA_RETURN_IF_ERROR(impl_->PassForOutputs([&](const at::Tensor& tensor) {
    const at::Tensor flat = tensor.contiguous().to(at::kDouble);
    outputs.emplace_back(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
  }));
  return outputs;
}

}  // namespace cobra
