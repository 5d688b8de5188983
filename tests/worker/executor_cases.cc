#include "tests/worker/executor_cases.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;
graph::Attributes Dim(int64_t dim) { return {{"dim", dim}}; }

}  // namespace

// Long because it is a list of calls.
std::vector<Case> LinearAlgebraCases() {
  const Operand square = {{2, 4, 4}}, tall = {{2, 5, 3}}, right = {{2, 4, 2}};
  std::vector<Case> cases;
  for (graph::Op op :
       {graph::Op::inverse, graph::Op::linalg_inv, graph::Op::cholesky, graph::Op::linalg_cholesky,
        graph::Op::matrix_exp, graph::Op::linalg_matrix_exp, graph::Op::det, graph::Op::linalg_det, graph::Op::logdet,
        graph::Op::slogdet, graph::Op::linalg_slogdet, graph::Op::linalg_eigh, graph::Op::linalg_eigvalsh,
        graph::Op::linalg_eig, graph::Op::linalg_eigvals, graph::Op::linalg_inv_ex, graph::Op::linalg_cholesky_ex}) {
    cases.push_back({op, {}, {square}});
  }
  for (graph::Op op : {graph::Op::svd, graph::Op::linalg_svd, graph::Op::linalg_svdvals, graph::Op::qr,
                       graph::Op::linalg_qr, graph::Op::pinverse, graph::Op::linalg_pinv, graph::Op::linalg_matrix_rank,
                       graph::Op::linalg_cond, graph::Op::linalg_lu_factor, graph::Op::linalg_lu}) {
    cases.push_back({op, {}, {tall}});
  }
  for (graph::Op op : {graph::Op::matrix_power, graph::Op::linalg_matrix_power})
    cases.push_back({op, {{"n", int64_t{3}}}, {square}});
  cases.push_back({graph::Op::cholesky_inverse, {{"upper", false}}, {{{4, 4}}}});
  cases.push_back({graph::Op::linalg_solve, {}, {square, right}});
  cases.push_back({graph::Op::linalg_solve_triangular, {{"upper", true}}, {square, right}});
  cases.push_back({graph::Op::triangular_solve, {}, {right, square}});
  cases.push_back({graph::Op::cholesky_solve, {}, {right, square}});
  cases.push_back({graph::Op::linalg_lstsq, {}, {tall, {{2, 5, 2}}}});
  cases.push_back({graph::Op::linalg_tensorinv, {{"ind", int64_t{2}}}, {{{4, 6, 8, 3}}}});
  cases.push_back({graph::Op::linalg_matrix_norm,
                   {{"ord", std::string("fro")}, {"dim", Ints{-2, -1}}, {"keepdim", false}},
                   {tall}});
  cases.push_back({graph::Op::linalg_householder_product, {}, {tall, {{2, 3}}}});
  cases.push_back({graph::Op::linalg_tensorsolve, {}, {{{2, 3, 6}}, {{2, 3}}}});
  cases.push_back({graph::Op::lu, {{"pivot", true}}, {square}});
  cases.push_back({graph::Op::lu, {{"pivot", true}, {"get_infos", true}}, {square}});
  cases.push_back({graph::Op::lu_unpack,
                   {{"unpack_data", true}, {"unpack_pivots", false}},
                   {square, {{2, 4}, graph::DType::int32}}});
  cases.push_back({graph::Op::linalg_cross, Dim(-1), {{{4, 3}}, {{4, 3}}}});
  cases.push_back({graph::Op::linalg_vander, {{"N", int64_t{4}}}, {{{3}}}});
  cases.push_back({graph::Op::vander, {{"N", int64_t{4}}, {"increasing", true}}, {{{3}}}});
  cases.push_back(
      {graph::Op::linalg_diagonal, {{"offset", int64_t{1}}, {"dim1", int64_t{-2}}, {"dim2", int64_t{-1}}}, {square}});
  cases.push_back({graph::Op::linalg_matmul, {}, {square, right}});
  cases.push_back({graph::Op::ger, {}, {{{3}}, {{4}}}});
  cases.push_back({graph::Op::vdot, {}, {{{4}}, {{4}}}});
  cases.push_back({graph::Op::inner, {}, {{{2, 4}}, {{3, 4}}}});
  cases.push_back({graph::Op::kron, {}, {{{2, 3}}, {{3, 2}}}});
  cases.push_back({graph::Op::tensordot, {{"dims", int64_t{1}}}, {{{2, 4}}, {{4, 3}}}});
  cases.push_back({graph::Op::tensordot, {{"axes", Ints{0, 1}}}, {{{4, 2}}, {{3, 4}}}});
  cases.push_back({graph::Op::addmv, {{"beta", 0.5}, {"alpha", int64_t{2}}}, {{{3}}, {{3, 4}}, {{4}}}});
  cases.push_back({graph::Op::addr, {}, {{{3, 4}}, {{3}}, {{4}}}});
  cases.push_back({graph::Op::addbmm, {}, {{{3, 5}}, {{2, 3, 4}}, {{2, 4, 5}}}});
  cases.push_back({graph::Op::chain_matmul, {}, {{{2, 3}}, {{3, 4}}, {{4, 5}}}});
  cases.push_back({graph::Op::linalg_multi_dot, {}, {{{2, 3}}, {{3, 4}}, {{4, 5}}}});
  cases.push_back({graph::Op::linalg_vecdot, Dim(-1), {{{2, 3}}, {{2, 3}}}});
  cases.push_back({graph::Op::cov, {{"correction", int64_t{1}}}, {{{3, 5}}, kNone, kNone}});
  cases.push_back({graph::Op::corrcoef, {}, {{{3, 5}}}});
  cases.push_back({graph::Op::pdist, {{"p", 2.0}}, {{{5, 3}}}});
  cases.push_back({graph::Op::conv_tbc, {{"pad", int64_t{1}}}, {{{10, 2, 4}}, {{3, 4, 6}}, {{6}}}});
  const auto cell = [](int64_t gates, int states) {
    std::vector<Operand> operands{{{2, 5}}};
    for (int i = 0; i < states; ++i) operands.push_back({{2, 6}});
    for (const graph::Shape& shape :
         {graph::Shape{gates * 6, 5}, graph::Shape{gates * 6, 6}, graph::Shape{gates * 6}, graph::Shape{gates * 6}})
      operands.push_back({shape});
    return operands;
  };
  cases.push_back({graph::Op::lstm_cell, {}, cell(4, 2)});
  cases.push_back({graph::Op::gru_cell, {}, cell(3, 1)});
  cases.push_back({graph::Op::rnn_tanh_cell, {}, cell(1, 1)});
  cases.push_back({graph::Op::rnn_relu_cell, {}, cell(1, 1)});
  return cases;
}

std::vector<Case> LossCases() {
  const Operand x = {{4, 7}};
  const graph::Attributes mean = {{"reduction", std::string("mean")}}, none = {{"reduction", std::string("none")}};
  const Operand target = Index({4});
  return {
      {graph::Op::huber_loss, {{"reduction", std::string("mean")}, {"delta", 1.0}}, {x, x}},
      {graph::Op::binary_cross_entropy_with_logits, mean, {x, x, kNone, {{7}}}},
      // A probability outside [0, 1] is refused, and inputs are random: nothing to compute.
      {graph::Op::binary_cross_entropy, none, {{{0, 7}}, {{0, 7}}, kNone}},
      {graph::Op::nll_loss, {{"ignore_index", int64_t{-100}}, {"reduction", std::string("mean")}}, {x, target, kNone}},
      {graph::Op::kl_div, {{"reduction", std::string("batchmean")}, {"log_target", true}}, {x, x}},
      {graph::Op::poisson_nll_loss,
       {{"log_input", true}, {"full", false}, {"eps", 1e-8}, {"reduction", std::string("mean")}},
       {x, x}},
      {graph::Op::gaussian_nll_loss,
       {{"full", true}, {"eps", 1e-6}, {"reduction", std::string("mean")}},
       {x, x, {{4, 1}}}},
      {graph::Op::hinge_embedding_loss, {{"margin", 1.0}, {"reduction", std::string("sum")}}, {x, x}},
      {graph::Op::soft_margin_loss, mean, {x, x}},
      {graph::Op::margin_ranking_loss, {{"margin", 0.5}, {"reduction", std::string("mean")}}, {x, x, x}},
      {graph::Op::cosine_embedding_loss, {{"margin", 0.0}, {"reduction", std::string("none")}}, {x, x, {{4}}}},
      {graph::Op::multi_margin_loss,
       {{"p", int64_t{1}}, {"margin", 1.0}, {"reduction", std::string("mean")}},
       {x, target, kNone}},
      {graph::Op::multilabel_margin_loss, mean, {x, Index({4, 7})}},
      {graph::Op::multilabel_soft_margin_loss, mean, {x, x, kNone}},
      {graph::Op::triplet_margin_loss,
       {{"margin", 1.0}, {"p", 2.0}, {"eps", 1e-6}, {"swap", false}, {"reduction", std::string("mean")}},
       {x, x, x}},
      {graph::Op::triplet_margin_with_distance_loss,
       {{"margin", 0.5}, {"swap", true}, {"reduction", std::string("mean")}},
       {x, x, x}},
      {graph::Op::ctc_loss,
       {{"input_lengths", Ints{9, 9}},
        {"target_lengths", Ints{3, 3}},
        {"blank", int64_t{0}},
        {"reduction", std::string("mean")},
        {"zero_infinity", false}},
       {{{9, 2, 5}}, Index({2, 3}), kNone, kNone}},
  };
}

// Long because it is a list of calls.
std::vector<Case> RareCases() {
  const Operand x = {{2, 8, 6, 6}}, ints = {{4, 5}, graph::DType::int64}, complex = {{2, 8}, graph::DType::complex64},
                line = {{6}};
  const std::string reduce = "sum";
  std::vector<Case> cases = {
      {graph::Op::mvlgamma, {{"p", int64_t{1}}}, {{{0, 3}}}},
      {graph::Op::special_multigammaln, {{"p", int64_t{1}}}, {{{0, 3}}}},
      {graph::Op::polygamma, {{"n", int64_t{1}}}, {x}},
      {graph::Op::special_polygamma, {{"n", int64_t{1}}}, {x}},
      {graph::Op::special_round, {{"decimals", int64_t{0}}}, {x}},
      {graph::Op::special_softmax, Dim(1), {x}},
      {graph::Op::special_log_softmax, Dim(1), {x}},
      {graph::Op::special_logsumexp, {{"dim", Ints{1}}, {"keepdim", false}}, {x}},
      {graph::Op::gumbel_softmax, {{"tau", 1.0}, {"hard", true}, {"eps", 1e-10}, {"dim", int64_t{-1}}}, {x}},
      {graph::Op::complex, {}, {x, x}},
      {graph::Op::ldexp, {}, {x, x}},
      {graph::Op::isin, {{"assume_unique", false}, {"invert", false}}, {x, line}},
      {graph::Op::isin, {{"test_elements", 2.0}}, {x, kNone}},
      {graph::Op::xlogy, {{"other", 2.0}}, {x, kNone}},
      {graph::Op::float_power, {{"exponent", int64_t{2}}}, {x, kNone}},
      {graph::Op::copysign, {{"other", -1.0}}, {x, kNone}},
      {graph::Op::rmod, {{"other", 2.0}}, {x, kNone}},
      {graph::Op::quantile,
       {{"q", 0.5}, {"dim", int64_t{1}}, {"keepdim", true}, {"interpolation", std::string("linear")}},
       {x, kNone}},
      {graph::Op::nanquantile, {{"q", 0.5}, {"keepdim", false}, {"interpolation", std::string("nearest")}}, {x, kNone}},
      {graph::Op::nanmedian, {{"dim", int64_t{1}}, {"keepdim", true}}, {x}},
      {graph::Op::nanmean, {{"dim", Ints{1}}, {"keepdim", true}}, {x}},
      {graph::Op::nansum, {{"dim", Ints{1}}, {"keepdim", true}}, {x}},
      {graph::Op::frobenius_norm, {{"dim", Ints{1}}, {"keepdim", false}}, {x}},
      {graph::Op::nuclear_norm, {{"keepdim", false}}, {{{3, 4}}}},
      {graph::Op::renorm, {{"p", int64_t{2}}, {"dim", int64_t{0}}, {"maxnorm", int64_t{1}}}, {x}},
      {graph::Op::logcumsumexp, Dim(1), {x}},
      {graph::Op::cummax, Dim(1), {x}},
      {graph::Op::cummin, Dim(1), {x}},
      {graph::Op::trapezoid, {{"dx", 0.5}, {"dim", int64_t{-1}}}, {x, kNone}},
      {graph::Op::trapz, {{"dim", int64_t{-1}}}, {x, line}},
      {graph::Op::cumulative_trapezoid, {{"dim", int64_t{-1}}}, {x, kNone}},
      {graph::Op::histc, {{"bins", int64_t{10}}, {"min", int64_t{0}}, {"max", int64_t{1}}}, {x}},
      {graph::Op::diff, {{"n", int64_t{1}}, {"dim", int64_t{-1}}}, {x, x, kNone}},
      {graph::Op::take, {}, {x, ints}},
      {graph::Op::put, {{"accumulate", false}}, {x, ints, {{4, 5}}}},
      {graph::Op::index_copy, Dim(1), {x, Index({2}), {{2, 2, 6, 6}}}},
      {graph::Op::index_reduce,
       {{"dim", int64_t{1}}, {"reduce", std::string("amax")}, {"include_self", true}},
       {x, Index({2}), {{2, 2, 6, 6}}}},
      {graph::Op::index_put, {{"accumulate", false}}, {{{6, 4}}, {{2, 4}}, Index({2})}},
      {graph::Op::scatter_reduce,
       {{"dim", int64_t{1}}, {"reduce", reduce}, {"include_self", true}},
       {{{4, 5}}, ints, {{4, 5}}}},
      {graph::Op::masked_scatter, {}, {{{4, 5}}, {{4, 5}, graph::DType::bool_}, {{20}}}},
      {graph::Op::select_scatter, {{"dim", int64_t{1}}, {"index", int64_t{0}}}, {x, {{2, 6, 6}}}},
      {graph::Op::slice_scatter,
       {{"dim", int64_t{1}}, {"start", int64_t{2}}, {"end", int64_t{6}}, {"step", int64_t{2}}},
       {x, {{2, 2, 6, 6}}}},
      {graph::Op::diagonal_scatter, {}, {{{4, 5}}, {{4}}}},
      {graph::Op::searchsorted, {{"right", true}}, {line, {{3, 4}}, kNone}},
      {graph::Op::embedding_bag, {{"mode", std::string("mean")}}, {Index({3, 4}), {{10, 8}}, kNone, kNone}},
      {graph::Op::embedding_bag, {{"mode", std::string("sum")}}, {Index({7}), {{10, 8}}, Index({2}), kNone}},
      {graph::Op::multinomial, {{"num_samples", int64_t{1}}, {"replacement", true}}, {{{0, 5}}}},
      {graph::Op::column_stack, {}, {line, line}},
      {graph::Op::cartesian_prod, {}, {line, {{3}}}},
      {graph::Op::block_diag, {}, {{{2, 3}}, {{4, 5}}}},
      {graph::Op::combinations, {{"r", int64_t{2}}, {"with_replacement", true}}, {line}},
      {graph::Op::constant_pad_nd, {{"pad", Ints{1, 2}}, {"value", 0.5}}, {x}},
      {graph::Op::diag_embed, {{"offset", int64_t{0}}, {"dim1", int64_t{-2}}, {"dim2", int64_t{-1}}}, {x}},
      {graph::Op::diagflat, {{"offset", int64_t{1}}}, {line}},
      {graph::Op::fill_diagonal, {{"fill_value", 1.0}, {"wrap", false}}, {{{4, 5}}}, true},
      {graph::Op::narrow_copy, {{"dim", int64_t{1}}, {"start", int64_t{2}}, {"length", int64_t{3}}}, {x}},
      {graph::Op::resize, {{"size", Ints{3, 4}}}, {x}, true},
      {graph::Op::exponential, {{"lambd", 1.0}}, {x}, true},
      {graph::Op::log_normal, {{"mean", 1.0}, {"std", 2.0}}, {x}, true},
      {graph::Op::cauchy, {{"median", 0.0}, {"sigma", 1.0}}, {x}, true},
      {graph::Op::geometric, {{"p", 0.5}}, {x}, true},
      {graph::Op::random, {{"to", int64_t{5}}}, {x}, true},
      {graph::Op::poisson, {}, {{{0, 3}}}},
      {graph::Op::bernoulli, {{"p", 0.5}}, {x, kNone}},
      {graph::Op::normal, {{"mean", 0.0}, {"std", 1.0}}, {x, kNone}, true},
      {graph::Op::normal, {{"std", 1.0}}, {x, kNone}},
      {graph::Op::repeat_interleave, {{"dim", int64_t{0}}, {"output_size", int64_t{0}}}, {{{0, 3}}, Index({0})}},
      {graph::Op::hsplit, {{"sections", int64_t{2}}}, {x}},
      {graph::Op::vsplit, {{"sections", int64_t{2}}}, {x}},
      {graph::Op::dsplit, {{"indices", Ints{1, 3}}}, {x}},
      {graph::Op::split_with_sizes, {{"split_size", Ints{3, 5}}, {"dim", int64_t{1}}}, {x}},
      {graph::Op::unsafe_split, {{"split_size", int64_t{3}}, {"dim", int64_t{1}}}, {x}},
      {graph::Op::unsafe_split_with_sizes, {{"split_size", Ints{3, 5}}, {"dim", int64_t{1}}}, {x}},
      {graph::Op::unsafe_chunk, {{"chunks", int64_t{2}}, {"dim", int64_t{1}}}, {x}},
      {graph::Op::grid_sampler,
       {{"interpolation_mode", int64_t{0}}, {"padding_mode", int64_t{0}}, {"align_corners", false}},
       {x, {{2, 3, 4, 2}}}},
      {graph::Op::max_unpool1d,
       {{"kernel_size", Ints{2}}, {"stride", Ints{2}}, {"padding", Ints{0}}},
       {{{2, 8, 6}}, Index({2, 8, 6})}},
      {graph::Op::max_unpool3d,
       {{"kernel_size", Ints{2, 2, 2}}, {"stride", Ints{2, 2, 2}}, {"padding", Ints{0, 0, 0}}},
       {{{2, 2, 2, 2, 2}}, Index({2, 2, 2, 2, 2})}},
      {graph::Op::prelu, {}, {x, {{1}}}},
      {graph::Op::stft,
       {{"n_fft", int64_t{8}},
        {"center", true},
        {"pad_mode", std::string("reflect")},
        {"normalized", false},
        {"return_complex", true}},
       {{{2, 40}}, {{8}}}},
      {graph::Op::istft,
       {{"n_fft", int64_t{8}}, {"center", true}, {"normalized", false}, {"return_complex", false}},
       {{{2, 5, 12}, graph::DType::complex64}, kNone}},
  };
  for (graph::Op op : {graph::Op::fft_hfft, graph::Op::fft_hfft2, graph::Op::fft_hfftn, graph::Op::fft_irfftn})
    cases.push_back({op, {}, {complex}});
  for (graph::Op op : {graph::Op::fft_ihfft, graph::Op::fft_ihfft2, graph::Op::fft_ihfftn, graph::Op::fft_rfftn})
    cases.push_back({op, {}, {x}});
  for (graph::Op op : {graph::Op::gcd, graph::Op::lcm, graph::Op::bitwise_left_shift, graph::Op::bitwise_right_shift})
    cases.push_back({op, {}, {ints, ints}});
  for (graph::Op op : {graph::Op::special_xlogy, graph::Op::special_xlog1py, graph::Op::special_zeta})
    cases.push_back({op, {{"other", 2.0}}, {x, kNone}});
  cases.push_back({graph::Op::logical_and, {}, {x, x}, true});
  cases.push_back({graph::Op::lgamma, {}, {x}, true});
  return cases;
}

}  // namespace cobra::worker
