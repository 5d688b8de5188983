#include "worker/machine/sensors.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "worker/machine/gpu.h"
#include "worker/machine/machine.h"

namespace cobra::worker {
namespace {

std::optional<double> ReadNumber(const std::string& path) {
  double value = 0;
  if (!absl::SimpleAtod(ReadOr(path, ""), &value)) return std::nullopt;
  return value;
}

// The energy of all packages (Documentation/power/powercap/powercap.rst). Domains inside a package
// (intel-rapl:0:1) are part of it, and "psys" contains everything: neither is added.
class Rapl {
 public:
  explicit Rapl(const std::string& sys) {
    constexpr int kMostZones = 64;
    for (int i = 0; i < kMostZones; ++i) {
      const std::string folder = absl::StrCat(sys, "/class/powercap/intel-rapl:", i);
      if (absl::StartsWith(ReadOr(folder + "/name", ""), "package")) packages_.push_back({folder});
    }
  }

  std::optional<double> Joules() {
    if (packages_.empty()) return std::nullopt;
    for (Package& package : packages_) {
      const std::optional<double> now_uj = ReadNumber(package.folder + "/energy_uj");
      if (!now_uj) return std::nullopt;  // only root may read it on most systems
      if (package.last_uj) {
        double grown_uj = *now_uj - *package.last_uj;
        if (grown_uj < 0) {
          const std::optional<double> range_uj = ReadNumber(package.folder + "/max_energy_range_uj");
          if (!range_uj) return std::nullopt;
          grown_uj += *range_uj;
        }
        total_j_ += grown_uj / 1e6;
      }
      package.last_uj = now_uj;
    }
    return total_j_;
  }

 private:
  struct Package {
    std::string folder;
    std::optional<double> last_uj;
  };
  std::vector<Package> packages_;
  double total_j_ = 0;
};

// Intel's coretemp, AMD's k10temp: their first input is the package.
std::string TemperatureFile(const std::string& sys) {
  constexpr int kMostChips = 32;
  for (int i = 0; i < kMostChips; ++i) {
    const std::string folder = absl::StrCat(sys, "/class/hwmon/hwmon", i);
    const std::string name = ReadOr(folder + "/name", "");
    if (name == "coretemp" || name == "k10temp" || name == "zenpower" || name == "cpu_thermal")
      return folder + "/temp1_input";
  }
  return "";
}

class CpuSensorsImpl final : public Sensors {
 public:
  CpuSensorsImpl(int core, const std::string& sys)
      : clock_file_(absl::StrCat(sys, "/devices/system/cpu/cpu", core, "/cpufreq/scaling_cur_freq")),
        temperature_file_(TemperatureFile(sys)),
        rapl_(sys) {}

  SensorReadings Read() override {
    SensorReadings conditions;
    if (const auto khz = ReadNumber(clock_file_)) conditions.clock_mhz = *khz / 1000;
    if (!temperature_file_.empty()) {
      if (const auto millidegrees = ReadNumber(temperature_file_)) conditions.temperature_c = *millidegrees / 1000;
    }
    return conditions;
  }
  std::optional<double> Joules() override { return rapl_.Joules(); }

 private:
  const std::string clock_file_, temperature_file_;
  Rapl rapl_;
};

class GpuSensorsImpl final : public Sensors {
 public:
  explicit GpuSensorsImpl(std::unique_ptr<Nvml> nvml) : nvml_(std::move(nvml)) {}
  SensorReadings Read() override {
    const Nvml::Reading reading = nvml_->Read();
    return {reading.sm_clock_mhz, reading.memory_clock_mhz, reading.temperature_c, reading.power_w};
  }
  std::optional<double> Joules() override { return nvml_->Read().energy_j; }

 private:
  const std::unique_ptr<Nvml> nvml_;
};

}  // namespace

std::unique_ptr<Sensors> CpuSensors(int core, const std::string& sys) {
  return std::make_unique<CpuSensorsImpl>(core, sys);
}

std::unique_ptr<Sensors> SensorsOf(const Execution& execution, int core) {
  return execution.is_cuda() ? GpuSensors(execution.cuda_device) : CpuSensors(core);
}

std::unique_ptr<Sensors> GpuSensors(int device, const std::string& library) {
  absl::StatusOr<std::unique_ptr<Nvml>> nvml = Nvml::Open(device, library);
  if (!nvml.ok()) return nullptr;
  return std::make_unique<GpuSensorsImpl>(*std::move(nvml));
}

}  // namespace cobra::worker
