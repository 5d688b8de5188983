#include "proto/graph_proto.h"

#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"

namespace cobra::proto {
namespace {

// conv -> relu_, with an origin on the convolution.
graph::Graph SmallNetwork() {
  graph::GraphBuilder builder;
  const graph::ValueRef x = builder.AddInput("x", {{2, 3, 8, 8}, graph::DType::float32});
  const graph::ValueRef weight = builder.AddParameter("conv.weight", {{4, 3, 3, 3}, graph::DType::float32});
  builder.AddParameterAlias("tied.weight", weight);
  const graph::Origin origin{std::make_shared<const std::string>("net.py"), 7, "conv",
                             std::make_shared<const std::string>("blocks.py"), 3};
  const graph::Attributes attributes = {{"stride", std::vector<int64_t>{1, 1}},
                                        {"padding", std::vector<int64_t>{1, 1}},
                                        {"dilation", std::vector<int64_t>{1, 1}},
                                        {"groups", int64_t{1}}};
  const int32_t conv = builder.Add(graph::Op::conv2d, attributes, {x, weight, graph::ValueRef::None()}, origin).value();
  const int32_t relu = builder.Add(graph::Op::relu, {}, {graph::ValueRef::Node(conv)}, {}, /*inplace=*/true).value();
  return std::move(builder).Build({graph::ValueRef::Node(relu)});
}

v1::Graph SmallProto() {
  v1::Graph proto;
  GraphToProto(SmallNetwork(), &proto);
  return proto;
}

Diagnostic ErrorOf(const v1::Graph& proto) {
  absl::StatusOr<graph::Graph> graph = GraphFromProto(proto);
  EXPECT_FALSE(graph.ok());
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(graph.status());
  EXPECT_TRUE(diagnostic.has_value()) << graph.status();
  return diagnostic.value_or(Diagnostic());
}

TEST(GraphProtoTest, RoundTripKeepsEverything) {
  absl::StatusOr<graph::Graph> back = GraphFromProto(SmallProto());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(graph::GraphToJson(*back), graph::GraphToJson(SmallNetwork()));
  EXPECT_EQ(graph::PrintGraph(*back), graph::PrintGraph(SmallNetwork()));
}

TEST(GraphProtoTest, EveryElementTypeHasItsNumber){
#define COBRA_CHECK_DTYPE(name, bytes)                                                     \
  {                                                                                        \
    graph::GraphBuilder builder;                                                           \
    const graph::ValueRef x = builder.AddInput("x", {{1}, graph::DType::name});            \
    v1::Graph proto;                                                                       \
    GraphToProto(std::move(builder).Build({x}), &proto);                                   \
    EXPECT_NE(proto.inputs(0).type().dtype(), v1::DTYPE_UNSPECIFIED) << #name;             \
    EXPECT_EQ(GraphFromProto(proto)->inputs()[0].type.dtype, graph::DType::name) << #name; \
  }
    COBRA_DTYPES(COBRA_CHECK_DTYPE)
#undef COBRA_CHECK_DTYPE
}

TEST(GraphProtoTest, OutputsMayBeLeftOut) {
  v1::Graph proto = SmallProto();
  for (v1::Node& node : *proto.mutable_nodes()) node.clear_outputs();
  EXPECT_TRUE(GraphFromProto(proto).ok());
}

TEST(GraphProtoTest, WrongOutputIsRefused) {
  v1::Graph proto = SmallProto();
  proto.mutable_nodes(1)->mutable_outputs(0)->set_shape(0, 3);
  EXPECT_EQ(ErrorOf(proto).kind, Diagnostic::Kind::kModelError);
}

TEST(GraphProtoTest, ShapeMismatchPointsAtTheSourceLine) {
  v1::Graph proto = SmallProto();
  proto.mutable_parameters(0)->mutable_type()->set_shape(1, 5);
  const Diagnostic d = ErrorOf(proto);
  EXPECT_EQ(d.kind, Diagnostic::Kind::kModelError);
  EXPECT_EQ(d.position.file, "net.py");
  EXPECT_EQ(d.position.line, 7);
}

TEST(GraphProtoTest, UnknownOperatorIsNamed) {
  v1::Graph proto = SmallProto();
  proto.mutable_nodes(1)->set_op("frobnicate");
  const Diagnostic d = ErrorOf(proto);
  EXPECT_EQ(d.kind, Diagnostic::Kind::kUnsupported);
  EXPECT_NE(d.message.find("frobnicate"), std::string::npos);
}

TEST(GraphProtoTest, ReferencesMustExist) {
  const auto with_reference = [](v1::ValueRef::Kind kind, int index, int output) {
    v1::Graph proto = SmallProto();
    v1::ValueRef* ref = proto.mutable_nodes(1)->mutable_inputs(0);
    ref->set_kind(kind);
    ref->set_index(index);
    ref->set_output(output);
    return ErrorOf(proto).kind;
  };
  EXPECT_EQ(with_reference(v1::ValueRef::KIND_NODE, 1, 0), Diagnostic::Kind::kUsage);  // itself
  EXPECT_EQ(with_reference(v1::ValueRef::KIND_NODE, -1, 0), Diagnostic::Kind::kUsage);
  EXPECT_EQ(with_reference(v1::ValueRef::KIND_NODE, 0, 1), Diagnostic::Kind::kUsage);
  EXPECT_EQ(with_reference(v1::ValueRef::KIND_INPUT, 1, 0), Diagnostic::Kind::kUsage);
  EXPECT_EQ(with_reference(v1::ValueRef::KIND_CONSTANT, 0, 0), Diagnostic::Kind::kUsage);
  EXPECT_EQ(with_reference(static_cast<v1::ValueRef::Kind>(17), 0, 0), Diagnostic::Kind::kUsage);
}

struct Damage {
  const char* message;
  std::function<void(v1::Graph*)> damage;
};

// Each damage is refused with a message that begins with the place and has the words.
void ExpectMessages(const std::vector<Damage>& damages) {
  for (const Damage& d : damages) {
    v1::Graph proto = SmallProto();
    d.damage(&proto);
    EXPECT_EQ(ErrorOf(proto).message.substr(0, strlen(d.message)), d.message);
  }
}

TEST(GraphProtoTest, MessagesNameTheNode) {
  ExpectMessages({
      {.message = "node 1 (relu): tensor 0 is node 5: no output of an earlier node",
       .damage = [](v1::Graph* g) { g->mutable_nodes(1)->mutable_inputs(0)->set_index(5); }},
      {.message = "node 1 (relu): tensor 0 is node 0, output 2: no output of an earlier node",
       .damage = [](v1::Graph* g) { g->mutable_nodes(1)->mutable_inputs(0)->set_output(2); }},
      {.message = "node 0 (conv2d): tensor 1 is parameter 7: there is none",
       .damage = [](v1::Graph* g) { g->mutable_nodes(0)->mutable_inputs(1)->set_index(7); }},
      {.message = "node 0 (conv2d): tensor 2 is none 3: there is none",
       .damage = [](v1::Graph* g) { g->mutable_nodes(0)->mutable_inputs(2)->set_index(3); }},
      {.message = "node 1 (relu): tensor 0 is of an unknown kind 0: there is none",
       .damage =
           [](v1::Graph* g) { g->mutable_nodes(1)->mutable_inputs(0)->set_kind(static_cast<v1::ValueRef::Kind>(99)); }},
      {.message = "node 0 (conv2d): argument 'stride' occurs twice",
       .damage = [](v1::Graph* g) { *g->mutable_nodes(0)->add_attributes() = g->nodes(0).attributes(0); }},
      {.message = "node 0 (conv2d): argument 'stride' must be a whole number or a list of them, not 'same'",
       .damage = [](v1::Graph* g) { g->mutable_nodes(0)->mutable_attributes(0)->set_string_value("same"); }},
      {.message = "node 0 (conv2d): conv2d() got an unexpected argument 'speed'",
       .damage = [](v1::Graph* g) { g->mutable_nodes(0)->add_attributes()->set_name("speed"); }},
      {.message = "node 1 (relu): relu: got 2 tensors, takes at most 1",
       .damage = [](v1::Graph* g) { *g->mutable_nodes(1)->add_inputs() = g->nodes(1).inputs(0); }},
      {.message = "node 1 (frobnicate): no such operator",
       .damage = [](v1::Graph* g) { g->mutable_nodes(1)->set_op("frobnicate"); }},
      {.message = "node 1 (relu): declares the output 3x4x8x8:float32, its arguments give 2x4x8x8:float32",
       .damage = [](v1::Graph* g) { g->mutable_nodes(1)->mutable_outputs(0)->set_shape(0, 3); }},
      {.message = "node 1 (relu): result 0: no such element type",
       .damage = [](v1::Graph* g) { g->mutable_nodes(1)->mutable_outputs(0)->set_dtype(v1::DTYPE_UNSPECIFIED); }},
      {.message = "node 0 (conv2d): its origin is line 7 of file 3, and there are 2 files",
       .damage = [](v1::Graph* g) { g->mutable_nodes(0)->mutable_origin()->set_file(3); }},
      {.message = "node 0 (conv2d): its layer was made in line 3 of file 9, and there are 2 files",
       .damage = [](v1::Graph* g) { g->mutable_nodes(0)->mutable_origin()->set_made_file(9); }},
      {.message = "node 0 (conv2d): its origin is line -1",
       .damage = [](v1::Graph* g) { g->mutable_nodes(0)->mutable_origin()->set_line(-1); }},
      {.message = "node 1 (xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...): no such operator",
       .damage = [](v1::Graph* g) { g->mutable_nodes(1)->set_op(std::string(5000, 'x')); }},
  });
}

TEST(GraphProtoTest, MessagesNameTheTensor) {
  ExpectMessages({
      {.message = "graph: parameter 0 \"conv.weight\": size -4 is negative",
       .damage = [](v1::Graph* g) { g->mutable_parameters(0)->mutable_type()->set_shape(0, -4); }},
      {.message = "graph: input 0 \"x\": 65 dimensions, more than the limit of 64",
       .damage =
           [](v1::Graph* g) {
             for (int i = 0; i < 61; ++i) g->mutable_inputs(0)->mutable_type()->add_shape(1);
           }},
      {.message = "graph: parameter 1 \"conv.weight\": another one has this name",
       .damage = [](v1::Graph* g) { *g->add_parameters() = g->parameters(0); }},
      {.message = "graph: parameter alias \"tied.weight\" names no parameter",
       .damage = [](v1::Graph* g) { g->mutable_parameter_aliases(0)->set_parameter(1); }},
      {.message = "graph: parameter alias \"conv.weight\" is not a new name",
       .damage = [](v1::Graph* g) { g->mutable_parameter_aliases(0)->set_name("conv.weight"); }},
      {.message = "graph: output 0 is node 2: no output of an earlier node",
       .damage = [](v1::Graph* g) { g->mutable_outputs(0)->set_index(2); }},
      {.message = "graph: output 0 is not set", .damage = [](v1::Graph* g) { g->mutable_outputs(0)->Clear(); }},
  });
}

TEST(GraphProtoTest, ModulePathIsPartOfTheError) {
  v1::Graph proto = SmallProto();
  proto.mutable_parameters(0)->mutable_type()->set_shape(1, 5);
  EXPECT_EQ(ErrorOf(proto).module_path, "conv");
}

// A value like another in a tensor, nonsense as a setting.
TEST(GraphProtoTest, WhatIsNotANumberIsNoSetting) {
  for (const auto& [op, name, fine] :
       {std::tuple("leaky_relu", "negative_slope", false), std::tuple("add", "other", true)}) {
    v1::Graph proto;
    v1::TensorType* type = proto.add_inputs()->mutable_type();
    type->add_shape(2);
    type->set_dtype(v1::DTYPE_FLOAT32);
    v1::Node* node = proto.add_nodes();
    node->set_op(op);
    node->add_inputs()->set_kind(v1::ValueRef::KIND_INPUT);
    v1::Attribute* attribute = node->add_attributes();
    attribute->set_name(name);
    attribute->set_double_value(std::numeric_limits<double>::quiet_NaN());
    const absl::StatusOr<graph::Graph> graph = GraphFromProto(proto);
    EXPECT_EQ(graph.ok(), fine) << graph.status();
    if (!fine)
      EXPECT_EQ(ErrorOf(proto).message, "node 0 (leaky_relu): leaky_relu: negative_slope is not a number (nan)");
  }
}

TEST(GraphProtoTest, HostileShapesAreRefused) {
  v1::Graph negative = SmallProto();
  negative.mutable_inputs(0)->mutable_type()->set_shape(0, -1);
  EXPECT_EQ(ErrorOf(negative).kind, Diagnostic::Kind::kUsage);
  v1::Graph huge = SmallProto();
  // The product overflows.
  for (int i = 0; i < 4; ++i) huge.mutable_inputs(0)->mutable_type()->set_shape(i, int64_t{1} << 40);
  EXPECT_EQ(ErrorOf(huge).kind, Diagnostic::Kind::kLimit);
}

// A breakdown repeats them in every row.
TEST(GraphProtoTest, NamesAreLimited) {
  const auto most = static_cast<size_t>(Limits().name_bytes);
  const std::function<void(v1::Graph*, std::string)> names[] = {
      [](v1::Graph* g, std::string name) { g->add_source_files(std::move(name)); },
      [](v1::Graph* g, std::string name) { g->mutable_nodes(0)->mutable_origin()->set_module_path(std::move(name)); },
      [](v1::Graph* g, std::string name) { g->mutable_inputs(0)->set_name(std::move(name)); },
      [](v1::Graph* g, std::string name) { g->mutable_parameters(0)->set_name(std::move(name)); },
      [](v1::Graph* g, std::string name) { g->add_parameter_aliases()->set_name(std::move(name)); },
  };
  for (const auto& set_name : names) {
    v1::Graph proto = SmallProto();
    set_name(&proto, std::string(most, 'n'));
    const absl::StatusOr<graph::Graph> graph = GraphFromProto(proto);
    EXPECT_TRUE(graph.ok()) << graph.status();
    proto = SmallProto();
    set_name(&proto, std::string(most + 1, 'n'));
    EXPECT_EQ(ErrorOf(proto).kind, Diagnostic::Kind::kLimit);
    EXPECT_LT(ErrorOf(proto).message.size(), 300u);
  }
}

TEST(GraphProtoTest, CallsAreLimited) {
  GraphLimits limits;
  limits.max_nodes = SmallProto().nodes_size();
  EXPECT_TRUE(GraphFromProto(SmallProto(), limits).ok());
  --limits.max_nodes;
  absl::StatusOr<graph::Graph> graph = GraphFromProto(SmallProto(), limits);
  EXPECT_EQ(DiagnosticFromStatus(graph.status())->kind, Diagnostic::Kind::kLimit);
}

// A byte of a shape takes eight in memory, whether or not a call reads the tensor.
TEST(GraphProtoTest, DimensionsOfTensorsAreLimited) {
  GraphLimits limits;
  limits.max_dimensions = 31;  // of the calls: 25 of their tensors, 6 of the lists stride, padding and dilation
  v1::Graph proto = SmallProto();
  for (int i = 0; i < 4; ++i) *proto.add_inputs()->mutable_type() = proto.inputs(0).type();
  EXPECT_TRUE(GraphFromProto(proto, limits).ok()) << GraphFromProto(proto, limits).status();  // 10 and 20
  *proto.add_inputs()->mutable_type() = proto.inputs(0).type();
  const absl::Status refused = GraphFromProto(proto, limits).status();
  ASSERT_TRUE(DiagnosticFromStatus(refused).has_value()) << refused;
  EXPECT_EQ(DiagnosticFromStatus(refused)->message, "graph: more than the limit of 31 dimensions of tensors");
}

}  // namespace
}  // namespace cobra::proto
