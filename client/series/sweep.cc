#include "client/series/sweep.h"

#include <algorithm>
#include <cmath>

#include "client/answer/memory_fit.h"

namespace cobra::client {
namespace {

// The batch at which the line through two points reaches `bytes`; nothing if it does not rise.
std::optional<int64_t> BatchAt(const SweepPoint& a, const SweepPoint& b, double bytes) {
  const auto rise = static_cast<double>(b.peak_memory_bytes - a.peak_memory_bytes);
  if (rise <= 0) return std::nullopt;
  const double share = (bytes - static_cast<double>(a.peak_memory_bytes)) / rise;
  const double batch = static_cast<double>(a.batch) + share * static_cast<double>(b.batch - a.batch);
  constexpr double kMost = 1e15;  // beyond it, memory does not limit the batch
  if (batch > kMost) return std::nullopt;
  return static_cast<int64_t>(std::floor(batch));
}

}  // namespace

bool TargetSweep::Fits(const SweepPoint& point) const { return FitsInto(point.peak_memory_bytes, memory_gb); }

std::optional<Knee> KneeOf(const TargetSweep& sweep) {
  const auto is_answer = [&sweep](const SweepPoint& point) {
    return point.ok() && sweep.Fits(point) && std::isfinite(point.per_second()) && point.per_second() > 0;
  };
  const auto is_known = [&is_answer](const SweepPoint& point) {
    return is_answer(point) && !point.prediction.extrapolating();
  };
  // A guess counts only where there is nothing else.
  const bool some_known = std::any_of(sweep.points.begin(), sweep.points.end(), is_known);
  const auto counts = [&](const SweepPoint& point) { return some_known ? is_known(point) : is_answer(point); };
  std::optional<Knee> knee;
  size_t last = 0;
  for (size_t i = 0; i < sweep.points.size(); ++i) {
    if (!counts(sweep.points[i])) continue;
    last = i;
    if (!knee.has_value()) knee = Knee{i, i};
    if (sweep.points[i].per_second() > sweep.points[knee->best].per_second()) knee->best = i;
  }
  if (!knee.has_value()) return knee;
  const double enough = kKneeShare * sweep.points[knee->best].per_second();
  while (!counts(sweep.points[knee->point]) || sweep.points[knee->point].per_second() < enough) ++knee->point;
  knee->is_last = knee->point == last;
  for (const size_t i : {knee->point, knee->best})
    knee->is_guess = knee->is_guess || sweep.points[i].prediction.extrapolating();
  return knee;
}

std::optional<MemoryEnd> MemoryEndOf(const TargetSweep& sweep) {
  if (sweep.memory_gb <= 0) return std::nullopt;
  const double bytes = kBytesPerGb * sweep.memory_gb;
  MemoryEnd end;
  const SweepPoint *before = nullptr, *last = nullptr;
  for (const SweepPoint& point : sweep.points) {
    if (!point.ok()) continue;
    before = last;
    last = &point;
    if (!sweep.Fits(point)) break;
    end.largest_that_fits = point.batch;
  }
  if (before != nullptr) end.estimate = BatchAt(*before, *last, bytes);
  if (end.estimate.has_value() && *end.estimate < 1) end.estimate = std::nullopt;
  return end;
}

}  // namespace cobra::client
