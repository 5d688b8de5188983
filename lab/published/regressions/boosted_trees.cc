#include "lab/published/regressions/boosted_trees.h"

#include <xgboost/c_api.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cobra::lab {
namespace {

absl::Status XgboostStatus(int code) {
  return code == 0 ? absl::OkStatus() : absl::InternalError(absl::StrCat("xgboost: ", XGBGetLastError()));
}

struct FreeMatrix {
  void operator()(void* handle) const { XGDMatrixFree(handle); }
};
struct FreeBooster {
  void operator()(void* handle) const { XGBoosterFree(handle); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

absl::StatusOr<Matrix> ToMatrix(const FeatureRows& rows) {
  std::vector<float> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  DMatrixHandle handle = nullptr;
  COBRA_RETURN_IF_ERROR(XgboostStatus(
      XGDMatrixCreateFromMat(values.data(), rows.size(), rows.empty() ? 0 : rows[0].size(), std::nanf(""), &handle)));
  return Matrix(handle);
}

}  // namespace

absl::StatusOr<std::vector<double>> FitTrees(const FeatureRows& train, const std::vector<double>& latency,
                                             const FeatureRows& all, const TreeOptions& o) {
  COBRA_ASSIGN_OR_RETURN(const Matrix matrix, ToMatrix(train));
  std::vector<float> labels;
  for (double ms : latency) labels.push_back(static_cast<float>(std::log(ms)));
  COBRA_RETURN_IF_ERROR(XgboostStatus(XGDMatrixSetFloatInfo(matrix.get(), "label", labels.data(), labels.size())));
  const DMatrixHandle matrices[] = {matrix.get()};
  BoosterHandle handle = nullptr;
  COBRA_RETURN_IF_ERROR(XgboostStatus(XGBoosterCreate(matrices, 1, &handle)));
  const Booster booster(handle);
  const std::pair<const char*, std::string> parameters[] = {{"objective", "reg:squarederror"},
                                                            {"tree_method", o.method},
                                                            {"max_depth", absl::StrCat(o.depth)},
                                                            {"eta", absl::StrCat(o.learning_rate)},
                                                            {"subsample", absl::StrCat(o.subsample)},
                                                            {"colsample_bytree", absl::StrCat(o.columns)},
                                                            {"seed", absl::StrCat(o.seed)},
                                                            {"nthread", "1"},
                                                            {"verbosity", "0"}};
  for (const auto& [name, value] : parameters)
    COBRA_RETURN_IF_ERROR(XgboostStatus(XGBoosterSetParam(booster.get(), name, value.c_str())));
  for (int t = 0; t < o.trees; ++t)
    COBRA_RETURN_IF_ERROR(XgboostStatus(XGBoosterUpdateOneIter(booster.get(), t, matrix.get())));
  COBRA_ASSIGN_OR_RETURN(const Matrix asked, ToMatrix(all));
  bst_ulong count = 0;
  const float* out = nullptr;
  COBRA_RETURN_IF_ERROR(XgboostStatus(XGBoosterPredict(booster.get(), asked.get(), 0, 0, 0, &count, &out)));
  std::vector<double> predicted;
  for (bst_ulong i = 0; i < count; ++i) predicted.push_back(std::exp(static_cast<double>(out[i])));
  return predicted;
}

}  // namespace cobra::lab
