// Files that are damaged, contradict themselves or are too large: a diagnostic, never a crash,
// within limits.
#include <atomic>
#include <random>
#include <string>

#include "base/diagnostic.h"
#include "frontend/tflite/reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/frontend/tflite/operator_files.h"

namespace cobra::tflite {
namespace {

using testing::HasSubstr;

Diagnostic ErrorOf(const std::string& bytes, const Limits& limits = {}) {
  const absl::StatusOr<graph::Graph> graph = ReadTfliteModel(bytes, {"net.tflite"}, limits);
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
  EXPECT_THAT(ErrorOf(Changed([](File& f) { f.net().operators[0]->inputs[0] = 1; })).message,
              HasSubstr("is not computed before"));
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

TEST(MalformedTflite, InputsThatDoNotFitSayWhatToGive) {
  const std::string file = Changed([](TfliteFileBuilder&) {});
  const auto error = [&](std::vector<std::string> inputs) {
    const absl::Status status = ReadTfliteModel(file, {"net.tflite", std::move(inputs)}).status();
    const Diagnostic d = DiagnosticFromStatus(status).value_or(Diagnostic());
    EXPECT_EQ(d.kind, Diagnostic::Kind::kUsage) << status;
    return d;
  };
  EXPECT_TRUE(ReadTfliteModel(file, {"net.tflite", {"1x8x8x2:float32"}}).ok());
  EXPECT_EQ(error({"1x8x8x2:int64"}).hint, "leave the type out: it is the file's");
  EXPECT_THAT(error({"1x8x8"}).hint, HasSubstr("batch x height x width x channels"));
  EXPECT_THAT(error({"1x8x8x2", "1x4x4x2"}).message, HasSubstr("2 given, net.tflite has 1 input"));
  EXPECT_THAT(error({"1x8x8x2", "1x4x4x2"}).hint, HasSubstr("give one for each input"));
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

TEST(MalformedTflite, LimitsOfTheFormAtTheLimitAndOnePast) {
  const std::string file = Changed([](TfliteFileBuilder&) {});
  const auto threshold = [&](auto TfliteLimits::*limit, int64_t high) {
    int64_t low = 0;
    while (low + 1 < high) {
      Limits limits;
      limits.tflite.*limit = static_cast<std::decay_t<decltype(limits.tflite.*limit)>>((low + high) / 2);
      (ReadTfliteModel(file, {}, limits).ok() ? high : low) = (low + high) / 2;
    }
    return high;
  };
  // A convolution: three inputs and an output; the model, a code, a subgraph, four tensors, the
  // operator and its options, buffers.
  EXPECT_EQ(threshold(&TfliteLimits::max_uses, 1000), 4);
  const int64_t tables = threshold(&TfliteLimits::max_tables, 1000);
  EXPECT_GE(tables, 9);
  EXPECT_LE(tables, 30);
  const int64_t depth = threshold(&TfliteLimits::max_depth, 100);
  EXPECT_GE(depth, 3);
  EXPECT_LE(depth, 6);
  Limits limits;
  limits.tflite.max_uses = 3;
  EXPECT_EQ(ErrorOf(file, limits).kind, Diagnostic::Kind::kLimit);
}

// Nothing is in it, but what is computed from its sizes must not overflow; the API and JSON refuse
// it, too.
TEST(MalformedTflite, EmptyTensorsWithHugeSizesAreTooLarge) {
  const std::string file = Changed([](TfliteFileBuilder& f) { f.net().tensors[0]->shape = {1, 1 << 27, 0, 2307}; });
  EXPECT_EQ(ErrorOf(file).kind, Diagnostic::Kind::kLimit);
  EXPECT_EQ(
      DiagnosticFromStatus(
          ReadTfliteModel(Changed([](TfliteFileBuilder&) {}), {"net.tflite", {"1x0x134217728x99999999"}}).status())
          ->kind,
      Diagnostic::Kind::kLimit);
}

TEST(MalformedTflite, ConstantsAtTheLimitAndOnePast) {
  TfliteNet net(false);
  const int x = net.file.Input({2, 6});
  const int shape = net.file.Ints({2, 2, 3});
  const int y = net.file.Activation({2, 2, 3});
  net.file.AddPlain(schema::BuiltinOperator_RESHAPE, {x, shape}, {y});
  net.file.Output(y);
  const std::string file = net.file.Finish();
  Limits limits;
  limits.tflite.max_const_elements = 3;
  EXPECT_TRUE(ReadTfliteModel(file, {}, limits).ok()) << ReadTfliteModel(file, {}, limits).status();
  limits.tflite.max_const_bytes = 24;
  EXPECT_TRUE(ReadTfliteModel(file, {}, limits).ok());
  limits.tflite.max_const_bytes = 23;
  EXPECT_EQ(ErrorOf(file, limits).kind, Diagnostic::Kind::kLimit);
  limits = {};
  limits.tflite.max_const_elements = 2;
  EXPECT_THAT(ErrorOf(file, limits).message, HasSubstr("more than the limit of 2 numbers"));
}

TEST(MalformedTflite, TimeAndTheCallerStopAReading) {
  const std::string file = MobileNetV2(64, false);
  std::atomic<bool> cancelled{true};
  Limits limits;
  limits.cancelled = &cancelled;
  EXPECT_EQ(ErrorOf(file, limits).kind, Diagnostic::Kind::kLimit);
  limits = {};
  limits.wall_time_ms = 1;
  std::string large = Changed([](TfliteFileBuilder& f) {
    // The same addition again and again.
    for (int i = 0; i < 50000; ++i) {
      const int y = f.Activation({1, 4, 4, 3});
      f.Add(schema::BuiltinOperator_ADD, {f.net().outputs[0], f.net().outputs[0]}, {y}, schema::AddOptionsT());
    }
  });
  EXPECT_EQ(ErrorOf(large, limits).kind, Diagnostic::Kind::kLimit);
}

TEST(MalformedTflite, EveryTruncationIsAnswered) {
  const std::string file = Changed([](TfliteFileBuilder&) {});
  for (size_t n = 0; n < file.size(); ++n) {
    const absl::StatusOr<graph::Graph> graph = ReadTfliteModel(file.substr(0, n), {});
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
    const absl::StatusOr<graph::Graph> graph = ReadTfliteModel(bytes, {});
    if (graph.ok()) continue;
    ++refused;
    ASSERT_TRUE(DiagnosticFromStatus(graph.status()).has_value()) << graph.status();
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace cobra::tflite
