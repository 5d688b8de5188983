#include "model/space/models/hat_space.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file/csv.h"
#include "base/file/file.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "model/training/rows/metrics.h"
#include "nlohmann/json.hpp"

namespace cobra::space {
namespace {

constexpr int kTerms = 16;
constexpr int kRounds = 6;           // of the work model and the drift in turn
constexpr int kReweightings = 40;    // of the work model's least absolute error
constexpr double kQuadratic = 3e-3;  // smaller relative errors are weighted by their square
constexpr int kDriftWhileFitting = 8;
constexpr size_t kFewestForOrder = 50;
constexpr double kGain = 0.98;  // the order is used only if it reduces the error to less than this share

// Work of the encoder (its depth does not vary), then of the decoder, whose terms except the width
// are per layer. Attention over the encoder's output is as wide as the encoder, and covers as many
// of its layers as are attended to.
std::array<double, kTerms> TermsOf(const HatFeatures& f) {
  const double layers = f[5];
  return {1,
          f[0],
          f[2],
          f[3],
          f[0] * f[2],
          f[0] * f[3],
          f[4],
          layers,
          layers * f[4],
          layers * f[6],
          layers * f[7],
          layers * f[8],
          layers * f[9],
          layers * f[9] * f[0],
          layers * f[8] * f[9],
          layers * f[6] * f[4]};
}

double MeanError(const std::vector<double>& predicted, const std::vector<double>& measured) {
  double sum = 0;
  for (size_t i = 0; i < measured.size(); ++i) sum += std::fabs(predicted[i] / measured[i] - 1);
  return sum / static_cast<double>(measured.size());
}

// Returns the shift, among the quantiles of the residuals, whose factor exp(shift) gives the least
// mean relative error.
double BestLogShift(const std::vector<double>& law, const std::vector<double>& latency_ms) {
  std::vector<double> residual;
  for (size_t i = 0; i < law.size(); ++i) residual.push_back(std::log(latency_ms[i] / law[i]));
  std::vector<double> sorted = residual;
  std::sort(sorted.begin(), sorted.end());
  double best = std::numeric_limits<double>::infinity(), shift = 0;
  constexpr size_t kQuantiles = 40;
  for (size_t q = 0; q <= kQuantiles; ++q) {
    const double candidate = sorted[q * (sorted.size() - 1) / kQuantiles];
    double error = 0;
    for (double r : residual) error += std::fabs(std::expm1(candidate - r));
    if (error < best) best = error, shift = candidate;
  }
  return shift;
}

// Minimizes the sum of |terms coefficients / latency - 1| by reweighted least squares.
std::vector<double> LeastRelativeError(const at::Tensor& terms, const at::Tensor& latency) {
  const at::Tensor scale = terms.abs().amax(0).clamp_min(1e-12);
  const at::Tensor relative = terms / scale / latency.unsqueeze(1);
  at::Tensor weight = at::ones_like(latency), solution;
  for (int i = 0; i < kReweightings; ++i) {
    const at::Tensor weighted = relative * weight.unsqueeze(1);
    at::Tensor normal = at::matmul(weighted.t(), weighted);
    normal = normal + at::eye(kTerms, at::kDouble) * (normal.trace().item<double>() * 1e-11);
    solution = at::linalg_solve(normal, at::matmul(weighted.t(), weight.unsqueeze(1)));
    const at::Tensor error = at::matmul(relative, solution).squeeze(1) - 1;
    weight = error.abs().clamp_min(kQuadratic).rsqrt();
  }
  const at::Tensor coefficients = (solution.squeeze(1) / scale).contiguous();
  return std::vector<double>(coefficients.data_ptr<double>(), coefficients.data_ptr<double>() + kTerms);
}

absl::StatusOr<double> NumberIn(const std::string& field, absl::string_view what, absl::string_view path, int line) {
  double value = 0;
  if (!absl::SimpleAtod(field, &value) || !std::isfinite(value) || value <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": line ", line, ": ", what, " \"", field, "\": is not a positive number"));
  }
  return value;
}

}  // namespace

const std::array<absl::string_view, kHatFeatures>& HatFeatureNames() {
  static constexpr std::array<absl::string_view, kHatFeatures> kNames = {"encoder_embed_dim",
                                                                         "encoder_layer_num",
                                                                         "encoder_ffn_embed_dim_avg",
                                                                         "encoder_self_attention_heads_avg",
                                                                         "decoder_embed_dim",
                                                                         "decoder_layer_num",
                                                                         "decoder_ffn_embed_dim_avg",
                                                                         "decoder_self_attention_heads_avg",
                                                                         "decoder_ende_attention_heads_avg",
                                                                         "decoder_arbitrary_ende_attn_avg"};
  return kNames;
}

absl::StatusOr<HatRows> LoadHatRows(absl::string_view path) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadMaybeCompressed(path));
  const absl::StatusOr<CsvTable> csv = ParseCsv(text);
  if (!csv.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", csv.status().message()));
  const int row = csv->Column("row");
  if (row < 0) return absl::InvalidArgumentError(absl::StrCat(path, ": line 1: the header has no column row"));
  std::array<size_t, kHatFeatures> column;
  for (size_t f = 0; f < kHatFeatures; ++f) {
    const int c = csv->Column(HatFeatureNames()[f]);
    if (c < 0)
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": line 1: the header has no column ", HatFeatureNames()[f]));
    column[f] = static_cast<size_t>(c);
  }
  HatRows rows;
  std::vector<size_t> devices;
  for (size_t c = 0; c < csv->header.size(); ++c) {
    if (c == static_cast<size_t>(row) || std::find(column.begin(), column.end(), c) != column.end()) continue;
    devices.push_back(c);
    rows.devices.push_back(csv->header[c]);
  }
  rows.latency_ms.resize(devices.size());
  for (const CsvTable::Row& line : csv->rows) {
    rows.row.push_back(line.fields[static_cast<size_t>(row)]);
    double number = 0;
    rows.order.push_back(absl::SimpleAtod(rows.row.back(), &number) ? number : std::nan(""));
    HatFeatures& features = rows.features.emplace_back();
    for (size_t f = 0; f < kHatFeatures; ++f) {
      COBRA_ASSIGN_OR_RETURN(features[f], NumberIn(line.fields[column[f]], HatFeatureNames()[f], path, line.line));
    }
    for (size_t d = 0; d < devices.size(); ++d) {
      double ms = std::nan("");
      const std::string& field = line.fields[devices[d]];
      if (!field.empty()) {
        COBRA_ASSIGN_OR_RETURN(ms, NumberIn(field, rows.devices[d], path, line.line));
      }
      rows.latency_ms[d].push_back(ms);
    }
  }
  return rows;
}

double HatModel::WorkModelMs(const HatFeatures& features) const {
  const std::array<double, kTerms> terms = TermsOf(features);
  return std::max(0.1 * least_ms_, std::inner_product(terms.begin(), terms.end(), coefficients_.begin(), 0.0));
}

void HatModel::FitWorkModel(const std::vector<HatFeatures>& features, const std::vector<double>& latency_ms) {
  const auto n = static_cast<int64_t>(features.size());
  at::Tensor terms = at::empty({n, kTerms}, at::kDouble), latency = at::empty({n}, at::kDouble);
  for (int64_t i = 0; i < n; ++i) {
    const std::array<double, kTerms> of_row = TermsOf(features[static_cast<size_t>(i)]);
    std::copy(of_row.begin(), of_row.end(), terms.data_ptr<double>() + i * kTerms);
    latency.data_ptr<double>()[i] = latency_ms[static_cast<size_t>(i)];
  }
  coefficients_ = LeastRelativeError(terms, latency);
}

double HatModel::MedianNear(double order, int count, int excluded) const {
  auto high = static_cast<int>(std::lower_bound(order_.begin(), order_.end(), order) - order_.begin());
  int low = high - 1;
  const int end = static_cast<int>(order_.size());
  std::vector<double> near;
  while (static_cast<int>(near.size()) < count) {
    if (low == excluded) --low;
    if (high == excluded) ++high;
    if (low < 0 && high >= end) break;
    const bool down = high >= end || (low >= 0 && order - order_[static_cast<size_t>(low)] <=
                                                      order_[static_cast<size_t>(high)] - order);
    near.push_back(residual_[static_cast<size_t>(down ? low-- : high++)]);
  }
  return Median(std::move(near));
}

// Fits the work model and the drift in turn, then chooses over how many rows the drift is the
// median: the best number, if better than `best`. `predicted` becomes each row's prediction without
// its own latency in the drift.
bool HatModel::FitDrift(const std::vector<HatFeatures>& features, const std::vector<double>& order,
                        const std::vector<double>& latency_ms, double best, std::vector<double>* predicted) {
  std::vector<size_t> by_order(order.size()), place(order.size());
  std::iota(by_order.begin(), by_order.end(), 0);
  std::sort(by_order.begin(), by_order.end(), [&](size_t a, size_t b) { return order[a] < order[b]; });
  for (size_t p = 0; p < by_order.size(); ++p) place[by_order[p]] = p;
  const auto remember = [&] {
    order_.clear();
    residual_.clear();
    for (size_t i : by_order) {
      order_.push_back(order[i]);
      residual_.push_back(std::log(latency_ms[i] / WorkModelMs(features[i])));
    }
  };
  remember();
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> steady;
    for (size_t i = 0; i < features.size(); ++i) {
      steady.push_back(latency_ms[i] * std::exp(-MedianNear(order[i], kDriftWhileFitting, static_cast<int>(place[i]))));
    }
    FitWorkModel(features, steady);
    remember();
  }
  reach_ = 20 * (order_.back() - order_.front()) / static_cast<double>(order_.size());
  for (int count : {4, 8, 16, 32}) {
    std::vector<double> left_out;
    for (size_t i = 0; i < features.size(); ++i) {
      left_out.push_back(WorkModelMs(features[i]) * std::exp(MedianNear(order[i], count, static_cast<int>(place[i]))));
    }
    const double error = MeanError(left_out, latency_ms);
    if (error >= best) continue;
    best = error;
    nearest_ = count;
    *predicted = std::move(left_out);
  }
  return nearest_ > 0;
}

absl::StatusOr<HatModel> HatModel::Fit(const std::vector<HatFeatures>& features, const std::vector<double>& order,
                                       const std::vector<double>& latency_ms, const HatFitOptions& options) {
  if (features.empty() || features.size() != latency_ms.size())
    return absl::InvalidArgumentError("fit: no rows with a latency");
  // Sets the drift for a row without an order, and returns the predictions of the training rows
  // with it.
  const auto settle = [&](HatModel* model) {
    std::vector<double> law;
    for (const HatFeatures& f : features) law.push_back(model->WorkModelMs(f));
    model->typical_ = BestLogShift(law, latency_ms);
    for (double& ms : law) ms *= std::exp(model->typical_);
    return law;
  };
  HatModel model;
  model.least_ms_ = *std::min_element(latency_ms.begin(), latency_ms.end());
  model.FitWorkModel(features, latency_ms);
  std::vector<double> predicted = settle(&model);
  const bool numbered = options.use_order && order.size() == features.size() && features.size() >= kFewestForOrder &&
                        std::all_of(order.begin(), order.end(), [](double o) { return std::isfinite(o); });
  if (HatModel drifting = model; numbered && drifting.FitDrift(features, order, latency_ms,
                                                               kGain * MeanError(predicted, latency_ms), &predicted)) {
    model = std::move(drifting);
    (void)settle(&model);
  }
  std::vector<double> scores;
  for (size_t i = 0; i < predicted.size(); ++i) scores.push_back(training::AbsLogError(predicted[i], latency_ms[i]));
  model.half_width_ = training::ConformalQuantile(std::move(scores), 0.9);
  return model;
}

std::vector<double> HatModel::Predict(const std::vector<HatFeatures>& features,
                                      const std::vector<double>& order) const {
  std::vector<double> latency_ms;
  for (size_t i = 0; i < features.size(); ++i) {
    double drift = typical_;
    if (nearest_ > 0 && i < order.size() && std::isfinite(order[i]) && order[i] >= order_.front() - reach_ &&
        order[i] <= order_.back() + reach_) {
      drift = MedianNear(order[i], nearest_, -1);
    }
    latency_ms.push_back(WorkModelMs(features[i]) * std::exp(drift));
  }
  return latency_ms;
}

std::string HatModel::ToJson() const {
  return nlohmann::ordered_json{
      {"space", "hat"},       {"coefficients", coefficients_}, {"least_ms", least_ms_},     {"nearest", nearest_},
      {"reach", reach_},      {"typical", typical_},           {"half_width", half_width_}, {"order", order_},
      {"residual", residual_}}
      .dump();
}

absl::StatusOr<HatModel> HatModel::FromJson(absl::string_view text) {
  const auto j = ParseJson<nlohmann::json>(text);
  if (!j.is_object()) return absl::InvalidArgumentError("is not a JSON object");
  HatModel model;
  try {
    model.coefficients_ = j.at("coefficients").get<std::vector<double>>();
    model.least_ms_ = j.at("least_ms").get<double>();
    model.nearest_ = j.at("nearest").get<int>();
    model.reach_ = j.at("reach").get<double>();
    model.typical_ = j.at("typical").get<double>();
    model.half_width_ = j.at("half_width").get<double>();
    model.order_ = j.at("order").get<std::vector<double>>();
    model.residual_ = j.at("residual").get<std::vector<double>>();
  } catch (const nlohmann::json::exception& e) {
    return absl::InvalidArgumentError(absl::StrCat("is not a model of space hat: ", e.what()));
  }
  if (model.coefficients_.size() != kTerms || model.order_.size() != model.residual_.size() ||
      (model.nearest_ > 0 && model.order_.empty())) {
    return absl::InvalidArgumentError("is not a model of space hat: lists of the wrong lengths");
  }
  return model;
}

absl::StatusOr<HatModels> HatModels::Fit(const std::string& rows) {
  COBRA_ASSIGN_OR_RETURN(const HatRows table, LoadHatRows(rows));
  HatModels fitted;
  for (size_t d = 0; d < table.devices.size(); ++d) {
    std::vector<HatFeatures> features;
    std::vector<double> order, latency_ms;
    for (size_t r = 0; r < table.size(); ++r) {
      if (std::isnan(table.latency_ms[d][r])) continue;
      features.push_back(table.features[r]);
      order.push_back(table.order[r]);
      latency_ms.push_back(table.latency_ms[d][r]);
    }
    absl::StatusOr<HatModel> model = HatModel::Fit(features, order, latency_ms);
    if (!model.ok())
      return absl::InvalidArgumentError(
          absl::StrCat(rows, ": column ", table.devices[d], ": ", model.status().message()));
    fitted.devices.push_back(table.devices[d]);
    fitted.models.push_back(*std::move(model));
  }
  if (fitted.models.empty()) return absl::InvalidArgumentError(absl::StrCat(rows, ": has no column of latencies"));
  return fitted;
}

namespace {

std::string HatFile(const std::string& directory) { return directory + "/hat.json"; }

}  // namespace

bool HatModels::IsModelDirectory(const std::string& directory) { return FileExists(HatFile(directory)); }

absl::StatusOr<HatModels> HatModels::Load(const std::string& directory) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(HatFile(directory)));
  const auto j = ParseJson<nlohmann::json>(text);
  if (!j.is_object() || j.empty()) return absl::DataLossError(HatFile(directory) + ": is not a list of models");
  HatModels loaded;
  for (const auto& [device, model] : j.items()) {
    absl::StatusOr<HatModel> read = HatModel::FromJson(model.dump());
    if (!read.ok())
      return absl::DataLossError(absl::StrCat(HatFile(directory), ": ", device, ": ", read.status().message()));
    loaded.devices.push_back(device);
    loaded.models.push_back(*std::move(read));
  }
  return loaded;
}

absl::Status HatModels::Save(const std::string& directory) const {
  COBRA_RETURN_IF_ERROR(MakeDirectories(directory));
  nlohmann::ordered_json j;
  for (size_t d = 0; d < devices.size(); ++d) j[devices[d]] = ParseJson<nlohmann::ordered_json>(models[d].ToJson());
  return WriteFileAtomic(HatFile(directory), j.dump() + "\n");
}

absl::StatusOr<const HatModel*> HatModels::Of(absl::string_view device) const {
  if (device.empty() && models.size() == 1) return &models[0];
  for (size_t d = 0; d < devices.size(); ++d) {
    if (devices[d] == device) return &models[d];
  }
  return absl::NotFoundError(absl::StrCat("--device ", device, ": the model knows ", absl::StrJoin(devices, ", ")));
}

}  // namespace cobra::space
