// The state of a device during a measurement: clocks, temperature, power, energy. Values that
// cannot be read are absent; virtual machines hide most of them.
#ifndef COBRA_WORKER_MACHINE_SENSORS_H_
#define COBRA_WORKER_MACHINE_SENSORS_H_

#include <memory>
#include <optional>
#include <string>

#include "worker/machine/execution.h"

namespace cobra::worker {

struct SensorReadings {
  // Of the pinned core, or of the SMs.
  std::optional<double> clock_mhz;
  // Of a GPU.
  std::optional<double> memory_clock_mhz;
  std::optional<double> temperature_c;
  // Of a GPU.
  std::optional<double> power_w;
};

class Sensors {
 public:
  virtual ~Sensors() = default;
  virtual SensorReadings Read() = 0;
  // Joules of an increasing counter. Only differences over at least some 100 ms are meaningful. It
  // counts the complete device (all packages, or the board), idle power included. nullopt: there is
  // no counter, or it is not readable.
  virtual std::optional<double> Joules() = 0;
};

// cpufreq, hwmon and RAPL under `sys`. RAPL counters wrap around: Joules() must be called more
// often than they do (minutes).
std::unique_ptr<Sensors> CpuSensors(int core, const std::string& sys = "/sys");
// NVML; null if there is no driver. `library`: see gpu.h.
std::unique_ptr<Sensors> GpuSensors(int device, const std::string& library = "libnvidia-ml.so.1");
// Those of the execution's GPU, or of `core`.
std::unique_ptr<Sensors> SensorsOf(const Execution& execution, int core);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_MACHINE_SENSORS_H_
