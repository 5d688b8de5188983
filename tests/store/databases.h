// Every database that the store runs on, for tests that must hold on each: TEST_P over kDatabases.
#ifndef COBRA_TESTS_STORE_DATABASES_H_
#define COBRA_TESTS_STORE_DATABASES_H_

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tests/store/postgres_server.h"
#include "tests/temporary_directory.h"

namespace cobra::store {

class DatabaseTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!IsPostgresTest()) {
      location_ = directory_.File("store.sqlite");
      return;
    }
    if (!PostgresServer::IsInstalled()) GTEST_SKIP() << "no PostgreSQL 15 here";
    absl::StatusOr<std::string> url = Server().NewDatabase();
    ASSERT_TRUE(url.ok()) << url.status();
    location_ = *url;
  }

  bool IsPostgresTest() const { return std::string(GetParam()) == "postgres"; }
  // Shared by all tests of the program: it takes a second to make.
  static PostgresServer& Server() {
    static PostgresServer* const server = [] {
      static PostgresServer made;  // stopped when the program ends
      const absl::Status status = made.Create();
      EXPECT_TRUE(status.ok()) << status;
      return &made;
    }();
    return *server;
  }

  tests::TemporaryDirectory directory_;
  std::string location_;
};

inline std::string DatabaseName(const testing::TestParamInfo<const char*>& info) { return info.param; }
#define COBRA_ON_EVERY_DATABASE(suite) \
  INSTANTIATE_TEST_SUITE_P(On, suite, testing::Values("sqlite", "postgres"), &DatabaseName)

}  // namespace cobra::store

#endif  // COBRA_TESTS_STORE_DATABASES_H_
