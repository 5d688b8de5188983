#include <sqlite3.h>

#include <string>

#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/store.h"
#include "tests/server/temporary_directory.h"

namespace cobra {
namespace {

CalibrationRecord Calibration(const std::string& target, const std::string& json) {
  return {absl::FromUnixSeconds(1000), target, "sha", json, "probe of " + json};
}

TEST(SqliteStoreTest, CalibrationsSurviveReopening) {
  TemporaryDirectory directory;
  const std::string path = directory.File("store.sqlite");
  {
    auto store = OpenSqliteStore(path);
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE((*store)->AppendCalibration(Calibration("this-machine", "old")).ok());
    ASSERT_TRUE((*store)->AppendCalibration(Calibration("other", "only")).ok());
    ASSERT_TRUE((*store)->AppendCalibration(Calibration("this-machine", "new")).ok());
  }
  auto store = OpenSqliteStore(path);
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

TEST(SqliteStoreTest, CountsWhatWasAppended) {
  TemporaryDirectory directory;
  auto store = OpenSqliteStore(directory.File("store.sqlite"));
  ASSERT_TRUE(store.ok());
  const PredictionRecord prediction{absl::Now(), "00ff", "cpu", "v1", 12.5, 10, 15, 0.9, true, 3};
  ASSERT_TRUE((*store)->AppendPredictions({prediction, prediction}).ok());
  ASSERT_TRUE((*store)->AppendMeasurements({{absl::Now(), "cpu", "probe", "00ff", false, 3.5, "{'quote\"}"}}).ok());
  auto counts = (*store)->Counts();
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ(counts->predictions, 2);
  EXPECT_EQ(counts->measurements, 1);
}

TEST(SqliteStoreTest, NewerSchemaIsRefused) {
  TemporaryDirectory directory;
  const std::string path = directory.File("store.sqlite");
  ASSERT_TRUE(OpenSqliteStore(path).ok());
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "PRAGMA user_version=999", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  EXPECT_TRUE(absl::IsFailedPrecondition(OpenSqliteStore(path).status()));
}

TEST(SqliteStoreTest, ErrorsNameTheFile) {
  absl::Status status = OpenSqliteStore("/no/such/folder/store.sqlite").status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("/no/such/folder/store.sqlite"));
  TemporaryDirectory directory;
  ASSERT_TRUE(WriteFileAtomic(directory.File("text"), std::string(5000, 'x')).ok());
  EXPECT_FALSE(OpenSqliteStore(directory.File("text")).ok());
}

}  // namespace
}  // namespace cobra
