#include "model/text/tokenizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"

namespace cobra::text {
namespace {

std::string Joined(absl::string_view text) {
  std::string out;
  for (const RawToken& t : SplitText(text)) {
    absl::StrAppend(&out, out.empty() ? "" : " ", t.word);
    if (t.numeric) absl::StrAppend(&out, ":", t.value);
  }
  return out;
}

TEST(Tokenizer, SplitsCallsIntoWordsAndPlacedNumbers) {
  const struct {
    const char* text;
    const char* tokens;
  } cases[] = {
      {"relu(input=1x64x56x56:float32)->1x64x56x56:float32",
       "relu input#0:1 input#1:64 input#2:56 input#3:56 out#0:1 out#1:64 out#2:56 out#3:56"},
      {"f(input=2x3:int64)->scalar:float32", "f input#0:2 input#1:3 input:int64 out=scalar"},
      {"conv2d(bias=None,stride=(2,1),groups=1)->1:float32",
       "conv2d bias=None stride#0:2 stride#1:1 groups#0:1 out#0:1"},
      {"pool(ceil_mode=False,eps=1e-05,p=-0.5)->1:float32", "pool ceil_mode=False eps#0:1e-05 p#0:-0.5 out#0:1"},
      {"interpolate(mode='bilinear')->1:float32#macs=12,write_bytes=4",
       "interpolate mode='bilinear' out#0:1 macs#0:12 write_bytes#0:4"},
      {"cat(tensors=1x2:float32,tensors=1x3:float32,dim=1)->1x5:float32",
       "cat tensors#0:1 tensors#1:2 tensors#0:1 tensors#1:3 dim#0:1 out#0:1 out#1:5"},
  };
  for (const auto& c : cases) EXPECT_EQ(Joined(c.text), c.tokens) << c.text;
}

TEST(Tokenizer, IsBounded) {
  std::string text = "cat(";
  for (int i = 0; i < 10000; ++i) text += "tensors=1x2:float32,";
  EXPECT_LE(SplitText(text + "dim=1)").size(), static_cast<size_t>(kMaxTokens));
  std::string list = "view(size=(";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&list, i, ",");
  EXPECT_EQ(SplitText(list + "))").size(), 9u);  // the operator and eight numbers
}

TEST(Tokenizer, SurvivesBrokenText) {
  for (const char* text : {"", "(", "'", "relu(mode='", "->", "-", "1e", "9x", "a=", "\xff\xfe"}) SplitText(text);
}

TEST(Vocabulary, UnknownWordsAreUnknown) {
  Vocabulary v;
  const int32_t relu = v.Add("relu");
  EXPECT_EQ(v.Add("relu"), relu);
  EXPECT_EQ(v.Find("relu"), relu);
  EXPECT_EQ(v.Find("selu"), Vocabulary::kUnknown);
  const auto tokens = v.Encode(SplitText("relu(other=3)"));
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens[0].id, relu);
  EXPECT_EQ(tokens[1].id, Vocabulary::kUnknown);
  EXPECT_EQ(tokens[1].value, 3);
  EXPECT_EQ(Vocabulary(v.words()).Find("relu"), relu);
}

// torch.finfo(torch.float64).min is a usual value of masked_fill.
TEST(Vocabulary, NumbersBeyondFloat32StayFinite) {
  for (const char* number : {"-1.7976931348623157e+308", "3.5e38", "1e999"}) {
    const auto tokens = Vocabulary().Encode(SplitText(absl::StrCat("masked_fill(value=", number, ")")));
    ASSERT_EQ(tokens.size(), 2u);
    EXPECT_TRUE(std::isfinite(tokens[1].value)) << number;
  }
}

TEST(ValueFeatures, AreBoundedAndTellNumbersApart) {
  std::set<std::array<float, kNumValueFeatures>> seen;
  for (double v : {-1.0, 0.0, 1e-5, 1e-3, 0.5, 1.0, 2.0, 3.0, 15.0, 16.0, 17.0, 224.0, 4096.0, 1e9, 4e12}) {
    const auto f = ValueFeatures(v);
    EXPECT_TRUE(seen.insert(f).second) << v;
    for (float x : f) EXPECT_LE(std::abs(x), 5.f) << v;
  }
}

}  // namespace
}  // namespace cobra::text
