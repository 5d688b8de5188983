#include "server/targets/live_model.h"

#include <memory>
#include <string>

#include "absl/strings/str_replace.h"
#include "base/diagnostic.h"
#include "base/names.h"
#include "graph/builder/builder.h"
#include "gtest/gtest.h"
#include "tests/server/fake_predictor.h"
#include "tests/server/fake_store.h"

namespace cobra::server {
namespace {

class LiveModelTest : public testing::Test {
 protected:
  // What the next load gives.
  absl::StatusOr<std::shared_ptr<const predict::Predictor>> next_ = std::make_shared<const FakePredictor>("v1");
  FakeStore store_;
  Metrics metrics_;

  std::unique_ptr<LiveModel> Create() {
    auto live = LiveModel::Create([this] { return next_; }, &store_, &metrics_);
    EXPECT_TRUE(live.ok()) << live.status();
    return *std::move(live);
  }
};

TEST_F(LiveModelTest, ReloadSwapsAndRequestsKeepTheirVersion) {
  std::unique_ptr<LiveModel> live = Create();
  std::shared_ptr<const ModelSnapshot> held = live->Get();
  next_ = std::make_shared<const FakePredictor>("v2");
  ASSERT_TRUE(live->Reload().ok());
  EXPECT_EQ(held->predictor->info().version, "v1");
  EXPECT_EQ(live->Get()->predictor->info().version, "v2");
  EXPECT_NE(live->Get()->generation, held->generation);
}

TEST_F(LiveModelTest, ReloadOfTheVersionThatServesKeepsTheCaches) {
  std::unique_ptr<LiveModel> live = Create();
  const std::shared_ptr<const ModelSnapshot> first = live->Get();
  next_ = std::make_shared<const FakePredictor>("v1");
  ASSERT_TRUE(live->Reload().ok());
  EXPECT_EQ(live->Get()->generation, first->generation);
  next_ = std::make_shared<const FakePredictor>("v2");
  ASSERT_TRUE(live->Reload().ok());
  next_ = std::make_shared<const FakePredictor>("v1");
  ASSERT_TRUE(live->Reload().ok());
  ASSERT_EQ(live->Loaded().size(), 2u);  // each version once, the latest first
  EXPECT_EQ(live->Loaded()[0].info.version, "v1");
  EXPECT_EQ(live->Loaded()[1].info.version, "v2");
}

TEST_F(LiveModelTest, BadVersionLeavesTheOldOneServing) {
  std::unique_ptr<LiveModel> live = Create();
  next_ = absl::DataLossError("weights.safetensors: SHA-256 differs");
  EXPECT_TRUE(absl::IsDataLoss(live->Reload()));
  EXPECT_EQ(live->Get()->predictor->info().version, "v1");
  next_ = std::make_shared<const FakePredictor>("nonsense", /*us_per_call=*/-1);  // loads, but answers nonsense
  EXPECT_FALSE(live->Reload().ok());
  EXPECT_EQ(live->Get()->predictor->info().version, "v1");
}

TEST_F(LiveModelTest, FirstVersionMustLoad) {
  next_ = absl::NotFoundError("model: no manifest.json");
  EXPECT_FALSE(LiveModel::Create([this] { return next_; }, &store_, &metrics_).ok());
}

TEST_F(LiveModelTest, CalibrationIsServedStoredAndReloaded) {
  {
    std::unique_ptr<LiveModel> live = Create();
    EXPECT_FALSE(live->Get()->Knows(kThisMachine));
    absl::StatusOr<CalibrationOutcome> outcome = live->Calibrate(kThisMachine, SmallProbeJson());
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_EQ(outcome->layers, 1);
    EXPECT_TRUE(live->Get()->Knows(kThisMachine));
  }
  EXPECT_TRUE(store_.measurements.empty());  // the version has its probe; nobody reads it elsewhere
  std::unique_ptr<LiveModel> restarted = Create();
  ASSERT_NE(restarted->Get()->FindCalibration(kThisMachine), nullptr);
  EXPECT_EQ(restarted->Get()->FindCalibration(kThisMachine)->machine.device, "Test CPU");
  const predict::TargetInfo target = restarted->Get()->Targets().back();
  EXPECT_TRUE(target.calibrated);
  EXPECT_EQ(target.base_target, "cpu");
  EXPECT_EQ(target.errors.network_mape, 0.07);
}

TEST_F(LiveModelTest, AnotherVersionIsFittedAnewFromTheProbe) {
  std::unique_ptr<LiveModel> live = Create();
  ASSERT_TRUE(live->Calibrate(kThisMachine, SmallProbeJson()).ok());
  auto v2 = std::make_shared<const FakePredictor>("v2");
  next_ = v2;
  ASSERT_TRUE(live->Reload().ok());
  EXPECT_EQ(v2->fits, 1);
  EXPECT_EQ(live->Get()->FindCalibration(kThisMachine)->model_sha256, "sha of v2");
  // The next server with this version finds it.
  std::unique_ptr<LiveModel> restarted = Create();
  EXPECT_EQ(v2->fits, 1);
  EXPECT_EQ(restarted->Get()->FindCalibration(kThisMachine)->model_sha256, "sha of v2");
}

TEST_F(LiveModelTest, ADatabaseThatRefusesToKeepAFitDoesNotPreventIt) {
  std::unique_ptr<LiveModel> live = Create();
  ASSERT_TRUE(live->Calibrate(kThisMachine, SmallProbeJson()).ok());
  auto v2 = std::make_shared<const FakePredictor>("v2");
  next_ = v2;
  store_.fail_writes = true;
  ASSERT_TRUE(live->Reload().ok());
  EXPECT_EQ(live->Get()->FindCalibration(kThisMachine)->model_sha256, "sha of v2");
  EXPECT_NE(store_.calibrations[0].model_sha256, "sha of v2");
}

TEST_F(LiveModelTest, BadProbesAndTrainedNamesAreUsageErrors) {
  std::unique_ptr<LiveModel> live = Create();
  for (absl::Status status :
       {live->Calibrate(kThisMachine, "no json").status(), live->Calibrate("cpu", SmallProbeJson()).status(),
        live->Calibrate(kThisMachine, absl::StrReplaceAll(SmallProbeJson(), {{"\"cpu\"", "\"banana\""}})).status()}) {
    ASSERT_TRUE(DiagnosticFromStatus(status).has_value()) << status;
    EXPECT_EQ(DiagnosticFromStatus(status)->kind, Diagnostic::Kind::kUsage);
  }
  EXPECT_TRUE(store_.calibrations.empty());
}

TEST_F(LiveModelTest, AnotherMachineDoesNotReplaceATarget) {
  std::unique_ptr<LiveModel> live = Create();
  ASSERT_TRUE(live->Calibrate(kThisMachine, SmallProbeJson(20)).ok());
  for (const double relu_us : {5.0, 1e9}) {
    const absl::Status status = live->Calibrate(kThisMachine, SmallProbeJson(relu_us)).status();
    ASSERT_TRUE(DiagnosticFromStatus(status).has_value()) << status;
    EXPECT_NE(DiagnosticFromStatus(status)->hint.find("--undo"), std::string::npos);
  }
  EXPECT_EQ(store_.calibrations.size(), 1u);
  EXPECT_TRUE(live->Calibrate(kThisMachine, SmallProbeJson(30)).ok());
  EXPECT_TRUE(live->Calibrate("another-name", SmallProbeJson(1000)).ok());
}

TEST_F(LiveModelTest, VersionsAreKeptAndCanBeWithdrawn) {
  std::unique_ptr<LiveModel> live = Create();
  const auto device = [&] { return live->Get()->FindCalibration(kThisMachine)->machine.device; };
  ASSERT_TRUE(live->Calibrate(kThisMachine, SmallProbeJson(20), {"first"}).ok());
  const std::string other = absl::StrReplaceAll(SmallProbeJson(21), {{"Test CPU", "Other CPU"}});
  ASSERT_TRUE(live->Calibrate(kThisMachine, other, {"second"}).ok());
  EXPECT_EQ(device(), "Other CPU");
  ASSERT_EQ(live->Get()->versions.at(kThisMachine).size(), 2u);
  EXPECT_EQ(live->Get()->versions.at(kThisMachine)[0].caller, "second");
  for (int again = 0; again < 2; ++again) ASSERT_TRUE(live->UndoCalibration(kThisMachine, 2).ok());
  EXPECT_EQ(device(), "Test CPU");
  EXPECT_TRUE(live->Get()->versions.at(kThisMachine)[0].withdrawn);
  EXPECT_TRUE(DiagnosticFromStatus(live->UndoCalibration(kThisMachine, 99)).has_value());
  ASSERT_TRUE(live->UndoCalibration(kThisMachine, 1).ok());
  EXPECT_FALSE(live->Get()->Knows(kThisMachine));
}

TEST_F(LiveModelTest, WhatIsNotStoredIsNotServed) {
  std::unique_ptr<LiveModel> live = Create();
  store_.fail_writes = true;
  EXPECT_TRUE(absl::IsUnavailable(live->Calibrate(kThisMachine, SmallProbeJson()).status()));
  EXPECT_FALSE(live->Get()->Knows(kThisMachine));
}

TEST_F(LiveModelTest, CalibrationsOfAnotherServerAreServed) {
  std::unique_ptr<LiveModel> live = Create(), other = Create();
  ASSERT_TRUE(other->Calibrate(kThisMachine, SmallProbeJson(), {"somebody"}).ok());
  EXPECT_FALSE(live->Get()->Knows(kThisMachine));
  ASSERT_TRUE(live->RefreshCalibrations().ok());
  ASSERT_TRUE(live->Get()->Knows(kThisMachine));
  EXPECT_EQ(live->Get()->versions.at(kThisMachine)[0].caller, "somebody");
  ASSERT_TRUE(other->UndoCalibration(kThisMachine, 1).ok());
  ASSERT_TRUE(live->RefreshCalibrations().ok());
  EXPECT_FALSE(live->Get()->Knows(kThisMachine));
  EXPECT_TRUE(live->Get()->versions.at(kThisMachine)[0].withdrawn);
}

TEST_F(LiveModelTest, NothingNewLeavesTheSnapshot) {
  std::unique_ptr<LiveModel> live = Create();
  ASSERT_TRUE(live->Calibrate(kThisMachine, SmallProbeJson()).ok());
  const std::shared_ptr<const ModelSnapshot> before = live->Get();
  ASSERT_TRUE(live->RefreshCalibrations().ok());  // what it hears of its own calibration
  EXPECT_EQ(live->Get(), before);
  store_.fail_reads = true;
  EXPECT_TRUE(absl::IsUnavailable(live->RefreshCalibrations()));
  EXPECT_EQ(live->Get(), before);
}

TEST_F(LiveModelTest, OnlyWhatIsNewIsFittedAgain) {
  std::unique_ptr<LiveModel> other = Create();
  auto v2 = std::make_shared<const FakePredictor>("v2");
  next_ = v2;
  std::unique_ptr<LiveModel> live = Create();
  ASSERT_TRUE(other->Calibrate("first", SmallProbeJson()).ok());
  ASSERT_TRUE(live->RefreshCalibrations().ok());
  ASSERT_TRUE(other->Calibrate("second", SmallProbeJson()).ok());
  ASSERT_TRUE(live->RefreshCalibrations().ok());
  EXPECT_EQ(v2->fits, 2);
  EXPECT_EQ(live->Get()->calibrations.size(), 2u);
}

// One relu that was timed.
std::vector<store::Measurement> TimedRelu(double us) {
  std::vector<store::Measurement> records = predict::ProbeResultFromJson(SmallProbeJson(us))->records;
  records[0].subject.is_network = true;
  records[0].latency.runs = 1;
  return records;
}

absl::StatusOr<CalibrationOutcome> ObserveRelu(LiveModel* live, const std::string& target, double us) {
  const absl::StatusOr<LiveModel::Measured> measured = live->MeasuredOf(target);
  if (!measured.ok()) return measured.status();
  return live->Observe(target, measured->version, TimedRelu(us));
}

predict::ProbeResult Phone(std::vector<store::Measurement> records = {}) {
  predict::ProbeResult phone;
  phone.machine.kind = "cpu";
  phone.machine.device = "Phone";
  phone.records = std::move(records);
  return phone;
}

TEST_F(LiveModelTest, AnAdaptedTargetIsStoredAndFittedToItsTimingsAgain) {
  {
    std::unique_ptr<LiveModel> live = Create();
    ASSERT_TRUE(live->Adapt("phone", Phone(), {"somebody"}).ok());
    EXPECT_EQ(live->Get()->FindCalibration("phone")->samples, 0);
    ASSERT_TRUE(ObserveRelu(live.get(), "phone", 20).ok());
    ASSERT_TRUE(ObserveRelu(live.get(), "phone", 30).ok());
    EXPECT_EQ(live->Get()->FindCalibration("phone")->samples, 1);
    EXPECT_EQ(live->Get()->versions.at("phone").size(), 3u);
    const auto measured = live->MeasuredOf("phone");
    ASSERT_TRUE(measured.ok()) << measured.status();
    ASSERT_EQ(measured->probe.records.size(), 1u);
    EXPECT_EQ(measured->probe.records[0].latency.median_us, 25);  // of both
    EXPECT_EQ(measured->probe.machine.device, "Phone");
  }
  EXPECT_EQ(store_.calibrations[1].based_on, 1);
  EXPECT_EQ(store_.calibrations[2].based_on, 1);
  EXPECT_TRUE(store_.measurements.empty());
  auto v2 = std::make_shared<const FakePredictor>("v2");
  next_ = v2;
  std::unique_ptr<LiveModel> live = Create();
  ASSERT_NE(live->Get()->FindCalibration("phone"), nullptr);
  EXPECT_EQ(live->Get()->FindCalibration("phone")->samples, 1);
  EXPECT_EQ(live->Get()->FindCalibration("phone")->model_sha256, "sha of v2");
  EXPECT_EQ(v2->fits, 1);
  ASSERT_TRUE(live->UndoCalibration("phone", 3).ok());
  EXPECT_EQ(live->MeasuredOf("phone")->probe.records[0].latency.median_us, 20);
}

TEST_F(LiveModelTest, TimingsAreAddedToWhatTheyWereCheckedWith) {
  std::unique_ptr<LiveModel> live = Create();
  ASSERT_TRUE(live->Adapt("phone", Phone()).ok());
  const int64_t checked_with = live->MeasuredOf("phone")->version;
  ASSERT_TRUE(live->Observe("phone", checked_with, TimedRelu(20)).ok());
  EXPECT_TRUE(absl::IsAborted(live->Observe("phone", checked_with, TimedRelu(90)).status()));
  EXPECT_TRUE(absl::IsAborted(live->Adapt("phone", Phone(), {}, {}, checked_with).status()));  // would lose it
  EXPECT_EQ(live->MeasuredOf("phone")->probe.records[0].latency.median_us, 20);
}

TEST_F(LiveModelTest, ARequestIsDoneOnce) {
  std::unique_ptr<LiveModel> live = Create(), other = Create();
  EXPECT_EQ(live->FindDone("phone", "7")->id, "");
  ASSERT_TRUE(live->Adapt("phone", Phone(), {"somebody", {"7", "digest", "answer"}}).ok());
  for (LiveModel* const server : {live.get(), other.get()}) {
    EXPECT_TRUE(absl::IsAlreadyExists(server->Adapt("phone", Phone(), {"somebody", {"7", "digest", "a"}}).status()));
    const auto done = server->FindDone("phone", "7");
    ASSERT_TRUE(done.ok()) << done.status();
    EXPECT_EQ(done->digest, "digest");
    EXPECT_EQ(done->answer, "answer");
    EXPECT_TRUE(server->Get()->Knows("phone"));  // also where it was not done
    EXPECT_EQ(server->Get()->versions.at("phone").size(), 1u);
  }
  EXPECT_TRUE(live->Adapt("tablet", Phone(), {"somebody", {"7", "digest", ""}}).ok());
  EXPECT_TRUE(live->Adapt("phone", Phone(), {"somebody", {"8", "digest", ""}}).ok());
}

// As text, each has 800,000 values; a text has at most 2,000,000.
std::vector<store::Measurement> TimedViews(int count) {
  std::vector<store::Measurement> records;
  for (int i = 0; i < count; ++i) {
    graph::GraphBuilder builder;
    const graph::ValueRef x = builder.AddInput("x", {{60'000, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 + i}});
    EXPECT_TRUE(builder.Add(graph::Op::unbind, {{"dim", int64_t{0}}}, {x}).ok());
    store::Measurement& record = records.emplace_back();
    record.subject.graph = std::move(builder).Build({graph::ValueRef::Node(0)});
    record.subject.is_network = true;
    record.subject.label = std::to_string(i);
    record.subject.fingerprint = std::to_string(i);
    record.latency.median_us = 20;
  }
  return records;
}

// It would serve until the next model version, and then nothing could be made of it.
TEST_F(LiveModelTest, WhatCouldNotBeReadAgainIsNotStored) {
  std::unique_ptr<LiveModel> live = Create();
  const absl::Status refused = live->Adapt("phone", Phone(TimedViews(3))).status();
  ASSERT_TRUE(DiagnosticFromStatus(refused).has_value()) << refused;
  EXPECT_EQ(DiagnosticFromStatus(refused)->kind, Diagnostic::Kind::kLimit);
  EXPECT_FALSE(live->Get()->Knows("phone"));
  const auto adapted = live->Adapt("phone", Phone(TimedViews(2)));
  ASSERT_TRUE(adapted.ok()) << adapted.status();
  EXPECT_EQ(live->MeasuredOf("phone")->probe.records.size(), 2u);
}

TEST_F(LiveModelTest, OnlyTargetsThatWereMadeCanBeObserved) {
  std::unique_ptr<LiveModel> live = Create();
  for (const char* name : {"cpu", "nobody"}) {
    EXPECT_TRUE(absl::IsNotFound(ObserveRelu(live.get(), name, 20).status()));
    EXPECT_TRUE(absl::IsNotFound(live->Observe(name, 1, TimedRelu(20)).status()));
  }
  EXPECT_TRUE(DiagnosticFromStatus(live->Adapt("cpu", Phone()).status()).has_value());
  ASSERT_TRUE(live->Calibrate(kThisMachine, SmallProbeJson()).ok());
  ASSERT_TRUE(ObserveRelu(live.get(), kThisMachine, 20).ok());  // a calibrated one, too
  EXPECT_TRUE(live->Adapt(kThisMachine, Phone()).ok());
}

TEST_F(LiveModelTest, WhatCouldNotBeReadIsReadLater) {
  std::unique_ptr<LiveModel> live = Create();
  ASSERT_TRUE(live->Calibrate(kThisMachine, SmallProbeJson()).ok());
  store_.fail_reads = true;
  ASSERT_TRUE(live->Reload().ok());
  store_.fail_reads = false;
  ASSERT_TRUE(live->RefreshCalibrations().ok());
  EXPECT_TRUE(live->Get()->Knows(kThisMachine));
}

}  // namespace
}  // namespace cobra::server
