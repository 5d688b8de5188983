#include <set>

#include "tests/worker/executor_cases.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;

// Operators of tensors alone get the same small image for each; what needs other operands or
// attributes is in Cases().
std::vector<Case> PlainCases(const std::set<graph::Op>& covered) {
  std::vector<Case> cases;
  for (const graph::OpInfo& info : graph::AllOps()) {
    if (covered.count(info.op) > 0 || NotInLibTorch().count(info.op) > 0) continue;
    Case c{info.op, {}, {}};
    for (const graph::OpInputSpec& input : info.inputs) {
      if (!input.variadic) c.operands.push_back({{2, 8, 6, 6}});
    }
    if (!info.inputs.empty() && info.inputs.back().variadic) c.operands.assign(2, {{2, 8, 6, 6}});
    cases.push_back(std::move(c));
  }
  return cases;
}

std::vector<Case> ConvolutionCases() {
  const graph::Attributes conv1 = {
      {"stride", Ints{1}}, {"padding", Ints{1}}, {"dilation", Ints{1}}, {"groups", int64_t{1}}};
  const graph::Attributes conv2 = {
      {"stride", Ints{2, 2}}, {"padding", Ints{1, 1}}, {"dilation", Ints{1, 1}}, {"groups", int64_t{2}}};
  const graph::Attributes same = {
      {"stride", Ints{1, 1}}, {"padding", std::string("same")}, {"dilation", Ints{1, 1}}, {"groups", int64_t{1}}};
  const graph::Attributes conv3 = {
      {"stride", Ints{1, 1, 1}}, {"padding", Ints{0, 0, 0}}, {"dilation", Ints{1, 1, 1}}, {"groups", int64_t{1}}};
  const auto transposed = [](int n) {
    return graph::Attributes{{"stride", Ints(n, 2)},
                             {"padding", Ints(n, 1)},
                             {"output_padding", Ints(n, 1)},
                             {"groups", int64_t{1}},
                             {"dilation", Ints(n, 1)}};
  };
  const graph::Attributes windows = {
      {"kernel_size", Ints{3, 3}}, {"dilation", Ints{1, 1}}, {"padding", Ints{1, 1}}, {"stride", Ints{2, 2}}};
  graph::Attributes fold = windows;
  fold.Set("output_size", Ints{6, 6});
  return {
      {graph::Op::conv1d, conv1, {{{1, 4, 9}}, {{8, 4, 3}}, {{8}}}},
      {graph::Op::conv2d, conv2, {{{1, 4, 9, 9}}, {{8, 2, 3, 3}}, kNone}},
      {graph::Op::conv2d, same, {{{1, 4, 9, 9}}, {{8, 4, 3, 3}}, {{8}}}},
      {graph::Op::conv3d, conv3, {{{1, 2, 5, 5, 5}}, {{3, 2, 3, 3, 3}}, {{3}}}},
      {graph::Op::conv_transpose1d, transposed(1), {{{1, 4, 9}}, {{4, 6, 3}}, {{6}}}},
      {graph::Op::conv_transpose2d, transposed(2), {{{1, 4, 9, 9}}, {{4, 6, 3, 3}}, {{6}}}},
      {graph::Op::conv_transpose3d, transposed(3), {{{1, 2, 5, 5, 5}}, {{2, 3, 3, 3, 3}}, kNone}},
      {graph::Op::unfold, windows, {{{2, 3, 6, 6}}}},
      {graph::Op::fold, fold, {{{2, 27, 9}}}},
  };
}

// Long because it is a list of calls.
std::vector<Case> ProductCases() {
  const graph::Attributes beta = {{"beta", 0.5}, {"alpha", int64_t{2}}};
  const graph::Attributes recurrent = {{"has_biases", true},
                                       {"num_layers", int64_t{1}},
                                       {"dropout", 0.0},
                                       {"bidirectional", false},
                                       {"batch_first", true}};
  const auto gates = [](int n) { return std::vector<Operand>{{{n * 6, 5}}, {{n * 6, 6}}, {{n * 6}}, {{n * 6}}}; };
  const auto with = [](std::vector<Operand> first, std::vector<Operand> rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
  };
  const graph::Attributes packed = {{"has_biases", true},
                                    {"num_layers", int64_t{1}},
                                    {"dropout", 0.0},
                                    {"bidirectional", false},
                                    {"batch_sizes", Ints{3, 2, 1}}};
  const auto packed_gates = [&](int n) { return with(gates(n), {Index({3})}); };
  const graph::Attributes attention = {{"embed_dim_to_check", int64_t{8}},
                                       {"num_heads", int64_t{2}},
                                       {"add_zero_attn", false},
                                       {"dropout_p", 0.0},
                                       {"need_weights", true},
                                       {"use_separate_proj_weight", false},
                                       {"average_attn_weights", true}};
  return {
      {graph::Op::linear, {}, {{{2, 5}}, {{3, 5}}, {{3}}}},
      {graph::Op::linear, {}, {{{2, 4, 5}}, {{3, 5}}, kNone}},
      {graph::Op::bilinear, {}, {{{2, 3}}, {{2, 4}}, {{5, 3, 4}}, {{5}}}},
      {graph::Op::matmul, {}, {{{2, 3, 4}}, {{4, 5}}}},
      {graph::Op::bmm, {}, {{{2, 3, 4}}, {{2, 4, 5}}}},
      {graph::Op::mm, {}, {{{3, 4}}, {{4, 5}}}},
      {graph::Op::mv, {}, {{{3, 4}}, {{4}}}},
      {graph::Op::dot, {}, {{{4}}, {{4}}}},
      {graph::Op::outer, {}, {{{3}}, {{4}}}},
      {graph::Op::addmm, beta, {{{5}}, {{3, 4}}, {{4, 5}}}},
      {graph::Op::_grouped_mm, {}, {{{6, 4}}, {{3, 4, 5}}, {{3}, graph::DType::int32}, kNone}},
      {graph::Op::_grouped_mm, {}, {{{3, 6, 4}}, {{4, 7}}, {{3}, graph::DType::int32}, kNone}},
      {graph::Op::_grouped_mm, {}, {{{6, 4}}, {{4, 7}}, {{2}, graph::DType::int32}, kNone}},
      {graph::Op::_grouped_mm, {}, {{{3, 6, 4}}, {{3, 4, 5}}, kNone, kNone}},
      {graph::Op::baddbmm, beta, {{{2, 3, 5}}, {{2, 3, 4}}, {{2, 4, 5}}}},
      {graph::Op::einsum, {{"equation", std::string("bij,bjk->bik")}}, {{{2, 3, 4}}, {{2, 4, 5}}}},
      {graph::Op::scaled_dot_product_attention,
       {{"dropout_p", 0.0}, {"is_causal", false}},
       {{{2, 4, 8, 16}}, {{2, 4, 8, 16}}, {{2, 4, 8, 16}}, kNone}},
      {graph::Op::multi_head_attention_forward,
       attention,
       {{{5, 2, 8}},
        {{5, 2, 8}},
        {{5, 2, 8}},
        {{24, 8}},
        {{24}},
        kNone,
        kNone,
        {{8, 8}},
        {{8}},
        kNone,
        kNone,
        kNone,
        kNone,
        kNone,
        kNone,
        kNone}},
      {graph::Op::lstm, recurrent, with({{{2, 7, 5}}, {{1, 2, 6}}, {{1, 2, 6}}}, gates(4))},
      {graph::Op::gru, recurrent, with({{{2, 7, 5}}, {{1, 2, 6}}}, gates(3))},
      {graph::Op::rnn_tanh, recurrent, with({{{2, 7, 5}}, {{1, 2, 6}}}, gates(1))},
      {graph::Op::rnn_relu, recurrent, with({{{2, 7, 5}}, {{1, 2, 6}}}, gates(1))},
      {graph::Op::lstm, packed, with({{{6, 5}}, {{1, 3, 6}}, {{1, 3, 6}}}, packed_gates(4))},
      {graph::Op::gru, packed, with({{{6, 5}}, {{1, 3, 6}}}, packed_gates(3))},
      {graph::Op::rnn_tanh, packed, with({{{6, 5}}, {{1, 3, 6}}}, packed_gates(1))},
      {graph::Op::rnn_relu, packed, with({{{6, 5}}, {{1, 3, 6}}}, packed_gates(1))},
      {graph::Op::_pack_padded_sequence,
       {{"batch_sizes", Ints{3, 2, 1}}, {"batch_first", true}},
       {{{3, 4, 5}}, {{3}, graph::DType::int64}}},
      {graph::Op::_pad_packed_sequence,
       {{"batch_sizes", Ints{3, 2, 1}}, {"batch_first", false}, {"padding_value", 0.5}, {"total_length", int64_t{7}}},
       {{{6, 5}}, {{3}, graph::DType::int64}}},
      {graph::Op::new_, {{"size", Ints{2, 7}}}, {{{3}}}},
      {graph::Op::cdist, {{"p", 2.0}}, {{{2, 5, 3}}, {{2, 7, 3}}}},
  };
}

std::vector<Case> NormCases() {
  const Operand x = {{2, 8, 6, 6}}, c = {{8}};
  return {
      {graph::Op::batch_norm, {{"eps", 1e-5}}, {x, c, c, c, c}},
      {graph::Op::batch_norm, {{"eps", 1e-5}}, {x, kNone, kNone, kNone, kNone}},
      {graph::Op::batch_norm, {{"eps", 1e-5}, {"training", true}}, {x, c, c, c, c}},
      {graph::Op::instance_norm, {{"eps", 1e-5}, {"use_input_stats", true}}, {x, c, c, c, c}},
      {graph::Op::layer_norm, {{"normalized_shape", Ints{6}}, {"eps", 1e-5}}, {x, {{6}}, {{6}}}},
      {graph::Op::group_norm, {{"num_groups", int64_t{4}}, {"eps", 1e-5}}, {x, c, c}},
      {graph::Op::instance_norm, {{"eps", 1e-5}}, {x, kNone, kNone, c, c}},
      {graph::Op::rms_norm, {{"normalized_shape", Ints{6}}}, {x, {{6}}}},
      {graph::Op::local_response_norm, {{"size", int64_t{5}}, {"alpha", 1e-4}, {"beta", 0.75}, {"k", 1.0}}, {x}},
      {graph::Op::normalize, {{"p", 2.0}, {"dim", int64_t{1}}, {"eps", 1e-12}}, {x}},
      {graph::Op::_weight_norm, {{"dim", int64_t{0}}}, {{{4, 3, 3}}, {{4, 1, 1}}}},
      {graph::Op::softmax, {{"dim", int64_t{-1}}}, {x}},
      {graph::Op::log_softmax, {{"dim", int64_t{1}}}, {x}},
      {graph::Op::softmin, {{"dim", int64_t{1}}}, {x}},
  };
}

// Long because it is a list of calls.
std::vector<Case> PoolCases() {
  const auto max = [](int n, bool indices) {
    return graph::Attributes{{"kernel_size", Ints(n, 3)}, {"stride", Ints(n, 2)}, {"padding", Ints(n, 1)},
                             {"dilation", Ints(n, 1)},    {"ceil_mode", true},    {"return_indices", indices}};
  };
  const auto avg = [](int n) {
    return graph::Attributes{{"kernel_size", Ints(n, 2)},
                             {"stride", Ints(n, 2)},
                             {"padding", Ints(n, 0)},
                             {"ceil_mode", false},
                             {"count_include_pad", true}};
  };
  const auto lp = [](int n) {
    return graph::Attributes{
        {"norm_type", 2.0}, {"kernel_size", Ints(n, 2)}, {"stride", Ints(n, 2)}, {"ceil_mode", false}};
  };
  const auto size = [](int n) { return graph::Attributes{{"output_size", Ints(n, 2)}}; };
  const Operand line = {{2, 8, 12}}, image = {{2, 8, 6, 6}}, volume = {{1, 4, 6, 6, 6}};
  const Ints doubled = {12, 12};
  return {
      {graph::Op::max_pool1d, max(1, false), {line}},
      {graph::Op::max_pool2d, max(2, false), {image}},
      {graph::Op::max_pool2d, max(2, true), {image}},
      {graph::Op::max_pool3d, max(3, false), {volume}},
      {graph::Op::avg_pool1d, avg(1), {line}},
      {graph::Op::avg_pool2d, avg(2), {image}},
      {graph::Op::avg_pool3d, avg(3), {volume}},
      {graph::Op::lp_pool1d, lp(1), {line}},
      {graph::Op::lp_pool2d, lp(2), {image}},
      {graph::Op::adaptive_avg_pool1d, size(1), {line}},
      {graph::Op::adaptive_avg_pool2d, size(2), {image}},
      {graph::Op::adaptive_avg_pool2d, {{"output_size", Ints{-1, 1}}}, {image}},
      {graph::Op::adaptive_avg_pool3d, size(3), {volume}},
      {graph::Op::adaptive_max_pool1d, size(1), {line}},
      {graph::Op::adaptive_max_pool2d, size(2), {image}},
      {graph::Op::adaptive_max_pool3d, size(3), {volume}},
      {graph::Op::fractional_max_pool2d, {{"kernel_size", Ints{2, 2}}, {"output_ratio", 0.5}}, {image, kNone}},
      {graph::Op::fractional_max_pool3d,
       {{"kernel_size", Ints{1, 1, 1}}, {"output_size", Ints{1, 1, 1}}},
       {volume, kNone}},
      {graph::Op::fractional_max_pool2d_with_indices,
       {{"kernel_size", Ints{2, 2}}, {"output_size", Ints{2, 2}}, {"return_indices", true}},
       {image, kNone}},
      {graph::Op::fractional_max_pool3d_with_indices,
       {{"kernel_size", Ints{1, 1, 1}}, {"output_size", Ints{1, 1, 1}}, {"return_indices", true}},
       {volume, kNone}},
      {graph::Op::max_unpool2d,
       {{"kernel_size", Ints{2, 2}}, {"stride", Ints{2, 2}}, {"padding", Ints{0, 0}}},
       {image, Index({2, 8, 6, 6})}},
      {graph::Op::interpolate, {{"size", doubled}, {"mode", std::string("nearest")}}, {image}},
      {graph::Op::interpolate,
       {{"size", doubled}, {"mode", std::string("bilinear")}, {"align_corners", true}},
       {image}},
      {graph::Op::interpolate,
       {{"scale_factor", std::vector<double>{2, 2}}, {"mode", std::string("bicubic")}, {"align_corners", false}},
       {image}},
      {graph::Op::grid_sample,
       {{"mode", std::string("bilinear")}, {"padding_mode", std::string("zeros")}, {"align_corners", false}},
       {image, {{2, 5, 7, 2}}}},
      {graph::Op::affine_grid, {{"size", Ints{2, 3, 5, 7}}, {"align_corners", false}}, {{{2, 2, 3}}}},
      {graph::Op::roi_align,
       {{"spatial_scale", 0.5},
        {"pooled_height", int64_t{3}},
        {"pooled_width", int64_t{2}},
        {"sampling_ratio", int64_t{2}},
        {"aligned", true}},
       {{{2, 4, 9, 8}}, {{5, 5}}}},
      {graph::Op::pixel_shuffle, {{"upscale_factor", int64_t{2}}}, {image}},
      {graph::Op::pixel_unshuffle, {{"downscale_factor", int64_t{2}}}, {image}},
      {graph::Op::channel_shuffle, {{"groups", int64_t{2}}}, {image}},
  };
}

std::vector<Case> ElementwiseCases() {
  const Operand x = {{2, 8, 6, 6}}, row = {{6}}, mask = {{2, 8, 6, 6}, graph::DType::bool_},
                ints = {{4, 5}, graph::DType::int64};
  std::vector<Case> cases = {
      {graph::Op::relu, {}, {x}, true},
      {graph::Op::hardtanh, {{"min_val", 0.0}, {"max_val", 6.0}}, {x}, true},
      {graph::Op::prelu, {}, {x, {{8}}}},
      {graph::Op::glu, {{"dim", int64_t{1}}}, {x}},
      {graph::Op::gelu, {{"approximate", std::string("tanh")}}, {x}},
      {graph::Op::threshold, {{"threshold", 0.5}, {"value", 0.0}}, {x}},
      {graph::Op::dropout, {{"p", 0.5}}, {x}},
      {graph::Op::dropout1d, {{"p", 0.5}}, {{{2, 8, 6}}}},
      {graph::Op::add, {}, {x, x}, true},
      {graph::Op::add, {{"other", int64_t{3}}, {"alpha", int64_t{2}}}, {x, kNone}},
      {graph::Op::div, {{"rounding_mode", std::string("floor")}}, {x, row}},
      {graph::Op::pow, {{"exponent", int64_t{2}}}, {x, kNone}},
      {graph::Op::pow, {{"input", 2.0}}, {kNone, x}},
      {graph::Op::lerp, {{"weight", 0.5}}, {x, x, kNone}},
      {graph::Op::addcmul, {{"value", 0.5}}, {x, x, row}},
      {graph::Op::addcdiv, {{"value", 0.5}}, {x, x, row}},
      {graph::Op::cross, {{"dim", int64_t{1}}}, {{{4, 3}}, {{4, 3}}}},
      {graph::Op::cosine_similarity, {{"dim", int64_t{1}}, {"eps", 1e-8}}, {x, x}},
      {graph::Op::pairwise_distance, {{"p", 2.0}, {"eps", 1e-6}, {"keepdim", false}}, {{{4, 3}}, {{4, 3}}}},
      {graph::Op::clamp, {{"min", 0.0}, {"max", 1.0}}, {x, kNone, kNone}, true},
      {graph::Op::clamp_min, {{"min", 0.0}}, {x, kNone}},
      {graph::Op::clamp_max, {{"max", 1.0}}, {x, kNone}},
      {graph::Op::round, {{"decimals", int64_t{0}}}, {x}},
      {graph::Op::isclose, {{"rtol", 1e-5}, {"atol", 1e-8}, {"equal_nan", false}}, {x, x}},
      {graph::Op::where, {}, {mask, x, x}},
      {graph::Op::where, {{"other", 0.0}}, {mask, x, kNone}},
      {graph::Op::masked_fill, {{"value", -1.0}}, {x, mask, kNone}},
      {graph::Op::cross_entropy,
       {{"ignore_index", int64_t{-100}}, {"reduction", std::string("mean")}, {"label_smoothing", 0.0}},
       {{{4, 7}}, Index({4}), kNone}},
      {graph::Op::mse_loss, {{"reduction", std::string("mean")}}, {x, x}},
      {graph::Op::l1_loss, {{"reduction", std::string("sum")}}, {x, x}},
      {graph::Op::smooth_l1_loss, {{"reduction", std::string("none")}, {"beta", 1.0}}, {x, x}},
  };
  for (graph::Op op : {graph::Op::sub, graph::Op::rsub, graph::Op::mul, graph::Op::rdiv, graph::Op::floor_divide,
                       graph::Op::rfloor_divide, graph::Op::remainder, graph::Op::fmod, graph::Op::rpow, graph::Op::eq,
                       graph::Op::ne, graph::Op::lt, graph::Op::le, graph::Op::gt, graph::Op::ge}) {
    cases.push_back({op, {{"other", 2.0}}, {x, kNone}});
  }
  for (graph::Op op : {graph::Op::bitwise_and, graph::Op::bitwise_or, graph::Op::bitwise_xor})
    cases.push_back({op, {}, {ints, ints}});
  cases.push_back({graph::Op::bitwise_not, {}, {ints}});
  return cases;
}

std::vector<Case> ReductionCases() {
  const Operand x = {{2, 8, 6, 6}};
  const graph::Attributes dim = {{"dim", int64_t{1}}, {"keepdim", true}},
                          dims = {{"dim", Ints{2, 3}}, {"keepdim", false}};
  const graph::Attributes spread = {{"dim", Ints{1}}, {"unbiased", false}, {"keepdim", true}};
  std::vector<Case> cases = {
      {graph::Op::sum, dims, {x}},
      {graph::Op::mean, dims, {x}},
      {graph::Op::mean, {}, {x}},
      {graph::Op::prod, dim, {x}},
      {graph::Op::var, spread, {x}},
      {graph::Op::std, spread, {x}},
      {graph::Op::var_mean, spread, {x}},
      {graph::Op::std_mean, spread, {x}},
      {graph::Op::amax, dims, {x}},
      {graph::Op::amin, dims, {x}},
      {graph::Op::aminmax, dim, {x}},
      {graph::Op::max, dim, {x, kNone}},
      {graph::Op::max, {}, {x, x}},
      {graph::Op::max, {}, {x, kNone}},
      {graph::Op::min, dim, {x, kNone}},
      {graph::Op::median, dim, {x}},
      {graph::Op::mode, dim, {x}},
      {graph::Op::kthvalue, {{"k", int64_t{2}}, {"dim", int64_t{1}}, {"keepdim", false}}, {x}},
      {graph::Op::argmax, dim, {x}},
      {graph::Op::argmin, dim, {x}},
      {graph::Op::any, dim, {x}},
      {graph::Op::all, dim, {x}},
      {graph::Op::count_nonzero, {{"dim", int64_t{1}}}, {x}},
      {graph::Op::logsumexp, dims, {x}},
      {graph::Op::norm, {{"p", 2.0}, {"dim", Ints{1}}, {"keepdim", true}}, {x}},
      {graph::Op::linalg_norm, {{"dim", Ints{1}}, {"keepdim", false}}, {x}},
      {graph::Op::linalg_vector_norm, {{"ord", 2.0}, {"dim", Ints{1}}, {"keepdim", false}}, {x}},
      {graph::Op::cumsum, {{"dim", int64_t{1}}}, {x}},
      {graph::Op::cumprod, {{"dim", int64_t{1}}}, {x}},
      {graph::Op::diff, {{"n", int64_t{1}}, {"dim", int64_t{-1}}}, {x}},
      {graph::Op::trace, {}, {{{4, 4}}}},
      {graph::Op::gradient, {{"spacing", 0.5}, {"dim", Ints{1, 2}}, {"edge_order", int64_t{1}}}, {x}},
      {graph::Op::gradient, {{"edge_order", int64_t{1}}}, {x}},
      {graph::Op::sum_to_size, {{"size", Ints{1, 1}}}, {{{4, 4}}}},
      {graph::Op::fake_quantize_per_tensor_affine,
       {{"scale", 0.1}, {"zero_point", int64_t{0}}, {"quant_min", int64_t{-128}}, {"quant_max", int64_t{127}}},
       {x, kNone, kNone}},
      {graph::Op::fake_quantize_per_channel_affine,
       {{"axis", int64_t{1}}, {"quant_min", int64_t{-128}}, {"quant_max", int64_t{127}}},
       {{{4, 3}}, {{3}}, {{3}, graph::DType::int32}}},
      {graph::Op::topk, {{"k", int64_t{3}}, {"dim", int64_t{-1}}, {"largest", true}, {"sorted", true}}, {x}},
      {graph::Op::sort, {{"stable", false}, {"dim", int64_t{-1}}, {"descending", true}}, {x}},
      {graph::Op::argsort, {{"stable", false}, {"dim", int64_t{-1}}, {"descending", false}}, {x}},
  };
  return cases;
}

std::vector<Case> IndexCases() {
  const Operand x = {{4, 5}};
  const graph::Attributes dim = {{"dim", int64_t{1}}};
  return {
      {graph::Op::gather, dim, {x, Index({4, 3})}},
      {graph::Op::take_along_dim, dim, {x, Index({4, 3})}},
      {graph::Op::scatter, dim, {x, Index({4, 3}), {{4, 3}}}},
      {graph::Op::scatter, {{"dim", int64_t{1}}, {"value", 1.0}}, {x, Index({4, 3}), kNone}},
      {graph::Op::scatter_add, dim, {x, Index({4, 3}), {{4, 3}}}},
      {graph::Op::index_select, dim, {x, Index({3})}},
      {graph::Op::index_add, {{"dim", int64_t{1}}, {"alpha", int64_t{1}}}, {x, Index({3}), {{4, 3}}}},
      {graph::Op::index_fill, {{"dim", int64_t{1}}, {"value", 0.5}}, {x, Index({3}), kNone}},
      {graph::Op::bucketize, {{"out_int32", false}, {"right", false}}, {x, {{7}}}},
      {graph::Op::embedding, {}, {Index({2, 3}), {{10, 4}}}},
      {graph::Op::one_hot, {{"num_classes", int64_t{6}}}, {Index({2, 3})}},
      {graph::Op::getitem, {{"index", std::string("0, 1:4")}}, {x}},
      {graph::Op::getitem, {{"index", std::string("..., None")}}, {x}},
      {graph::Op::getitem, {{"index", std::string(":, T0")}}, {x, Index({3})}},
      {graph::Op::setitem, {{"index", std::string("0, 1:4")}, {"value", 0.5}}, {x}, true},
      {graph::Op::setitem, {{"index", std::string(":, 1:4")}}, {x, {{4, 3}}}, true},
  };
}

// Long because it is a list of calls.
std::vector<Case> CopyAndViewCases() {
  const Operand x = {{2, 8, 6, 6}}, square = {{4, 4}}, complex = {{4, 6}, graph::DType::complex64};
  const graph::Attributes dim0 = {{"dim", int64_t{0}}};
  return {
      {graph::Op::cat, {{"dim", int64_t{1}}}, {x, x, x}},
      {graph::Op::stack, dim0, {x, x}},
      {graph::Op::pad, {{"pad", Ints{1, 1, 2, 2}}, {"mode", std::string("constant")}, {"value", 0.0}}, {x}},
      {graph::Op::quantize_per_tensor,
       {{"scale", 0.1}, {"zero_point", int64_t{3}}, {"dtype", std::string("int8")}},
       {x}},
      {graph::Op::pad, {{"pad", Ints{1, 1, 1, 1}}, {"mode", std::string("reflect")}}, {x}},
      {graph::Op::roll, {{"shifts", Ints{1, 2}}, {"dims", Ints{2, 3}}}, {x}},
      {graph::Op::flip, {{"dims", Ints{1}}}, {x}},
      {graph::Op::rot90, {{"k", int64_t{1}}, {"dims", Ints{2, 3}}}, {x}},
      {graph::Op::repeat, {{"repeats", Ints{1, 2, 1, 1}}}, {x}},
      {graph::Op::tile, {{"dims", Ints{1, 2, 1, 1}}}, {x}},
      {graph::Op::repeat_interleave, {{"repeats", int64_t{3}}, {"dim", int64_t{1}}}, {x}},
      {graph::Op::triu, {{"diagonal", int64_t{1}}}, {square}},
      {graph::Op::tril, {{"diagonal", int64_t{0}}}, {square}},
      {graph::Op::diag, {{"diagonal", int64_t{0}}}, {square}},
      {graph::Op::copy, {}, {x, x}, true},
      {graph::Op::fill, {{"value", 1.0}}, {x, kNone}, true},
      {graph::Op::zero, {}, {x}, true},
      {graph::Op::normal, {{"mean", 0.0}, {"std", 1.0}}, {x}, true},
      {graph::Op::uniform, {{"from", 0.0}, {"to", 1.0}}, {x}, true},
      {graph::Op::bernoulli, {{"p", 0.5}}, {x}, true},
      {graph::Op::to, {{"dtype", std::string("float16")}}, {x, kNone}},
      {graph::Op::type, {{"dtype", std::string("int64")}}, {x}},
      {graph::Op::type_as, {}, {x, Index({1})}},
      {graph::Op::meshgrid, {{"indexing", std::string("ij")}}, {{{3}}, {{4}}}},
      {graph::Op::view, {{"size", Ints{2, -1}}}, {x}},
      {graph::Op::reshape, {{"shape", Ints{16, 36}}}, {x}},
      {graph::Op::view_as, {}, {{{16, 36}}, x}},
      {graph::Op::reshape_as, {}, {{{16, 36}}, x}},
      {graph::Op::flatten, {{"start_dim", int64_t{1}}, {"end_dim", int64_t{-1}}}, {x}},
      {graph::Op::unflatten, {{"dim", int64_t{1}}, {"sizes", Ints{2, 4}}}, {x}},
      {graph::Op::permute, {{"dims", Ints{0, 2, 3, 1}}}, {x}},
      {graph::Op::transpose, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {x}},
      {graph::Op::t, {}, {square}},
      {graph::Op::T, {}, {square}},
      {graph::Op::H, {}, {square}},
      {graph::Op::movedim, {{"source", Ints{1}}, {"destination", Ints{3}}}, {x}},
      {graph::Op::select, {{"dim", int64_t{1}}, {"index", int64_t{2}}}, {x}},
      {graph::Op::narrow, {{"dim", int64_t{1}}, {"start", int64_t{2}}, {"length", int64_t{3}}}, {x}},
      {graph::Op::diagonal, {{"offset", int64_t{0}}, {"dim1", int64_t{2}}, {"dim2", int64_t{3}}}, {x}},
      {graph::Op::tensor_unfold, {{"dimension", int64_t{2}}, {"size", int64_t{3}}, {"step", int64_t{1}}}, {x}},
      {graph::Op::as_strided, {{"size", Ints{2, 3}}, {"stride", Ints{3, 1}}}, {x}},
      {graph::Op::split, {{"split_size", int64_t{3}}, {"dim", int64_t{1}}}, {x}},
      {graph::Op::split, {{"split_size", Ints{2, 6}}, {"dim", int64_t{1}}}, {x}},
      {graph::Op::tensor_split, {{"sections", int64_t{3}}, {"dim", int64_t{1}}}, {x}},
      {graph::Op::chunk, {{"chunks", int64_t{3}}, {"dim", int64_t{1}}}, {x}},
      {graph::Op::unbind, {{"dim", int64_t{1}}}, {x}},
      {graph::Op::squeeze, {{"dim", int64_t{1}}}, {{{2, 1, 3}}}},
      {graph::Op::unsqueeze, {{"dim", int64_t{-1}}}, {x}},
      {graph::Op::expand, {{"size", Ints{4, -1, 3}}}, {{{4, 2, 1}}}},
      {graph::Op::expand_as, {}, {{{2, 1, 6, 6}}, x}},
      {graph::Op::broadcast_to, {{"size", Ints{4, 2, 3}}}, {{{4, 2, 1}}}},
      {graph::Op::imag, {}, {complex}},
      {graph::Op::real, {}, {complex}},
      {graph::Op::view_as_real, {}, {complex}},
      {graph::Op::view_as_complex, {}, {{{4, 6, 2}}}},
      {graph::Op::fft_fft, {{"dim", int64_t{-1}}}, {x}},
      {graph::Op::fft_ifft, {{"dim", int64_t{-1}}}, {complex}},
      {graph::Op::fft_rfft, {{"dim", int64_t{-1}}}, {x}},
      {graph::Op::fft_irfft, {{"dim", int64_t{-1}}}, {complex}},
      {graph::Op::fft_fft2, {{"dim", Ints{-2, -1}}}, {x}},
      {graph::Op::fft_ifft2, {{"dim", Ints{-2, -1}}}, {complex}},
      {graph::Op::fft_rfft2, {{"dim", Ints{-2, -1}}}, {x}},
      {graph::Op::fft_irfft2, {{"dim", Ints{-2, -1}}}, {complex}},
      {graph::Op::fft_fftn, {}, {x}},
      {graph::Op::fft_ifftn, {}, {complex}},
  };
}

}  // namespace

const std::set<graph::Op>& NotInLibTorch() {
  static const auto* const ops = new std::set<graph::Op>{graph::Op::deform_conv2d};
  return *ops;
}

std::vector<Case> CreationCases() {
  const auto made = [](Ints size, const char* dtype, graph::Attributes attributes = {}) {
    attributes.Set("size", std::move(size));
    attributes.Set("dtype", std::string(dtype));
    return attributes;
  };
  return {
      {graph::Op::empty, made({2, 3}, "float32"), {}},
      {graph::Op::zeros, made({2, 3}, "int64"), {}},
      {graph::Op::zeros, made({}, "float32"), {}},
      {graph::Op::ones, made({2, 3}, "bool"), {}},
      {graph::Op::full, made({2, 3}, "float32", {{"fill_value", -INFINITY}}), {}},
      {graph::Op::full, made({2, 3}, "int32", {{"fill_value", int64_t{7}}}), {}},
      {graph::Op::tensor, made({2, 3}, "float64"), {}},
      {graph::Op::tensor, made({}, "int64"), {}},
      {graph::Op::arange, made({0}, "int64", {{"start", int64_t{3}}, {"step", int64_t{2}}}), {}},
      {graph::Op::arange, made({5}, "int64", {{"start", int64_t{3}}, {"step", int64_t{-2}}}), {}},
      {graph::Op::arange, made({10}, "float32", {{"start", 0.1}, {"step", 0.1}}), {}},
      {graph::Op::linspace, made({7}, "float32", {{"start", 0.0}, {"end", 1.0}}), {}},
      {graph::Op::eye, made({3, 4}, "float32"), {}},
      {graph::Op::tril_indices, made({2, 6}, "int64", {{"row", int64_t{3}}, {"col", int64_t{3}}}), {}},
      {graph::Op::triu_indices,
       made({2, 3}, "int64", {{"row", int64_t{3}}, {"col", int64_t{3}}, {"offset", int64_t{1}}}),
       {}},
      {graph::Op::rand, made({2, 3}, "float32"), {}},
      {graph::Op::randn, made({2, 3}, "float32"), {}},
      {graph::Op::randint, made({2, 3}, "int64", {{"low", int64_t{0}}, {"high", int64_t{9}}}), {}},
      {graph::Op::randperm, made({5}, "int64"), {}},
  };
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (auto part :
       {ConvolutionCases(), ProductCases(), NormCases(), PoolCases(), ElementwiseCases(), ReductionCases(),
        IndexCases(), CopyAndViewCases(), CreationCases(), LinearAlgebraCases(), LossCases(), RareCases()}) {
    cases.insert(cases.end(), part.begin(), part.end());
  }
  std::set<graph::Op> covered;
  for (const Case& c : cases) covered.insert(c.op);
  for (Case& c : PlainCases(covered)) cases.push_back(std::move(c));
  return cases;
}

}  // namespace cobra::worker
