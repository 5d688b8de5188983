// The algorithm that graph/cost/convolution_algorithm.h gives for convolutions, beside the one that
// oneDNN reports when LibTorch runs them (DNNL_VERBOSE).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "graph/builder/builder.h"
#include "model/predict/work/call_work.h"

namespace cobra::predict {
namespace {

using Algorithm = graph::ConvolutionAlgorithm;
using Ints = std::vector<int64_t>;

struct Call {
  int64_t batch, groups, in, out;  // channels of a group
  Ints image, window, stride, padding, dilation;

  std::string Text() const {
    return absl::StrFormat(
        "batch %d, %d groups, %d -> %d, image %dx%d, window %dx%d, stride %dx%d, padding %dx%d, dilation %dx%d", batch,
        groups, in, out, image[0], image[1], window[0], window[1], stride[0], stride[1], padding[0], padding[1],
        dilation[0], dilation[1]);
  }
  graph::Shape Input() const { return {batch, groups * in, image[0], image[1]}; }
  graph::Shape Weight() const { return {groups * out, in, window[0], window[1]}; }
};

class Calls {
 public:
  Call Draw() {
    Call c;
    c.batch = Between(0, 3) == 0 ? Between(1, 4) : 1;
    const int64_t kind = Between(0, 3);
    c.groups = kind < 2 ? 1 : kind == 2 ? Between(2, 40) : 16 * Between(1, 4);
    const int64_t step = Between(0, 1) == 0 ? 1 : 4;
    c.in = kind == 3 ? 1 : step * Between(1, 10), c.out = kind == 3 ? 1 : step * Between(1, 10);
    for (int side = 0; side < 2; ++side) {
      c.window.push_back(Between(1, 6));
      c.stride.push_back(Between(0, 1) == 0 ? 1 : Between(1, 4));
      c.dilation.push_back(Between(0, 2) == 0 ? Between(1, 3) : 1);
      c.padding.push_back(Between(0, 1) == 0 ? Between(0, 6) : (c.window.back() - 1) / 2);
      c.image.push_back(Between(16, 60));
    }
    return c;
  }

 private:
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  std::mt19937_64 random_{1};
};

// What oneDNN prints while LibTorch runs the call; empty where it has no part.
std::string OneDnnReports(const Call& c) {
  const at::Tensor input = at::ones(c.Input()), weight = at::ones(c.Weight());
  testing::internal::CaptureStdout();
  at::conv2d(input, weight, {}, c.stride, c.padding, c.dilation, c.groups);
  std::fflush(stdout);
  return testing::internal::GetCapturedStdout();
}

Algorithm Ours(const Call& c) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", {c.Input(), graph::DType::float32}),
                        w = b.AddParameter("w", {c.Weight(), graph::DType::float32});
  const auto conv = b.Add(
      graph::Op::conv2d, {{"stride", c.stride}, {"padding", c.padding}, {"dilation", c.dilation}, {"groups", c.groups}},
      {x, w, graph::ValueRef::None()});
  EXPECT_TRUE(conv.ok()) << conv.status();
  const graph::Graph g = std::move(b).Build({graph::ValueRef::Node(*conv)});
  return ConvolutionWorkOf(g, g.nodes()[0]).value_or(ConvolutionWork{}).algorithm;
}

const char* NameInOneDnn(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kProduct: return "";
    case Algorithm::kGemm: return ",gemm:jit,";
    case Algorithm::kBlocked: return ",jit:avx512_core,";
    case Algorithm::kPointwise: return ",jit_1x1:avx512_core,";
    case Algorithm::kDepthwise: return ",jit_dw:avx512_core,";
  }
  return "";
}

TEST(ConvolutionAlgorithm, IsWhatOneDnnReports) {
  setenv("DNNL_VERBOSE", "1", 1);  // read at its first call
  if (!absl::StrContains(OneDnnReports({1, 1, 32, 32, {40, 40}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}), "jit:avx512_core"))
    GTEST_SKIP() << "rules of AVX-512";
  Calls calls;
  int asked = 0, right = 0;
  std::string wrong;
  while (asked < 600) {
    const Call c = calls.Draw();
    if (c.dilation[0] * (c.window[0] - 1) >= c.image[0] || c.dilation[1] * (c.window[1] - 1) >= c.image[1]) continue;
    ++asked;
    const std::string report = OneDnnReports(c);
    const Algorithm algorithm = Ours(c);
    const bool same = algorithm == Algorithm::kProduct
                          ? !absl::StrContains(report, "convolution")
                          : absl::StrContains(absl::StrReplaceAll(report, {{"x64:", ""}}), NameInOneDnn(algorithm));
    right += same;
    if (!same)
      wrong +=
          absl::StrFormat("%s: ours %d, oneDNN %s\n", c.Text(), static_cast<int>(algorithm), report.substr(0, 120));
  }
  EXPECT_GE(right, 588) << wrong;  // 98 %
}

}  // namespace
}  // namespace cobra::predict
