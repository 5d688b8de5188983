#include "model/fit/remembered_vectors.h"

#include <gtest/gtest.h>

#include <vector>

#include "model/net/cobra_net.h"
#include "model/text/tokenizer.h"

namespace cobra::fit {
namespace {

constexpr double kNothing = 1e-5;

class RememberedVectorsTest : public testing::Test {
 protected:
  RememberedVectorsTest() : texts_{{Word(3)}, {Word(4), Word(5)}, {Word(6)}}, encoder_(Config()) {}

  static net::NetConfig Config() {
    torch::manual_seed(1);
    net::NetConfig config;
    config.vocabulary_size = 10;
    config.value_features = text::kNumValueFeatures;
    return config;
  }
  static text::Token Word(int32_t id) {
    text::Token token;
    token.id = id;
    return token;
  }
  // The texts of these numbers; -1: the last of them, as one that is in no table.
  Batch BatchOf(const std::vector<int32_t>& numbers) const {
    Batch batch;
    for (const int32_t number : numbers) {
      batch.texts.push_back(number < 0 ? &texts_.back() : &texts_[static_cast<size_t>(number)]);
      batch.text_numbers.push_back(number);
    }
    return batch;
  }
  at::Tensor Encoded(const std::vector<int32_t>& numbers) {
    at::NoGradGuard no_grad;
    return net::EncodeTexts(encoder_, BatchOf(numbers).texts);
  }
  void ChangeEncoder() {
    at::NoGradGuard no_grad;
    for (at::Tensor& parameter : encoder_.parameters()) parameter.add_(at::randn(parameter.sizes()) * 0.1);
  }
  double EncoderGradient() {
    double sum = 0;
    for (const at::Tensor& parameter : encoder_.parameters()) {
      if (parameter.grad().defined()) sum += parameter.grad().abs().sum().item<double>();
    }
    return sum;
  }
  static double Difference(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); }

  const std::vector<std::vector<text::Token>> texts_;
  net::Encoder encoder_;
  std::mt19937_64 random_{1};
};

TEST_F(RememberedVectorsTest, AllAreEncodedTheFirstTime) {
  RememberedVectors vectors(3, Config().width);
  EXPECT_LT(Difference(vectors.Encode(encoder_, BatchOf({2, 0, 1}), 0, &random_), Encoded({2, 0, 1})), kNothing);
}

TEST_F(RememberedVectorsTest, LaterTheyAreWhatTheyWere) {
  RememberedVectors vectors(3, Config().width);
  vectors.Encode(encoder_, BatchOf({0, 1}), 0, &random_);
  const at::Tensor before = Encoded({1, 0});
  ChangeEncoder();
  EXPECT_GT(Difference(before, Encoded({1, 0})), 0.01);
  const at::Tensor later = vectors.Encode(encoder_, BatchOf({1, 0}), 0, &random_);
  EXPECT_LT(Difference(later, before), kNothing);
  EXPECT_FALSE(later.requires_grad());
  // One that is new among them, and in its place; it teaches the encoder.
  const at::Tensor with_new = vectors.Encode(encoder_, BatchOf({1, 2, 0}), 0, &random_);
  EXPECT_LT(Difference(with_new[0], before[0]), kNothing);
  EXPECT_LT(Difference(with_new[1], Encoded({2})[0]), kNothing);
  EXPECT_LT(Difference(with_new[2], before[1]), kNothing);
  with_new.slice(1, 0, 3).sum().backward();
  EXPECT_GT(EncoderGradient(), 0);
}

TEST_F(RememberedVectorsTest, WithAShareOfOneNothingIsRemembered) {
  RememberedVectors vectors(3, Config().width);
  vectors.Encode(encoder_, BatchOf({0, 1, 2}), 1, &random_);
  ChangeEncoder();
  EXPECT_LT(Difference(vectors.Encode(encoder_, BatchOf({0, 1, 2}), 1, &random_), Encoded({0, 1, 2})), kNothing);
}

TEST_F(RememberedVectorsTest, ATextOfNoTableIsEncodedEachTime) {
  RememberedVectors vectors(3, Config().width);
  vectors.Encode(encoder_, BatchOf({0, -1}), 0, &random_);
  const at::Tensor before = Encoded({0});
  ChangeEncoder();
  const at::Tensor later = vectors.Encode(encoder_, BatchOf({-1, 0}), 0, &random_);
  EXPECT_LT(Difference(later[0], Encoded({2})[0]), kNothing);
  EXPECT_LT(Difference(later[1], before[0]), kNothing);
}

}  // namespace
}  // namespace cobra::fit
