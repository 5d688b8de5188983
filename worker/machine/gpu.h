// An NVIDIA GPU as its driver describes it. Needs no CUDA headers: libnvidia-ml.so.1 and
// libcuda.so.1 are loaded at run time; in a program that cannot load any, all of this is an error
// (without_gpu_driver.cc).
#ifndef COBRA_WORKER_MACHINE_GPU_H_
#define COBRA_WORKER_MACHINE_GPU_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace cobra::worker {

// NVIDIA's management library: clocks, power, temperature, energy. Creates no CUDA context, so that
// a process that forks may use it too.
class Nvml {
 public:
  // `device` is CUDA's number (CUDA_VISIBLE_DEVICES is respected). NotFound: no such library;
  // Unavailable: it has no such device.
  static absl::StatusOr<std::unique_ptr<Nvml>> Open(int device, const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();

  // "NVIDIA H200"; empty if unknown.
  std::string name() const;
  // "GPU-8f3a..."; the same for all processes, unlike the number.
  std::string uuid() const;
  // "580.95.05"
  std::string driver_version() const;

  // Values that the driver does not report are absent.
  struct Reading {
    std::optional<double> sm_clock_mhz, memory_clock_mhz, temperature_c, power_w;
    // Since the driver was loaded.
    std::optional<double> energy_j;
  };
  Reading Read() const;

 private:
  class Impl;
  explicit Nvml(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The GPU of CUDA's number `device` if CUDA_VISIBLE_DEVICES is `visible` (null: not set): a number
// or a UUID.
std::string VisibleGpu(int device, const char* visible);

// The description of a device by CUDA's driver. Initialises CUDA in this process, which must not
// fork children that use CUDA afterwards.
struct GpuFacts {
  std::string name;
  int compute_major = 0, compute_minor = 0;
  double sms = 0, clock_mhz = 0, l2_mb = 0, memory_gb = 0;
  // That the driver supports: "13.0".
  std::string cuda_version;
};
absl::StatusOr<GpuFacts> ReadGpuFacts(int device, const std::string& library = "libcuda.so.1");

}  // namespace cobra::worker

#endif  // COBRA_WORKER_MACHINE_GPU_H_
