// What we compute ourselves within sequences and of rows, against LibTorch's operators: values and
// gradients.
#include "model/net/sequences.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <utility>
#include <vector>

#include "model/net/rows.h"

namespace cobra::net {
namespace {

// A sum with a weight for each element, so that every element's gradient is its own.
at::Tensor Weighted(const at::Tensor& values, const at::Tensor& weights) { return (values * weights).sum(); }

template <typename Ours, typename Theirs>
void ExpectSame(const at::Tensor& input, const Ours& ours, const Theirs& theirs) {
  at::Tensor x = input.clone().requires_grad_(), y = input.clone().requires_grad_();
  const at::Tensor a = ours(x), b = theirs(y);
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_TRUE(at::allclose(a, b, 1e-5, 1e-6));
  const at::Tensor weights = at::randn(a.sizes());
  Weighted(a, weights).backward();
  Weighted(b, weights).backward();
  EXPECT_TRUE(at::allclose(x.grad(), y.grad(), 1e-4, 1e-5)) << (x.grad() - y.grad()).abs().max();
}

// Lengths around whole lanes of 16, one token alone, and a long one in between.
const std::vector<int64_t> kEnds = {1, 16, 33, 48, 143, 145, 161};

TEST(Sequences, AttentionIsThatOfPaddedMatrices) {
  torch::manual_seed(1);
  for (const int64_t heads : {1, 4}) {
    for (const int64_t head : {3, 16, 24}) {
      ExpectSame(
          at::randn({kEnds.back(), 3 * heads * head}), [&](const auto& x) { return Attention(x, kEnds, heads); },
          [&](const auto& x) { return PaddedAttention(x, kEnds, heads); });
    }
  }
}

TEST(Sequences, ASequenceIsAnsweredAlone) {
  torch::manual_seed(1);
  const at::Tensor x = at::randn({kEnds.back(), 3 * 96});
  const at::Tensor all = Attention(x, kEnds, 4);
  EXPECT_TRUE(at::equal(all.slice(0, 33, 48), Attention(x.slice(0, 33, 48), {15}, 4)));
}

TEST(Sequences, MeansAreThoseOfTheirRows) {
  torch::manual_seed(1);
  ExpectSame(
      at::randn({kEnds.back(), 20}), [](const auto& x) { return MeanOfEach(x, kEnds); },
      [](const auto& x) {
        std::vector<at::Tensor> means;
        int64_t begin = 0;
        for (const int64_t end : kEnds) means.push_back(x.slice(0, std::exchange(begin, end), end).mean(0));
        return at::stack(means);
      });
}

TEST(Sequences, NothingIsTheMeanOfNoRows) {
  EXPECT_TRUE(at::equal(MeanOfEach(at::ones({2, 3}), {0, 2}), at::tensor({0, 0, 0, 1, 1, 1}, at::kFloat).view({2, 3})));
}

TEST(Rows, AreTakenAndSummedAsLibTorchDoes) {
  torch::manual_seed(1);
  const at::Tensor rows = at::tensor({4, 0, 0, 2, 4, 4}, at::kLong);
  ExpectSame(
      at::randn({5, 33}), [&](const auto& x) { return TakeRows(x, rows); },
      [&](const auto& x) { return x.index_select(0, rows); });
  ExpectSame(
      at::randn({6, 33}), [&](const auto& x) { return SumRows(x, rows, 5); },
      [&](const auto& x) {
        return at::zeros({5, 33}).index_add(0, rows, x);
      });
}

TEST(Rows, OfATransposedMatrix) {
  const at::Tensor rows = at::tensor({1, 1}, at::kLong);
  ExpectSame(
      at::randn({7, 2}), [&](const auto& x) { return SumRows(x.t(), rows, 2); },
      [&](const auto& x) {
        return at::zeros({2, 7}).index_add(0, rows, x.t());
      });
}

}  // namespace
}  // namespace cobra::net
