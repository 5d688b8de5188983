// The model that is serving, and the calibrated targets. A request takes one snapshot and keeps it
// until it ends. A new version, or a new calibration, is a new snapshot that later requests get
// (TensorFlow Serving calls these loader and handle).
#ifndef COBRA_SERVER_TARGETS_LIVE_MODEL_H_
#define COBRA_SERVER_TARGETS_LIVE_MODEL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "model/predict/predictor.h"
#include "server/lanes/metrics.h"
#include "store/store.h"

namespace cobra::server {

struct ModelSnapshot {
  std::shared_ptr<const predict::Predictor> predictor;
  std::map<std::string, predict::Calibration> calibrations;  // by target name
  // The newest of each target name, newest first: the first one that is not withdrawn serves.
  std::map<std::string, std::vector<store::CalibrationVersion>> versions;
  std::string calibration_stamp;  // of the store, from before these were read
  int64_t generation = 0;         // unique for each snapshot of a process

  // Null if `target` is a trained one, or unknown.
  const predict::Calibration* FindCalibration(absl::string_view target) const;
  // Trained targets, then calibrated ones.
  std::vector<predict::TargetInfo> Targets() const;
  bool Knows(absl::string_view target) const;
  // Null if it does not know the target.
  const predict::TargetSpec* FindSpec(absl::string_view target) const;
  // Whether all of a network is in half precision there.
  bool HasHalfTensors(absl::string_view target) const;
  // Of a target that it knows: "libtorch-1.13.0+openblas-SkylakeX".
  std::string RuntimeOf(absl::string_view target) const;
};

// A version that was loaded.
struct LoadedVersion {
  predict::ModelInfo info;
  absl::Time time;
};

// Of a new version: who asked for it, and how.
struct VersionCause {
  std::string caller = {};
  store::DoneRequest request = {};
};

struct CalibrationOutcome {
  predict::Calibration calibration;
  int layers = 0, networks = 0;
};

class LiveModel {
 public:
  // Prepares a version for serving: reads and verifies its files. Called without locks held, by one
  // thread at a time.
  using Loader = std::function<absl::StatusOr<std::shared_ptr<const predict::Predictor>>()>;

  // Loads the first version and the store's calibrations. `store` and `metrics` are not owned.
  static absl::StatusOr<std::unique_ptr<LiveModel>> Create(Loader loader, store::Store* store, Metrics* metrics);

  // `warm` prepares each later snapshot, until the deadline, before it serves; it is called by one
  // thread at a time.
  using Warm = std::function<void(const std::shared_ptr<const ModelSnapshot>& snapshot, absl::Time deadline)>;
  void SetWarm(Warm warm);

  std::shared_ptr<const ModelSnapshot> Get() const;
  // Of the snapshot that Get() returns; without a lock.
  int64_t generation() const { return generation_.load(std::memory_order_acquire); }

  // Loads the version in the background, tries it on a small network, fits the stored calibrations
  // to it, then swaps. On error the old version continues to serve. If neither the version nor a
  // calibration has changed, the snapshot stays, and with it the caches.
  absl::Status Reload();
  static constexpr size_t kMaxListedLoads = 16;
  // The latest, newest first; each version once, with the time at which it was loaded last.
  std::vector<LoadedVersion> Loaded() const;

  // Fits a calibration from the output of `cobra-worker probe --json`, stores it, and serves it as
  // `target`. A Diagnostic says why a probe is refused: it is implausible, or its machine is more
  // than twice as fast or as slow as the version that serves now. Earlier versions are kept.
  // `cancelled` is asked during the fit; if it returns true, nothing is stored. AlreadyExists: the
  // request was done before (FindDone); the same holds for Adapt and Observe.
  absl::StatusOr<CalibrationOutcome> Calibrate(absl::string_view target, absl::string_view probe_json,
                                               const VersionCause& cause = {},
                                               const std::function<bool()>& cancelled = {});
  // The same for a device that was described, with networks that were timed on it
  // (model/predict/adapt/adapter.h), or with an exported probe. `follows`: the version whose
  // timings these are; Aborted if another one serves. 0: none.
  absl::StatusOr<CalibrationOutcome> Adapt(absl::string_view target, const predict::ProbeResult& measured,
                                           const VersionCause& cause = {}, const std::function<bool()>& cancelled = {},
                                           int64_t follows = 0);
  // Adds timings to a target that was calibrated or adapted to: a new version of it. Aborted: it
  // has other timings than the version that these were checked with.
  absl::StatusOr<CalibrationOutcome> Observe(absl::string_view target, int64_t checked_with,
                                             std::vector<store::Measurement> timed, const VersionCause& cause = {},
                                             const std::function<bool()>& cancelled = {});
  // The request of that id that made a version of the target, whichever server of the store has
  // done it; this one serves its version then. An empty id: there was none.
  absl::StatusOr<store::DoneRequest> FindDone(absl::string_view target, absl::string_view id);
  struct Measured {
    predict::ProbeResult probe;
    int64_t version = 0;
  };
  // What the version of such a target that serves was fitted to, timings included. NotFound if
  // there is none.
  absl::StatusOr<Measured> MeasuredOf(absl::string_view target) const;
  // Withdraws a version and serves the newest one that is left. NotFound if there is no such
  // version.
  absl::Status UndoCalibration(absl::string_view target, int64_t version);
  // Serves what other servers of the same store have calibrated and withdrawn. If that is nothing,
  // the snapshot stays, and with it the caches.
  absl::Status RefreshCalibrations();

 private:
  LiveModel(Loader loader, store::Store* store, Metrics* metrics);
  void NoteLoaded(const predict::ModelInfo& info);
  // On error the snapshot stays as it was.
  absl::Status FillCalibrations(ModelSnapshot* snapshot) const;
  // Instead of the one for another model.
  void KeepFit(const predict::Calibration& fit, store::CalibrationRecord record) const;
  absl::Status CheckNewProbe(const ModelSnapshot& model, absl::string_view target, const predict::ProbeResult& probe,
                             const std::function<bool()>& cancelled) const;
  // Without its fit.
  absl::StatusOr<store::CalibrationRecord> RecordOf(absl::string_view target) const;
  // Fits, stores and serves. `record` has what it is stored with beside the fit.
  absl::StatusOr<CalibrationOutcome> AddVersion(const predict::ProbeResult& probe,
                                                absl::StatusOr<predict::Calibration> fitted,
                                                store::CalibrationRecord record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_);
  void Publish(std::shared_ptr<ModelSnapshot> snapshot, absl::Duration warm_up_time)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_);

  const Loader loader_;
  store::Store* const store_;
  Metrics* const metrics_;
  // Held while a new snapshot is made; readers never wait for it.
  absl::Mutex change_ ABSL_ACQUIRED_BEFORE(mutex_);
  mutable absl::Mutex mutex_;
  std::shared_ptr<const ModelSnapshot> snapshot_ ABSL_GUARDED_BY(mutex_);
  std::vector<LoadedVersion> loaded_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int64_t> generation_{0};
  Warm warm_ ABSL_GUARDED_BY(change_);
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_TARGETS_LIVE_MODEL_H_
