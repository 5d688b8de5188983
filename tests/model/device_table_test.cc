#include "model/predict/target/device_table.h"

#include "base/file/csv.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::predict {
namespace {

using testing::HasSubstr;

std::string Shipped() { return *ReadFile(COBRA_SOURCE_DIR "/data/devices/gpus.csv"); }

TEST(DeviceTableTest, ARowIsATarget) {
  const absl::StatusOr<TargetSpec> spec = TargetFromTable(Shipped(), "NVIDIA A100-SXM4-40GB");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->name, "gpu-nvidia-a100-sxm4-40gb");
  EXPECT_EQ(spec->kind, "gpu");
  EXPECT_EQ(spec->peak_gflops, 19492);
  EXPECT_EQ(spec->memory_gb_per_s, 1555);
  EXPECT_EQ(spec->cores, 108);
  EXPECT_EQ(spec->clock_mhz, 1410);
  EXPECT_EQ(spec->last_level_cache_mb, 40);
  EXPECT_EQ(spec->memory_gb, 40);
  EXPECT_EQ(spec->board_power_w, 400);
  // No sheet states the power of one that the laptop limits.
  EXPECT_EQ(TargetFromTable(Shipped(), "A3000")->board_power_w, 0);
}

TEST(DeviceTableTest, APartOfTheNameIsEnoughWhereItIsTheOnlyOne) {
  EXPECT_EQ(TargetFromTable(Shipped(), "v100-pcie-32")->device, "Tesla V100-PCIE-32GB");
  EXPECT_EQ(TargetFromTable(Shipped(), "tesla p4")->device,
            "Tesla P4");  // "Tesla P4" is a whole name, whatever else contains it
  EXPECT_THAT(std::string(TargetFromTable(Shipped(), "A100").status().message()),
              HasSubstr("may be NVIDIA A100-PCIE-40GB, "));
  EXPECT_THAT(std::string(TargetFromTable(Shipped(), "Voodoo").status().message()), HasSubstr("there are "));
}

// As drivers, shops and people write it.
TEST(DeviceTableTest, TheMakersWordsAndPunctuationDoNotMatter) {
  for (const char* name : {"NVIDIA GeForce RTX 4090", "GeForce RTX 4090", "RTX 4090", "rtx4090", "NVIDIA RTX-4090"})
    EXPECT_EQ(TargetFromTable(Shipped(), name)->device, "NVIDIA GeForce RTX 4090") << name;
  EXPECT_EQ(TargetFromTable(Shipped(), "A100 SXM4 80GB")->device, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(TargetFromTable(Shipped(), "Tesla V100 SXM2 16GB")->device, "Tesla V100-SXM2-16GB");
  EXPECT_EQ(TargetFromTable(Shipped(), "RTX 4070 Ti")->device, "NVIDIA GeForce RTX 4070 Ti");
  EXPECT_EQ(TargetFromTable(Shipped(), "L4")->device, "NVIDIA L4");
  EXPECT_EQ(ProcessNm("RTX 4090"), 5);
}

TEST(DeviceTableTest, NeitherTheOrderOfWordsNorTheSizeOfTheMemoryMatters) {
  const auto named = [](const char* name) { return TargetFromTable(Shipped(), name)->device; };
  EXPECT_EQ(named("A100 PCIe 80GB"), "NVIDIA A100 80GB PCIe");
  EXPECT_EQ(named("RTX 3060 12GB"), "NVIDIA GeForce RTX 3060");
  EXPECT_EQ(named("GeForce RTX 4090 24GB"), "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(named("AMD MI300X"), "AMD Instinct MI300X");
  EXPECT_EQ(named("A6000"), "NVIDIA RTX A6000");
  EXPECT_EQ(named("GH200"), "NVIDIA GH200 480GB");
  EXPECT_FALSE(TargetFromTable(Shipped(), "RTX 4090 Laptop GPU").ok());  // slower, and has no row
}

// People and shops name the form of a module, the driver of an H100 its memory.
TEST(DeviceTableTest, AModuleIsTheSameDeviceHoweverItIsCalled) {
  for (const char* name : {"H100 SXM", "H100 SXM5", "NVIDIA H100-SXM5-80GB", "H100 80GB HBM3", "h100 hbm3"})
    EXPECT_THAT(GpusNamed(name), testing::ElementsAre("NVIDIA H100 80GB HBM3")) << name;
  EXPECT_THAT(GpusNamed("H200 SXM 141GB"), testing::ElementsAre("NVIDIA H200"));
  EXPECT_THAT(GpusNamed("A100 SXM 80GB"), testing::ElementsAre("NVIDIA A100-SXM4-80GB"));
  EXPECT_THAT(GpusNamed("A100 SXM"), testing::ElementsAre("NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB"));
  EXPECT_THAT(GpusNamed("H100 PCIe SXM"), testing::ElementsAre("NVIDIA H100 PCIe"));
  EXPECT_THAT(GpusNamed("SXM5"), testing::Not(testing::Contains("NVIDIA H200")));
}

TEST(DeviceTableTest, OthersOfTheSameModelAreFound) {
  EXPECT_THAT(GpusOfModel("RTX 4060 Laptop GPU"),
              testing::ElementsAre("NVIDIA GeForce RTX 4060 Ti", "NVIDIA GeForce RTX 4060"));
  EXPECT_THAT(GpusOfModel("H100 CNX"), testing::Contains("NVIDIA H100 PCIe"));
  for (const char* none : {"Apple M2", "Arc A770", "80GB", "Voodoo 3", ""})
    EXPECT_THAT(GpusOfModel(none), testing::IsEmpty());
}

TEST(DeviceTableTest, APartOfANameSaysWhichThereAre) {
  EXPECT_THAT(DevicesNamedLike("A100"), testing::SizeIs(4));
  EXPECT_THAT(DevicesNamedLike("Tesla V100"), testing::Contains("Tesla V100-SXM2-16GB"));
  EXPECT_THAT(DevicesNamedLike("H100"), testing::Contains("NVIDIA H100 PCIe"));
  for (const char* none : {"RTX 4090", "Voodoo 3", "", "NVIDIA"}) EXPECT_TRUE(DevicesNamedLike(none).empty()) << none;
}

// No two rows are one device, however it is written.
TEST(DeviceTableTest, EveryRowIsFoundByItsName) {
  const absl::StatusOr<CsvTable> table = ParseCsv(Shipped());
  ASSERT_TRUE(table.ok());
  const auto name = static_cast<size_t>(table->Column("name"));
  for (const CsvTable::Row& row : table->rows)
    EXPECT_EQ(TargetFromTable(Shipped(), row.fields[name])->device, row.fields[name]);
}

// Who names a device that the table has need not copy its data sheet.
TEST(DeviceTableTest, ASheetIsFilledByTheNameOfItsDevice) {
  EXPECT_EQ(GpuTable(), Shipped());
  TargetSpec sheet;
  sheet.kind = "gpu";
  sheet.device = "nvidia a100-sxm4-40GB";
  sheet.precision = "tf32-convolutions";
  sheet.memory_gb_per_s = 1000;
  const TargetSpec filled = FilledFromTable(sheet);
  EXPECT_EQ(filled.memory_gb_per_s, 1000);  // what is given stays
  EXPECT_EQ(filled.peak_gflops, 19492);
  EXPECT_EQ(filled.convolution_gflops, 156000);
  EXPECT_EQ(filled.board_power_w, 400);
  sheet.precision = "amp-float16";
  EXPECT_EQ(FilledFromTable(sheet).peak_gflops, 312000);
  EXPECT_EQ(FilledFromTable(sheet).depthwise_gflops, 19492);
  for (const char* unknown : {"A100", "Voodoo", ""}) {
    sheet.device = unknown;
    EXPECT_EQ(FilledFromTable(sheet).peak_gflops, 0);
  }
  sheet.device = "Tesla T4";
  sheet.kind = "cpu";
  EXPECT_EQ(FilledFromTable(sheet).peak_gflops, 0);
}

TEST(DeviceTableTest, AProcessorGetsAPeakOfClockAndVectors) {
  TargetSpec sheet;
  sheet.kind = "cpu";
  sheet.runtime = "torch-2.4";
  sheet.threads = 2;
  sheet.clock_mhz = 2500;
  EXPECT_EQ(CompletedSheet(sheet).peak_gflops, 0);
  sheet.vector_bits = 512;
  EXPECT_EQ(CompletedSheet(sheet).peak_gflops, 320);  // 64 a cycle, as Skylake-SP
  sheet.runtime = "ncnn";
  sheet.vector_bits = 128;
  EXPECT_EQ(CompletedSheet(sheet).peak_gflops, 40);  // 8, as a Cortex-A72
  sheet.precision = "float16";
  EXPECT_EQ(CompletedSheet(sheet).peak_gflops, 160);  // 32, as a Cortex-A76
  sheet.peak_gflops = 9;
  EXPECT_EQ(CompletedSheet(sheet).peak_gflops, 9);
}

TEST(DeviceTableTest, WhatIsWrongIsNamed) {
  EXPECT_THAT(std::string(TargetFromTable("device\nx\n", "x").status().message()), HasSubstr("no column name"));
  EXPECT_THAT(std::string(TargetFromTable("name,mem_bw_gb_s\nx,fast\n", "x").status().message()),
              HasSubstr("line 2: mem_bw_gb_s \"fast\""));
  EXPECT_THAT(std::string(TargetFromTable("name,mem_bw_gb_s\nx,1\n", "x").status().message()),
              HasSubstr("no column num_sm"));
}

}  // namespace
}  // namespace cobra::predict
