#include "worker/execute/executor.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ATen/Context.h"
#include "ATen/Parallel.h"
#include "ATen/ops/empty.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "c10/core/CPUAllocator.h"
#include "c10/core/InferenceMode.h"
#include "c10/core/impl/DeviceGuardImplInterface.h"
#include "graph/op_rules.h"
#include "graph/shape/index_bounds.h"
#include "worker/execute/executor_device.h"
#include "worker/execute/executor_fill.h"
#include "worker/execute/executor_kernels.h"
#include "worker/execute/executor_version.h"
#include "worker/sample/random.h"

// Weak: the program may be linked with another BLAS than OpenBLAS.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);
extern "C" __attribute__((weak)) char* openblas_get_corename();

namespace cobra::worker {
namespace {

// Counts the live memory between Start() and Stop(). It allocates from the installed allocator, so
// that memory may be freed through either one, also before Start() and after Stop().
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
#if COBRA_TORCH_AT_LEAST(2, 3)
  c10::DataPtr allocate(size_t n) override {
#else
  c10::DataPtr allocate(size_t n) const override {
#endif
    void* data = base_->raw_allocate(n);
    sizes_[data] = n;
    live_ += n;
    peak_ = std::max(peak_, live_);
    return {data, data, &Delete, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Delete; }
#if COBRA_TORCH_AT_LEAST(2, 2)
  void copy_data(void* to, const void* from, size_t count) const override { default_copy_data(to, from, count); }
#endif

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

std::vector<int64_t> Sizes(const graph::TensorType& type) { return {type.shape.begin(), type.shape.end()}; }

at::Tensor Empty(const graph::TensorType& type) {
  return at::empty(Sizes(type), at::TensorOptions().dtype(ToScalarType(type.dtype)));
}

bool device_is_broken = false;

absl::Status FromException(const std::exception& e, absl::string_view where, const Execution& execution) {
  const std::string what = e.what();
  const std::string first = what.substr(0, what.find('\n'));
  // The messages of glibc, c10, cuBLAS and cuDNN for out of memory.
  for (const char* words : {"allocate memory", "bad_alloc", "out of memory", "ALLOC_FAILED"}) {
    if (absl::StrContains(what, words))
      return absl::ResourceExhaustedError(absl::StrCat(where, ": out of memory: ", first));
  }
  // "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED": a library has no kernel; CUDA stays usable after it.
  const bool not_supported = absl::StrContains(what, "NOT_SUPPORTED");
  if (absl::StrContains(what, "CUDA error") && !not_supported) {
    device_is_broken = true;
    return absl::InternalError(absl::StrCat(where, ": LibTorch: ", first));
  }
  // For an unsupported data type, 1.13 has only a message, 2.x also a class of exception.
  if (dynamic_cast<const c10::NotImplementedError*>(&e) != nullptr ||
      absl::StrContains(what, "not implemented for '") || not_supported || execution.converts_tensors()) {
    return absl::UnimplementedError(absl::StrCat(where, ": LibTorch has no kernel (", DeviceText(execution), ", ",
                                                 PrecisionName(execution.precision), ", ", LayoutName(execution.layout),
                                                 "): ", first));
  }
  return absl::InternalError(absl::StrCat(where, ": LibTorch: ", first));
}

constexpr int kMostSets = 16;                        // of inputs and weights; cold calls rotate between them ...
constexpr int64_t kMostSetBytes = int64_t{1} << 30;  // ... and they take no more than this together

// Keeps freed memory in the process, as if it had run larger networks before. Otherwise glibc's
// thresholds depend on what ran earlier: below them it returns memory to the system, and the next
// call faults it in again. A MobileNetV2 takes 12.5 ms, then 19 in another one (docs/targets.md).
void RetainHeap() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest value that glibc accepts
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

bool HasLibTorch() { return true; }
std::string LibTorchVersion() { return TORCH_VERSION; }

std::string RuntimeVersion(const Execution& execution) {
  if (!execution.is_cuda()) {
    const char* core_type = std::getenv("OPENBLAS_CORETYPE");
    if (openblas_set_num_threads != nullptr) {
      std::string kernels = core_type == nullptr ? "default" : core_type;
      // OpenBLAS passes over what it does not know, and what this processor has not.
      if (core_type != nullptr && openblas_get_corename != nullptr &&
          !absl::EqualsIgnoreCase(kernels, openblas_get_corename()))
        kernels = openblas_get_corename();
      return absl::StrCat(LibTorchVersion(), "+openblas-", kernels);
    }
    return absl::StrCat(LibTorchVersion(), at::hasMKL() ? "+mkl" : "+blas");
  }
  const long cuda = at::Context::versionCUDART(), cudnn = at::Context::versionCuDNN();  // 13000, 91200
  return absl::StrCat(LibTorchVersion(), "+cuda-", cuda / 1000, ".", cuda % 1000 / 10, "+cudnn-", cudnn);
}

absl::Status CheckLibTorchHas(const Execution& execution) {
  if (!execution.is_cuda() || c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--device ", DeviceText(execution),
                                                 ": this cobra-worker was built with LibTorch ", LibTorchVersion(),
                                                 " without CUDA; scripts/measure-gpu.sh builds one with it"));
}

bool DeviceIsBroken() { return device_is_broken; }

void FreeDeviceMemory(const Execution& execution) {
  try {
    EmptyDeviceCache(execution);
  } catch (const std::exception&) {  // the next task will report the error
  }
}

bool HasKernel(graph::Op op) { return static_cast<bool>(Kernels()[op]); }

class Executor::Impl {
 public:
  Impl(const graph::Graph& graph, const Execution& execution) : graph_(graph), execution_(execution) {}

  absl::Status Prepare(uint64_t seed) {
    COBRA_RETURN_IF_ERROR(MakeSteps());
    try {
      const c10::InferenceMode guard;
      device_.emplace(execution_);
      Allocate(seed);
      if (execution_.cache == CacheState::cold) CopySets();
      device_->Synchronize();
    } catch (const std::exception& e) {
      return FromException(e, "allocating weights and inputs", execution_);
    }
    return absl::OkStatus();
  }

  // Switches to the next set of inputs and weights.
  void Rotate() {
    if (sets_.empty()) return;
    const std::vector<at::Tensor>& set = sets_[next_set_++ % sets_.size()];
    size_t k = 0;
    for (std::vector<at::Tensor>* list : Fixed()) {
      for (at::Tensor& tensor : *list) tensor = set[k++];
    }
  }
  void Wait() { device_->Synchronize(); }  // called inside a pass, which catches exceptions
  int num_sets() const { return static_cast<int>(sets_.size()); }
  const Execution& execution() const { return execution_; }

  // Runs `f` on the device and catches its errors: a GPU may report an error long after the call
  // that caused it.
  template <typename F>
  absl::Status OnDevice(absl::string_view where, F f) {
    try {
      f(&*device_);
    } catch (const std::exception& e) {
      return FromException(e, where, execution_);
    }
    return absl::OkStatus();
  }
  absl::Status Synchronize(absl::string_view where) {
    return OnDevice(where, [](ExecutionDevice* device) { device->Synchronize(); });
  }
  // The same for hooks, which cannot return an error.
  template <typename F>
  void InRegion(F f) {
    if (absl::Status status = OnDevice("the timed runs", f); !status.ok()) failure_ = std::move(status);
  }
  const absl::Status& failure() const { return failure_; }

  // Calls `after(i)` with the outputs of step i before anything is released.
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
      return FromException(e, absl::StrCat("node ", i, " (", graph::OpName(graph_.nodes()[i].op), ")"), execution_);
    }
    return absl::OkStatus();
  }

  // Runs one pass and calls `visit` for each output in order. A graph may have no nodes at all.
  template <typename Visit>
  absl::Status PassForOutputs(Visit visit) {
    const auto visit_all = [&] {
      for (graph::ValueRef ref : graph_.outputs()) visit(*Slot(ref));
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
    const graph::Node& node = graph_.nodes()[i];
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      const at::Tensor& got = steps_[i].call.outputs[k];
      const graph::TensorType& want = node.outputs[k];
      if (got.defined() && got.sizes() == at::IntArrayRef(want.shape.data(), want.shape.size()) &&
          IsTypeOf(got.scalar_type(), want.dtype)) {
        continue;
      }
      const std::string text =
          got.defined() ? absl::StrCat(ShapeTextOf(got), ":", at::toString(got.scalar_type())) : "nothing";
      return absl::InternalError(absl::StrCat("node ", i, " (", graph::OpName(node.op), "): output ", k, " is ", text,
                                              ", the graph declares ", graph::TypeText(want)));
    }
    return absl::OkStatus();
  }

  at::Tensor* Slot(graph::ValueRef ref) {
    switch (ref.kind) {
      case graph::ValueRef::Kind::kNone: return nullptr;
      case graph::ValueRef::Kind::kNode: return &values_[first_value_[ref.index] + ref.output];
      case graph::ValueRef::Kind::kInput: return &inputs_[ref.index];
      case graph::ValueRef::Kind::kParameter: return &parameters_[ref.index];
      case graph::ValueRef::Kind::kBuffer: return &buffers_[ref.index];
      case graph::ValueRef::Kind::kConstant: return &constants_[ref.index];
    }
    return nullptr;
  }

  void ReleaseOutputs() {
    for (at::Tensor* slot : kept_) slot->reset();
  }

  // Memory from before this pass (workspaces of libraries, the other sets) does not count; the
  // inputs and weights of the pass do.
  absl::StatusOr<int64_t> DevicePeakBytes() {
    COBRA_RETURN_IF_ERROR(Synchronize("before counting memory"));
    int64_t before = 0, peak = 0;
    COBRA_RETURN_IF_ERROR(OnDevice("counting memory", [&](ExecutionDevice* device) {
      before = device->LiveBytes();
      device->ResetPeakBytes();
    }));
    COBRA_RETURN_IF_ERROR(Pass([](size_t) {}));
    COBRA_RETURN_IF_ERROR(OnDevice("counting memory", [&](ExecutionDevice* device) {
      device->Synchronize();
      peak = device->PeakBytes();
    }));
    return peak == 0 ? 0 : fixed_bytes() + peak - before;
  }

  int64_t fixed_bytes() const {
    int64_t bytes = 0;
    for (const auto* list : {&inputs_, &parameters_, &buffers_, &constants_}) {
      for (const at::Tensor& tensor : *list) bytes += static_cast<int64_t>(tensor.nbytes());
    }
    return bytes;
  }

  const graph::Graph& graph() const { return graph_; }

 private:
  struct Step {
    Kernel kernel;
    Call call;
    std::vector<at::Tensor*> dead;  // node outputs that no later step reads
  };

  // The graph's float32 is the type of the execution's precision, unless the graph itself casts.
  bool IsTypeOf(at::ScalarType got, graph::DType want) const {
    if (got == ToScalarType(want)) return true;
    if (device_->FloatType() == at::kFloat) return false;
    return (want == graph::DType::float32 && got == device_->FloatType()) ||
           (want == graph::DType::complex64 && got == at::kComplexHalf);
  }

  std::vector<std::vector<at::Tensor>*> Fixed() { return {&inputs_, &parameters_, &buffers_, &constants_}; }

  void CopySets() {
    const int64_t bytes = std::max<int64_t>(fixed_bytes(), 1);
    const int count = static_cast<int>(std::clamp<int64_t>(kMostSetBytes / bytes, 1, kMostSets));
    for (int i = 0; i < count; ++i) {
      std::vector<at::Tensor> set;
      for (std::vector<at::Tensor>* list : Fixed()) {
        for (const at::Tensor& tensor : *list) set.push_back(i == 0 ? tensor : tensor.clone());
      }
      sets_.push_back(std::move(set));
    }
  }

  static std::string ShapeTextOf(const at::Tensor& tensor) {
    return graph::ShapeText(graph::Shape(tensor.sizes().begin(), tensor.sizes().end()));
  }

  absl::Status MakeSteps() {
    size_t total = 0;
    for (const graph::Node& node : graph_.nodes()) {
      first_value_.push_back(total);
      total += node.outputs.size();
    }
    values_.resize(total);
    inputs_.resize(graph_.inputs().size());
    parameters_.resize(graph_.parameters().size());
    buffers_.resize(graph_.buffers().size());
    constants_.resize(graph_.constants().size());
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const graph::Node& node = graph_.nodes()[i];
      NodeContext context{node, {}, FloatTypeOf(execution_), DeviceOf(execution_)};
      Step step;
      for (graph::ValueRef ref : node.inputs) {
        context.inputs.push_back(ref.is_none() ? nullptr : &graph_.TypeOf(ref));
        step.call.inputs.push_back(Slot(ref));
      }
      step.call.outputs = values_.data() + first_value_[i];
      if (node.attributes.Find("quantized") != nullptr) {
        return absl::UnimplementedError(absl::StrCat("node ", i, " (", graph::OpName(node.op),
                                                     "): LibTorch has no kernel for integers that stand for reals"));
      }
      const KernelFactory& factory = Kernels()[node.op];
      if (!factory) return Refused(context, "has no kernel");
      if (node.op == graph::Op::roi_align && execution_.is_cuda())
        return Refused(context, "has a kernel only for the CPU");
      COBRA_ASSIGN_OR_RETURN(step.kernel, factory(context));
      steps_.push_back(std::move(step));
    }
    FindLastUses();
    return absl::OkStatus();
  }

  void FindLastUses() {
    std::vector<size_t> last(values_.size());
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const graph::Node& node = graph_.nodes()[i];
      for (size_t k = 0; k < node.outputs.size(); ++k) last[first_value_[i] + k] = i;
      for (graph::ValueRef ref : node.inputs) {
        if (ref.is_node()) last[first_value_[ref.index] + ref.output] = i;
      }
    }
    std::vector<bool> kept(values_.size());
    for (graph::ValueRef ref : graph_.outputs()) {
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

  // A random matrix may have no inverse and seldom has a Cholesky factor: a matrix to be factored
  // is made symmetric and positive definite.
  void MakeDefinite() {
    for (const graph::Node& node : graph_.nodes()) {
      if (graph::RulesOf(node.op).kernel != graph::Kernel::kFactor) continue;
      for (const graph::ValueRef& ref : node.inputs) {
        if (ref.kind != graph::ValueRef::Kind::kInput) continue;
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
    const auto bounds = graph::IndexBounds(graph_);
    const auto fill_all = [&](graph::ValueRef::Kind kind, absl::Span<const graph::NamedTensor> types,
                              std::vector<at::Tensor>* tensors) {
      for (size_t i = 0; i < types.size(); ++i) {
        const graph::TensorType& type = types[i].type;
        at::Tensor tensor = Empty(type);
        double low = -1, high = 1;
        if (graph::IsIntegral(type.dtype)) {
          const auto it = bounds.find({kind, static_cast<int32_t>(i)});
          low = 0;
          high = it == bounds.end() ? 2 : static_cast<double>(std::max<int64_t>(it->second, 1));
        } else if (kind == graph::ValueRef::Kind::kBuffer ||
                   (kind == graph::ValueRef::Kind::kParameter && type.rank() <= 1)) {
          low = 0.5;  // running variances, scales: positive and about one
          high = 1.5;
        } else if (kind == graph::ValueRef::Kind::kParameter && type.shape[0] > 0) {
          const double fan_in = static_cast<double>(std::max<int64_t>(type.num_elements() / type.shape[0], 1));
          high = std::sqrt(3 / fan_in);  // keeps the variance of activations near one
          low = -high;
        }
        Fill(tensor, &random, low, high);
        (*tensors)[i] = std::move(tensor);
      }
    };
    fill_all(graph::ValueRef::Kind::kInput, graph_.inputs(), &inputs_);
    MakeDefinite();
    SpreadGroups(graph_, &inputs_);
    fill_all(graph::ValueRef::Kind::kParameter, graph_.parameters(), &parameters_);
    fill_all(graph::ValueRef::Kind::kBuffer, graph_.buffers(), &buffers_);
    fill_all(graph::ValueRef::Kind::kConstant, graph_.constants(), &constants_);
    for (std::vector<at::Tensor>* list : Fixed()) {
      for (at::Tensor& tensor : *list) tensor = device_->Place(std::move(tensor));
    }
  }

  const graph::Graph graph_;  // a copy: the factories keep references into it
  std::vector<Step> steps_;
  std::vector<size_t> first_value_;
  // Slots: sized once in MakeSteps, because the steps point into them.
  std::vector<at::Tensor> values_, inputs_, parameters_, buffers_, constants_;
  std::vector<at::Tensor*> kept_;
  const Execution execution_;
  std::optional<ExecutionDevice> device_;      // from Prepare() on
  std::vector<std::vector<at::Tensor>> sets_;  // cold caches: copies of all inputs, weights and constants
  size_t next_set_ = 0;
  absl::Status failure_;
};

Executor::Executor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executor::~Executor() = default;

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(const graph::Graph& graph, uint64_t seed,
                                                           const Execution& execution) {
  auto impl = std::make_unique<Impl>(graph, execution);
  COBRA_RETURN_IF_ERROR(impl->Prepare(seed));
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

absl::Status Executor::Run() {
  impl_->Rotate();
  return impl_->Pass([](size_t) {});
}

RegionHooks Executor::Hooks() {
  RegionHooks hooks;
  if (impl_->num_sets() > 0) {
    hooks.most_calls = impl_->num_sets();
    hooks.settle = [impl = impl_.get()] {
      impl->InRegion([](ExecutionDevice* device) {
        device->EvictCaches();
        device->Synchronize();
      });
    };
  }
  if (!impl_->execution().is_cuda()) return hooks;
  hooks.begin = [impl = impl_.get()] { impl->InRegion([](ExecutionDevice* device) { device->BeginRegion(); }); };
  hooks.end = [impl = impl_.get()] {
    double us = 0;
    impl->InRegion([&](ExecutionDevice* device) { us = device->EndRegion(); });
    return us;
  };
  return hooks;
}

absl::Status Executor::failure() const { return impl_->failure(); }

absl::Status Executor::RunChecked() {
  absl::Status first;
  COBRA_RETURN_IF_ERROR(impl_->Pass([&](size_t i) {
    if (first.ok()) first = impl_->Check(i);
  }));
  COBRA_RETURN_IF_ERROR(impl_->Synchronize("the first run"));
  return first;
}

absl::StatusOr<int64_t> Executor::PeakMemoryBytes() {
  if (impl_->execution().is_cuda()) return impl_->DevicePeakBytes();
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
    impl_->Wait();
    const double after_ns = now_ns();
    us[i] = (after_ns - before_ns) / 1000;
    before_ns = after_ns;
  }));
  return us;
}

absl::Status Executor::SetTensor(graph::ValueRef ref, absl::Span<const float> values) {
  at::Tensor* slot = impl_->Slot(ref);
  if (slot == nullptr || !slot->defined() || impl_->graph().TypeOf(ref).dtype != graph::DType::float32 ||
      slot->numel() != static_cast<int64_t>(values.size())) {
    return absl::InvalidArgumentError("SetTensor: no float tensor of that size");
  }
  const c10::InferenceMode guard;
  const at::Tensor from = at::empty(slot->sizes(), at::kFloat);
  std::copy(values.begin(), values.end(), from.data_ptr<float>());
  slot->copy_(from);
  return absl::OkStatus();
}

absl::Status Executor::SetValues(graph::ValueRef ref, absl::Span<const double> values) {
  at::Tensor* slot = impl_->Slot(ref);
  if (slot == nullptr || !slot->defined() || slot->is_complex() ||
      slot->numel() != static_cast<int64_t>(values.size())) {
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
    const at::Tensor flat = tensor.contiguous().to(at::kCPU, at::kFloat);
    outputs.emplace_back(flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  }));
  return outputs;
}

absl::StatusOr<std::vector<std::vector<double>>> Executor::RunForValues() {
  std::vector<std::vector<double>> outputs;
  COBRA_RETURN_IF_ERROR(impl_->PassForOutputs([&](const at::Tensor& tensor) {
    const at::Tensor flat = tensor.contiguous().to(at::kCPU, at::kDouble);
    outputs.emplace_back(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
  }));
  return outputs;
}

}  // namespace cobra::worker
