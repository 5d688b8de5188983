#include "proto/model_source_proto.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/diagnostic.h"
#include "graph/builder/builder.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"

namespace cobra::proto {
namespace {

using frontend::ModelSource;
using frontend::NcnnFile;
using frontend::OnnxFile;
using frontend::TfliteFile;

// `source` as a receiver of its message has it.
template <typename Form>
Form Sent(const Form& source) {
  v1::PredictRequest request;
  const absl::Status written = ModelSourceToProto(source, &request);
  EXPECT_TRUE(written.ok()) << written;
  absl::StatusOr<ModelSource> received = TakeModelSource(&request, Limits());
  EXPECT_TRUE(received.ok()) << received.status();
  if (!received.ok() || !std::holds_alternative<Form>(*received)) {
    ADD_FAILURE() << "another form";
    return Form();
  }
  return std::get<Form>(*std::move(received));
}

python::SourceRequest Program(const std::string& path = "net/model.py") {
  python::SourceRequest program;
  program.bundle = {{path, "x = 1"}, {"b.py", ""}};
  program.file = path;
  program.entry = "Net()";
  program.method = "encode";
  program.inputs = {"1x3", "mask=1x1"};
  program.arguments = {{"flag", "a == b"}};
  program.torch_version = "2.0.0";
  return program;
}

v1::PredictRequest MessageOf(const ModelSource& source) {
  v1::PredictRequest request;
  EXPECT_TRUE(ModelSourceToProto(source, &request).ok());
  return request;
}

Diagnostic::Kind ErrorKind(v1::PredictRequest request, const Limits& limits = {}) {
  const absl::StatusOr<ModelSource> source = TakeModelSource(&request, limits);
  EXPECT_FALSE(source.ok());
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(source.status());
  EXPECT_TRUE(diagnostic.has_value()) << source.status();
  return diagnostic.value_or(Diagnostic()).kind;
}

TEST(ModelSourceProtoTest, SourceArrivesWithoutWhatNamesFoldersOfTheSender) {
  python::SourceRequest program = Program();
  program.library_roots = {"/lib"};
  program.package = "/home/me/net";
  const python::SourceRequest sent = Sent(program);
  EXPECT_EQ(sent.bundle, program.bundle);
  EXPECT_EQ(sent.file, "net/model.py");
  EXPECT_EQ(sent.entry, "Net()");
  EXPECT_EQ(sent.method, "encode");
  EXPECT_EQ(sent.inputs, program.inputs);
  EXPECT_EQ(sent.arguments, program.arguments);
  EXPECT_EQ(sent.torch_version, "2.0.0");
  EXPECT_TRUE(sent.library_roots.empty());
  EXPECT_EQ(sent.package, "");
}

TEST(ModelSourceProtoTest, FilesArriveAsTheyAre) {
  const OnnxFile onnx = Sent(OnnxFile{std::string("a\0b", 3), {"net.onnx", {"x=1x3"}, {{"k", "[1, 2]"}}}});
  EXPECT_EQ(onnx.bytes, std::string("a\0b", 3));
  EXPECT_EQ(onnx.request.name, "net.onnx");
  EXPECT_EQ(onnx.request.inputs, std::vector<std::string>{"x=1x3"});
  EXPECT_EQ(onnx.request.arguments[0].second, "[1, 2]");
  const TfliteFile tflite = Sent(TfliteFile{"bytes", {"net.tflite", {"1x8x8x3"}}});
  EXPECT_EQ(tflite.bytes, "bytes");
  EXPECT_EQ(tflite.request.name, "net.tflite");
  EXPECT_EQ(tflite.request.inputs, std::vector<std::string>{"1x8x8x3"});
  const NcnnFile ncnn = Sent(NcnnFile{"text", {"net.param", {"data=1x3x8x8"}}});
  EXPECT_EQ(ncnn.text, "text");
  EXPECT_EQ(ncnn.request.name, "net.param");
  EXPECT_EQ(ncnn.request.inputs, std::vector<std::string>{"data=1x3x8x8"});
}

TEST(ModelSourceProtoTest, AnArchitectureArrivesAsItIs) {
  const nas::ArchitectureRequest sent = Sent(nas::ArchitectureRequest{"nasbench201:...", {"4x3x32x32"}});
  EXPECT_EQ(sent.architecture, "nasbench201:...");
  EXPECT_EQ(sent.inputs, std::vector<std::string>{"4x3x32x32"});
}

TEST(ModelSourceProtoTest, AGraphArrivesAsTheSameGraph) {
  graph::GraphBuilder builder;
  const graph::ValueRef x = builder.AddInput("x", {{1, 4}, graph::DType::float32});
  const int32_t relu = builder.Add(graph::Op::relu, {}, {x}).value();
  const graph::Graph sent = std::move(builder).Build({graph::ValueRef::Node(relu)});
  v1::PredictRequest request = MessageOf(sent);
  const absl::StatusOr<ModelSource> received = TakeModelSource(&request, Limits());
  ASSERT_TRUE(received.ok()) << received.status();
  EXPECT_EQ(graph::GraphToJson(std::get<graph::Graph>(*received)), graph::GraphToJson(sent));
}

TEST(ModelSourceProtoTest, AGraphFileIsNotSent) {
  v1::PredictRequest request;
  const absl::Status status = ModelSourceToProto(frontend::GraphJson{"{}"}, &request);
  EXPECT_EQ(DiagnosticFromStatus(status).value_or(Diagnostic()).kind, Diagnostic::Kind::kUsage);
  EXPECT_EQ(request.model_case(), v1::PredictRequest::MODEL_NOT_SET);
}

TEST(ModelSourceProtoTest, WhatIsLeftOutHasTheReadersDefault) {
  v1::PredictRequest request;
  request.mutable_source()->set_entry("Net()");
  const auto program = std::get<python::SourceRequest>(TakeModelSource(&request, Limits()).value());
  EXPECT_EQ(program.method, "forward");
  EXPECT_FALSE(program.torch_version.empty());
  request.mutable_onnx()->set_file("x");
  EXPECT_EQ(std::get<OnnxFile>(TakeModelSource(&request, Limits()).value()).request.name, "model.onnx");
  request.mutable_tflite()->set_file("x");
  EXPECT_EQ(std::get<TfliteFile>(TakeModelSource(&request, Limits()).value()).request.name, "model.tflite");
  request.mutable_ncnn()->set_param("x");
  EXPECT_EQ(std::get<NcnnFile>(TakeModelSource(&request, Limits()).value()).request.name, "model.param");
}

TEST(ModelSourceProtoTest, NoPathLeavesTheBundle) {
  for (const std::string& path :
       {std::string("../secret.py"), std::string("/etc/passwd"), std::string("a/../../secret.py"),
        std::string("./a.py"), std::string("a//b.py"), std::string("a.py\0.txt", 9), std::string()}) {
    EXPECT_EQ(ErrorKind(MessageOf(Program(path))), Diagnostic::Kind::kUsage) << path;
  }
}

TEST(ModelSourceProtoTest, TwiceTheSameFileIsRefused) {
  v1::PredictRequest twice = MessageOf(Program());
  *twice.mutable_source()->add_files() = twice.source().files(0);
  EXPECT_EQ(ErrorKind(twice), Diagnostic::Kind::kUsage);
  // Without an entry the reader takes the file's only model.
  v1::PredictRequest no_entry = MessageOf(Program());
  no_entry.mutable_source()->clear_entry();
  EXPECT_TRUE(TakeModelSource(&no_entry, Limits()).ok());
}

TEST(ModelSourceProtoTest, FilesAreLimited) {
  Limits limits;
  limits.bundle_files = 2;
  v1::PredictRequest request = MessageOf(Program());
  EXPECT_TRUE(TakeModelSource(&request, limits).ok());
  limits.bundle_files = 1;
  EXPECT_EQ(ErrorKind(MessageOf(Program()), limits), Diagnostic::Kind::kLimit);
}

TEST(ModelSourceProtoTest, TheGraphIsLimited) {
  v1::PredictRequest request;
  for (int i = 0; i < 3; ++i) request.mutable_graph()->add_nodes()->set_op("relu");
  Limits limits;
  limits.graph.max_nodes = 2;
  EXPECT_EQ(ErrorKind(request, limits), Diagnostic::Kind::kLimit);
}

}  // namespace
}  // namespace cobra::proto
