#include "lab/tables/held_out/table_calibration.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "lab/tables/run/coverage.h"
#include "lab/tables/run/measured_rows.h"
#include "model/predict/adapt/calibration.h"
#include "model/predict/predictor.h"
#include "model/predict/target/probe_design.h"
#include "model/training/rows/dataset.h"

namespace cobra::lab {
namespace {

// What fits into a probe: `cobra-worker probe` has 64 layers and 15 networks; five minutes about
// five times as many.
struct ProbeSize {
  const char* method;
  size_t layers, networks;
  bool is_designed = false;  // model/predict/target/probe_design.h, among five times as many; at random otherwise
};
constexpr ProbeSize kProbes[] = {{"one minute: 64 layers, 16 networks at random", 64, 16},
                                 {"one minute: 64 layers, 16 networks by design", 64, 16, true},
                                 {"five minutes: 320 layers, 80 networks at random", 320, 80},
                                 {"five minutes: 320 layers, 80 networks by design", 320, 80, true}};
constexpr size_t kPoolOfDesign = 5;
constexpr char kUncalibrated[] = "nearest target as it is", kScaled[] = "nearest target, scaled to the 16 networks";
constexpr size_t kFewestTests = 20;

struct Predicted {
  std::vector<double> latency_us, half_width;
};

class Table {
 public:
  explicit Table(const TableOptions& options) : run_(options) {}

  absl::StatusOr<TableRun> Run() {
    run_.columns = ErrorIntervalAndCountColumns();
    COBRA_ASSIGN_OR_RETURN(data_, training::LoadMeasurements(run_.options.rows));
    COBRA_ASSIGN_OR_RETURN(predictor_, predict::Predictor::Load(run_.options.model));
    for (const predict::TargetInfo& target : predictor_->targets()) {
      if (target.spec.name != data_.target.name) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          run_.options.model, ": was trained on ", data_.target.name,
          "; this table needs a version without it (cobra-train fit --rows of the other folders --out DIR)"));
    }
    COBRA_RETURN_IF_ERROR(SortRows());
    for (int seed = 1; seed <= run_.options.seeds; ++seed) {
      COBRA_RETURN_IF_ERROR(AddFloors(seed));
      for (const ProbeSize& size : kProbes) {
        if (networks_.size() < size.networks || layers_.size() < size.layers) continue;
        COBRA_RETURN_IF_ERROR(AddProbe(size, seed));
      }
    }
    run_.before = {absl::StrCat("The machine is ", data_.target.name, " (", data_.target.device, ", ",
                                data_.target.runtime, "); the version was trained on ", TrainedOn(), ".")};
    run_.after = {
        "A probe is drawn from what was measured on the machine, at random or by design from five times as many: "
        "layers of real networks, and random members "
        "of families of real networks with the times of their calls. The tests are the networks of torchvision and of "
        "timm that were measured there. Its latencies include what neighbours did to it: nobody can be better than its "
        "repeatability (data/measurements/README.md)."};
    return std::move(run_);
  }

 private:
  absl::Status SortRows() {
    for (const training::Sample& s : data_.samples) {
      if (!s.is_network()) {
        if (s.space() == "real-layers") layers_.push_back(&s);
      } else if (IsOfLibrary(s)) {
        tests_.push_back(&s);
      } else if (s.space() == "real-networks") {
        networks_.push_back(&s);
      }
    }
    if (tests_.size() >= kFewestTests && networks_.size() >= kProbes[0].networks) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        run_.options.rows, ": has ", tests_.size(), " networks of torchvision and timm, and ", networks_.size(),
        " real-networks to calibrate with; ", kFewestTests, " and ", kProbes[0].networks, " are needed"));
  }

  std::string TrainedOn() const {
    std::string names;
    for (const predict::TargetInfo& target : predictor_->targets())
      absl::StrAppend(&names, names.empty() ? "" : ", ", target.spec.name);
    return names;
  }

  static std::vector<const training::Sample*> Draw(std::vector<const training::Sample*> rows, size_t count, int seed) {
    std::mt19937_64 random(static_cast<uint64_t>(seed));
    std::shuffle(rows.begin(), rows.end(), random);
    rows.resize(std::min(rows.size(), count));
    return rows;
  }

  predict::ProbeResult ProbeOf(const ProbeSize& size, int seed) const {
    predict::ProbeResult probe;
    probe.machine = data_.target;
    std::vector<const training::Sample*> rows = Draw(layers_, size.layers, seed);
    const std::vector<const training::Sample*> networks =
        size.is_designed ? DrawByDesign(size.networks, seed) : Draw(networks_, size.networks, seed);
    rows.insert(rows.end(), networks.begin(), networks.end());
    for (const training::Sample* row : rows) {
      store::Measurement measurement = row->measurement;
      measurement.node_latency_us = row->is_network() ? row->node_latency_us : std::vector<double>();
      probe.records.push_back(std::move(measurement));
    }
    return probe;
  }

  std::vector<const training::Sample*> DrawByDesign(size_t count, int seed) const {
    const std::vector<const training::Sample*> pool = Draw(networks_, kPoolOfDesign * count, seed);
    std::vector<const graph::Graph*> graphs;
    for (const training::Sample* row : pool) graphs.push_back(&row->graph());
    std::vector<const training::Sample*> chosen;
    for (const size_t i : predict::DesignProbe(graphs, count)) chosen.push_back(pool[i]);
    return chosen;
  }

  absl::StatusOr<Predicted> Predict(const std::string& target, const predict::Calibration* calibration) const {
    Predicted predicted;
    for (const training::Sample* row : tests_) {
      COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction p,
                             predictor_->Predict(row->graph(), target, calibration, {}));
      predicted.latency_us.push_back(p.latency_us);
      predicted.half_width.push_back(std::log(p.high_us / p.latency_us));
    }
    return predicted;
  }

  TableCell CellOf(const Predicted& predicted, size_t probe) const {
    const std::vector<double> measured = LatencyOf(tests_);
    return ErrorAndIntervalCell(predicted.latency_us, measured, predicted.half_width, static_cast<int64_t>(probe));
  }

  // The target that a calibration would start from, without one; and with the median ratio of the
  // networks.
  absl::Status AddFloors(int seed) {
    COBRA_RETURN_IF_ERROR(run_.Add(kUncalibrated, "", seed, [&]() -> absl::StatusOr<TableCell> {
      COBRA_ASSIGN_OR_RETURN(const predict::Calibration fitted, predictor_->Calibrate(ProbeOf(kProbes[0], seed)));
      COBRA_ASSIGN_OR_RETURN(const Predicted plain, Predict(fitted.base_target, nullptr));
      return CellOf(plain, kProbes[0].networks);
    }));
    return run_.Add(kScaled, "", seed, [&]() -> absl::StatusOr<TableCell> {
      const predict::ProbeResult probe = ProbeOf(kProbes[0], seed);
      COBRA_ASSIGN_OR_RETURN(const predict::Calibration fitted, predictor_->Calibrate(probe));
      std::vector<double> ratios;
      for (const store::Measurement& record : probe.records) {
        if (!record.subject.is_network) continue;
        COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction p,
                               predictor_->Predict(record.subject.graph, fitted.base_target, nullptr, {}));
        ratios.push_back(record.undisturbed_us() / p.latency_us);
      }
      const double scale = UpperMedian(std::move(ratios));
      COBRA_ASSIGN_OR_RETURN(Predicted scaled, Predict(fitted.base_target, nullptr));
      for (double& us : scaled.latency_us) us *= scale;
      return CellOf(scaled, kProbes[0].networks);
    });
  }

  absl::Status AddProbe(const ProbeSize& size, int seed) {
    return run_.Add(size.method, "", seed, [&]() -> absl::StatusOr<TableCell> {
      COBRA_ASSIGN_OR_RETURN(const predict::Calibration fitted, predictor_->Calibrate(ProbeOf(size, seed)));
      COBRA_ASSIGN_OR_RETURN(const Predicted predicted, Predict(fitted.base_target, &fitted));
      return CellOf(predicted, size.networks);
    });
  }

  TableRun run_;
  training::Dataset data_;
  std::shared_ptr<const predict::Predictor> predictor_;
  std::vector<const training::Sample*> layers_, networks_, tests_;
};

}  // namespace

absl::StatusOr<TableRun> RunCalibrationTable(const TableOptions& options) { return Table(options).Run(); }

}  // namespace cobra::lab
