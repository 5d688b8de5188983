// The bytes of graphs against protobuf, which is the judge of what they mean.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "base/bytes/wire_format.h"
#include "google/protobuf/stubs/logging.h"
#include "gtest/gtest.h"
#include "proto/graph_proto.h"
#include "proto/network_hash.h"
#include "proto/parsed_size.h"

namespace cobra::proto {
namespace {

using graph::Attributes;
using graph::ValueRef;
using graph::ValueRefs;

// Every kind of attribute, reference and list, with values at the ends of their ranges.
graph::Graph Network() {
  graph::GraphBuilder builder;
  const ValueRef x = builder.AddInput("x", {{2, 3, 8, 8}, graph::DType::float32});
  const ValueRef scalar = builder.AddInput("", {{}, graph::DType::int64});
  const ValueRef weight = builder.AddParameter("conv.weight", {{4, 3, 3, 3}, graph::DType::float32});
  builder.AddParameter("empty", {{0, 1 << 20}, graph::DType::complex128});
  builder.AddParameterAlias("tied.weight", weight);
  const ValueRef mean = builder.AddBuffer("mean", {{4}, graph::DType::float32});
  const ValueRef variance = builder.AddBuffer("variance", {{4}, graph::DType::float32});
  const ValueRef constant = builder.AddConstant("c", {{4}, graph::DType::float32});
  const auto file = std::make_shared<const std::string>("net.py");
  const auto other = std::make_shared<const std::string>(
      "bl\xc3\xb6"
      "cke.py");
  const std::vector<int64_t> ones = {1, 1};
  const auto add = [&](graph::Op op, const Attributes& attributes, const ValueRefs& inputs, const graph::Origin& origin,
                       bool inplace = false) {
    absl::StatusOr<int32_t> index = builder.Add(op, attributes, inputs, origin, inplace);
    EXPECT_TRUE(index.ok()) << index.status();
    return ValueRef::Node(index.value_or(0));
  };
  const ValueRef conv =
      add(graph::Op::conv2d, {{"stride", ones}, {"padding", ones}, {"dilation", ones}, {"groups", int64_t{1}}},
          {x, weight, ValueRef::None()}, {file, 7, "a.conv", other, 3});
  const ValueRef norm = add(graph::Op::batch_norm, {{"eps", 1e-5}}, {conv, mean, variance, constant, constant},
                            {other, 1 << 30, "a.norm"});
  const ValueRef relu = add(graph::Op::relu, {}, {norm}, {file, 8, ""}, /*inplace=*/true);
  const ValueRef twice = add(
      graph::Op::interpolate,
      {{"scale_factor", std::vector<double>{2.0, 0.5}}, {"mode", std::string("bilinear")}, {"align_corners", false}},
      {relu}, {});
  const ValueRef sum = add(graph::Op::add, {{"alpha", int64_t{-3}}}, {twice, scalar}, {});
  add(graph::Op::chunk, {{"chunks", int64_t{2}}, {"dim", int64_t{1}}}, {sum}, {file, 9, "b"});
  return std::move(builder).Build({sum, ValueRef::Node(5, 1), x});
}

std::string ProtobufsBytes(absl::string_view bytes) {
  v1::Graph message;
  EXPECT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return message.SerializeAsString();
}

TEST(GraphWireTest, WritesWhatProtobufWrites) {
  const std::string bytes = GraphToWire(Network());
  EXPECT_EQ(ProtobufsBytes(bytes), bytes);
  v1::Graph message;
  GraphToProto(Network(), &message);
  EXPECT_EQ(message.nodes(0).origin().module_path(), "a.conv");
  EXPECT_EQ(message.nodes(4).attributes(0).int_value(), -3);
  EXPECT_EQ(message.nodes(3).attributes(0).doubles().values(1), 0.5);
  const absl::StatusOr<graph::Graph> back = GraphFromWire(bytes);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(GraphToWire(*back), bytes);
}

TEST(GraphWireTest, NamesBecomeUtf8) {
  graph::GraphBuilder builder;
  const ValueRef x = builder.AddInput("a\xff", {{1}, graph::DType::float32});
  v1::Graph message;
  GraphToProto(std::move(builder).Build({x}), &message);
  EXPECT_EQ(message.inputs(0).name(), "a?");
}

// Fields in any order, twice, one by one instead of packed, of wrong types and of unknown numbers
// mean what they mean to protobuf.
TEST(GraphWireTest, ReadsUnusualBytesAsProtobufDoes) {
  const std::string usual = GraphToWire(Network());
  std::vector<absl::string_view> fields;
  for (absl::string_view rest = usual; !rest.empty();) {
    const char* begin = rest.data();
    WireField field;
    ASSERT_TRUE(NextWireField(&rest, &field));
    fields.emplace_back(begin, static_cast<size_t>(rest.data() - begin));
  }
  std::string reversed_kinds;  // lists keep their order, but mixed with the others
  std::vector<std::vector<absl::string_view>> lists(10);
  for (absl::string_view field : fields) lists[static_cast<size_t>(field[0]) >> 3].push_back(field);
  for (size_t i = 0; i < fields.size(); ++i) {
    for (size_t k = lists.size(); k-- > 0;) {
      if (i < lists[k].size()) reversed_kinds.append(lists[k][i].data(), lists[k][i].size());
    }
  }
  const std::string unknown = "\x98\x06\x2a" + usual +
                              std::string(
                                  "\xa2\x06\x03"
                                  "abc\x0d\x01\x02\x03\x04\x48\x07",
                                  13);
  for (const std::string& bytes : {reversed_kinds, unknown}) {
    const absl::StatusOr<graph::Graph> graph = GraphFromWire(bytes);
    ASSERT_TRUE(graph.ok()) << graph.status();
    v1::Graph message;
    ASSERT_TRUE(message.ParseFromString(bytes));
    const absl::StatusOr<graph::Graph> parsed = GraphFromProto(message);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(GraphToWire(*graph), GraphToWire(*parsed));
  }
}

TEST(GraphWireTest, ManySourceFilesAreALimit) {
  GraphLimits limits;
  limits.max_nodes = 100;
  std::string bytes;
  for (int i = 0; i < 200; ++i) bytes += std::string("\x42\x00", 2);
  EXPECT_TRUE(GraphFromWire(bytes, limits).ok());
  bytes += std::string("\x42\x00", 2);
  EXPECT_TRUE(absl::StrContains(GraphFromWire(bytes, limits).status().message(), "201 source files"))
      << GraphFromWire(bytes, limits).status();
}

TEST(GraphWireTest, TheHashOfANetworkLeavesNamesOut) {
  v1::Graph graph;
  GraphToProto(Network(), &graph);
  const GraphLimits limits;
  const auto hash = [&limits](const v1::Graph& g) { return NetworkHash(g.SerializeAsString(), limits); };
  const std::optional<Hash128> usual = hash(graph);
  ASSERT_TRUE(usual.has_value());
  v1::Graph renamed = graph;
  renamed.mutable_parameters(0)->set_name("another");
  renamed.mutable_inputs(0)->set_name("");
  renamed.set_source_files(0, "other.py");
  renamed.mutable_nodes(1)->mutable_origin()->set_line(12);
  renamed.mutable_nodes(2)->clear_origin();
  renamed.clear_parameter_aliases();
  EXPECT_EQ(hash(renamed), usual);
  for (const std::function<void(v1::Graph*)>& change : std::vector<std::function<void(v1::Graph*)>>{
           [](v1::Graph* g) { g->mutable_parameters(0)->mutable_type()->set_shape(0, 5); },
           [](v1::Graph* g) { g->mutable_nodes(0)->set_op("conv3d"); },
           [](v1::Graph* g) { g->mutable_nodes(0)->mutable_attributes(3)->set_int_value(2); },
           [](v1::Graph* g) { g->mutable_nodes(0)->mutable_inputs(0)->set_index(1); },
           [](v1::Graph* g) { g->mutable_nodes(2)->set_inplace(false); },
           [](v1::Graph* g) { g->mutable_outputs(0)->set_index(1); }}) {
    v1::Graph changed = graph;
    change(&changed);
    EXPECT_NE(hash(changed), usual);
    EXPECT_TRUE(hash(changed).has_value());
  }
  // Names that the reader refuses.
  for (const std::function<void(v1::Graph*)>& change : std::vector<std::function<void(v1::Graph*)>>{
           [](v1::Graph* g) { g->mutable_parameters(0)->set_name("empty"); },
           [](v1::Graph* g) { g->mutable_parameters(0)->set_name(std::string(5000, 'n')); },
           [](v1::Graph* g) { g->mutable_parameter_aliases(0)->set_parameter(2); },
           [](v1::Graph* g) { g->mutable_nodes(0)->mutable_origin()->set_file(7); },
           [](v1::Graph* g) { g->mutable_nodes(0)->mutable_origin()->set_made_line(-1); }}) {
    v1::Graph changed = graph;
    change(&changed);
    EXPECT_FALSE(hash(changed).has_value());
    EXPECT_FALSE(GraphFromProto(changed).ok());
  }
}

// The bytes of the graph without what the hash leaves out.
std::string WithoutNames(const graph::Graph& graph) {
  v1::Graph message;
  GraphToProto(graph, &message);
  for (auto* list : {message.mutable_inputs(), message.mutable_parameters(), message.mutable_buffers(),
                     message.mutable_constants()}) {
    for (v1::NamedTensor& tensor : *list) tensor.clear_name();
  }
  for (v1::Node& node : *message.mutable_nodes()) node.clear_origin();
  message.clear_parameter_aliases();
  message.clear_source_files();
  return message.SerializeAsString();
}

// Damaged bytes: read to the same graph as by protobuf and the way over its message, or refused.
TEST(GraphWireTest, DamagedBytesMeanWhatTheyMeanToProtobuf) {
  google::protobuf::SetLogHandler(nullptr);  // it complains of each name that is not UTF-8
  const std::string usual = GraphToWire(Network());
  std::mt19937_64 random(7);
  const auto below = [&random](size_t n) { return static_cast<size_t>(random() % n); };
  int read = 0, refused = 0, malformed = 0;
  absl::flat_hash_map<Hash128, std::string> networks;  // by their hashes; "" is one that is refused
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = usual;
    for (size_t n = 1 + below(3); n > 0 && !bytes.empty(); --n) {
      const size_t at = below(bytes.size());
      switch (below(5)) {
        case 0: bytes[at] = static_cast<char>(random()); break;
        case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
        case 2: bytes.erase(at, 1 + below(4)); break;
        case 3: bytes.insert(at, bytes.substr(below(bytes.size()), below(24))); break;
        default: bytes.resize(std::max<size_t>(at, 1)); break;
      }
    }
    const absl::StatusOr<graph::Graph> graph = GraphFromWire(bytes);
    if (const std::optional<Hash128> hash = NetworkHash(bytes, GraphLimits())) {
      const std::string network = graph.ok() ? WithoutNames(*graph) : "";
      ASSERT_EQ(networks.try_emplace(*hash, network).first->second, network) << "round " << round;
    }
    v1::Graph message;
    if (!message.ParseFromString(bytes)) {
      ++malformed;
      EXPECT_FALSE(graph.ok()) << "round " << round;
      continue;
    }
    if (!ParsedSizeOf(bytes, *v1::Graph::descriptor(), int64_t{1} << 30).well_formed) continue;  // groups
    const absl::StatusOr<graph::Graph> parsed = GraphFromProto(message);
    ASSERT_EQ(graph.ok(), parsed.ok()) << "round " << round << ": " << graph.status() << "; " << parsed.status();
    ++(graph.ok() ? read : refused);
    if (graph.ok()) {
      ASSERT_EQ(GraphToWire(*graph), GraphToWire(*parsed)) << "round " << round;
    } else {
      ASSERT_EQ(graph.status(), parsed.status()) << "round " << round;
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 100);
  EXPECT_GT(malformed, 100);
}

}  // namespace
}  // namespace cobra::proto
