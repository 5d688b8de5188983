#include "model/space/models/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace cobra::space {
namespace {

constexpr double kJitter = 1e-9;

at::Tensor SquaredDistance(const at::Tensor& a, const at::Tensor& b) {
  return (a.square().sum(1, /*keepdim=*/true) + b.square().sum(1) - 2 * at::matmul(a, b.t())).clamp_min(0);
}

// All numbers of each architecture in one row, and the group of each column.
struct Columns {
  at::Tensor values;    // [architectures, numbers]
  at::Tensor group_of;  // int64 [numbers]
  int64_t groups = 0;
};

Columns ColumnsOf(const GaussianProcessFeatures& features) {
  std::vector<int64_t> group_of;
  for (size_t g = 0; g < features.groups.size(); ++g) {
    group_of.insert(group_of.end(), static_cast<size_t>(features.groups[g].size(1)), static_cast<int64_t>(g));
  }
  return {at::cat(features.groups, 1), at::tensor(group_of, at::kLong), static_cast<int64_t>(features.groups.size())};
}

// Columns scaled by the roots of their groups' weights: plain distances between scaled columns are
// the weighted ones.
at::Tensor Weighted(const Columns& columns, const at::Tensor& theta) {
  return columns.values * (theta.narrow(0, 0, columns.groups) / 2).exp().index_select(0, columns.group_of);
}

at::Tensor Line(const GaussianProcessFeatures& a, const GaussianProcessFeatures& b) {
  return at::matmul(a.linear, b.linear.t()) + 1;
}

// One of the summed processes. `theta`: its part, the logarithms of a weight for each group and of
// the amplitude.
at::Tensor CorrelationMatrix(const Columns& a, const Columns& b, const at::Tensor& theta) {
  return (theta[a.groups] - SquaredDistance(Weighted(a, theta), Weighted(b, theta))).exp();
}

// For each group the sum over all pairs (i, j) of product[i, j] times their squared distance;
// `product` is symmetric.
at::Tensor SumOfDistances(const Columns& columns, const at::Tensor& product) {
  const at::Tensor& x = columns.values;
  const at::Tensor of_column = 2 * (at::matmul(product.sum(1), x.square()) - (x * at::matmul(product, x)).sum(0));
  return at::zeros({columns.groups}, at::kDouble).index_add(0, columns.group_of, of_column);
}

struct Likelihood {
  double negative_log = 0;
  at::Tensor gradient;  // like theta
};

Likelihood Evaluate(const Columns& columns, const at::Tensor& line, const at::Tensor& root, const at::Tensor& theta,
                    int processes) {
  const int64_t n = root.size(0), groups = columns.groups;
  const at::Tensor identity = at::eye(n, at::kDouble);
  const at::Tensor line_part = line * theta[-2].exp(), noise = theta[-1].exp();
  std::vector<at::Tensor> parts;
  at::Tensor covariance = line_part + identity * (noise + kJitter);
  for (int p = 0; p < processes; ++p) {
    parts.push_back(CorrelationMatrix(columns, columns, theta.narrow(0, p * (groups + 1), groups + 1)));
    covariance = covariance + parts.back();
  }
  const at::Tensor factor = at::linalg_cholesky(covariance), inverse = at::cholesky_inverse(factor);
  const at::Tensor weights = at::matmul(inverse, root);
  Likelihood result;
  result.negative_log = (0.5 * root.dot(weights) + factor.diagonal().log().sum()).item<double>();
  // d(negative log) = sum(half * d(covariance))
  const at::Tensor half = 0.5 * (inverse - at::outer(weights, weights));
  std::vector<at::Tensor> gradient;
  for (int p = 0; p < processes; ++p) {
    const at::Tensor product = half * parts[static_cast<size_t>(p)];
    gradient.push_back(-theta.narrow(0, p * (groups + 1), groups).exp() * SumOfDistances(columns, product));
    gradient.push_back(product.sum().view({1}));
  }
  gradient.push_back((half * line_part).sum().view({1}));
  gradient.push_back((half.diagonal().sum() * noise).view({1}));
  result.gradient = at::cat(gradient);
  return result;
}

// Each further process starts with shorter ranges and a smaller amplitude.
at::Tensor Start(const Columns& columns, int processes) {
  const int64_t groups = columns.groups, n = columns.values.size(0);
  const at::Tensor pairs = at::ones({n, n}, at::kDouble) / static_cast<double>(n * n);
  const at::Tensor typical = SumOfDistances(columns, pairs).clamp_min(0.02);  // mean distance
  std::vector<at::Tensor> theta;
  for (int p = 0; p < processes; ++p) {
    theta.push_back(-(typical * static_cast<double>(groups)).log() - 1 + 2.0 * p);
    theta.push_back(at::full({1}, -3 - 2.0 * p, at::kDouble));
  }
  theta.push_back(at::tensor(std::vector<double>{-5, -8}, at::kDouble));
  return at::cat(theta);
}

}  // namespace

GaussianProcessFeatures GaussianProcessFeatures::Select(const at::Tensor& index) const {
  GaussianProcessFeatures chosen;
  for (const at::Tensor& group : groups) chosen.groups.push_back(group.index_select(0, index));
  chosen.linear = linear.index_select(0, index);
  return chosen;
}

GaussianProcessFeatures GaussianProcessFeatures::Narrow(int64_t begin, int64_t count) const {
  GaussianProcessFeatures part;
  for (const at::Tensor& group : groups) part.groups.push_back(group.narrow(0, begin, count));
  part.linear = linear.narrow(0, begin, count);
  return part;
}

GaussianProcessFeatures MakeGaussianProcessFeatures(const std::vector<std::vector<std::vector<double>>>& features,
                                                    size_t linear_group, size_t single_groups) {
  GaussianProcessFeatures result;
  const size_t groups = features.empty() ? 0 : features[0].size();
  for (size_t g = 0; g < groups; ++g) {
    std::vector<double> values;
    for (const auto& architecture : features)
      values.insert(values.end(), architecture[g].begin(), architecture[g].end());
    const at::Tensor group = at::tensor(values, at::kDouble).view({static_cast<int64_t>(features.size()), -1});
    if (g == linear_group) result.linear = group;
    for (const at::Tensor& part : g < single_groups ? group.split(int64_t{1}, 1) : std::vector<at::Tensor>{group}) {
      result.groups.push_back(part);
    }
  }
  return result;
}

GaussianProcess::GaussianProcess(GaussianProcessFeatures train, const std::vector<double>& latency,
                                 const GaussianProcessOptions& options)
    : train_(std::move(train)), processes_(options.processes) {
  at::NoGradGuard no_grad;
  const at::Tensor all = at::tensor(latency, at::kDouble);
  scale_ = all.mean().item<double>();
  least_ = all.min().item<double>();
  root_ = (all / scale_).sqrt();
  mean_ = root_.mean().item<double>();
  root_ = root_ - mean_;
  at::manual_seed(options.seed);
  for (int d = 0; d < options.draws; ++d) {
    const at::Tensor drawn =
        at::randperm(train_.size(), at::kLong).narrow(0, 0, std::min<int64_t>(options.rows, train_.size()));
    const at::Tensor theta = Search(drawn, options);
    draws_.push_back({theta, Solve(theta, options.reweightings)});
  }
}

GaussianProcess::GaussianProcess(GaussianProcessFeatures train, State state)
    : train_(std::move(train)),
      processes_(
          static_cast<int>((state.draws.at(0).theta.numel() - 2) / (static_cast<int64_t>(train_.groups.size()) + 1))),
      mean_(state.mean),
      scale_(state.scale),
      least_(state.least),
      draws_(std::move(state.draws)) {}

// Runs Adam on the logarithms; returns the best point on the way.
at::Tensor GaussianProcess::Search(const at::Tensor& drawn, const GaussianProcessOptions& o) const {
  const GaussianProcessFeatures rows = train_.Select(drawn);
  const Columns columns = ColumnsOf(rows);
  const at::Tensor root = root_.index_select(0, drawn), line = Line(rows, rows);
  at::Tensor theta = Start(columns, o.processes), best_theta = theta;
  at::Tensor first = at::zeros_like(theta), second = at::zeros_like(theta);
  double best = std::numeric_limits<double>::infinity();
  for (int step = 0; step < o.steps; ++step) {
    const Likelihood now = Evaluate(columns, line, root, theta, o.processes);
    if (now.negative_log < best) {
      best = now.negative_log;
      best_theta = theta;
    }
    first = 0.9 * first + 0.1 * now.gradient;
    second = 0.99 * second + 0.01 * now.gradient.square();
    const at::Tensor direction =
        (first / (1 - std::pow(0.9, step + 1))) / ((second / (1 - std::pow(0.99, step + 1))).sqrt() + 1e-9);
    theta = (theta - o.step_size * (1 - static_cast<double>(step) / o.steps) * direction).clamp(-16, 6);
  }
  return best_theta;
}

at::Tensor GaussianProcess::Solve(const at::Tensor& theta, int reweightings) const {
  const at::Tensor kernel = Kernel(train_, train_, theta);
  const double deviation = std::exp(theta[-1].item<double>() / 2);
  at::Tensor noise = at::full({train_.size()}, deviation * deviation, at::kDouble);
  for (int i = 0;; ++i) {
    const at::Tensor factor = at::linalg_cholesky(kernel + at::diag(noise + kJitter));
    const at::Tensor weights = at::cholesky_solve(root_.unsqueeze(1), factor).squeeze(1);
    if (i >= reweightings) return weights;
    const at::Tensor off = (root_ - at::matmul(kernel, weights)).abs() / deviation;
    noise = deviation * deviation * off.clamp_min(0.3) * 0.7;
  }
}

at::Tensor GaussianProcess::Kernel(const GaussianProcessFeatures& a, const GaussianProcessFeatures& b,
                                   const at::Tensor& theta) const {
  const Columns from = ColumnsOf(a), to = ColumnsOf(b);
  at::Tensor kernel = Line(a, b) * theta[-2].exp();
  for (int p = 0; p < processes_; ++p) {
    kernel = kernel + CorrelationMatrix(from, to, theta.narrow(0, p * (from.groups + 1), from.groups + 1));
  }
  return kernel;
}

std::vector<double> GaussianProcess::Predict(const GaussianProcessFeatures& asked) const {
  at::NoGradGuard no_grad;
  std::vector<double> latency;
  for (int64_t begin = 0; begin < asked.size(); begin += 1024) {
    const int64_t count = std::min<int64_t>(1024, asked.size() - begin);
    const GaussianProcessFeatures part = asked.Narrow(begin, count);
    at::Tensor root = at::zeros({count}, at::kDouble);
    for (const Draw& draw : draws_) root = root + at::matmul(Kernel(part, train_, draw.theta), draw.weights);
    root = root / static_cast<double>(draws_.size()) + mean_;
    const at::Tensor answer = (root.clamp_min(0).square() * scale_).clamp_min(0.1 * least_).contiguous();
    latency.insert(latency.end(), answer.data_ptr<double>(), answer.data_ptr<double>() + count);
  }
  return latency;
}

int64_t GaussianProcess::parameters() const {
  int64_t count = 0;
  for (const Draw& draw : draws_) count += draw.theta.numel() + draw.weights.numel();
  return count;
}

}  // namespace cobra::space
