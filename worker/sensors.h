// What of a device's state can be read beside a measurement: clocks, temperature, power, energy. What cannot be read is
// absent: virtual machines hide most of it.
#ifndef COBRA_WORKER_SENSORS_H_
#define COBRA_WORKER_SENSORS_H_

#include <memory>
#include <optional>
#include <string>

namespace cobra::worker {

struct Conditions {
  std::optional<double> clock_mhz;         // of the pinned core, or of the SMs
  std::optional<double> memory_clock_mhz;  // GPU
  std::optional<double> temperature_c;
  std::optional<double> power_w;  // GPU
};

class Sensors {
 public:
  virtual ~Sensors() = default;
  virtual Conditions Read() = 0;
  // Joules of a counter that grows: only differences mean anything, and only over some 100 ms and more. It counts the
  // whole device (all packages, the whole board), idle power included. nullopt: there is no counter, or it may not be
  // read.
  virtual std::optional<double> Joules() = 0;
};

// cpufreq, hwmon and RAPL under `sys`. RAPL counters wrap around: Joules() must be called more often than they do
// (minutes).
std::unique_ptr<Sensors> CpuSensors(int core, const std::string& sys = "/sys");
// NVML; null where there is no driver. `library`: see gpu.h.
std::unique_ptr<Sensors> GpuSensors(int device, const std::string& library = "libnvidia-ml.so.1");

}  // namespace cobra::worker

#endif  // COBRA_WORKER_SENSORS_H_
