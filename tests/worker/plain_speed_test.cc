#include "worker/meter/plain_speed.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "worker/meter/plain_kernels.h"

namespace cobra::worker {
namespace {

// Whole numbers, so that every order of the sums gives the same bits.
TEST(PlainKernelsTest, EachInstructionSetMultipliesMatrices) {
  constexpr int64_t kDepth = 37;
  for (const int bits : {128, 256, 512}) {
    const PlainKernels& kernels = PlainKernelsFor(bits);
    EXPECT_LE(kernels.vector_bits, bits);
    const int64_t rows = kernels.tile_rows, columns = kernels.tile_columns, stride = columns + 3;
    std::vector<float> x, w, y(static_cast<size_t>(rows * stride), 5);
    for (int64_t k = 0; k < kDepth; ++k) {
      for (int64_t r = 0; r < rows; ++r) x.push_back(static_cast<float>(r + k % 5));
      for (int64_t c = 0; c < columns; ++c) w.push_back(static_cast<float>(c - k % 7));
    }
    kernels.add_tile(x.data(), w.data(), kDepth, y.data(), stride);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < stride; ++c) {
        int64_t sum = 5;
        for (int64_t k = 0; k < kDepth && c < columns; ++k) sum += (r + k % 5) * (c - k % 7);
        ASSERT_EQ(y[static_cast<size_t>(r * stride + c)], static_cast<float>(sum)) << bits << " " << r << " " << c;
      }
    }
  }
}

TEST(PlainKernelsTest, EachInstructionSetCopiesAndCutsOff) {
  constexpr int64_t kFloats = 48;
  for (const int bits : {128, 256, 512}) {
    const PlainKernels& kernels = PlainKernelsFor(bits);
    std::vector<float> from, to(kFloats + 1, 7);
    for (int64_t i = 0; i < kFloats; ++i) from.push_back(static_cast<float>(i % 3 - 1));
    kernels.copy(from.data(), kFloats, to.data());
    EXPECT_TRUE(std::equal(from.begin(), from.end(), to.begin()));
    EXPECT_EQ(to.back(), 7);
    kernels.relu(from.data(), kFloats);
    for (int64_t i = 0; i < kFloats; ++i) EXPECT_EQ(from[static_cast<size_t>(i)], i % 3 == 2 ? 1 : 0);
  }
}

TEST(PlainSpeedTest, TimesWhatOneOrTwoThreadsDo) {
  for (const int threads : {1, 2}) {
    const PlainLimits limits = {threads, 512};
    EXPECT_GT(PlainProduct(130, limits)(3), 0);  // not in whole tiles
    EXPECT_GT(PlainCopy(100'003, limits)(3), 0);
    EXPECT_GT(PlainRelu(1'000, limits)(3), 0);
    EXPECT_GT(PlainRelu(100'000, limits)(3), 0);
  }
}

}  // namespace
}  // namespace cobra::worker
