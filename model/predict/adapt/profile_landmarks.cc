#include "model/predict/adapt/profile_landmarks.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

namespace cobra::predict {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr size_t kMostLandmarks = 10;
constexpr double kRidge = 0.3;  // in log-latency squared, summed over the networks

// Pivoted Cholesky decomposition of the covariance between targets: each time the one of which most
// is left that those before do not explain.
std::vector<size_t> BestOf(MatrixXd left) {
  left.colwise() -= left.rowwise().mean().eval();  // how large a network is, every target says
  std::vector<size_t> best;
  while (best.size() < std::min(kMostLandmarks, static_cast<size_t>(left.cols()))) {
    Index next = 0;
    const VectorXd size = left.colwise().squaredNorm();
    if (size.maxCoeff(&next) <= 0) break;
    best.push_back(static_cast<size_t>(next));
    const VectorXd direction = left.col(next) / std::sqrt(size[next]);
    left -= direction * (direction.transpose() * left).eval();
    left.col(next).setZero();
  }
  if (best.empty()) best.push_back(0);
  return best;
}

}  // namespace

struct ProfileLandmarks::State {
  VectorXd mean;     // of a target
  MatrixXd centred;  // [networks][targets]
  std::vector<size_t> best;
};

ProfileLandmarks::ProfileLandmarks(const std::vector<std::vector<double>>& reference) {
  auto state = std::make_unique<State>();
  const auto networks = static_cast<Index>(reference.size()), targets = static_cast<Index>(reference[0].size());
  state->centred = MatrixXd(networks, targets);
  for (Index n = 0; n < networks; ++n)
    state->centred.row(n) = Eigen::Map<const VectorXd>(reference[static_cast<size_t>(n)].data(), targets).transpose();
  state->mean = state->centred.colwise().mean();
  state->centred.rowwise() -= state->mean.transpose();
  state->best = BestOf(state->centred);
  state_ = std::move(state);
}

ProfileLandmarks::~ProfileLandmarks() = default;

absl::Span<const size_t> ProfileLandmarks::best() const { return state_->best; }

// How large a network is, the mean of the known ones says; the regression adds how the targets
// differ about it.
void ProfileLandmarks::Fill(std::vector<double>* network) const {
  const State& s = *state_;
  std::vector<Index> known;
  for (size_t t = 0; t < network->size(); ++t) {
    if (!std::isnan((*network)[t])) known.push_back(static_cast<Index>(t));
  }
  if (known.size() == network->size()) return;
  const auto count = static_cast<Index>(known.size());
  MatrixXd of_known(s.centred.rows(), count);
  VectorXd deviation(count);
  for (Index k = 0; k < count; ++k) {
    const Index target = known[static_cast<size_t>(k)];
    of_known.col(k) = s.centred.col(target);
    deviation[k] = (*network)[static_cast<size_t>(target)] - s.mean[target];
  }
  const VectorXd mean_of_known = of_known.rowwise().mean();
  of_known.colwise() -= mean_of_known;
  const double shared = deviation.mean();
  deviation.array() -= shared;
  const MatrixXd gram = of_known.transpose() * of_known + kRidge * MatrixXd::Identity(count, count);
  const VectorXd along = of_known * gram.llt().solve(deviation);  // how much of each network there is in this one
  const double of_mean = along.dot(mean_of_known);
  for (size_t t = 0; t < network->size(); ++t) {
    if (!std::isnan((*network)[t])) continue;
    const auto target = static_cast<Index>(t);
    (*network)[t] = s.mean[target] + shared + along.dot(s.centred.col(target)) - of_mean;
  }
}

}  // namespace cobra::predict
