#include "model/predict/weights/manifest.h"

#include <gtest/gtest.h>

namespace cobra::predict {
namespace {

Manifest Small() {
  Manifest m;
  m.trained_at = "2026-01-01T00:00:00Z";
  m.vocabulary = {"<pad>", "<unk>", "relu"};
  m.value_ranges = {{1, 0}, {1, 0}, {2, 5}};
  m.net.vocabulary_size = 3;
  TargetEntry t;
  t.spec.name = "cpu";
  t.errors.network_mape = 0.04;
  t.interval.layer = {0.2, {-1.5, {0.5f, 0.25f}, -4, -1}};
  t.probe_reference_us["00ff"] = 12.5;
  m.targets.push_back(t);
  m.tensors_sha256 = "abc";
  return m;
}

TEST(Manifest, SurvivesJson) {
  const auto back = ManifestFromJson(ManifestToJson(Small()));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->vocabulary, Small().vocabulary);
  EXPECT_EQ(back->net.heads, Small().net.heads);
  EXPECT_EQ(back->value_ranges[2], (std::pair<double, double>{2, 5}));
  EXPECT_EQ(back->targets[0].spec.name, "cpu");
  EXPECT_EQ(back->targets[0].errors.network_mape, 0.04);
  EXPECT_EQ(back->targets[0].interval.layer.half_width, 0.2);
  EXPECT_EQ(back->targets[0].interval.layer.spread.bias, -1.5);
  EXPECT_EQ(back->targets[0].interval.layer.spread.weights, (std::vector<float>{0.5f, 0.25f}));
  EXPECT_EQ(back->targets[0].interval.layer.spread.least, -4);
  EXPECT_EQ(back->targets[0].interval.layer.spread.greatest, -1);
  EXPECT_EQ(back->targets[0].probe_reference_us.at("00ff"), 12.5);
}

TEST(Manifest, KnowsItsOwnDamage) {
  const std::string text = ManifestToJson(Small());
  EXPECT_TRUE(CheckManifestHash(text).ok()) << CheckManifestHash(text);
  for (size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] ^= 1;
    EXPECT_EQ(CheckManifestHash(damaged).code(), absl::StatusCode::kDataLoss) << at;
  }
  for (const std::string& other : {text.substr(0, text.size() - 1), text + " ", std::string(), std::string("{}"),
                                   text.substr(0, text.find("manifest_sha256") + 20)})
    EXPECT_EQ(CheckManifestHash(other).code(), absl::StatusCode::kDataLoss) << other.size();
}

TEST(Manifest, DamageIsDataLoss) {
  Manifest mismatch = Small();
  mismatch.vocabulary.pop_back();
  Manifest no_target = Small();
  no_target.targets.clear();
  std::string beyond_float = ManifestToJson(Small());
  beyond_float.replace(beyond_float.find("0.25"), 4, "1e99");
  for (const std::string& text :
       {std::string(""), std::string("[]"), std::string("{\"format\":1}"), std::string("{\"format\":9}"),
        std::string("{\"format\":\"1\"}"), std::string("{\"format\":1e300}"), std::string("{\"format\":[]}"),
        ManifestToJson(mismatch), ManifestToJson(no_target), beyond_float}) {
    EXPECT_EQ(ManifestFromJson(text).status().code(), absl::StatusCode::kDataLoss) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace cobra::predict
