#include "lab/tables/papers/table_few_shot.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "lab/published/regressions/boosted_trees.h"
#include "lab/published/regressions/linear.h"
#include "lab/published/regressions/maple.h"
#include "lab/tables/papers/few_shot_data.h"
#include "model/space/devices/adapt.h"
#include "model/space/devices/adapt_width.h"

namespace cobra::lab {
namespace {

constexpr int kDrawsOfSeed = 34;  // three seeds use the hundred draws of draws.csv

enum Method {
  kOurs,
  kOursSheet,
  kOursChosen,
  kOursChosenSheet,
  kMapleX,
  kMapleX1,
  kMaple,
  kMix,
  kOneHot,
  kCounts,
  kFlops,
  kCeiling,
  kMethods
};
constexpr const char* kNames[kMethods] = {"COBRA",
                                          "COBRA, with a data sheet",
                                          "COBRA, samples chosen",
                                          "COBRA, samples chosen, with a data sheet",
                                          "MAPLE-X, rebuilt",
                                          "MAPLE-X1: without importance weights",
                                          "MAPLE: without virtual examples",
                                          "mix of the other devices",
                                          "linear, one-hot",
                                          "linear, costs",
                                          "FLOPs",
                                          "ceiling: boosted trees on all of the device's pool"};
bool IsOurs(int method) { return method <= kOursChosenSheet; }
bool HasDraws(int method) { return method != kOursChosen && method != kOursChosenSheet && method != kCeiling; }

at::Tensor Index(const std::vector<int64_t>& indices) { return at::tensor(indices, at::kLong); }

FeatureRows ToRows(const at::Tensor& matrix) {
  const at::Tensor m = matrix.contiguous();
  FeatureRows rows;
  for (int64_t r = 0; r < m.size(0); ++r)
    rows.emplace_back(m.data_ptr<double>() + r * m.size(1), m.data_ptr<double>() + (r + 1) * m.size(1));
  return rows;
}

// One device that is treated as new: the known devices, the rows that may be measured, the rows to
// predict.
class NewDevice {
 public:
  NewDevice(const FewShotProtocol& protocol, const FewShotData& data, size_t column, bool quick)
      : protocol_(protocol), data_(data), column_(column), quick_(quick) {
    sheet_ = space::SpecOf(data.specs, data.rows.devices[column]);
    if (protocol.train.empty()) {
      others_ = space::OtherFamilies(data.known, sheet_);
    } else {
      for (const std::string& name : protocol.train) others_.push_back(*data.rows.Device(name));
    }
    known_ = data.known.Select(others_);
    pool_ = Admitted(protocol, data, column, data.pool);
    test_ = Admitted(protocol, data, column, data.test);
    measured_ = Latencies(test_);
  }

  // Returns the MetricValues of one method, one for each draw.
  absl::StatusOr<std::vector<MetricValues>> Run(int method, int samples, int first_draw, int draws) {
    std::vector<MetricValues> figures;
    for (int draw = first_draw; draw < first_draw + draws; ++draw) {
      std::vector<space::AdaptedLatency> predicted;
      if (IsOurs(method)) {
        COBRA_ASSIGN_OR_RETURN(predicted, Adapted(method, samples, draw));
      } else {
        COBRA_ASSIGN_OR_RETURN(const std::vector<double> ms,
                               method == kCeiling ? Ceiling() : Baseline(method, Drawn(samples, draw)));
        for (double v : ms) predicted.push_back({v, 0, 0});
      }
      figures.push_back(FiguresFor(predicted));
      if (!HasDraws(method)) break;
    }
    return figures;
  }

 private:
  std::vector<double> Latencies(const std::vector<int64_t>& indices) const {
    std::vector<double> ms;
    for (int64_t i : indices) ms.push_back(data_.rows.latency_ms[column_][static_cast<size_t>(i)]);
    return ms;
  }

  std::vector<int64_t> Drawn(int samples, int draw) const {
    const absl::flat_hash_set<int64_t> admitted(pool_.begin(), pool_.end());
    std::vector<int64_t> chosen;
    for (int64_t i : data_.draws[static_cast<size_t>(draw)]) {
      if (static_cast<int>(chosen.size()) < samples && admitted.contains(i)) chosen.push_back(i);
    }
    return chosen;
  }

  MetricValues FiguresFor(const std::vector<space::AdaptedLatency>& predicted) const {
    std::vector<double> ms;
    double covered = 0, width = 0;
    for (size_t i = 0; i < predicted.size(); ++i) {
      ms.push_back(predicted[i].latency_ms);
      covered += measured_[i] >= predicted[i].low_ms && measured_[i] <= predicted[i].high_ms ? 1 : 0;
      width += (predicted[i].high_ms - predicted[i].low_ms) / predicted[i].latency_ms;
    }
    MetricValues figures = ToMetricValues(training::ComputeMetrics(ms, measured_));
    if (predicted[0].high_ms > 0) {
      figures.emplace_back("covered", covered / static_cast<double>(predicted.size()));
      figures.emplace_back("width", width / static_cast<double>(predicted.size()));
    }
    return figures;
  }

  struct Ours {
    space::Adapter adapter;
    space::AdaptRows pool, test;
    space::AdaptWidths widths;
  };
  const Ours& OursFor(bool sheet) {
    std::unique_ptr<Ours>& ours = ours_[sheet ? 1 : 0];
    if (ours != nullptr) return *ours;
    space::Adapter adapter(known_, sheet ? sheet_ : space::DeviceSpec{});
    space::AdaptRows pool = adapter.Prepare(data_.features.Select(Index(pool_))),
                     test = adapter.Prepare(data_.features.Select(Index(test_)));
    ours = std::make_unique<Ours>(Ours{
        std::move(adapter), std::move(pool), std::move(test),
        space::CalibrateWidths(known_, data_.features, data_.rows, data_.pool, space::AdaptOptions(), quick_ ? 1 : 2)});
    return *ours;
  }

  absl::StatusOr<std::vector<space::AdaptedLatency>> Adapted(int method, int samples, int draw) {
    const Ours& ours = OursFor(method == kOursSheet || method == kOursChosenSheet);
    std::vector<int64_t> rows;  // indices in ours.pool
    if (HasDraws(method)) {
      for (int64_t i : Drawn(samples, draw))
        rows.push_back(std::lower_bound(pool_.begin(), pool_.end(), i) - pool_.begin());
    } else {
      rows = ours.adapter.Choose(ours.pool, samples);
    }
    std::vector<int64_t> indices;
    for (int64_t r : rows) indices.push_back(pool_[static_cast<size_t>(r)]);
    const space::AdaptedDevice device = ours.adapter.Fit(ours.pool.Select(Index(rows)), Latencies(indices));
    return device.Predict(ours.test, space::WidthOf(ours.widths, samples));
  }

  absl::StatusOr<std::vector<double>> Baseline(int method, const std::vector<int64_t>& samples) {
    const std::vector<double> ms = Latencies(samples);
    const space::SpaceMatrix at = data_.features.Select(Index(samples)), asked = data_.features.Select(Index(test_));
    if (method == kMix) return Mix(samples, ms);
    if (method == kOneHot) return FitLinear(ToRows(known_.Choices(at)), ms, ToRows(known_.Choices(asked)), 1e-2);
    if (method == kCounts) return FitLinear(ToRows(known_.Costs(at)), ms, ToRows(known_.Costs(asked)), 1e-2);
    if (method == kFlops) return Flops(samples, ms);
    return OfMaple(method, samples, ms, asked);
  }

  // Ranks by multiplications; the samples determine the scale.
  std::vector<double> Flops(const std::vector<int64_t>& samples, const std::vector<double>& ms) const {
    double measured = 0, counted = 0;
    for (size_t s = 0; s < samples.size(); ++s) {
      measured += ms[s];
      counted += data_.flops[static_cast<size_t>(samples[s])] + 1;
    }
    std::vector<double> predicted;
    for (int64_t i : test_) predicted.push_back((data_.flops[static_cast<size_t>(i)] + 1) * measured / counted);
    return predicted;
  }

  // The latency of `indices` on the known devices, or its logarithm: [indices, devices]
  at::Tensor OthersMeasured(const std::vector<int64_t>& indices, bool logarithm) const {
    std::vector<double> values;
    for (int64_t i : indices) {
      for (size_t d : others_) values.push_back(data_.rows.latency_ms[d][static_cast<size_t>(i)]);
    }
    const at::Tensor ms = at::tensor(values, at::kDouble)
                              .view({static_cast<int64_t>(indices.size()), static_cast<int64_t>(others_.size())});
    return logarithm ? ms.log() : ms;
  }

  // A Gaussian with the mean and the covariance of the other devices' measured log-latencies, and a
  // free offset.
  std::vector<double> Mix(const std::vector<int64_t>& samples, const std::vector<double>& ms) {
    if (!mix_pool_mean_.defined()) {
      mix_pool_mean_ = OthersMeasured(data_.pool, true).mean(0);
      mix_test_ = OthersMeasured(test_, true) - mix_pool_mean_;
    }
    const at::Tensor at_samples = OthersMeasured(samples, true) - mix_pool_mean_;
    const at::Tensor mean = at_samples.mean(1), asked_mean = mix_test_.mean(1);
    const at::Tensor rest = at_samples - mean.unsqueeze(1), asked = mix_test_ - asked_mean.unsqueeze(1);
    const auto devices = static_cast<double>(others_.size());
    const at::Tensor covariance =
        at::matmul(rest, rest.t()) / devices + 9 + 0.03 * 0.03 * at::eye(rest.size(0), at::kDouble);
    const at::Tensor weights =
        at::cholesky_solve((at::tensor(ms, at::kDouble).log() - mean).unsqueeze(1), at::linalg_cholesky(covariance));
    const at::Tensor predicted =
        (asked_mean.unsqueeze(1) + at::matmul(at::matmul(asked, rest.t()) / devices + 9, weights)).exp().contiguous();
    return {predicted.data_ptr<double>(), predicted.data_ptr<double>() + predicted.numel()};
  }

  std::vector<double> OfMaple(int method, const std::vector<int64_t>& samples, const std::vector<double>& ms,
                              const space::SpaceMatrix& asked) {
    std::unique_ptr<Maple>& maple = maple_[method];
    if (maple == nullptr) {
      std::vector<space::DeviceSpec> specs;
      for (size_t d : others_) specs.push_back(data_.known.devices()[d].spec);
      MapleOptions options;
      options.importance = method == kMapleX;
      options.neighbourhoods = method != kMaple;
      const space::SpaceMatrix pool = data_.features.Select(Index(data_.pool));
      maple = std::make_unique<Maple>(pool.choices, known_.Costs(pool), OthersMeasured(data_.pool, false), specs,
                                      sheet_, options);
    }
    std::vector<int64_t> positions;
    for (int64_t i : samples)
      positions.push_back(std::lower_bound(data_.pool.begin(), data_.pool.end(), i) - data_.pool.begin());
    return maple->Predict(positions, ms, asked.choices);
  }

  absl::StatusOr<std::vector<double>> Ceiling() {
    TreeOptions trees;
    trees.trees = quick_ ? 30 : 500;
    trees.learning_rate = 0.05;
    const auto features = [&](const std::vector<int64_t>& rows) {
      return ToRows(data_.features.Select(Index(rows)).choices);
    };
    return FitTrees(features(pool_), Latencies(pool_), features(test_), trees);
  }

  const FewShotProtocol& protocol_;
  const FewShotData& data_;
  const size_t column_;
  const bool quick_;
  space::DeviceSpec sheet_;
  std::vector<size_t> others_;
  space::KnownDevices known_;
  std::vector<int64_t> pool_, test_;
  std::vector<double> measured_;
  std::unique_ptr<Ours> ours_[2];
  std::map<int, std::unique_ptr<Maple>> maple_;
  at::Tensor mix_pool_mean_, mix_test_;
};

// Mean over the draws; `spread` is the standard deviation of the rank correlation.
MetricValues MeanOver(const std::vector<MetricValues>& draws) {
  MetricValues mean = draws[0];
  double squares = 0, rank = 0;
  for (size_t f = 0; f < mean.size(); ++f) {
    mean[f].second = 0;
    for (const MetricValues& draw : draws) mean[f].second += draw[f].second / static_cast<double>(draws.size());
    if (mean[f].first != "spearman") continue;
    rank = mean[f].second;
    for (const MetricValues& draw : draws) squares += (draw[f].second - rank) * (draw[f].second - rank);
  }
  if (draws.size() > 1) mean.emplace_back("spread", std::sqrt(squares / static_cast<double>(draws.size() - 1)));
  return mean;
}

class Table {
 public:
  explicit Table(const TableOptions& options) : options_(options), protocols_(Protocols(options)), run_(options) {
    run_.columns = {{"spearman", "Spearman", 1, 3},
                    {"spread", "its spread over draws", 1, 3},
                    {"within_10", "within 10 %"},
                    {"within_5", "within 5 %"},
                    {"mape", "MAPE, %"},
                    {"covered", "inside the 90 % interval, %"},
                    {"width", "the interval's width, %", 100, 0}};
    Describe();
  }

  absl::StatusOr<TableRun> Run() {
    for (bool by_device : {false, true}) {
      for (size_t p = 0; p < protocols_.size(); ++p) {
        for (int samples : protocols_[p].samples) {
          if (options_.quick && samples != 10) continue;
          const auto& shown = protocols_[p].shown;
          if (by_device && std::find(shown.begin(), shown.end(), samples) == shown.end()) continue;
          COBRA_RETURN_IF_ERROR(AddGroup(protocols_[p], p, samples, by_device));
        }
      }
    }
    return std::move(run_);
  }

 private:
  static std::vector<FewShotProtocol> Protocols(const TableOptions& options) {
    std::vector<FewShotProtocol> protocols = FewShotProtocols();
    for (FewShotProtocol& p : protocols) {
      if (options.quick) p.test.resize(2);
    }
    return protocols;
  }

  struct Loaded {
    FewShotData data;
    std::vector<std::unique_ptr<NewDevice>> devices;  // in the order of protocol.test
  };

  absl::StatusOr<Loaded*> Load(const FewShotProtocol& protocol, size_t p) {
    std::unique_ptr<Loaded>& loaded = loaded_[p];
    if (loaded != nullptr) return loaded.get();
    auto fresh = std::make_unique<Loaded>();
    COBRA_ASSIGN_OR_RETURN(fresh->data, LoadFewShotData(options_.tables, protocol));
    for (const std::string& name : protocol.test) {
      COBRA_ASSIGN_OR_RETURN(const size_t column, fresh->data.rows.Device(name));
      fresh->devices.push_back(std::make_unique<NewDevice>(protocol, fresh->data, column, options_.quick));
    }
    loaded = std::move(fresh);
    return loaded.get();
  }

  // Adds a cell for each method and seed: for the mean over the devices, or one for each device.
  absl::Status AddGroup(const FewShotProtocol& protocol, size_t p, int samples, bool by_device) {
    const std::string title = absl::StrCat(protocol.title, ", ", samples, " samples: ");
    const int seeds = options_.quick ? 1 : options_.seeds;
    for (size_t d = 0; d < (by_device ? protocol.test.size() : 1); ++d) {
      const std::string group =
          by_device ? title + protocol.test[d] : absl::StrCat(title, "mean of ", protocol.test.size(), " devices");
      for (int method = 0; method < kMethods; ++method) {
        if (protocol.space != "nasbench201" && (method == kMapleX || method == kMapleX1 || method == kMaple)) continue;
        if (method == kCeiling && (protocol.train.empty() || samples != 10)) continue;
        for (int seed = 1; seed <= (HasDraws(method) ? seeds : 1); ++seed) {
          COBRA_RETURN_IF_ERROR(run_.Add(kNames[method], group, seed, [&]() -> absl::StatusOr<TableCell> {
            COBRA_ASSIGN_OR_RETURN(const std::vector<MetricValues>* all, Results(protocol, p, samples, method, seed));
            TableCell cell;
            cell.figures = by_device ? (*all)[d] : MeanOver(*all);
            if (!by_device) cell.figures.pop_back();  // a spread over devices is not a spread over draws
            return cell;
          }));
        }
      }
    }
    return absl::OkStatus();
  }

  // Returns one for each device.
  absl::StatusOr<const std::vector<MetricValues>*> Results(const FewShotProtocol& protocol, size_t p, int samples,
                                                           int method, int seed) {
    const auto [found, fresh] = results_.try_emplace({p, samples, method, seed});
    if (!fresh) return &found->second;
    COBRA_ASSIGN_OR_RETURN(Loaded * loaded, Load(protocol, p));
    const int all = static_cast<int>(loaded->data.draws.size()), first = (seed - 1) * kDrawsOfSeed % all;
    const int draws = options_.quick ? 2 : std::min(kDrawsOfSeed, all - first);
    for (const auto& device : loaded->devices) {
      COBRA_ASSIGN_OR_RETURN(const std::vector<MetricValues> figures, device->Run(method, samples, first, draws));
      found->second.push_back(MeanOver(figures));
    }
    return &found->second;
  }

  void Describe();

  const TableOptions options_;
  const std::vector<FewShotProtocol> protocols_;  // the devices have references to them
  TableRun run_;
  std::map<size_t, std::unique_ptr<Loaded>> loaded_;
  std::map<std::tuple<size_t, int, int, int>, std::vector<MetricValues>> results_;
};

void Table::Describe() {
  const std::string nasbench = "/NAS-Bench-201, HELP's split, 10 samples: ",
                    fbnet = "/FBNet, HELP's split, 10 samples: ";
  const std::string
      ours = kNames[kOurs],
      flops = kNames[kFlops],
      maple = "/NAS-Bench-201, families of GPUs and server processors left out, 3 samples: mean of 18 devices";
  run_.published = {{ours + nasbench + "mean of 4 devices", "HELP 0.929"},
                    {ours + nasbench + "titan_rtx_256", "HELP 0.987"},
                    {ours + nasbench + "pixel2", "HELP 0.802"},
                    {ours + nasbench + "eyeriss", "HELP 0.940"},
                    {ours + nasbench + "fpga", "HELP 0.985"},
                    {ours + fbnet + "mean of 2 devices", "HELP 0.918"},
                    {ours + fbnet + "eyeriss", "HELP 0.943"},
                    {ours + fbnet + "fpga", "HELP 0.892"},
                    {flops + nasbench + "titan_rtx_256", "0.950"},
                    {flops + nasbench + "pixel2", "0.765"},
                    {flops + nasbench + "eyeriss", "0.437"},
                    {flops + nasbench + "fpga", "0.900"},
                    {kNames[kMapleX] + maple, "90 (six devices of its own)"},
                    {kNames[kMapleX1] + maple, "87"},
                    {kNames[kMaple] + maple, "85; HELP with 10 samples 81"}};
  run_.before = {
      "A device is taken for new: 3, 5, 10 or 20 of its latencies are given, those of the other devices are known. A "
      "hundred fixed draws of the samples (`lab/data/*/draws.csv`), a third of them a "
      "seed; means first, devices below. HELP's split: its training devices and rows, its test devices as far as they "
      "are in this copy, middle 80 % of the rows by latency. Families "
      "left out: no column of the same hardware is known, whatever its batch size; all test rows count.",
      "`with a data sheet`: the new device's kind and batch size are known beforehand. `samples chosen`: by the "
      "method, one draw. Ceiling: what the device's own pool (720 or 3,200 rows) reaches. "
      "MAPLE-X: neither counters nor the target's look-up table exist for these devices; the table is built from the "
      "other devices and the samples, data sheets are `data/devices/spaces.csv` "
      "(`lab/published/regressions/maple.h`). Published figures are on other people's machines, HELP's with ten "
      "samples.",
      "Ridges and noise were chosen on validation devices; but figures of the test devices were seen while the method "
      "was found: milliseconds instead of their logarithms and the FLOPs candidate came after them. So did the "
      "rooflines; their prices were chosen on HELP's training devices of FBNet. That an interval is at least a part of "
      "what the samples say of each other, and the largest noise, came after `pixel3` was seen to be covered too "
      "rarely."};
  run_.after = {
      "In row order the server processors slowed down while they were measured: the first 900 rows say little about "
      "the level of the next thousand, on gold_6240, silver_4114, 1080ti_32 and "
      "titanxp_32 no method gets past that. Hence the rows drawn at random; the order of HELP is shown beside it."};
}

}  // namespace

absl::StatusOr<TableRun> RunFewShotTable(const TableOptions& options) {
  at::NoGradGuard no_grad;
  return Table(options).Run();
}

}  // namespace cobra::lab
