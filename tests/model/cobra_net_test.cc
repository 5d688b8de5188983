// What a version that is on somebody's disk relies on: names, order and shapes of the parameters,
// and which random numbers they begin with.
#include "model/net/cobra_net.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "model/predict/weights/manifest.h"
#include "nlohmann/json.hpp"

namespace cobra::net {
namespace {

const char kPretrained[] = COBRA_SOURCE_DIR "/model/pretrained";

std::vector<std::string> ParametersOf(const torch::nn::Module& net) {
  std::vector<std::string> parameters;
  for (const auto& item : net.named_parameters()) {
    parameters.push_back(absl::StrCat(item.key(), " ", nlohmann::json(item.value().sizes().vec()).dump()));
  }
  return parameters;
}

// As the file has them, one after the other.
std::vector<std::string> ShippedParameters() {
  const std::string file = ReadFile(absl::StrCat(kPretrained, "/tensors.safetensors")).value();
  uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof(length));
  const nlohmann::json header = nlohmann::json::parse(file.substr(sizeof(length), length));
  std::map<uint64_t, std::string> by_offset;
  for (const auto& [name, entry] : header.items()) {
    by_offset[entry["data_offsets"][0].get<uint64_t>()] = absl::StrCat(name, " ", entry["shape"].dump());
  }
  std::vector<std::string> parameters;
  for (const auto& [offset, parameter] : by_offset) parameters.push_back(parameter);
  return parameters;
}

TEST(CobraNet, HasTheParametersOfTheShippedVersion) {
  const auto manifest = predict::ManifestFromJson(ReadFile(absl::StrCat(kPretrained, "/manifest.json")).value());
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  const CobraNet net(manifest->net, static_cast<int64_t>(manifest->targets.size()));
  EXPECT_EQ(ParametersOf(net), ShippedParameters());
}

NetConfig SmallConfig() {
  NetConfig config;
  config.vocabulary_size = 5;
  config.value_features = text::kNumValueFeatures;
  config.target_features = 4;
  config.graph_features = 3;
  config.work_terms = 2;
  config.width = config.graph_width = 8;
  config.heads = 2;
  config.feed_forward = 16;
  return config;
}

bool SameParameters(const torch::nn::Module& a, const torch::nn::Module& b) {
  const auto of_a = a.parameters(), of_b = b.parameters();
  if (of_a.size() != of_b.size()) return false;
  for (size_t i = 0; i < of_a.size(); ++i) {
    if (!of_a[i].equal(of_b[i])) return false;
  }
  return true;
}

TEST(CobraNet, PartsDrawTheirFirstWeightsOneAfterTheOther) {
  at::manual_seed(7);
  const CobraNet net(SmallConfig(), 1);
  at::manual_seed(7);
  const Encoder encoder(SmallConfig());
  const PriceHead layer_head(SmallConfig());
  const GlobalGraphNet graph_net(SmallConfig());
  EXPECT_TRUE(SameParameters(*net.encoder, encoder));
  EXPECT_TRUE(SameParameters(*net.layer_head, layer_head));
  EXPECT_TRUE(SameParameters(*net.graph_net, graph_net));
  EXPECT_FALSE(SameParameters(*net.layer_head, PriceHead(SmallConfig())));
}

}  // namespace
}  // namespace cobra::net
