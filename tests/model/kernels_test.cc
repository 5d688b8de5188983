// The kernels of one instruction set against those of another, and of one architecture against
// those of another.
#include "model/kernels/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "base/bytes/hash.h"
#include "gtest/gtest.h"

namespace cobra::kernels {
namespace {

std::vector<float> Random(size_t count, uint64_t seed, float spread = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

// Whether a product is added to a sum without being rounded first.
bool Fuses(const Kernels& kernels) {
#ifdef __FP_FAST_FMAF
  return true;
#else
  return std::strcmp(kernels.name, "base") != 0;
#endif
}

void ExpectClose(const std::vector<float>& a, const std::vector<float>& b, bool same_bits, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (same_bits) {
      ASSERT_EQ(a[i], b[i]) << i;
    } else {
      ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::fabs(b[i]))) << i;
    }
  }
}

class KernelsTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const KernelList all = AllKernels();
    if (GetParam() >= all.count) GTEST_SKIP() << "this processor has fewer instruction sets";
    kernels_ = all.kernels[GetParam()];
    best_ = all.kernels[0];
    same_bits_ = Fuses(*kernels_) == Fuses(*best_);
  }

  const Kernels* kernels_ = nullptr;
  const Kernels* best_ = nullptr;
  bool same_bits_ = false;
};
INSTANTIATE_TEST_SUITE_P(All, KernelsTest, testing::Values(0, 1, 2));

TEST_P(KernelsTest, ProductsAreThoseOfADouble) {
  for (int64_t rows : {1, 3, 8, 13, 50}) {
    for (const auto& [depth, columns] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 16}, {24, 96}, {96, 1}, {17, 40}}) {
      const int64_t padded = PaddedWidth(columns);
      const std::vector<float> x = Random(static_cast<size_t>(rows * depth), 1);
      const std::vector<float> panels = Random(static_cast<size_t>(padded * depth), 2);
      const std::vector<float> bias = Random(static_cast<size_t>(padded), 3);
      std::vector<float> y = Random(static_cast<size_t>(rows * padded), 4), best = y;
      const std::vector<float> before = y;
      kernels_->product(x.data(), rows, depth, panels.data(), depth, columns, bias.data(), true, y.data(), padded);
      best_->product(x.data(), rows, depth, panels.data(), depth, columns, bias.data(), true, best.data(), padded);
      ExpectClose(y, best, same_bits_, 1e-5f);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
          double sum = bias[c] + static_cast<double>(before[r * padded + c]);
          for (int64_t k = 0; k < depth; ++k)
            sum += static_cast<double>(x[r * depth + k]) * panels[(c / 16 * depth + k) * 16 + c % 16];
          ASSERT_NEAR(y[r * padded + c], sum, 1e-4) << r << " " << c;
        }
      }
    }
  }
}

TEST_P(KernelsTest, FunctionsAreThoseOfTheStandardLibrary) {
  std::vector<float> x = Random(4096, 5, 3);
  for (size_t i = 0; i < 64; ++i) x[i] = static_cast<float>(i) - 32;
  std::vector<float> y = x, best = x, powers(x.size()), best_powers(x.size());
  kernels_->gelu(y.data(), static_cast<int64_t>(y.size()));
  best_->gelu(best.data(), static_cast<int64_t>(best.size()));
  kernels_->exponentials(x.data(), static_cast<int64_t>(x.size()), powers.data());
  best_->exponentials(x.data(), static_cast<int64_t>(x.size()), best_powers.data());
  ExpectClose(y, best, same_bits_, 1e-5f);
  ExpectClose(powers, best_powers, same_bits_, 1e-5f);
  for (size_t i = 0; i < x.size(); ++i) {
    const double d = x[i];
    ASSERT_NEAR(y[i], 0.5 * d * (1 + std::erf(d / std::sqrt(2.0))), 1e-6 * (1 + std::fabs(d))) << d;
    ASSERT_NEAR(powers[i] / std::exp(d), 1, 1e-6) << d;
  }
}

TEST_P(KernelsTest, RowsAreNormalisedOverTheirWidth) {
  for (int64_t width : {1, 16, 24, 96, 128}) {
    const int64_t stride = PaddedWidth(width), rows = 5;
    std::vector<float> x = Random(static_cast<size_t>(rows * stride), 6, 4);
    const std::vector<float> scale = Random(static_cast<size_t>(stride), 7), shift = Random(scale.size(), 8);
    std::vector<float> y(x.size()), best(x.size());
    kernels_->layer_norm(x.data(), rows, width, stride, scale.data(), shift.data(), y.data());
    best_->layer_norm(x.data(), rows, width, stride, scale.data(), shift.data(), best.data());
    std::vector<float> soft = x, best_soft = x;
    kernels_->softmax(soft.data(), rows, width, stride, 0.5f);
    best_->softmax(best_soft.data(), rows, width, stride, 0.5f);
    for (int64_t r = 0; r < rows; ++r) {
      double mean = 0, variance = 0, sum = 0;
      for (int64_t i = 0; i < width; ++i) mean += x[r * stride + i] / static_cast<double>(width);
      for (int64_t i = 0; i < width; ++i)
        variance += std::pow(x[r * stride + i] - mean, 2) / static_cast<double>(width);
      for (int64_t i = 0; i < width; ++i) sum += std::exp(0.5 * x[r * stride + i]);
      for (int64_t i = 0; i < width; ++i) {
        const int64_t at = r * stride + i;
        if (same_bits_) ASSERT_EQ(y[at], best[at]);
        if (same_bits_) ASSERT_EQ(soft[at], best_soft[at]);
        ASSERT_NEAR(y[at], (x[at] - mean) / std::sqrt(variance + 1e-5) * scale[i] + shift[i], 1e-4);
        ASSERT_NEAR(soft[at], std::exp(0.5 * x[at]) / sum, 1e-6);
      }
    }
  }
}

// Whole numbers of a generator that the standard defines, so that they are the same everywhere.
std::vector<float> Exact(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(static_cast<int64_t>(random() >> 40) - (1 << 23)) / (1 << 21);
  return values;
}

// What AVX2 computed when this was written. AVX-512, NEON, and the base kernels where the processor
// fuses a product with a sum, give the same.
TEST_P(KernelsTest, BitsAreThoseOfEveryArchitecture) {
  if (!Fuses(*kernels_)) GTEST_SKIP() << kernels_->name << " rounds products first";
  constexpr int64_t kRows = 13, kDepth = 57, kColumns = 96;
  const std::vector<float> x = Exact(kRows * kDepth, 1), panels = Exact(kDepth * kColumns, 2);
  std::vector<float> y = Exact(kRows * kColumns, 3);
  kernels_->product(x.data(), kRows, kDepth, panels.data(), kDepth, kColumns, panels.data(), true, y.data(), kColumns);
  std::vector<float> normal(y.size()), powers(y.size());
  kernels_->layer_norm(y.data(), kRows, kColumns - 3, kColumns, x.data(), panels.data(), normal.data());
  for (int64_t row = 0; row < kRows; ++row) std::fill_n(&normal[static_cast<size_t>(row * kColumns) + 93], 3, 0.0f);
  kernels_->gated(normal.data(), x.data(), y.data(), 96, y.data());
  kernels_->add_scaled(normal.data(), 0.37f, 96, y.data());
  kernels_->gelu(normal.data(), kRows * kColumns);
  kernels_->exponentials(normal.data(), kRows * kColumns, powers.data());
  kernels_->softmax(normal.data(), kRows, kColumns - 5, kColumns, 0.125f);
  std::vector<float> all = y;
  all.insert(all.end(), powers.begin(), powers.end());
  all.insert(all.end(), normal.begin(), normal.end());
  const absl::string_view bytes(reinterpret_cast<const char*>(all.data()), all.size() * sizeof(float));
  EXPECT_EQ(HashBytes(bytes).ToHex(), "0a075b4f2dc64194add98b54f256425b") << kernels_->name;
}

}  // namespace
}  // namespace cobra::kernels
