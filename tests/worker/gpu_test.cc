#include "worker/machine/gpu.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "gtest/gtest.h"
#include "worker/machine/sensors.h"

namespace cobra::worker {
namespace {

const std::string kStandIn = COBRA_BINARY_DIR "/bin/libgpu_driver_stand_in.so";

class NvmlTest : public ::testing::Test {
 protected:
  void SetUp() override { unsetenv("CUDA_VISIBLE_DEVICES"); }
  void TearDown() override { SetUp(); }
};

TEST_F(NvmlTest, ReadsWhatTheDriverSays) {
  const auto nvml = Nvml::Open(0, kStandIn);
  ASSERT_TRUE(nvml.ok()) << nvml.status();
  EXPECT_EQ((*nvml)->name(), "Stand-in 9000");
  EXPECT_EQ((*nvml)->driver_version(), "580.1");
  const Nvml::Reading reading = (*nvml)->Read();
  EXPECT_EQ(reading.sm_clock_mhz, 1980);
  EXPECT_EQ(reading.memory_clock_mhz, 3201);
  EXPECT_EQ(reading.temperature_c, 41);
  EXPECT_FALSE(reading.power_w.has_value());  // "not supported" is absent, not 0
  EXPECT_TRUE(reading.energy_j.has_value());
}

TEST_F(NvmlTest, EnergyIsADifference) {
  const std::unique_ptr<Sensors> sensors = GpuSensors(0, kStandIn);
  ASSERT_NE(sensors, nullptr);
  const std::optional<double> before = sensors->Joules(), after = sensors->Joules();
  ASSERT_TRUE(before && after);
  EXPECT_NEAR(*after - *before, 1.5, 1e-9);
  EXPECT_EQ(sensors->Read().clock_mhz, 1980);
}

TEST_F(NvmlTest, ShutsDownWhatItStarted) {
  void* const library = dlopen(kStandIn.c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  auto* const started = reinterpret_cast<int (*)()>(dlsym(library, "stand_in_started"));
  {
    const auto nvml = Nvml::Open(1, kStandIn);
    ASSERT_TRUE(nvml.ok());
    EXPECT_EQ(started(), 1);
  }
  EXPECT_EQ(started(), 0);
  dlclose(library);
}

TEST_F(NvmlTest, FollowsCudaVisibleDevices) {
  setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  EXPECT_EQ((*Nvml::Open(0, kStandIn))->name(), "Stand-in 9001");
  setenv("CUDA_VISIBLE_DEVICES", "0,GPU-1234", 1);
  EXPECT_EQ((*Nvml::Open(1, kStandIn))->name(), "Stand-in 9001");
  EXPECT_EQ((*Nvml::Open(1, kStandIn))->uuid(), "GPU-1234");  // by its number it is the same one
  setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  EXPECT_EQ((*Nvml::Open(0, kStandIn))->uuid(), "GPU-1234");
  EXPECT_EQ(VisibleGpu(0, nullptr), "0");
  EXPECT_EQ(VisibleGpu(1, "3,5"), "5");
}

TEST_F(NvmlTest, WhatIsNotThereIsAnError) {
  EXPECT_TRUE(absl::IsNotFound(Nvml::Open(0, "libno-such-driver.so.1").status()));
  EXPECT_TRUE(absl::IsUnavailable(Nvml::Open(7, kStandIn).status()));
  EXPECT_TRUE(absl::IsUnavailable(Nvml::Open(0, "libz.so.1").status()));
  EXPECT_EQ(GpuSensors(0, "libno-such-driver.so.1"), nullptr);
  setenv("STAND_IN_HAS_NO_DRIVER", "1", 1);
  EXPECT_TRUE(absl::IsUnavailable(Nvml::Open(0, kStandIn).status()));
  unsetenv("STAND_IN_HAS_NO_DRIVER");
}

TEST(GpuFactsTest, AreTheDrivers) {
  const absl::StatusOr<GpuFacts> facts = ReadGpuFacts(0, kStandIn);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->name, "Stand-in 9000");
  EXPECT_EQ(facts->sms, 132);
  EXPECT_EQ(facts->clock_mhz, 1980);
  EXPECT_EQ(facts->l2_mb, 60);
  EXPECT_EQ(facts->memory_gb, 150);
  EXPECT_EQ(facts->compute_major, 9);
  EXPECT_EQ(facts->cuda_version, "13.1");
  EXPECT_TRUE(absl::IsUnavailable(ReadGpuFacts(1, kStandIn).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadGpuFacts(0, "libno-such-driver.so.1").status()));
}

}  // namespace
}  // namespace cobra::worker
