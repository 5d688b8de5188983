#include "store/store.h"

#include <sqlite3.h>

#include <string>

#include "absl/time/clock.h"
#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/store/databases.h"

namespace cobra::store {
namespace {

CalibrationRecord Calibration(const std::string& target, const std::string& json) {
  return {absl::FromUnixSeconds(1000), target, "sha", json, "probe of " + json};
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
  EXPECT_EQ((*latest)[1].probe_json, "probe of new");
  EXPECT_EQ((*latest)[1].time, absl::FromUnixSeconds(1000));
  EXPECT_EQ((*store)->Counts()->calibrations, 3);  // appended, never overwritten
}

TEST_P(StoreTest, CountsWhatWasAppended) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  const PredictionRecord prediction{absl::Now(), "00ff", "cpu", "v1", 12.5, 10, 15, 0.9, true, 3};
  ASSERT_TRUE((*store)->AppendPredictions({prediction, prediction}).ok());
  const MeasurementRecord probe{absl::Now(), "cpu", "probe", "00ff", false, 3.5, "{'quote\"}"};
  ASSERT_TRUE(
      (*store)->AppendMeasurements({probe, probe}).ok());  // without a task, the same thing may be measured twice
  auto counts = (*store)->Counts();
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ(counts->predictions, 2);
  EXPECT_EQ(counts->measurements, 2);
}

TEST_P(StoreTest, ATaskHasOneMeasurement) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  MeasurementRecord record{absl::Now(), "cpu", "asked", "00ff", false, 3.5, "{}"};
  record.task_id = "aa";
  ASSERT_TRUE((*store)->AppendMeasurements({record}).ok());
  EXPECT_TRUE(absl::IsAlreadyExists((*store)->AppendMeasurements({record})));
  EXPECT_EQ((*store)->Counts()->measurements, 1);
}

TEST_P(StoreTest, ATransactionThatFailsLeavesNothing) {
  auto store = OpenStore(location_);
  ASSERT_TRUE(store.ok()) << store.status();
  MeasurementRecord record{absl::Now(), "cpu", "asked", "00ff", false, 3.5, "{}"};
  record.task_id = "aa";
  EXPECT_FALSE((*store)->AppendMeasurements({record, record}).ok());
  EXPECT_EQ((*store)->Counts()->measurements, 0);
  record.task_id = "bb";
  EXPECT_TRUE((*store)->AppendMeasurements({record}).ok());  // and the connection is as good as before
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
  ASSERT_EQ(
      sqlite3_exec(
          db,
          "CREATE TABLE measurements (id INTEGER PRIMARY KEY, time_us INTEGER NOT NULL, target TEXT NOT NULL, origin "
          "TEXT NOT NULL, "
          "fingerprint TEXT NOT NULL, is_network INTEGER NOT NULL, latency_us REAL NOT NULL, graph_json TEXT NOT NULL);"
          "INSERT INTO measurements VALUES (1, 2, 'cpu', 'probe', '00ff', 0, 3.5, '{}'); PRAGMA user_version=1",
          nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(db);
  auto store = OpenStore(path);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->Counts()->measurements, 1);
  EXPECT_TRUE((*store)->AppendMeasurements({{absl::Now(), "cpu", "probe", "00ff", false, 3.5, "{}"}}).ok());
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
