// Files that are damaged, contradict themselves or are too large: a diagnostic with file, line and
// layer, no crash.
#include <optional>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "frontend/ncnn/reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/frontend/ncnn/param_text.h"

namespace cobra::ncnn {
namespace {

using testing::HasSubstr;
using Kind = Diagnostic::Kind;

Diagnostic ErrorOf(const std::string& text, std::vector<std::string> inputs = {}, const Limits& limits = {}) {
  const absl::StatusOr<graph::Graph> graph = ReadNcnnModel(text, {"net.param", std::move(inputs)}, limits);
  EXPECT_FALSE(graph.ok()) << text;
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(graph.status());
  EXPECT_TRUE(diagnostic.has_value()) << graph.status();
  return diagnostic.value_or(Diagnostic{});
}

// The error of a layer that reads an input of 3x8x8.
Diagnostic ErrorOfLayer(const std::string& layer) {
  return ErrorOf(ParamText({"Input in0 0 1 in0 0=8 1=8 2=3", layer}));
}

TEST(MalformedNcnn, WhatIsNoFileOfTheFormatIsNamed) {
  EXPECT_THAT(ErrorOf("").message, HasSubstr("7767517"));
  EXPECT_THAT(ErrorOf("75 83\nInput a 0 1 a\n").message, HasSubstr("first line is \"75 83\""));
  const Diagnostic binary = ErrorOf(std::string("\xDD\x85\x76\x00\x03\x00\x00\x00", 8));
  EXPECT_THAT(binary.message, HasSubstr(".param.bin"));
  EXPECT_THAT(binary.hint, HasSubstr("give the .param file"));
  EXPECT_EQ(binary.kind, Kind::kUsage);
  EXPECT_EQ(binary.position.file, "net.param");
}

TEST(MalformedNcnn, TheFormOfPnnxIsNamedWithTheFileToGive) {
  const std::string text = "7767517\n2 2\npnnx.Input in 0 1 a #a=(1,3,8,8)f32\nF.relu r 1 1 a b $input=a\n";
  const auto error_of = [&](const std::string& name) {
    return DiagnosticFromStatus(ReadNcnnModel(text, {name, {}}, {}).status()).value_or(Diagnostic{});
  };
  const Diagnostic error = error_of("nets/yolo.pnnx.param");
  EXPECT_EQ(error.kind, Kind::kUsage);
  EXPECT_THAT(error.message, HasSubstr("pnnx's own form"));
  EXPECT_EQ(error.hint, "give yolo.ncnn.param, which pnnx writes beside it");
  EXPECT_EQ(error_of("other.param").hint, "give the .ncnn.param file, which pnnx writes beside it");
  // Layers of PyTorch that pnnx could not convert are in ncnn's form, too.
  EXPECT_EQ(ErrorOf("7767517\n2 2\nInput in 0 1 a 0=8 1=8 2=3\nF.unheard r 1 1 a b\n").kind, Kind::kUnsupported);
}

TEST(MalformedNcnn, ContradictionsNameFileLineAndLayer) {
  const Diagnostic weights = ErrorOfLayer("Convolution conv1 1 1 in0 out 0=8 1=3 6=215");
  EXPECT_EQ(weights.message, "Convolution conv1: it says 215 weights (6=), its shapes need 8x3x3x3 = 216");
  EXPECT_EQ(weights.position.line, 4);
  EXPECT_EQ(weights.kind, Kind::kModelError);
  EXPECT_THAT(ErrorOfLayer("Convolution c 1 1 in0 out -23330=4,3,7,6,8 0=8 1=3 6=216").message,
              HasSubstr("is 1x8x6x6, the file's hint (-23330) says 1x8x6x7"));
  EXPECT_THAT(ErrorOfLayer("BatchNorm b 1 1 in0 out 0=4").message, HasSubstr("4 channels, its input has 3"));
  EXPECT_THAT(ErrorOfLayer("Reshape r 1 1 in0 out 0=5 1=-1").message, HasSubstr("for 192 elements"));
  EXPECT_THAT(ErrorOfLayer("Concat c 1 1 in0 out 0=3").message, HasSubstr("axis 3 of a blob of 3 dimensions"));
  EXPECT_THAT(ErrorOfLayer("Permute p 1 1 in0 out 0=6").message, HasSubstr("order type 6"));
  EXPECT_THAT(ErrorOfLayer("Convolution c 1 1 in0 out 0=8 1=3 4=-233 15=1 6=216").message, HasSubstr("padding"));
  EXPECT_THAT(ErrorOfLayer("Softmax s 1 1 in0 out 0=1").message, HasSubstr("old ncnn"));
  EXPECT_THAT(ErrorOfLayer("ReLU r 1 2 in0 out more").message, HasSubstr("has no output more"));
}

TEST(MalformedNcnn, LinesThatDoNotFitAreNamed) {
  EXPECT_THAT(ErrorOf("7767517\n2 1\nInput a 0 1 a 0=1\n").message, HasSubstr("1 layers, line 2 says 2"));
  EXPECT_THAT(ErrorOf("7767517\n1 2\nInput a 0 1 a 0=1\nReLU b 1 1 a b\n").message, HasSubstr("one more"));
  EXPECT_THAT(ErrorOf("7767517\n2 1\nInput a 0 1 a 0=1\nReLU b 1 1 a b\n").message,
              HasSubstr("1 blobs, b is one more"));
  EXPECT_THAT(ErrorOf("7767517\nmany layers\n").message, HasSubstr("two numbers expected"));
  EXPECT_THAT(ErrorOfLayer("ReLU r 1 1 nowhere out").message, HasSubstr("no earlier layer computes"));
  EXPECT_THAT(ErrorOfLayer("ReLU r 1 1 in0 in0").message, HasSubstr("there already"));
  EXPECT_THAT(ErrorOfLayer("ReLU r 1 1 in0 0=0.5").message, HasSubstr("names 0"));
  EXPECT_THAT(ErrorOfLayer("ReLU r 1 1 in0 out 0=0.1 0=0.2").message, HasSubstr("there already"));
  EXPECT_THAT(ErrorOfLayer("ReLU r 1 1 in0 out 99=1").message, HasSubstr("keys are 0 to 31"));
  EXPECT_THAT(ErrorOfLayer("Slice s 1 1 in0 out -23300=3,1,2").message, HasSubstr("a list of 3 items with 2"));
  EXPECT_THAT(ErrorOf(ParamText({"Input a 0 1 a 0=4", "ReLU b 1 1 a b", "ReLU c 1 1 a c"})).hint, HasSubstr("Split"));
}

TEST(MalformedNcnn, WhatIsNotKnownIsNeverSkipped) {
  const Diagnostic custom = ErrorOfLayer("YoloV5Focus focus 1 1 in0 out");
  EXPECT_EQ(custom.kind, Kind::kUnsupported);
  EXPECT_EQ(custom.message, "YoloV5Focus focus: this layer type is not supported");
  EXPECT_EQ(custom.position.line, 4);
  EXPECT_THAT(ErrorOfLayer("ReLU r 1 1 in0 out 7=1").message, HasSubstr("parameter 7=1 is not supported"));
  EXPECT_THAT(ErrorOfLayer("Reshape r 1 1 in0 out 2=\"0w,0h\"").message, HasSubstr("is not supported"));
  // ncnn would read the bits of 2 as those of a real number.
  EXPECT_THAT(ErrorOfLayer("Interp i 1 1 in0 out 0=2 1=2 2=2").message, HasSubstr("with a decimal point"));
  EXPECT_THAT(ErrorOfLayer("Convolution c 1 1 in0 out 0=8.0 1=3 6=216").message, HasSubstr("a whole number"));
  EXPECT_THAT(ErrorOfLayer("BinaryOp b 1 1 in0 out 0=99 1=1").message, HasSubstr("operation 99"));
}

TEST(MalformedNcnn, LayersThatAreRefusedSayWhy) {
  const Diagnostic pooling = ErrorOfLayer("ROIPooling p 1 1 in0 out 0=7 1=7");
  EXPECT_EQ(pooling.kind, Kind::kUnsupported);
  EXPECT_THAT(pooling.message, HasSubstr("is refused: a maximum over windows"));
  EXPECT_THAT(ErrorOfLayer("ArgMax a 1 1 in0 out 1=193").message, HasSubstr("the 193 largest of 192 elements"));
  const auto error_of_two = [](const std::string& first, const std::string& second, const std::string& layer) {
    std::vector<std::string> lines = InputLines({first, second});
    lines.push_back(layer);
    return ErrorOf(ParamText(lines)).message;
  };
  EXPECT_THAT(error_of_two("3x8x8", "4", "ROIAlign a 2 1 in0 in1 out 0=7 1=7"), HasSubstr("version 0"));
  EXPECT_THAT(error_of_two("3x8x8", "5", "ROIAlign a 2 1 in0 in1 out 0=7 1=7 5=1"), HasSubstr("5 numbers for a box"));
  EXPECT_THAT(error_of_two("3x8x8", "3x8x2", "CopyTo c 2 1 in0 in1 out 0=7"), HasSubstr("from 7 to 9 of 8"));
  EXPECT_THAT(error_of_two("3x8x8", "8x2", "CopyTo c 2 1 in0 in1 out 0=7"), HasSubstr("other dimensions"));
  // ik,kj->ij
  const std::string product = "Einsum e 2 1 in0 in1 out -23300=9,105,107,44,107,106,45,62,105,106";
  EXPECT_THAT(error_of_two("3x4", "1x5", product), HasSubstr("sizes of 4 and 1 for k"));
  EXPECT_THAT(error_of_two("3x4", "4x5x6", product), HasSubstr("input 1 of 3 dimensions"));
  EXPECT_THAT(error_of_two("3", "4", "Einsum e 2 1 in0 in1 out -23300=7,105,44,106,45,62,106,105"),
              HasSubstr("a result \"ji\""));
  EXPECT_THAT(error_of_two("3", "4", "Einsum e 2 1 in0 in1 out -23300=3,105,44,106"), HasSubstr("without ->"));
}

TEST(MalformedNcnn, ExpressionsThatHaveNoValueAreErrors) {
  const auto message = [](const std::string& expression) {
    return ErrorOfLayer(absl::StrCat("Reshape r 1 1 in0 out 6=", expression)).message;
  };
  EXPECT_THAT(message("\"1w\""), HasSubstr("there is no input 1"));
  EXPECT_THAT(message("\"0w,5\""), HasSubstr("the shape 5x8 for 192 elements"));
  EXPECT_THAT(message("\"0w,-1"), HasSubstr("quotation mark"));
  EXPECT_THAT(message("5"), HasSubstr("must be an expression in quotation marks"));
  EXPECT_THAT(message("\"0w,//(0h,0)\""), HasSubstr("a division by zero"));
  EXPECT_THAT(message("\"0n,-1\""), HasSubstr("the batch (n) is not supported"));
  EXPECT_THAT(message("\"1,1,1,1,192\""), HasSubstr("a shape of 5 dimensions"));
  EXPECT_THAT(ErrorOfLayer("Crop c 1 1 in0 out 19=\"1\"").message, HasSubstr("belong together"));
  EXPECT_THAT(ErrorOfLayer("Crop c 1 1 in0 out 19=\"1\" 20=\"2\" -23311=1,0").message, HasSubstr("beside expressions"));
  EXPECT_THAT(ErrorOfLayer("Crop c 1 1 in0 out 19=\"1,1,1\" 20=\"2,2,2\"").message,
              HasSubstr("without one of the axes"));
  EXPECT_THAT(ErrorOfLayer("Interp i 1 1 in0 out 0=1 9=\"0w\"").message, HasSubstr("a width and a height"));
}

TEST(MalformedNcnn, AMissingSizeSaysWhatToWrite) {
  const std::string open = ParamText({"Input data 0 1 data", "ReLU r 1 1 data out"});
  const Diagnostic missing = ErrorOf(open);
  EXPECT_EQ(missing.kind, Kind::kUsage);
  EXPECT_THAT(missing.hint, HasSubstr("--input data=1x3x224x224"));
  EXPECT_TRUE(ReadNcnnModel(open, {"net.param", {"data=2x3x4x5"}}).ok());
  EXPECT_TRUE(ReadNcnnModel(open, {"net.param", {"1x7"}}).ok());
  EXPECT_THAT(ErrorOf(open, {"image=1x3x4x5"}).message, HasSubstr("no such input"));
  EXPECT_THAT(ErrorOf(open, {"1x7", "1x7"}).message, HasSubstr("more inputs"));
  EXPECT_THAT(ErrorOf(open, {"data=7"}).message, HasSubstr("a batch"));
  const std::string sized = ParamText({"Input data 0 1 data 0=8 1=8 2=3", "ReLU r 1 1 data out"});
  EXPECT_THAT(ErrorOf(sized, {"data=1x8x8"}).message, HasSubstr("the file has 1x3x8x8"));
}

TEST(MalformedNcnn, AForgottenBatchIsSeenWhereTheInputIsRead) {
  const std::string open = ParamText(
      {"Input data 0 1 data", "Split s 1 2 data a b", "Convolution c 1 1 a out 0=4 1=3 6=108", "ReLU r 1 1 b out2"});
  EXPECT_TRUE(ReadNcnnModel(open, {"net.param", {"1x3x100x100"}}).ok());
  for (const char* input : {"3x100x100", "data=3x100x100"}) {
    const Diagnostic d = ErrorOf(open, {input});
    EXPECT_EQ(d.kind, Kind::kUsage);
    EXPECT_EQ(d.message, "--input data=3x100x100: Convolution c takes a batch and 3 dimensions, this is a batch and 2");
    EXPECT_THAT(d.hint, HasSubstr("sizes are batch x channels x height x width"));
    EXPECT_THAT(d.hint, HasSubstr(": --input data=1x3x100x100"));
  }
  EXPECT_EQ(ErrorOf(open, {"data=1x1x3x100x100"}).kind, Kind::kUsage);
}

TEST(MalformedNcnn, AFileThatIsCutOffSaysSo) {
  EXPECT_THAT(ErrorOf("7767517\n").hint, HasSubstr("cut off"));
  EXPECT_THAT(ErrorOf("7767517\n2 2\nInput data\n").hint, HasSubstr("cut off"));
}

TEST(MalformedNcnn, WhatDependsOnValuesEndsTheNetwork) {
  const std::vector<std::string> lines = {"Input in0 0 1 in0 0=4 1=4 2=18",
                                          "Yolov3DetectionOutput y 1 1 in0 boxes 0=1 1=3"};
  EXPECT_TRUE(ReadNcnnModel(ParamText(lines), {}).ok());
  std::vector<std::string> longer = lines;
  longer.push_back("ReLU r 1 1 boxes out");
  EXPECT_EQ(ErrorOf(ParamText(longer)).kind, Kind::kDataDependent);
}

TEST(MalformedNcnn, LimitsHoldAtTheLimit) {
  const std::string text = ParamText({"Input a 0 1 a 0=4", "Split s 1 2 a b c", "Concat d 2 1 b c d"});
  const auto kind_with = [&](auto set) {
    Limits limits;
    set(limits);
    const absl::StatusOr<graph::Graph> graph = ReadNcnnModel(text, {}, limits);
    if (graph.ok()) return std::string("read");
    return std::string(DiagnosticKindName(DiagnosticFromStatus(graph.status())->kind));
  };
  EXPECT_EQ(kind_with([](Limits& l) { l.ncnn.max_layers = 3; }), "read");
  EXPECT_EQ(kind_with([](Limits& l) { l.ncnn.max_layers = 2; }), "limit");
  EXPECT_EQ(kind_with([](Limits& l) { l.ncnn.max_blobs = 4; }), "read");
  EXPECT_EQ(kind_with([](Limits& l) { l.ncnn.max_blobs = 3; }), "limit");
  EXPECT_EQ(kind_with([](Limits& l) { l.ncnn.max_line_bytes = 18; }), "read");
  EXPECT_EQ(kind_with([](Limits& l) { l.ncnn.max_line_bytes = 17; }), "limit");
  EXPECT_EQ(kind_with([](Limits& l) { l.ncnn.max_name_bytes = 6; }), "read");
  EXPECT_EQ(kind_with([](Limits& l) { l.ncnn.max_name_bytes = 5; }), "limit");
  Limits limits;
  limits.ncnn.max_values = 2;
  const std::string list = ParamText({"Input a 0 1 a 0=4", "Slice s 1 2 a b c -23300=2,2,2"});
  EXPECT_TRUE(ReadNcnnModel(list, {}, limits).ok());
  limits.ncnn.max_values = 1;
  EXPECT_EQ(ErrorOf(list, {}, limits).kind, Kind::kLimit);
  EXPECT_EQ(ErrorOf(ParamText({"Input a 0 1 a 0=2147483647 1=2147483647 2=2147483647", "ReLU r 1 1 a b"})).kind,
            Kind::kLimit);
  EXPECT_EQ(ErrorOf(ParamText({"Input a 0 1 a 0=4", "Convolution c 1 1 a b 0=1048576 1=1048576 6=1"})).kind,
            Kind::kUnsupported);
}

TEST(MalformedNcnn, DamagedFilesAreAnsweredWithAnError) {
  const std::string whole =
      ReadFile(absl::StrCat(COBRA_SOURCE_DIR, "/data/lists/ncnn/squeezenet_ssd.param"), 1 << 20).value();
  for (size_t size = 0; size < whole.size(); size += 7) {
    const absl::StatusOr<graph::Graph> graph = ReadNcnnModel(whole.substr(0, size), {});
    if (!graph.ok()) EXPECT_TRUE(DiagnosticFromStatus(graph.status()).has_value()) << graph.status();
  }
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = whole;
    for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = "0123456789-=, .\nax"[random() % 18];
    const absl::StatusOr<graph::Graph> graph = ReadNcnnModel(damaged, {});
    if (!graph.ok()) EXPECT_TRUE(DiagnosticFromStatus(graph.status()).has_value()) << graph.status();
  }
}

}  // namespace
}  // namespace cobra::ncnn
