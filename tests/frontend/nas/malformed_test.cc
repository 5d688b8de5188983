// What is not an architecture: an error that quotes the string and points at the character; and
// nothing crashes.
#include <random>
#include <string>

#include "base/diagnostic.h"
#include "frontend/nas/reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/frontend/nas/random_architectures.h"

namespace cobra::nas {
namespace {

using testing::HasSubstr;

Diagnostic ErrorOf(const std::string& architecture, std::vector<std::string> inputs = {}) {
  const absl::StatusOr<graph::Graph> graph = ReadArchitecture({architecture, std::move(inputs)});
  EXPECT_FALSE(graph.ok()) << architecture;
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(graph.status());
  EXPECT_TRUE(diagnostic.has_value()) << graph.status();
  return diagnostic.value_or(Diagnostic{});
}

std::string Repeated(const std::string& item, int n) {
  std::string text;
  for (int i = 0; i < n; ++i) absl::StrAppend(&text, i > 0 ? " " : "", item);
  return text;
}

constexpr char kCell[] = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|nor_conv_1x1~1|none~2|";
constexpr char kHat[] =
    "encoder_embed_dim: 512, decoder_embed_dim: 512, encoder_layer_num: 1, decoder_layer_num: 1, "
    "encoder_ffn_embed_dim: [1024], decoder_ffn_embed_dim: [1024], encoder_self_attention_heads: [4], "
    "decoder_self_attention_heads: [4], decoder_ende_attention_heads: [4], decoder_arbitrary_ende_attn: ";

TEST(MalformedArchitecture, AnUnknownSpaceNamesThoseThatThereAre) {
  const Diagnostic error = ErrorOf("nasbench301:abc");
  EXPECT_EQ(error.kind, Diagnostic::Kind::kUsage);
  EXPECT_THAT(error.message, HasSubstr("nasbench301"));
  EXPECT_THAT(error.hint, HasSubstr("nasbench201"));
}

TEST(MalformedArchitecture, TheErrorPointsAtTheCharacter) {
  const std::string text = "nasbench201:|nor_conv_3x3~0|+|none~0|skip_conect~1|+|none~0|none~1|none~2|";
  const Diagnostic error = ErrorOf(text);
  EXPECT_EQ(error.kind, Diagnostic::Kind::kUsage);
  EXPECT_THAT(error.message, HasSubstr("'skip_conect~1' at position 38"));
  EXPECT_EQ(error.source_line.substr(error.position.column - 1, 11), "skip_conect");
}

TEST(MalformedArchitecture, TheCaretStaysRightInALongString) {
  const Diagnostic error = ErrorOf("fbnet:" + Repeated("k3_e6", 21) + " k9_e9");
  EXPECT_EQ(error.source_line.substr(error.position.column - 1, 5), "k9_e9");
}

TEST(MalformedArchitecture, Nasbench201WantsEveryEdgeInOrder) {
  EXPECT_THAT(ErrorOf("nasbench201:|none~0|").message, HasSubstr("'+' expected"));
  EXPECT_THAT(ErrorOf("nasbench201:|none~1|+|none~0|none~1|+|none~0|none~1|none~2|").message, HasSubstr("in order"));
  EXPECT_THAT(ErrorOf(std::string("nasbench201:") + kCell + "+").message, HasSubstr("complete before this"));
  EXPECT_THAT(ErrorOf("nasbench201-pruned:|none~0|+|none~0|none~1|+|none~0|none~1|none~2|").message,
              HasSubstr("no path"));
  EXPECT_TRUE(ReadArchitecture({"nasbench201:|none~0|+|none~0|none~1|+|none~0|none~1|none~2|"}).ok());
}

TEST(MalformedArchitecture, Nasbench101WantsATriangularMatrixAndItsOperations) {
  EXPECT_THAT(ErrorOf("nasbench101:[[0,1],[1,0]] [input, output]").message, HasSubstr("triangular"));
  EXPECT_THAT(ErrorOf("nasbench101:[[0,1,0],[0,0]] [input, output]").message, HasSubstr("square"));
  EXPECT_THAT(ErrorOf("nasbench101:[[0,2],[0,0]] [input, output]").message, HasSubstr("zeros and ones"));
  EXPECT_THAT(ErrorOf("nasbench101:[[0,1,1],[0,0,1],[0,0,0]] [input, conv5x5, output]").message,
              HasSubstr("'conv5x5' at position 47: is not an operation of NAS-Bench-101"));
  EXPECT_THAT(ErrorOf("nasbench101:[[0,1,1],[0,0,1],[0,0,0]] [input, output]").message, HasSubstr("first vertex"));
  EXPECT_EQ(ErrorOf("nasbench101:[[0,1,0],[0,0,0],[0,0,0]] [input, conv3x3, output]").kind,
            Diagnostic::Kind::kModelError);
}

TEST(MalformedArchitecture, FbnetHasTwentyTwoBlocks) {
  EXPECT_THAT(ErrorOf("fbnet:" + Repeated("skip", 21)).message, HasSubstr("22 blocks, but 21 are given"));
  EXPECT_THAT(ErrorOf("fbnet:" + Repeated("skip", 23)).message, HasSubstr("23rd"));
}

TEST(MalformedArchitecture, OfaStaysInItsSpace) {
  EXPECT_THAT(ErrorOf("ofa:ks:3 3 3 e:4").message, HasSubstr("ks takes 20 integers, but 3 are given"));
  EXPECT_THAT(ErrorOf("ofa:ks:" + Repeated("4", 20)).message, HasSubstr("3 to 7"));
  EXPECT_THAT(ErrorOf("ofa:ks:" + Repeated("3", 20) + " e:" + Repeated("4", 20) + " d:2 2 2 2 5").message,
              HasSubstr("d is not in this space"));
}

TEST(MalformedArchitecture, DartsReadsOnlyStatesThatThereAre) {
  EXPECT_THAT(ErrorOf("darts:Genotype(normal=[('sep_conv_3x3', 2), ('none', 0)]").message, HasSubstr("states 0 to 1"));
  EXPECT_THAT(ErrorOf("darts:Genotype(normal=[('sep_conv_3x3', 1)], ").message,
              HasSubstr("two edges per step, but 1 is given"));
  EXPECT_THAT(ErrorOf("darts:DARTS_V2").message, HasSubstr("'Genotype' expected"));
}

TEST(MalformedArchitecture, HatWantsItsFullConfiguration) {
  EXPECT_TRUE(ReadArchitecture({absl::StrCat("hat:", kHat, "[-1]")}).ok());
  EXPECT_THAT(ErrorOf("hat:encoder_embed_dim: 512").message, HasSubstr("encoder_layer_num is missing"));
  EXPECT_THAT(ErrorOf("hat:encoder_ffn_embed_dim_avg: 1962.667").hint, HasSubstr("as features"));
  EXPECT_EQ(ErrorOf(absl::StrCat("hat:", kHat, "[2]")).kind, Diagnostic::Kind::kModelError);
}

TEST(MalformedArchitecture, OptionsAreChecked) {
  EXPECT_THAT(ErrorOf(std::string("nasbench201,classes=0:") + kCell).message, HasSubstr("classes=0"));
  EXPECT_THAT(ErrorOf(std::string("nasbench201,dataset=mnist:") + kCell).message, HasSubstr("cifar10, cifar100"));
  EXPECT_THAT(ErrorOf(std::string("nasbench201,width=3:") + kCell).hint, HasSubstr("channels"));
  EXPECT_THAT(ErrorOf(std::string("nasbench201,cells=1,cells=2:") + kCell).message, HasSubstr("twice"));
}

TEST(MalformedArchitecture, AnImageThatDoesNotFitNamesTheModule) {
  EXPECT_EQ(ErrorOf(std::string("nasbench201:") + kCell, {"1x3x2x2"}).kind, Diagnostic::Kind::kModelError);
  EXPECT_THAT(ErrorOf(std::string("nasbench201:") + kCell, {"3x32x32"}).message, HasSubstr("batch of images"));
}

TEST(MalformedArchitecture, LimitsHoldAtTheLimitAndOnePastIt) {
  const std::string text = std::string("nasbench201:") + kCell;
  Limits limits;
  limits.architecture_bytes = static_cast<int64_t>(text.size());
  EXPECT_TRUE(ReadArchitecture({text}, limits).ok());
  --limits.architecture_bytes;
  EXPECT_EQ(DiagnosticFromStatus(ReadArchitecture({text}, limits).status())->kind, Diagnostic::Kind::kLimit);

  limits = {};
  limits.graph.max_nodes = static_cast<int64_t>(ReadArchitecture({text})->nodes().size());
  EXPECT_TRUE(ReadArchitecture({text}, limits).ok());
  --limits.graph.max_nodes;
  EXPECT_EQ(DiagnosticFromStatus(ReadArchitecture({text}, limits).status())->kind, Diagnostic::Kind::kLimit);
}

// Any damage to a good string is answered with a diagnostic or with another good network.
TEST(MalformedArchitecture, DamagedStringsAreAnswered) {
  ArchitectureSource source(77);
  std::mt19937_64 random(78);
  for (int i = 0; i < 3000; ++i) {
    RandomArchitecture good;
    switch (i % 6) {
      case 0: good = source.Nasbench201(i % 4 == 0); break;
      case 1: good = source.Nasbench101(); break;
      case 2: good = source.Fbnet(false); break;
      case 3: good = source.Ofa(); break;
      case 4: good = source.Darts(false); break;
      default: good = source.Hat();
    }
    std::string text = good.architecture;
    for (uint64_t n = 1 + random() % 3; n > 0; --n) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, 1 + random() % 8); break;
        case 2: text.insert(at, text.substr(random() % text.size(), 1 + random() % 8)); break;
        default: text.resize(at);
      }
      if (text.empty()) text = ":";
    }
    const absl::StatusOr<graph::Graph> graph = ReadArchitecture({text, good.inputs});
    if (!graph.ok()) {
      EXPECT_TRUE(DiagnosticFromStatus(graph.status()).has_value()) << text << "\n" << graph.status();
    }
  }
}

}  // namespace
}  // namespace cobra::nas
