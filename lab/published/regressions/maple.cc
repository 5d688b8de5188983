#include "lab/published/regressions/maple.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cobra::lab {
namespace {

at::Tensor WithOne(const at::Tensor& rows) { return at::cat({rows, at::ones({rows.size(0), 1}, at::kDouble)}, 1); }

// One over the square root of the distance between data sheets, with mean 1. Each entry is divided
// by its deviation over the devices.
at::Tensor Similarity(const std::vector<space::DeviceSpec>& specs, const space::DeviceSpec& target) {
  std::vector<double> distance(specs.size(), 0);
  for (double space::DeviceSpec::*entry :
       {&space::DeviceSpec::cores, &space::DeviceSpec::clock_mhz, &space::DeviceSpec::power_w}) {
    std::vector<double> known;
    for (const space::DeviceSpec& s : specs) {
      if (s.*entry > 0) known.push_back(s.*entry);
    }
    if (known.size() < 2) continue;
    double mean = 0, variance = 0;
    for (double v : known) mean += v / static_cast<double>(known.size());
    for (double v : known) variance += (v - mean) * (v - mean) / static_cast<double>(known.size());
    if (variance <= 0) continue;
    const auto value = [&](const space::DeviceSpec& s) { return s.*entry > 0 ? s.*entry : mean; };
    for (size_t d = 0; d < specs.size(); ++d) distance[d] += std::pow(value(specs[d]) - value(target), 2) / variance;
  }
  std::vector<double> weight;
  for (double squared : distance) weight.push_back(1 / std::sqrt(std::max(std::sqrt(squared), 0.05)));
  const at::Tensor w = at::tensor(weight, at::kDouble);
  return w / w.mean();
}

at::Tensor LeastSquares(const at::Tensor& rows, const at::Tensor& target, double ridge) {
  const at::Tensor normal = at::matmul(rows.t(), rows) + ridge * at::eye(rows.size(1), at::kDouble);
  return at::cholesky_solve(at::matmul(rows.t(), target), at::linalg_cholesky(normal));
}

}  // namespace

Maple::Maple(at::Tensor choices, const at::Tensor& counts, const at::Tensor& latency_ms,
             const std::vector<space::DeviceSpec>& specs, const space::DeviceSpec& target, const MapleOptions& options)
    : options_(options), choices_(std::move(choices)), counts_(WithOne(counts)) {
  at::NoGradGuard no_grad;
  const at::Tensor relative = latency_ms / latency_ms.mean(0, /*keepdim=*/true);
  log_latency_ = relative.clamp_min(1e-3).log();
  tables_ = LeastSquares(counts_, relative, 1e-3).t().contiguous();
  similarity_ =
      options.importance ? Similarity(specs, target) : at::ones({static_cast<int64_t>(specs.size())}, at::kDouble);
  for (int64_t d = 0; d < tables_.size(0); ++d) {
    const at::Tensor rows = Rows(choices_, tables_[d]), weight = similarity_[d];
    const at::Tensor normal = weight * at::matmul(rows.t(), rows),
                     right = weight * at::matmul(rows.t(), log_latency_.select(1, d));
    normal_ = d == 0 ? normal : normal_ + normal;
    right_ = d == 0 ? right : right_ + right;
    rows_ += static_cast<double>(rows.size(0));
  }
}

// [rows, (choices + 1) * (description + 1)]
at::Tensor Maple::Rows(const at::Tensor& choices, const at::Tensor& description) const {
  const at::Tensor a = WithOne(choices), d = at::cat({description, at::ones({1}, at::kDouble)});
  return (a.unsqueeze(2) * d).reshape({a.size(0), -1});
}

std::vector<double> Maple::Predict(const std::vector<int64_t>& samples, const std::vector<double>& latency_ms,
                                   const at::Tensor& asked_choices) const {
  at::NoGradGuard no_grad;
  // The look-up table of the new device, relative to the mean latency of the pool, and that mean.
  const at::Tensor table = (similarity_.unsqueeze(1) * tables_).sum(0) / similarity_.sum();
  const at::Tensor table_latency = at::matmul(counts_, table).clamp_min(1e-3);
  double measured = 0, looked_up = 0;
  for (size_t s = 0; s < samples.size(); ++s) {
    measured += latency_ms[s];
    looked_up += table_latency[samples[s]].item<double>();
  }
  const double mean_ms = measured / looked_up;
  std::vector<int64_t> examples = samples;
  std::vector<double> log_ms;
  for (double ms : latency_ms) log_ms.push_back(std::log(ms / mean_ms));
  for (size_t s = 0; options_.neighbourhoods && s < samples.size(); ++s) {
    // The rows with the nearest latency on the training devices, on average.
    const at::Tensor distance = (log_latency_ - log_latency_[samples[s]]).abs().mean(1);
    const at::Tensor near = std::get<1>(distance.topk(options_.neighbours, /*dim=*/0, /*largest=*/false));
    const double mean_of_table = table_latency.index_select(0, near).mean().item<double>();
    for (int64_t n = 0; n < near.size(0); ++n) {
      const int64_t row = near[n].item<int64_t>();
      if (row == samples[s]) continue;
      examples.push_back(row);
      log_ms.push_back(std::log(std::max(table_latency[row].item<double>() - mean_of_table + latency_ms[s] / mean_ms,
                                         0.1 * latency_ms[s] / mean_ms)));
    }
  }
  const at::Tensor rows = Rows(choices_.index_select(0, at::tensor(examples, at::kLong)), table);
  const at::Tensor normal = normal_ + options_.sample_weight * at::matmul(rows.t(), rows) +
                            options_.ridge * rows_ * at::eye(normal_.size(0), at::kDouble);
  const at::Tensor right = right_ + options_.sample_weight * at::matmul(rows.t(), at::tensor(log_ms, at::kDouble));
  const at::Tensor line = at::cholesky_solve(right.unsqueeze(1), at::linalg_cholesky(normal)).squeeze(1);
  const at::Tensor ms = (at::matmul(Rows(asked_choices, table), line).exp() * mean_ms).contiguous();
  return {ms.data_ptr<double>(), ms.data_ptr<double>() + ms.numel()};
}

}  // namespace cobra::lab
