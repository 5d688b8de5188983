#include "worker/machine/machine.h"

#include <sched.h>

#include "base/process/blas_core_type.h"
#include "gtest/gtest.h"

namespace cobra::worker {
namespace {

constexpr char kGenoa[] =
    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\ncpu MHz\t\t: "
    "2596.128\n"
    "flags\t\t: fpu avx avx2 avx512f avx512bw avx512_bf16\n\nprocessor\t: 1\nvendor_id\t: AuthenticAMD\nmodel name\t: "
    "other\n";

TEST(MachineTest, ReadsCpuInfo) {
  const CpuInfo cpu = ParseCpuInfo(kGenoa);
  EXPECT_EQ(cpu.model_name, "AMD EPYC");
  EXPECT_EQ(cpu.family, 25);
  EXPECT_EQ(cpu.model, 17);
  EXPECT_DOUBLE_EQ(cpu.clock_mhz, 2596.128);
  EXPECT_EQ(cpu.processors, 2);
  EXPECT_TRUE(cpu.has_avx512);
  EXPECT_TRUE(cpu.has_bfloat16);
}

// Of two generations of one cloud's servers; an unknown core keeps its numbers.
TEST(MachineTest, NamesArmProcessors) {
  const auto name = [](const std::string& implementer, const std::string& part) {
    return CpuCodeName(ParseCpuInfo(
        "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd bf16\nCPU implementer\t: " + implementer +
        "\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: " + part + "\nCPU revision\t: 1\n"));
  };
  EXPECT_EQ(name("0x41", "0xd0c"), "neoverse-n1");
  EXPECT_EQ(name("0x41", "0xd40"), "neoverse-v1");
  EXPECT_EQ(name("0xc0", "0xac3"), "ampereone");
  EXPECT_EQ(name("0x41", "0xfff"), "arm-0x41-0xfff");
}

TEST(MachineTest, CoreTypeFollowsTheInstructions) {
  CpuInfo cpu = ParseCpuInfo(kGenoa);
  EXPECT_EQ(BlasCoreType(cpu.has_avx2, cpu.has_avx512), "SkylakeX");
  cpu.has_avx512 = false;
  EXPECT_EQ(BlasCoreType(cpu.has_avx2, cpu.has_avx512), "Haswell");
  cpu.has_avx2 = false;
  EXPECT_EQ(BlasCoreType(cpu.has_avx2, cpu.has_avx512), "");
}

TEST(MachineTest, CodeNames) {
  CpuInfo cpu = ParseCpuInfo(kGenoa);
  EXPECT_EQ(CpuCodeName(cpu), "epyc-genoa");
  // A virtual machine on Sapphire Rapids that reports the model of another generation.
  cpu =
      ParseCpuInfo("processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 167\nflags : avx512f amx_tile\n");
  EXPECT_EQ(CpuCodeName(cpu), "xeon-sapphirerapids");
  cpu.vendor = "Elsewhere";
  cpu.model_name = "Foo(R) Bar 9000 @ 2GHz";
  EXPECT_EQ(CpuCodeName(cpu), "foo-r-bar-9000-2ghz");
  cpu.model_name = "";
  EXPECT_EQ(CpuCodeName(cpu), "unknown");
}

TEST(MachineTest, DescribesThisMachine) {
  const predict::TargetSpec spec = DescribeMachine("1.13.0", Execution());
  EXPECT_EQ(spec.kind, "cpu");
  EXPECT_EQ(spec.name.substr(0, 4), "cpu-");
  EXPECT_EQ(spec.name.substr(spec.name.size() - 3), "-1t");
  EXPECT_GE(spec.cores, 1);
}

TEST(MachineTest, TheFirstCoreIsOneThatMayBeUsed) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &before)) continue;
    ASSERT_TRUE(PinToCore(core).ok());
    EXPECT_EQ(FirstCore(), core);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}
TEST(MachineTest, PinningToAnImpossibleCoreIsAnError) { EXPECT_FALSE(PinToCore(1023).ok()); }

}  // namespace
}  // namespace cobra::worker
