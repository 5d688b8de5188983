// A connection to a cobra-server: one method per call of the API, with a deadline and retries.
// Calls that make a version of a target (Calibrate, Adapt, Observe) take effect once, however often
// they are retried (docs/api.md). Errors carry the server's Diagnostic (base/diagnostic.h). Safe to
// use from several threads.
#ifndef COBRA_CLIENT_CLIENT_H_
#define COBRA_CLIENT_CLIENT_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/connection_files.h"
#include "client/many_requests.h"
#include "client/retry.h"
#include "cobra/v1/admin.pb.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

enum class OwnServer { kNo, kFind, kStart };

inline constexpr char kOwnServer[] = "own";

struct ClientOptions {
  std::string address = "127.0.0.1:50051";
  // If nothing listens at `address`, or it is kOwnServer, this user's own server is used
  // (local_server.h), and with kStart started if necessary. A line on standard error reports this,
  // and also a change of the server since last time (asked_server.h).
  OwnServer own_server = OwnServer::kNo;
  ConnectionFiles connection;
  absl::Duration deadline = absl::Seconds(60);  // of one call, retries included
  RetryPolicy retry;
  // NAME and VALUE, sent with every call: the server stores them with the predictions.
  std::vector<std::pair<std::string, std::string>> labels;
  // A breakdown of 20,000 calls on ten targets takes 20 MB.
  int max_reply_bytes = 64 << 20;
};

class Client {
 public:
  // Does not wait for the server. If it is unreachable, the first call returns Unavailable.
  // REQUIRES: proto::CheckConnection(options.connection, options.address) is OK.
  static std::unique_ptr<Client> Connect(const ClientOptions& options);
  virtual ~Client() = default;

  virtual absl::StatusOr<v1::PredictResponse> Predict(const v1::PredictRequest& request) = 0;
  // Sends many requests over one PredictStream, in flight at the same time. OK when all are
  // answered: the error of one request is its answer. Otherwise the remaining requests get no
  // answer. A stream that breaks is reopened, with the same retries as other methods, and continues
  // with the unanswered requests. Here the deadline is the maximum time without any answer.
  virtual absl::Status PredictMany(const ManyRequests& requests) = 0;
  virtual absl::StatusOr<v1::ListTargetsResponse> ListTargets(const v1::ListTargetsRequest& request) = 0;
  virtual absl::StatusOr<v1::GetModelInfoResponse> GetModelInfo(const v1::GetModelInfoRequest& request) = 0;
  virtual absl::StatusOr<v1::CalibrateResponse> Calibrate(const v1::CalibrateRequest& request) = 0;
  virtual absl::StatusOr<v1::UndoCalibrationResponse> UndoCalibration(const v1::UndoCalibrationRequest& request) = 0;

  virtual absl::StatusOr<v1::AdaptResponse> Adapt(const v1::AdaptRequest& request) = 0;
  virtual absl::StatusOr<v1::AdaptResponse> Observe(const v1::ObserveRequest& request) = 0;
  virtual absl::StatusOr<v1::ExportTargetResponse> ExportTarget(const v1::ExportTargetRequest& request) = 0;
  virtual absl::StatusOr<v1::SuggestSamplesResponse> SuggestSamples(const v1::SuggestSamplesRequest& request) = 0;
  virtual absl::StatusOr<v1::ListPredictionsResponse> ListPredictions(const v1::ListPredictionsRequest& request) = 0;

  virtual absl::StatusOr<v1::ReloadModelResponse> ReloadModel(const v1::ReloadModelRequest& request) = 0;
  virtual absl::StatusOr<v1::ListModelVersionsResponse> ListModelVersions(
      const v1::ListModelVersionsRequest& request) = 0;
  virtual absl::StatusOr<v1::GetCachesResponse> GetCaches(const v1::GetCachesRequest& request) = 0;
  virtual absl::StatusOr<v1::FlushCachesResponse> FlushCaches(const v1::FlushCachesRequest& request) = 0;
  virtual absl::StatusOr<v1::DrainResponse> Drain(const v1::DrainRequest& request) = 0;
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_CLIENT_H_
