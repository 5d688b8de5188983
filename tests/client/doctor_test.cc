#include "client/doctor/doctor.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

// Files as below /proc and /sys of a machine.
class MachineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / ("machine" + std::to_string(::getpid()));
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    while (!CPU_ISSET(processor_, &set)) ++processor_;
  }
  void TearDown() override { fs::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::string OfProcessor(const std::string& file) const {
    return "sys/devices/system/cpu/cpu" + std::to_string(processor_) + "/" + file;
  }
  // "warn governor powersave: ...", "" if the area has no finding.
  std::string Find(const std::string& area) const {
    for (const Finding& f : LookAtMachine(root_.string())) {
      if (f.area == area)
        return std::string(f.health == Health::kOk ? "ok " : f.health == Health::kWarn ? "warn " : "fail ") + f.text;
    }
    return "";
  }
  fs::path root_;
  int processor_ = 0;
};

TEST_F(MachineTest, NothingIsVisible) {
  EXPECT_THAT(Find("clocks"), HasSubstr("ok not visible"));
  EXPECT_EQ(Find("load"), "");
  EXPECT_EQ(Find("quota"), "");
  EXPECT_THAT(Find("processors"), HasSubstr("ok all "));
}

TEST_F(MachineTest, ClocksThatFollowTheLoad) {
  Write(OfProcessor("cpufreq/scaling_governor"), "powersave\n");
  Write("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
  EXPECT_EQ(Find("clocks"), "warn governor powersave: clocks follow the load");
  EXPECT_THAT(Find("turbo"), HasSubstr("ok on: "));
  Write(OfProcessor("cpufreq/scaling_governor"), "performance\n");
  Write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  EXPECT_EQ(Find("clocks"), "ok governor performance");
  EXPECT_THAT(Find("turbo"), HasSubstr("ok off"));
}

TEST_F(MachineTest, AContainersShareOfTheTime) {
  Write("proc/self/cgroup", "12:cpu:/x\n0::/system.slice/job\n");
  Write("sys/fs/cgroup/system.slice/job/cpu.max", "50000 100000\n");
  EXPECT_THAT(Find("quota"), HasSubstr("warn this process gets 50 %"));
  Write("sys/fs/cgroup/system.slice/job/cpu.max", "max 100000\n");
  EXPECT_EQ(Find("quota"), "");
  Write("sys/fs/cgroup/system.slice/job/cpu.max", "400000 100000\n");
  EXPECT_EQ(Find("quota"), "ok the time of 4 processors");
  fs::remove_all(root_ / "sys/fs/cgroup");
  Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Find("quota"), "");
  Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000\n");
  EXPECT_THAT(Find("quota"), HasSubstr("25 %"));
}

TEST_F(MachineTest, LoadStealAndABusySibling) {
  const std::string other = std::to_string(processor_ + 1);
  Write("proc/loadavg", "1.75 0.3 0.2 2/300 4242\n");
  Write("proc/stat", "cpu  100 0 100 700 0 0 0 100 0 0\ncpu" + other + " 30 0 10 60 0 0 0 0 0 0\n");
  Write(OfProcessor("topology/thread_siblings_list"), std::to_string(processor_) + "-" + other + "\n");
  EXPECT_THAT(Find("load"), HasSubstr("warn 1.75 processes"));
  EXPECT_THAT(Find("steal"), HasSubstr("take 10 %"));
  EXPECT_THAT(Find("siblings"), HasSubstr("which is 40 % busy"));
  EXPECT_THAT(Find("siblings"), HasSubstr("warn"));
  Write("proc/loadavg", "0.05 0.3 0.2 2/300 4242\n");
  Write("proc/stat", "cpu  1 0 1 998 0 0 0 0 0 0\ncpu" + other + " 1 0 0 99 0 0 0 0 0 0\n");
  EXPECT_THAT(Find("load"), HasSubstr("ok "));
  EXPECT_EQ(Find("steal"), "");
  EXPECT_THAT(Find("siblings"), HasSubstr("ok "));
}

TEST_F(MachineTest, FilesThatHoldNonsense) {
  for (const char* text : {"", "\n\n\n", "a b c", "-1 -1 -1", "999999999999999999999 0", "cpu x y z a b c d e f g h"}) {
    Write("proc/loadavg", text);
    Write("proc/stat", text);
    Write("proc/self/cgroup", text);
    Write("sys/fs/cgroup/cpu.max", text);
    Write("sys/devices/system/cpu/online", text);
    Write(OfProcessor("topology/thread_siblings_list"), "0-99999999,x-,-");
    EXPECT_FALSE(LookAtMachine(root_.string()).empty());
  }
}

TEST_F(MachineTest, FewerProcessorsThanThereAre) {
  Write("sys/devices/system/cpu/online", "0-4095\n");
  EXPECT_THAT(Find("processors"), HasSubstr("warn this process may use "));
}

TEST(DoctorTest, TheKernelsOfTheLinearAlgebra) {
  const auto health = [](const char* runtime, const char* usual) { return LookAtBlas(runtime, usual)[0].health; };
  EXPECT_EQ(health("libtorch-1.13.0+openblas-SkylakeX", "SkylakeX"), Health::kOk);
  EXPECT_EQ(health("libtorch-1.13.0+openblas-skylakex", "SkylakeX"), Health::kOk);
  EXPECT_EQ(health("libtorch-1.13.0+openblas-Haswell", "SkylakeX"), Health::kWarn);
  EXPECT_EQ(health("libtorch-1.13.0+openblas-armv8", ""), Health::kOk);
  EXPECT_EQ(health("libtorch-1.13.0+blas", "Haswell"), Health::kWarn);
  EXPECT_EQ(health("libtorch-2.5.0+mkl", "Haswell"), Health::kOk);
  setenv("OPENBLAS_CORETYPE", "Haswell", 1);
  EXPECT_THAT(LookAtBlas("libtorch-1.13.0+openblas-Haswell", "SkylakeX")[0].mend, HasSubstr("unset OPENBLAS_CORETYPE"));
  unsetenv("OPENBLAS_CORETYPE");
}

TEST(DoctorTest, ALineForEachFinding) {
  const Findings findings = {{Health::kOk, "server", "answers", ""},
                             {Health::kFail, "weights", "the file \033[31mis\n damaged", "install it again"}};
  const std::string text = FindingsText(findings, {});
  EXPECT_THAT(text, HasSubstr("ok    server   answers\n"));
  EXPECT_THAT(text, HasSubstr("fail  weights  the file ?[31mis"));
  EXPECT_THAT(text, HasSubstr("; install it again\n"));
  const std::string narrow = FindingsText(findings, {40, true});
  EXPECT_THAT(narrow, HasSubstr("\033[32mok\033[0m"));
  EXPECT_THAT(narrow, HasSubstr("\n               damaged"));
  const nlohmann::json j = nlohmann::json::parse(FindingsJson(findings));
  EXPECT_EQ(j["healthy"], false);
  EXPECT_EQ(j["findings"][1]["health"], "fail");
  EXPECT_EQ(j["findings"][0]["mend"], "");
  EXPECT_EQ(nlohmann::json::parse(FindingsJson({}))["healthy"], true);
}

TEST(DoctorTest, WeightsThatAreNotThere) {
  const Findings findings = LookAtWeights("/nowhere");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].health, Health::kFail);
  EXPECT_THAT(findings[0].text, HasSubstr("/nowhere/manifest.json"));
}

}  // namespace
}  // namespace cobra::client
