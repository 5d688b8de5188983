#include "model/space/models/single_device_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "model/space/models/pruned_cells.h"

namespace cobra::space {
namespace {

constexpr size_t kMostProcessRows = 3000;

bool IsPruned(const Space& space) { return space.name() == "nasbench201-pruned"; }

// The features of each architecture, in order.
absl::StatusOr<GaussianProcessFeatures> FeaturesOf(const Space& space, const std::vector<std::string>& arch) {
  if (IsPruned(space)) {
    COBRA_ASSIGN_OR_RETURN(const PrunedCells cells, MakePrunedCells(arch));
    return cells.features.Select(at::tensor(cells.distinct.place, at::kLong));
  }
  std::vector<std::vector<std::vector<double>>> features;
  for (const std::string& a : arch) {
    COBRA_ASSIGN_OR_RETURN(SpaceFeatures f, space.Features(a));
    std::vector<double> both = f.costs;
    both.insert(both.end(), f.choices.begin(), f.choices.end());
    features.push_back({std::move(f.costs), std::move(f.choices), std::move(both)});
  }
  GaussianProcessFeatures all = MakeGaussianProcessFeatures(features, /*linear_group=*/2, /*single_groups=*/1);
  all.groups.pop_back();  // costs and choices together are for the line only
  return all;
}

absl::StatusOr<DenseGraphs> GraphsOf(const std::vector<std::string>& arch) {
  COBRA_ASSIGN_OR_RETURN(const PrunedCells cells, MakePrunedCells(arch));
  return cells.graphs.Select(at::tensor(cells.distinct.place, at::kLong));
}

AdditiveNetOptions NetOptions() {
  AdditiveNetOptions options;
  options.kinds = CellEncoding::kKinds;
  return options;
}

std::string NameOf(const char* what, int number) { return absl::StrCat(what, number); }

}  // namespace

absl::StatusOr<std::shared_ptr<const SingleDeviceModel>> SingleDeviceModel::Fit(const Space& space,
                                                                                const std::vector<std::string>& arch,
                                                                                const std::vector<double>& latency_ms,
                                                                                bool networks) {
  auto device = std::make_shared<SingleDeviceModel>();
  device->space_ = &space;
  const size_t step = (arch.size() + kMostProcessRows - 1) / kMostProcessRows;
  std::vector<double> ms;
  for (size_t i = 0; i < arch.size(); i += step) {
    device->shape_.arch.push_back(arch[i]);
    ms.push_back(latency_ms[i]);
  }
  COBRA_ASSIGN_OR_RETURN(GaussianProcessFeatures features, FeaturesOf(space, device->shape_.arch));
  const GaussianProcessOptions process;
  device->process_ = std::make_unique<GaussianProcess>(std::move(features), ms, process);
  const GaussianProcess::State state = device->process_->state();
  device->shape_.gaussian_process_mean = state.mean;
  device->shape_.gaussian_process_scale = state.scale;
  device->shape_.gaussian_process_least = state.least;
  device->shape_.draws = static_cast<int>(state.draws.size());
  device->shape_.processes = process.processes;
  if (!networks || !IsPruned(space)) return device;
  COBRA_ASSIGN_OR_RETURN(const DenseGraphs graphs, GraphsOf(arch));
  SpaceRowSet rows;
  for (size_t i = 0; i < arch.size(); ++i) rows.index.push_back(static_cast<int64_t>(i));
  rows.latency_ms = latency_ms;
  AdditiveFitOptions options;
  options.net = NetOptions();
  device->networks_ = std::make_unique<AdditiveEnsemble>(graphs, rows, options);
  device->shape_.networks = static_cast<int>(device->networks_->networks().size());
  device->shape_.networks_mean_ms = device->networks_->mean_ms();
  return device;
}

absl::StatusOr<std::vector<double>> SingleDeviceModel::LatencyMs(const std::vector<std::string>& arch) const {
  COBRA_ASSIGN_OR_RETURN(const GaussianProcessFeatures features, FeaturesOf(*space_, arch));
  std::vector<double> ms = process_->Predict(features);
  if (networks_ == nullptr) return ms;
  COBRA_ASSIGN_OR_RETURN(const DenseGraphs graphs, GraphsOf(arch));
  const std::vector<double> of_networks = networks_->LatencyMs(graphs);
  for (size_t i = 0; i < ms.size(); ++i) ms[i] = std::sqrt(ms[i] * of_networks[i]);
  return ms;
}

void SingleDeviceModel::AddTensors(TensorMap* bag) const {
  const GaussianProcess::State state = process_->state();
  for (int d = 0; d < shape_.draws; ++d) {
    bag->Add(NameOf("theta", d), state.draws[static_cast<size_t>(d)].theta);
    bag->Add(NameOf("weights", d), state.draws[static_cast<size_t>(d)].weights);
  }
  for (int n = 0; n < shape_.networks; ++n)
    bag->register_module(NameOf("network", n), networks_->networks()[static_cast<size_t>(n)]);
}

absl::Status SingleDeviceModel::PrepareTensors(const Space& space, const Shape& shape, TensorMap* bag) {
  COBRA_ASSIGN_OR_RETURN(const GaussianProcessFeatures features, FeaturesOf(space, shape.arch));
  const auto groups = static_cast<int64_t>(features.groups.size());
  for (int d = 0; d < shape.draws; ++d) {
    bag->Add(NameOf("theta", d), at::zeros({shape.processes * (groups + 1) + 2}));
    bag->Add(NameOf("weights", d), at::zeros({features.size()}));
  }
  for (int n = 0; n < shape.networks; ++n)
    bag->register_module(NameOf("network", n), std::make_shared<AdditiveNet>(NetOptions()));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const SingleDeviceModel>> SingleDeviceModel::From(const Space& space, const Shape& shape,
                                                                                 const TensorMap& bag) {
  auto device = std::make_shared<SingleDeviceModel>();
  device->space_ = &space;
  device->shape_ = shape;
  COBRA_ASSIGN_OR_RETURN(GaussianProcessFeatures features, FeaturesOf(space, shape.arch));
  GaussianProcess::State state{
      shape.gaussian_process_mean, shape.gaussian_process_scale, shape.gaussian_process_least, {}};
  for (int d = 0; d < shape.draws; ++d)
    state.draws.push_back({bag.Get(NameOf("theta", d)), bag.Get(NameOf("weights", d))});
  device->process_ = std::make_unique<GaussianProcess>(std::move(features), std::move(state));
  std::vector<std::shared_ptr<AdditiveNet>> networks;
  for (const auto& child : bag.named_children()) {
    if (auto net = std::dynamic_pointer_cast<AdditiveNet>(child.value())) networks.push_back(std::move(net));
  }
  if (!networks.empty())
    device->networks_ = std::make_unique<AdditiveEnsemble>(shape.networks_mean_ms, std::move(networks));
  return device;
}

}  // namespace cobra::space
