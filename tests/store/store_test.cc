#include "store/store.h"

#include <sqlite3.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"
#include "tests/store/a_graph.h"
#include "tests/store/databases.h"

namespace cobra::store {
namespace {

CalibrationRecord Calibration(const std::string& target, const std::string& json) {
  return {absl::FromUnixSeconds(1000), target, "sha", json, "probe of " + json};
}

// Of a task, or without `task_id` of a probe.
StoredMeasurement AMeasurement(const std::string& task_id = "") {
  StoredMeasurement stored;
  stored.time = absl::FromUnixSeconds(1000);
  stored.target = "cpu";
  stored.origin = task_id.empty() ? "probe" : "asked";
  stored.task_id = task_id;
  SetGraph(AGraph(), &stored.measurement.subject);
  stored.measurement.latency.median_us = 3.5;
  return stored;
}

class StoreTest : public DatabaseTest {};
COBRA_ON_EVERY_DATABASE(StoreTest);

TEST_P(StoreTest, CalibrationsSurviveReopening) {
  {
    auto store = OpenStore(location_);
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE((*store)->AppendCalibration(Calibration("this-machine", "old")).ok());
    ASSERT_TRUE((*store)->AppendCalibration(Calibration("other", "only")).ok());
    ASSERT_TRUE((*store)->AppendCalibration(Calibration("this-machine", "new")).ok());
  }
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  auto latest = (*store)->LatestCalibrations();
  ASSERT_TRUE(latest.ok());
  ASSERT_EQ(latest->size(), 2u);
  EXPECT_EQ((*latest)[0].target, "other");
  EXPECT_EQ((*latest)[1].calibration_json, "new");
  EXPECT_EQ(*(*store)->ProbeOf((*latest)[1]), "probe of new");
  EXPECT_EQ((*latest)[1].time, absl::FromUnixSeconds(1000));
  EXPECT_EQ((*store)->Counts()->calibrations, 3);  // appended, never overwritten
}

TEST_P(StoreTest, AFitIsReplacedAndNothingElse) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE((*store)->AppendCalibration(Calibration("this-machine", "old")).ok());
  ASSERT_TRUE((*store)->AppendCalibration(Calibration("other", "only")).ok());
  const std::string stamp = *(*store)->CalibrationStamp();
  CalibrationRecord record = (*(*store)->LatestCalibrations())[1];
  record.model_sha256 = "another model";
  record.calibration_json = "for it";
  record.probe_json = "is not stored";
  ASSERT_TRUE((*store)->ReplaceFit(record).ok());
  const auto latest = (*store)->LatestCalibrations();
  ASSERT_TRUE(latest.ok());
  EXPECT_EQ((*latest)[0].calibration_json, "only");
  EXPECT_EQ((*latest)[1].target, "this-machine");
  EXPECT_EQ((*latest)[1].model_sha256, "another model");
  EXPECT_EQ((*latest)[1].calibration_json, "for it");
  EXPECT_EQ(*(*store)->ProbeOf((*latest)[1]), "probe of old");
  EXPECT_EQ((*(*store)->CalibrationStamp()), stamp);
}

TEST_P(StoreTest, LabelledPredictionsAreFoundByEveryLabel) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  const auto prediction = [](int second, const std::string& target, const std::string& labels) {
    PredictionRecord record;
    record.time = absl::FromUnixSeconds(second);
    record.target = target;
    record.latency_us = second;
    record.labels_json = labels;
    return record;
  };
  ASSERT_TRUE(
      (*store)
          ->AppendPredictions({prediction(1, "cpu", R"({"commit":"a%_1","branch":"main"})"),
                               prediction(2, "gpu", R"({"branch":"main","commit":"A%_1"})"), prediction(3, "cpu", ""),
                               prediction(4, "cpu", R"({"note":"\"branch\":\"main\""})"),
                               prediction(5, "cpu", R"({"commit":"axy1","branch":"main"})")})
          .ok());
  const auto seconds = [&](const PredictionFilter& filter) {
    std::vector<double> found;
    for (const PredictionRecord& record : (*store)->LabelledPredictions(filter).value())
      found.push_back(record.latency_us);
    return found;
  };
  EXPECT_THAT(seconds({}), testing::ElementsAre(5, 4, 2, 1));
  PredictionFilter on_main;
  on_main.labels = {{"branch", "main"}};
  EXPECT_THAT(seconds(on_main), testing::ElementsAre(5, 2, 1));
  PredictionFilter commit = on_main;
  commit.labels.emplace_back("commit", "a%_1");  // no pattern, and not the capital one
  EXPECT_THAT(seconds(commit), testing::ElementsAre(1));
  on_main.targets = {"gpu", "tpu"};
  EXPECT_THAT(seconds(on_main), testing::ElementsAre(2));
  PredictionFilter late;
  late.since = absl::FromUnixSeconds(4);
  late.limit = 1;
  EXPECT_THAT(seconds(late), testing::ElementsAre(5));
}

TEST_P(StoreTest, OfThoseThatFollowAVersionOneIsStored) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE((*store)->AppendCalibration(Calibration("phone", "first")).ok());
  ASSERT_TRUE((*store)->AppendCalibration(Calibration("other", "only")).ok());  // its own target's alone counts
  constexpr int kServers = 4;
  for (int round = 0; round < 5; ++round) {
    CalibrationRecord next = Calibration("phone", "next");
    next.follows = (*(*store)->LatestCalibrations())[1].version;
    std::atomic<int> stored{0}, aborted{0};
    std::vector<std::thread> servers;
    for (int i = 0; i < kServers; ++i) {
      servers.emplace_back([&] {
        auto own = OpenStore(location_);
        ASSERT_TRUE(own.ok()) << own.status();
        const absl::Status status = (*own)->AppendCalibration(next);
        ++(status.ok() ? stored : aborted);
        EXPECT_TRUE(status.ok() || absl::IsAborted(status)) << status;
      });
    }
    for (std::thread& server : servers) server.join();
    EXPECT_EQ(stored, 1);
    EXPECT_EQ(aborted, kServers - 1);
  }
  const auto latest = (*store)->LatestCalibrations();
  CalibrationRecord older = Calibration("phone", "older");
  older.follows = (*(*store)->CalibrationVersions(9))[1].version;
  EXPECT_TRUE(absl::IsAborted((*store)->AppendCalibration(older)));
  // One that was withdrawn is followed by none: what is newest is the one before.
  ASSERT_TRUE((*store)->WithdrawCalibration("phone", (*latest)[1].version).ok());
  EXPECT_TRUE((*store)->AppendCalibration(older).ok());
}

TEST_P(StoreTest, TheVersionThatServesIsListedBehindManyWithdrawnOnes) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  for (int i = 0; i < 8; ++i) ASSERT_TRUE((*store)->AppendCalibration(Calibration("phone", "fit")).ok());
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE((*store)->WithdrawCalibration("phone", (*(*store)->LatestCalibrations())[0].version).ok());
  const auto versions = (*store)->CalibrationVersions(2);
  ASSERT_EQ(versions->size(), 3u);
  EXPECT_TRUE((*versions)[1].withdrawn);
  EXPECT_FALSE((*versions)[2].withdrawn);
  EXPECT_EQ((*versions)[2].version, (*(*store)->LatestCalibrations())[0].version);
}

TEST_P(StoreTest, AWithdrawnCalibrationLeavesTheOneBefore) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  CalibrationRecord first = Calibration("this-machine", "first");
  first.caller = "somebody";
  ASSERT_TRUE((*store)->AppendCalibration(first).ok());
  ASSERT_TRUE((*store)->AppendCalibration(Calibration("this-machine", "second")).ok());
  ASSERT_TRUE((*store)->AppendCalibration(Calibration("other", "only")).ok());
  const auto serving = [&] { return (*(*store)->LatestCalibrations())[1]; };
  EXPECT_TRUE(absl::IsNotFound((*store)->WithdrawCalibration("other", serving().version)));
  for (int again = 0; again < 2; ++again)
    ASSERT_TRUE((*store)->WithdrawCalibration("this-machine", (*(*store)->CalibrationVersions(9))[1].version).ok());
  EXPECT_EQ(serving().calibration_json, "first");
  EXPECT_EQ(serving().caller, "somebody");
  const auto versions = (*store)->CalibrationVersions(9);
  ASSERT_TRUE(versions.ok()) << versions.status();
  ASSERT_EQ(versions->size(), 3u);  // newest first
  EXPECT_EQ((*versions)[0].target, "other");
  EXPECT_TRUE((*versions)[1].withdrawn);
  EXPECT_FALSE((*versions)[2].withdrawn);
  EXPECT_EQ((*versions)[2].caller, "somebody");
  EXPECT_EQ((*store)->CalibrationVersions(1)->size(), 3u);  // one of each target, and one that serves
  ASSERT_TRUE((*store)->WithdrawCalibration("this-machine", serving().version).ok());
  EXPECT_EQ((*store)->LatestCalibrations()->size(), 1u);
  EXPECT_EQ((*store)->Counts()->calibrations, 3);  // kept
}

TEST_P(StoreTest, ARequestOfATargetIsStoredOnceWithItsVersion) {
  auto store = OpenStore(location_), other = OpenStore(location_);
  ASSERT_TRUE(store.ok() && other.ok()) << store.status() << other.status();
  EXPECT_EQ((*store)->FindRequest("phone", "7")->id, "");
  CalibrationRecord record = Calibration("phone", "first");
  record.request = {"7", "digest", "answer"};
  ASSERT_TRUE((*store)->AppendCalibration(record).ok());
  record.request = {"7", "of another one", ""};
  EXPECT_TRUE(absl::IsAlreadyExists((*other)->AppendCalibration(record)));
  record.follows = 99;  // what it was to follow does not count any more
  EXPECT_TRUE(absl::IsAlreadyExists((*other)->AppendCalibration(record)));
  record.request.id = "8";
  EXPECT_TRUE(absl::IsAborted((*other)->AppendCalibration(record)));
  EXPECT_EQ((*other)->FindRequest("phone", "8")->id, "");  // all or nothing
  const auto done = (*other)->FindRequest("phone", "7");
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_EQ(done->id, "7");
  EXPECT_EQ(done->digest, "digest");
  EXPECT_EQ(done->answer, "answer");
  EXPECT_EQ((*other)->FindRequest("tablet", "7")->id, "");
  EXPECT_EQ((*store)->Counts()->calibrations, 1);
}

// A client that gives up and asks again may have two attempts under way.
TEST_P(StoreTest, OfSimultaneousAttemptsOneIsStored) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  std::atomic<int> stored{0}, refused{0};
  std::vector<std::thread> attempts;
  for (int i = 0; i < 8; ++i) {
    attempts.emplace_back([&] {
      auto own = OpenStore(location_);
      ASSERT_TRUE(own.ok()) << own.status();
      CalibrationRecord record = Calibration("phone", "fit");
      record.request = {"7", "digest", ""};
      const absl::Status status = (*own)->AppendCalibration(record);
      (status.ok() ? stored : refused) += 1;
      EXPECT_TRUE(status.ok() || absl::IsAlreadyExists(status)) << status;
    });
  }
  for (std::thread& attempt : attempts) attempt.join();
  EXPECT_EQ(stored, 1);
  EXPECT_EQ(refused, 7);
  EXPECT_EQ((*store)->Counts()->calibrations, 1);
}

TEST_P(StoreTest, TimingsAreThoseOfTheVersionsThatCount) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  const auto latest = [&] { return (*(*store)->LatestCalibrations())[0]; };
  ASSERT_TRUE((*store)->AppendCalibration(Calibration("phone", "first")).ok());
  EXPECT_TRUE((*store)->TimingsOf(latest())->empty());
  const int64_t base = latest().version;
  const auto observe = [&](const char* name, std::vector<TimedNetwork> timings) {
    CalibrationRecord record = Calibration("phone", name);
    record.probe_json = "";
    record.based_on = base;
    record.timings = std::move(timings);
    return (*store)->AppendCalibration(record);
  };
  ASSERT_TRUE(observe("second", {{"row 1", AGraph(1), 1000.5, 3}, {"row 2", AGraph(2), 2000, 1}}).ok());
  ASSERT_TRUE(observe("third", {{"", AGraph(1), 1100, 1}}).ok());
  EXPECT_EQ(latest().calibration_json, "third");
  EXPECT_EQ(*(*store)->ProbeOf(latest()), "probe of first");
  EXPECT_EQ(latest().probe_json, "");  // those of all targets are not read together
  EXPECT_EQ(latest().based_on, base);
  auto timings = (*store)->TimingsOf(latest());
  ASSERT_TRUE(timings.ok()) << timings.status();
  ASSERT_EQ(timings->size(), 3u);
  EXPECT_EQ((*timings)[0].latency_us, 1000.5);
  EXPECT_EQ((*timings)[0].timings, 3);
  EXPECT_EQ((*timings)[1].graph.inputs()[0].type.shape, graph::Shape({1, 2}));
  // Stored once, and read once.
  EXPECT_EQ((*timings)[2].graph.nodes().data(), (*timings)[0].graph.nodes().data());
  // A later version was fitted to the timings of one that is withdrawn: it has to be fitted again.
  const std::string model = latest().model_sha256;
  ASSERT_FALSE(model.empty());
  ASSERT_TRUE(observe("fourth", {{"", AGraph(3), 10, 1}}).ok());
  ASSERT_TRUE((*store)->WithdrawCalibration("phone", latest().version - 1).ok());
  EXPECT_EQ(latest().calibration_json, "fourth");
  EXPECT_EQ(latest().model_sha256, "");
  EXPECT_EQ((*store)->TimingsOf(latest())->size(), 3u);
  ASSERT_TRUE((*store)->WithdrawCalibration("phone", latest().version).ok());
  EXPECT_EQ(latest().calibration_json, "second");
  EXPECT_EQ(latest().model_sha256, model);
  EXPECT_EQ((*store)->TimingsOf(latest())->size(), 2u);
  ASSERT_TRUE((*store)->AppendCalibration(Calibration("phone", "anew")).ok());
  EXPECT_EQ(*(*store)->ProbeOf(latest()), "probe of anew");
  EXPECT_TRUE((*store)->TimingsOf(latest())->empty());
}

TEST_P(StoreTest, CountsWhatWasAppended) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  const PredictionRecord prediction{absl::Now(), "00ff", "cpu", "v1", 12.5, 10, 15, 0.9, true, 3};
  ASSERT_TRUE((*store)->AppendPredictions({prediction, prediction}).ok());
  // Without a task, the same thing may be measured twice.
  ASSERT_TRUE((*store)->AppendMeasurements({AMeasurement(), AMeasurement()}).ok());
  auto counts = (*store)->Counts();
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ(counts->predictions, 2);
  EXPECT_EQ(counts->measurements, 2);
}

TEST_P(StoreTest, ATaskHasOneMeasurement) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE((*store)->AppendMeasurements({AMeasurement("aa")}).ok());
  EXPECT_TRUE(absl::IsAlreadyExists((*store)->AppendMeasurements({AMeasurement("aa")})));
  EXPECT_EQ((*store)->Counts()->measurements, 1);
}

TEST_P(StoreTest, ATransactionThatFailsLeavesNothing) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_FALSE((*store)->AppendMeasurements({AMeasurement("aa"), AMeasurement("aa")}).ok());
  EXPECT_EQ((*store)->Counts()->measurements, 0);
  EXPECT_TRUE((*store)->AppendMeasurements({AMeasurement("bb")}).ok());  // and the connection is as good as before
}

TEST_P(StoreTest, AReportedMeasurementComesBackWhole) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  StoredMeasurement before = AMeasurement("aa");
  before.session_json = R"({"kind":"session","session":"s1"})";
  before.measurement.subject.space = "real-layers";
  before.measurement.subject.is_network = true;
  SetGraph(AGraph(5), &before.measurement.subject);
  before.measurement.conditions.session = "s1";
  before.measurement.conditions.target = "what the worker calls it";
  before.measurement.latency.median_us = 12.3456;  // a column keeps every digit
  before.measurement.latency.runs = 10;
  before.measurement.peak_memory_bytes = 4096;
  StoredMeasurement failed = AMeasurement("bb");
  failed.measurement.subject = Subject();
  failed.measurement.outcome = Outcome::timeout;
  failed.measurement.message = "no result after 120 s";
  ASSERT_TRUE((*store)->AppendMeasurements({before, failed, AMeasurement()}).ok());
  const auto all = (*store)->TaskMeasurements("cpu");
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 2u);  // not the probe
  const StoredMeasurement& after = (*all)[0];
  EXPECT_EQ(after.time, before.time);
  EXPECT_EQ(after.target, "cpu");
  EXPECT_EQ(after.origin, "asked");
  EXPECT_EQ(after.task_id, "aa");
  EXPECT_EQ(after.measurement.latency.median_us, 12.3456);
  EXPECT_EQ(MeasurementToJson(after.measurement), MeasurementToJson(before.measurement));
  EXPECT_EQ((*all)[1].measurement.outcome, Outcome::timeout);
  EXPECT_EQ((*all)[1].measurement.message, failed.measurement.message);
  EXPECT_EQ((*all)[1].measurement.subject.fingerprint, "");
}

TEST_P(StoreTest, ADamagedMeasurementIsLeftOut) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE((*store)->AppendMeasurements({AMeasurement("aa"), AMeasurement("bb")}).ok());
  auto database = OpenDatabase(location_);
  ASSERT_TRUE(database.ok()) << database.status();
  const absl::Status status = (*database)->Transaction([](SqlSession& session) {
    return session.Execute("UPDATE measurements SET record_json = '{' WHERE task_id = 'aa'");
  });
  ASSERT_TRUE(status.ok()) << status;
  const auto rest = (*store)->TaskMeasurements("cpu");
  ASSERT_TRUE(rest.ok()) << rest.status();
  ASSERT_EQ(rest->size(), 1u);
  EXPECT_EQ((*rest)[0].task_id, "bb");
}

// Other programs query these columns.
TEST_P(StoreTest, TheColumnsOfAMeasurementStayWhatTheyAre) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  StoredMeasurement stored = AMeasurement("aa");
  ASSERT_TRUE((*store)->AppendMeasurements({stored, AMeasurement()}).ok());
  auto database = OpenDatabase(location_);
  ASSERT_TRUE(database.ok()) << database.status();
  std::vector<SqlRow> rows;
  const absl::Status status = (*database)->Transaction([&](SqlSession& session) -> absl::Status {
    auto read = session.Query(
        R"sql(SELECT time_us, target, origin, fingerprint, is_network, latency_us, graph_json, outcome, record_json
              FROM measurements ORDER BY id)sql");
    if (read.ok()) rows = *std::move(read);
    return read.status();
  });
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].Int(0), 1000000000);
  EXPECT_EQ(rows[0].Text(1), "cpu");
  EXPECT_EQ(rows[0].Text(2), "asked");
  EXPECT_EQ(rows[0].Text(3), stored.measurement.subject.fingerprint);
  EXPECT_EQ(rows[0].Int(4), 0);
  EXPECT_EQ(rows[0].Real(5), 3.5);
  EXPECT_EQ(rows[0].Text(6), graph::GraphToJson(AGraph(), {/*origins=*/false}));
  EXPECT_EQ(rows[0].Text(7), "ok");
  EXPECT_EQ(rows[0].Text(8), MeasurementToJson(stored.measurement, {.graph = false}));
  EXPECT_EQ(rows[1].Text(6), rows[0].Text(6));
  EXPECT_EQ(rows[1].Text(8), "");
}

absl::StatusOr<Measurement> Reported(absl::string_view record_json) {
  GraphReader graphs;
  return ReportedMeasurement(record_json, &graphs);
}

constexpr char kRelu[] =
    R"({"inputs":[{"name":"x","shape":[1,4],"dtype":"float32"}],"ops":[{"op":"relu","inputs":["in:0"]}],"output":[0]})";

TEST(ReportedMeasurementTest, TheGraphIsBuiltAnew) {
  const auto measurement = Reported(
      absl::StrCat(R"({"kind":"record","outcome":"ok","latency_us":2.5,"fingerprint":"wrong","graph":)", kRelu, "}"));
  ASSERT_TRUE(measurement.ok()) << measurement.status();
  EXPECT_EQ(measurement->subject.fingerprint.size(), 32u);
  EXPECT_EQ(measurement->subject.graph.nodes()[0].outputs[0].shape, graph::Shape({1, 4}));
}

TEST(ReportedMeasurementTest, WhatIsNoneIsInvalid) {
  const auto refused = [](const std::string& json) {
    const absl::Status status = Reported(json).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << json << ": " << status;
    return std::string(status.message());
  };
  refused("{}");
  refused("not json");
  EXPECT_THAT(refused(absl::StrCat(R"({"kind":"record","outcome":"ok","latency_us":-1,"graph":)", kRelu, "}")),
              testing::HasSubstr("latency_us -1: is not a time"));
  EXPECT_THAT(refused(R"({"kind":"record","outcome":"ok","latency_us":1})"), testing::HasSubstr("graph: "));
  EXPECT_THAT(refused(R"({"kind":"record","outcome":"crashed","graph":{}})"), testing::HasSubstr("graph: "));
  EXPECT_TRUE(Reported(R"({"kind":"record","outcome":"crashed"})").ok());
}

TEST(ReportedMeasurementTest, AbsurdValuesAreRefusedByName) {
  const auto refused = [](const std::string& fields) {
    const absl::Status status = Reported(absl::StrCat(R"({"kind":"record","outcome":"ok","latency_us":2.5,)", fields,
                                                      R"(,"graph":)", kRelu, "}"))
                                    .status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << fields << ": " << status;
    return std::string(status.message());
  };
  EXPECT_THAT(refused(absl::StrCat(R"("label":")", std::string(2'000'000, 'n'), "\"")),
              testing::HasSubstr("\"label\""));
  EXPECT_THAT(refused(R"("session":"a\nb")"), testing::HasSubstr("control character"));
  EXPECT_THAT(refused(R"("target":"\u001b[31m")"), testing::HasSubstr("control character"));
  EXPECT_THAT(refused(R"("mean_us":-1)"), testing::HasSubstr("\"mean_us\""));
  EXPECT_THAT(refused(R"("node_latency_us":[1,-2])"), testing::HasSubstr("\"node_latency_us\""));
  EXPECT_THAT(refused(R"("runs":1e300)"), testing::HasSubstr("\"runs\""));
  EXPECT_THAT(refused(R"("peak_memory_bytes":-5)"), testing::HasSubstr("\"peak_memory_bytes\""));
}

TEST(ReportedMeasurementTest, AMessageOfManyLinesBecomesOneShortLine) {
  const auto measurement =
      Reported(absl::StrCat(R"({"kind":"record","outcome":"crashed","message":"a\nb)", std::string(10000, 'x'), "\"}"));
  ASSERT_TRUE(measurement.ok()) << measurement.status();
  EXPECT_EQ(measurement->message.substr(0, 4), "a bx");
  EXPECT_EQ(measurement->message.size(), kMaxMessageBytes);
}

TEST_P(StoreTest, NewerSchemaIsRefused) {
  ASSERT_TRUE(OpenStore(location_).ok());
  auto database = OpenDatabase(location_);
  ASSERT_TRUE(database.ok());
  ASSERT_TRUE(
      (*database)
          ->Transaction([](SqlSession& s) { return s.Execute("INSERT INTO schema_version (version) VALUES (999)"); })
          .ok());
  const absl::Status status = OpenStore(location_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
}

TEST_P(StoreTest, ValuesComeBackAsTheyWere) {
  auto database = OpenDatabase(location_);
  ASSERT_TRUE(database.ok()) << database.status();
  const std::string text = "Gr\xc3\xbc\xc3\x9f'e\"; DROP TABLE x; \\";
  const absl::Status status = (*database)->Transaction([&](SqlSession& s) -> absl::Status {
    if (absl::Status made = s.Execute("CREATE TABLE x (a BIGINT, b DOUBLE PRECISION, c TEXT, d TEXT)"); !made.ok())
      return made;
    if (absl::Status put =
            s.Execute("INSERT INTO x VALUES ($1, $2, $3, $4)", {int64_t{-9007199254740993}, 0.1 + 0.2, text, {}});
        !put.ok())
      return put;
    auto rows = s.Query("SELECT a, b, c, d FROM x WHERE c = $1", {text});
    if (!rows.ok()) return rows.status();
    EXPECT_EQ(rows->size(), 1u);
    EXPECT_EQ((*rows)[0].Int(0), -9007199254740993);
    EXPECT_EQ((*rows)[0].Real(1), 0.1 + 0.2);
    EXPECT_EQ((*rows)[0].Text(2), text);
    EXPECT_TRUE(absl::holds_alternative<absl::monostate>((*rows)[0].values[3]));
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
}

TEST(SqliteStoreTest, AFileOfTheFirstVersionIsBroughtUpToDate) {
  tests::TemporaryDirectory directory;
  const std::string path = directory.File("old.sqlite");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  constexpr char kFirstVersion[] = R"sql(
    CREATE TABLE measurements (
      id INTEGER PRIMARY KEY,
      time_us INTEGER NOT NULL,
      target TEXT NOT NULL,
      origin TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      is_network INTEGER NOT NULL,
      latency_us REAL NOT NULL,
      graph_json TEXT NOT NULL);
    INSERT INTO measurements VALUES (1, 2, 'cpu', 'probe', '00ff', 0, 3.5, '{}');
    PRAGMA user_version = 1)sql";
  ASSERT_EQ(sqlite3_exec(db, kFirstVersion, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  auto store = OpenStore(path);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->Counts()->measurements, 1);
  EXPECT_TRUE((*store)->AppendMeasurements({AMeasurement()}).ok());
}

// Version 2 is what servers wrote before measurements had a provenance. Only the columns that a
// migration reads matter.
TEST_P(StoreTest, AnEarlierSchemaIsBroughtUpToDate) {
  {
    auto store = OpenStore(location_);
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE((*store)->AppendMeasurements({AMeasurement("aa"), AMeasurement()}).ok());
    ASSERT_TRUE((*store)->AppendCalibration(Calibration("this-machine", "old")).ok());
  }
  auto database = OpenDatabase(location_);
  ASSERT_TRUE(database.ok()) << database.status();
  const absl::Status downgraded = (*database)->Transaction([](SqlSession& session) -> absl::Status {
    for (const char* sql :
         {"ALTER TABLE measurements DROP COLUMN worker",
          "ALTER TABLE measurements DROP COLUMN caller",
          "ALTER TABLE measurements DROP COLUMN model_sha256",
          "ALTER TABLE measurements DROP COLUMN predicted_us",
          "ALTER TABLE measurements DROP COLUMN doubt",
          "ALTER TABLE measurements DROP COLUMN held",
          "DROP INDEX tasks_by_confirmed",
          "ALTER TABLE tasks DROP COLUMN confirms",
          "ALTER TABLE tasks DROP COLUMN avoid_worker",
          "DROP TABLE task_requests",
          "ALTER TABLE calibrations DROP COLUMN caller",
          "ALTER TABLE calibrations DROP COLUMN withdrawn",
          "DROP INDEX predictions_labelled",
          "ALTER TABLE predictions DROP COLUMN labels_json",
          "DROP INDEX tasks_by_state",
          "DROP INDEX tasks_by_loss",
          "ALTER TABLE tasks DROP COLUMN bytes",
          "ALTER TABLE tasks DROP COLUMN lost_by",
          "ALTER TABLE tasks DROP COLUMN lost_us",
          "ALTER TABLE tasks DROP COLUMN lost_by_several",
          "ALTER TABLE calibrations DROP COLUMN based_on",
          "DROP TABLE timings",
          "DROP TABLE timed_networks",
          "DROP TABLE done_requests",
          "UPDATE schema_version SET version = 2",
          R"sql(INSERT INTO tasks (id, target, priority, origin, subject_json, max_attempts, state, enqueued_us,
                                   changed_us, worker)
                VALUES ('aa', 'cpu', 0, 'asked', '{}', 3, 'done', 0, 0, 'old-worker'))sql"}) {
      if (absl::Status status = session.Execute(sql); !status.ok()) return status;
    }
    return absl::OkStatus();
  });
  ASSERT_TRUE(downgraded.ok()) << downgraded;
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  const auto rows = (*store)->TaskMeasurements("cpu");
  ASSERT_TRUE(rows.ok() && rows->size() == 1) << rows.status();
  EXPECT_EQ((*rows)[0].provenance.worker, "old-worker");
  EXPECT_EQ((*rows)[0].held, "");
  ASSERT_EQ((*store)->LatestCalibrations()->size(), 1u);
  EXPECT_TRUE((*store)->AppendMeasurements({AMeasurement("bb")}).ok());
}

TEST(SqliteStoreTest, ErrorsNameTheFile) {
  absl::Status status = OpenStore("/no/such/folder/store.sqlite").status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("/no/such/folder/store.sqlite"));
  tests::TemporaryDirectory directory;
  ASSERT_TRUE(WriteFileAtomic(directory.File("text"), std::string(5000, 'x')).ok());
  EXPECT_FALSE(OpenStore(directory.File("text")).ok());
}

TEST(PostgresStoreTest, ErrorsNameTheHostAndNotThePassword) {
  const absl::Status status = OpenStore("postgresql://me:secret@/db?host=/no/such/folder").status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("/no/such/folder"));
  EXPECT_THAT(std::string(status.message()), testing::Not(testing::HasSubstr("secret")));
}

}  // namespace
}  // namespace cobra::store
