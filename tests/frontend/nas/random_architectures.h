// Random strings of every space, and the expression that builds the same network from
// tests/frontend/nas/reference.
#ifndef COBRA_TESTS_FRONTEND_NAS_RANDOM_ARCHITECTURES_H_
#define COBRA_TESTS_FRONTEND_NAS_RANDOM_ARCHITECTURES_H_

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cobra::nas {

struct RandomArchitecture {
  std::string architecture;         // for ReadArchitecture
  std::string file, entry;          // for the reference
  std::vector<std::string> inputs;  // of both
};

class ArchitectureSource {
 public:
  explicit ArchitectureSource(uint64_t seed) : random_(seed) {}

  RandomArchitecture Nasbench201(bool pruned) {
    std::string arch;
    for (int to = 1; to < 4; ++to) {
      absl::StrAppend(&arch, to > 1 ? "+|" : "|");
      for (int from = 0; from < to; ++from) {
        absl::StrAppend(&arch,
                        Pick({"none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3", "nor_conv_3x3"}),
                        "~", from, "|");
      }
    }
    return {absl::StrCat(pruned ? "nasbench201-pruned" : "nasbench201", ",classes=100:", arch),
            "nasbench201.py",
            absl::StrCat("TinyNetwork('", arch, "', num_classes=100, pruned=", pruned ? "True" : "False", ")"),
            {absl::StrCat(1 + Below(3), "x3x32x32")}};
  }

  RandomArchitecture Nasbench101() {
    const int n = 2 + Below(6);
    std::vector<std::string> rows, ops;
    for (int from = 0; from < n; ++from) {
      std::vector<int> row(n);
      for (int to = from + 1; to < n; ++to) row[to] = Below(100) < 45 ? 1 : 0;
      if (from == 0 && n == 2) row[1] = 1;
      rows.push_back(absl::StrCat("[", absl::StrJoin(row, ","), "]"));
      ops.push_back(from == 0       ? "'input'"
                    : from + 1 == n ? "'output'"
                                    : Pick({"'conv3x3-bn-relu'", "'conv1x1-bn-relu'", "'maxpool3x3'"}));
    }
    const std::string matrix = absl::StrCat("[", absl::StrJoin(rows, ","), "]");
    const std::string names = absl::StrCat("[", absl::StrJoin(ops, ","), "]");
    return {absl::StrCat("nasbench101,channels=24:", matrix, " ", names),
            "nasbench101.py",
            absl::StrCat("Network(", matrix, ", ", names, ", channels=24)"),
            {"1x3x32x32"}};
  }

  RandomArchitecture Fbnet(bool imagenet) {
    std::vector<std::string> blocks;
    for (int i = 0; i < 22; ++i) {
      blocks.push_back(
          Pick({"k3_e1", "k3_e1_g2", "k3_e3", "k3_e6", "k5_e1", "k5_e1_g2", "k5_e3", "k5_e6", "skip", "skip"}));
    }
    const std::string arch = absl::StrJoin(blocks, " ");
    return {absl::StrCat("fbnet:", arch),
            "fbnet.py",
            absl::StrCat("FBNet('", arch, "', imagenet=", imagenet ? "True" : "False",
                         ", num_classes=", imagenet ? 1000 : 100, ")"),
            {imagenet ? "1x3x224x224" : "2x3x32x32"}};
  }

  RandomArchitecture Ofa() {
    std::vector<int> ks, e, d;
    for (int i = 0; i < 20; ++i) ks.push_back(3 + 2 * Below(3));
    for (int i = 0; i < 20; ++i) e.push_back(std::vector<int>{3, 4, 6}[Below(3)]);
    for (int i = 0; i < 5; ++i) d.push_back(2 + Below(3));
    const int r = 128 + 4 * Below(25);
    const auto list = [](const std::vector<int>& v) { return absl::StrCat("[", absl::StrJoin(v, ","), "]"); };
    return {absl::StrCat("ofa:ks:", absl::StrJoin(ks, " "), " e:", absl::StrJoin(e, " "), " d:", absl::StrJoin(d, " "),
                         " r:", r),
            "ofa.py",
            absl::StrCat("MobileNetV3(", list(ks), ", ", list(e), ", ", list(d), ")"),
            {absl::StrCat("1x3x", r, "x", r)}};
  }

  RandomArchitecture Darts(bool imagenet) {
    const auto cell = [&] {
      const int steps = 1 + Below(4);
      std::vector<std::string> edges;
      for (int i = 0; i < 2 * steps; ++i) {
        edges.push_back(
            absl::StrCat("('",
                         Pick({"none", "avg_pool_3x3", "max_pool_3x3", "skip_connect", "sep_conv_3x3", "sep_conv_5x5",
                               "sep_conv_7x7", "dil_conv_3x3", "dil_conv_5x5", "conv_7x1_1x7"}),
                         "', ", Below(2 + i / 2), ")"));
      }
      // States 0 and 1 of a reduction cell have another size; no genotype concatenates them.
      return std::make_pair(absl::StrCat("[", absl::StrJoin(edges, ", "), "]"),
                            absl::StrCat("range(2, ", 2 + steps, ")"));
    };
    const auto [normal, normal_concat] = cell();
    const auto [reduce, reduce_concat] = cell();
    const std::string genotype = absl::StrCat("Genotype(normal=", normal, ", normal_concat=", normal_concat,
                                              ", reduce=", reduce, ", reduce_concat=", reduce_concat, ")");
    const int layers = 3 + Below(6);
    return {absl::StrCat("darts,dataset=", imagenet ? "imagenet" : "cifar10", ",channels=16,layers=", layers, ":",
                         genotype),
            "darts.py",
            absl::StrCat("Network(", genotype, ", imagenet=", imagenet ? "True" : "False", ", C=16, layers=", layers,
                         ", num_classes=", imagenet ? 1000 : 10, ")"),
            {imagenet ? "1x3x224x224" : "1x3x32x32"}};
  }

  RandomArchitecture Hat() {
    const auto list = [&](size_t n, const std::vector<int>& from) {
      std::vector<int> values;
      for (size_t i = 0; i < n; ++i) values.push_back(from[Below(static_cast<int>(from.size()))]);
      return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
    };
    const size_t layers = 3 + Below(2), decoder_layers = 1 + Below(3);
    const int width = Below(2) != 0 ? 640 : 512, decoder_width = Below(2) != 0 ? 640 : 512;
    const std::string ffn = list(layers, {1024, 2048}), heads = list(layers, {4, 8});
    const std::string decoder_ffn = list(decoder_layers, {1024, 3072}), self = list(decoder_layers, {4, 8});
    const std::string ende = list(decoder_layers, {2, 8}), reach = list(decoder_layers, {-1, 1, 2});
    const bool shared = Below(2) != 0;
    const int length = 1 + Below(9), target = 1 + Below(9), batch = 1 + Below(2);
    return {absl::StrCat(
                "hat,src_vocab=1000", shared ? "" : ",tgt_vocab=500", ":encoder-embed-dim-subtransformer: ", width,
                "\ndecoder-embed-dim-subtransformer: ", decoder_width, "\nencoder-layer-num-subtransformer: ", layers,
                ", decoder-layer-num-subtransformer: ", decoder_layers, "\nencoder-ffn-embed-dim-all-subtransformer: ",
                ffn, "\nencoder-self-attention-heads-all-subtransformer: ", heads,
                "\n'decoder_ffn_embed_dim': ", decoder_ffn, ", decoder_self_attention_heads=", self,
                ", decoder_ende_attention_heads: ", ende, "; decoder_arbitrary_ende_attn: ", reach),
            "hat.py",
            absl::StrCat("Transformer((", width, ", ", ffn, ", ", heads, "), (", decoder_width, ", ", decoder_ffn, ", ",
                         self, ", ", ende, ", ", reach, "), 1000", shared ? "" : ", 500", ")"),
            {absl::StrCat(batch, "x", length, ":int64"), absl::StrCat(batch, "x", target, ":int64")}};
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  std::string Pick(const std::vector<std::string>& from) { return from[Below(static_cast<int>(from.size()))]; }
  std::mt19937_64 random_;
};

}  // namespace cobra::nas

#endif  // COBRA_TESTS_FRONTEND_NAS_RANDOM_ARCHITECTURES_H_
