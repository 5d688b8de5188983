// Translation Transformers in HAT's description (Wang et al., ACL 2020): ten numbers per network.
// The latency is a sum of terms for the work that the numbers imply, times a drift: the device's
// state during the measurement, which is similar for many consecutive measurements.
#ifndef COBRA_MODEL_SPACE_MODELS_HAT_SPACE_H_
#define COBRA_MODEL_SPACE_MODELS_HAT_SPACE_H_

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
  std::vector<std::string> row;  // the table's own row numbers, as text
  std::vector<HatFeatures> features;
  std::vector<double> order;  // `row` as a number, NaN if it is not one: rows are numbered in the order of measuring
  std::vector<std::string> devices;
  std::vector<std::vector<double>> latency_ms;  // [device][row]; NaN if the table has none

  size_t size() const { return row.size(); }
};
// CSV, plain or gzip, with columns `row`, the ten features, and one per device (`latency_ms` if
// there is only one). Errors name file and line.
absl::StatusOr<HatRows> LoadHatRows(absl::string_view path);

struct HatFitOptions {
  // Whether rows that were measured near each other in time are used to estimate the drift. They
  // are used only if this improves leave-one-out predictions of the training rows. So tables whose
  // row numbers are not the order of measuring are not affected.
  bool use_order = true;
};

// law: sixteen terms of work (embedding, feed-forward and attention of the encoder; the same of the
// decoder, times its layers), fitted by least absolute relative error, which is robust against a
// minority of slow measurements. drift: the median of the law's residuals over the nearest training
// rows in the order of measuring. WorkModelMs and drift are fitted alternately.
class HatModel {
 public:
  // `order` as long as `features`, or empty. InvalidArgument without rows.
  static absl::StatusOr<HatModel> Fit(const std::vector<HatFeatures>& features, const std::vector<double>& order,
                                      const std::vector<double>& latency_ms, const HatFitOptions& options = {});
  static absl::StatusOr<HatModel> FromJson(absl::string_view text);
  std::string ToJson() const;

  // Milliseconds. A row without a number, or far from every training row, gets the drift with the
  // least error over the training rows.
  std::vector<double> Predict(const std::vector<HatFeatures>& features, const std::vector<double>& order) const;
  // The 90 % interval is predicted * exp(+-half_width): the conformal quantile over the training
  // rows, each predicted without its own latency.
  double half_width() const { return half_width_; }
  int nearest() const { return nearest_; }  // training rows that the drift is the median of; 0: the order is not used

 private:
  double WorkModelMs(const HatFeatures& features) const;
  // Median of the `count` residuals nearest to `order`, without the `excluded`-th (-1: none).
  double MedianNear(double order, int count, int excluded) const;
  void FitWorkModel(const std::vector<HatFeatures>& features, const std::vector<double>& latency_ms);
  bool FitDrift(const std::vector<HatFeatures>& features, const std::vector<double>& order,
                const std::vector<double>& latency_ms, double best, std::vector<double>* predicted);

  std::vector<double> coefficients_;
  double least_ms_ = 0;                              // lower bound, because a law with negative terms may be below zero
  std::vector<double> order_, residual_;             // of the training rows, by order
  double typical_ = 0, half_width_ = 0, reach_ = 0;  // reach_: maximum distance at which a training row is used
  int nearest_ = 0;
};

// A HatModel for each latency column of a table, in a directory's hat.json.
struct HatModels {
  std::vector<std::string> devices;
  std::vector<HatModel> models;

  // Errors name the file. FitOptions' defaults.
  static absl::StatusOr<HatModels> Fit(const std::string& rows);
  // Whether a directory holds models of this space; it cannot hold those of another one.
  static bool IsModelDirectory(const std::string& directory);
  static absl::StatusOr<HatModels> Load(const std::string& directory);
  absl::Status Save(const std::string& directory) const;
  // `device` may be empty if there is only one; NotFound lists them.
  absl::StatusOr<const HatModel*> Of(absl::string_view device) const;
};

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_MODELS_HAT_SPACE_H_
