#include "worker/machine/gpu.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cobra::worker {
namespace {

// A shared library, closed with the object.
class Library {
 public:
  static absl::StatusOr<Library> Open(const std::string& name) {
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return absl::NotFoundError(absl::StrCat(name, ": ", dlerror()));
    return Library(handle);
  }
  Library(Library&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Library& operator=(Library&&) = delete;
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }

  // Sets null if an older driver does not have the function.
  template <typename Function>
  void Find(const char* name, Function** function) const {
    *function = reinterpret_cast<Function*>(dlsym(handle_, name));
  }

 private:
  explicit Library(void* handle) : handle_(handle) {}
  void* handle_;
};

// From nvml.h and cuda.h, whose binary interface is stable.
using NvmlDevice = void*;
constexpr int kNvmlClockSm = 1, kNvmlClockMemory = 2, kNvmlTemperatureGpu = 0;
enum CudaAttribute { kClockKhz = 13, kMultiprocessors = 16, kL2Bytes = 38, kComputeMajor = 75, kComputeMinor = 76 };

}  // namespace

class Nvml::Impl {
 public:
  explicit Impl(Library library) : library_(std::move(library)) {
    library_.Find("nvmlInit_v2", &init);
    library_.Find("nvmlShutdown", &shutdown);
    library_.Find("nvmlDeviceGetHandleByIndex_v2", &by_index);
    library_.Find("nvmlDeviceGetHandleByUUID", &by_uuid);
    library_.Find("nvmlDeviceGetName", &get_name);
    library_.Find("nvmlDeviceGetUUID", &get_uuid);
    library_.Find("nvmlSystemGetDriverVersion", &get_driver);
    library_.Find("nvmlDeviceGetClockInfo", &get_clock);
    library_.Find("nvmlDeviceGetTemperature", &get_temperature);
    library_.Find("nvmlDeviceGetPowerUsage", &get_power);
    library_.Find("nvmlDeviceGetTotalEnergyConsumption", &get_energy);
  }
  ~Impl() {
    if (started_ && shutdown != nullptr) shutdown();
  }

  absl::Status Start(const std::string& gpu) {
    if (init == nullptr || by_index == nullptr) return absl::UnavailableError("NVML: the library lacks nvmlInit_v2");
    if (const int error = init(); error != 0)
      return absl::UnavailableError(absl::StrCat("NVML: nvmlInit: error ", error));
    started_ = true;
    unsigned index = 0;
    int error = -1;
    if (absl::SimpleAtoi(gpu, &index)) {
      error = by_index(index, &device);
    } else if (by_uuid != nullptr) {
      error = by_uuid(gpu.c_str(), &device);
    }
    if (error != 0) return absl::UnavailableError(absl::StrCat("NVML: GPU ", gpu, ": error ", error));
    return absl::OkStatus();
  }

  std::string Text(int (*get)(NvmlDevice, char*, unsigned)) const {
    char text[128] = "";
    return get != nullptr && get(device, text, sizeof(text)) == 0 ? text : "";
  }
  std::optional<double> Unsigned(int (*get)(NvmlDevice, unsigned*), double scale) const {
    unsigned value = 0;
    if (get == nullptr || get(device, &value) != 0) return std::nullopt;
    return value * scale;
  }
  std::optional<double> Kind(int (*get)(NvmlDevice, int, unsigned*), int kind) const {
    unsigned value = 0;
    if (get == nullptr || get(device, kind, &value) != 0) return std::nullopt;
    return value;
  }

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_index)(unsigned, NvmlDevice*) = nullptr;
  int (*by_uuid)(const char*, NvmlDevice*) = nullptr;
  int (*get_name)(NvmlDevice, char*, unsigned) = nullptr;
  int (*get_uuid)(NvmlDevice, char*, unsigned) = nullptr;
  int (*get_driver)(char*, unsigned) = nullptr;
  int (*get_clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*get_temperature)(NvmlDevice, int, unsigned*) = nullptr;
  int (*get_power)(NvmlDevice, unsigned*) = nullptr;             // milliwatts
  int (*get_energy)(NvmlDevice, unsigned long long*) = nullptr;  // millijoules
  NvmlDevice device = nullptr;

 private:
  const Library library_;
  bool started_ = false;
};

Nvml::Nvml(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Nvml::~Nvml() = default;

absl::StatusOr<std::unique_ptr<Nvml>> Nvml::Open(int device, const std::string& library) {
  COBRA_ASSIGN_OR_RETURN(Library opened, Library::Open(library));
  auto impl = std::make_unique<Impl>(std::move(opened));
  COBRA_RETURN_IF_ERROR(impl->Start(VisibleGpu(device, std::getenv("CUDA_VISIBLE_DEVICES"))));
  return std::unique_ptr<Nvml>(new Nvml(std::move(impl)));
}

std::string Nvml::name() const { return impl_->Text(impl_->get_name); }
std::string Nvml::uuid() const { return impl_->Text(impl_->get_uuid); }

std::string Nvml::driver_version() const {
  char text[128] = "";
  return impl_->get_driver != nullptr && impl_->get_driver(text, sizeof(text)) == 0 ? text : "";
}

Nvml::Reading Nvml::Read() const {
  Reading reading;
  reading.sm_clock_mhz = impl_->Kind(impl_->get_clock, kNvmlClockSm);
  reading.memory_clock_mhz = impl_->Kind(impl_->get_clock, kNvmlClockMemory);
  reading.temperature_c = impl_->Kind(impl_->get_temperature, kNvmlTemperatureGpu);
  reading.power_w = impl_->Unsigned(impl_->get_power, 1e-3);
  unsigned long long millijoules = 0;
  if (impl_->get_energy != nullptr && impl_->get_energy(impl_->device, &millijoules) == 0) {
    reading.energy_j = static_cast<double>(millijoules) / 1000;
  }
  return reading;
}

absl::StatusOr<GpuFacts> ReadGpuFacts(int device, const std::string& library) {
  COBRA_ASSIGN_OR_RETURN(const Library cuda, Library::Open(library));
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*get_name)(char*, int, int) = nullptr;
  int (*get_memory)(size_t*, int) = nullptr;
  int (*get_attribute)(int*, int, int) = nullptr;
  cuda.Find("cuInit", &init);
  cuda.Find("cuDriverGetVersion", &version);
  cuda.Find("cuDeviceGet", &get);
  cuda.Find("cuDeviceGetName", &get_name);
  cuda.Find("cuDeviceTotalMem_v2", &get_memory);
  cuda.Find("cuDeviceGetAttribute", &get_attribute);
  if (init == nullptr || get == nullptr || get_name == nullptr || get_attribute == nullptr) {
    return absl::UnavailableError(absl::StrCat(library, ": is not a CUDA driver"));
  }
  if (const int error = init(0); error != 0) return absl::UnavailableError(absl::StrCat("CUDA: cuInit: error ", error));
  int handle = 0;
  if (const int error = get(&handle, device); error != 0) {
    return absl::UnavailableError(
        absl::StrCat("--device cuda:", device, ": CUDA has no such device (error ", error, ")"));
  }
  const auto attribute = [&](CudaAttribute which) {
    int value = 0;
    return get_attribute(&value, which, handle) == 0 ? value : 0;
  };
  GpuFacts facts;
  char name[256] = "";
  if (get_name(name, sizeof(name), handle) == 0) facts.name = name;
  facts.compute_major = attribute(kComputeMajor);
  facts.compute_minor = attribute(kComputeMinor);
  facts.sms = attribute(kMultiprocessors);
  facts.clock_mhz = attribute(kClockKhz) / 1000.0;
  facts.l2_mb = attribute(kL2Bytes) / 1048576.0;
  size_t bytes = 0;
  if (get_memory != nullptr && get_memory(&bytes, handle) == 0) facts.memory_gb = static_cast<double>(bytes) / 1e9;
  int number = 0;
  if (version != nullptr && version(&number) == 0)
    facts.cuda_version = absl::StrCat(number / 1000, ".", number % 1000 / 10);
  return facts;
}

}  // namespace cobra::worker
