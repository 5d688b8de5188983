#include "server/live_model.h"

#include <atomic>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/counted.h"
#include "base/diagnostic.h"
#include "base/limit_message.h"
#include "base/log.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "graph/builder.h"
#include "graph/fingerprint.h"
#include "graph/json.h"

namespace cobra::server {
namespace {

constexpr int64_t kMaxListedVersions = 16;     // of one target; older ones stay in the store
constexpr size_t kMaxCalibratedTargets = 256;  // names in every list of targets
// Between two probes of one machine: a disturbed minute, or another clock, changes its speed by less than a half.
constexpr double kMostChange = 2;
// A new version serves after this time, even if it does not know yet all that is asked most; so do new calibrations,
// which all servers of a store shall serve within a second.
constexpr absl::Duration kWarmUpVersion = absl::Seconds(10), kWarmUpCalibrations = absl::Milliseconds(300);

// 0: none.
int64_t ServingVersion(const ModelSnapshot& model, absl::string_view target) {
  const auto versions = model.versions.find(std::string(target));
  if (versions == model.versions.end()) return 0;
  for (const store::CalibrationVersion& version : versions->second) {
    if (!version.withdrawn) return version.version;
  }
  return 0;
}

int64_t NextGeneration() {
  static std::atomic<int64_t> generation{0};
  return ++generation;
}

// A version that cannot answer this request is not served. It also touches the weights once, so that the first real
// request is not slower.
absl::Status WarmUp(const predict::Predictor& predictor) {
  if (predictor.targets().empty()) return absl::DataLossError("the model has no target");
  graph::GraphBuilder builder;
  const graph::ValueRef input = builder.AddInput("input", {{1, 8, 16, 16}, graph::DType::float32});
  COBRA_ASSIGN_OR_RETURN(int32_t relu, builder.Add(graph::Op::relu, {}, {input}));
  const graph::Graph graph = std::move(builder).Build({graph::ValueRef::Node(relu)});
  for (const predict::TargetInfo& target : predictor.targets()) {
    COBRA_ASSIGN_OR_RETURN(predict::LatencyPrediction prediction, predictor.Predict(graph, target.spec.name));
    if (!std::isfinite(prediction.latency_us) || prediction.latency_us <= 0) {
      return absl::DataLossError(
          absl::StrCat("the model answers ", prediction.latency_us, " us for one relu on ", target.spec.name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const predict::Predictor>> LoadAndWarmUp(const LiveModel::Loader& loader) {
  COBRA_ASSIGN_OR_RETURN(std::shared_ptr<const predict::Predictor> predictor, loader());
  COBRA_RETURN_IF_ERROR(WarmUp(*predictor));
  return predictor;
}

absl::StatusOr<predict::Calibration> Fit(const predict::Predictor& predictor, absl::string_view target,
                                         const predict::ProbeResult& probe) {
  COBRA_ASSIGN_OR_RETURN(predict::Calibration calibration, predictor.Calibrate(probe));
  calibration.machine.name = std::string(target);
  return calibration;
}

// They are read again when the store answers (RefreshCalibrations).
void LogUnread(const absl::Status& read) {
  if (!read.ok()) LogError(absl::StrCat("stored calibrations cannot be read: ", read.message()));
}

}  // namespace

const predict::Calibration* ModelSnapshot::FindCalibration(absl::string_view target) const {
  auto it = calibrations.find(std::string(target));
  return it == calibrations.end() ? nullptr : &it->second;
}

std::vector<predict::TargetInfo> ModelSnapshot::Targets() const {
  std::vector<predict::TargetInfo> targets = predictor->targets();
  const size_t num_trained = targets.size();
  for (const auto& [name, calibration] : calibrations) {
    predict::TargetInfo info;
    for (size_t i = 0; i < num_trained; ++i) {
      if (targets[i].spec.name == calibration.base_target) info.errors = targets[i].errors;
    }
    info.spec = calibration.machine;
    info.spec.name = name;
    info.calibrated = true;
    info.base_target = calibration.base_target;
    targets.push_back(std::move(info));
  }
  return targets;
}

bool ModelSnapshot::Knows(absl::string_view target) const {
  if (FindCalibration(target) != nullptr) return true;
  for (const predict::TargetInfo& info : predictor->targets()) {
    if (info.spec.name == target) return true;
  }
  return false;
}

std::string ModelSnapshot::RuntimeOf(absl::string_view target) const {
  if (const predict::Calibration* calibration = FindCalibration(target)) return calibration->machine.runtime;
  for (const predict::TargetInfo& info : predictor->targets()) {
    if (info.spec.name == target) return info.spec.runtime;
  }
  return "";
}

LiveModel::LiveModel(Loader loader, store::Store* store, Metrics* metrics)
    : loader_(std::move(loader)), store_(store), metrics_(metrics) {}

absl::StatusOr<std::unique_ptr<LiveModel>> LiveModel::Create(Loader loader, store::Store* store, Metrics* metrics) {
  std::unique_ptr<LiveModel> live(new LiveModel(std::move(loader), store, metrics));
  COBRA_RETURN_IF_ERROR(live->Reload());
  return live;
}

std::shared_ptr<const ModelSnapshot> LiveModel::Get() const {
  absl::ReaderMutexLock lock(&mutex_);
  return snapshot_;
}

std::vector<LoadedVersion> LiveModel::Loaded() const {
  absl::ReaderMutexLock lock(&mutex_);
  return loaded_;
}

void LiveModel::SetWarm(Warm warm) {
  absl::MutexLock change(&change_);
  warm_ = std::move(warm);
}

void LiveModel::Publish(std::shared_ptr<ModelSnapshot> snapshot, absl::Duration warm_up_time) {
  snapshot->generation = NextGeneration();
  metrics_->SetTargets(static_cast<int64_t>(snapshot->Targets().size()));
  if (warm_) warm_(snapshot, absl::Now() + warm_up_time);
  absl::MutexLock lock(&mutex_);
  generation_.store(snapshot->generation, std::memory_order_release);
  snapshot_ = std::move(snapshot);
}

absl::Status LiveModel::Reload() {
  absl::MutexLock change(&change_);
  absl::StatusOr<std::shared_ptr<const predict::Predictor>> loaded = LoadAndWarmUp(loader_);
  if (!loaded.ok()) {
    metrics_->ModelReloadFailed();
    if (Get() != nullptr) LogError(absl::StrCat("the old model continues to serve: ", loaded.status().message()));
    return loaded.status();
  }
  const std::shared_ptr<const ModelSnapshot> old = Get();
  const bool same = old != nullptr && (*loaded)->info().sha256 == old->predictor->info().sha256;
  auto snapshot = std::make_shared<ModelSnapshot>();
  snapshot->predictor = same ? old->predictor : *loaded;  // with the layers that it knows
  LogUnread(FillCalibrations(snapshot.get()));
  const predict::ModelInfo info = snapshot->predictor->info();
  const size_t targets = snapshot->Targets().size();
  // The caches stay where nothing has changed.
  if (!same || snapshot->calibration_stamp != old->calibration_stamp) Publish(std::move(snapshot), kWarmUpVersion);
  metrics_->ModelLoaded(info, static_cast<int64_t>(targets));
  LogInfo(absl::StrCat("model ", info.version, " is serving: ", Counted(targets, "target")));
  NoteLoaded(info);
  return absl::OkStatus();
}

void LiveModel::NoteLoaded(const predict::ModelInfo& info) {
  absl::MutexLock lock(&mutex_);
  const auto earlier = absl::c_find_if(loaded_, [&info](const auto& l) { return l.info.sha256 == info.sha256; });
  if (earlier != loaded_.end()) loaded_.erase(earlier);
  loaded_.insert(loaded_.begin(), {info, absl::Now()});
  if (loaded_.size() > kMaxListedLoads) loaded_.pop_back();
}

// A calibration belongs to the model version for which it was fitted. For another version it is fitted again from its
// stored probe, unless the snapshot has that fit already.
absl::Status LiveModel::FillCalibrations(ModelSnapshot* snapshot) const {
  const predict::Predictor& predictor = *snapshot->predictor;
  COBRA_ASSIGN_OR_RETURN(const std::string stamp, store_->CalibrationStamp());
  COBRA_ASSIGN_OR_RETURN(const std::vector<store::CalibrationRecord> records, store_->LatestCalibrations());
  COBRA_ASSIGN_OR_RETURN(std::vector<store::CalibrationVersion> versions,
                         store_->CalibrationVersions(kMaxListedVersions));
  std::map<std::string, predict::Calibration> calibrations;
  for (const store::CalibrationRecord& record : records) {
    const predict::Calibration* const known = snapshot->FindCalibration(record.target);
    if (known != nullptr && ServingVersion(*snapshot, record.target) == record.version) {
      calibrations[record.target] = *known;
      continue;
    }
    absl::StatusOr<predict::Calibration> calibration = predict::CalibrationFromJson(record.calibration_json);
    if (!calibration.ok() || record.model_sha256 != predictor.info().sha256) {
      absl::StatusOr<predict::ProbeResult> probe = predict::ProbeResultFromJson(record.probe_json);
      calibration = probe.ok() ? Fit(predictor, record.target, *probe) : probe.status();
    }
    if (calibration.ok()) {
      calibrations[record.target] = *std::move(calibration);
    } else {
      LogError(
          absl::StrCat("target ", record.target, " cannot be used with this model: ", calibration.status().message()));
    }
  }
  snapshot->calibrations = std::move(calibrations);
  snapshot->versions.clear();
  for (store::CalibrationVersion& version : versions) {
    std::vector<store::CalibrationVersion>& of_target = snapshot->versions[version.target];
    of_target.push_back(std::move(version));
  }
  snapshot->calibration_stamp = stamp;
  return absl::OkStatus();
}

absl::Status LiveModel::RefreshCalibrations() {
  // Without the lock: usually nothing has changed, and whoever calibrates need not wait for that.
  COBRA_ASSIGN_OR_RETURN(const std::string stamp, store_->CalibrationStamp());
  if (stamp == Get()->calibration_stamp) return absl::OkStatus();
  absl::MutexLock change(&change_);
  const std::shared_ptr<const ModelSnapshot> old = Get();
  auto snapshot = std::make_shared<ModelSnapshot>(*old);
  COBRA_RETURN_IF_ERROR(FillCalibrations(snapshot.get()));
  if (snapshot->calibration_stamp == old->calibration_stamp) return absl::OkStatus();  // it was a change of our own
  LogInfo(absl::StrCat("calibrations changed: ", Counted(snapshot->calibrations.size(), "calibrated target")));
  Publish(std::move(snapshot), kWarmUpCalibrations);
  return absl::OkStatus();
}

// The name must be free, or that of a machine as fast as this one.
absl::Status LiveModel::CheckNewProbe(const ModelSnapshot& model, absl::string_view target,
                                      const predict::ProbeResult& probe) const {
  const predict::Calibration* serving = model.FindCalibration(target);
  if (serving == nullptr) {
    if (model.calibrations.size() < kMaxCalibratedTargets) return absl::OkStatus();
    return UserError(Diagnostic::Kind::kLimit, LimitMessage("this server", kMaxCalibratedTargets, "calibrated targets"),
                     "withdraw one: cobra-client calibrate --undo --name NAME");
  }
  std::vector<double> factors;
  for (const store::MeasuredGraph& record : probe.records) {
    COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction before,
                           model.predictor->Predict(record.graph, target, serving));
    factors.push_back(record.measurement.latency.median_us / before.latency_us);
  }
  const double factor = Median(std::move(factors));
  if (factor <= kMostChange && factor >= 1 / kMostChange) return absl::OkStatus();
  return UserError(
      Diagnostic::Kind::kUsage,
      absl::StrFormat("%s: the probe's machine takes %.2g times as long as version %d of this target, which serves",
                      std::string(target), factor, ServingVersion(model, target)),
      "give another machine another name (cobra-client calibrate --name NAME); if that version is wrong, withdraw it "
      "first (cobra-client calibrate --undo)");
}

absl::StatusOr<CalibrationOutcome> LiveModel::Calibrate(absl::string_view target, absl::string_view probe_json,
                                                        absl::string_view caller) {
  absl::MutexLock change(&change_);
  const std::shared_ptr<const ModelSnapshot> old = Get();
  for (const predict::TargetInfo& trained : old->predictor->targets()) {
    if (trained.spec.name == target) {
      return UserError(Diagnostic::Kind::kUsage, absl::StrCat(target, ": is a trained target and cannot be replaced"),
                       "calibrate under another name (cobra-client calibrate --name NAME)");
    }
  }
  absl::StatusOr<predict::ProbeResult> probe = predict::ProbeResultFromJson(probe_json);
  if (!probe.ok()) {
    const absl::string_view what = probe.status().message();
    return UserError(Diagnostic::Kind::kUsage, absl::StrCat(absl::StartsWith(what, "probe: ") ? "" : "probe: ", what),
                     "send the output of `cobra-worker probe --json` as it is");
  }
  absl::StatusOr<predict::Calibration> calibration = Fit(*old->predictor, target, *probe);
  if (absl::IsInvalidArgument(calibration.status()) && !DiagnosticFromStatus(calibration.status()).has_value())
    return UserError(Diagnostic::Kind::kUsage, std::string(calibration.status().message()));
  COBRA_RETURN_IF_ERROR(calibration.status());
  COBRA_RETURN_IF_ERROR(CheckNewProbe(*old, target, *probe));
  store::CalibrationRecord record;
  record.time = absl::Now();
  record.target = std::string(target);
  record.model_sha256 = old->predictor->info().sha256;
  record.calibration_json = predict::CalibrationToJson(*calibration);
  record.probe_json = std::string(probe_json);
  record.caller = std::string(caller);
  absl::Status stored = store_->AppendCalibration(record);
  metrics_->StoreWritten("calibrations", stored.ok(), 1);
  COBRA_RETURN_IF_ERROR(stored);
  COBRA_RETURN_IF_ERROR(AppendMeasurements(target, *probe, caller));

  CalibrationOutcome outcome;
  for (const store::MeasuredGraph& r : probe->records) {
    ++(r.measurement.subject.is_network ? outcome.networks : outcome.layers);
  }
  auto snapshot = std::make_shared<ModelSnapshot>(*old);
  LogUnread(FillCalibrations(snapshot.get()));
  LogInfo(absl::StrCat("target ", target, ": calibration ", ServingVersion(*snapshot, target), " serves"));
  Publish(std::move(snapshot), kWarmUpCalibrations);
  outcome.calibration = *std::move(calibration);
  return outcome;
}

absl::Status LiveModel::UndoCalibration(absl::string_view target, int64_t version) {
  absl::MutexLock change(&change_);
  const absl::Status withdrawn = store_->WithdrawCalibration(target, version);
  if (absl::IsNotFound(withdrawn))
    return UserError(Diagnostic::Kind::kUsage, std::string(withdrawn.message()), "cobra-client targets lists them");
  COBRA_RETURN_IF_ERROR(withdrawn);
  const std::shared_ptr<const ModelSnapshot> old = Get();
  auto snapshot = std::make_shared<ModelSnapshot>(*old);
  LogUnread(FillCalibrations(snapshot.get()));
  const int64_t serving = ServingVersion(*snapshot, target);
  LogInfo(absl::StrCat("target ", target, ": calibration ", version, " is withdrawn; ",
                       serving == 0 ? "it has no other" : absl::StrCat(serving, " serves")));
  Publish(std::move(snapshot), kWarmUpCalibrations);
  return absl::OkStatus();
}

// Stores the measurements as data for the next model, even if the fit failed.
absl::Status LiveModel::AppendMeasurements(absl::string_view target, const predict::ProbeResult& probe,
                                           absl::string_view caller) {
  std::vector<store::StoredMeasurement> rows;
  const absl::Time now = absl::Now();
  graph::GraphJsonOptions options;
  options.origins = false;
  for (const store::MeasuredGraph& r : probe.records) {
    store::StoredMeasurement& row = rows.emplace_back();
    row.time = now;
    row.target = std::string(target);
    row.origin = "probe";
    row.provenance.caller = std::string(caller);
    row.measurement = r.measurement;
    row.measurement.subject.graph_json = graph::GraphToJson(r.graph, options);
  }
  absl::Status status = store_->AppendMeasurements(rows);
  metrics_->StoreWritten("measurements", status.ok(), static_cast<int64_t>(rows.size()));
  return status;
}

}  // namespace cobra::server
