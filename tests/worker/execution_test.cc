#include "worker/machine/execution.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/machine/machine.h"

namespace cobra::worker {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

CpuInfo Cpu(bool has_bfloat16) {
  CpuInfo cpu;
  cpu.processors = 2;
  cpu.has_bfloat16 = has_bfloat16;
  cpu.has_avx2 = true;
  return cpu;
}

std::string ErrorOf(const ExecutionFlags& flags, bool has_bfloat16 = true) {
  return std::string(ParseExecution(flags, Cpu(has_bfloat16)).status().message());
}

TEST(ExecutionTest, DevicesAreRead) {
  const auto device = [](const char* text) { return ParseExecution({text}, Cpu(true)); };
  EXPECT_FALSE(device("cpu")->is_cuda());
  EXPECT_EQ(device("cuda")->cuda_device, 0);
  EXPECT_EQ(device("cuda:3")->cuda_device, 3);
  for (const char* wrong : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda3"}) {
    EXPECT_THAT(ErrorOf({wrong}), StartsWith(std::string("--device ") + wrong)) << wrong;
  }
}

TEST(ExecutionTest, WhatTheProcessorCannotDoIsRefused) {
  EXPECT_EQ(ErrorOf({"cpu", "bfloat16"}, true), "");
  EXPECT_THAT(ErrorOf({"cpu", "bfloat16"}, false), HasSubstr("avx512_bf16"));
  EXPECT_THAT(ErrorOf({"cpu", "tf32"}), HasSubstr("--device cuda"));
  EXPECT_THAT(ErrorOf({"cpu", "tf32-convolutions"}), HasSubstr("--precision tf32-convolutions: is a mode"));
  EXPECT_THAT(ErrorOf({"cpu", "float16"}), HasSubstr("--device cuda"));
  EXPECT_THAT(ErrorOf({"cpu", "int8"}), HasSubstr("float32, tf32, tf32-convolutions, bfloat16, float16"));
  EXPECT_EQ(ErrorOf({"cuda", "float16"}, false), "");
  ExecutionFlags threads;
  threads.threads = 3;
  EXPECT_THAT(ErrorOf(threads), HasSubstr("2 processors"));
  threads.threads = 2;
  EXPECT_EQ(ErrorOf(threads), "");
  threads.device = "cuda";
  EXPECT_THAT(ErrorOf(threads), StartsWith("--threads"));
  ExecutionFlags isa;
  isa.isa = "avx2";
  EXPECT_EQ(ErrorOf(isa), "");
  isa.isa = "sse41";  // the processor above has none
  EXPECT_THAT(ErrorOf(isa), StartsWith("--isa sse41: this processor"));
  isa.isa = "avx";
  EXPECT_THAT(ErrorOf(isa), HasSubstr("native, avx2, sse41"));
  isa = {"cuda"};
  isa.isa = "avx2";
  EXPECT_THAT(ErrorOf(isa), StartsWith("--isa"));
}

TEST(ExecutionTest, TheTargetsNameSaysHowItRuns) {
  const auto name = [](const ExecutionFlags& flags, const char* gpu = "") {
    return TargetName(*ParseExecution(flags, Cpu(true)), gpu);
  };
  const std::string plain = name({});
  EXPECT_THAT(plain, testing::MatchesRegex("cpu-.*-1t"));
  EXPECT_EQ(name({"cpu", "bfloat16"}), plain + "-bfloat16");
  EXPECT_EQ(name({"cpu", "float32", "channels-last"}), plain + "-nhwc");
  EXPECT_EQ(name({"cpu", "float32", "nchw", "cold"}), plain);  // a condition of the measurement, not of the target
  ExecutionFlags avx2;
  avx2.isa = "avx2";
  avx2.precision = "bfloat16";
  EXPECT_EQ(name(avx2), plain + "-avx2-bfloat16");
  EXPECT_EQ(name({"cuda", "tf32", "nhwc"}, "NVIDIA A100-SXM4-40GB"), "gpu-nvidia-a100-sxm4-40gb-tf32-nhwc");
  EXPECT_EQ(name({"cuda", "tf32-convolutions"}, "NVIDIA H200"), "gpu-nvidia-h200-tf32-convolutions");
}

TEST(ExecutionTest, TheTargetSaysItToo) {
  GpuFacts gpu;
  gpu.name = "NVIDIA H200";
  gpu.sms = 132;
  gpu.l2_mb = 60;
  const predict::TargetSpec spec =
      DescribeMachine("2.11.0+cuda-13.0", *ParseExecution({"cuda:0", "float16", "channels-last"}, Cpu(false)), gpu);
  EXPECT_EQ(spec.name, "gpu-nvidia-h200-float16-nhwc");
  EXPECT_EQ(spec.kind, "gpu");
  EXPECT_EQ(spec.device, "NVIDIA H200");
  EXPECT_EQ(spec.runtime, "libtorch-2.11.0+cuda-13.0");
  EXPECT_EQ(spec.precision, "float16");
  EXPECT_EQ(spec.layout, "nhwc");
  EXPECT_EQ(spec.cores, 132);
}

}  // namespace
}  // namespace cobra::worker
