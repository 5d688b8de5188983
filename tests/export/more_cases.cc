#include "tests/export/more_cases.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "export/onnx/onnx_file.h"

namespace cobra::exporting {
namespace {

using graph::Attributes;
using graph::DType;
using graph::Op;
using worker::Case;
using worker::Index;
using worker::kNone;
using worker::Operand;

Attributes Text(const char* name, const char* value) { return {{name, std::string(value)}}; }

std::vector<Case> Windows() {
  const auto pool = [](int64_t kernel, int64_t stride, int64_t padding, bool ceil, bool count) {
    return Attributes{{"kernel_size", Ints{kernel, kernel}},
                      {"stride", Ints{stride, stride}},
                      {"padding", Ints{padding, padding}},
                      {"ceil_mode", ceil},
                      {"count_include_pad", count}};
  };
  const auto conv = [](Ints stride, Ints padding, Ints dilation, int64_t groups) {
    return Attributes{{"stride", std::move(stride)},
                      {"padding", std::move(padding)},
                      {"dilation", std::move(dilation)},
                      {"groups", groups}};
  };
  const Operand image = {{2, 4, 9, 7}};
  Attributes divided = pool(3, 2, 1, true, true);
  divided.Set("divisor_override", int64_t{5});
  const Attributes max = {{"kernel_size", Ints{3, 2}}, {"stride", Ints{2, 3}}, {"padding", Ints{1, 1}},
                          {"dilation", Ints{2, 1}},    {"ceil_mode", true},    {"return_indices", true}};
  return {
      {Op::conv2d, conv({2, 1}, {1, 2}, {2, 1}, 1), {image, {{6, 4, 3, 3}}, {{6}}}},
      {Op::conv2d, conv({1, 1}, {0, 0}, {1, 1}, 4), {image, {{8, 1, 3, 3}}, {{8}}}},
      {Op::conv2d, conv({1, 1}, {0, 0}, {1, 1}, 1), {{{4, 9, 7}}, {{8, 4, 3, 3}}, {{8}}}},
      {Op::conv2d,
       {{"stride", Ints{1, 1}}, {"padding", std::string("same")}, {"dilation", Ints{1, 1}}, {"groups", int64_t{1}}},
       {image, {{6, 4, 2, 4}}, kNone}},
      {Op::avg_pool2d, pool(3, 2, 0, true, true), {image}},
      {Op::avg_pool2d, pool(3, 2, 1, true, true), {image}},
      {Op::avg_pool2d, pool(3, 2, 1, true, false), {image}},
      {Op::avg_pool2d, pool(3, 2, 1, false, false), {image}},
      {Op::avg_pool2d, pool(4, 3, 1, true, true), {{{2, 4, 10, 8}}}},
      {Op::avg_pool2d, divided, {image}},
      {Op::max_pool2d, max, {image}},
      {Op::adaptive_avg_pool2d, {{"output_size", Ints{4, 7}}}, {image}},
      {Op::adaptive_avg_pool2d, {{"output_size", Ints{3, 7}}}, {image}},
      {Op::adaptive_max_pool2d, {{"output_size", Ints{4, 3}}}, {image}},
      {Op::adaptive_max_pool2d, {{"output_size", Ints{1, 1}}, {"return_indices", true}}, {image}},
      {Op::adaptive_avg_pool1d, {{"output_size", Ints{1}}}, {{{2, 4, 9}}}},
  };
}

std::vector<Case> Resampled() {
  std::vector<Case> cases;
  const Operand image = {{1, 3, 7, 5}};
  for (const char* mode : {"nearest", "nearest-exact", "bilinear", "bicubic", "area"}) {
    const bool smooth = std::string(mode) == "bilinear" || std::string(mode) == "bicubic";
    for (const Ints& size : {Ints{14, 10}, Ints{11, 9}, Ints{3, 4}, Ints{1, 1}}) {
      Attributes attributes = {{"size", size}, {"mode", std::string(mode)}};
      if (smooth) attributes.Set("align_corners", false);
      cases.push_back({Op::interpolate, attributes, {image}});
      if (!smooth) continue;
      attributes.Set("align_corners", true);
      cases.push_back({Op::interpolate, attributes, {image}});
      attributes.Set("align_corners", false);
      attributes.Set("antialias", true);
      cases.push_back({Op::interpolate, attributes, {image}});
    }
    if (std::string(mode) == "area") continue;
    Attributes factor = {{"scale_factor", std::vector<double>{1.7, 2.5}}, {"mode", std::string(mode)}};
    if (smooth) factor.Set("align_corners", false);
    cases.push_back({Op::interpolate, factor, {image}});
  }
  cases.push_back({Op::interpolate, {{"size", Ints{9}}, {"mode", std::string("linear")}}, {{{1, 3, 7}}}});
  cases.push_back(
      {Op::interpolate, {{"size", Ints{6, 5, 4}}, {"mode", std::string("trilinear")}}, {{{1, 2, 3, 4, 5}}}});
  for (const char* mode : {"bilinear", "nearest"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      cases.push_back({Op::grid_sample,
                       {{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}, {"align_corners", true}},
                       {image, {{1, 4, 3, 2}}}});
    }
  }
  cases.push_back({Op::affine_grid, {{"size", Ints{2, 3, 4, 5}}, {"align_corners", true}}, {{{2, 2, 3}}}});
  cases.push_back({Op::affine_grid, {{"size", Ints{2, 3, 4, 5, 3}}, {"align_corners", false}}, {{{2, 3, 4}}}});
  return cases;
}

std::vector<Case> Recurrent() {
  const auto layer = [](int64_t layers, bool both, bool batch_first, bool biases) {
    return Attributes{{"has_biases", biases},
                      {"num_layers", layers},
                      {"dropout", 0.0},
                      {"bidirectional", both},
                      {"batch_first", batch_first}};
  };
  const auto weights = [](std::vector<Operand> operands, int64_t gates, int64_t layers, int64_t directions,
                          bool biases) {
    for (int64_t i = 0; i < layers; ++i) {
      for (int64_t d = 0; d < directions; ++d) {
        operands.push_back({{gates * 6, i == 0 ? 5 : 6 * directions}});
        operands.push_back({{gates * 6, 6}});
        if (biases) operands.insert(operands.end(), 2, Operand{{gates * 6}});
      }
    }
    return operands;
  };
  const Operand x = {{7, 2, 5}}, state = {{4, 2, 6}};
  return {
      {Op::lstm, layer(2, true, false, true), weights({x, state, state}, 4, 2, 2, true)},
      {Op::lstm, layer(1, false, true, false), weights({{{2, 7, 5}}, {{1, 2, 6}}, {{1, 2, 6}}}, 4, 1, 1, false)},
      {Op::gru, layer(2, true, false, true), weights({x, state}, 3, 2, 2, true)},
      {Op::rnn_relu, layer(2, true, false, true), weights({x, state}, 1, 2, 2, true)},
      {Op::rnn_tanh, layer(1, false, false, true), weights({{{7, 5}}, {{1, 6}}}, 1, 1, 1, true)},
  };
}

std::vector<Case> Indexed() {
  const Operand x = {{4, 5, 6}}, mask = {{4, 5}, DType::bool_};
  const auto index = [](const char* text) { return Attributes{{"index", std::string(text)}}; };
  const auto written = [](const char* text, double value) {
    return Attributes{{"index", std::string(text)}, {"value", value}};
  };
  return {
      {Op::getitem, index("T0, T1"), {x, Index({3}), Index({3})}},
      {Op::getitem, index("T0, :, T1"), {x, Index({3}), Index({3})}},
      {Op::getitem, index(":, T0, T1"), {x, Index({2, 1}), Index({3})}},
      {Op::getitem, index(":, 1:4, T0"), {x, Index({2, 3})}},
      {Op::getitem, index("1, T0"), {x, Index({3})}},
      {Op::getitem, index("T0"), {x, Index({})}},
      {Op::getitem, index("-1, ..., ::2"), {x}},
      {Op::getitem, index("None, :, 2:, None, 3"), {x}},
      {Op::getitem, index("..., -3:-1"), {x}},
      {Op::setitem, written("..., 1:3", 0.5), {x}, true},
      {Op::setitem, written(":, 2", -1), {x}, true},
      {Op::setitem, written("::2, 1:3", 0.25), {x}, true},
      {Op::setitem, index("1:3, :, 2:4"), {x, {{5, 1}}}, true},
      {Op::setitem, index("T0"), {x, Index({1}), {{5, 6}}}, true},
      {Op::setitem, index(":, T0"), {x, Index({1}), {{4, 1, 6}}}, true},
      {Op::setitem, written("T0", 2), {x, mask}, true},
      {Op::setitem, index("T0"), {x, mask, {{6}}}, true},
      {Op::setitem, written("1:, T0, 2", 2), {x, Index({1})}, true},
      {Op::index_put, {{"accumulate", true}}, {x, {{1, 6}}, Index({1}), Index({1})}},
      {Op::index_put, {{"accumulate", false}}, {x, {{3, 6}}, {{4, 5}, DType::bool_}}},
      {Op::index_add, {{"dim", int64_t{0}}, {"alpha", 2.5}}, {x, Index({3}), {{3, 5, 6}}}},
      {Op::put, {{"accumulate", true}}, {{{4, 5}}, Index({3}), {{3}}}},
      {Op::diagonal_scatter, {{"offset", int64_t{-1}}, {"dim1", int64_t{0}}, {"dim2", int64_t{2}}}, {x, {{5, 3}}}},
      {Op::bucketize, {{"right", true}}, {{{4, 5}}, {{7}}}},
      {Op::searchsorted, {{"right", false}}, {{{3, 6}}, {{3, 4}}, kNone}},
      {Op::scatter, {{"dim", int64_t{0}}, {"reduce", std::string("multiply")}}, {{{4, 5}}, Index({2, 3}), {{2, 5}}}},
      {Op::embedding_bag, Text("mode", "max"), {Index({3, 4}), {{10, 8}}, kNone, kNone}},
      {Op::embedding_bag, Text("mode", "sum"), {Index({3, 4}), {{10, 8}}, kNone, {{3, 4}}}},
      {Op::repeat_interleave, {{"repeats", int64_t{2}}}, {{{2, 3}}}},
      {Op::sort, {{"dim", int64_t{0}}, {"descending", false}}, {x}},
      {Op::msort, {}, {x}},
  };
}

// Long because it is a list of calls.
std::vector<Case> Numbers() {
  const Operand x = {{3, 4}}, i = {{3, 4}, DType::int64}, small = {{3, 4}, DType::int32}, b = {{3, 4}, DType::bool_},
                byte = {{3, 4}, DType::uint8};
  const auto other = [](double value) { return Attributes{{"other", value}}; };
  const auto whole = [](int64_t value) { return Attributes{{"other", value}}; };
  std::vector<Case> cases = {
      {Op::add, {{"alpha", 0.5}}, {x, x}},
      {Op::add, whole(2), {i, kNone}},
      {Op::add, other(2.5), {i, kNone}},
      {Op::add, {}, {i, x}},
      {Op::add, {}, {b, b}},
      {Op::mul, {}, {b, b}},
      {Op::mul, {}, {byte, byte}},
      {Op::sub, {{"alpha", int64_t{3}}}, {i, i}},
      {Op::rsub, {{"other", int64_t{1}}, {"alpha", int64_t{2}}}, {x, kNone}},
      {Op::mul, {}, {x, {{}}}},
      {Op::mul, {}, {x, {{}, DType::float64}}},
      {Op::div, {}, {i, {{4}, DType::int32}}},
      {Op::div, {{"other", -3.0}, {"rounding_mode", std::string("trunc")}}, {x, kNone}},
      {Op::div, {{"other", int64_t{-3}}, {"rounding_mode", std::string("floor")}}, {i, kNone}},
      {Op::floor_divide, whole(-2), {i, kNone}},
      {Op::remainder, whole(-2), {small, kNone}},
      {Op::remainder, other(-0.3), {x, kNone}},
      {Op::fmod, other(-0.3), {x, kNone}},
      {Op::fmod, whole(3), {i, kNone}},
      {Op::pow, {{"exponent", 0.5}}, {{{0, 3}}, kNone}},
      {Op::pow, {{"exponent", int64_t{3}}}, {i, kNone}},
      {Op::pow, {{"input", int64_t{2}}}, {kNone, i}},
      {Op::clamp, {{"min", int64_t{1}}}, {i, kNone, kNone}},
      {Op::clamp, {{"min", -0.5}, {"max", 0.5}}, {i, kNone, kNone}},
      {Op::clamp, {}, {x, {{4}}, kNone}},
      {Op::where, {{"input", int64_t{1}}, {"other", 0.0}}, {b, kNone, kNone}},
      {Op::where, {}, {b, b, b}},
      {Op::where, {}, {b, i, x}},
      {Op::masked_fill, {{"value", -std::numeric_limits<double>::infinity()}}, {x, {{4}, DType::bool_}, kNone}},
      {Op::bitwise_not, {}, {b}},
      {Op::bitwise_and, {}, {b, b}},
      {Op::eq, other(0.5), {i, kNone}},
      {Op::ne, {}, {b, b}},
      {Op::ge, whole(1), {byte, kNone}},
      {Op::logical_not, {}, {i}},
      {Op::isnan, {}, {i}},
      {Op::abs, {}, {i}},
      {Op::sign, {}, {small}},
      {Op::relu, {}, {i}},
      {Op::floor, {}, {i}},
      {Op::round, {{"decimals", int64_t{2}}}, {x}},
      {Op::exp, {}, {i}},
      {Op::nan_to_num, {{"nan", 1.0}}, {x}},
      {Op::logit, {{"eps", 0.1}}, {x}},
      {Op::softplus, {{"beta", 2.0}, {"threshold", 1.0}}, {x}},
      {Op::gelu, Text("approximate", "none"), {x}},
      {Op::prelu, {}, {{{2, 3, 4}}, {{3}}}},
      {Op::glu, {{"dim", int64_t{-1}}}, {x}},
      {Op::type, Text("dtype", "bool"), {x}},
      {Op::to, Text("dtype", "int32"), {x, kNone}},
      {Op::tril, {{"diagonal", int64_t{-1}}}, {b}},
      {Op::add, {}, {x, {{3, 1}, DType::float64}}, true},
      {Op::mul, other(0.5), {x, kNone}, true},
      {Op::clamp_min, {{"min", 0.0}}, {x, kNone}, true},
      {Op::copy, {}, {x, {{4}, DType::int64}}, true},
  };
  return cases;
}

std::vector<Case> Reduced() {
  const Operand x = {{3, 4, 5}}, i = {{3, 4}, DType::int64}, b = {{3, 4}, DType::bool_};
  const auto dims = [](Ints dim, bool keep) { return Attributes{{"dim", std::move(dim)}, {"keepdim", keep}}; };
  return {
      {Op::sum, {}, {i}},
      {Op::sum, dims({0, -1}, true), {x}},
      {Op::sum, dims({1}, false), {b}},
      {Op::prod, {}, {x}},
      {Op::mean, {{"dtype", std::string("float32")}}, {i}},
      {Op::var, dims({0, 2}, false), {x}},
      {Op::std, {}, {x}},
      {Op::amax, {}, {x}},
      {Op::amin, dims({0}, false), {i}},
      {Op::max, {{"dim", int64_t{-1}}, {"keepdim", false}}, {x, kNone}},
      {Op::min, {}, {x, kNone}},
      {Op::median, {}, {x}},
      {Op::argmax, {}, {x}},
      {Op::argmin, {{"dim", int64_t{0}}, {"keepdim", false}}, {x}},
      {Op::any, {}, {b}},
      {Op::all, {{"dim", int64_t{0}}, {"keepdim", true}}, {b}},
      {Op::count_nonzero, {}, {x}},
      {Op::norm, {{"p", std::numeric_limits<double>::infinity()}, {"dim", Ints{1}}, {"keepdim", false}}, {x}},
      {Op::norm, {{"p", 3.0}, {"dim", Ints{1, 2}}, {"keepdim", true}}, {x}},
      {Op::norm, {}, {x}},
      {Op::linalg_vector_norm, {{"ord", 1.0}}, {x}},
      {Op::cumsum, {{"dim", int64_t{-1}}}, {i}},
      {Op::cumprod, {{"dim", int64_t{-1}}}, {x}},
      {Op::normalize, {{"p", 1.0}, {"dim", int64_t{-1}}, {"eps", 1e-12}}, {x}},
      {Op::diff, {{"n", int64_t{2}}, {"dim", int64_t{1}}}, {x}},
      {Op::topk, {{"k", int64_t{2}}, {"dim", int64_t{0}}, {"largest", false}, {"sorted", true}}, {x}},
      {Op::kthvalue, {{"k", int64_t{3}}, {"dim", int64_t{-1}}, {"keepdim", true}}, {x}},
  };
}

std::vector<Case> Layers() {
  const Operand x = {{2, 6, 5}}, q = {{2, 3, 4, 8}}, k = {{2, 3, 6, 8}};
  const auto mha = [](bool weights, bool average) {
    return Attributes{{"embed_dim_to_check", int64_t{8}}, {"num_heads", int64_t{2}},
                      {"add_zero_attn", false},           {"dropout_p", 0.0},
                      {"need_weights", weights},          {"use_separate_proj_weight", false},
                      {"average_attn_weights", average}};
  };
  const auto attended = [](Operand mask) {
    std::vector<Operand> operands = {{{5, 2, 8}}, {{7, 2, 8}}, {{7, 2, 8}}, {{24, 8}}, {{24}},
                                     kNone,       kNone,       {{8, 8}},    {{8}}};
    operands.insert(operands.end(), 7, kNone);
    operands[10] = std::move(mask);
    return operands;
  };
  return {
      {Op::linear, {}, {{{5}}, {{3, 5}}, {{3}}}},
      {Op::linear, {}, {{{2, 2, 4, 5}}, {{3, 5}}, {{3}}}},
      {Op::addmm, {}, {{{3, 5}}, {{3, 4}}, {{4, 5}}}},
      {Op::addmm, {{"beta", int64_t{0}}}, {{{5}}, {{3, 4}}, {{4, 5}}}},
      {Op::matmul, {}, {{{4}}, {{2, 4, 3}}}},
      {Op::matmul, {}, {{{3, 4}, DType::int64}, {{4}, DType::int64}}},
      {Op::einsum, {{"equation", std::string("bhid,bhjd->bhij")}}, {q, k}},
      {Op::batch_norm, {{"eps", 1e-3}}, {x, {{6}}, {{6}}, kNone, kNone}},
      {Op::batch_norm, {{"eps", 1e-3}}, {{{4, 6}}, {{6}}, {{6}}, {{6}}, {{6}}}},
      {Op::layer_norm, {{"normalized_shape", Ints{6, 5}}, {"eps", 1e-5}}, {x, kNone, kNone}},
      {Op::layer_norm, {{"normalized_shape", Ints{5}}, {"eps", 1e-5}}, {x, {{5}}, kNone}},
      {Op::group_norm, {{"num_groups", int64_t{3}}, {"eps", 1e-5}}, {x, {{6}}, {{6}}}},
      {Op::group_norm, {{"num_groups", int64_t{1}}, {"eps", 1e-5}}, {{{2, 6}}, kNone, kNone}},
      {Op::scaled_dot_product_attention, {{"is_causal", true}}, {q, q, q, kNone}},
      {Op::scaled_dot_product_attention, {}, {q, k, k, {{4, 6}}}},
      {Op::scaled_dot_product_attention, {}, {q, k, k, {{2, 1, 1, 6}}}},
      {Op::multi_head_attention_forward, mha(false, true), attended(kNone)},
      {Op::multi_head_attention_forward, mha(true, false), attended({{5, 7}})},
      {Op::multi_head_attention_forward, mha(true, true), attended({{4, 5, 7}})},
      {Op::cdist, {{"p", 1.0}}, {{{2, 5, 3}}, {{2, 7, 3}}}},
      {Op::cross_entropy,
       {{"ignore_index", int64_t{1}}, {"reduction", std::string("sum")}, {"label_smoothing", 0.0}},
       {{{4, 7, 3}}, Index({4, 3}), {{7}}}},
      {Op::pad, {{"pad", Ints{-1, 2}}, {"mode", std::string("constant")}, {"value", 1.5}}, {x}},
      {Op::pad, {{"pad", Ints{2, 1}}, {"mode", std::string("circular")}}, {x}},
      {Op::pad, {{"pad", Ints{2, 1}}, {"mode", std::string("replicate")}}, {x}},
      {Op::roll, {{"shifts", Ints{2}}}, {x}},
      {Op::rot90, {{"k", int64_t{3}}, {"dims", Ints{0, 2}}}, {x}},
      {Op::rot90, {{"k", int64_t{2}}, {"dims", Ints{0, 2}}}, {x}},
      {Op::repeat, {{"repeats", Ints{2, 1, 3, 1}}}, {x}},
      {Op::flatten, {{"start_dim", int64_t{0}}, {"end_dim", int64_t{1}}}, {x}},
      {Op::squeeze, {}, {{{1, 3, 1}}}},
      {Op::movedim, {{"source", Ints{0, 2}}, {"destination", Ints{2, 0}}}, {x}},
      {Op::cat, {{"dim", int64_t{-1}}}, {x, {{2, 6, 1}, DType::int64}}},
      {Op::hstack, {}, {{{3}}, {{4}}}},
      {Op::pad_sequence, {{"batch_first", true}, {"padding_value", -1.0}}, {{{3, 2}}, {{5, 2}}}},
      {Op::meshgrid, {{"indexing", std::string("xy")}}, {{{3}}, {{4}}, {{2}}}},
      {Op::diag, {{"diagonal", int64_t{1}}}, {{{4}}}},
      {Op::diag, {{"diagonal", int64_t{-1}}}, {{{4, 5}}}},
      {Op::diag_embed, {{"offset", int64_t{-1}}, {"dim1", int64_t{0}}, {"dim2", int64_t{2}}}, {{{3, 4}}}},
      {Op::cosine_similarity, {{"dim", int64_t{-1}}, {"eps", 1e-8}}, {{{3, 4}}, {{4}}}},
  };
}

}  // namespace

std::vector<Case> MoreCases() {
  std::vector<Case> cases;
  for (auto& part : {Windows(), Resampled(), Recurrent(), Indexed(), Numbers(), Reduced(), Layers()})
    cases.insert(cases.end(), part.begin(), part.end());
  return cases;
}

}  // namespace cobra::exporting
