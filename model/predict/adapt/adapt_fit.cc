#include "model/predict/adapt/adapt_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/predict/adapt/adapt_samples.h"

namespace cobra::predict {
namespace {

// Factors of the covariance, and of the common factor's variance. What the data sheet says holds to
// a tenth, or not.
struct Distance {
  double of_terms, of_scale;
};
constexpr Distance kDistances[] = {{0.003, 0.01}, {0.05, 0.15}, {1.5, 1}};
constexpr double kLeastNoise = 0.03;
constexpr double kNoises[] = {kLeastNoise, 0.1, 0.3};  // standard deviations in log-latency
// To the noise comes, squared, so much of the candidate's own half-width for the network.
constexpr double kNoiseOfHalfWidth = 0.3;
constexpr size_t kMostParts = 6;
constexpr double kLeastWeight = 0.02;  // of a part
constexpr int kRounds = 6;

// What one combination says.
struct Mode {
  size_t candidate = 0;
  double log_weight = 0;
  AdaptVector change{};                 // of the candidate's expected coefficients
  std::vector<double> error, variance;  // of each sample, by the others
};

// A candidate's samples as rows of a linear model.
struct Rows {
  std::vector<AdaptVector> shares;
  std::vector<double> residuals;  // log(measured / expected)
  std::vector<double> variances;  // of the candidate's own errors
};

Rows RowsOf(const AdaptCandidate& candidate, absl::Span<const double> log_us) {
  Rows rows;
  for (size_t i = 0; i < log_us.size(); ++i) {
    rows.shares.push_back(SharesOf(candidate.networks[i], candidate.expected));
    const double own_error = kNoiseOfHalfWidth * candidate.networks[i].half_width;
    rows.variances.push_back(own_error * own_error);
    rows.residuals.push_back(log_us[i] - LogLatency(candidate.networks[i], candidate.expected));
  }
  return rows;
}

// Bayesian linear regression. A row of less weight has more noise.
Mode FitMode(const Rows& rows, const Inverse& prior, double noise, const std::vector<double>& weights) {
  AdaptMatrix precision = prior.inverse;
  AdaptVector b{};
  double log_likelihood = 0;
  for (size_t i = 0; i < rows.shares.size(); ++i) {
    const double each = weights[i] / (noise * noise + rows.variances[i]);
    AddOuter(rows.shares[i], each, &precision);
    for (size_t k = 0; k < b.size(); ++k) b[k] += each * rows.shares[i][k] * rows.residuals[i];
    log_likelihood += 0.5 * std::log(each) - 0.5 * each * rows.residuals[i] * rows.residuals[i];
  }
  const Inverse posterior = InverseOf(precision);
  Mode mode;
  mode.change = Product(posterior.inverse, b);
  log_likelihood += 0.5 * Dot(b, mode.change) - 0.5 * (prior.log_determinant + posterior.log_determinant);
  mode.log_weight = log_likelihood;
  for (size_t i = 0; i < rows.shares.size(); ++i) {
    const double each = weights[i] / (noise * noise + rows.variances[i]);
    const double leverage = std::min(0.999999, each * Dot(rows.shares[i], Product(posterior.inverse, rows.shares[i])));
    mode.error.push_back((Dot(rows.shares[i], mode.change) - rows.residuals[i]) / (1 - leverage));
    mode.variance.push_back(1 / each / (1 - leverage));
  }
  return mode;
}

std::vector<Mode> FitModes(absl::Span<const AdaptCandidate> candidates, const std::vector<Rows>& rows,
                           const TargetDifferences& differences, const std::vector<double>& weights) {
  std::vector<Mode> modes;
  for (const auto& [of_terms, of_scale] : kDistances) {
    AdaptMatrix covariance = differences.covariance;
    for (AdaptVector& row : covariance) {
      for (double& value : row) value *= of_terms;
    }
    covariance[0][0] += of_scale * differences.scale_variance;
    covariance[kLaunchTerm][kLaunchTerm] += differences.launch_variance;
    const Inverse prior = InverseOf(covariance);
    for (size_t c = 0; c < candidates.size(); ++c) {
      for (const double noise : kNoises) {
        Mode mode = FitMode(rows[c], prior, noise, weights);
        mode.candidate = c;
        mode.log_weight += candidates[c].log_prior;
        modes.push_back(std::move(mode));
      }
    }
  }
  return modes;
}

std::vector<double> WeightsOf(const std::vector<double>& logs) {
  const double most = *std::max_element(logs.begin(), logs.end());
  std::vector<double> weights;
  double sum = 0;
  for (const double log : logs) sum += weights.emplace_back(std::exp(log - most));
  for (double& weight : weights) weight /= sum;
  return weights;
}

// The error of each sample by the modes as the other samples weight them.
std::vector<double> ErrorsByOthers(const std::vector<Mode>& modes, size_t samples) {
  std::vector<double> errors, logs(modes.size());
  for (size_t i = 0; i < samples; ++i) {
    for (size_t m = 0; m < modes.size(); ++m) {
      const double error = modes[m].error[i], variance = modes[m].variance[i];
      logs[m] = modes[m].log_weight + 0.5 * error * error / variance + 0.5 * std::log(variance);
    }
    const std::vector<double> weights = WeightsOf(logs);
    double mean = 0;
    for (size_t m = 0; m < modes.size(); ++m) mean += weights[m] * modes[m].error[i];
    errors.push_back(mean);
  }
  return errors;
}

double MeanSizeWithout(const std::vector<double>& errors, size_t left_out) {
  double sum = 0;
  for (size_t i = 0; i < errors.size(); ++i) sum += i == left_out ? 0 : std::fabs(errors[i]);
  return sum / static_cast<double>(errors.size() - 1);
}

// With few samples a bad one spoils what the others say of each other, so that none stands out. It
// is found by leaving each out: without it the others agree, with it they do not.
std::vector<double> FirstTrust(absl::Span<const AdaptCandidate> candidates, const std::vector<Rows>& rows,
                               const TargetDifferences& differences) {
  constexpr size_t kFewest = 5, kMost = 12;
  constexpr double kNone = 1e-3, kAgree = 0.5;
  const size_t samples = rows[0].residuals.size();
  const std::vector<double> full(samples, 1);
  if (samples < kFewest || samples > kMost) return full;
  const std::vector<double> together = ErrorsByOthers(FitModes(candidates, rows, differences, full), samples);
  std::vector<double> best = full;
  double least = kAgree;
  for (size_t i = 0; i < samples; ++i) {
    std::vector<double> trust = full;
    trust[i] = kNone;
    const std::vector<double> errors = ErrorsByOthers(FitModes(candidates, rows, differences, trust), samples);
    const double agreement = MeanSizeWithout(errors, i) / std::max(kLeastNoise, MeanSizeWithout(together, i));
    if (agreement >= least || TrustInSamples(errors)[i] == 1) continue;
    least = agreement;
    best = std::move(trust);
  }
  return best;
}

// The parts with a weight that matters, the heaviest first.
std::vector<AdaptPart> Heaviest(std::vector<AdaptPart> parts) {
  std::sort(parts.begin(), parts.end(), [](const AdaptPart& a, const AdaptPart& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.candidate < b.candidate;
  });
  size_t kept = 1;
  while (kept < std::min(parts.size(), kMostParts) && parts[kept].weight >= kLeastWeight) ++kept;
  parts.resize(kept);
  double sum = 0;
  for (const AdaptPart& part : parts) sum += part.weight;
  for (AdaptPart& part : parts) part.weight /= sum;
  return parts;
}

// Modes of one candidate together.
std::vector<AdaptPart> PartsOf(absl::Span<const AdaptCandidate> candidates, const std::vector<Mode>& modes) {
  std::vector<double> logs;
  for (const Mode& mode : modes) logs.push_back(mode.log_weight);
  const std::vector<double> weights = WeightsOf(logs);
  std::vector<AdaptPart> parts(candidates.size());
  for (size_t c = 0; c < parts.size(); ++c) parts[c].candidate = c;
  for (size_t m = 0; m < modes.size(); ++m) {
    AdaptPart& part = parts[modes[m].candidate];
    part.weight += weights[m];
    for (size_t i = 0; i < part.coefficients.size(); ++i) part.coefficients[i] += weights[m] * modes[m].change[i];
  }
  for (AdaptPart& part : parts) {
    const double weight = std::max(part.weight, std::numeric_limits<double>::min());
    for (size_t i = 0; i < part.coefficients.size(); ++i)
      part.coefficients[i] = candidates[part.candidate].expected[i] + part.coefficients[i] / weight;
  }
  return Heaviest(std::move(parts));
}

}  // namespace

std::vector<AdaptPart> PriorParts(absl::Span<const AdaptCandidate> candidates) {
  std::vector<double> logs;
  for (const AdaptCandidate& candidate : candidates) logs.push_back(candidate.log_prior);
  const std::vector<double> weights = WeightsOf(logs);
  std::vector<AdaptPart> parts;
  for (size_t c = 0; c < candidates.size(); ++c) parts.push_back({c, weights[c], candidates[c].expected});
  return Heaviest(std::move(parts));
}

double LogLatency(absl::Span<const AdaptPart> parts, absl::Span<const NetworkView* const> views) {
  double log_us = 0;
  for (const AdaptPart& part : parts) log_us += part.weight * LogLatency(*views[part.candidate], part.coefficients);
  return log_us;
}

AdaptFit FitCandidates(absl::Span<const AdaptCandidate> candidates, absl::Span<const double> log_us,
                       const TargetDifferences& differences) {
  AdaptFit fit;
  const std::vector<AdaptPart> prior = PriorParts(candidates);
  for (size_t i = 0; i < log_us.size(); ++i) {
    std::vector<const NetworkView*> views;
    for (const AdaptCandidate& candidate : candidates) views.push_back(&candidate.networks[i]);
    fit.error_before.push_back(LogLatency(prior, views) - log_us[i]);
  }
  if (log_us.empty()) {
    fit.parts = prior;
    return fit;
  }
  std::vector<Rows> rows;
  for (const AdaptCandidate& candidate : candidates) rows.push_back(RowsOf(candidate, log_us));
  std::vector<double> trust = FirstTrust(candidates, rows, differences);
  std::vector<Mode> modes;
  for (int round = 0; round < kRounds; ++round) {
    modes = FitModes(candidates, rows, differences, trust);
    fit.error_after = ErrorsByOthers(modes, log_us.size());
    if (log_us.size() < kFewestJudges) break;
    std::vector<double> next = TrustInSamples(fit.error_after);
    if (next == trust) break;
    trust = std::move(next);
  }
  fit.parts = PartsOf(candidates, modes);
  return fit;
}

}  // namespace cobra::predict
