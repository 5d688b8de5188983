// Anybody may send a graph. Real layers with damaged attributes, shapes and arguments must be
// refused or read, and what is read must have costs that make sense; nothing may crash, hang or
// overflow. Deterministic: a failure names its seed.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "graph/cost/cost.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "proto/graph_proto.h"
#include "store/record_file.h"

namespace cobra::proto {
namespace {

using nlohmann::json;

void FillAttribute(const std::string& name, const json& value, v1::Attribute* out) {
  out->set_name(name);
  if (value.is_boolean()) {
    out->set_bool_value(value);
  } else if (value.is_number_integer()) {
    out->set_int_value(value);
  } else if (value.is_number()) {
    out->set_double_value(value);
  } else if (value.is_string()) {
    out->set_string_value(value);
  } else if (value.is_array()) {
    out->mutable_ints();
    for (const json& element : value) {
      if (element.is_number_integer()) out->mutable_ints()->add_values(element);
    }
  }
}

v1::Graph LayerGraph(const json& layer) {
  v1::Graph graph;
  v1::Node* node = graph.add_nodes();
  node->set_op(layer["op"].get<std::string>());
  for (const auto& [name, value] : layer["attrs"].items()) FillAttribute(name, value, node->add_attributes());
  for (const json& operand : layer["in"]) {
    v1::ValueRef* ref = node->add_inputs();
    if (operand.is_null()) continue;
    v1::NamedTensor* tensor = graph.add_inputs();
    for (int64_t size : operand[1]) tensor->mutable_type()->add_shape(size);
    tensor->mutable_type()->set_dtype(v1::DTYPE_FLOAT32);
    ref->set_kind(v1::ValueRef::KIND_INPUT);
    ref->set_index(graph.inputs_size() - 1);
  }
  v1::ValueRef* output = graph.add_outputs();
  output->set_kind(v1::ValueRef::KIND_NODE);
  return graph;
}

// A few layers of every operator.
std::vector<v1::Graph> RealLayers() {
  absl::StatusOr<std::string> text = ReadMaybeCompressed(COBRA_SOURCE_DIR "/data/layers/real_layers.jsonl.xz");
  EXPECT_TRUE(text.ok()) << text.status();
  std::map<std::string, int> seen;
  std::vector<v1::Graph> graphs;
  for (absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    const json layer = json::parse(line.begin(), line.end());
    if (seen[layer["op"].get<std::string>()]++ % 200 == 0) graphs.push_back(LayerGraph(layer));
  }
  EXPECT_GT(seen.size(), 20u);
  return graphs;
}

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  void Damage(v1::Graph* graph) {
    for (int64_t i = 0, n = 1 + Below(3); i < n; ++i) {
      v1::Node* node = graph->mutable_nodes(0);
      switch (Below(6)) {
        case 0: DamageShape(graph); break;
        case 1:
        case 2:
          if (node->attributes_size() > 0) DamageAttribute(node->mutable_attributes(Below(node->attributes_size())));
          break;
        case 3:
          if (node->inputs_size() > 0 && Below(2) == 0) {
            node->mutable_inputs()->RemoveLast();
          } else if (node->inputs_size() > 0) {
            *node->add_inputs() = node->inputs(0);
          }
          break;
        case 4:
          if (node->inputs_size() > 0)
            node->mutable_inputs(Below(node->inputs_size()))->set_kind(v1::ValueRef::KIND_NONE);
          break;
        case 5:
          if (graph->inputs_size() > 0) {
            graph->mutable_inputs(Below(graph->inputs_size()))
                ->mutable_type()
                ->set_dtype(static_cast<v1::DType>(Below(14)));
          }
          break;
      }
    }
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  int64_t Number() {
    constexpr int64_t kNumbers[] = {
        0, -1, 1, 2, 3, 7, -2, 1 << 20, INT32_MAX, INT32_MIN, int64_t{1} << 40, INT64_MAX, INT64_MIN, INT64_MAX / 2};
    return kNumbers[Below(sizeof(kNumbers) / sizeof(*kNumbers))];
  }

  void DamageShape(v1::Graph* graph) {
    if (graph->inputs_size() == 0) return;
    v1::TensorType* type = graph->mutable_inputs(Below(graph->inputs_size()))->mutable_type();
    if (type->shape_size() == 0 || Below(4) == 0) {
      type->add_shape(Number());
    } else if (Below(4) == 0) {
      type->mutable_shape()->RemoveLast();
    } else {
      type->set_shape(Below(type->shape_size()), Number());
    }
  }

  void DamageAttribute(v1::Attribute* attribute) {
    switch (Below(6)) {
      case 0: attribute->set_int_value(Number()); break;
      case 1:
        if (attribute->ints().values_size() > 0) {
          attribute->mutable_ints()->set_values(Below(attribute->ints().values_size()), Number());
        } else {
          attribute->mutable_ints()->add_values(Number());
        }
        break;
      case 2:
        for (int i = Below(6); i >= 0; --i) attribute->mutable_ints()->add_values(Number());
        break;
      case 3: attribute->set_double_value(static_cast<double>(Number()) / 3); break;
      case 4: attribute->set_string_value("same"); break;
      case 5: attribute->clear_value(); break;
    }
  }

  std::mt19937_64 random_;
};

TEST(GraphProtoHostileTest, DamagedLayersAreRefusedOrMakeSense) {
  const std::vector<v1::Graph> layers = RealLayers();
  int read = 0, refused = 0;
  for (uint64_t seed = 0; seed < 60000; ++seed) {
    SCOPED_TRACE(seed);
    v1::Graph graph = layers[seed % layers.size()];
    Mutator(seed).Damage(&graph);
    absl::StatusOr<graph::Graph> result = GraphFromProto(graph);
    if (!result.ok()) {
      ++refused;
      continue;
    }
    ++read;
    const graph::GraphCost cost = graph::CostOf(*result);
    ASSERT_GE(cost.macs, 0) << graph::PrintGraph(*result);
    ASSERT_GE(cost.flops, 0) << graph::PrintGraph(*result);
    ASSERT_GE(graph::PeakMemoryBytes(*result), 0) << graph::PrintGraph(*result);
    graph::Fingerprint(*result);
    for (const graph::Node& node : result->nodes()) {
      for (const graph::TensorType& type : node.outputs) ASSERT_GE(type.num_bytes(), 0) << graph::PrintGraph(*result);
    }
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(GraphProtoHostileTest, RealLayersAreRead) {
  for (const v1::Graph& layer : RealLayers()) {
    absl::StatusOr<graph::Graph> graph = GraphFromProto(layer);
    EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << layer.ShortDebugString();
  }
}

// ---- whole networks

std::vector<graph::Graph> RealNetworks() {
  absl::StatusOr<std::string> text =
      store::ReadRecordFile(COBRA_SOURCE_DIR "/data/measurements/cpu-epyc-genoa-1t/networks.jsonl.xz");
  EXPECT_TRUE(text.ok()) << text.status();
  std::vector<graph::Graph> graphs;
  int seen = 0;
  for (absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    const json record = json::parse(line.begin(), line.end(), nullptr, false);
    if (!record.contains("graph") || seen++ % 17 != 0 || graphs.size() >= 12) continue;
    absl::StatusOr<graph::Graph> graph = graph::GraphFromJson(record["graph"].dump());
    EXPECT_TRUE(graph.ok()) << graph.status();
    if (graph.ok() && graph->nodes().size() < 300) graphs.push_back(*std::move(graph));
  }
  EXPECT_GE(graphs.size(), 8u);
  return graphs;
}

// Damages what holds a network together: references, order, names, results, operators.
class NetworkMutator {
 public:
  explicit NetworkMutator(uint64_t seed) : random_(seed) {}

  void Damage(v1::Graph* g) {
    v1::Node* node = g->mutable_nodes(Below(g->nodes_size()));
    switch (Below(14)) {
      case 0:
        if (node->inputs_size() > 0)
          node->mutable_inputs(Below(node->inputs_size()))->set_index(Index(g->nodes_size()));
        break;
      case 1:
        if (node->inputs_size() > 0) {
          node->mutable_inputs(Below(node->inputs_size()))->set_kind(static_cast<v1::ValueRef::Kind>(Below(8)));
        }
        break;
      case 2:
        if (node->inputs_size() > 0) node->mutable_inputs(Below(node->inputs_size()))->set_output(Index(3));
        break;
      case 3: node->set_op(g->nodes(Below(g->nodes_size())).op()); break;
      case 4: g->mutable_nodes()->SwapElements(Below(g->nodes_size()), Below(g->nodes_size())); break;
      case 5: g->mutable_nodes()->DeleteSubrange(Below(g->nodes_size()), 1); break;
      case 6: *g->add_nodes() = *node; break;
      case 7:
        if (node->outputs_size() > 0) node->mutable_outputs(0)->add_shape(Index(10));
        break;
      case 8: node->set_inplace(!node->inplace()); break;
      case 9: node->mutable_origin()->set_file(Index(2)); break;
      case 10:
        if (g->parameters_size() > 1) {
          g->mutable_parameters(Below(g->parameters_size()))->set_name(g->parameters(0).name());
        }
        break;
      case 11: g->add_parameter_aliases()->set_parameter(Index(g->parameters_size())); break;
      case 12: g->add_outputs()->set_index(Index(g->nodes_size())); break;
      case 13:
        if (node->attributes_size() > 0) *node->add_attributes() = node->attributes(Below(node->attributes_size()));
        break;
    }
  }

  // Any byte, any piece: what is left is hardly ever a graph.
  void Damage(std::string* text) {
    for (int i = Below(3); i >= 0; --i) {
      const size_t at = static_cast<size_t>(Below(static_cast<int>(text->size())));
      switch (Below(4)) {
        case 0: (*text)[at] = static_cast<char>(Below(256)); break;
        case 1: text->erase(at, static_cast<size_t>(1 + Below(20))); break;
        case 2: text->insert(at, text->substr(static_cast<size_t>(Below(static_cast<int>(text->size()))), 8)); break;
        case 3:
          if (const size_t digit = text->find_first_of("0123456789", at); digit != std::string::npos) {
            constexpr absl::string_view kNumbers[] = {"0", "-1", "7", "1e99", "null", "99999999999999999999", "\"x\""};
            text->replace(digit, 1, std::string(kNumbers[Below(7)]));
          }
          break;
      }
    }
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(std::max(n, 1))); }
  int Index(int n) { return Below(4) == 0 ? (Below(2) == 0 ? -1 : INT32_MAX) : Below(n + 2); }
  std::mt19937_64 random_;
};

// Refused with a message that names the place, or a graph that survives every form it can take.
void ExpectRefusedOrSound(const absl::StatusOr<graph::Graph>& graph, int* refused) {
  if (!graph.ok()) {
    ++*refused;
    const std::optional<Diagnostic> d = DiagnosticFromStatus(graph.status());
    ASSERT_TRUE(d.has_value()) << graph.status();
    const bool named = absl::StartsWith(d->message, "node ") || absl::StartsWith(d->message, "graph: ") ||
                       absl::StartsWith(d->message, "this JSON is not a graph: ");
    ASSERT_TRUE(named) << d->message;
    return;
  }
  v1::Graph proto;
  GraphToProto(*graph, &proto);
  const absl::StatusOr<graph::Graph> from_proto = GraphFromProto(proto);
  ASSERT_TRUE(from_proto.ok()) << from_proto.status();
  ASSERT_EQ(graph::Fingerprint(*from_proto), graph::Fingerprint(*graph));
  const absl::StatusOr<graph::Graph> from_json = graph::GraphFromJson(graph::GraphToJson(*graph));
  ASSERT_TRUE(from_json.ok()) << from_json.status();
  ASSERT_EQ(graph::Fingerprint(*from_json), graph::Fingerprint(*graph));
}

TEST(GraphProtoHostileTest, DamagedNetworksAreRefusedByNameOrSound) {
  std::vector<v1::Graph> networks;
  for (const graph::Graph& graph : RealNetworks()) GraphToProto(graph, &networks.emplace_back());
  int refused = 0;
  constexpr int kSeeds = 4000;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    v1::Graph graph = networks[seed % networks.size()];
    NetworkMutator(seed).Damage(&graph);
    ASSERT_NO_FATAL_FAILURE(ExpectRefusedOrSound(GraphFromProto(graph), &refused));
  }
  EXPECT_GT(refused, kSeeds / 4);
  EXPECT_LT(refused, kSeeds);
}

TEST(GraphProtoHostileTest, DamagedJsonIsRefusedByNameOrSound) {
  std::vector<std::string> texts;
  for (const graph::Graph& graph : RealNetworks()) texts.push_back(graph::GraphToJson(graph));
  int refused = 0;
  constexpr int kSeeds = 2000;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    std::string text = texts[seed % texts.size()];
    NetworkMutator(seed).Damage(&text);
    ASSERT_NO_FATAL_FAILURE(ExpectRefusedOrSound(graph::GraphFromJson(text), &refused));
  }
  EXPECT_GT(refused, kSeeds / 2);
  EXPECT_LT(refused, kSeeds);
}

}  // namespace
}  // namespace cobra::proto
