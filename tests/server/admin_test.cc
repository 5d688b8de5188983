// What callers may ask beside predictions, and operators: cobra.v1.Admin, versions, filters,
// labels, logs, metrics.
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "base/diagnostic.h"
#include "client/client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "store/sql/sql.h"
#include "tests/server/server_testing.h"

namespace cobra::server {
namespace {

using testing::HasSubstr;
using testing::Not;

class AdminTest : public ServerTest {
 protected:
  void Serve(const std::string& version, double us_per_call = 10) {
    predictor_ = std::make_shared<FakePredictor>(version, us_per_call);
  }
  v1::CacheFigures FiguresOf(client::Client* client, const std::string& name) {
    const absl::StatusOr<v1::GetCachesResponse> caches = client->GetCaches({});
    EXPECT_TRUE(caches.ok()) << caches.status();
    for (const v1::CacheFigures& figures : caches->caches()) {
      if (figures.name() == name) return figures;
    }
    ADD_FAILURE() << name;
    return {};
  }
};

TEST_F(AdminTest, ReloadsAndListsWhatItLoaded) {
  Start();
  std::unique_ptr<client::Client> client = Connect();
  Serve("v2");
  const absl::StatusOr<v1::ReloadModelResponse> reloaded = client->ReloadModel({});
  ASSERT_TRUE(reloaded.ok()) << reloaded.status();
  EXPECT_EQ(reloaded->previous_version(), "v1");
  EXPECT_EQ(reloaded->version(), "v2");
  const absl::StatusOr<v1::ListModelVersionsResponse> versions = client->ListModelVersions({});
  ASSERT_TRUE(versions.ok()) << versions.status();
  ASSERT_EQ(versions->versions_size(), 2);
  EXPECT_EQ(versions->versions(0).version(), "v2");
  EXPECT_TRUE(versions->versions(0).serving());
  EXPECT_FALSE(versions->versions(1).serving());
  EXPECT_THAT(versions->versions(0).loaded_at(), testing::MatchesRegex("20..-..-..T..:..:..Z"));
}

TEST_F(AdminTest, FlushesCachesByName) {
  Start();
  std::unique_ptr<client::Client> client = Connect();
  const v1::PredictRequest request = MakeRequest();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(client->Predict(request).ok());
  EXPECT_EQ(predictor_->calls, 2);  // one when it was loaded
  EXPECT_EQ(FiguresOf(client.get(), "reply").entries(), 1);
  EXPECT_EQ(FiguresOf(client.get(), "reply").hits(), 1);
  v1::FlushCachesRequest flush;
  flush.add_names("reply");
  const absl::StatusOr<v1::FlushCachesResponse> flushed = client->FlushCaches(flush);
  ASSERT_TRUE(flushed.ok()) << flushed.status();
  ASSERT_EQ(flushed->flushed_size(), 1);
  EXPECT_EQ(flushed->flushed(0).entries(), 1);
  EXPECT_EQ(FiguresOf(client.get(), "reply").entries(), 0);
  EXPECT_EQ(FiguresOf(client.get(), "prediction").entries(), 1);
  ASSERT_TRUE(client->FlushCaches({}).ok());
  EXPECT_EQ(FiguresOf(client.get(), "prediction").bytes(), 0);
  ASSERT_TRUE(client->Predict(request).ok());
  EXPECT_EQ(predictor_->calls, 3);
  flush.add_names("abacus");
  EXPECT_THAT(client->FlushCaches(flush).status().message(), HasSubstr("abacus: no such cache"));
}

TEST_F(AdminTest, DrainsWhereTheProcessAllowsIt) {
  Start();
  EXPECT_TRUE(absl::IsUnimplemented(Connect()->Drain({}).status()));
}

TEST_F(AdminTest, ARequestMayPinTheVersion) {
  Start();
  std::unique_ptr<client::Client> client = Connect();
  v1::PredictRequest request = MakeRequest();
  request.set_model_version("v1");
  EXPECT_TRUE(client->Predict(request).ok());
  EXPECT_TRUE(client->Predict(request).ok());  // from a cache
  Serve("v2");
  ASSERT_TRUE(server_->ReloadModel().ok());
  const absl::Status refused = client->Predict(request).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("v1: this model version does not serve; v2 does"));
  EXPECT_TRUE(DiagnosticFromStatus(refused).has_value());
}

TEST_F(AdminTest, ListTargetsFilters) {
  Start();
  std::unique_ptr<client::Client> client = Connect();
  v1::CalibrateRequest probe;
  probe.set_probe_json(SmallProbeJson());
  ASSERT_TRUE(client->Calibrate(probe).ok());
  const auto names = [&](const v1::ListTargetsRequest& filter) {
    std::vector<std::string> names;
    const absl::StatusOr<v1::ListTargetsResponse> reply = client->ListTargets(filter);
    for (const v1::Target& target : reply.value().targets()) names.push_back(target.spec().name());
    return names;
  };
  v1::ListTargetsRequest filter;
  EXPECT_THAT(names(filter), testing::ElementsAre("cpu", "this-machine"));
  filter.set_origin(v1::ListTargetsRequest::ORIGIN_TRAINED);
  EXPECT_THAT(names(filter), testing::ElementsAre("cpu"));
  filter.set_origin(v1::ListTargetsRequest::ORIGIN_CALIBRATED);
  filter.set_device("TEST");
  EXPECT_THAT(names(filter), testing::ElementsAre("this-machine"));
  filter.set_kind("gpu");
  EXPECT_THAT(names(filter), testing::IsEmpty());
  filter.Clear();
  filter.set_name("MACHINE");
  EXPECT_THAT(names(filter), testing::ElementsAre("this-machine"));
}

TEST_F(AdminTest, LabelledCallsAreStoredEvenIfACacheAnswers) {
  Start();
  const v1::PredictRequest request = MakeRequest();
  ASSERT_TRUE(Connect()->Predict(request).ok());
  ASSERT_TRUE(Connect()->Predict(request).ok());  // known, and nobody's
  labels_ = {{"team", "search"}};
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(Connect()->Predict(request).ok());
  ASSERT_TRUE(Connect()->Predict(MakeRequest()).ok());
  labels_ = {{"team", std::string(257, 'x')}};
  EXPECT_TRUE(absl::IsInvalidArgument(Connect()->Predict(request).status()));
  ASSERT_TRUE(Drain());
  const auto database = store::OpenDatabase(directory_.File("store.sqlite")).value();
  std::vector<std::string> labels;
  ASSERT_TRUE(database
                  ->Transaction([&](store::SqlSession& session) {
                    const auto rows = session.Query("SELECT labels_json FROM predictions ORDER BY id").value();
                    for (const store::SqlRow& row : rows) labels.push_back(row.Text(0));
                    return absl::OkStatus();
                  })
                  .ok());
  const std::string team = R"({"team":"search"})";
  EXPECT_THAT(labels, testing::ElementsAre("", team, team, team));
}

TEST_F(AdminTest, ANewVersionKnowsWhatIsAskedMost) {
  Start();
  std::unique_ptr<client::Client> client = Connect();
  const v1::PredictRequest request = MakeRequest();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(client->Predict(request).ok());
  Serve("v2", /*us_per_call=*/30);
  ASSERT_TRUE(client->ReloadModel({}).ok());
  EXPECT_EQ(predictor_->calls, 2);  // the trial of a new version, and the request
  const absl::StatusOr<v1::PredictResponse> reply = client->Predict(request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->model_version(), "v2");
  EXPECT_EQ(reply->predictions(0).latency_us(), 30);
  EXPECT_EQ(predictor_->calls, 2);
}

TEST_F(AdminTest, SimultaneousAskersShareOneComputation) {
  Start(/*threads=*/4);
  const v1::PredictRequest request = MakeRequest();
  BlockPredictions();
  std::vector<std::thread> askers;
  for (int i = 0; i < 4; ++i) askers.emplace_back([&] { EXPECT_TRUE(Connect()->Predict(request).ok()); });
  WaitForStarted(1);
  absl::SleepFor(absl::Milliseconds(200));
  release_.Notify();
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(predictor_->calls, 2);  // one when it was loaded
}

TEST_F(AdminTest, MetricsHaveTheNamesOfGrpcsDashboards) {
  Start();
  std::unique_ptr<client::Client> client = Connect();
  ASSERT_TRUE(client->Predict(MakeRequest()).ok());
  ASSERT_FALSE(client->Predict(MakeRequest("abacus")).ok());
  const std::string metrics = MetricsText();
  const std::string predict = R"(grpc_method="Predict",grpc_service="cobra.v1.Cobra",grpc_type="unary"} )";
  EXPECT_THAT(metrics, HasSubstr("grpc_server_started_total{" + predict + "2\n"));
  EXPECT_THAT(metrics, testing::ContainsRegex("grpc_server_handled_total.[^}]*grpc_code=\"OK\"[^}]*. 1\n"));
  EXPECT_THAT(metrics, testing::ContainsRegex("grpc_server_handled_total.[^}]*grpc_code=\"NotFound\"[^}]*. 1\n"));
  EXPECT_THAT(metrics, HasSubstr("grpc_server_handling_seconds_count{" + predict + "2\n"));
  EXPECT_THAT(metrics, HasSubstr("grpc_server_msg_received_total{" + predict + "2\n"));
  EXPECT_THAT(metrics, HasSubstr("grpc_server_msg_sent_total{" + predict + "1\n"));
}

TEST_F(AdminTest, SlowRequestsAreLoggedWithTheirStages) {
  slow_request_ = absl::Milliseconds(400);
  Start();
  std::unique_ptr<client::Client> client = Connect();
  testing::internal::CaptureStderr();
  ASSERT_TRUE(client->Predict(MakeRequest()).ok());
  predictor_->during_predict = [](const auto&) { absl::SleepFor(absl::Milliseconds(500)); };
  ASSERT_TRUE(client->Predict(MakeRequest()).ok());
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, testing::ContainsRegex("slow request rpc=Predict status=OK caller=127.0.0.1 duration_ms=[0-9.]+ "
                                          "waited_ms=[0-9.e-]+ read_ms=[0-9.e-]+ predicted_ms=[0-9]+[0-9][0-9]"));
  EXPECT_EQ(log.find("slow request"), log.rfind("slow request"));
}

}  // namespace
}  // namespace cobra::server
