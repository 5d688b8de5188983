#include "graph/shape/shape_rules.h"

#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "graph/builder/builder.h"

namespace cobra::graph {
namespace {

using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;

absl::StatusOr<TensorTypes> Infer(absl::string_view op, absl::string_view inputs, const Attributes& attributes) {
  std::vector<TensorType> types;
  std::vector<const TensorType*> pointers;
  const std::vector<absl::string_view> texts = absl::StrSplit(inputs, ' ', absl::SkipEmpty());
  types.reserve(texts.size());
  for (absl::string_view text : texts) {
    types.push_back(text == "-" ? TensorType() : ParseTensorType(text).value());
    pointers.push_back(text == "-" ? nullptr : &types.back());
  }
  return InferTypes(OpFromName(op).value(), attributes, pointers);
}

std::string Outputs(const TensorTypes& types) {
  return absl::StrJoin(types, " ", [](std::string* out, const TensorType& type) {
    out->append(type.dtype == DType::float32 ? ShapeText(type.shape) : TypeText(type));
  });
}

struct Case {
  const char* op;
  const char* inputs;  // "-" is an absent tensor
  Attributes attributes;
  const char* outputs;
};

// Long because it is a list of calls.
TEST(ShapeRulesTest, GivePyTorchsShapes) {
  const Case cases[] = {
      {.op = "conv2d",
       .inputs = "1x3x224x224 64x3x7x7",
       .attributes = {{"stride", Ints{2, 2}}, {"padding", Ints{3, 3}}},
       .outputs = "1x64x112x112"},
      {.op = "conv2d",
       .inputs = "1x8x9x9 8x1x3x3 8",
       .attributes = {{"padding", std::string("same")}, {"groups", int64_t{8}}},
       .outputs = "1x8x9x9"},
      {.op = "conv2d", .inputs = "3x5x5 4x3x3x3", .attributes = {{"dilation", Ints{2}}}, .outputs = "4x1x1"},
      {.op = "conv_transpose2d",
       .inputs = "2x16x7x7 16x8x4x4",
       .attributes = {{"stride", Ints{2, 2}}, {"padding", Ints{1, 1}}},
       .outputs = "2x8x14x14"},
      {.op = "glu", .inputs = "2x6x4", .attributes = {{"dim", int64_t{1}}}, .outputs = "2x3x4"},
      {.op = "max_pool2d",
       .inputs = "1x64x112x112",
       .attributes = {{"kernel_size", Ints{3, 3}}, {"stride", Ints{2, 2}}, {"padding", Ints{1, 1}}},
       .outputs = "1x64x56x56"},
      {.op = "_pack_padded_sequence",
       .inputs = "3x7x8 3:int64",
       .attributes = {{"batch_sizes", Ints{3, 2, 2, 1}}, {"batch_first", true}},
       .outputs = "8x8 4:int64"},
      {.op = "lstm",
       .inputs = "8x8 1x3x5 1x3x5 20x8 20x5 20 20 4:int64",
       .attributes = {{"has_biases", true}, {"num_layers", int64_t{1}}, {"batch_sizes", Ints{3, 2, 2, 1}}},
       .outputs = "8x5 1x3x5 1x3x5"},
      {.op = "_pad_packed_sequence",
       .inputs = "8x5 4:int64",
       .attributes = {{"batch_sizes", Ints{3, 2, 2, 1}}, {"padding_value", 0.0}, {"total_length", int64_t{6}}},
       .outputs = "6x3x5 3:int64"},
      {.op = "new", .inputs = "2x3:float16", .attributes = {{"size", Ints{4}}}, .outputs = "4:float16"},
      {.op = "max_pool2d",
       .inputs = "1x64x54x54",
       .attributes = {{"kernel_size", Ints{3, 3}}, {"stride", Ints{2, 2}}, {"ceil_mode", true}},
       .outputs = "1x64x27x27"},
      {.op = "max_pool2d",
       .inputs = "1x1x4x4",
       .attributes = {{"kernel_size", Ints{2, 2}}, {"return_indices", true}},
       .outputs = "1x1x2x2 1x1x2x2:int64"},
      {.op = "adaptive_avg_pool2d",
       .inputs = "1x8x13x13",
       .attributes = {{"output_size", Ints{6, 6}}},
       .outputs = "1x8x6x6"},
      {.op = "interpolate", .inputs = "1x8x7x5", .attributes = {{"scale_factor", 1.5}}, .outputs = "1x8x10x7"},
      {.op = "linear", .inputs = "2x197x768 1000x768 1000", .attributes = {}, .outputs = "2x197x1000"},
      {.op = "matmul", .inputs = "2x1x4x8 3x8x5", .attributes = {}, .outputs = "2x3x4x5"},
      {.op = "matmul", .inputs = "8 3x8x5", .attributes = {}, .outputs = "3x5"},
      {.op = "_grouped_mm", .inputs = "6x8 3x8x4 3:int32 -", .attributes = {}, .outputs = "6x4"},
      {.op = "_grouped_mm", .inputs = "3x6x8 8x8 3:int32 -", .attributes = {}, .outputs = "6x8"},
      {.op = "_grouped_mm", .inputs = "4x8 8x12 3:int32 -", .attributes = {}, .outputs = "3x4x12"},
      {.op = "_grouped_mm", .inputs = "3x6x8 3x8x4 - -", .attributes = {}, .outputs = "3x6x4"},
      {.op = "einsum",
       .inputs = "2x8x64 4x64x32",
       .attributes = {{"equation", std::string("bnd, hdk -> bhnk")}},
       .outputs = "2x4x8x32"},
      {.op = "einsum",
       .inputs = "2x3x8x64 2x3x9x64",
       .attributes = {{"equation", std::string("...id,...jd->...ij")}},
       .outputs = "2x3x8x9"},
      {.op = "add", .inputs = "2x1x4 3x1", .attributes = {}, .outputs = "2x3x4"},
      {.op = "add", .inputs = "4:int64 -", .attributes = {{"other", 0.5}}, .outputs = "4"},
      {.op = "mul", .inputs = "4:float16 scalar:float32", .attributes = {}, .outputs = "4:float16"},
      {.op = "div", .inputs = "4:int64 4:int64", .attributes = {}, .outputs = "4"},
      {.op = "lt", .inputs = "4x1 4", .attributes = {}, .outputs = "4x4:bool"},
      {.op = "sum",
       .inputs = "2x3x4:bool",
       .attributes = {{"dim", Ints{-1}}, {"keepdim", true}},
       .outputs = "2x3x1:int64"},
      {.op = "max", .inputs = "2x3", .attributes = {{"dim", int64_t{1}}}, .outputs = "2 2:int64"},
      {.op = "view", .inputs = "2x12", .attributes = {{"size", Ints{2, -1, 3}}}, .outputs = "2x4x3"},
      {.op = "flatten",
       .inputs = "2x3x4x5",
       .attributes = {{"start_dim", int64_t{1}}, {"end_dim", int64_t{2}}},
       .outputs = "2x12x5"},
      {.op = "chunk",
       .inputs = "7x2",
       .attributes = {{"chunks", int64_t{3}}, {"dim", int64_t{0}}},
       .outputs = "3x2 3x2 1x2"},
      {.op = "tensor_split", .inputs = "7", .attributes = {{"sections", int64_t{3}}}, .outputs = "3 2 2"},
      {.op = "getitem",
       .inputs = "2x3x4x5",
       .attributes = {{"index", std::string("..., None, 1:4:2")}},
       .outputs = "2x3x4x1x2"},
      {.op = "getitem",
       .inputs = "2x3x4 6:int64",
       .attributes = {{"index", std::string(":, :, T0")}},
       .outputs = "2x3x6"},
      {.op = "getitem",
       .inputs = "2x3x4 6:int64 6:int64",
       .attributes = {{"index", std::string("T0, :, T1")}},
       .outputs = "6x3"},
      {.op = "getitem", .inputs = "2x3x4", .attributes = {{"index", std::string("-1, [0, 2]")}}, .outputs = "2x4"},
      // A number, or an ellipsis for nothing, between two lists does not part them.
      {.op = "getitem",
       .inputs = "5x2x3x4",
       .attributes = {{"index", std::string(":, [0, 1], 1, [[0], [1], [2]]")}},
       .outputs = "5x3x2"},
      {.op = "getitem",
       .inputs = "5x2x4",
       .attributes = {{"index", std::string(":, [0, 1], ..., [0, 1]")}},
       .outputs = "5x2"},
      {.op = "getitem",
       .inputs = "5x2x3x4",
       .attributes = {{"index", std::string(":, [0, 1], 1:2, [[0], [1], [2]]")}},
       .outputs = "3x2x5x1"},
      {.op = "expand", .inputs = "1x1x768", .attributes = {{"size", Ints{8, -1, -1}}}, .outputs = "8x1x768"},
      {.op = "cat", .inputs = "1x2x3 1x5x3", .attributes = {{"dim", int64_t{1}}}, .outputs = "1x7x3"},
      {.op = "pad", .inputs = "1x3x4x4", .attributes = {{"pad", Ints{1, 2, 0, -1}}}, .outputs = "1x3x3x7"},
      {.op = "embedding", .inputs = "2x5:int64 100x16", .attributes = {}, .outputs = "2x5x16"},
      {.op = "multi_head_attention_forward",
       .inputs = "197x1x768 197x1x768 197x1x768 2304x768 2304 - - 768x768 768",
       .attributes = {{"embed_dim_to_check", int64_t{768}}, {"num_heads", int64_t{12}}, {"need_weights", true}},
       .outputs = "197x1x768 1x197x197"},
      {.op = "multi_head_attention_forward",  // CLIP's attention pool
       .inputs = "1x3x8 50x3x8 50x3x8 - 24 - - 16x8 16 - - 8x8 8x8 8x8",
       .attributes = {{"embed_dim_to_check", int64_t{8}},
                      {"num_heads", int64_t{2}},
                      {"need_weights", false},
                      {"use_separate_proj_weight", true}},
       .outputs = "1x3x16"},
      {.op = "fft_rfft2", .inputs = "1x8x14x14", .attributes = {}, .outputs = "1x8x14x8:complex64"},
  };
  for (const Case& c : cases) {
    const auto types = Infer(c.op, c.inputs, c.attributes);
    ASSERT_TRUE(types.ok()) << c.op << ": " << types.status();
    EXPECT_EQ(Outputs(*types), c.outputs) << c.op << " of " << c.inputs;
  }
}

struct BadCase {
  const char* op;
  const char* inputs;
  Attributes attributes;
  const char* message;
};

// Long because it is a table of cases.
TEST(ShapeRulesTest, NormsTakeParametersOfTheirInputsType) {
  const Attributes layer = {{"normalized_shape", Ints{8}}}, none;
  const auto types = [](absl::string_view input, absl::string_view parameter, int parameters) {
    std::string text = absl::StrCat("2x8:", std::string(input));
    for (int i = 0; i < parameters; ++i) absl::StrAppend(&text, " 8:", std::string(parameter));
    return text;
  };
  for (const auto& [input, parameter, is_taken] :
       std::vector<std::tuple<const char*, const char*, bool>>{{"float32", "float32", true},
                                                               {"bfloat16", "bfloat16", true},
                                                               {"bfloat16", "float32", true},
                                                               {"float16", "float32", true},
                                                               {"float32", "bfloat16", false},
                                                               {"float32", "float64", false},
                                                               {"float64", "float32", false},
                                                               {"float16", "bfloat16", false}}) {
    EXPECT_EQ(Infer("layer_norm", types(input, parameter, 2), layer).ok(), is_taken) << input << " " << parameter;
    EXPECT_EQ(Infer("batch_norm", types(input, parameter, 4), none).ok(), is_taken) << input << " " << parameter;
    EXPECT_EQ(Infer("group_norm", types(input, parameter, 2), {{"num_groups", int64_t{2}}}).ok(), is_taken)
        << input << " " << parameter;
    EXPECT_TRUE(Infer("rms_norm", types(input, parameter, 1), layer).ok()) << input << " " << parameter;
  }
}

void ExpectRefused(absl::Span<const BadCase> cases) {
  for (const BadCase& c : cases) {
    const auto types = Infer(c.op, c.inputs, c.attributes);
    ASSERT_FALSE(types.ok()) << c.op;
    EXPECT_THAT(std::string(types.status().message()), HasSubstr(c.message)) << c.op;
  }
}

TEST(ShapeRulesTest, RefuseInPyTorchsWords) {
  const BadCase cases[] = {
      {.op = "conv2d",
       .inputs = "1x3x8x8 4x5x3x3",
       .attributes = {},
       .message = "expected input[1, 3, 8, 8] to have 5 channels, but got 3 channels instead"},
      {.op = "conv2d",
       .inputs = "1x3x2x2 4x3x3x3",
       .attributes = {},
       .message = "Kernel size can't be greater than actual input size"},
      {.op = "glu",
       .inputs = "2x5",
       .attributes = {{"dim", int64_t{1}}},
       .message = "Halving dimension must be even, but dimension 1 is size 5"},
      {.op = "linear",
       .inputs = "2x3x5 7x4",
       .attributes = {},
       .message = "mat1 and mat2 shapes cannot be multiplied (6x5 and 4x7)"},
      {.op = "_grouped_mm",
       .inputs = "6x8 3x8x4 - -",
       .attributes = {},
       .message = "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d"},
      {.op = "_grouped_mm",
       .inputs = "6x8 3x8x4 2:int32 -",
       .attributes = {},
       .message = "matrix batch sizes have to match"},
      {.op = "_grouped_mm",
       .inputs = "6x8 3x4x8 3:int32 -",
       .attributes = {},
       .message = "contraction dimension of mat_a and mat_b must match"},
      {.op = "add",
       .inputs = "2x3 4",
       .attributes = {},
       .message = "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"},
  };
  ExpectRefused(cases);
}

TEST(ShapeRulesTest, RefuseArgumentsInPyTorchsWords) {
  const BadCase cases[] = {
      {.op = "view",
       .inputs = "2x3",
       .attributes = {{"size", Ints{4, -1}}},
       .message = "shape '[4, -1]' is invalid for input of size 6"},
      {.op = "cat",
       .inputs = "1x2 2x3",
       .attributes = {{"dim", int64_t{1}}},
       .message = "Sizes of tensors must match except in dimension 1"},
      {.op = "softmax",
       .inputs = "2x3",
       .attributes = {{"dim", int64_t{2}}},
       .message = "Dimension out of range (expected to be in range of [-2, 1], but got 2)"},
      {.op = "getitem",
       .inputs = "2x3",
       .attributes = {{"index", std::string("5")}},
       .message = "index 5 is out of bounds for dimension 0 with size 2"},
      {.op = "embedding", .inputs = "2 10x4", .attributes = {}, .message = "scalar types: Long, Int"},
      {.op = "batch_norm",
       .inputs = "1x3x4x4 4 4",
       .attributes = {},
       .message = "running_mean should contain 3 elements not 4"},
      {.op = "max_pool2d",
       .inputs = "1x3x2x2",
       .attributes = {{"kernel_size", Ints{5, 5}}},
       .message = "Output size is too small"},
      {.op = "deform_conv2d",
       .inputs = "1x3x8x8 4x0x3x3 1x18x6x6",
       .attributes = {},
       .message = "input has 3 channels"},
      {.op = "gradient",
       .inputs = "scalar",
       .attributes = {{"dim", int64_t{0}}},
       .message = "expected each dimension size to be at least edge_order+1"},
      {.op = "add", .inputs = "2x3", .attributes = {}, .message = "missing 1 required positional arguments: \"other\""},
  };
  ExpectRefused(cases);
}

TEST(GraphBuilderTest, RefusesUnknownAttributesAndPutsTheOthersInOrder) {
  GraphBuilder builder;
  const ValueRef x = builder.AddInput("x", {{1, 2, 3}, DType::float32});
  EXPECT_FALSE(builder.Add(Op::relu, {{"slope", 0.1}}, {x}).ok());
  const int32_t node = builder.Add(Op::transpose, {{"dim1", int64_t{0}}, {"dim0", int64_t{2}}}, {x}).value();
  EXPECT_EQ(builder.nodes()[node].attributes.begin()->first, "dim0");
}

TEST(GraphBuilderTest, AnInPlaceCallKeepsShapeAndDtype) {
  GraphBuilder builder;
  const ValueRef x = builder.AddInput("x", {{1, 3}, DType::float16});
  const ValueRef y = builder.AddInput("y", {{1, 3}, DType::float32});
  const ValueRef wide = builder.AddInput("wide", {{2, 3}, DType::float16});
  const int32_t node = builder.Add(Op::add, {}, {x, y}, {}, /*inplace=*/true).value();
  EXPECT_EQ(builder.TypeOf(ValueRef::Node(node)).dtype, DType::float16);
  EXPECT_THAT(std::string(builder.Add(Op::add, {}, {x, wide}, {}, true).status().message()),
              HasSubstr("doesn't match the broadcast shape"));
  const ValueRef c = builder.AddInput("c", {{}, DType::complex64});
  EXPECT_THAT(std::string(builder.Add(Op::view_as_real, {}, {c}, {}, true).status().message()),
              HasSubstr("view_as_real_ has dtype float32, which complex64 cannot hold"));
}

TEST(GraphBuilderTest, LimitsBoundNodesAndBytes) {
  GraphBuilder builder({.max_nodes = 1, .max_tensor_bytes = 1024});
  const ValueRef x = builder.AddInput("x", {{16}, DType::float32});
  EXPECT_TRUE(absl::IsResourceExhausted(builder.Add(Op::repeat, {{"repeats", Ints{1000}}}, {x}).status()));
  EXPECT_TRUE(builder.Add(Op::relu, {}, {x}).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(builder.Add(Op::relu, {}, {x}).status()));
}

TEST(OpsTest, NamesAreUniqueAndFound) {
  for (const OpInfo& info : AllOps()) {
    ASSERT_EQ(OpFromName(info.name), info.op) << info.name;
    EXPECT_LE(info.min_inputs, info.max_inputs) << info.name;
  }
  EXPECT_EQ(OpName(Op::float_), "float");
  EXPECT_FALSE(OpFromName("no_such_op").has_value());
}

}  // namespace
}  // namespace cobra::graph
