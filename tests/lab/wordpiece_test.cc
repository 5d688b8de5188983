#include "lab/published/cobra/wordpiece.h"

#include <gtest/gtest.h>

#include "absl/strings/str_join.h"
#include "graph/builder/builder.h"
#include "lab/published/cobra/published_text.h"

namespace cobra::lab {
namespace {

// What bert-base-uncased makes of these words, with a vocabulary of only what they need.
constexpr char kPieces[] =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n(\n)\n,\n=\n.\ncon\n##v\n##2\n##d\ninput\nweight\nbias\nnone\nstride\npad\n##"
    "ding\n224\n22\n##4\n##5\n3\n64\n7\n1\n2\nlatency\n"
    "28\ngroups\ndil\n##ation\nun\n##aff\n##able\n";

std::string Joined(const WordPieceVocabulary& v, absl::string_view text) {
  return absl::StrJoin(v.Split(text), " ", [&](std::string* out, const WordPiece& p) { out->append(v.piece(p.id)); });
}

TEST(WordPiece, TakesTheLongestPieceFirst) {
  const auto v = WordPieceVocabulary::FromText(kPieces);
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_EQ(Joined(*v, "unaffable"), "un ##aff ##able");  // BERT's own example
  EXPECT_EQ(Joined(*v, "conv2d(input=224)"), "con ##v ##2 ##d ( input = 224 )");
  EXPECT_EQ(Joined(*v, "225"), "22 ##5");
  EXPECT_EQ(Joined(*v, "2244"), "224 ##4");
}

TEST(WordPiece, LowersAndSplitsAtPunctuationAndBlanks) {
  const auto v = WordPieceVocabulary::FromText(kPieces);
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_EQ(Joined(*v, "  Stride=None,\tPADDING "), "stride = none , pad ##ding");
  EXPECT_EQ(Joined(*v, "28.7"), "28 . 7");
  EXPECT_EQ(Joined(*v, ""), "");
}

TEST(WordPiece, AWordThatCannotBePutTogetherIsUnknown) {
  const auto v = WordPieceVocabulary::FromText(kPieces);
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_EQ(Joined(*v, "conq"), "[UNK]");  // not "con" and a rest
  EXPECT_EQ(Joined(*v, std::string(101, '7') + ",7"), "[UNK] , 7");
}

TEST(WordPiece, SaysWhatAVocabularyLacks) {
  EXPECT_EQ(WordPieceVocabulary::FromText("[PAD]\n[UNK]\n").status().code(), absl::StatusCode::kInvalidArgument);
  const absl::Status missing = WordPieceVocabulary::Load("no/such/vocab.txt").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(missing.message().find("setup.sh --wordpiece"), absl::string_view::npos) << missing;
}

graph::Graph Convolution() {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", {{1, 3, 224, 224}, graph::DType::float32}),
                        w = b.AddParameter("w", {{64, 3, 7, 7}, graph::DType::float32});
  using Ints = std::vector<int64_t>;
  const graph::Attributes attributes{
      {"stride", Ints{2, 2}}, {"padding", Ints{3, 3}}, {"dilation", Ints{1, 1}}, {"groups", int64_t{1}}};
  const int32_t conv = *b.Add(graph::Op::conv2d, attributes, {x, w, graph::ValueRef::None()});
  return std::move(b).Build({graph::ValueRef::Node(conv)});
}

TEST(PublishedText, IsOneCallWithoutBlanks) {
  EXPECT_EQ(
      PublishedText(Convolution()),
      "conv2d(input=(1,3,224,224),weight=(64,3,7,7),bias=None,stride=(2,2),padding=(3,3),dilation=(1,1),groups=1)");
}

TEST(PublishedText, ParametersAreNumbersBehindTheName) {
  const auto v = WordPieceVocabulary::FromText(kPieces);
  ASSERT_TRUE(v.ok()) << v.status();
  const PublishedTokens tokens = TokenizePublished(*v, "conv2d(input=224,bias=None)", AppendedLatency(28.7), 600);
  std::string parameters;
  for (size_t t = 0; t < tokens.ids.size(); ++t) {
    if (tokens.is_parameter[t] != 0) parameters += v->piece(tokens.ids[t]) + " ";
  }
  EXPECT_EQ(parameters, "224 ");  // neither the 2 of conv2d nor the latency
  EXPECT_EQ(tokens.ids.front(), v->cls());
  EXPECT_EQ(tokens.ids.back(), v->sep());
}

TEST(PublishedText, TheTextIsCutAndTheLatencyIsNot) {
  const auto v = WordPieceVocabulary::FromText(kPieces);
  ASSERT_TRUE(v.ok()) << v.status();
  const PublishedTokens whole = TokenizePublished(*v, PublishedText(Convolution()), "", 600);
  EXPECT_GT(whole.ids.size(), 50u);
  const PublishedTokens cut = TokenizePublished(*v, PublishedText(Convolution()), ",latency=28", 20);
  ASSERT_EQ(cut.ids.size(), 20u);
  EXPECT_EQ(v->piece(cut.ids[18]), "28");
  EXPECT_EQ(cut.ids[19], v->sep());
}

}  // namespace
}  // namespace cobra::lab
