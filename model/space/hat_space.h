// Translation Transformers as HAT describes them (Wang et al., ACL 2020): ten numbers a network. Each term of the
// latency is work that the numbers imply, and what the latencies have beside it is the device's state when they were
// measured, which holds for many measurements in a row.
#ifndef COBRA_MODEL_SPACE_HAT_SPACE_H_
#define COBRA_MODEL_SPACE_HAT_SPACE_H_

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::space {

inline constexpr int kHatFeatures = 10;
using HatFeatures = std::array<double, kHatFeatures>;
// Column names, in order: encoder_embed_dim, encoder_layer_num ...
const std::array<absl::string_view, kHatFeatures>& HatFeatureNames();

struct HatRows {
  std::vector<std::string> row;  // the table's own numbers, as they are written
  std::vector<HatFeatures> features;
  std::vector<double> order;  // `row` as a number, NaN where it is none: rows are numbered as they were measured
  std::vector<std::string> devices;
  std::vector<std::vector<double>> latency_ms;  // [device][row]; NaN where the table has none

  size_t size() const { return row.size(); }
};
// CSV, plain or gzip, with columns `row`, the ten features, and one a device (`latency_ms` where there is only one).
// Errors name file and line.
absl::StatusOr<HatRows> LoadHatRows(absl::string_view path);

struct HatFitOptions {
  // Whether rows that were measured near each other may tell of each other. They do only if, among the training rows,
  // leaving each out in turn, they do better than the law alone; a set whose numbers are no order of measuring is not
  // harmed.
  bool use_order = true;
};

// law: sixteen terms of work (embedding, feed-forward and attention of the encoder; the same of the decoder, times its
// layers), by least absolute relative error, which a minority of slow measurements does not move. drift: the median of
// what the law leaves of the nearest training rows in the order of measuring; law and drift are fitted in turn.
class HatModel {
 public:
  // `order` as long as `features`, or empty. InvalidArgument without rows.
  static absl::StatusOr<HatModel> Fit(const std::vector<HatFeatures>& features, const std::vector<double>& order,
                                      const std::vector<double>& latency_ms, const HatFitOptions& options = {});
  static absl::StatusOr<HatModel> FromJson(absl::string_view text);
  std::string ToJson() const;

  // Milliseconds. A row without a number, or far from every training row, has the state in which the error over the
  // training rows is least.
  std::vector<double> Predict(const std::vector<HatFeatures>& features, const std::vector<double>& order) const;
  // The 90 % interval is predicted * exp(+-half_width): the conformal quantile over the training rows, each without its
  // own latency in the drift.
  double half_width() const { return half_width_; }
  int nearest() const { return nearest_; }  // training rows that the drift is the median of; 0: the order is not used

 private:
  double Law(const HatFeatures& features) const;
  // Median of the `count` residuals nearest to `order`, without the `excluded`-th (-1: none).
  double MedianNear(double order, int count, int excluded) const;
  void FitLaw(const std::vector<HatFeatures>& features, const std::vector<double>& latency_ms);
  bool FitDrift(const std::vector<HatFeatures>& features, const std::vector<double>& order,
                const std::vector<double>& latency_ms, double best, std::vector<double>* predicted);

  std::vector<double> coefficients_;
  double least_ms_ = 0;                              // a law of differences may go below zero
  std::vector<double> order_, residual_;             // of the training rows, by order
  double typical_ = 0, half_width_ = 0, reach_ = 0;  // reach_: how far a training row tells
  int nearest_ = 0;
};

// A HatModel for each latency column of a table, in a directory's hat.json.
struct HatModels {
  std::vector<std::string> devices;
  std::vector<HatModel> models;

  // Errors name the file. FitOptions' defaults.
  static absl::StatusOr<HatModels> Fit(const std::string& rows);
  // Whether a directory holds such models; there are none of another space beside them.
  static bool IsThere(const std::string& directory);
  static absl::StatusOr<HatModels> Load(const std::string& directory);
  absl::Status Save(const std::string& directory) const;
  // `device` may be empty where there is only one; NotFound lists them.
  absl::StatusOr<const HatModel*> Of(absl::string_view device) const;
};

// What the features leave open: the mean |a - b| / sqrt(2), which for independent errors is their mean, of what the law
// leaves of two rows (in log-latency).
struct HatNoise {
  double alike = 0;  // of the `pairs` pairs of rows most alike in their features: what no predictor knows that reads
                     // features alone
  double consecutive = 0;  // of rows measured one after another: what is left when the device's state is known
};
// REQUIRES: rows in the order of measuring.
absl::StatusOr<HatNoise> MeasureHatNoise(const std::vector<HatFeatures>& features,
                                         const std::vector<double>& latency_ms, size_t pairs);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_HAT_SPACE_H_
