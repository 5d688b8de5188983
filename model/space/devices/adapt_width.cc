#include "model/space/devices/adapt_width.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "model/training/rows/metrics.h"

namespace cobra::space {
namespace {

constexpr int kSamples[] = {3, 5, 10, 20};
constexpr int64_t kMostSamples = 20, kAsked = 200;

// Predictions for devices that are treated as new, with a given number of samples.
struct Trial {
  std::vector<double> off_by, of_posterior;  // AbsLogError, the posterior's 90 % half-width
  std::vector<double> surprise, own;         // of the device

  double HalfWidth(const AdaptWidth& width, size_t i) const {
    return width.HalfWidth(of_posterior[i], surprise[i], own[i]);
  }
  void Add(const std::vector<AdaptedLatency>& predicted, const std::vector<double>& measured_ms,
           const AdaptedDevice& device) {
    for (size_t i = 0; i < predicted.size(); ++i) {
      off_by.push_back(training::AbsLogError(predicted[i].latency_ms, measured_ms[i]));
      of_posterior.push_back(std::log(predicted[i].high_ms / predicted[i].latency_ms));
      surprise.push_back(device.surprise());
      own.push_back(device.own_half_width());
    }
  }
};

// Other powers of the surprise than 1 were tried: with more, devices whose ten samples happen to
// agree get too little.
AdaptWidth WidthWith(const Trial& trial, double usual, double trust, double own) {
  AdaptWidth width{1, usual, trust, 1, own};
  std::vector<double> scores;
  for (size_t i = 0; i < trial.off_by.size(); ++i) scores.push_back(trial.off_by[i] / trial.HalfWidth(width, i));
  width.factor = training::ConformalQuantile(std::move(scores), 0.9);
  return width;
}

// The cost of the intervals: their widths, plus twenty times how far measurements lie beyond them.
double IntervalScore(const Trial& trial, const AdaptWidth& width) {
  double sum = 0;
  for (size_t i = 0; i < trial.off_by.size(); ++i) {
    const double half = trial.HalfWidth(width, i);
    sum += 2 * half + 20 * std::max(0.0, trial.off_by[i] - half);
  }
  return sum;
}

AdaptWidth Calibrate(const Trial& trial) {
  double log_sum = 0;
  for (double half : trial.of_posterior) log_sum += std::log(half);
  const double usual = std::exp(log_sum / static_cast<double>(trial.of_posterior.size()));
  AdaptWidth best;
  double least = std::numeric_limits<double>::infinity();
  for (double trust : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    for (double own : {0.0, 0.5, 1.0}) {
      const AdaptWidth width = WidthWith(trial, usual, trust, own);
      const double score = IntervalScore(trial, width);
      if (score >= least) continue;
      least = score;
      best = width;
    }
  }
  return best;
}

// Adapts with the first samples of `order`, and predicts all rows after the largest number of
// samples.
void Try(const Adapter& adapter, const AdaptRows& rows, const std::vector<double>& ms,
         const std::vector<int64_t>& order, std::map<int, Trial>* trials) {
  const auto first = [&](int64_t from, int64_t to) {
    return at::tensor(std::vector<int64_t>(order.begin() + from, order.begin() + to), at::kLong);
  };
  const auto latencies = [&](int64_t from, int64_t to) {
    std::vector<double> chosen;
    for (int64_t i = from; i < to; ++i) chosen.push_back(ms[static_cast<size_t>(order[static_cast<size_t>(i)])]);
    return chosen;
  };
  const auto all = static_cast<int64_t>(order.size());
  const AdaptRows asked = rows.Select(first(kMostSamples, all));
  for (int samples : kSamples) {
    const AdaptedDevice adapted = adapter.Fit(rows.Select(first(0, samples)), latencies(0, samples));
    (*trials)[samples].Add(adapted.Predict(asked), latencies(kMostSamples, all), adapted);
  }
}

std::vector<int64_t> SelectionOrder(const Adapter& adapter, const AdaptRows& rows) {
  std::vector<int64_t> order = adapter.Choose(rows, kMostSamples);
  const std::set<int64_t> chosen(order.begin(), order.end());
  for (int64_t r = 0; r < rows.size(); ++r) {
    if (chosen.count(r) == 0) order.push_back(r);
  }
  return order;
}

}  // namespace

AdaptWidths CalibrateWidths(const KnownDevices& known, const SpaceMatrix& all, const ArchRows& rows,
                            const std::vector<int64_t>& fit_rows, const AdaptOptions& options, int draws) {
  if (known.size() < 3) return {};
  std::map<int, Trial> trials;
  std::mt19937 random(1);
  for (const KnownDevices::Device& device : known.devices()) {
    const std::vector<size_t> others = OtherFamilies(known, device.spec);
    const absl::StatusOr<size_t> column = rows.Device(device.spec.name);
    if (others.size() < 2 || !column.ok()) continue;
    std::vector<int64_t> present;
    for (int64_t r : fit_rows) {
      if (!std::isnan(rows.latency_ms[*column][static_cast<size_t>(r)])) present.push_back(r);
    }
    const Adapter adapter(known.Select(others), device.spec, options);
    for (int draw = 0; draw <= draws; ++draw) {
      std::shuffle(present.begin(), present.end(), random);
      const auto used = std::min<int64_t>(static_cast<int64_t>(present.size()), kAsked + kMostSamples);
      const std::vector<int64_t> drawn(present.begin(), present.begin() + used);
      const AdaptRows prepared = adapter.Prepare(all.Select(at::tensor(drawn, at::kLong)));
      std::vector<double> ms;
      for (int64_t r : drawn) ms.push_back(rows.latency_ms[*column][static_cast<size_t>(r)]);
      std::vector<int64_t> order(drawn.size());
      std::iota(order.begin(), order.end(), int64_t{0});
      Try(adapter, prepared, ms, draw < draws ? order : SelectionOrder(adapter, prepared), &trials);
    }
  }
  AdaptWidths widths;
  for (const auto& [samples, trial] : trials) widths[samples] = Calibrate(trial);
  return widths;
}

AdaptWidth WidthOf(const AdaptWidths& widths, int samples) {
  if (widths.empty()) return {};
  const auto after = widths.lower_bound(samples);  // at least `samples`
  if (after == widths.begin()) return after->second;
  if (after == widths.end()) return widths.rbegin()->second;
  const auto& [fewer, a] = *std::prev(after);
  const auto& [more, b] = *after;
  const double part = std::log(static_cast<double>(samples) / fewer) / std::log(static_cast<double>(more) / fewer);
  return {std::pow(a.factor, 1 - part) * std::pow(b.factor, part),
          std::pow(a.usual, 1 - part) * std::pow(b.usual, part), a.trust + part * (b.trust - a.trust),
          a.power + part * (b.power - a.power), a.own + part * (b.own - a.own)};
}

}  // namespace cobra::space
