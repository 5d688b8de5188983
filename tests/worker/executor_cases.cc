#include "tests/worker/executor_cases.h"

namespace cobra {
namespace {

using Ints = std::vector<int64_t>;
Attributes Dim(int64_t dim) { return {{"dim", dim}}; }

}  // namespace

std::vector<Case> LinearAlgebraCases() {
  const Operand square = {{2, 4, 4}}, tall = {{2, 5, 3}}, right = {{2, 4, 2}};
  std::vector<Case> cases;
  for (Op op : {Op::inverse, Op::linalg_inv, Op::cholesky, Op::linalg_cholesky, Op::matrix_exp, Op::linalg_matrix_exp,
                Op::det, Op::linalg_det, Op::logdet, Op::slogdet, Op::linalg_slogdet, Op::linalg_eigh,
                Op::linalg_eigvalsh, Op::linalg_eig, Op::linalg_eigvals, Op::linalg_inv_ex, Op::linalg_cholesky_ex}) {
    cases.push_back({op, {}, {square}});
  }
  for (Op op : {Op::svd, Op::linalg_svd, Op::linalg_svdvals, Op::qr, Op::linalg_qr, Op::pinverse, Op::linalg_pinv,
                Op::linalg_matrix_rank, Op::linalg_cond, Op::linalg_lu_factor, Op::linalg_lu}) {
    cases.push_back({op, {}, {tall}});
  }
  for (Op op : {Op::matrix_power, Op::linalg_matrix_power}) cases.push_back({op, {{"n", int64_t{3}}}, {square}});
  cases.push_back({Op::cholesky_inverse, {{"upper", false}}, {{{4, 4}}}});
  cases.push_back({Op::linalg_solve, {}, {square, right}});
  cases.push_back({Op::linalg_solve_triangular, {{"upper", true}}, {square, right}});
  cases.push_back({Op::triangular_solve, {}, {right, square}});
  cases.push_back({Op::cholesky_solve, {}, {right, square}});
  cases.push_back({Op::linalg_lstsq, {}, {tall, {{2, 5, 2}}}});
  cases.push_back({Op::linalg_tensorinv, {{"ind", int64_t{2}}}, {{{4, 6, 8, 3}}}});
  cases.push_back(
      {Op::linalg_matrix_norm, {{"ord", std::string("fro")}, {"dim", Ints{-2, -1}}, {"keepdim", false}}, {tall}});
  cases.push_back({Op::linalg_householder_product, {}, {tall, {{2, 3}}}});
  cases.push_back({Op::linalg_tensorsolve, {}, {{{2, 3, 6}}, {{2, 3}}}});
  cases.push_back({Op::lu, {{"pivot", true}}, {square}});
  cases.push_back({Op::lu, {{"pivot", true}, {"get_infos", true}}, {square}});
  cases.push_back({Op::lu_unpack, {{"unpack_data", true}, {"unpack_pivots", false}}, {square, {{2, 4}, DType::int32}}});
  cases.push_back({Op::linalg_cross, Dim(-1), {{{4, 3}}, {{4, 3}}}});
  cases.push_back({Op::linalg_vander, {{"N", int64_t{4}}}, {{{3}}}});
  cases.push_back({Op::vander, {{"N", int64_t{4}}, {"increasing", true}}, {{{3}}}});
  cases.push_back(
      {Op::linalg_diagonal, {{"offset", int64_t{1}}, {"dim1", int64_t{-2}}, {"dim2", int64_t{-1}}}, {square}});
  cases.push_back({Op::linalg_matmul, {}, {square, right}});
  cases.push_back({Op::ger, {}, {{{3}}, {{4}}}});
  cases.push_back({Op::vdot, {}, {{{4}}, {{4}}}});
  cases.push_back({Op::inner, {}, {{{2, 4}}, {{3, 4}}}});
  cases.push_back({Op::kron, {}, {{{2, 3}}, {{3, 2}}}});
  cases.push_back({Op::tensordot, {{"dims", int64_t{1}}}, {{{2, 4}}, {{4, 3}}}});
  cases.push_back({Op::tensordot, {{"axes", Ints{0, 1}}}, {{{4, 2}}, {{3, 4}}}});
  cases.push_back({Op::addmv, {{"beta", 0.5}, {"alpha", int64_t{2}}}, {{{3}}, {{3, 4}}, {{4}}}});
  cases.push_back({Op::addr, {}, {{{3, 4}}, {{3}}, {{4}}}});
  cases.push_back({Op::addbmm, {}, {{{3, 5}}, {{2, 3, 4}}, {{2, 4, 5}}}});
  cases.push_back({Op::chain_matmul, {}, {{{2, 3}}, {{3, 4}}, {{4, 5}}}});
  cases.push_back({Op::linalg_multi_dot, {}, {{{2, 3}}, {{3, 4}}, {{4, 5}}}});
  cases.push_back({Op::linalg_vecdot, Dim(-1), {{{2, 3}}, {{2, 3}}}});
  cases.push_back({Op::cov, {{"correction", int64_t{1}}}, {{{3, 5}}, kNone, kNone}});
  cases.push_back({Op::corrcoef, {}, {{{3, 5}}}});
  cases.push_back({Op::pdist, {{"p", 2.0}}, {{{5, 3}}}});
  cases.push_back({Op::conv_tbc, {{"pad", int64_t{1}}}, {{{10, 2, 4}}, {{3, 4, 6}}, {{6}}}});
  const auto cell = [](int64_t gates, int states) {
    std::vector<Operand> operands{{{2, 5}}};
    for (int i = 0; i < states; ++i) operands.push_back({{2, 6}});
    for (const Shape& shape : {Shape{gates * 6, 5}, Shape{gates * 6, 6}, Shape{gates * 6}, Shape{gates * 6}})
      operands.push_back({shape});
    return operands;
  };
  cases.push_back({Op::lstm_cell, {}, cell(4, 2)});
  cases.push_back({Op::gru_cell, {}, cell(3, 1)});
  cases.push_back({Op::rnn_tanh_cell, {}, cell(1, 1)});
  cases.push_back({Op::rnn_relu_cell, {}, cell(1, 1)});
  return cases;
}

std::vector<Case> LossCases() {
  const Operand x = {{4, 7}};
  const Attributes mean = {{"reduction", std::string("mean")}}, none = {{"reduction", std::string("none")}};
  const Operand target = Index({4});
  return {
      {Op::huber_loss, {{"reduction", std::string("mean")}, {"delta", 1.0}}, {x, x}},
      {Op::binary_cross_entropy_with_logits, mean, {x, x, kNone, {{7}}}},
      // A probability outside [0, 1] is refused, and inputs are random: nothing to compute.
      {Op::binary_cross_entropy, none, {{{0, 7}}, {{0, 7}}, kNone}},
      {Op::nll_loss, {{"ignore_index", int64_t{-100}}, {"reduction", std::string("mean")}}, {x, target, kNone}},
      {Op::kl_div, {{"reduction", std::string("batchmean")}, {"log_target", true}}, {x, x}},
      {Op::poisson_nll_loss,
       {{"log_input", true}, {"full", false}, {"eps", 1e-8}, {"reduction", std::string("mean")}},
       {x, x}},
      {Op::gaussian_nll_loss, {{"full", true}, {"eps", 1e-6}, {"reduction", std::string("mean")}}, {x, x, {{4, 1}}}},
      {Op::hinge_embedding_loss, {{"margin", 1.0}, {"reduction", std::string("sum")}}, {x, x}},
      {Op::soft_margin_loss, mean, {x, x}},
      {Op::margin_ranking_loss, {{"margin", 0.5}, {"reduction", std::string("mean")}}, {x, x, x}},
      {Op::cosine_embedding_loss, {{"margin", 0.0}, {"reduction", std::string("none")}}, {x, x, {{4}}}},
      {Op::multi_margin_loss,
       {{"p", int64_t{1}}, {"margin", 1.0}, {"reduction", std::string("mean")}},
       {x, target, kNone}},
      {Op::multilabel_margin_loss, mean, {x, Index({4, 7})}},
      {Op::multilabel_soft_margin_loss, mean, {x, x, kNone}},
      {Op::triplet_margin_loss,
       {{"margin", 1.0}, {"p", 2.0}, {"eps", 1e-6}, {"swap", false}, {"reduction", std::string("mean")}},
       {x, x, x}},
      {Op::triplet_margin_with_distance_loss,
       {{"margin", 0.5}, {"swap", true}, {"reduction", std::string("mean")}},
       {x, x, x}},
      {Op::ctc_loss,
       {{"input_lengths", Ints{9, 9}},
        {"target_lengths", Ints{3, 3}},
        {"blank", int64_t{0}},
        {"reduction", std::string("mean")},
        {"zero_infinity", false}},
       {{{9, 2, 5}}, Index({2, 3}), kNone, kNone}},
  };
}

std::vector<Case> RareCases() {
  const Operand x = {{2, 8, 6, 6}}, ints = {{4, 5}, DType::int64}, complex = {{2, 8}, DType::complex64}, line = {{6}};
  const std::string reduce = "sum";
  std::vector<Case> cases = {
      {Op::mvlgamma, {{"p", int64_t{1}}}, {{{0, 3}}}},
      {Op::special_multigammaln, {{"p", int64_t{1}}}, {{{0, 3}}}},
      {Op::polygamma, {{"n", int64_t{1}}}, {x}},
      {Op::special_polygamma, {{"n", int64_t{1}}}, {x}},
      {Op::special_round, {{"decimals", int64_t{0}}}, {x}},
      {Op::special_softmax, Dim(1), {x}},
      {Op::special_log_softmax, Dim(1), {x}},
      {Op::special_logsumexp, {{"dim", Ints{1}}, {"keepdim", false}}, {x}},
      {Op::gumbel_softmax, {{"tau", 1.0}, {"hard", true}, {"eps", 1e-10}, {"dim", int64_t{-1}}}, {x}},
      {Op::complex, {}, {x, x}},
      {Op::ldexp, {}, {x, x}},
      {Op::isin, {{"assume_unique", false}, {"invert", false}}, {x, line}},
      {Op::isin, {{"test_elements", 2.0}}, {x, kNone}},
      {Op::xlogy, {{"other", 2.0}}, {x, kNone}},
      {Op::float_power, {{"exponent", int64_t{2}}}, {x, kNone}},
      {Op::copysign, {{"other", -1.0}}, {x, kNone}},
      {Op::rmod, {{"other", 2.0}}, {x, kNone}},
      {Op::quantile,
       {{"q", 0.5}, {"dim", int64_t{1}}, {"keepdim", true}, {"interpolation", std::string("linear")}},
       {x, kNone}},
      {Op::nanquantile, {{"q", 0.5}, {"keepdim", false}, {"interpolation", std::string("nearest")}}, {x, kNone}},
      {Op::nanmedian, {{"dim", int64_t{1}}, {"keepdim", true}}, {x}},
      {Op::nanmean, {{"dim", Ints{1}}, {"keepdim", true}}, {x}},
      {Op::nansum, {{"dim", Ints{1}}, {"keepdim", true}}, {x}},
      {Op::frobenius_norm, {{"dim", Ints{1}}, {"keepdim", false}}, {x}},
      {Op::nuclear_norm, {{"keepdim", false}}, {{{3, 4}}}},
      {Op::renorm, {{"p", int64_t{2}}, {"dim", int64_t{0}}, {"maxnorm", int64_t{1}}}, {x}},
      {Op::logcumsumexp, Dim(1), {x}},
      {Op::cummax, Dim(1), {x}},
      {Op::cummin, Dim(1), {x}},
      {Op::trapezoid, {{"dx", 0.5}, {"dim", int64_t{-1}}}, {x, kNone}},
      {Op::trapz, {{"dim", int64_t{-1}}}, {x, line}},
      {Op::cumulative_trapezoid, {{"dim", int64_t{-1}}}, {x, kNone}},
      {Op::histc, {{"bins", int64_t{10}}, {"min", int64_t{0}}, {"max", int64_t{1}}}, {x}},
      {Op::diff, {{"n", int64_t{1}}, {"dim", int64_t{-1}}}, {x, x, kNone}},
      {Op::take, {}, {x, ints}},
      {Op::put, {{"accumulate", false}}, {x, ints, {{4, 5}}}},
      {Op::index_copy, Dim(1), {x, Index({2}), {{2, 2, 6, 6}}}},
      {Op::index_reduce,
       {{"dim", int64_t{1}}, {"reduce", std::string("amax")}, {"include_self", true}},
       {x, Index({2}), {{2, 2, 6, 6}}}},
      {Op::index_put, {{"accumulate", false}}, {{{6, 4}}, {{2, 4}}, Index({2})}},
      {Op::scatter_reduce,
       {{"dim", int64_t{1}}, {"reduce", reduce}, {"include_self", true}},
       {{{4, 5}}, ints, {{4, 5}}}},
      {Op::masked_scatter, {}, {{{4, 5}}, {{4, 5}, DType::bool_}, {{20}}}},
      {Op::select_scatter, {{"dim", int64_t{1}}, {"index", int64_t{0}}}, {x, {{2, 6, 6}}}},
      {Op::slice_scatter,
       {{"dim", int64_t{1}}, {"start", int64_t{2}}, {"end", int64_t{6}}, {"step", int64_t{2}}},
       {x, {{2, 2, 6, 6}}}},
      {Op::diagonal_scatter, {}, {{{4, 5}}, {{4}}}},
      {Op::searchsorted, {{"right", true}}, {line, {{3, 4}}, kNone}},
      {Op::embedding_bag, {{"mode", std::string("mean")}}, {Index({3, 4}), {{10, 8}}, kNone, kNone}},
      {Op::embedding_bag, {{"mode", std::string("sum")}}, {Index({7}), {{10, 8}}, Index({2}), kNone}},
      {Op::multinomial, {{"num_samples", int64_t{1}}, {"replacement", true}}, {{{0, 5}}}},
      {Op::column_stack, {}, {line, line}},
      {Op::cartesian_prod, {}, {line, {{3}}}},
      {Op::block_diag, {}, {{{2, 3}}, {{4, 5}}}},
      {Op::combinations, {{"r", int64_t{2}}, {"with_replacement", true}}, {line}},
      {Op::constant_pad_nd, {{"pad", Ints{1, 2}}, {"value", 0.5}}, {x}},
      {Op::diag_embed, {{"offset", int64_t{0}}, {"dim1", int64_t{-2}}, {"dim2", int64_t{-1}}}, {x}},
      {Op::diagflat, {{"offset", int64_t{1}}}, {line}},
      {Op::fill_diagonal, {{"fill_value", 1.0}, {"wrap", false}}, {{{4, 5}}}, true},
      {Op::narrow_copy, {{"dim", int64_t{1}}, {"start", int64_t{2}}, {"length", int64_t{3}}}, {x}},
      {Op::resize, {{"size", Ints{3, 4}}}, {x}, true},
      {Op::exponential, {{"lambd", 1.0}}, {x}, true},
      {Op::log_normal, {{"mean", 1.0}, {"std", 2.0}}, {x}, true},
      {Op::cauchy, {{"median", 0.0}, {"sigma", 1.0}}, {x}, true},
      {Op::geometric, {{"p", 0.5}}, {x}, true},
      {Op::random, {{"to", int64_t{5}}}, {x}, true},
      {Op::poisson, {}, {{{0, 3}}}},
      {Op::bernoulli, {{"p", 0.5}}, {x, kNone}},
      {Op::normal, {{"mean", 0.0}, {"std", 1.0}}, {x, kNone}, true},
      {Op::normal, {{"std", 1.0}}, {x, kNone}},
      {Op::repeat_interleave, {{"dim", int64_t{0}}, {"output_size", int64_t{0}}}, {{{0, 3}}, Index({0})}},
      {Op::hsplit, {{"sections", int64_t{2}}}, {x}},
      {Op::vsplit, {{"sections", int64_t{2}}}, {x}},
      {Op::dsplit, {{"indices", Ints{1, 3}}}, {x}},
      {Op::split_with_sizes, {{"split_size", Ints{3, 5}}, {"dim", int64_t{1}}}, {x}},
      {Op::unsafe_split, {{"split_size", int64_t{3}}, {"dim", int64_t{1}}}, {x}},
      {Op::unsafe_split_with_sizes, {{"split_size", Ints{3, 5}}, {"dim", int64_t{1}}}, {x}},
      {Op::unsafe_chunk, {{"chunks", int64_t{2}}, {"dim", int64_t{1}}}, {x}},
      {Op::grid_sampler,
       {{"interpolation_mode", int64_t{0}}, {"padding_mode", int64_t{0}}, {"align_corners", false}},
       {x, {{2, 3, 4, 2}}}},
      {Op::max_unpool1d,
       {{"kernel_size", Ints{2}}, {"stride", Ints{2}}, {"padding", Ints{0}}},
       {{{2, 8, 6}}, Index({2, 8, 6})}},
      {Op::max_unpool3d,
       {{"kernel_size", Ints{2, 2, 2}}, {"stride", Ints{2, 2, 2}}, {"padding", Ints{0, 0, 0}}},
       {{{2, 2, 2, 2, 2}}, Index({2, 2, 2, 2, 2})}},
      {Op::prelu, {}, {x, {{1}}}},
      {Op::stft,
       {{"n_fft", int64_t{8}},
        {"center", true},
        {"pad_mode", std::string("reflect")},
        {"normalized", false},
        {"return_complex", true}},
       {{{2, 40}}, {{8}}}},
      {Op::istft,
       {{"n_fft", int64_t{8}}, {"center", true}, {"normalized", false}, {"return_complex", false}},
       {{{2, 5, 12}, DType::complex64}, kNone}},
  };
  for (Op op : {Op::fft_hfft, Op::fft_hfft2, Op::fft_hfftn, Op::fft_irfftn}) cases.push_back({op, {}, {complex}});
  for (Op op : {Op::fft_ihfft, Op::fft_ihfft2, Op::fft_ihfftn, Op::fft_rfftn}) cases.push_back({op, {}, {x}});
  for (Op op : {Op::gcd, Op::lcm, Op::bitwise_left_shift, Op::bitwise_right_shift})
    cases.push_back({op, {}, {ints, ints}});
  for (Op op : {Op::special_xlogy, Op::special_xlog1py, Op::special_zeta})
    cases.push_back({op, {{"other", 2.0}}, {x, kNone}});
  cases.push_back({Op::logical_and, {}, {x, x}, true});
  cases.push_back({Op::lgamma, {}, {x}, true});
  return cases;
}

}  // namespace cobra
