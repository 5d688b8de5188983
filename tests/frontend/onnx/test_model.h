// Models as the tests of the ONNX reader need them.
#ifndef COBRA_TESTS_FRONTEND_ONNX_TEST_MODEL_H_
#define COBRA_TESTS_FRONTEND_ONNX_TEST_MODEL_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "frontend/onnx/reader.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"

namespace cobra::onnx {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using Dims = std::vector<int64_t>;

struct Model {
  explicit Model(int opset = 13) {
    proto.set_ir_version(8);
    proto.add_opset_import()->set_version(opset);
    graph().set_name("g");
  }
  GraphProto& graph() { return *proto.mutable_graph(); }
  // -1 leaves a dimension open.
  void Input(const std::string& name, const Dims& dims, int type = TensorProto::FLOAT) {
    Info(graph().add_input(), name, dims, type);
  }
  void Output(const std::string& name) { graph().add_output()->set_name(name); }
  static void Info(::onnx::ValueInfoProto* info, const std::string& name, const Dims& dims, int type) {
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (int64_t d : dims) {
      auto* dim = tensor->mutable_shape()->add_dim();
      if (d >= 0) dim->set_dim_value(d);
      if (d < 0) dim->set_dim_param("open");
    }
  }
  void Weight(const std::string& name, const Dims& dims) {
    TensorProto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(TensorProto::FLOAT);
    int64_t n = 1;
    for (int64_t d : dims) {
      tensor->add_dims(d);
      n *= d;
    }
    tensor->set_raw_data(std::string(n * sizeof(float), '\0'));
  }
  void Ints(const std::string& name, const Dims& values, bool scalar = false) {
    TensorProto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(TensorProto::INT64);
    if (!scalar) tensor->add_dims(static_cast<int64_t>(values.size()));
    for (int64_t v : values) tensor->add_int64_data(v);
  }
  static NodeProto* AddNode(GraphProto* graph, const std::string& op, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs) {
    NodeProto* node = graph->add_node();
    node->set_op_type(op);
    node->set_name(absl::StrCat("the_", op));
    for (const std::string& name : inputs) node->add_input(name);
    for (const std::string& name : outputs) node->add_output(name);
    return node;
  }
  NodeProto* Node(const std::string& op, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs) {
    return AddNode(&graph(), op, inputs, outputs);
  }
  static void SetInt(NodeProto* node, const std::string& name, int64_t value) {
    AttributeProto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(AttributeProto::INT);
    attribute->set_i(value);
  }
  std::string Bytes() const { return proto.SerializeAsString(); }

  ModelProto proto;
};

inline std::vector<std::string> OpsOf(const graph::Graph& graph) {
  std::vector<std::string> ops;
  for (const graph::Node& node : graph.nodes()) ops.emplace_back(graph::OpName(node.op));
  return ops;
}

inline Diagnostic ErrorOf(const std::string& bytes, const OnnxRequest& request = {}, const Limits& limits = {}) {
  absl::StatusOr<graph::Graph> graph = ReadOnnxModel(bytes, request, limits);
  EXPECT_FALSE(graph.ok());
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(graph.status());
  EXPECT_TRUE(diagnostic.has_value()) << graph.status();
  return diagnostic.value_or(Diagnostic());
}

}  // namespace cobra::onnx

#endif  // COBRA_TESTS_FRONTEND_ONNX_TEST_MODEL_H_
