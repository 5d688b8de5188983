#include "model/space/devices/adapt.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/training/rows/metrics.h"

namespace cobra::space {
namespace {

constexpr double kNinetyPercent = 1.6448536;
constexpr size_t kModes = 10;
constexpr double kRatios[] = {0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2};
// A device of another kind is e^-2 as likely, one with a batch 16 times larger e^-1.
constexpr double kOtherKind = 2, kOfBatch = 0.25;

double BatchDistance(const DeviceSpec& a, const DeviceSpec& b) {
  return a.batch > 0 && b.batch > 0 ? kOfBatch * std::abs(std::log2(a.batch / b.batch)) : 0;
}

at::Tensor Centred(const at::Tensor& devices) { return devices - devices.mean(1, /*keepdim=*/true); }

// The slower of launching and computing, with a smooth transition.
at::Tensor Slower(const at::Tensor& a, const at::Tensor& b) { return (a.pow(8) + b.pow(8)).pow(0.125); }

at::Tensor Gram(const at::Tensor& a, const at::Tensor& b) { return at::matmul(a, b.t()); }

at::Tensor SolveLower(const at::Tensor& factor, const at::Tensor& right) {
  return at::linalg_solve_triangular(factor, right, /*upper=*/false);
}

// The values of each hyperparameter over all combinations of the grid: [combinations].
struct Grid {
  at::Tensor device_variance, cost_variance, noise;

  explicit Grid(const AdaptOptions& o) {
    std::vector<double> d, c, n;
    for (double device : o.device_variance) {
      for (double cost : o.cost_variance) {
        for (double noise_level : o.noise) {
          d.push_back(device);
          c.push_back(cost);
          n.push_back(noise_level);
        }
      }
    }
    device_variance = at::tensor(d, at::kDouble);
    cost_variance = at::tensor(c, at::kDouble);
    noise = at::tensor(n, at::kDouble);
  }
};

}  // namespace

AdaptRows AdaptRows::Select(const at::Tensor& index) const {
  return {devices.index_select(0, index), costs.index_select(0, index), choices.index_select(0, index),
          candidates.index_select(0, index)};
}

Adapter::Adapter(const KnownDevices& known, const DeviceSpec& target, const AdaptOptions& options)
    : known_(known), options_(options) {
  const auto& devices = known_.devices();
  std::vector<double> log_prior;
  for (const auto& d : devices) {
    double penalty = 0;
    if (target.known() && d.spec.known())
      penalty = d.spec.kind != target.kind ? kOtherKind : d.spec.kind == "gpu" ? BatchDistance(d.spec, target) : 0;
    log_prior.push_back(-penalty);
  }
  const bool like_no_roofline = target.kind == "gpu" || target.kind == "cpu";  // kernel launches, caches
  log_prior.insert(log_prior.end(), static_cast<size_t>(known_.tensors().mean_rooflines.size(0)),
                   like_no_roofline ? -kOtherKind : 0);
  const at::Tensor& reference = known_.reference();
  for (size_t a = 0; options.between && a < devices.size(); ++a) {
    for (size_t b = 0; b < devices.size(); ++b) {
      const DeviceSpec &launching = devices[a].spec, &computing = devices[b].spec;
      if (launching.kind != "gpu" || computing.kind != "gpu" || launching.batch != 1 || computing.batch <= 1) continue;
      for (double ratio : kRatios) {
        Between between{static_cast<int64_t>(a), static_cast<int64_t>(b), ratio, 1};
        between.mean = Slower(reference.select(1, between.launching) * ratio, reference.select(1, between.computing))
                           .mean()
                           .item<double>();
        between_.push_back(between);
        const double penalty = !target.known()        ? 0
                               : target.kind != "gpu" ? kOtherKind
                                                      : BatchDistance(computing, target);
        log_prior.push_back(-penalty - std::log(5.0 * std::size(kRatios)) - 0.5);
      }
    }
  }
  log_prior_ = at::tensor(log_prior, at::kDouble);
}

at::Tensor Adapter::Candidates(const at::Tensor& devices, const at::Tensor& rooflines) const {
  std::vector<at::Tensor> columns = {devices, rooflines};
  for (const Between& b : between_) {
    columns.push_back(
        (Slower(devices.select(1, b.launching) * b.ratio, devices.select(1, b.computing)) / b.mean).unsqueeze(1));
  }
  return at::cat(columns, 1);
}

AdaptRows Adapter::Prepare(const SpaceMatrix& m) const {
  at::NoGradGuard no_grad;
  const at::Tensor devices = known_.Latency(m);
  return {devices, known_.Costs(m), known_.Choices(m), Candidates(devices, known_.Rooflines(m))};
}

AdaptedDevice Adapter::Fit(const AdaptRows& samples, const std::vector<double>& latency_ms) const {
  constexpr size_t kFewest = 3, kMost = 20;
  constexpr double kPriorSamples = 1;
  constexpr double kFarthest = 10, kFarthestLog = 1;  // an outlier counts as so many standard deviations, as so far off
  AdaptedDevice adapted = FitPosterior(samples, latency_ms);
  const size_t count = latency_ms.size();
  if (count < kFewest) return adapted;
  const size_t left_out = std::min(count, kMost);
  double squares = kPriorSamples, own_squares = 0;
  for (size_t i = 0; i < left_out; ++i) {
    std::vector<int64_t> others;
    std::vector<double> others_ms;
    for (size_t k = 0; k < count; ++k) {
      if (k == i) continue;
      others.push_back(static_cast<int64_t>(k));
      others_ms.push_back(latency_ms[k]);
    }
    const AdaptRows one = samples.Select(at::tensor(std::vector<int64_t>{static_cast<int64_t>(i)}, at::kLong));
    const AdaptedLatency predicted =
        FitPosterior(samples.Select(at::tensor(others, at::kLong)), others_ms).Predict(one)[0];
    const double deviation = std::log(predicted.high_ms / predicted.latency_ms) / kNinetyPercent;
    const double error = training::AbsLogError(predicted.latency_ms, latency_ms[i]);
    const double off = std::min(kFarthest, error / deviation), own = std::min(kFarthestLog, error);
    squares += off * off;
    own_squares += own * own;
  }
  adapted.own_half_width_ = kNinetyPercent * std::sqrt(own_squares / static_cast<double>(left_out));
  adapted.surprise_ = std::max(1.0, std::sqrt(squares / (kPriorSamples + static_cast<double>(left_out))));
  return adapted;
}

AdaptedDevice Adapter::FitPosterior(const AdaptRows& samples, const std::vector<double>& latency_ms) const {
  at::NoGradGuard no_grad;
  AdaptedDevice adapted;
  adapted.options_ = options_;
  const at::Tensor latency = at::tensor(latency_ms, at::kDouble);
  adapted.unit_ms_ = latency.mean().item<double>();
  adapted.least_ms_ = 0.2 * latency.min().item<double>();
  adapted.sample_devices_ = Centred(samples.devices);
  adapted.sample_costs_ = samples.costs;
  adapted.sample_choices_ = samples.choices;
  const auto devices = static_cast<double>(known_.size());
  const at::Tensor x = latency / adapted.unit_ms_;
  const Grid grid(options_);
  const auto each = [](const at::Tensor& combinations) { return combinations.view({-1, 1, 1}); };
  const at::Tensor covariance =
      each(grid.device_variance) * Gram(adapted.sample_devices_, adapted.sample_devices_) / devices +
      each(grid.cost_variance) * Gram(samples.costs, samples.costs) +
      (options_.choice_variance * Gram(samples.choices, samples.choices) + options_.offset_variance) +
      each(grid.noise.square()) * at::diag(x.square());
  const at::Tensor factor = at::linalg_cholesky(covariance);  // [combinations, n, n]
  const int64_t combinations = factor.size(0), n = factor.size(1), candidates = samples.candidates.size(1);
  const at::Tensor both = SolveLower(
      factor, at::cat({x.unsqueeze(1), samples.candidates}, 1).expand({combinations, n, candidates + 1}).contiguous());
  const at::Tensor measured = both.narrow(2, 0, 1), z = both.narrow(2, 1, candidates),
                   off = measured - z;  // [combinations, n, candidates]
  // The candidate's scale is integrated out, which adds a rank-one term to the covariance.
  const double v = options_.scale_variance;
  const at::Tensor zz = 1 + v * z.square().sum(1), ze = v * (z * off).sum(1);
  const at::Tensor scale = 1 + ze / zz;  // [combinations, candidates]
  const at::Tensor log_weight = -0.5 * (off.square().sum(1) - ze.square() / (v * zz)) - 0.5 * zz.log() -
                                factor.diagonal(0, 1, 2).log().sum(1, /*keepdim=*/true) + log_prior_;
  const at::Tensor weight = at::softmax(log_weight.reshape({-1}), 0).view({combinations, candidates}),
                   scaled = weight * scale;

  const at::Tensor residual =
      measured.squeeze(2) * weight.sum(1, /*keepdim=*/true) - (z * scaled.unsqueeze(1)).sum(2);  // [combinations, n]
  const at::Tensor alpha =
      at::linalg_solve_triangular(factor.transpose(1, 2), residual.unsqueeze(2), /*upper=*/true).squeeze(2);
  const auto weigh = [&alpha](const at::Tensor& by, const at::Tensor& rows) {
    return at::matmul(rows.t(), (alpha * by.unsqueeze(1)).sum(0));
  };
  adapted.offset_ = options_.offset_variance * alpha.sum().item<double>();
  adapted.device_weights_ = weigh(grid.device_variance, adapted.sample_devices_) / devices;
  adapted.cost_weights_ = weigh(grid.cost_variance, samples.costs);
  adapted.choice_weights_ = options_.choice_variance * weigh(at::ones_like(grid.noise), samples.choices);
  adapted.candidate_weights_ = scaled.sum(0);

  const int64_t modes = std::min<int64_t>(static_cast<int64_t>(kModes), weight.numel());
  const auto [top, where] = weight.reshape({-1}).topk(modes);
  const double total = top.sum().item<double>();
  for (int64_t m = 0; m < modes; ++m) {
    const int64_t c = where[m].item<int64_t>() / candidates, j = where[m].item<int64_t>() % candidates;
    const double s = scale[c][j].item<double>();
    adapted.modes_.push_back({top[m].item<double>() / total, grid.device_variance[c].item<double>(),
                              grid.cost_variance[c].item<double>(), grid.noise[c].item<double>(), s,
                              v / zz[c][j].item<double>(), j, factor[c], measured[c].squeeze(1) - z[c].select(1, j) * s,
                              z[c].select(1, j)});
  }
  return adapted;
}

at::Tensor AdaptedDevice::Mean(const AdaptRows& rows) const {
  const at::Tensor mean = at::matmul(rows.devices, device_weights_) + at::matmul(rows.costs, cost_weights_) +
                          at::matmul(rows.choices, choice_weights_) + at::matmul(rows.candidates, candidate_weights_) +
                          offset_;
  return (mean * unit_ms_).clamp_min(least_ms_).contiguous();
}

std::vector<double> AdaptedDevice::LatencyMs(const AdaptRows& rows) const {
  at::NoGradGuard no_grad;
  const at::Tensor mean = Mean(rows);
  return {mean.data_ptr<double>(), mean.data_ptr<double>() + mean.numel()};
}

double AdaptWidth::HalfWidth(double of_posterior, double surprise, double own_half_width) const {
  const double shrunk = std::pow(usual, 1 - trust) * std::pow(of_posterior, trust) * std::pow(surprise, power);
  return factor * std::max(shrunk, own * own_half_width);
}

std::vector<AdaptedLatency> AdaptedDevice::Predict(const AdaptRows& rows, const AdaptWidth& width) const {
  at::NoGradGuard no_grad;
  const auto devices = static_cast<double>(sample_devices_.size(1));
  const at::Tensor centred = Centred(rows.devices);
  const at::Tensor of_devices = Gram(sample_devices_, centred) / devices, of_costs = Gram(sample_costs_, rows.costs),
                   rest = options_.choice_variance * Gram(sample_choices_, rows.choices) +
                          options_.offset_variance;  // [n, rows]
  const at::Tensor self_devices = centred.square().sum(1) / devices, self_costs = rows.costs.square().sum(1),
                   self_rest = options_.choice_variance * rows.choices.square().sum(1) + options_.offset_variance;
  const at::Tensor mean = Mean(rows);
  at::Tensor variance = at::zeros_like(mean);
  for (const Mode& m : modes_) {
    const at::Tensor whitened =
        SolveLower(m.factor, (m.device_variance * of_devices + m.cost_variance * of_costs + rest).contiguous());
    const at::Tensor candidate = rows.candidates.select(1, m.candidate);
    const at::Tensor predicted = at::matmul(whitened.t(), m.residual) + candidate * m.scale;
    const at::Tensor spread =
        (m.device_variance * self_devices + m.cost_variance * self_costs + self_rest - whitened.square().sum(0))
            .clamp_min(0) +
        m.scale_variance * (candidate - at::matmul(whitened.t(), m.candidate_part)).square() +
        (m.noise * predicted).square();
    variance = variance + m.weight * (spread + (predicted - mean / unit_ms_).square());
  }
  const at::Tensor log_deviation = at::log1p(variance * (unit_ms_ * unit_ms_) / mean.square()).sqrt();
  const at::Tensor half_width = (kNinetyPercent * log_deviation).contiguous();
  std::vector<AdaptedLatency> predictions;
  for (int64_t r = 0; r < mean.numel(); ++r) {
    const double ms = mean.data_ptr<double>()[r],
                 f = std::exp(width.HalfWidth(half_width.data_ptr<double>()[r], surprise_, own_half_width_));
    predictions.push_back({ms, ms / f, ms * f});
  }
  return predictions;
}

std::vector<int64_t> Adapter::Choose(const AdaptRows& all, int count) const {
  at::NoGradGuard no_grad;
  constexpr int64_t kMost = 600;  // the work is quadratic in the rows: of more, take every second, third ...
  const int64_t step = std::max<int64_t>(1, all.size() / kMost);
  const AdaptRows rows = all.Select(at::arange(0, all.size(), step, at::kLong));
  constexpr double kDeviceVariance = 1, kCostVariance = 0.03, kNoise = 0.03;
  const at::Tensor usual = rows.devices.mean(1), centred = Centred(rows.devices);
  at::Tensor covariance = options_.scale_variance * at::outer(usual, usual) +
                          kDeviceVariance * Gram(centred, centred) / static_cast<double>(known_.size()) +
                          kCostVariance * Gram(rows.costs, rows.costs) +
                          options_.choice_variance * Gram(rows.choices, rows.choices) + options_.offset_variance;
  covariance = covariance / at::outer(usual, usual);
  std::vector<int64_t> chosen;
  for (int i = 0; i < count && i < rows.size(); ++i) {
    at::Tensor gain = covariance.square().sum(0) / (covariance.diagonal() + kNoise * kNoise);
    for (int64_t c : chosen) gain[c] = -1;
    const int64_t best = gain.argmax().item<int64_t>();
    chosen.push_back(best);
    const at::Tensor column = covariance.select(1, best).clone();
    covariance = covariance - at::outer(column, column) / (column[best] + kNoise * kNoise);
  }
  for (int64_t& c : chosen) c *= step;
  return chosen;
}

namespace {

std::string Stem(const DeviceSpec& spec) {
  if (!spec.family.empty()) return spec.family;
  const size_t underscore = spec.name.rfind('_');
  const bool number = underscore != std::string::npos && underscore + 1 < spec.name.size() &&
                      spec.name.find_first_not_of("0123456789", underscore + 1) == std::string::npos;
  return number ? spec.name.substr(0, underscore) : spec.name;
}

}  // namespace

std::vector<size_t> OtherFamilies(const KnownDevices& known, const DeviceSpec& target) {
  std::vector<size_t> others;
  for (size_t d = 0; d < known.devices().size(); ++d) {
    if (Stem(known.devices()[d].spec) != Stem(target)) others.push_back(d);
  }
  return others;
}

}  // namespace cobra::space
