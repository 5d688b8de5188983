// An NVIDIA GPU as its driver describes it. No CUDA headers: libnvidia-ml.so.1 and libcuda.so.1 are opened where they
// are.
#ifndef COBRA_WORKER_GPU_H_
#define COBRA_WORKER_GPU_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace cobra::worker {

// NVIDIA's management library: clocks, power, temperature, energy. Creates no CUDA context, so that a process that
// forks may use it too.
class Nvml {
 public:
  // `device` as CUDA counts (CUDA_VISIBLE_DEVICES is followed). NotFound: no such library; Unavailable: it has no such
  // device.
  static absl::StatusOr<std::unique_ptr<Nvml>> Open(int device, const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();

  std::string name() const;            // "NVIDIA H200"; empty if it does not say
  std::string uuid() const;            // "GPU-8f3a..."; the same for everybody, unlike the number
  std::string driver_version() const;  // "580.95.05"

  // What the driver does not say is absent.
  struct Reading {
    std::optional<double> sm_clock_mhz, memory_clock_mhz, temperature_c, power_w;
    std::optional<double> energy_j;  // since the driver was loaded
  };
  Reading Read() const;

 private:
  class Impl;
  explicit Nvml(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Which GPU `device` is where CUDA_VISIBLE_DEVICES says `visible` (null: not set): a number or a UUID.
std::string VisibleGpu(int device, const char* visible);

// CUDA's driver: what it says of a device. Initialises CUDA in this process, which may not fork children that use CUDA
// afterwards.
struct GpuFacts {
  std::string name;
  int compute_major = 0, compute_minor = 0;
  double sms = 0, clock_mhz = 0, l2_mb = 0, memory_gb = 0;
  std::string cuda_version;  // that the driver supports: "13.0"
};
absl::StatusOr<GpuFacts> ReadGpuFacts(int device, const std::string& library = "libcuda.so.1");

}  // namespace cobra::worker

#endif  // COBRA_WORKER_GPU_H_
