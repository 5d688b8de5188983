#include "model/predict/adapt/profile_model.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "model/predict/target/device_words.h"

namespace cobra::predict {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kNoise = 0.004;                          // variance of a measurement
constexpr double kOwnShare = 0.01, kOwnVariance = 0.002;  // of a covariance: what each network has for itself

// Weights of the parts of the mixture, and the factors of their covariances.
constexpr double kTargetsWeight = 0.8;
constexpr std::array<double, 5> kTargetScales = {0.2, 0.6, 2, 6, 18};
constexpr std::array<double, 4> kWideScales = {0.3, 1, 4, 16}, kWideWeights = {0.35, 0.35, 0.2, 0.1};
constexpr double kLevelVariance = 0.4;      // of the common factor of a scaled target
constexpr double kQuantizedVariance = 2;    // on GPUs whose runtime runs quantized networks on the processor
constexpr double kSheetShare = 0.7;         // of the difference that the data sheets expect
constexpr double kSheetPower = 0.8;         // of what the data sheets say of the targets' weights
constexpr double kSimilarShare = 0.7;       // in the mean shape: of targets with similar sheets; the rest of all
constexpr double kLogWeightSpan = 12;       // lighter components are left out
constexpr double kRelative = 0.85;          // power of the latency by which an error counts less
constexpr double kSheetOnlyRelative = 0.6;  // likewise without samples
constexpr double kShapeVariance = 0.25 * 0.25;
constexpr double kQuantile = 0.05;
constexpr double kOtherUnitVariance = 0.15 * 0.15;  // of one device, measured again by somebody else
constexpr double kItself = 3;                       // in the logarithm of a weight, beside timings

// Two numbers as the sheets give them; a missing one is NaN.
double LogOf(double value) { return value > 0 ? std::log2(value) : std::numeric_limits<double>::quiet_NaN(); }

// What is compared of a data sheet: logarithms of base 2.
constexpr size_t kSheetFeatures = 4;
std::array<double, kSheetFeatures> SheetFeatures(const TargetSpec& spec) {
  const double half = HasHalfTensors(spec) ? 1 : 0;
  if (spec.kind == "gpu") return {LogOf(spec.peak_gflops), LogOf(spec.clock_mhz), LogOf(spec.memory_gb_per_s), half};
  const double bits = spec.vector_bits > 0 ? spec.vector_bits : 128;
  return {LogOf(spec.clock_mhz * bits * (1 + half)), LogOf(spec.threads), LogOf(spec.peak_gflops / spec.threads),
          LogOf(bits)};
}

// The logarithm of how much a target with sheet `a` says of a device with sheet `b`.
double LogSimilarity(const TargetSpec& a, const TargetSpec& b) {
  constexpr double kOtherArchitecture = -1.5, kSameCore = 0.7, kMissing = 1, kMost = 4;
  double similarity = ArchitectureOf(a) == ArchitectureOf(b) ? 0 : kOtherArchitecture;
  const std::string core = CoreOf(a.device);
  if (a.kind == "cpu" && core == CoreOf(b.device) && (!core.empty() || a.device == b.device)) similarity += kSameCore;
  const auto x = SheetFeatures(a), y = SheetFeatures(b);
  const bool is_half_a = a.precision == "float16", is_half_b = b.precision == "float16";
  const auto add = [&](double from, double to, double scale) {
    const double d = (from - to) / scale;
    similarity -= 0.5 * (std::isnan(d) ? kMissing : std::min(kMost, d * d));
  };
  if (a.kind == "gpu") {
    add(x[0], y[0], 2);
    add(x[2], y[2], 1.5);
  } else {
    add(x[1], y[1], 1.5);
    add(x[2], y[2], 1.5);
    add(x[3], y[3], 0.7);
  }
  add(is_half_a, is_half_b, 0.5);
  return similarity;
}

// Whether a target is the device itself, by its name and what is known of its sheet: a processor of
// two kinds of cores has a target for each.
bool IsItself(const TargetSpec& machine, const TargetSpec& target) {
  constexpr double kSameNumber = 0.1;
  if (!absl::EqualsIgnoreCase(machine.device, target.device) || machine.kind != target.kind ||
      machine.precision != target.precision || machine.threads != target.threads)
    return false;
  const auto x = SheetFeatures(machine), y = SheetFeatures(target);
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::fabs(x[i] - y[i]) > kSameNumber) return false;  // never of what is not known
  }
  return true;
}

double NormalAtMost(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

struct Components {
  std::vector<double> log_weight, mean, deviation;
};

// Where the components' distribution function reaches `share`.
double QuantileOf(const Components& c, double share) {
  double low = std::numeric_limits<double>::infinity(), high = -low, most = -low;
  for (size_t i = 0; i < c.mean.size(); ++i) most = std::max(most, c.log_weight[i]);
  std::vector<double> weights;
  double sum = 0;
  for (size_t i = 0; i < c.mean.size(); ++i) {
    sum += weights.emplace_back(std::exp(c.log_weight[i] - most));
    low = std::min(low, c.mean[i] - 6 * c.deviation[i]);
    high = std::max(high, c.mean[i] + 6 * c.deviation[i]);
  }
  constexpr int kRounds = 30;  // a millionth of a latency
  for (int round = 0; round < kRounds; ++round) {
    const double middle = (low + high) / 2;
    double below = 0;
    for (size_t i = 0; i < weights.size(); ++i)
      below += weights[i] * NormalAtMost((middle - c.mean[i]) / c.deviation[i]);
    (below < share * sum ? low : high) = middle;
  }
  return (low + high) / 2;
}

// The median under weights exp(-kRelative x).
double MedianOfRelative(Components c) {
  for (size_t i = 0; i < c.mean.size(); ++i) {
    const double variance = c.deviation[i] * c.deviation[i];
    c.log_weight[i] += -kRelative * c.mean[i] + 0.5 * kRelative * kRelative * variance;
    c.mean[i] -= kRelative * variance;
  }
  return QuantileOf(c, 0.5);
}

VectorXd SoftMax(const VectorXd& logs) {
  const VectorXd weights = (logs.array() - logs.maxCoeff()).exp();
  return weights / weights.sum();
}

}  // namespace

double ProfileAnswer::ScoreOf(double measured_log_us) const {
  const double error = measured_log_us - log_us;
  return std::fabs(error) / std::max(error > 0 ? high - log_us : log_us - low, 1e-6);
}

// Two targets, and how much their difference says of the covariance between near ones.
struct TargetPair {
  Index a = 0, b = 0;
  double weight = 0;
};

struct ProfileModel::State {
  std::vector<TargetSpec> specs;
  MatrixXd reference;      // [targets][networks]
  VectorXd device_weight;  // less for each of several targets of one device
  VectorXd share;          // of each target in means and covariances; sum: 1
  VectorXd level;          // mean of its row
  std::vector<TargetPair> pairs;
  double mean_level = 0, level_variance = 1;
  // The level by data sheets: kernel ridge regression.
  VectorXd feature_mean, feature_deviation;
  MatrixXd features;
  VectorXd ridge;
  std::vector<std::string> architectures;

  bool SameDevice(Index a, Index b) const {
    return specs[static_cast<size_t>(a)].device == specs[static_cast<size_t>(b)].device;
  }
  Index count() const { return static_cast<Index>(specs.size()); }

  void WeighDevices();
  void WeighShares();
  void WeighPairs();
  void FitLevels();
  VectorXd Standardized(const TargetSpec& spec) const;
  double SheetKernel(const VectorXd& x, const std::string& of_x, const VectorXd& y, const std::string& of_y) const;
  double LevelOf(const TargetSpec& spec) const;
};

void ProfileModel::State::WeighDevices() {
  std::map<std::string, double> targets;
  for (const TargetSpec& spec : specs) targets[spec.device] += 1;
  device_weight = VectorXd(count());
  for (Index j = 0; j < count(); ++j) device_weight[j] = 1 / std::sqrt(targets[specs[static_cast<size_t>(j)].device]);
}

// Targets far from the others count less in the covariance: Student's t with six degrees of
// freedom.
void ProfileModel::State::WeighShares() {
  constexpr double kFreedom = 6;
  constexpr int kRounds = 6;
  const Index networks = reference.cols();
  VectorXd trust = VectorXd::Ones(count());
  for (int round = 0; round <= kRounds; ++round) {
    share = device_weight.cwiseProduct(trust);
    share /= share.sum();
    if (round == kRounds) break;
    const VectorXd mean = reference.transpose() * share;
    const MatrixXd centred = reference.rowwise() - mean.transpose();
    MatrixXd covariance = centred.transpose() * share.asDiagonal() * centred;
    for (Index n = 0; n < networks; ++n) covariance(n, n) += kOwnVariance;
    const MatrixXd solved = covariance.llt().solve(centred.transpose());
    for (Index j = 0; j < count(); ++j) {
      const double distance = centred.row(j).dot(solved.col(j));
      trust[j] = (kFreedom + static_cast<double>(networks)) / (kFreedom + distance);
    }
  }
}

// Each target with those that explain it best, as the mixture would choose them; twice, because
// what is near depends on the covariance.
void ProfileModel::State::WeighPairs() {
  constexpr double kStartShare = 0.2, kStartVariance = 0.09, kTemper = 0.3, kSheetPowerOfPairs = 0.5, kFreedom = 5;
  constexpr size_t kNearest = 12;
  const Index networks = reference.cols();
  const VectorXd mean = reference.transpose() * share;
  const MatrixXd centred = reference.rowwise() - mean.transpose();
  MatrixXd covariance = kStartShare * (centred.transpose() * share.asDiagonal() * centred);
  covariance.array() += kStartVariance;
  MatrixXd similarity(count(), count());
  for (Index a = 0; a < count(); ++a) {
    for (Index b = 0; b < count(); ++b) {
      similarity(a, b) =
          kSheetPowerOfPairs * LogSimilarity(specs[static_cast<size_t>(a)], specs[static_cast<size_t>(b)]);
    }
  }
  for (int round = 0; round < 2; ++round) {
    for (Index n = 0; n < networks; ++n) covariance(n, n) += kNoise;
    const Eigen::LLT<MatrixXd> factor(covariance);
    pairs.clear();
    double total = 0;
    for (Index a = 0; a < count(); ++a) {
      const MatrixXd differences = (-reference).rowwise() + reference.row(a);
      const MatrixXd half = factor.matrixL().solve(differences.transpose());
      const VectorXd distance = half.colwise().squaredNorm();
      std::vector<std::pair<double, Index>> near;
      for (Index b = 0; b < count(); ++b) {
        if (!SameDevice(a, b)) near.emplace_back(similarity(a, b) - 0.5 * kTemper * distance[b], b);
      }
      std::sort(near.rbegin(), near.rend());
      if (near.size() > kNearest) near.resize(kNearest);
      double sum = 0;
      for (const auto& [log_weight, b] : near) sum += std::exp(log_weight - near[0].first);
      for (const auto& [log_weight, b] : near) {
        const double trust = (kFreedom + static_cast<double>(networks)) / (kFreedom + distance[b]);
        const double weight = device_weight[a] * trust * std::exp(log_weight - near[0].first) / sum;
        pairs.push_back({a, b, weight});
        total += weight;
      }
    }
    covariance.setZero();
    for (TargetPair& pair : pairs) {
      pair.weight /= total;
      const VectorXd difference = reference.row(pair.a) - reference.row(pair.b);
      covariance += pair.weight * difference * difference.transpose();
    }
    for (Index n = 0; n < networks; ++n) covariance(n, n) *= 1 + kOwnShare;
  }
}

VectorXd ProfileModel::State::Standardized(const TargetSpec& spec) const {
  const auto raw = SheetFeatures(spec);
  VectorXd x(static_cast<Index>(kSheetFeatures));
  for (Index f = 0; f < x.size(); ++f) {
    const double value = raw[static_cast<size_t>(f)];
    x[f] = std::isnan(value) ? 0 : (value - feature_mean[f]) / feature_deviation[f];
  }
  return x;
}

double ProfileModel::State::SheetKernel(const VectorXd& x, const std::string& of_x, const VectorXd& y,
                                        const std::string& of_y) const {
  constexpr double kArchitecture = 0.5, kNear = 0.3, kNearSquared = 6;
  return x.dot(y) + (of_x == of_y ? kArchitecture : 0) + kNear * std::exp(-0.5 * (x - y).squaredNorm() / kNearSquared);
}

void ProfileModel::State::FitLevels() {
  constexpr double kSameDevice = 0.15, kRidge = 0.1;
  mean_level = 0;
  level = reference.rowwise().mean();
  const VectorXd weights = device_weight.array().square() / device_weight.array().square().sum();
  mean_level = weights.dot(level);
  feature_mean = VectorXd::Zero(static_cast<Index>(kSheetFeatures));
  feature_deviation = feature_mean;
  for (size_t f = 0; f < kSheetFeatures; ++f) {
    double sum = 0, squares = 0, known = 0;
    for (const TargetSpec& spec : specs) {
      const double value = SheetFeatures(spec)[f];
      if (std::isnan(value)) continue;
      sum += value;
      squares += value * value;
      known += 1;
    }
    const auto at = static_cast<Index>(f);
    feature_mean[at] = known > 0 ? sum / known : 0;
    feature_deviation[at] =
        1e-3 + (known > 0 ? std::sqrt(std::max(0.0, squares / known - std::pow(sum / known, 2))) : 0);
  }
  features = MatrixXd(count(), static_cast<Index>(kSheetFeatures));
  architectures.clear();
  for (Index j = 0; j < count(); ++j) {
    features.row(j) = Standardized(specs[static_cast<size_t>(j)]);
    architectures.push_back(ArchitectureOf(specs[static_cast<size_t>(j)]));
  }
  MatrixXd kernel(count(), count());
  for (Index a = 0; a < count(); ++a) {
    for (Index b = 0; b < count(); ++b) {
      kernel(a, b) = SheetKernel(features.row(a), architectures[static_cast<size_t>(a)], features.row(b),
                                 architectures[static_cast<size_t>(b)]) +
                     (SameDevice(a, b) ? kSameDevice : 0) + (a == b ? kRidge : 0);
    }
  }
  const MatrixXd inverse = kernel.llt().solve(MatrixXd::Identity(count(), count()));
  ridge = inverse * (level.array() - mean_level).matrix();
  // Each device's levels by the other devices': of a block of rows, the inverse of its block of the
  // inverse.
  double squares = 0, devices = 0;
  for (Index j = 0; j < count(); ++j) {
    std::vector<Index> block;
    for (Index k = 0; k < count(); ++k) {
      if (SameDevice(j, k)) block.push_back(k);
    }
    if (block[0] != j) continue;
    const auto size = static_cast<Index>(block.size());
    MatrixXd of_block(size, size);
    VectorXd rest(size);
    for (Index a = 0; a < size; ++a) {
      rest[a] = ridge[block[static_cast<size_t>(a)]];
      for (Index b = 0; b < size; ++b)
        of_block(a, b) = inverse(block[static_cast<size_t>(a)], block[static_cast<size_t>(b)]);
    }
    squares += of_block.llt().solve(rest).squaredNorm() / static_cast<double>(size);
    devices += 1;
  }
  level_variance = devices > 1 ? squares / devices : 1;
}

double ProfileModel::State::LevelOf(const TargetSpec& spec) const {
  const VectorXd x = Standardized(spec);
  const std::string architecture = ArchitectureOf(spec);
  double value = mean_level;
  for (Index j = 0; j < count(); ++j)
    value += ridge[j] * SheetKernel(x, architecture, features.row(j), architectures[static_cast<size_t>(j)]);
  return value;
}

ProfileModel::ProfileModel(std::vector<TargetSpec> targets, std::vector<std::vector<double>> reference)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.specs = std::move(targets);
  s.reference = MatrixXd(s.count(), static_cast<Index>(reference.size()));
  for (size_t n = 0; n < reference.size(); ++n)
    s.reference.col(static_cast<Index>(n)) = Eigen::Map<const VectorXd>(reference[n].data(), s.count());
  s.WeighDevices();
  s.WeighShares();
  s.WeighPairs();
  s.FitLevels();
}

ProfileModel::~ProfileModel() = default;

// A network as the mixture sees it.
struct NetworkColumn {
  VectorXd log_us, centred, pair_differences;  // by target; by target, about the mean; by pair
  VectorXd means;                              // of the components: two wide ones, then a target each
  double variance = 0;
  bool is_quantized = false;
};

struct ProfileModel::Question::State {
  const ProfileModel::State* model = nullptr;
  bool is_gpu = false;
  double level = 0;
  VectorXd log_weight, similar;  // by target
  bool is_known = false;         // `similar` has the device itself
  std::vector<NetworkColumn> samples;
  VectorXd measured;
  // A family of components that share a covariance: factor of which, and their means' positions.
  struct Family {
    bool is_wide = true;
    double scale = 1;
    Eigen::LLT<MatrixXd> factor;
    MatrixXd residuals;              // L^-1 (measured - mean), a column a component
    std::vector<double> log_weight;  // after the samples
  };
  std::vector<Family> families;

  NetworkColumn Column(const CalibrationProfile::Network& network) const;
  double Covariance(const Family& family, const NetworkColumn& a, const NetworkColumn& b, bool is_same) const;
  Index FirstOf(const Family& family) const { return family.is_wide ? 0 : 2; }
  Index CountOf(const Family& family) const { return family.is_wide ? 2 : model->count(); }
  void Condition(Family* family) const;
  double HeaviestLogWeight() const;
  ProfileAnswer BySheet(const NetworkColumn& network) const;
};

NetworkColumn ProfileModel::Question::State::Column(const CalibrationProfile::Network& network) const {
  const ProfileModel::State& m = *model;
  NetworkColumn c;
  c.log_us = Eigen::Map<const VectorXd>(network.log_us.data(), m.count());
  c.variance = network.variance;
  c.is_quantized = network.is_quantized;
  const double mean = m.share.dot(c.log_us);
  c.centred = c.log_us.array() - mean;
  c.pair_differences = VectorXd(static_cast<Index>(m.pairs.size()));
  for (size_t p = 0; p < m.pairs.size(); ++p)
    c.pair_differences[static_cast<Index>(p)] =
        std::sqrt(m.pairs[p].weight) * (c.log_us[m.pairs[p].a] - c.log_us[m.pairs[p].b]);
  const VectorXd shape = c.log_us - m.level;
  const double overall = m.share.dot(shape);
  c.means = VectorXd(2 + m.count());
  c.means[0] = level + kSimilarShare * similar.dot(shape) + (1 - kSimilarShare) * overall;
  c.means[1] = mean;
  c.means.tail(m.count()) = c.log_us.array() + kSheetShare * (level - m.level.array());
  return c;
}

double ProfileModel::Question::State::Covariance(const Family& family, const NetworkColumn& a, const NetworkColumn& b,
                                                 bool is_same) const {
  double value =
      family.is_wide ? model->share.dot(a.centred.cwiseProduct(b.centred)) : a.pair_differences.dot(b.pair_differences);
  if (is_same) value = value * (1 + kOwnShare) + (family.is_wide ? kOwnVariance : 0);
  value = family.scale * value + (family.is_wide ? 0 : kLevelVariance);
  if (is_same) value += a.variance;
  if (is_gpu && a.is_quantized && b.is_quantized) value += kQuantizedVariance;
  return value;
}

void ProfileModel::Question::State::Condition(Family* family) const {
  const auto count = static_cast<Index>(samples.size());
  const Index first = FirstOf(*family), components = CountOf(*family);
  MatrixXd covariance(count, count);
  for (Index i = 0; i < count; ++i) {
    for (Index k = 0; k <= i; ++k) {
      covariance(i, k) = covariance(k, i) =
          Covariance(*family, samples[static_cast<size_t>(i)], samples[static_cast<size_t>(k)], i == k);
    }
    covariance(i, i) += kNoise;
  }
  family->factor.compute(covariance);
  family->residuals = MatrixXd(count, components);
  for (Index i = 0; i < count; ++i) {
    family->residuals.row(i) =
        (measured[i] - samples[static_cast<size_t>(i)].means.segment(first, components).array()).matrix().transpose();
  }
  family->factor.matrixL().solveInPlace(family->residuals);
  const double log_determinant = MatrixXd(family->factor.matrixL()).diagonal().array().log().sum();
  for (Index j = 0; j < components; ++j)
    family->log_weight[static_cast<size_t>(j)] -= 0.5 * family->residuals.col(j).squaredNorm() + log_determinant;
}

double ProfileModel::Question::State::HeaviestLogWeight() const {
  double most = -std::numeric_limits<double>::infinity();
  for (const Family& family : families)
    most = std::max(most, *std::max_element(family.log_weight.begin(), family.log_weight.end()));
  return most;
}

ProfileAnswer ProfileModel::Question::State::BySheet(const NetworkColumn& network) const {
  const double mean = is_known ? similar.dot(network.log_us) : network.means[0],
               variance = is_known ? kOtherUnitVariance : model->level_variance + kShapeVariance,
               z = 1.645 * std::sqrt(variance + network.variance);
  ProfileAnswer answer;
  answer.log_us = is_known ? mean : mean - kSheetOnlyRelative * model->level_variance;
  answer.low = mean - z;
  answer.high = mean + z;
  return answer;
}

ProfileModel::Question::Question(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProfileModel::Question::~Question() = default;
ProfileModel::Question::Question(Question&&) noexcept = default;

ProfileModel::Question ProfileModel::Ask(const TargetSpec& machine,
                                         absl::Span<const CalibrationProfile::Sample> samples,
                                         const std::string& without) const {
  auto state = std::make_unique<Question::State>();
  Question::State& q = *state;
  const State& m = *state_;
  q.model = &m;
  q.is_gpu = machine.kind == "gpu";
  q.level = m.LevelOf(machine);
  q.log_weight = VectorXd(m.count());
  for (Index j = 0; j < m.count(); ++j) {
    const TargetSpec& spec = m.specs[static_cast<size_t>(j)];
    q.log_weight[j] = !without.empty() && spec.device == without
                          ? -std::numeric_limits<double>::infinity()
                          : kSheetPower * LogSimilarity(machine, spec) + 2 * std::log(m.device_weight[j]);
  }
  VectorXd itself = VectorXd::Zero(m.count());
  for (Index j = 0; j < m.count(); ++j) {
    if (std::isfinite(q.log_weight[j]) && IsItself(machine, m.specs[static_cast<size_t>(j)])) itself[j] = 1;
  }
  q.is_known = itself.sum() > 0;
  if (q.is_known) q.log_weight += kItself * itself;
  q.similar = q.is_known && samples.empty() ? VectorXd(itself / itself.sum()) : SoftMax(q.log_weight);
  q.measured = VectorXd(static_cast<Index>(samples.size()));
  for (size_t i = 0; i < samples.size(); ++i) {
    q.samples.push_back(q.Column(samples[i].network));
    q.measured[static_cast<Index>(i)] = samples[i].measured_log_us;
  }
  if (samples.empty()) return Question(std::move(state));
  for (size_t s = 0; s < kWideScales.size(); ++s) {
    const double log_weight = std::log((1 - kTargetsWeight) * kWideWeights[s] / 2);
    q.families.push_back({true, kWideScales[s], {}, {}, {log_weight, log_weight}});
  }
  for (const double scale : kTargetScales) {
    Question::State::Family family{false, scale, {}, {}, {}};
    for (Index j = 0; j < m.count(); ++j)
      family.log_weight.push_back(std::log(std::max(q.similar[j], 1e-300)) +
                                  std::log(kTargetsWeight / static_cast<double>(kTargetScales.size())));
    q.families.push_back(std::move(family));
  }
  for (Question::State::Family& family : q.families) q.Condition(&family);
  return Question(std::move(state));
}

ProfileAnswer ProfileModel::Question::Answer(const CalibrationProfile::Network& network, double interval_scale) const {
  const State& q = *state_;
  const NetworkColumn column = q.Column(network);
  ProfileAnswer answer;
  if (q.samples.empty()) {
    answer = q.BySheet(column);
  } else {
    const double most = q.HeaviestLogWeight();
    Components components;
    for (const State::Family& family : q.families) {
      VectorXd cross(static_cast<Index>(q.samples.size()));
      for (size_t i = 0; i < q.samples.size(); ++i)
        cross[static_cast<Index>(i)] = q.Covariance(family, q.samples[i], column, false);
      family.factor.matrixL().solveInPlace(cross);
      const double variance = std::max(0.0, q.Covariance(family, column, column, true) - cross.squaredNorm()) + kNoise;
      for (Index j = 0; j < q.CountOf(family); ++j) {
        const double log_weight = family.log_weight[static_cast<size_t>(j)];
        if (log_weight < most - kLogWeightSpan) continue;
        components.log_weight.push_back(log_weight);
        components.mean.push_back(column.means[q.FirstOf(family) + j] + cross.dot(family.residuals.col(j)));
        components.deviation.push_back(std::sqrt(variance));
      }
    }
    answer.log_us = MedianOfRelative(components);
    answer.low = QuantileOf(components, kQuantile);
    answer.high = QuantileOf(components, 1 - kQuantile);
  }
  answer.low = answer.log_us - interval_scale * std::max(0.0, answer.log_us - answer.low);
  answer.high = answer.log_us + interval_scale * std::max(0.0, answer.high - answer.log_us);
  return answer;
}

std::vector<double> ProfileModel::Question::Weights() const {
  const State& q = *state_;
  std::vector<double> weights(static_cast<size_t>(q.model->count()));
  const double most = q.HeaviestLogWeight();
  for (const State::Family& family : q.families) {
    for (Index j = 0; !family.is_wide && j < q.CountOf(family); ++j) {
      const double log_weight = family.log_weight[static_cast<size_t>(j)];
      if (log_weight >= most - kLogWeightSpan) weights[static_cast<size_t>(j)] += std::exp(log_weight - most);
    }
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (size_t j = 0; j < weights.size(); ++j)
    weights[j] = sum > 0 ? weights[j] / sum : q.similar[static_cast<Index>(j)];
  return weights;
}

std::vector<double> ProfileModel::HeldOutScores(size_t samples) const {
  constexpr Index kMostTargets = 24;
  constexpr size_t kFewestOthers = 4;
  const State& m = *state_;
  const auto networks = static_cast<size_t>(m.reference.cols());
  if (networks < kFewestOthers + 1) return {};
  samples = std::min(samples, networks - kFewestOthers);
  std::mt19937_64 random(1);
  std::vector<Index> targets(static_cast<size_t>(m.count()));
  std::iota(targets.begin(), targets.end(), Index{0});
  std::shuffle(targets.begin(), targets.end(), random);
  if (targets.size() > static_cast<size_t>(kMostTargets)) targets.resize(static_cast<size_t>(kMostTargets));
  const auto network = [&](size_t n) {
    const VectorXd column = m.reference.col(static_cast<Index>(n));
    return CalibrationProfile::Network{{column.data(), column.data() + column.size()}, 0, false};
  };
  std::vector<double> scores;
  for (const Index target : targets) {
    std::vector<size_t> order(networks);
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<CalibrationProfile::Sample> timed;
    for (size_t i = 0; i < samples; ++i)
      timed.push_back({network(order[i]), m.reference(target, static_cast<Index>(order[i]))});
    const TargetSpec& spec = m.specs[static_cast<size_t>(target)];
    const Question question = Ask(spec, timed, spec.device);
    for (size_t i = samples; i < std::min(networks, samples + 12); ++i) {
      const ProfileAnswer answer = question.Answer(network(order[i]));
      scores.push_back(answer.ScoreOf(m.reference(target, static_cast<Index>(order[i]))));
    }
  }
  return scores;
}

}  // namespace cobra::predict
