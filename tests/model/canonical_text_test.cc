#include "model/text/canonical_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/builder/builder.h"
#include "model/text/tokenizer.h"

namespace cobra::text {
namespace {

using Ints = std::vector<int64_t>;

graph::TensorType Float(graph::Shape shape) { return {shape, graph::DType::float32}; }

TEST(CanonicalText, NamesArgumentsInTheFixedOrderWithoutBlanks) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", Float({1, 3, 224, 224}));
  const graph::ValueRef w = b.AddParameter("w", Float({64, 3, 7, 7}));
  // Given in another order than ops.def's.
  graph::Attributes attributes{
      {"groups", int64_t{1}}, {"padding", Ints{3, 3}}, {"stride", Ints{2, 2}}, {"dilation", Ints{1, 1}}};
  const auto conv = b.Add(graph::Op::conv2d, attributes, {x, w, graph::ValueRef::None()});
  ASSERT_TRUE(conv.ok()) << conv.status();
  const auto relu = b.Add(graph::Op::relu, {}, {graph::ValueRef::Node(*conv)}, {}, /*inplace=*/true);
  ASSERT_TRUE(relu.ok()) << relu.status();
  const graph::Graph g = std::move(b).Build({graph::ValueRef::Node(*relu)});
  EXPECT_EQ(CanonicalText(g, 0),
            "conv2d(input=1x3x224x224:float32,weight=64x3x7x7:float32,bias=None,stride=(2,2),padding=(3,3),dilation=(1,"
            "1),groups=1)"
            "->1x64x112x112:float32#macs=118013952,read_bytes=602112,weight_bytes=37632,write_bytes=3211264");
  EXPECT_EQ(CanonicalText(g, 1),
            "relu(input=1x64x112x112:float32,inplace=True)->1x64x112x112:float32"
            "#macs=0,read_bytes=3211264,weight_bytes=0,write_bytes=3211264");
}

// What is written of the first thousand results is not read, and the amounts of work behind them
// are.
TEST(CanonicalText, ResultsThatAreNotReadAreNotWritten) {
  const auto split = [](int64_t count, graph::DType dtype) {
    graph::GraphBuilder b;
    const graph::ValueRef x = b.AddInput("x", {{count, 3}, dtype});
    EXPECT_TRUE(b.Add(graph::Op::unbind, {{"dim", int64_t{0}}}, {x}).ok());
    return CanonicalText(std::move(b).Build({graph::ValueRef::Node(0)}), 0);
  };
  EXPECT_LT(split(100'000, graph::DType::float32).size(), 4000u);
  const std::vector<RawToken> floats = SplitText(split(1000, graph::DType::float32));
  ASSERT_LT(floats.size(), static_cast<size_t>(kMaxTokens));
  EXPECT_EQ(floats.back().word, "write_bytes#0");
  EXPECT_EQ(SplitText(split(1000, graph::DType::int64)).size(), static_cast<size_t>(kMaxTokens));
}

// A text is read up to kMaxTokens; a million tensors of 64 dimensions would be gigabytes of it.
TEST(CanonicalText, TensorsThatAreNotReadAreNotWritten) {
  const auto joined = [](size_t count) {
    graph::GraphBuilder b;
    const graph::ValueRef x = b.AddInput("x", Float({2, 3}));
    const auto cat = b.Add(graph::Op::cat, {{"dim", int64_t{0}}}, graph::ValueRefs(count, x));
    EXPECT_TRUE(cat.ok()) << cat.status();
    return CanonicalText(std::move(b).Build({graph::ValueRef::Node(*cat)}), 0);
  };
  EXPECT_LT(joined(100'000).size(), 4000u);
  const std::vector<RawToken> many = SplitText(joined(500)), more = SplitText(joined(1000));
  ASSERT_EQ(many.size(), static_cast<size_t>(kMaxTokens));
  for (size_t i = 0; i < many.size(); ++i) EXPECT_EQ(many[i].word, more.at(i).word);
  EXPECT_NE(joined(3), joined(4));
}

// What dropout does in training makes no difference to the text of a call at inference; where
// nobody says that it is inference, it does.
TEST(CanonicalText, DropoutOfTrainingIsNone) {
  const auto attention = [](graph::Op op, double dropout) {
    graph::GraphBuilder b;
    const graph::ValueRef x = b.AddInput("x", Float({4, 2, 8}));
    graph::ValueRefs inputs = {x, x, x};
    graph::Attributes attributes{{"dropout_p", dropout}};
    if (op == graph::Op::multi_head_attention_forward) {
      const graph::ValueRef none = graph::ValueRef::None();
      inputs.insert(inputs.end(),
                    {b.AddParameter("w", Float({24, 8})), none, none, none, b.AddParameter("o", Float({8, 8}))});
      attributes = {{"embed_dim_to_check", int64_t{8}}, {"num_heads", int64_t{2}}, {"dropout_p", dropout}};
    }
    const auto call = b.Add(op, attributes, inputs);
    EXPECT_TRUE(call.ok()) << call.status();
    return CanonicalText(std::move(b).Build({graph::ValueRef::Node(*call)}), 0);
  };
  EXPECT_EQ(attention(graph::Op::multi_head_attention_forward, 0.1),
            attention(graph::Op::multi_head_attention_forward, 0.0));
  EXPECT_NE(attention(graph::Op::scaled_dot_product_attention, 0.1),
            attention(graph::Op::scaled_dot_product_attention, 0.0));
  const auto dropout = [](graph::Attributes attributes) {
    graph::GraphBuilder b;
    const graph::ValueRef x = b.AddInput("x", Float({4, 8}));
    const auto call = b.Add(graph::Op::dropout, std::move(attributes), {x});
    EXPECT_TRUE(call.ok()) << call.status();
    return CanonicalText(std::move(b).Build({graph::ValueRef::Node(*call)}), 0);
  };
  EXPECT_EQ(dropout({{"p", 0.1}}), dropout({{"p", 0.0}}));
  EXPECT_NE(dropout({{"p", 0.1}, {"training", true}}), dropout({{"p", 0.0}, {"training", true}}));
}

// Two spellings of one call have one text, and the text of the spelling that most measured calls
// have.
TEST(CanonicalText, ACallHasOneSpelling) {
  const auto text = [](graph::Op op, graph::Attributes attributes, const graph::Shape& shape = {2, 3, 32, 32}) {
    graph::GraphBuilder b;
    graph::ValueRefs inputs = {b.AddInput("x", Float(shape))};
    if (op == graph::Op::conv2d)
      inputs.insert(inputs.end(), {b.AddParameter("w", Float({4, 3, 5, 3})), graph::ValueRef::None()});
    const auto call = b.Add(op, std::move(attributes), inputs);
    EXPECT_TRUE(call.ok()) << call.status();
    return CanonicalText(std::move(b).Build({graph::ValueRef::Node(*call)}), 0);
  };
  using graph::Op;
  EXPECT_EQ(text(Op::softmax, {{"dim", int64_t{-3}}}), text(Op::softmax, {{"dim", int64_t{1}}}));
  EXPECT_EQ(text(Op::softmax, {{"dim", int64_t{3}}}), text(Op::softmax, {{"dim", int64_t{-1}}}));
  EXPECT_THAT(text(Op::softmax, {{"dim", int64_t{3}}}), testing::HasSubstr("dim=-1"));
  EXPECT_NE(text(Op::softmax, {{"dim", int64_t{1}}}), text(Op::softmax, {{"dim", int64_t{2}}}));
  EXPECT_THAT(text(Op::cat, {{"dim", int64_t{-3}}}), testing::HasSubstr("dim=1"));
  EXPECT_THAT(text(Op::unsqueeze, {{"dim", int64_t{-1}}}), testing::HasSubstr("dim=4"));
  EXPECT_EQ(text(Op::permute, {{"dims", Ints{0, -2, -1, 1}}}), text(Op::permute, {{"dims", Ints{0, 2, 3, 1}}}));
  EXPECT_EQ(text(Op::mean, {{"dim", Ints{-2, -1}}}), text(Op::mean, {{"dim", Ints{2, 3}}}));
  EXPECT_EQ(text(Op::mean, {{"dim", Ints{3}}}), text(Op::mean, {{"dim", Ints{-1}}}));
  EXPECT_EQ(text(Op::transpose, {{"dim0", int64_t{-1}}, {"dim1", int64_t{-2}}}),
            text(Op::transpose, {{"dim0", int64_t{2}}, {"dim1", int64_t{3}}}));
  EXPECT_EQ(text(Op::std, {{"dim", Ints{1}}, {"correction", int64_t{1}}}),
            text(Op::std, {{"dim", Ints{1}}, {"unbiased", true}}));
  EXPECT_EQ(text(Op::adaptive_max_pool2d, {{"output_size", Ints{1, 1}}, {"return_indices", false}}),
            text(Op::adaptive_max_pool2d, {{"output_size", Ints{1, 1}}}));
  const std::string constant = "constant", bilinear = "bilinear", nearest = "nearest", same = "same", valid = "valid";
  EXPECT_EQ(text(Op::pad, {{"pad", Ints{1, 1}}, {"mode", constant}, {"value", 0.0}}),
            text(Op::pad, {{"pad", Ints{1, 1}}, {"mode", constant}}));
  EXPECT_NE(text(Op::pad, {{"pad", Ints{1, 1}}, {"mode", constant}, {"value", 1.0}}),
            text(Op::pad, {{"pad", Ints{1, 1}}, {"mode", constant}}));
  const Ints size{64, 64};
  EXPECT_EQ(text(Op::interpolate, {{"size", size}, {"mode", bilinear}}),
            text(Op::interpolate, {{"size", size}, {"mode", bilinear}, {"align_corners", false}}));
  EXPECT_THAT(text(Op::interpolate, {{"size", size}, {"mode", nearest}}),
              testing::Not(testing::HasSubstr("align_corners")));
  const auto conv = [&](graph::AttributeValue padding, int64_t dilation) {
    return text(Op::conv2d, {{"groups", int64_t{1}},
                             {"padding", std::move(padding)},
                             {"stride", Ints{1, 1}},
                             {"dilation", Ints{dilation, 1}}});
  };
  EXPECT_EQ(conv(same, 1), conv(Ints{2, 1}, 1));
  EXPECT_EQ(conv(same, 2), conv(Ints{4, 1}, 2));
  EXPECT_EQ(conv(valid, 1), conv(Ints{0, 0}, 1));
}

// Arguments that do not change what runs are left out, so that a layer is known in whichever words
// it was called.
TEST(CanonicalText, LeavesOutWhatDoesNotRun) {
  const auto embedding = [](graph::Attributes attributes) {
    graph::GraphBuilder b;
    const graph::ValueRef x = b.AddInput("x", {{1, 128}, graph::DType::int64});
    const auto call = b.Add(graph::Op::embedding, std::move(attributes), {x, b.AddParameter("w", Float({2000, 192}))});
    EXPECT_TRUE(call.ok()) << call.status();
    return CanonicalText(std::move(b).Build({graph::ValueRef::Node(*call)}), 0);
  };
  EXPECT_EQ(
      embedding({{"padding_idx", int64_t{0}}, {"norm_type", 2.0}, {"scale_grad_by_freq", false}, {"sparse", true}}),
      embedding({}));
  EXPECT_NE(embedding({{"max_norm", 1.0}, {"norm_type", 2.0}}), embedding({{"max_norm", 1.0}, {"norm_type", 1.0}}));

  const auto interpolate = [](graph::Attributes attributes) {
    graph::GraphBuilder b;
    const auto call = b.Add(graph::Op::interpolate, std::move(attributes), {b.AddInput("x", Float({1, 64, 32, 32}))});
    EXPECT_TRUE(call.ok()) << call.status();
    return CanonicalText(std::move(b).Build({graph::ValueRef::Node(*call)}), 0);
  };
  const std::string mode = "bilinear";
  const graph::Attributes size{{"size", std::vector<int64_t>{64, 64}}, {"mode", mode}, {"align_corners", false}};
  EXPECT_EQ(interpolate({{"scale_factor", 2.0}, {"mode", mode}, {"align_corners", false}, {"antialias", false}}),
            interpolate(size));
  EXPECT_NE(interpolate({{"scale_factor", 2.0}, {"mode", mode}, {"align_corners", true}}), interpolate(size));
}

}  // namespace
}  // namespace cobra::text
