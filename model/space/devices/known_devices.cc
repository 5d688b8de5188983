#include "model/space/devices/known_devices.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "model/training/rows/metrics.h"

namespace cobra::space {
namespace {

constexpr int64_t kMinRows = 30, kReferenceRows = 400, kHeldOutEvery = 10;
// Ridge penalties, for rows whose entries are about one: single choices are trusted, products of
// two need evidence.
constexpr double kRidge = 0.02, kPairRidge = 30;

// The message alone, without the position of a diagnostic, which would blame a command line.
std::string ErrorReason(const absl::Status& status) {
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  return diagnostic ? diagnostic->message : std::string(status.message());
}

at::Tensor ToMatrix(const std::vector<double>& values, size_t rows) {
  const auto count = static_cast<int64_t>(rows);
  return at::tensor(values, at::kDouble).view({count, count == 0 ? 0 : static_cast<int64_t>(values.size()) / count});
}

// Fits a line to latency over mean latency with the least relative error. A latency near zero is
// weighted as a tenth of the median, because modelled devices have cells of 0 ms.
at::Tensor FitLine(const at::Tensor& features, const at::Tensor& latency, const at::Tensor& ridge) {
  const double mean = latency.mean().item<double>(), least = 0.1 * latency.median().item<double>();
  const at::Tensor weight = mean / latency.clamp_min(least);
  const at::Tensor rows = features * weight.unsqueeze(1), target = weight * latency / mean;
  const at::Tensor normal = at::matmul(rows.t(), rows) + at::diag(ridge);
  return at::cholesky_solve(at::matmul(rows.t(), target).unsqueeze(1), at::linalg_cholesky(normal)).squeeze(1);
}

}  // namespace

SpaceMatrix SpaceMatrix::Select(const at::Tensor& index) const {
  return {costs.index_select(0, index), choices.index_select(0, index), pairs.index_select(0, index),
          rooflines.index_select(0, index)};
}

absl::StatusOr<SpaceMatrix> MakeSpaceMatrix(const Space& space, const ArchRows& rows, const std::string& file) {
  std::vector<double> costs, choices, pairs, rooflines;
  for (size_t r = 0; r < rows.size(); ++r) {
    const absl::StatusOr<SpaceFeatures> f = space.Features(rows.arch[r]);
    if (!f.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": line ", rows.line[r], ": ", ErrorReason(f.status()), " (space ", space.name(), ")"));
    }
    costs.insert(costs.end(), f->costs.begin(), f->costs.end());
    choices.insert(choices.end(), f->choices.begin(), f->choices.end());
    pairs.insert(pairs.end(), f->pairs.begin(), f->pairs.end());
    rooflines.insert(rooflines.end(), f->rooflines.begin(), f->rooflines.end());
  }
  return SpaceMatrix{ToMatrix(costs, rows.size()), ToMatrix(choices, rows.size()), ToMatrix(pairs, rows.size()),
                     ToMatrix(rooflines, rows.size())};
}

at::Tensor KnownDevices::Costs(const SpaceMatrix& m) const {
  return (m.costs - tensors_.mean_costs) / tensors_.mean_costs.clamp_min(1e-9);
}
at::Tensor KnownDevices::Choices(const SpaceMatrix& m) const { return m.choices - tensors_.mean_choices; }
at::Tensor KnownDevices::Rooflines(const SpaceMatrix& m) const {
  return m.rooflines / tensors_.mean_rooflines.clamp_min(1e-9);
}
at::Tensor KnownDevices::Features(const SpaceMatrix& m) const {
  return at::cat({at::ones({m.size(), 1}, at::kDouble), Costs(m), Choices(m), m.pairs - tensors_.mean_pairs}, 1);
}

at::Tensor KnownDevices::Latency(const SpaceMatrix& m) const {
  std::vector<double> least;
  for (const Device& d : devices_) least.push_back(d.least);
  return at::maximum(at::matmul(Features(m), tensors_.lines.t()), at::tensor(least, at::kDouble));
}

absl::StatusOr<KnownDevices> KnownDevices::Fit(const SpaceMatrix& all, const ArchRows& rows,
                                               const std::vector<size_t>& columns, const std::vector<int64_t>& fit_rows,
                                               const std::vector<DeviceSpec>& specs) {
  at::NoGradGuard no_grad;
  KnownDevices known;
  const SpaceMatrix fitted = all.Select(at::tensor(fit_rows, at::kLong));
  known.tensors_.mean_costs = fitted.costs.mean(0);
  known.tensors_.mean_choices = fitted.choices.mean(0);
  known.tensors_.mean_pairs = fitted.pairs.size(1) == 0 ? at::zeros({0}, at::kDouble) : fitted.pairs.mean(0);
  known.tensors_.mean_rooflines = fitted.rooflines.mean(0);
  const at::Tensor features = known.Features(fitted);
  at::Tensor ridge = at::full({features.size(1)}, kRidge, at::kDouble);
  ridge[0] = 1e-6;
  ridge.narrow(0, ridge.size(0) - fitted.pairs.size(1), fitted.pairs.size(1)).fill_(kPairRidge);
  std::vector<at::Tensor> lines;
  for (size_t column : columns) {
    std::vector<int64_t> present, kept, held_out;  // positions in fit_rows
    std::vector<double> ms;
    for (size_t i = 0; i < fit_rows.size(); ++i) {
      const double value = rows.latency_ms[column][static_cast<size_t>(fit_rows[i])];
      if (std::isnan(value)) continue;
      (present.size() % kHeldOutEvery == kHeldOutEvery - 1 ? held_out : kept)
          .push_back(static_cast<int64_t>(present.size()));
      present.push_back(static_cast<int64_t>(i));
      ms.push_back(value);
    }
    if (static_cast<int64_t>(present.size()) < kMinRows) {
      return absl::InvalidArgumentError(
          absl::StrCat(rows.devices[column], ": has ", present.size(), " rows; a device needs at least ", kMinRows));
    }
    const at::Tensor latency = at::tensor(ms, at::kDouble),
                     x = features.index_select(0, at::tensor(present, at::kLong));
    const double mean = latency.mean().item<double>(), least = 0.5 * latency.min().item<double>() / mean;
    const at::Tensor in = at::tensor(kept, at::kLong), out = at::tensor(held_out, at::kLong);
    const at::Tensor first = FitLine(x.index_select(0, in), latency.index_select(0, in), ridge);
    const at::Tensor scale = latency.index_select(0, in).mean();
    const at::Tensor off =
        (at::matmul(x.index_select(0, out), first).clamp_min(least) * scale / latency.index_select(0, out))
            .log()
            .abs()
            .contiguous();
    Device device;
    device.spec = SpecOf(specs, rows.devices[column]);
    device.off_by = training::ConformalQuantile({off.data_ptr<double>(), off.data_ptr<double>() + off.numel()}, 0.9);
    const at::Tensor line = FitLine(x, latency, ridge);
    const double mean_of_line = at::matmul(features, line).clamp_min(least).mean().item<double>();
    device.mean_ms = mean * mean_of_line;
    device.least = least / mean_of_line;
    lines.push_back(line / mean_of_line);
    known.devices_.push_back(std::move(device));
  }
  known.tensors_.lines = at::stack(lines);
  const int64_t step = std::max<int64_t>(1, fitted.size() / kReferenceRows);
  known.tensors_.reference = known.Latency(fitted.Select(at::arange(0, fitted.size(), step, at::kLong)));
  return known;
}

KnownDevices KnownDevices::Select(const std::vector<size_t>& devices) const {
  KnownDevices some = *this;
  some.devices_.clear();
  std::vector<int64_t> index;
  for (size_t d : devices) {
    some.devices_.push_back(devices_[d]);
    index.push_back(static_cast<int64_t>(d));
  }
  const at::Tensor chosen = at::tensor(index, at::kLong);
  some.tensors_.lines = tensors_.lines.index_select(0, chosen);
  some.tensors_.reference = tensors_.reference.index_select(1, chosen);
  return some;
}

KnownDevices KnownDevices::From(std::vector<Device> devices, const Tensors& tensors) {
  KnownDevices known;
  known.devices_ = std::move(devices);
  known.tensors_ = tensors;
  return known;
}

}  // namespace cobra::space
