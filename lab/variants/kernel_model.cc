#include "lab/variants/kernel_model.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/cost/cost.h"
#include "model/net/threads.h"
#include "model/predict/work/features.h"
#include "model/training/selection/layer_model.h"

namespace cobra::lab {
namespace {

constexpr double kLength = 2.5;  // of the Gaussian kernel; the numbers have unit variance
constexpr double kNoise = 0.02;  // of log-latency, over the kernel's variance
constexpr double kTrend = 3;     // ridge penalty of the linear trend below the kernel
constexpr float kOperator = 2;   // another operator is as far away as a difference by this in two numbers
constexpr int64_t kNumbers = 18;

void AppendShape(const graph::TensorType* type, std::vector<double>* out) {
  double last[4] = {1, 1, 1, 1};
  const size_t rank = type == nullptr ? 0 : type->shape.size();
  for (size_t i = 0; i < std::min<size_t>(4, rank); ++i) last[3 - i] = static_cast<double>(type->shape[rank - 1 - i]);
  out->insert(out->end(), last, last + 4);
}

std::vector<double> NumbersOf(const graph::Graph& graph) {
  const graph::Node& node = graph.nodes()[static_cast<size_t>(predict::MainNode(graph))];
  const graph::GraphCost cost = graph::CostOf(graph);
  std::vector<double> numbers;
  AppendShape(graph.inputs().empty() ? nullptr : &graph.inputs()[0].type, &numbers);
  AppendShape(node.outputs.empty() ? nullptr : &node.outputs[0], &numbers);
  AppendShape(graph.parameters().empty() ? nullptr : &graph.parameters()[0].type, &numbers);
  double inputs = 0;
  for (const graph::NamedTensor& input : graph.inputs()) inputs += static_cast<double>(input.type.num_elements());
  for (double x : {static_cast<double>(node.attributes.Int("groups", 1)), 1 + static_cast<double>(cost.macs) / 1e3,
                   static_cast<double>(graph::PeakMemoryBytes(graph)), static_cast<double>(graph.nodes().size()),
                   inputs, node.outputs.empty() ? 1 : static_cast<double>(node.outputs[0].num_elements())}) {
    numbers.push_back(x);
  }
  for (double& x : numbers) x = std::log2(std::max(1.0, x));
  return numbers;
}

class FittedKernel : public KernelModel {
 public:
  explicit FittedKernel(std::vector<const training::Sample*> layers) : layers_(std::move(layers)) {
    const int64_t n = static_cast<int64_t>(layers_.size());
    at::Tensor numbers = at::empty({n, kNumbers}, at::kDouble);
    std::map<std::string, int64_t> operators;
    for (int64_t i = 0; i < n; ++i) {
      const graph::Graph& graph = layers_[static_cast<size_t>(i)]->graph();
      const std::vector<double> of_layer = NumbersOf(graph);
      std::copy(of_layer.begin(), of_layer.end(), numbers.data_ptr<double>() + i * kNumbers);
      kinds_.push_back(training::KindOf(graph));
      operators.try_emplace(kinds_.back(), static_cast<int64_t>(operators.size()));
    }
    numbers = (numbers - numbers.mean(0)) / (numbers.std(at::IntArrayRef{0}, /*unbiased=*/true) + 1e-9);
    vectors_ = at::zeros({n, kNumbers + static_cast<int64_t>(operators.size())}, at::kFloat);
    vectors_.narrow(1, 0, kNumbers).copy_(numbers);
    for (int64_t i = 0; i < n; ++i) {
      vectors_.data_ptr<float>()[i * vectors_.size(1) + kNumbers + operators[kinds_[static_cast<size_t>(i)]]] =
          kOperator;
    }
  }

  absl::Status Fit(absl::Span<const size_t> rows) override {
    if (rows.empty()) return absl::InvalidArgumentError("fit: no layers");
    try {
      FitRows(rows);
      return absl::OkStatus();
    } catch (const std::exception& e) {
      return absl::InternalError(absl::StrCat("fit: ", e.what()));
    }
  }

  absl::StatusOr<std::vector<double>> Predict(absl::Span<const size_t> rows) const override {
    try {
      return PredictRows(rows);
    } catch (const std::exception& e) {
      return absl::InternalError(absl::StrCat("predict: ", e.what()));
    }
  }

  training::LayerSet Vectors(absl::Span<const size_t> rows) const override {
    training::LayerSet set;
    set.vectors.width = vectors_.size(1);
    const at::Tensor chosen = Rows(rows);
    set.vectors.values.assign(chosen.data_ptr<float>(), chosen.data_ptr<float>() + chosen.numel());
    for (size_t row : rows) set.kinds.push_back(kinds_[row]);
    return set;
  }

 private:
  void FitRows(absl::Span<const size_t> rows) {
    at::InferenceMode inference;
    const int64_t n = static_cast<int64_t>(rows.size());
    at::Tensor log_us = at::empty({n, 1}, at::kDouble);
    for (int64_t i = 0; i < n; ++i)
      log_us.data_ptr<double>()[i] = std::log(layers_[rows[static_cast<size_t>(i)]]->latency_us());
    lowest_ = log_us.min().item<double>() - 1;
    highest_ = log_us.max().item<double>() + 1;
    fitted_ = Rows(rows);
    const at::Tensor trend = TrendOf(fitted_).to(at::kDouble);
    trend_ = at::linalg_solve(at::matmul(trend.t(), trend) + at::eye(trend.size(1), at::kDouble) * kTrend,
                              at::matmul(trend.t(), log_us));
    const at::Tensor factor =
        at::linalg_cholesky(Kernel(fitted_, fitted_).to(at::kDouble) + at::eye(n, at::kDouble) * kNoise);
    weights_ = at::cholesky_solve(log_us - at::matmul(trend, trend_), factor).to(at::kFloat);
    trend_ = trend_.to(at::kFloat);
  }

  std::vector<double> PredictRows(absl::Span<const size_t> rows) const {
    at::InferenceMode inference;
    std::vector<double> latency_us;
    constexpr size_t kBlock = 1024;
    for (size_t begin = 0; begin < rows.size(); begin += kBlock) {
      const at::Tensor block = Rows(rows.subspan(begin, kBlock));
      const at::Tensor log_us = (at::matmul(TrendOf(block), trend_) + at::matmul(Kernel(block, fitted_), weights_))
                                    .clamp(lowest_, highest_)
                                    .contiguous();
      for (int64_t i = 0; i < log_us.numel(); ++i) latency_us.push_back(std::exp(log_us.data_ptr<float>()[i]));
    }
    return latency_us;
  }

  at::Tensor Rows(absl::Span<const size_t> rows) const {
    at::Tensor index = at::empty({static_cast<int64_t>(rows.size())}, at::kLong);
    for (size_t i = 0; i < rows.size(); ++i) index.data_ptr<int64_t>()[i] = static_cast<int64_t>(rows[i]);
    return vectors_.index_select(0, index);
  }
  static at::Tensor TrendOf(const at::Tensor& rows) {
    return at::cat({rows.narrow(1, 0, kNumbers), at::ones({rows.size(0), 1}, at::kFloat)}, 1);
  }
  static at::Tensor Kernel(const at::Tensor& a, const at::Tensor& b) {
    const at::Tensor d2 = (a * a).sum(1, true) + (b * b).sum(1) - 2 * at::matmul(a, b.t());
    return (d2.clamp_min(0) * (-0.5 / (kLength * kLength))).exp();
  }

  const std::vector<const training::Sample*> layers_;
  std::vector<std::string> kinds_;
  at::Tensor vectors_;                   // [layers, kNumbers + operators]
  at::Tensor fitted_, trend_, weights_;  // vectors of the fitted rows; of the trend; of the kernel
  double lowest_ = 0, highest_ = 0;      // log-latency
};

}  // namespace

std::unique_ptr<KernelModel> KernelModel::Create(std::vector<const training::Sample*> layers) {
  net::UseOneThread();
  return std::make_unique<FittedKernel>(std::move(layers));
}

}  // namespace cobra::lab
