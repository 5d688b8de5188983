#include "lab/variants/space_net_variants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace cobra::lab {
namespace {

constexpr int kKinds = 4;

const space::OpGraph kChain = {{0, 1, 2, 3}, {{0, 1}, {1, 2}, {2, 3}}};
const space::OpGraph kLoose = {kChain.kind, {}};

std::vector<double> LogLatencies(const MakeSpaceNet& make_net) {
  space::AdditiveNetOptions options;
  options.kinds = kKinds;
  options.width = 16;
  options.layers = 2;
  at::manual_seed(1);
  const at::Tensor both = make_net(options)->LogLatency(space::MakeDense({kChain, kLoose}, kKinds));
  return {both[0].item<double>(), both[1].item<double>()};
}

bool SeesEdges(const std::vector<std::string>& left_out) {
  const std::vector<double> both = LogLatencies(WithoutMessages(left_out));
  return std::abs(both[0] - both[1]) > 1e-6;
}

TEST(SpaceNetVariants, MessagesThatAreLeftOutChangeNothing) {
  EXPECT_TRUE(SeesEdges({}));
  EXPECT_TRUE(SeesEdges({"along"}));
  EXPECT_TRUE(SeesEdges({"against"}));
  EXPECT_FALSE(SeesEdges({"along", "against"}));
}

TEST(SpaceNetVariants, WithAllMessagesItIsOurs) {
  const auto ours = [](const space::AdditiveNetOptions& options) {
    return std::make_shared<space::AdditiveNet>(options);
  };
  EXPECT_EQ(LogLatencies(WithoutMessages({})), LogLatencies(ours));
  EXPECT_NE(LogLatencies(MakeNetOfSums), LogLatencies(ours));
}

}  // namespace
}  // namespace cobra::lab
