// One layer at a time: the calls that it becomes, with their attributes, and the shape of its
// result. The same shapes are compared with ncnn's own by tests/frontend/ncnn/judge.py.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontend/ncnn/reader.h"
#include "graph/attributes.h"
#include "gtest/gtest.h"
#include "tests/frontend/ncnn/param_text.h"

namespace cobra::ncnn {
namespace {

struct Case {
  const char* layer;                 // type and parameters: "ReLU 0=0.1"
  std::vector<std::string> inputs;   // "3x8x8"
  const char* calls;                 // names, and attributes that matter
  std::vector<std::string> outputs;  // with the batch
};

// "conv2d(stride=(2,2), padding=(1,1)) relu", with a '!' behind calls in place.
std::string CallsText(const graph::Graph& graph) {
  std::vector<std::string> calls;
  for (const graph::Node& node : graph.nodes()) {
    std::vector<std::string> attributes;
    for (const auto& [name, value] : node.attributes)
      attributes.push_back(absl::StrCat(name, "=", graph::AttributeText(value)));
    calls.push_back(absl::StrCat(graph::OpName(node.op), node.inplace ? "!" : "",
                                 attributes.empty() ? "" : absl::StrCat("(", absl::StrJoin(attributes, " "), ")")));
  }
  return absl::StrJoin(calls, " ");
}

std::string FileOf(const Case& test) {
  std::vector<std::string> lines = InputLines(test.inputs);
  const std::vector<std::string> words = absl::StrSplit(test.layer, absl::MaxSplits(' ', 1));
  std::string line = absl::StrCat(words[0], " layer ", test.inputs.size(), " ", test.outputs.size());
  for (size_t i = 0; i < test.inputs.size(); ++i) absl::StrAppend(&line, " in", i);
  for (size_t i = 0; i < test.outputs.size(); ++i) absl::StrAppend(&line, " out", i);
  lines.push_back(absl::StrCat(line, " ", words.size() > 1 ? words[1] : ""));
  return ParamText(lines);
}

void Expect(const std::vector<Case>& cases) {
  for (const Case& test : cases) {
    SCOPED_TRACE(absl::StrCat(test.layer, " of ", absl::StrJoin(test.inputs, " ")));
    const absl::StatusOr<NcnnModel> model = ReadNcnnModelWithWeights(FileOf(test), {});
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(CallsText(model->graph), test.calls);
    for (size_t i = 0; i < test.outputs.size(); ++i) {
      const auto& [name, ref] = model->blobs[test.inputs.size() + i];
      EXPECT_EQ(graph::ShapeText(model->graph.TypeOf(ref).shape), test.outputs[i]) << name;
    }
  }
}

TEST(NcnnLayers, Convolutions) {
  Expect({
      {.layer = "Convolution 0=8 1=3 3=2 4=1 5=1 6=216 9=1",
       .inputs = {"3x9x8"},
       .calls = "conv2d(stride=(2,2) padding=(1,1) dilation=(1,1) groups=1) relu!",
       .outputs = {"1x8x5x4"}},
      {.layer = "Convolution 0=2 1=3 11=1 4=1 14=0 6=18 9=2 -23310=1,0.1",
       .inputs = {"3x8x8"},
       .calls = "conv2d(stride=(1,1) padding=(0,1) dilation=(1,1) groups=1) leaky_relu!(negative_slope=0.1)",
       .outputs = {"1x2x8x8"}},
      // -233: the odd pixel at the end; -234: at the beginning
      {.layer = "Convolution 0=2 1=3 3=2 4=-233 6=54",
       .inputs = {"3x8x8"},
       .calls = "pad(pad=(0,1,0,1) mode='constant' value=0.0) conv2d(stride=(2,2) padding=(0,0) dilation=(1,1) "
                "groups=1)",
       .outputs = {"1x2x4x4"}},
      {.layer = "Convolution 0=2 1=3 3=2 4=-234 6=54",
       .inputs = {"3x8x8"},
       .calls = "pad(pad=(1,0,1,0) mode='constant' value=0.0) conv2d(stride=(2,2) padding=(0,0) dilation=(1,1) "
                "groups=1)",
       .outputs = {"1x2x4x4"}},
      {.layer = "Convolution 0=2 1=1 6=6 4=1 18=0.5",
       .inputs = {"3x4x4"},
       .calls = "pad(pad=(1,1,1,1) mode='constant' value=0.5) conv2d(stride=(1,1) padding=(0,0) dilation=(1,1) "
                "groups=1)",
       .outputs = {"1x2x6x6"}},
      {.layer = "Convolution 0=5 1=1 5=1 6=20 9=4", .inputs = {"4"}, .calls = "linear sigmoid!", .outputs = {"1x5"}},
      {.layer = "ConvolutionDepthWise 0=4 1=3 4=1 6=36 7=4 9=3 -23310=2,0.0,6.0",
       .inputs = {"4x6x6"},
       .calls = "conv2d(stride=(1,1) padding=(1,1) dilation=(1,1) groups=4) relu6!",
       .outputs = {"1x4x6x6"}},
      {.layer = "Convolution1D 0=6 1=3 2=2 6=72 9=5",
       .inputs = {"4x9"},
       .calls = "conv1d(stride=(1,) padding=(0,) dilation=(2,) groups=1) mish!",
       .outputs = {"1x6x5"}},
      {.layer = "Deconvolution 0=2 1=4 3=2 4=1 6=96",
       .inputs = {"3x5x6"},
       .calls = "conv_transpose2d(stride=(2,2) padding=(1,1) output_padding=(0,0) groups=1 dilation=(1,1))",
       .outputs = {"1x2x10x12"}},
      {.layer = "Deconvolution 0=2 1=3 3=2 4=-233 20=10 21=8 6=54",
       .inputs = {"3x4x5"},
       .calls = "conv_transpose2d(stride=(2,2) padding=(0,0) output_padding=(0,0) groups=1 dilation=(1,1)) "
                "getitem(index=':, :, 0:8, 0:10')",
       .outputs = {"1x2x8x10"}},
  });
}

TEST(NcnnLayers, Products) {
  Expect({
      {.layer = "InnerProduct 0=5 1=1 2=60",
       .inputs = {"3x2x2"},
       .calls = "flatten(start_dim=1 end_dim=-1) linear",
       .outputs = {"1x5"}},
      // Rows of the right width are multiplied one by one.
      {.layer = "InnerProduct 0=5 2=20", .inputs = {"3x4"}, .calls = "linear", .outputs = {"1x3x5"}},
      {.layer = "Gemm 3=1 5=1 6=1 8=6 9=4 10=4", .inputs = {"3x4"}, .calls = "linear", .outputs = {"1x3x6"}},
      {.layer = "Gemm 0=0.5 2=1",
       .inputs = {"4x3", "4x6"},
       .calls = "transpose(dim0=-2 dim1=-1) matmul mul(other=0.5)",
       .outputs = {"1x3x6"}},
      {.layer = "MatMul 0=1",
       .inputs = {"2x3x4", "2x6x4"},
       .calls = "transpose(dim0=-2 dim1=-1) matmul",
       .outputs = {"1x2x3x6"}},
      {.layer = "MultiHeadAttention 0=8 1=2 2=64",
       .inputs = {"5x8"},
       .calls = "linear linear linear reshape(shape=(1,5,2,4)) permute(dims=(0,2,1,3)) reshape(shape=(1,5,2,4)) "
                "permute(dims=(0,2,1,3)) reshape(shape=(1,5,2,4)) permute(dims=(0,2,1,3)) "
                "scaled_dot_product_attention(dropout_p=0.0 is_causal=False) permute(dims=(0,2,1,3)) "
                "reshape(shape=(1,5,8)) linear",
       .outputs = {"1x5x8"}},
      {.layer = "Embed 0=8 1=100 3=800", .inputs = {"7"}, .calls = "embedding", .outputs = {"1x7x8"}},
      {.layer = "LSTM 0=6 1=240 2=2",
       .inputs = {"4x5"},
       .calls = "lstm(has_biases=True num_layers=1 dropout=0.0 bidirectional=True batch_first=True)",
       .outputs = {"1x4x12"}},
  });
}

// pnnx moves the permutation that comes before a grid into the layer.
TEST(NcnnLayers, AGridMayHaveItsCoordinatesInFront) {
  Expect({
      {.layer = "GridSample 0=1 1=1 3=1",
       .inputs = {"3x12x14", "2x5x6"},
       .calls = "permute(dims=(0,2,3,1)) grid_sample(mode='bilinear' padding_mode='zeros' align_corners=False)",
       .outputs = {"1x3x5x6"}},
      {.layer = "GridSample 0=2 1=2 2=1 3=1",
       .inputs = {"3x4x5x6", "3x2x5x6"},
       .calls = "permute(dims=(0,2,3,4,1)) grid_sample(mode='nearest' padding_mode='border' align_corners=True)",
       .outputs = {"1x3x2x5x6"}},
      {.layer = "GridSample 0=1 1=1",
       .inputs = {"3x12x14", "5x6x2"},
       .calls = "grid_sample(mode='bilinear' padding_mode='zeros' align_corners=False)",
       .outputs = {"1x3x5x6"}},
  });
}

// ncnn has no batch: beside an input of batch 1, one that begins with another number is meant
// without.
TEST(NcnnLayers, AMaskIsGivenAsItIs) {
  const std::string file =
      ParamText({"Input a 0 1 in0", "Input b 0 1 in1", "MultiHeadAttention m 2 1 in0 in1 out 0=8 1=2 2=64 5=1"});
  for (const std::vector<std::string>& inputs :
       {std::vector<std::string>{"in0=1x5x8", "in1=5x5"}, std::vector<std::string>{"in1=5x5", "in0=1x5x8"},
        std::vector<std::string>{"in0=1x5x8", "in1=1x5x5"}}) {
    NcnnRequest request;
    request.inputs = inputs;
    const absl::StatusOr<graph::Graph> graph = ReadNcnnModel(file, request);
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(graph::ShapeText(graph->TypeOf(graph::ValueRef::Input(1)).shape), "1x5x5");
  }
}

TEST(NcnnLayers, Pooling) {
  const char* const kPadded =
      "pad(pad=(0,2,0,2) mode='constant' value=-inf) max_pool2d(kernel_size=(1,1) stride=(3,3) padding=(0,0) "
      "dilation=(1,1) ceil_mode=False)";
  Expect({
      {.layer = "Pooling 0=0 1=3 2=2",
       .inputs = {"4x8x8"},  // full: no pixel is left out
       .calls = "max_pool2d(kernel_size=(3,3) stride=(2,2) padding=(0,0) dilation=(1,1) ceil_mode=True)",
       .outputs = {"1x4x4x4"}},
      {.layer = "Pooling 0=0 1=3 2=2 5=1",
       .inputs = {"4x8x8"},  // valid
       .calls = "max_pool2d(kernel_size=(3,3) stride=(2,2) padding=(0,0) dilation=(1,1) ceil_mode=False)",
       .outputs = {"1x4x3x3"}},
      // A last window behind the input, which PyTorch leaves out
      {.layer = "Pooling 0=0 1=1 2=3", .inputs = {"4x5x5"}, .calls = kPadded, .outputs = {"1x4x3x3"}},
      {.layer = "Pooling 0=1 1=2 2=2 6=1 3=1",
       .inputs = {"4x8x8"},
       .calls = "avg_pool2d(kernel_size=(2,2) stride=(2,2) padding=(1,1) ceil_mode=False count_include_pad=True)",
       .outputs = {"1x4x5x5"}},
      {.layer = "Pooling 0=1 4=1",
       .inputs = {"4x8x8"},
       .calls = "adaptive_avg_pool2d(output_size=(1,1)) flatten(start_dim=1 end_dim=-1)",
       .outputs = {"1x4"}},
      {.layer = "Pooling 0=0 7=1 8=3 18=-233",
       .inputs = {"4x8x9"},
       .calls = "adaptive_max_pool2d(output_size=(8,3))",
       .outputs = {"1x4x8x3"}},
      {.layer = "Interp 0=2 1=2.0 2=1.5",
       .inputs = {"3x5x5"},
       .calls = "interpolate(size=(10,7) mode='bilinear' align_corners=False)",
       .outputs = {"1x3x10x7"}},
      {.layer = "Interp 0=1 3=4 4=8",
       .inputs = {"5"},
       .calls = "reshape(shape=(1,5,1,1)) expand(size=(1,5,4,8))",
       .outputs = {"1x5x4x8"}},
  });
}

// ncnn appends dimensions of 1 to the blob that has fewer, numpy puts them in front.
TEST(NcnnLayers, Broadcasting) {
  Expect({
      {.layer = "BinaryOp 0=0",
       .inputs = {"4x5x6", "4"},
       .calls = "reshape(shape=(1,4,1,1)) add",
       .outputs = {"1x4x5x6"}},
      {.layer = "BinaryOp 0=0",
       .inputs = {"4x5x6", "6"},
       .calls = "reshape(shape=(1,1,1,6)) add",
       .outputs = {"1x4x5x6"}},
      {.layer = "BinaryOp 0=2",
       .inputs = {"4x5", "4x5x6"},
       .calls = "reshape(shape=(1,4,5,1)) mul",
       .outputs = {"1x4x5x6"}},
      {.layer = "BinaryOp 0=7", .inputs = {"4x5", "4"}, .calls = "reshape(shape=(1,4,1)) sub", .outputs = {"1x4x5"}},
      {.layer = "BinaryOp 0=4 1=1 2=0.5", .inputs = {"4"}, .calls = "clamp(min=0.5)", .outputs = {"1x4"}},
      {.layer = "Eltwise 0=1 -23301=2,1.0,0.5",
       .inputs = {"4x2", "4x2"},
       .calls = "mul(other=0.5) add",
       .outputs = {"1x4x2"}},
      {.layer = "Scale 0=4 1=1", .inputs = {"4x2x2"}, .calls = "mul add", .outputs = {"1x4x2x2"}},
  });
}

TEST(NcnnLayers, Shapes) {
  Expect({
      {.layer = "Reshape 0=0 1=-1", .inputs = {"3x4x5"}, .calls = "reshape(shape=(1,12,5))", .outputs = {"1x12x5"}},
      {.layer = "Reshape 0=2 1=3 2=-1", .inputs = {"4x6"}, .calls = "reshape(shape=(1,4,3,2))", .outputs = {"1x4x3x2"}},
      {.layer = "Flatten", .inputs = {"3x4x5"}, .calls = "flatten(start_dim=1 end_dim=-1)", .outputs = {"1x60"}},
      {.layer = "Permute 0=3", .inputs = {"3x4x5"}, .calls = "permute(dims=(0,2,3,1))", .outputs = {"1x4x5x3"}},
      {.layer = "Permute 0=1", .inputs = {"4x5"}, .calls = "permute(dims=(0,2,1))", .outputs = {"1x5x4"}},
      {.layer = "Concat 0=-1", .inputs = {"3x4", "3x5"}, .calls = "cat(dim=2)", .outputs = {"1x3x9"}},
      {.layer = "Slice -23300=2,2,-233",
       .inputs = {"5x4"},
       .calls = "split(split_size=(2,3) dim=1)",
       .outputs = {"1x2x4", "1x3x4"}},
      {.layer = "Crop -23309=1,1 -23310=1,-1 -23311=1,-2",
       .inputs = {"3x5x6"},
       .calls = "getitem(index=':, :, 1:4')",
       .outputs = {"1x3x3x6"}},
      {.layer = "Crop 2=1 5=2 3=-233 4=-233",
       .inputs = {"4x5x6"},
       .calls = "getitem(index=':, 1:3')",
       .outputs = {"1x2x5x6"}},
      {.layer = "Padding 0=1 1=2 2=0 3=1 8=2",
       .inputs = {"3x4x5"},
       .calls = "pad(pad=(0,1,1,2,0,2) mode='constant' value=0.0)",
       .outputs = {"1x5x7x6"}},
      {.layer = "Padding 2=1 3=1 0=1 1=1 4=2",
       .inputs = {"3x4x5"},
       .calls = "pad(pad=(1,1,1,1) mode='reflect')",
       .outputs = {"1x3x6x7"}},
      {.layer = "Squeeze -23303=1,0", .inputs = {"1x4x5"}, .calls = "reshape(shape=(1,4,5))", .outputs = {"1x4x5"}},
      {.layer = "ExpandDims -23303=1,-1", .inputs = {"4"}, .calls = "unsqueeze(dim=2)", .outputs = {"1x4x1"}},
      {.layer = "ShuffleChannel 0=2 1=1",
       .inputs = {"6x2x2"},
       .calls = "channel_shuffle(groups=3)",
       .outputs = {"1x6x2x2"}},
      {.layer = "PixelShuffle 0=2",
       .inputs = {"8x2x3"},
       .calls = "pixel_shuffle(upscale_factor=2)",
       .outputs = {"1x2x4x6"}},
      {.layer = "Reorg 0=2",
       .inputs = {"2x4x6"},
       .calls = "pixel_unshuffle(downscale_factor=2)",
       .outputs = {"1x8x2x3"}},
      {.layer = "Split", .inputs = {"3x4"}, .calls = "", .outputs = {"1x3x4", "1x3x4"}},
  });
}

// Sizes that follow from those of the inputs: the width first.
TEST(NcnnLayers, ExpressionsOfSizes) {
  Expect({
      {.layer = "Reshape 6=\"-1,*(0h,3)\"",
       .inputs = {"3x4x5"},
       .calls = "reshape(shape=(1,12,5))",
       .outputs = {"1x12x5"}},
      {.layer = "Reshape 6=\"1w,//(0w,1w),0h,0c\"",
       .inputs = {"3x4x6", "2"},
       .calls = "reshape(shape=(1,3,4,3,2))",
       .outputs = {"1x3x4x3x2"}},
      {.layer = "Crop 19=\"1,//(0w,3)\" 20=\"-233,-1\" 21=\"0,-1\"",
       .inputs = {"3x4x6"},
       .calls = "getitem(index=':, 1:3, :, 2:5')",
       .outputs = {"1x2x4x3"}},
      {.layer = "Crop 19=\"0,1\" 20=\"1c,3\" 21=\"-3,-2\"",
       .inputs = {"3x4x6", "2x8x8"},
       .calls = "getitem(index=':, 0:2, 1:3')",
       .outputs = {"1x2x2x6"}},
      {.layer = "Interp 0=1 9=\"*(0w,2),floor(*(0h,1.5))\"",
       .inputs = {"3x5x4"},
       .calls = "interpolate(size=(7,8) mode='nearest')",
       .outputs = {"1x3x7x8"}},
      {.layer = "Interp 0=2 9=\"*(0w,2)\"",
       .inputs = {"3x4"},
       .calls = "interpolate(size=(8,) mode='linear' align_corners=False)",
       .outputs = {"1x3x8"}},
      // Of a blob of two dimensions only the width changes, and nobody looks at a height of 0.
      {.layer = "Interp 0=1 1=0.5 2=2.0",
       .inputs = {"3x4"},
       .calls = "interpolate(size=(8,) mode='nearest')",
       .outputs = {"1x3x8"}},
  });
}

TEST(NcnnLayers, Copies) {
  Expect({
      {.layer = "CopyTo 0=1 2=1",
       .inputs = {"3x4x5", "2x4x3"},
       .calls = "clone setitem!(index=':, 1:3, :, 1:4')",
       .outputs = {"1x3x4x5"}},
      {.layer = "CopyTo -23309=2,-2,0 -23311=2,2,0",
       .inputs = {"3x4x5", "3x4x2"},
       .calls = "clone setitem!(index=':, :, :, 3:5')",
       .outputs = {"1x3x4x5"}},
      // All of it is overwritten.
      {.layer = "CopyTo", .inputs = {"3x4", "3x4"}, .calls = "", .outputs = {"1x3x4"}},
      {.layer = "DeepCopy", .inputs = {"3x4"}, .calls = "clone", .outputs = {"1x3x4"}},
      {.layer = "Diag 0=-1", .inputs = {"4"}, .calls = "diag_embed(offset=-1 dim1=1 dim2=2)", .outputs = {"1x5x5"}},
      {.layer = "Diag 0=2", .inputs = {"4x5"}, .calls = "diagonal(offset=2 dim1=1 dim2=2)", .outputs = {"1x3"}},
  });
}

TEST(NcnnLayers, RowsOfPairs) {
  const auto turn = [](const char* first, const char* second, const char* joined) {
    return absl::StrCat("reshape(shape=(1,1,3,2)) reshape(shape=(1,1,3,2)) getitem(index='", first,
                        "') getitem(index='", second, "') mul mul sub mul mul add ", joined);
  };
  const std::string halves = turn("..., :2", "..., 2:", "cat(dim=3)");
  const std::string neighbours = turn("..., ::2", "..., 1::2", "stack(dim=4) reshape(shape=(1,2,3,4))");
  Expect({
      {.layer = "RotaryEmbed", .inputs = {"2x3x4", "3x2", "3x2"}, .calls = halves.c_str(), .outputs = {"1x2x3x4"}},
      {.layer = "RotaryEmbed 0=1",
       .inputs = {"2x3x4", "3x2", "3x2"},
       .calls = neighbours.c_str(),
       .outputs = {"1x2x3x4"}},
  });
}

TEST(NcnnLayers, Equations) {
  Expect({
      {.layer = "Einsum -23300=9,105,107,44,107,106,45,62,105,106",  // ik,kj->ij
       .inputs = {"3x4", "4x5"},
       .calls = "einsum(equation='aik,akj->aij')",
       .outputs = {"1x3x5"}},
      {.layer = "Einsum -23300=2,105,105",
       .inputs = {"4x4"},
       .calls = "einsum(equation='aii->a') reshape(shape=(1,1))",
       .outputs = {"1x1"}},
  });
}

TEST(NcnnLayers, Boxes) {
  Expect({
      {.layer = "ROIAlign 0=7 1=5 2=0.0625 3=2 4=1 5=1",
       .inputs = {"8x20x30", "4"},
       .calls = "pad(pad=(1,0) mode='constant' value=0.0) roi_align(spatial_scale=0.0625 pooled_height=5 "
                "pooled_width=7 sampling_ratio=2 aligned=True)",
       .outputs = {"1x8x5x7"}},
  });
  // An output depends on the values in its size: what is in the graph are the boxes, their order
  // and their scores.
  const absl::StatusOr<NcnnModel> model =
      ReadNcnnModelWithWeights(FileOf({"Proposal 2=50", {"18x3x4", "36x3x4", "3"}, "", {"", ""}}), {});
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_EQ(model->graph.outputs().size(), 3u);
  EXPECT_EQ(graph::ShapeText(model->graph.TypeOf(model->graph.outputs()[0]).shape), "1x108x4");
  EXPECT_EQ(graph::ShapeText(model->graph.TypeOf(model->graph.outputs()[2]).shape), "1x50");
}

TEST(NcnnLayers, Spectra) {
  Expect({
      {.layer = "Spectrogram 0=16 1=1 2=4",
       .inputs = {"64"},
       .calls = "stft(n_fft=16 hop_length=4 win_length=16 center=True pad_mode='reflect' normalized=False "
                "onesided=True return_complex=True) abs",
       .outputs = {"1x9x17"}},
      {.layer = "Spectrogram 0=16 1=2 2=8 5=0 7=2 8=0",
       .inputs = {"64"},
       .calls = "stft(n_fft=16 hop_length=8 win_length=16 center=False pad_mode='reflect' normalized=False "
                "onesided=False return_complex=True) view_as_real square sum(dim=(3,) keepdim=False) "
                "mul(other=0.0625)",
       .outputs = {"1x16x7"}},
      {.layer = "Spectrogram 0=16 4=1 6=0 7=1",
       .inputs = {"64"},
       .calls = "stft(n_fft=16 hop_length=4 win_length=16 center=True pad_mode='constant' normalized=True "
                "onesided=True return_complex=True) view_as_real",
       .outputs = {"1x9x17x2"}},
      {.layer = "InverseSpectrogram 0=16 1=1 2=4",
       .inputs = {"9x17x2"},
       .calls = "view_as_complex istft(n_fft=16 hop_length=4 win_length=16 center=True normalized=False onesided=True "
                "return_complex=False)",
       .outputs = {"1x64"}},
  });
}

TEST(NcnnLayers, NormsAndReductions) {
  Expect({
      {.layer = "BatchNorm 0=4 1=1e-5", .inputs = {"4x3x3"}, .calls = "batch_norm(eps=1e-05)", .outputs = {"1x4x3x3"}},
      {.layer = "LayerNorm 0=6 1=1e-6",
       .inputs = {"3x6"},
       .calls = "layer_norm(normalized_shape=(6,) eps=1e-06)",
       .outputs = {"1x3x6"}},
      {.layer = "LayerNorm 0=20",
       .inputs = {"3x4x5"},
       .calls = "layer_norm(normalized_shape=(4,5) eps=0.001)",
       .outputs = {"1x3x4x5"}},
      {.layer = "Softmax 0=1 1=1", .inputs = {"3x4"}, .calls = "softmax(dim=2)", .outputs = {"1x3x4"}},
      {.layer = "Softmax", .inputs = {"3x4x4"}, .calls = "softmax(dim=1)", .outputs = {"1x3x4x4"}},
      {.layer = "Reduction 0=3 1=0 -23303=2,1,2 4=1 5=1",
       .inputs = {"3x4x5"},
       .calls = "mean(dim=(2,3) keepdim=True)",
       .outputs = {"1x3x1x1"}},
      {.layer = "Reduction 0=0",
       .inputs = {"3x4"},
       .calls = "sum(dim=(1,2) keepdim=False) reshape(shape=(1,1))",
       .outputs = {"1x1"}},
      {.layer = "StatisticsPooling 0=1",
       .inputs = {"3x4x5"},
       .calls = "reshape(shape=(1,3,20)) mean(dim=(2,) keepdim=False) std(dim=(2,) unbiased=False keepdim=False) "
                "cat(dim=1)",
       .outputs = {"1x6"}},
      {.layer = "ArgMax 1=3",
       .inputs = {"2x4x5"},
       .calls = "reshape(shape=(1,40)) topk(k=3 dim=1 largest=True sorted=True) to(dtype='float32') unsqueeze(dim=1)",
       .outputs = {"1x1x3"}},
      {.layer = "ArgMax 0=1 1=2",
       .inputs = {"8"},
       .calls = "topk(k=2 dim=1 largest=True sorted=True) to(dtype='float32') stack(dim=1)",
       .outputs = {"1x2x2"}},
      {.layer = "BNLL", .inputs = {"8"}, .calls = "softplus(beta=1 threshold=20)", .outputs = {"1x8"}},
      {.layer = "LRN 2=0.0001",
       .inputs = {"8x4x4"},
       .calls = "local_response_norm(size=5 alpha=0.0001 beta=0.75 k=1.0)",
       .outputs = {"1x8x4x4"}},
  });
}

TEST(NcnnLayers, Int8LayersComputeWithIntegers) {
  Expect({
      // The result is real, or stays int8 for the next layer
      {.layer = "Convolution 0=8 1=1 6=24 8=2 9=1",
       .inputs = {"3x4x4"},
       .calls = "quantize_per_tensor(dtype='int8') conv2d(stride=(1,1) padding=(0,0) dilation=(1,1) groups=1 "
                "quantized='float32') relu!",
       .outputs = {"1x8x4x4"}},
      {.layer = "Convolution 0=8 1=1 6=24 8=102 9=1",
       .inputs = {"3x4x4"},
       .calls = "quantize_per_tensor(dtype='int8') conv2d(stride=(1,1) padding=(0,0) dilation=(1,1) groups=1 "
                "quantized='int8') relu!(quantized='int8')",
       .outputs = {"1x8x4x4"}},
  });
}

// Sums of products are no result of this reader's layers.
TEST(NcnnLayers, RequantizeTakesInt32) {
  const std::string file = FileOf({"Requantize 0=3 2=3 3=1", {"3x4x4"}, "", {""}});
  const absl::StatusOr<NcnnModel> model = ReadNcnnModelWithWeights(file, {"net.param", {"1x3x4x4:int32"}});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(CallsText(model->graph), "dequantize add relu! quantize_per_tensor(dtype='int8')");
  EXPECT_EQ(model->weights.size(), 3u);
  EXPECT_FALSE(ReadNcnnModel(file, {}).ok());
}

TEST(NcnnLayers, PriorBoxesAreAConstant) {
  Expect({{.layer = "PriorBox -23300=1,60.0 -23302=1,2.0 9=-233 10=-233 13=0.5",
           .inputs = {"4x5x6", "3x30x30"},
           .calls = "",
           .outputs = {"1x2x360"}}});
}

}  // namespace
}  // namespace cobra::ncnn
