// On a tree of files as the kernel's sysfs has it.
#include "worker/machine/sensors.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::worker {
namespace {

class SensorsTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = folder_.File(path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  void WritePackage(int i, const std::string& name, int64_t energy_uj) {
    const std::string zone = "class/powercap/intel-rapl:" + std::to_string(i);
    Write(zone + "/name", name);
    Write(zone + "/energy_uj", std::to_string(energy_uj));
    Write(zone + "/max_energy_range_uj", "262143328850");
  }
  std::unique_ptr<Sensors> Open() { return CpuSensors(1, folder_.path()); }

  tests::TemporaryDirectory folder_;
};

TEST_F(SensorsTest, VirtualMachineHasNoSensors) {
  const auto sensors = Open();
  const SensorReadings now = sensors->Read();
  EXPECT_FALSE(now.clock_mhz || now.temperature_c || now.power_w || now.memory_clock_mhz);
  EXPECT_FALSE(sensors->Joules().has_value());
}

TEST_F(SensorsTest, ClockIsThatOfTheCore) {
  Write("devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1000000");
  Write("devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3699893");
  EXPECT_DOUBLE_EQ(*Open()->Read().clock_mhz, 3699.893);
}

TEST_F(SensorsTest, TemperatureIsThatOfTheProcessor) {
  Write("class/hwmon/hwmon0/name", "nvme");
  Write("class/hwmon/hwmon0/temp1_input", "30000");
  Write("class/hwmon/hwmon1/name", "k10temp");
  Write("class/hwmon/hwmon1/temp1_input", "52375");
  EXPECT_DOUBLE_EQ(*Open()->Read().temperature_c, 52.375);
}

TEST_F(SensorsTest, PackagesAddUpAndTheirPartsDoNot) {
  WritePackage(0, "package-0", 1'000'000);
  WritePackage(1, "package-1", 500'000);
  WritePackage(2, "psys", 7'000'000);
  Write("class/powercap/intel-rapl:0:0/name", "core");
  Write("class/powercap/intel-rapl:0:0/energy_uj", "900000");
  const auto sensors = Open();
  const double before = *sensors->Joules();
  WritePackage(0, "package-0", 3'000'000);
  WritePackage(1, "package-1", 600'000);
  WritePackage(2, "psys", 17'000'000);
  EXPECT_NEAR(*sensors->Joules() - before, 2.1, 1e-9);
}

TEST_F(SensorsTest, ACounterThatWrapsAroundGoesOn) {
  WritePackage(0, "package-0", 262'143'000'000);
  const auto sensors = Open();
  const double before = *sensors->Joules();
  WritePackage(0, "package-0", 671'150);
  EXPECT_NEAR(*sensors->Joules() - before, 1.0, 1e-9);
}

TEST_F(SensorsTest, WhatMayNotBeReadIsUnavailable) {
  WritePackage(0, "package-0", 1'000'000);
  WritePackage(1, "package-1", 1'000'000);
  const auto sensors = Open();
  EXPECT_TRUE(sensors->Joules().has_value());
  std::filesystem::remove(
      folder_.File("class/powercap/intel-rapl:1/energy_uj"));  // root may read whatever its permissions say
  EXPECT_FALSE(sensors->Joules().has_value());
  Write("class/powercap/intel-rapl:1/energy_uj", "no number");
  EXPECT_FALSE(sensors->Joules().has_value());
}

}  // namespace
}  // namespace cobra::worker
