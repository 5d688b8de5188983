#include "lab/published/regressions/profile_floors.h"

#include <algorithm>
#include <cmath>

namespace cobra::lab {
namespace {

constexpr size_t kNearest = 8;
constexpr int kRounds = 15;
constexpr double kDiagonal = 0.02;  // of the variance, added: fewer devices than numbers in the covariance
constexpr double kNoise = 0.004;    // variance of a measurement

bool Has(double value) { return value != kNotMeasured; }

double MeanDifference(const Profile& device, const ProfileSamples& samples) {
  double sum = 0;
  size_t count = 0;
  for (const auto& [network, log_us] : samples) {
    if (!Has(device[network])) continue;
    sum += log_us - device[network];
    ++count;
  }
  return count == 0 ? kNotMeasured : sum / static_cast<double>(count);
}

Profile MeanOf(const std::vector<Profile>& devices) {
  Profile mean(devices.empty() ? 0 : devices[0].size(), kNotMeasured);
  for (size_t n = 0; n < mean.size(); ++n) {
    double sum = 0;
    size_t count = 0;
    for (const Profile& device : devices) {
      if (!Has(device[n])) continue;
      sum += device[n];
      ++count;
    }
    if (count > 0) mean[n] = sum / static_cast<double>(count);
  }
  return mean;
}

Profile Shifted(Profile profile, double by) {
  for (double& value : profile) {
    if (Has(value)) value += by;
  }
  return profile;
}

// Solves a x = b for a positive definite matrix [n][n], column by column of b [n][columns], in
// place.
void SolvePositive(std::vector<double> a, size_t n, size_t columns, std::vector<double>* b) {
  for (size_t k = 0; k < n; ++k) {
    const double pivot = std::max(a[k * n + k], 1e-12);
    for (size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / pivot;
      for (size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      for (size_t j = 0; j < columns; ++j) (*b)[i * columns + j] -= factor * (*b)[k * columns + j];
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = 0; j < columns; ++j) {
      double value = (*b)[k * columns + j];
      for (size_t i = k + 1; i < n; ++i) value -= a[k * n + i] * (*b)[i * columns + j];
      (*b)[k * columns + j] = value / std::max(a[k * n + k], 1e-12);
    }
  }
}

// The conditional distribution of all numbers given some: mean, and, where asked for, covariance.
struct Conditional {
  std::vector<double> mean, covariance;
};
Conditional Given(const std::vector<double>& mean, const std::vector<double>& covariance, const ProfileSamples& samples,
                  bool with_covariance) {
  const size_t n = mean.size(), m = samples.size();
  std::vector<double> a(m * m), b(m * (n + 1));
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < m; ++j) a[i * m + j] = covariance[samples[i].first * n + samples[j].first];
    a[i * m + i] += kNoise;
    for (size_t j = 0; j < n; ++j) b[i * (n + 1) + j] = covariance[samples[i].first * n + j];
    b[i * (n + 1) + n] = samples[i].second - mean[samples[i].first];
  }
  SolvePositive(std::move(a), m, n + 1, &b);
  Conditional c{mean, {}};
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) c.mean[j] += covariance[samples[i].first * n + j] * b[i * (n + 1) + n];
  }
  if (!with_covariance) return c;
  c.covariance = covariance;
  for (size_t k = 0; k < m; ++k) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j)
        c.covariance[i * n + j] -= covariance[samples[k].first * n + i] * b[k * (n + 1) + j];
    }
  }
  return c;
}

}  // namespace

Profile GeometricPattern(const std::vector<Profile>& devices, const ProfileSamples& samples) {
  // Levels are removed first: a device that lacks a network must not move its mean.
  const Profile mean = MeanOf(devices);
  std::vector<Profile> level;
  for (const Profile& device : devices) {
    ProfileSamples all;
    for (size_t n = 0; n < device.size(); ++n) {
      if (Has(device[n]) && Has(mean[n])) all.emplace_back(n, device[n]);
    }
    level.push_back(Shifted(device, -MeanDifference(mean, all)));
  }
  const Profile pattern = MeanOf(level);
  return Shifted(pattern, MeanDifference(pattern, samples));
}

Profile NearestProfiles(const std::vector<Profile>& devices, const ProfileSamples& samples) {
  std::vector<std::pair<double, size_t>> near;
  std::vector<Profile> scaled;
  for (const Profile& device : devices) {
    const double by = MeanDifference(device, samples);
    if (by == kNotMeasured) continue;
    double sum = 0, count = 0;
    for (const auto& [network, log_us] : samples) {
      if (!Has(device[network])) continue;
      const double error = device[network] + by - log_us;
      sum += error * error;
      count += 1;
    }
    near.emplace_back(sum / count + 1 / count, scaled.size());
    scaled.push_back(Shifted(device, by));
  }
  std::sort(near.begin(), near.end());
  std::vector<Profile> chosen;
  for (size_t i = 0; i < std::min(kNearest, near.size()); ++i) chosen.push_back(scaled[near[i].second]);
  const Profile pattern = GeometricPattern(devices, samples);
  Profile mean = MeanOf(chosen);
  if (mean.empty()) return pattern;
  for (size_t n = 0; n < mean.size(); ++n) {
    if (!Has(mean[n])) mean[n] = pattern[n];
  }
  return mean;
}

GaussianOverNetworks::GaussianOverNetworks(const std::vector<Profile>& devices)
    : n_(devices.empty() ? 0 : devices[0].size()), mean_(MeanOf(devices)), covariance_(n_ * n_) {
  for (double& value : mean_) value = Has(value) ? value : 0;
  for (size_t i = 0; i < n_; ++i) {
    for (size_t j = 0; j < n_; ++j) covariance_[i * n_ + j] = i == j ? 1.5 : 1.2;
  }
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> mean(n_), second(n_ * n_);
    std::vector<std::vector<double>> rows;
    for (const Profile& device : devices) {
      ProfileSamples all;
      for (size_t n = 0; n < n_; ++n) {
        if (Has(device[n])) all.emplace_back(n, device[n]);
      }
      Conditional c = cobra::lab::Given(mean_, covariance_, all, true);
      for (size_t i = 0; i < n_; ++i) mean[i] += c.mean[i] / static_cast<double>(devices.size());
      for (size_t i = 0; i < n_ * n_; ++i) second[i] += c.covariance[i] / static_cast<double>(devices.size());
      rows.push_back(std::move(c.mean));
    }
    for (const std::vector<double>& row : rows) {
      for (size_t i = 0; i < n_; ++i) {
        for (size_t j = 0; j < n_; ++j)
          second[i * n_ + j] += (row[i] - mean[i]) * (row[j] - mean[j]) / static_cast<double>(devices.size());
      }
    }
    for (size_t i = 0; i < n_; ++i) second[i * n_ + i] *= 1 + kDiagonal;
    mean_ = std::move(mean);
    covariance_ = std::move(second);
  }
}

Profile GaussianOverNetworks::Given(const ProfileSamples& samples) const {
  return cobra::lab::Given(mean_, covariance_, samples, false).mean;
}

}  // namespace cobra::lab
