#include "lab/variants/call_model.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>

#include "absl/strings/str_cat.h"

namespace cobra::lab {
namespace {

constexpr double kLength = 2.5;       // of the Gaussian kernel, over numbers of unit variance
constexpr double kNoise = 0.02;       // of log-time, over the kernel's variance
constexpr double kTrend = 3;          // ridge penalty of the linear trend below the kernel
constexpr double kOperator = 2;       // another operator is as far away as a difference by this in two numbers
constexpr double kPseudoCount = 0.3;  // the regression counts as this many networks besides those that have the call

// [calls, numbers + 1], [calls, numbers + kinds]: the inputs of trend and kernel.
struct Vectors {
  at::Tensor trend, kernel;
};
Vectors VectorsOf(const NetworkSet& set) {
  const auto calls = static_cast<int64_t>(set.calls.size()), numbers = static_cast<int64_t>(kCallNumbers);
  at::Tensor values = at::empty({calls, numbers}, at::kDouble);
  at::Tensor kinds = at::zeros({calls, static_cast<int64_t>(set.kinds.size())}, at::kDouble);
  for (int64_t c = 0; c < calls; ++c) {
    const Call& call = set.calls[static_cast<size_t>(c)];
    std::copy(call.numbers.begin(), call.numbers.end(), values.data_ptr<double>() + c * numbers);
    kinds.data_ptr<double>()[c * kinds.size(1) + call.kind] = kOperator;
  }
  values = values - values.mean(0);
  values = values / ((values * values).mean(0).sqrt() + 1e-6);
  return {at::cat({values, at::ones({calls, 1}, at::kDouble), kinds}, 1), at::cat({values, kinds}, 1)};
}

at::Tensor Kernel(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor d2 = (a * a).sum(1, true) + (b * b).sum(1) - 2 * at::matmul(a, b.t());
  return (d2.clamp_min(0) * (-0.5 / (kLength * kLength))).exp();
}

struct Regression {
  at::Tensor all;       // [calls]
  at::Tensor left_out;  // [rows]: each call of the training set, predicted without itself
};
Regression Regress(const Vectors& vectors, const std::vector<int64_t>& rows, const std::vector<double>& log_us) {
  const auto n = static_cast<int64_t>(rows.size());
  at::Tensor index = at::empty({n}, at::kLong), target = at::empty({n, 1}, at::kDouble);
  std::copy(rows.begin(), rows.end(), index.data_ptr<int64_t>());
  std::copy(log_us.begin(), log_us.end(), target.data_ptr<double>());
  const at::Tensor trend = vectors.trend.index_select(0, index), learned = vectors.kernel.index_select(0, index);
  const at::Tensor slope = at::linalg_solve(at::matmul(trend.t(), trend) + at::eye(trend.size(1), at::kDouble) * kTrend,
                                            at::matmul(trend.t(), target));
  const at::Tensor factor = at::linalg_cholesky(Kernel(learned, learned) + at::eye(n, at::kDouble) * kNoise);
  const at::Tensor weights = at::cholesky_solve(target - at::matmul(trend, slope), factor);
  // In a kernel regression, a row's residual without that row is its weight over the diagonal of
  // the inverse.
  const at::Tensor left_out = target - weights / at::cholesky_inverse(factor).diagonal().unsqueeze(1);
  const at::Tensor all = at::matmul(vectors.trend, slope) + at::matmul(Kernel(vectors.kernel, learned), weights);
  const double low = target.min().item<double>() - 1, high = target.max().item<double>() + 1;
  return {all.squeeze(1).clamp(low, high).contiguous(), left_out.squeeze(1).clamp(low, high).contiguous()};
}

// Mean log-time of each call of a network.
std::map<int32_t, double> MeansOf(const NetworkSet::Network& network) {
  std::map<int32_t, std::pair<double, int>> sums;
  for (size_t i = 0; i < network.calls.size(); ++i) {
    if (std::isnan(network.log_us[i])) continue;
    auto& [sum, count] = sums[network.calls[i]];
    sum += network.log_us[i];
    ++count;
  }
  std::map<int32_t, double> means;
  for (const auto& [call, sum] : sums) means[call] = sum.first / sum.second;
  return means;
}

}  // namespace

absl::StatusOr<CallModel> CallModel::Fit(const NetworkSet& set, absl::Span<const size_t> train) {
  CallModel model(set);
  model.learned_.assign(set.networks.size(), 0);
  model.known_.resize(set.calls.size());
  for (size_t n : train) {
    model.learned_[n] = 1;
    for (const auto& [call, mean] : MeansOf(set.networks[n])) {
      model.known_[static_cast<size_t>(call)].sum += mean;
      ++model.known_[static_cast<size_t>(call)].networks;
    }
  }
  std::vector<int64_t> rows;
  std::vector<double> log_us;
  for (size_t c = 0; c < set.calls.size(); ++c) {
    if (model.known_[c].networks == 0) continue;
    rows.push_back(static_cast<int64_t>(c));
    log_us.push_back(model.known_[c].sum / model.known_[c].networks);
  }
  if (rows.empty()) return absl::InvalidArgumentError("fit: no network has a profile of its calls (node_latency_us)");
  try {
    const Regression regression = Regress(VectorsOf(set), rows, log_us);
    model.regressed_.assign(regression.all.data_ptr<double>(),
                            regression.all.data_ptr<double>() + regression.all.numel());
    model.left_out_ = model.regressed_;
    for (size_t r = 0; r < rows.size(); ++r)
      model.left_out_[static_cast<size_t>(rows[r])] = regression.left_out.data_ptr<double>()[r];
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("fit: ", e.what()));
  }
  return model;
}

std::vector<double> CallModel::LogUs(size_t network) const {
  const NetworkSet::Network& asked = set_->networks[network];
  std::map<int32_t, double> own;
  if (learned_[network] != 0) own = MeansOf(asked);
  std::vector<double> log_us;
  for (int32_t c : asked.calls) {
    Known known = known_[static_cast<size_t>(c)];
    if (const auto mine = own.find(c); mine != own.end()) {
      known.sum -= mine->second;
      --known.networks;
    }
    const double regressed =
        known.networks == 0 && !own.empty() ? left_out_[static_cast<size_t>(c)] : regressed_[static_cast<size_t>(c)];
    log_us.push_back((known.sum + kPseudoCount * regressed) / (known.networks + kPseudoCount));
  }
  return log_us;
}

double CallModel::SumUs(size_t network) const {
  double sum = 0;
  for (double log_us : LogUs(network)) sum += std::exp(log_us);
  return sum;
}

}  // namespace cobra::lab
