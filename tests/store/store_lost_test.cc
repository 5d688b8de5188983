// The file of a store, or its database, is removed or replaced while it is open: nothing that
// nobody will find again is acknowledged.
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "store/sql/change_listener.h"
#include "store/sql/sql.h"
#include "store/store.h"
#include "tests/store/databases.h"

namespace cobra::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

CalibrationRecord Calibration() { return {absl::FromUnixSeconds(1000), "this-machine", "sha", "{}", "{}"}; }

class StoreLostTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_);
    Open(path_);
  }

  void Open(const std::string& path) {
    store_.reset();
    absl::StatusOr<std::unique_ptr<Store>> store = OpenStore(path);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    ASSERT_TRUE(store_->AppendCalibration(Calibration()).ok());
  }

  // Neither is a write acknowledged nor an answer read.
  void ExpectLost(const std::string& named, const std::string& what) {
    for (const absl::Status& status :
         {store_->AppendCalibration(Calibration()), store_->LatestCalibrations().status()}) {
      EXPECT_TRUE(absl::IsUnavailable(status)) << status;
      EXPECT_TRUE(IsStoreLost(status)) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat(named, ": ", what)));
      EXPECT_THAT(std::string(status.message()), HasSubstr("put the same file back"));
    }
  }

  // Of the same database, as `sqlite3 FILE ".backup"` makes it.
  void BackUp(const std::string& to) {
    sqlite3 *from_db = nullptr, *to_db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &from_db), SQLITE_OK);
    ASSERT_EQ(sqlite3_open(to.c_str(), &to_db), SQLITE_OK);
    sqlite3_backup* const backup = sqlite3_backup_init(to_db, "main", from_db, "main");
    EXPECT_EQ(sqlite3_backup_step(backup, -1), SQLITE_DONE);
    EXPECT_EQ(sqlite3_backup_finish(backup), SQLITE_OK);
    sqlite3_close(to_db);
    sqlite3_close(from_db);
  }

  // Has SQLite write its log into the file.
  void Checkpoint() {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(db);
  }

  void Fill() {
    CalibrationRecord large = Calibration();
    large.probe_json = std::string(100'000, 'x');
    ASSERT_TRUE(store_->AppendCalibration(large).ok());
  }

  tests::TemporaryDirectory directory_;
  const std::string folder_ = directory_.File("folder");
  const std::string path_ = folder_ + "/store.sqlite";
  std::unique_ptr<Store> store_;
};

TEST_F(StoreLostTest, ARemovedFileIsNoticedAndNotMadeAgain) {
  fs::remove(path_);
  ExpectLost(path_, "was removed");
  EXPECT_FALSE(OpenStore(path_).ok());
  EXPECT_FALSE(OpenDatabase(path_).ok());
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(StoreLostTest, TheVerySameFileIsTakenAgain) {
  fs::rename(path_, path_ + ".moved");
  ExpectLost(path_, "was removed");
  fs::rename(path_ + ".moved", path_);
  EXPECT_TRUE(store_->AppendCalibration(Calibration()).ok());
  EXPECT_EQ(store_->Counts()->calibrations, 2);
  Open(path_);
  EXPECT_EQ(store_->Counts()->calibrations, 3);
}

TEST_F(StoreLostTest, AnotherFileInItsPlaceIsNoticed) {
  BackUp(path_ + ".backup");
  fs::rename(path_ + ".backup", path_);
  ExpectLost(path_, "was replaced by another file");
  EXPECT_FALSE(OpenDatabase(path_).ok());
}

TEST_F(StoreLostTest, ItsLogIsPartOfIt) {
  for (const char* part : {"-wal", "-shm"}) {
    Open(path_);
    fs::rename(path_ + part, path_ + ".moved");
    ExpectLost(path_ + part, "was removed");
    WriteFileAtomic(path_ + part, "").IgnoreError();
    ExpectLost(path_ + part, "was replaced by another file");
    fs::rename(path_ + ".moved", path_ + part);
    EXPECT_TRUE(store_->AppendCalibration(Calibration()).ok());
  }
}

TEST_F(StoreLostTest, ItsFolderIsRemovedOrReplaced) {
  fs::rename(folder_, folder_ + ".moved");
  ExpectLost(path_, "was removed");
  fs::create_directory(folder_);
  ExpectLost(path_, "was removed");
  fs::copy(folder_ + ".moved", folder_);
  ExpectLost(path_, "was replaced by another file");
}

TEST_F(StoreLostTest, ALinkThatLeadsElsewhereIsNoticed) {
  store_.reset();
  const std::string link = directory_.File("link"), other = directory_.File("other.sqlite");
  fs::copy(path_, other);
  fs::create_symlink(path_, link);
  Open(link);
  fs::remove(link);
  fs::create_symlink(other, link);
  ExpectLost(link, "was replaced by another file");
}

TEST_F(StoreLostTest, AnEmptiedOrOverwrittenFileIsNoticed) {
  Fill();
  Checkpoint();
  ASSERT_EQ(::truncate(path_.c_str(), 0), 0);
  ExpectLost(path_, "was emptied or overwritten");
  const int file = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  EXPECT_EQ(::write(file, "no database", 11), 11);
  ::close(file);
  ExpectLost(path_, "was emptied or overwritten");
}

// As `cp backup.sqlite store.sqlite` does.
TEST_F(StoreLostTest, AnOlderCopyInTheSameFileIsNoticed) {
  Checkpoint();
  const std::string backup = directory_.File("backup");
  BackUp(backup);
  Fill();
  Checkpoint();
  ASSERT_TRUE(store_->Counts().ok());
  fs::copy_file(backup, path_, fs::copy_options::overwrite_existing);
  ExpectLost(path_, "was overwritten with an older copy");
}

TEST_F(StoreLostTest, WhatOperatorsDoToARunningStoreIsTaken) {
  for (int i = 0; i < 20; ++i) Fill();
  Checkpoint();
  for (const char* sql : {"DELETE FROM calibrations WHERE id > 1", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"}) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sql;
    sqlite3_close(db);
    Fill();
    EXPECT_TRUE(store_->Counts().ok()) << sql;
  }
  BackUp(directory_.File("backup"));
  EXPECT_TRUE(store_->AppendCalibration(Calibration()).ok());
}

TEST_F(StoreLostTest, ALossBeforeTheCommitIsNoticedAfterIt) {
  const std::unique_ptr<SqlDatabase> database = *OpenDatabase(path_);
  const absl::Status status = database->Transaction([&](SqlSession& session) {
    fs::rename(path_, path_ + ".moved");
    return session.Execute("DELETE FROM calibrations");
  });
  EXPECT_TRUE(IsStoreLost(status)) << status;
}

TEST_F(StoreLostTest, WhoeverListensHearsOfIt) {
  ListenerOptions options;
  options.look_period = absl::Milliseconds(10);
  const std::unique_ptr<ChangeListener> listener = MakeChangeListener(path_, options);
  const absl::Time never = absl::Now() + absl::Minutes(10);
  ASSERT_TRUE(listener->Connect(never).ok());
  fs::rename(path_, path_ + ".moved");
  EXPECT_TRUE(IsStoreLost(listener->Wait(never).status()));
  EXPECT_TRUE(IsStoreLost(listener->Connect(never)));
  fs::rename(path_ + ".moved", path_);
  EXPECT_TRUE(listener->Connect(never).ok());
}

// SQLite would write the log of the old file into the one that has its name.
TEST_F(StoreLostTest, ABackupInItsPlaceIsAtTheNextStartWhatItWas) {
  BackUp(path_ + ".backup");
  Fill();
  fs::rename(path_ + ".backup", path_);
  ExpectLost(path_, "was replaced by another file");
  store_.reset();
  EXPECT_TRUE(fs::exists(path_ + "-wal.replaced"));
  Open(path_);
  EXPECT_EQ(store_->Counts()->calibrations, 2);  // that of the backup, and that of Open()
}

TEST_F(StoreLostTest, AFileThatIsNotInUseMayBeReplaced) {
  store_.reset();
  fs::remove(path_);
  Open(path_);
  EXPECT_EQ(store_->Counts()->calibrations, 1);
}

class PostgresLostTest : public DatabaseTest {};
INSTANTIATE_TEST_SUITE_P(On, PostgresLostTest, testing::Values("postgres"), &DatabaseName);

TEST_P(PostgresLostTest, ADatabaseThatWasMadeAgainIsNoticed) {
  const std::unique_ptr<Store> store = *OpenStore(location_);
  ASSERT_TRUE(store->AppendCalibration(Calibration()).ok());
  ASSERT_TRUE(Server().MakeAgain(location_).ok());
  EXPECT_FALSE(store->AppendCalibration(Calibration()).ok());
  ASSERT_TRUE(OpenStore(location_).ok());  // another server makes the tables
  const absl::Status status = store->AppendCalibration(Calibration());
  EXPECT_TRUE(IsStoreLost(status)) << status;
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

TEST_P(PostgresLostTest, ARestartIsNoLoss) {
  const std::unique_ptr<Store> store = *OpenStore(location_);
  ASSERT_TRUE(store->AppendCalibration(Calibration()).ok());
  ASSERT_TRUE(Server().Stop("fast").ok());
  ASSERT_TRUE(Server().Start().ok());
  const absl::Status status = store->AppendCalibration(Calibration());
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace cobra::store
