#include "server/targets/live_model.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/diagnostic.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "base/with_code.h"
#include "graph/builder/builder.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "model/predict/target/sheet_check.h"
#include "model/predict/target/timings.h"
#include "server/targets/new_level.h"

namespace cobra::server {
namespace {

constexpr int64_t kMaxListedVersions = 16;     // of one target; older ones stay in the store
constexpr size_t kMaxCalibratedTargets = 256;  // names in every list of targets
// A new version serves after this time, even if it does not know yet all that is asked most; so do
// new calibrations, which all servers of a store shall serve within a second.
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

// Whether a version of the target was withdrawn since: those behind it were fitted to its timings,
// too.
bool HasNewWithdrawal(const ModelSnapshot& model, const std::string& target,
                      absl::Span<const store::CalibrationVersion> now) {
  const auto before = model.versions.find(target);
  return absl::c_any_of(now, [&](const store::CalibrationVersion& version) {
    if (version.target != target || !version.withdrawn || before == model.versions.end()) return false;
    return absl::c_none_of(before->second, [&version](const store::CalibrationVersion& known) {
      return known.version == version.version && known.withdrawn;
    });
  });
}

int64_t NextGeneration() {
  static std::atomic<int64_t> generation{0};
  return ++generation;
}

// A version that cannot answer this request is not served. It also touches the weights once, so
// that the first real request is not slower.
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

// A calibration if single layers were measured too.
absl::StatusOr<predict::Calibration> Fit(const predict::Predictor& predictor, absl::string_view target,
                                         const predict::ProbeResult& probe,
                                         const std::function<bool()>& cancelled = {}) {
  absl::StatusOr<predict::Calibration> fitted;
  if (predict::HasLayers(probe)) {
    fitted = predictor.Calibrate(probe, cancelled);
  } else {
    std::vector<store::TimedNetwork> samples;
    for (const store::Measurement& measured : probe.records)
      samples.push_back(
          {absl::StrCat("row ", measured.subject.label), measured.subject.graph, measured.undisturbed_us()});
    fitted = predictor.Adapt(probe.machine, samples, {{}, cancelled});
  }
  COBRA_RETURN_IF_ERROR(fitted.status());
  fitted->machine.name = std::string(target);
  return fitted;
}

// What a stored version was fitted to.
absl::StatusOr<predict::ProbeResult> MeasuredOfRecord(store::Store* store, const store::CalibrationRecord& record) {
  COBRA_ASSIGN_OR_RETURN(const std::string probe_json, store->ProbeOf(record));
  COBRA_ASSIGN_OR_RETURN(predict::ProbeResult probe, predict::ProbeResultFromJson(probe_json, /*needs_records=*/false));
  COBRA_ASSIGN_OR_RETURN(const std::vector<store::TimedNetwork> timings, store->TimingsOf(record));
  std::map<const graph::Node*, std::string> fingerprints;  // a log has many timings of one network
  std::vector<store::Measurement> records;
  for (const store::TimedNetwork& timing : timings) {
    const auto [known, is_new] = fingerprints.try_emplace(timing.graph.nodes().data());
    if (is_new) known->second = graph::Fingerprint(timing.graph).ToHex();
    store::Measurement& measurement = records.emplace_back();
    measurement.subject.is_network = true;
    measurement.subject.graph = timing.graph;
    measurement.subject.fingerprint = known->second;
    measurement.subject.label = absl::StrFormat("observed %.4g ms", timing.latency_us / 1000);  // it has no row
    measurement.latency.median_us = timing.latency_us;
    measurement.latency.runs = static_cast<int>(std::min<int64_t>(timing.timings, 1'000'000'000));
  }
  predict::AddTimings(std::move(records), &probe);
  return probe;
}

absl::Status CheckNotTrained(const ModelSnapshot& model, absl::string_view target) {
  for (const predict::TargetInfo& trained : model.predictor->targets()) {
    if (trained.spec.name != target) continue;
    return UsageError(absl::StrCat(target, ": is a trained target and cannot be replaced"), "take another name");
  }
  return absl::OkStatus();
}

// A target that cannot be read again would serve until the next model version, and could not be
// corrected.
absl::Status CheckReadable(absl::string_view what, const absl::Status& read) {
  if (read.ok()) return read;
  return UserError(Diagnostic::Kind::kLimit, absl::StrCat(what, ": too large to be read again: ", read.message()),
                   "leave out the largest networks");
}

// A fit that is refused is the user's to correct.
absl::Status AsUserError(const absl::Status& status) {
  if (!absl::IsInvalidArgument(status) || DiagnosticFromStatus(status).has_value()) return status;
  return UsageError(std::string(status.message()));
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

const predict::TargetSpec* ModelSnapshot::FindSpec(absl::string_view target) const {
  if (const predict::Calibration* calibration = FindCalibration(target)) return &calibration->machine;
  for (const predict::TargetInfo& info : predictor->targets()) {
    if (info.spec.name == target) return &info.spec;
  }
  return nullptr;
}

bool ModelSnapshot::Knows(absl::string_view target) const { return FindSpec(target) != nullptr; }

bool ModelSnapshot::HasHalfTensors(absl::string_view target) const {
  const predict::TargetSpec* spec = FindSpec(target);
  return spec != nullptr && predict::HasHalfTensors(*spec);
}

std::string ModelSnapshot::RuntimeOf(absl::string_view target) const {
  const predict::TargetSpec* spec = FindSpec(target);
  return spec == nullptr ? "" : spec->runtime;
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

// A calibration belongs to the model version for which it was fitted. For another version it is
// fitted again from its stored probe, unless the snapshot has that fit already. The store keeps
// that fit for the next start.
absl::Status LiveModel::FillCalibrations(ModelSnapshot* snapshot) const {
  const predict::Predictor& predictor = *snapshot->predictor;
  COBRA_ASSIGN_OR_RETURN(const std::string stamp, store_->CalibrationStamp());
  COBRA_ASSIGN_OR_RETURN(const std::vector<store::CalibrationRecord> records, store_->LatestCalibrations());
  COBRA_ASSIGN_OR_RETURN(std::vector<store::CalibrationVersion> versions,
                         store_->CalibrationVersions(kMaxListedVersions));
  std::map<std::string, predict::Calibration> calibrations;
  for (const store::CalibrationRecord& record : records) {
    const predict::Calibration* const known = snapshot->FindCalibration(record.target);
    if (known != nullptr && ServingVersion(*snapshot, record.target) == record.version &&
        !HasNewWithdrawal(*snapshot, record.target, versions)) {
      calibrations[record.target] = *known;
      continue;
    }
    absl::StatusOr<predict::Calibration> calibration = predict::CalibrationFromJson(record.calibration_json);
    if (!calibration.ok() || record.model_sha256 != predictor.info().sha256) {
      const absl::StatusOr<predict::ProbeResult> probe = MeasuredOfRecord(store_, record);
      calibration = probe.ok() ? Fit(predictor, record.target, *probe) : probe.status();
      if (calibration.ok()) KeepFit(*calibration, record);
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

void LiveModel::KeepFit(const predict::Calibration& fit, store::CalibrationRecord record) const {
  record.model_sha256 = fit.model_sha256;
  record.calibration_json = predict::CalibrationToJson(fit);
  const absl::Status kept = store_->ReplaceFit(record);
  if (!kept.ok())
    LogWarning(absl::StrCat("target ", record.target, " will be fitted again at the next start: ", kept.message()));
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

namespace {

absl::Status CheckRoom(const ModelSnapshot& model) {
  if (model.calibrations.size() < kMaxCalibratedTargets) return absl::OkStatus();
  return UserError(Diagnostic::Kind::kLimit, LimitMessage("this server", kMaxCalibratedTargets, "calibrated targets"),
                   "withdraw one: cobra-client calibrate --undo --name NAME");
}

}  // namespace

// The name must be free, or that of a machine as fast as this one.
absl::Status LiveModel::CheckNewProbe(const ModelSnapshot& model, absl::string_view target,
                                      const predict::ProbeResult& probe, const std::function<bool()>& cancelled) const {
  const predict::Calibration* serving = model.FindCalibration(target);
  if (serving == nullptr) return CheckRoom(model);
  COBRA_ASSIGN_OR_RETURN(const double factor, LevelOf(model, target, probe.records, cancelled));
  if (factor == 1) return absl::OkStatus();
  return UsageError(
      absl::StrFormat(
          "%s: by these times the machine takes %.2g times as long as version %d of this target, which serves",
          std::string(target), factor, ServingVersion(model, target)),
      absl::StrCat("give another machine another --name; if that version is wrong, withdraw it first: cobra-client "
                   "calibrate --undo --name ",
                   target));
}

absl::StatusOr<CalibrationOutcome> LiveModel::Calibrate(absl::string_view target, absl::string_view probe_json,
                                                        const VersionCause& cause,
                                                        const std::function<bool()>& cancelled) {
  absl::MutexLock change(&change_);
  const std::shared_ptr<const ModelSnapshot> old = Get();
  COBRA_RETURN_IF_ERROR(CheckNotTrained(*old, target));
  absl::StatusOr<predict::ProbeResult> probe = predict::ProbeResultFromJson(probe_json);
  if (!probe.ok()) {
    const absl::string_view what = probe.status().message();
    const std::optional<Diagnostic> known = DiagnosticFromStatus(probe.status());
    return UserError(known.has_value() ? known->kind : Diagnostic::Kind::kUsage,
                     absl::StrCat(absl::StartsWith(what, "probe: ") ? "" : "probe: ", what),
                     "send the unmodified output of `cobra-worker probe --json`");
  }
  if (const absl::Status sheet = predict::CheckSheet(probe->machine); !sheet.ok())
    return UsageError(absl::StrCat("probe: \"machine\": ", sheet.message()));
  absl::StatusOr<predict::Calibration> fitted = old->predictor->Calibrate(*probe, cancelled);
  if (fitted.ok()) fitted->machine.name = std::string(target);
  store::CalibrationRecord record;
  record.target = std::string(target);
  record.probe_json = std::string(probe_json);
  record.caller = cause.caller;
  record.request = cause.request;
  COBRA_RETURN_IF_ERROR(AsUserError(fitted.status()));
  COBRA_RETURN_IF_ERROR(CheckNewProbe(*old, target, *probe, cancelled));
  return AddVersion(*probe, std::move(fitted), std::move(record));
}

absl::StatusOr<CalibrationOutcome> LiveModel::Adapt(absl::string_view target, const predict::ProbeResult& measured,
                                                    const VersionCause& cause, const std::function<bool()>& cancelled,
                                                    int64_t follows) {
  absl::MutexLock change(&change_);
  const std::shared_ptr<const ModelSnapshot> old = Get();
  COBRA_RETURN_IF_ERROR(CheckNotTrained(*old, target));
  std::string probe_json = predict::ProbeResultToJson(measured);
  COBRA_RETURN_IF_ERROR(
      CheckReadable("the timed networks", predict::ProbeResultFromJson(probe_json, /*needs_records=*/false).status()));
  absl::StatusOr<predict::Calibration> fitted = Fit(*old->predictor, target, measured, cancelled);
  COBRA_RETURN_IF_ERROR(AsUserError(fitted.status()));
  if (predict::HasLayers(measured)) {
    COBRA_RETURN_IF_ERROR(CheckNewProbe(*old, target, measured, cancelled));
  } else if (old->FindCalibration(target) == nullptr) {
    COBRA_RETURN_IF_ERROR(CheckRoom(*old));
  }
  store::CalibrationRecord record;
  record.target = std::string(target);
  record.probe_json = std::move(probe_json);
  record.caller = cause.caller;
  record.request = cause.request;
  record.follows = follows;
  return AddVersion(measured, std::move(fitted), std::move(record));
}

absl::StatusOr<CalibrationOutcome> LiveModel::Observe(absl::string_view target, int64_t checked_with,
                                                      std::vector<store::Measurement> timed, const VersionCause& cause,
                                                      const std::function<bool()>& cancelled) {
  absl::MutexLock change(&change_);
  const std::shared_ptr<const ModelSnapshot> old = Get();
  COBRA_ASSIGN_OR_RETURN(const store::CalibrationRecord base, RecordOf(target));
  if (base.version != checked_with) return absl::AbortedError(absl::StrCat(target, ": has changed"));
  COBRA_ASSIGN_OR_RETURN(predict::ProbeResult probe, MeasuredOfRecord(store_, base));
  store::CalibrationRecord record;
  record.target = std::string(target);
  record.caller = cause.caller;
  record.request = cause.request;
  record.based_on = base.based_on == 0 ? base.version : base.based_on;
  record.follows = base.version;
  for (const store::Measurement& measured : timed) {
    const graph::Graph& graph = measured.subject.graph;
    const std::string text = graph::GraphToJson(graph, {/*origins=*/false});
    COBRA_RETURN_IF_ERROR(
        CheckReadable(absl::StrCat("row ", measured.subject.label), graph::GraphFromJson(text).status()));
    record.timings.push_back({measured.subject.label, graph, measured.latency.median_us, measured.latency.runs});
  }
  predict::AddTimings(std::move(timed), &probe);
  absl::StatusOr<predict::Calibration> fitted = Fit(*old->predictor, target, probe, cancelled);
  COBRA_RETURN_IF_ERROR(AsUserError(fitted.status()));
  return AddVersion(probe, std::move(fitted), std::move(record));
}

absl::StatusOr<store::CalibrationRecord> LiveModel::RecordOf(absl::string_view target) const {
  COBRA_ASSIGN_OR_RETURN(std::vector<store::CalibrationRecord> records, store_->LatestCalibrations());
  for (store::CalibrationRecord& record : records) {
    if (record.target == target) return std::move(record);
  }
  return WithCode(absl::StatusCode::kNotFound,
                  UsageError(absl::StrCat(target, ": is not a target that was calibrated or adapted to"),
                             "cobra-client targets lists them; cobra-client adapt makes one"));
}

absl::StatusOr<LiveModel::Measured> LiveModel::MeasuredOf(absl::string_view target) const {
  COBRA_ASSIGN_OR_RETURN(const store::CalibrationRecord record, RecordOf(target));
  COBRA_ASSIGN_OR_RETURN(predict::ProbeResult probe, MeasuredOfRecord(store_, record));
  probe.machine.name = std::string(target);
  return Measured{std::move(probe), record.version};
}

absl::StatusOr<store::DoneRequest> LiveModel::FindDone(absl::string_view target, absl::string_view id) {
  COBRA_ASSIGN_OR_RETURN(store::DoneRequest done, store_->FindRequest(target, id));
  if (!done.id.empty()) COBRA_RETURN_IF_ERROR(RefreshCalibrations());
  return done;
}

absl::StatusOr<CalibrationOutcome> LiveModel::AddVersion(const predict::ProbeResult& probe,
                                                         absl::StatusOr<predict::Calibration> fitted,
                                                         store::CalibrationRecord record) {
  const std::shared_ptr<const ModelSnapshot> old = Get();
  record.time = absl::Now();
  record.model_sha256 = old->predictor->info().sha256;
  record.calibration_json = predict::CalibrationToJson(*fitted);
  const absl::Status stored = store_->AppendCalibration(record);
  if (!absl::IsAlreadyExists(stored)) metrics_->StoreWritten("calibrations", stored.ok(), 1);
  COBRA_RETURN_IF_ERROR(stored);

  CalibrationOutcome outcome;
  for (const store::Measurement& r : probe.records) {
    ++(r.subject.is_network ? outcome.networks : outcome.layers);
  }
  auto snapshot = std::make_shared<ModelSnapshot>(*old);
  LogUnread(FillCalibrations(snapshot.get()));
  LogInfo(
      absl::StrCat("target ", record.target, ": calibration ", ServingVersion(*snapshot, record.target), " serves"));
  Publish(std::move(snapshot), kWarmUpCalibrations);
  outcome.calibration = *std::move(fitted);
  return outcome;
}

absl::Status LiveModel::UndoCalibration(absl::string_view target, int64_t version) {
  if (version == 0) return UsageError("version: is missing", "calibrations of ListTargets has the versions");
  absl::MutexLock change(&change_);
  const absl::Status withdrawn = store_->WithdrawCalibration(target, version);
  if (absl::IsNotFound(withdrawn))
    return UsageError(std::string(withdrawn.message()), "cobra-client targets lists them");
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

}  // namespace cobra::server
