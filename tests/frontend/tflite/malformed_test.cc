// Files that are damaged, contradict themselves or are too large: a diagnostic, never a crash, within limits.
#include <random>
#include <string>

#include "base/diagnostic.h"
#include "frontend/tflite/reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/frontend/tflite/operator_files.h"

namespace cobra {
namespace {

using testing::HasSubstr;

Diagnostic ErrorOf(const std::string& bytes, const Limits& limits = {}) {
  const absl::StatusOr<Graph> graph = ReadTfliteModel(bytes, {"net.tflite"}, limits);
  EXPECT_FALSE(graph.ok());
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(graph.status());
  EXPECT_TRUE(diagnostic.has_value()) << graph.status();
  return diagnostic.value_or(Diagnostic{});
}

// A file of one ReLU, changed by `change`.
template <typename Change>
std::string Changed(Change change) {
  TfliteNet net(false);
  const int x = net.file.Input({1, 4, 4, 2});
  net.file.Output(net.Conv(x, 3, 3, 1));
  change(net.file);
  return net.file.Finish();
}

TEST(MalformedTflite, WhatIsNoFileOfTheFormatIsNamed) {
  EXPECT_THAT(ErrorOf("").message, HasSubstr("TFL3"));
  EXPECT_THAT(ErrorOf(std::string(100, 'x')).message, HasSubstr("TFL3"));
  EXPECT_EQ(ErrorOf(std::string(100, 'x')).kind, Diagnostic::Kind::kModelError);
  EXPECT_EQ(ErrorOf(std::string(100, 'x')).position.file, "net.tflite");
}

TEST(MalformedTflite, ContradictionsAreNamed) {
  using File = TfliteFileBuilder;
  EXPECT_THAT(ErrorOf(Changed([](File& f) { f.model().version = 1; })).message, HasSubstr("schema version 1"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) { f.model().subgraphs.clear(); })).message, HasSubstr("no network"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) { f.net().outputs.clear(); })).message,
              HasSubstr("no tensors, inputs or outputs"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) { f.net().inputs = {99}; })).message, HasSubstr("tensor 99"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) { f.net().operators[0]->inputs[0] = 1; })).message, HasSubstr("is not computed before"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) { f.net().outputs = {-7}; })).message, HasSubstr("computed by no operator"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) { f.net().operators[0]->opcode_index = 5; })).message,
              HasSubstr("code number 5"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) { f.net().operators[0]->inputs[1] = 1000; })).message,
              HasSubstr("tensor 1000"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) { f.net().operators[0]->inputs = {}; })).message, HasSubstr("no input"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) { f.net().operators[0]->outputs = f.net().inputs; })).message,
              HasSubstr("there already"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) { f.net().operators[0]->builtin_options.Reset(); })).message,
              HasSubstr("options are missing"));
  EXPECT_THAT(
      ErrorOf(Changed([](File& f) { f.net().operators[0]->builtin_options.AsConv2DOptions()->stride_h = -1; })).message,
      HasSubstr("stride"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) {
                f.net().tensors[0]->shape = {1, 4, 4, 5};
              })).message,
              HasSubstr("channels"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) {
                f.net().tensors[0]->shape = {1, -4, 4, 2};
              })).message,
              HasSubstr("dimension of -4"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) {
                f.net().tensors[1]->shape = {1, 4, 4, 7};
              })).message,
              HasSubstr("1x4x4x7 in the file"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) { f.model().buffers[1]->data.pop_back(); })).message,
              HasSubstr("its buffer has"));
  EXPECT_THAT(ErrorOf(Changed([](File& f) { f.net().tensors[2]->buffer = 77; })).message, HasSubstr("buffer 77"));
}

TEST(MalformedTflite, ShapesFromValuesAreRefusedAsDataDependent) {
  TfliteNet net(false);
  const int x = net.file.Input({2, 3});
  const int shape = net.file.Tensor({1}, schema::TensorType_INT32);
  net.file.net().inputs.push_back(shape);
  const int y = net.file.Activation({6});
  net.file.AddPlain(schema::BuiltinOperator_RESHAPE, {x, shape}, {y});
  net.file.Output(y);
  const Diagnostic error = ErrorOf(net.file.Finish());
  EXPECT_EQ(error.kind, Diagnostic::Kind::kDataDependent);
  EXPECT_THAT(error.message, HasSubstr("RESHAPE"));
}

TEST(MalformedTflite, LimitsHoldAtTheLimitAndOnePastIt) {
  const std::string file = MobileNetV2(64, false);
  const auto* net = schema::GetModel(file.data())->subgraphs()->Get(0);
  Limits limits;
  limits.tflite.max_operators = net->operators()->size();
  limits.tflite.max_tensors = net->tensors()->size();
  limits.tflite.max_rank = 4;
  EXPECT_TRUE(ReadTfliteModel(file, {}, limits).ok());
  for (int64_t TfliteLimits::*limit : {&TfliteLimits::max_operators, &TfliteLimits::max_tensors}) {
    Limits less = limits;
    --(less.tflite.*limit);
    EXPECT_EQ(ErrorOf(file, less).kind, Diagnostic::Kind::kLimit);
  }
  Limits less = limits;
  less.tflite.max_rank = 3;
  EXPECT_EQ(ErrorOf(file, less).kind, Diagnostic::Kind::kLimit);
  less = limits;
  less.graph.max_nodes = 20;
  EXPECT_EQ(ErrorOf(file, less).kind, Diagnostic::Kind::kLimit);
  less = limits;
  less.graph.max_tensor_bytes = 1000;
  EXPECT_EQ(ErrorOf(file, less).kind, Diagnostic::Kind::kLimit);
  less = limits;
  less.tflite.max_tables = 100;  // fewer than the file has: not verified
  EXPECT_EQ(ErrorOf(file, less).kind, Diagnostic::Kind::kModelError);
}

TEST(MalformedTflite, EveryTruncationIsAnswered) {
  const std::string file = Changed([](TfliteFileBuilder&) {});
  for (size_t n = 0; n < file.size(); ++n) {
    const absl::StatusOr<Graph> graph = ReadTfliteModel(file.substr(0, n), {});
    // The last bytes may be padding.
    if (!graph.ok()) EXPECT_TRUE(DiagnosticFromStatus(graph.status()).has_value()) << graph.status();
  }
}

TEST(MalformedTflite, FlippedBytesAreAnswered) {
  std::mt19937_64 random(11);
  std::vector<std::string> files;
  for (OperatorFile& file : OperatorFiles()) files.push_back(std::move(file.bytes));
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = files[random() % files.size()];
    for (uint64_t n = 1 + random() % 4; n > 0; --n) {
      const size_t at = random() % bytes.size();
      bytes[at] = static_cast<char>(random() % 3 == 0 ? random() : bytes[at] ^ (1 << (random() % 8)));
    }
    const absl::StatusOr<Graph> graph = ReadTfliteModel(bytes, {});
    if (graph.ok()) continue;
    ++refused;
    ASSERT_TRUE(DiagnosticFromStatus(graph.status()).has_value()) << graph.status();
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace cobra
