#include "tests/bench/candidates.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/graph.h"
#include "proto/graph_proto.h"
#include "worker/sample/families.h"

namespace cobra::bench {
namespace {

using worker::Random;

// As nasbench's random_spec(): seven vertices, edges with probability one half, at most nine of
// them, and a path from the first vertex to the last.
std::string Nasbench101(Random* r) {
  constexpr int kVertices = 7, kMostEdges = 9;
  for (;;) {
    bool edge[kVertices][kVertices] = {};
    int edges = 0;
    bool reached[kVertices] = {true};
    for (int from = 0; from < kVertices; ++from) {
      for (int to = from + 1; to < kVertices; ++to) {
        edge[from][to] = r->Chance(0.5);
        edges += edge[from][to] ? 1 : 0;
        reached[to] = reached[to] || (reached[from] && edge[from][to]);
      }
    }
    if (edges > kMostEdges || !reached[kVertices - 1]) continue;
    std::string text = "nasbench101:[";
    for (int from = 0; from < kVertices; ++from) {
      absl::StrAppend(&text, from > 0 ? "," : "", "[");
      for (int to = 0; to < kVertices; ++to) absl::StrAppend(&text, to > 0 ? "," : "", edge[from][to] ? 1 : 0);
      absl::StrAppend(&text, "]");
    }
    absl::StrAppend(&text, "] [input");
    for (int i = 1; i + 1 < kVertices; ++i)
      absl::StrAppend(&text, ", ", r->Pick({"conv3x3-bn-relu", "conv1x1-bn-relu", "maxpool3x3"}));
    return absl::StrCat(text, ", output]");
  }
}

std::string Fbnet(Random* r) {
  std::vector<int64_t> blocks;
  for (int i = 0; i < 22; ++i) blocks.push_back(r->Between(0, 8));
  return absl::StrCat("fbnet:", absl::StrJoin(blocks, " "));
}

std::string Ofa(Random* r) {
  std::vector<int> kernels, expansions, depths;
  for (int i = 0; i < 20; ++i) kernels.push_back(r->Pick({3, 5, 7}));
  for (int i = 0; i < 20; ++i) expansions.push_back(r->Pick({3, 4, 6}));
  for (int i = 0; i < 5; ++i) depths.push_back(r->Pick({2, 3, 4}));
  return absl::StrCat("ofa:ks:", absl::StrJoin(kernels, " "), " e:", absl::StrJoin(expansions, " "),
                      " d:", absl::StrJoin(depths, " "), " r:", 16 * r->Between(8, 14));
}

std::string DartsCell(Random* r) {
  std::vector<std::string> edges;
  for (int64_t node = 0; node < 4; ++node) {
    const std::vector<int64_t> inputs = r->Permutation(node + 2);
    for (int input = 0; input < 2; ++input)
      edges.push_back(absl::StrCat("('",
                                   r->Pick({"max_pool_3x3", "avg_pool_3x3", "skip_connect", "sep_conv_3x3",
                                            "sep_conv_5x5", "dil_conv_3x3", "dil_conv_5x5"}),
                                   "', ", inputs[static_cast<size_t>(input)], ")"));
  }
  return absl::StrCat("[", absl::StrJoin(edges, ", "), "]");
}

std::string Darts(Random* r) {
  const std::string normal = DartsCell(r);
  return absl::StrCat("darts:Genotype(normal=", normal, ", normal_concat=[2, 3, 4, 5], reduce=", DartsCell(r),
                      ", reduce_concat=[2, 3, 4, 5])");
}

absl::StatusOr<graph::Graph> ResNet(Random* r) {
  for (const worker::Family& family : worker::Families()) {
    if (absl::string_view(family.name) == "resnet") return family.draw(r);
  }
  return absl::InternalError("the sampler draws no residual networks");
}

struct Space {
  const char* name;
  std::string (*draw)(Random*);  // null: graphs
};
constexpr Space kSpaces[] = {
    {"nasbench101", Nasbench101}, {"fbnet", Fbnet}, {"ofa", Ofa}, {"darts", Darts}, {"resnets", nullptr}};

}  // namespace

std::vector<std::string> CandidateSpaces() {
  std::vector<std::string> names;
  for (const Space& space : kSpaces) names.push_back(space.name);
  return names;
}

Candidates::Candidates(std::string space, uint64_t seed) : space_(std::move(space)), random_(seed) {}

// What identifies it.
std::string Candidates::Draw(v1::PredictRequest* request) {
  for (const Space& space : kSpaces) {
    if (space_ != space.name) continue;
    if (space.draw == nullptr) {
      absl::StatusOr<graph::Graph> graph = ResNet(&random_);
      while (!graph.ok()) graph = ResNet(&random_);  // a size that the family does not admit
      request->Clear();
      proto::GraphToProto(*graph, request->mutable_graph());
      return request->graph().SerializeAsString();
    }
    request->mutable_architecture()->set_text(space.draw(&random_));
    return request->architecture().text();
  }
  return "";
}

v1::PredictRequest Candidates::Next() {
  v1::PredictRequest request;
  while (!drawn_.insert(HashBytes(Draw(&request))).second) {
  }
  return request;
}

}  // namespace cobra::bench
