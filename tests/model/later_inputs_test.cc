#include "model/predict/weights/later_inputs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "base/file/tensor_file.h"
#include "model/net/config.h"
#include "model/predict/work/features.h"

namespace cobra::predict {
namespace {

constexpr int64_t kHad = kFewestTargetSpecFeatures, kVector = net::kLearnedTargetFeatures;

std::string Bytes(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}
std::vector<float> Floats(absl::string_view bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(LaterInputs, WhatAVersionHasNotLearnedCountsNothing) {
  std::vector<float> gain(2 * (kHad + kVector));
  for (size_t i = 0; i < gain.size(); ++i) gain[i] = static_cast<float>(i + 1);
  const std::string gains = Bytes(gain), others = Bytes(std::vector<float>(kHad + kVector, 3));
  const std::string file = WriteTensorFile({{"layer_head.target_gain.weight", {{2, kHad + kVector}, gains}},
                                            {"graph_net.run.bias", {{1, kHad + kVector}, others}}});
  const absl::StatusOr<std::string> wider = WithAllSpecFeatures(file, kHad);
  ASSERT_TRUE(wider.ok()) << wider.status();
  const auto tensors = ReadTensorFile(*wider);
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  // Of no target's features, however many columns it has.
  EXPECT_EQ(tensors->at("graph_net.run.bias").bytes, others);
  const StoredTensor& stored = tensors->at("layer_head.target_gain.weight");
  EXPECT_EQ(stored.shape, (std::vector<int64_t>{2, kTargetSpecFeatures + kVector}));
  const std::vector<float> now = Floats(stored.bytes);
  for (int64_t row = 0; row < 2; ++row) {
    for (int64_t column = 0; column < kTargetSpecFeatures + kVector; ++column) {
      const bool is_new = column >= kHad && column < kTargetSpecFeatures;
      const int64_t before = column < kHad ? column : column - kTargetSpecFeatures + kHad;
      EXPECT_EQ(now[static_cast<size_t>(row * (kTargetSpecFeatures + kVector) + column)],
                is_new ? 0 : gain[static_cast<size_t>(row * (kHad + kVector) + before)]);
    }
  }
}
TEST(LaterInputs, WhatHasThemAllStaysAsItIs) {
  const std::string gains = Bytes(std::vector<float>(kTargetSpecFeatures + kVector, 1));
  const std::string file =
      WriteTensorFile({{"layer_head.target_gain.weight", {{1, kTargetSpecFeatures + kVector}, gains}}});
  EXPECT_EQ(WithAllSpecFeatures(file, kTargetSpecFeatures).value(), file);
}

constexpr int64_t kTerms = kFewestWorkTerms, kWidth = 3;

// Of the kinds of work: their prices by call and of all calls, and what they are as inputs.
struct Kinds {
  std::vector<float> weight, bias, input;  // [kinds, width], [kinds], [width, kinds]
};

Kinds WithAllKinds(const Kinds& had) {
  const std::string weights = Bytes(had.weight), biases = Bytes(had.bias), inputs = Bytes(had.input);
  const std::string file = WriteTensorFile({{"layer_head.out.weight", {{kTerms, kWidth}, weights}},
                                            {"layer_head.out.bias", {{kTerms}, biases}},
                                            {"layer_head.work.weight", {{kWidth, kTerms}, inputs}}});
  const absl::StatusOr<std::string> larger = WithAllWorkTerms(file, kTerms);
  EXPECT_TRUE(larger.ok()) << larger.status();
  if (!larger.ok()) return {};
  const auto tensors = ReadTensorFile(*larger);
  EXPECT_TRUE(tensors.ok()) << tensors.status();
  if (!tensors.ok()) return {};
  return {Floats(tensors->at("layer_head.out.weight").bytes), Floats(tensors->at("layer_head.out.bias").bytes),
          Floats(tensors->at("layer_head.work.weight").bytes)};
}

// A kind of work that a version has not learned costs nothing in it, on any target.
TEST(LaterInputs, WorkThatAVersionHasNotLearnedCostsNothing) {
  const Kinds all = WithAllKinds(
      {std::vector<float>(kTerms * kWidth, 2), std::vector<float>(kTerms, 1), std::vector<float>(kWidth * kTerms, 4)});
  ASSERT_EQ(all.bias.size(), size_t{kWorkTerms});
  ASSERT_EQ(all.weight.size(), size_t{kWorkTerms * kWidth});
  ASSERT_EQ(all.input.size(), size_t{kWidth * kWorkTerms});
  for (size_t term = 0; term < kWorkTerms; ++term) {
    const bool is_new = term >= kTerms && WasOneWith(static_cast<WorkTerm>(term)) == static_cast<WorkTerm>(term);
    EXPECT_EQ(all.bias[term], is_new ? kNoPrice : 1);
    for (size_t i = 0; i < kWidth; ++i) {
      EXPECT_EQ(all.weight[term * kWidth + i], is_new ? 0 : 2);
      EXPECT_EQ(all.input[i * kWorkTerms + term], is_new ? 0 : 4);
    }
  }
}
// Kinds that were one with another cost what that one does: no answer changes.
TEST(LaterInputs, WorkThatWasOneKindKeepsItsPrice) {
  Kinds had{std::vector<float>(kTerms * kWidth), std::vector<float>(kTerms), std::vector<float>(kWidth * kTerms)};
  for (std::vector<float>* values : {&had.weight, &had.bias, &had.input}) absl::c_iota(*values, 1.0f);
  const Kinds all = WithAllKinds(had);
  ASSERT_EQ(all.bias.size(), size_t{kWorkTerms});
  ASSERT_EQ(all.weight.size(), size_t{kWorkTerms * kWidth});
  ASSERT_EQ(all.input.size(), size_t{kWidth * kWorkTerms});
  EXPECT_EQ(all.bias[kWideDepthwiseMacs], had.bias[kDepthwiseMacs]);
  for (size_t i = 0; i < kWidth; ++i) {
    EXPECT_EQ(all.weight[kWideDepthwiseMacs * kWidth + i], had.weight[kDepthwiseMacs * kWidth + i]);
    EXPECT_EQ(all.input[i * kWorkTerms + kWideDepthwiseMacs], had.input[i * kTerms + kDepthwiseMacs]);
  }
}
TEST(LaterInputs, ADamagedFileIsDataLoss) {
  EXPECT_EQ(WithAllSpecFeatures("no tensors", kHad).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace cobra::predict
