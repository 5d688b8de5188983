#include "client/client.h"

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/asked_server.h"
#include "client/local_server.h"
#include "client/predict_stream.h"
#include "client/terminal/progress.h"
#include "cobra/v1/admin.grpc.pb.h"
#include "cobra/v1/cobra.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "proto/connection.h"
#include "proto/grpc_status.h"
#include "proto/label.h"
#include "proto/request_id.h"

namespace cobra::client {
namespace {

constexpr int kReconnectAfterMs = 100;  // gRPC's minimum

// Requests that would make another version of a target if a retry after a lost reply were taken for
// a new one.
template <typename Request>
constexpr bool kMakesVersion = std::is_same_v<Request, v1::CalibrateRequest> ||
                               std::is_same_v<Request, v1::AdaptRequest> || std::is_same_v<Request, v1::ObserveRequest>;

// The reason is the end of gRPC's message, such as "failed to connect to all addresses; last error:
// UNKNOWN: ipv4:127.0.0.1:50051: Failed to connect to remote host: Connection refused".
absl::string_view ReasonOf(absl::string_view message) {
  constexpr absl::string_view kBefore = "to remote host: ";
  const size_t at = message.rfind(kBefore);
  return at == absl::string_view::npos ? message : message.substr(at + kBefore.size());
}

class GrpcClient final : public Client {
 public:
  explicit GrpcClient(const ClientOptions& options) : options_(options) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(options.max_reply_bytes);
    arguments.SetMaxSendMessageSize(-1);  // the server checks its own limit
    // Our own loop retries. Until gRPC itself connects again, it answers every retry with the old
    // error; by default it waits 1 s before that, and up to two minutes after a few failures.
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectAfterMs);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectAfterMs);
    channel_ = proto::Connect(options.connection, options.address, arguments);
    stub_ = v1::Cobra::NewStub(channel_);
    admin_ = v1::Admin::NewStub(channel_);
  }

  absl::StatusOr<v1::PredictResponse> Predict(const v1::PredictRequest& request) override {
    return Run<v1::PredictResponse>(stub_.get(), &v1::Cobra::Stub::Predict, request);
  }
  absl::Status PredictMany(const ManyRequests& requests) override {
    PredictStream::Options options;
    options.retry = options_.retry;
    options.patience = options_.deadline;
    options.prepare = [this](grpc::ClientContext* context) { return Prepare(context); };
    PredictStream stream(stub_.get(), &requests, std::move(options));
    absl::Status status;
    bool more = true;
    while (more) {  // after an attempt that got answers, the next one counts as the first
      more = false;
      const absl::Time deadline = absl::Now() + options_.deadline;
      const auto attempt = [&] {
        const int64_t answered = stream.answered();
        status = stream.Attempt();
        more = absl::IsUnavailable(status) && stream.answered() > answered;
        return more ? absl::OkStatus() : status;
      };
      const auto sleep = [&](absl::Duration d) {
        Wait(std::min(absl::Now() + d, deadline));
        return absl::Now() < deadline;
      };
      (void)RetryLoop(options_.retry, sleep, attempt);
    }
    return WithAddress(status);
  }
  absl::StatusOr<v1::ListTargetsResponse> ListTargets(const v1::ListTargetsRequest& request) override {
    return Run<v1::ListTargetsResponse>(stub_.get(), &v1::Cobra::Stub::ListTargets, request);
  }
  absl::StatusOr<v1::GetModelInfoResponse> GetModelInfo(const v1::GetModelInfoRequest& request) override {
    return Run<v1::GetModelInfoResponse>(stub_.get(), &v1::Cobra::Stub::GetModelInfo, request);
  }
  absl::StatusOr<v1::CalibrateResponse> Calibrate(const v1::CalibrateRequest& request) override {
    return Run<v1::CalibrateResponse>(stub_.get(), &v1::Cobra::Stub::Calibrate, request);
  }
  absl::StatusOr<v1::UndoCalibrationResponse> UndoCalibration(const v1::UndoCalibrationRequest& request) override {
    return Run<v1::UndoCalibrationResponse>(stub_.get(), &v1::Cobra::Stub::UndoCalibration, request);
  }

  absl::StatusOr<v1::AdaptResponse> Adapt(const v1::AdaptRequest& request) override {
    return Run<v1::AdaptResponse>(stub_.get(), &v1::Cobra::Stub::Adapt, request);
  }
  absl::StatusOr<v1::AdaptResponse> Observe(const v1::ObserveRequest& request) override {
    return Run<v1::AdaptResponse>(stub_.get(), &v1::Cobra::Stub::Observe, request);
  }
  absl::StatusOr<v1::ExportTargetResponse> ExportTarget(const v1::ExportTargetRequest& request) override {
    return Run<v1::ExportTargetResponse>(stub_.get(), &v1::Cobra::Stub::ExportTarget, request);
  }
  absl::StatusOr<v1::SuggestSamplesResponse> SuggestSamples(const v1::SuggestSamplesRequest& request) override {
    return Run<v1::SuggestSamplesResponse>(stub_.get(), &v1::Cobra::Stub::SuggestSamples, request);
  }
  absl::StatusOr<v1::ListPredictionsResponse> ListPredictions(const v1::ListPredictionsRequest& request) override {
    return Run<v1::ListPredictionsResponse>(stub_.get(), &v1::Cobra::Stub::ListPredictions, request);
  }

  absl::StatusOr<v1::ReloadModelResponse> ReloadModel(const v1::ReloadModelRequest& request) override {
    return Run<v1::ReloadModelResponse>(admin_.get(), &v1::Admin::Stub::ReloadModel, request);
  }
  absl::StatusOr<v1::ListModelVersionsResponse> ListModelVersions(
      const v1::ListModelVersionsRequest& request) override {
    return Run<v1::ListModelVersionsResponse>(admin_.get(), &v1::Admin::Stub::ListModelVersions, request);
  }
  absl::StatusOr<v1::GetCachesResponse> GetCaches(const v1::GetCachesRequest& request) override {
    return Run<v1::GetCachesResponse>(admin_.get(), &v1::Admin::Stub::GetCaches, request);
  }
  absl::StatusOr<v1::FlushCachesResponse> FlushCaches(const v1::FlushCachesRequest& request) override {
    return Run<v1::FlushCachesResponse>(admin_.get(), &v1::Admin::Stub::FlushCaches, request);
  }
  absl::StatusOr<v1::DrainResponse> Drain(const v1::DrainRequest& request) override {
    return Run<v1::DrainResponse>(admin_.get(), &v1::Admin::Stub::Drain, request);
  }

 private:
  template <typename Response, typename Stub, typename Request>
  absl::StatusOr<Response> Run(Stub* stub,
                               grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                               const Request& request) {
    const absl::Time deadline = absl::Now() + options_.deadline;
    std::optional<Progress> progress;
    if (!HasProgress()) progress.emplace(absl::StrCat("asking ", options_.address));
    const std::string id = kMakesVersion<Request> ? proto::NewRequestId() : "";
    Response response;
    absl::Status status;
    const auto attempt = [&] {
      response.Clear();
      grpc::ClientContext context;
      context.set_deadline(absl::ToChronoTime(deadline));
      status = Prepare(&context);
      if (!status.ok()) return status;
      if (!id.empty()) context.AddMetadata(proto::kRequestIdName, id);
      status = proto::FromGrpcStatus((stub->*method)(&context, request, &response));
      return status;
    };
    // When the deadline passes meanwhile, the last status remains the reason.
    const auto sleep = [&](absl::Duration d) {
      Wait(std::min(absl::Now() + d, deadline));
      return absl::Now() < deadline;
    };
    status = RetryLoop(options_.retry, sleep, attempt);
    if (!status.ok()) return WithAddress(status);
    return response;
  }

  // Labels and the token.
  absl::Status Prepare(grpc::ClientContext* context) {
    for (const auto& [name, value] : options_.labels) {
      const auto [key, text] = proto::LabelMetadata(name, value);
      context->AddMetadata(key, text);
    }
    return proto::AddToken(options_.connection, context);
  }

  // Names the server that is not there or does not answer.
  absl::Status WithAddress(const absl::Status& status) const {
    if (absl::IsUnavailable(status)) {
      // A server that is there may not be able to answer: its store is lost, or it is stopping.
      const bool is_there = channel_->GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_READY;
      return absl::UnavailableError(absl::StrCat(is_there ? "the server at " : "no server answers at ",
                                                 options_.address, ": ", ReasonOf(status.message()), OwnHint()));
    }
    if (absl::IsUnauthenticated(status)) return absl::UnauthenticatedError(absl::StrCat(status.message(), OwnHint()));
    if (absl::IsDeadlineExceeded(status)) {
      return absl::DeadlineExceededError(absl::StrCat("no answer from ", options_.address, " within ",
                                                      absl::FormatDuration(options_.deadline),
                                                      "; --deadline-s gives it more time", OwnHint()));
    }
    return status;
  }

  // Who did not name a server may not know of the one at the default address.
  std::string OwnHint() const {
    if (options_.own_server == OwnServer::kNo || absl::StartsWith(options_.address, "unix:")) return "";
    return absl::StrCat("; ", options_.address, " was asked because a server listens there: --server own asks this ",
                        "user's own");
  }

  // Returns earlier if a refused connection is established. gRPC connects only while a thread waits
  // inside it, so a plain sleep would leave the next attempt with the old error. A connected server
  // that is draining needs the time.
  void Wait(absl::Time until) {
    if (channel_->GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_READY) {
      absl::SleepFor(until - absl::Now());
    } else {
      channel_->WaitForConnected(absl::ToChronoTime(until));
    }
  }

  const ClientOptions options_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Cobra::Stub> stub_;
  std::unique_ptr<v1::Admin::Stub> admin_;
};

// Of the user's server, which is started if need be; empty if there is none. Says what became of
// it.
std::string OwnServerAddress(bool may_start) {
  if (!may_start) return FindRunningServer();
  Progress progress("looking for this user's server");
  const absl::StatusOr<LocalServer> server = FindOrStartServer();
  if (!server.ok()) {
    Say(absl::StrCat("cobra-client: ", server.status().message(), "\n"));
    return "";
  }
  if (server->was_started)
    Note(absl::StrCat(
        "cobra-client: started a server for this user; it exits after ten idle minutes (log: ", server->log, ")"));
  return server->address;
}

}  // namespace

std::unique_ptr<Client> Client::Connect(const ClientOptions& options) {
  const ConnectionFiles& files = options.connection;
  const bool must_be_own = options.address == kOwnServer;
  const bool is_named = !files.tls_ca.empty() || !files.token_file.empty();  // what a certain server wants
  if (!must_be_own && (options.own_server == OwnServer::kNo || is_named)) return std::make_unique<GrpcClient>(options);
  if (!must_be_own && SomebodyListens(options.address)) {
    ReportServerChange(AskedServer::kDefault, options.address);
    return std::make_unique<GrpcClient>(options);
  }
  const bool may_start = options.own_server == OwnServer::kStart;
  // A command connects several times, and one that watches a file may outlive the server.
  static absl::Mutex mutex(absl::kConstInit);
  static auto* own_address = new std::string(OwnServerAddress(may_start));
  absl::MutexLock lock(&mutex);
  if (!own_address->empty() && FindRunningServer().empty()) *own_address = OwnServerAddress(may_start);
  ClientOptions own = options;
  if (!own_address->empty()) own.address = *own_address;
  if (own_address->empty() && must_be_own) own.address = PlacesOfLocalServer().address;
  if (!own_address->empty() && !must_be_own) ReportServerChange(AskedServer::kOwn, options.address);
  return std::make_unique<GrpcClient>(own);
}

}  // namespace cobra::client
