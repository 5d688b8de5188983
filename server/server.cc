#include "server/server.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/address.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/names.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"  // to switch gRPC's own off
#include "model/predict/predictor.h"
#include "proto/compression.h"
#include "server/access/access.h"
#include "server/access/credentials.h"
#include "server/admin_service.h"
#include "server/exposure.h"
#include "server/idle_exit.h"
#include "server/lanes/lanes.h"
#include "server/lanes/metrics.h"
#include "server/lanes/rpcs.h"
#include "server/lanes/watchdog.h"
#include "server/predict/pipeline.h"
#include "server/predict/prediction_log.h"
#include "server/predict_service.h"
#include "server/queue/measurement_service.h"
#include "server/queue/task_watch.h"
#include "server/queue/unseen_layers.h"
#include "server/reader/network_reader.h"
#include "server/reader/reader_processes.h"
#include "server/rpc/arrivals.h"
#include "server/rpc/health.h"
#include "server/rpc/http_calls.h"
#include "server/rpc/reflection.h"
#include "server/rpc/unary_calls.h"
#include "server/rpc/unknown_calls.h"
#include "server/targets/calibration_watch.h"
#include "server/targets/live_model.h"
#include "server/transport/connection_table.h"
#include "server/transport/connections.h"
#include "server/transport/http_listener.h"
#include "server/transport/http_tls.h"
#include "server/transport/listen_socket.h"
#include "server/transport/metrics_endpoint.h"
#include "store/queue/task_queue.h"
#include "store/sql/change_listener.h"
#include "store/store.h"

namespace cobra::server {
namespace {

// The last parts of the time that a drain has: requests that still run are asked to stop, replies
// are sent, the store is flushed.
constexpr absl::Duration kAbandonTime = absl::Seconds(3);
constexpr absl::Duration kFlushTime = absl::Seconds(2);
constexpr absl::Duration kSendTime = absl::Milliseconds(500);

// "host:0" with the port that the system chose.
std::string WithPort(const std::string& address, int port) {
  return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
}

void Hand(Descriptor connection, int listener, grpc::experimental::ExternalConnectionAcceptor* acceptor) {
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
  parameters.listener_fd = listener;
  parameters.fd = connection.Release();
  acceptor->HandleNewConnection(&parameters);
}

class ServerImpl final : public Server {
 public:
  explicit ServerImpl(const ServerOptions& options) : options_(options) {}

  ~ServerImpl() override {
    idle_exit_.reset();
    watchdog_.reset();
    if (http_listener_ != nullptr) http_listener_->Stop();
    connections_.reset();
    if (grpc_server_ != nullptr) grpc_server_->Shutdown(std::chrono::system_clock::now());
  }

  absl::Status Init() {
    COBRA_RETURN_IF_ERROR(CheckExposure(options_));
    COBRA_RETURN_IF_ERROR(PrepareAccess());
    for (const std::string& root : options_.library_roots) {
      if (!IsDirectory(root))
        return absl::InvalidArgumentError(absl::StrCat("--library ", root, ": no such directory"));
    }
    COBRA_ASSIGN_OR_RETURN(store_, store::OpenStore(options_.store_path));
    // OpenStore has prepared the schema.
    COBRA_ASSIGN_OR_RETURN(std::unique_ptr<store::SqlDatabase> queue_database,
                           store::OpenDatabase(options_.store_path));
    queue_ = std::make_unique<store::TaskQueue>(std::move(queue_database));
    watch_ = std::make_unique<TaskWatch>(queue_.get());
    COBRA_ASSIGN_OR_RETURN(model_, LiveModel::Create(Loader(), store_.get(), &metrics_));
    if (options_.calibrate_at_start) COBRA_RETURN_IF_ERROR(CalibrateThisMachine());

    ReaderOptions reader_options;
    reader_options.program = options_.reader;
    reader_options.library_roots = options_.library_roots;
    reader_options.insecure = options_.insecure_reader;
    const std::vector<predict::TargetInfo> targets = model_->Get()->Targets();
    if (!targets.empty()) reader_options.torch_version = python::TorchVersionOf(targets[0].spec.runtime);
    COBRA_ASSIGN_OR_RETURN(readers_, ReaderProcesses::Start(reader_options, &metrics_));

    log_ = std::make_unique<PredictionLog>(store_.get(), &metrics_);
    CacheSizes cache_sizes;
    cache_sizes.prediction_bytes = cache_sizes.network_bytes = options_.prediction_cache_bytes;
    cache_sizes.reply_bytes = options_.reply_cache_bytes;
    UnseenLayersOptions unseen_options;
    unseen_options.max_waiting = options_.max_learning_tasks;
    unseen_ = std::make_unique<UnseenLayers>(unseen_options, queue_.get(), &metrics_);
    network_reader_ = std::make_unique<NetworkReader>(options_.limits, readers_.get(), &metrics_);
    pipeline_ = std::make_unique<Pipeline>(cache_sizes, model_.get(), network_reader_.get(), log_.get(), unseen_.get(),
                                           &metrics_);
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    lanes_ = std::make_unique<Lanes>(options_.threads > 0 ? options_.threads : cores, options_.limits, &metrics_);
    arrivals_ = std::make_unique<Arrivals>(options_.limits.arrivals, &connection_table_, &metrics_);
    health_ = std::make_unique<Health>(options_.limits.arrivals, arrivals_.get());
    reflection_ = std::make_unique<Reflection>(options_.limits.max_reflection_calls, arrivals_.get());
    const UnaryCalls calls(arrivals_.get(), lanes_.get(), &metrics_, options_.limits, access_.get());
    streams_ =
        std::make_unique<PredictStreams>(pipeline_.get(), &connection_table_, lanes_.get(), &metrics_, options_.limits);
    service_ = std::make_unique<CobraService>(network_reader_.get(), pipeline_.get(), streams_.get(), model_.get(),
                                              store_.get(), calls);
    measurement_service_ = std::make_unique<MeasurementService>(queue_.get(), watch_.get(), model_.get(), &metrics_,
                                                                calls, options_.limits.read.graph);
    admin_service_ = std::make_unique<AdminService>(pipeline_.get(), model_.get(), calls, options_.stop);
    model_->SetWarm([this](const std::shared_ptr<const ModelSnapshot>& snapshot, absl::Time deadline) {
      pipeline_->WarmUp(snapshot, deadline, options_.stopping);
    });
    calibration_watch_ = std::make_unique<CalibrationWatch>(
        CalibrationWatchOptions(), store::MakeChangeListener(options_.store_path),
        [this] { return model_->RefreshCalibrations(); }, &metrics_);
    COBRA_RETURN_IF_ERROR(ExposeMetrics());
    COBRA_RETURN_IF_ERROR(Listen());
    if (!options_.http.empty()) COBRA_RETURN_IF_ERROR(ListenToHttp());
    if (options_.idle_exit < absl::InfiniteDuration() && options_.stop)
      idle_exit_ = std::make_unique<IdleExit>(options_.idle_exit, &metrics_, options_.stop);
    return absl::OkStatus();
  }

  std::string listen_address() const override { return listen_address_; }
  std::string metrics_address() const override { return metrics_address_; }
  std::string http_address() const override { return http_address_; }
  absl::Status ReloadModel() override { return model_->Reload(); }

  bool Drain(absl::Time deadline) override {
    health_->Shutdown();  // NOT_SERVING from now on
    arrivals_->Close();
    if (http_listener_ != nullptr) http_listener_->BeginDrain();
    streams_->Close();
    lanes_->Close();
    watch_->Close();
    calibration_watch_->Close();
    const absl::Duration left = deadline - absl::Now();
    if (!lanes_->WaitIdle(deadline - std::min(kAbandonTime, left / 2))) {
      LogWarning("requests are still running: cancelling them");
      lanes_->Abandon();
    }
    const absl::Time sent = deadline - std::min(kFlushTime, left / 4);
    const bool idle = lanes_->WaitIdle(sent);
    const absl::Time send_by = std::min(sent, absl::Now() + kSendTime);
    lanes_->WaitUntilSent(send_by);
    if (http_listener_ != nullptr) {
      http_listener_->WaitIdle(send_by);
      http_listener_->Stop();
    }
    // gRPC's own shutdown cancels requests that arrive meanwhile. When the connections are closed
    // first, none arrives, and a caller that lost one sees UNAVAILABLE.
    connections_->Close(std::min(deadline, absl::Now() + kSendTime));
    // It would wait for stuck threads.
    if (idle) grpc_server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
    if (!log_->Flush(deadline)) LogWarning("predictions were not stored before the end");
    if (!unseen_->Flush(deadline)) LogWarning("unknown layers were not enqueued before the end");
    return calibration_watch_->WaitClosed(deadline) && idle;
  }

 private:
  LiveModel::Loader Loader() const {
    if (options_.loader) return options_.loader;
    predict::PredictorOptions predictor_options;
    predictor_options.embedding_cache_bytes = options_.embedding_cache_bytes;
    predictor_options.max_layer_words = options_.limits.max_layer_words;
    return [directory = options_.model_directory, predictor_options] {
      return predict::Predictor::Load(directory, predictor_options);
    };
  }

  absl::Status PrepareAccess() {
    if (!options_.access_file.empty()) {
      COBRA_ASSIGN_OR_RETURN(access_, Access::Open(options_.access_file));
      if (access_->has_certificates() && options_.tls.ca.empty()) {
        return absl::InvalidArgumentError(absl::StrCat(
            options_.access_file, ": has certificate=, which needs --tls-ca: the authority of the clients"));
      }
    } else {
      for (const std::string& address : {options_.listen, options_.http}) {
        if (address.empty() || IsLocalAddress(address)) continue;
        LogWarning(absl::StrCat(address, ": anyone who reaches this address may do anything"));
      }
    }
    COBRA_ASSIGN_OR_RETURN(credentials_, MakeServerCredentials(options_.tls, access_.get(), &metrics_));
    return absl::OkStatus();
  }

  absl::Status CalibrateThisMachine() {
    if (model_->Get()->FindCalibration(kThisMachine) != nullptr) {
      LogInfo("this machine is calibrated already (`cobra-client calibrate` repeats it)");
      return absl::OkStatus();
    }
    const std::string worker = options_.worker.empty() ? SiblingProgram("cobra-worker") : options_.worker;
    LogInfo(absl::StrCat("measuring this machine with ", worker, " probe, about a minute"));
    COBRA_ASSIGN_OR_RETURN(std::string probe, RunProgram({worker, "probe", "--json"}));
    COBRA_ASSIGN_OR_RETURN(CalibrationOutcome outcome, model_->Calibrate(kThisMachine, probe));
    LogInfo(absl::StrCat("calibrated this-machine from ", Counted(outcome.layers, "layer"), " and ",
                         Counted(outcome.networks, "network")));
    return absl::OkStatus();
  }

  absl::Status ExposeMetrics() {
    if (options_.metrics.empty()) return absl::OkStatus();
    absl::StatusOr<std::unique_ptr<MetricsEndpoint>> endpoint =
        MetricsEndpoint::Start(options_.metrics, metrics_.collectables(), [this] { return health_->IsServing(); });
    if (!endpoint.ok()) return absl::UnavailableError(absl::StrCat("--metrics ", endpoint.status().message()));
    endpoint_ = *std::move(endpoint);
    metrics_address_ = WithPort(options_.metrics, endpoint_->port());
    return absl::OkStatus();
  }

  absl::Status Listen() {
    grpc::EnableDefaultHealthCheckService(false);  // rpc/health.h
    COBRA_ASSIGN_OR_RETURN(std::vector<Descriptor> listeners, ListenAtFlag());
    const int port = PortOf(listeners[0]);
    grpc::ServerBuilder builder;
    constexpr auto kFromFd = grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD;
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(kFromFd, credentials_);
    if (!options_.http.empty())  // who may call is checked by each call, which says who it is (access/forwarded.h)
      own_acceptor_ = builder.experimental().AddExternalConnectionAcceptor(kFromFd, grpc::InsecureServerCredentials());
    builder.RegisterService(health_.get());
    builder.RegisterService(reflection_.get());
    builder.RegisterService(service_.get());
    builder.RegisterService(measurement_service_.get());
    builder.RegisterService(admin_service_.get());
    builder.RegisterCallbackGenericService(&unknown_calls_);
    SetLimits(&builder);
    grpc_server_ = builder.BuildAndStart();
    if (grpc_server_ == nullptr) return absl::InternalError("gRPC failed to start");
    std::fill(std::begin(lane_answers_), std::end(lane_answers_), true);
    for (const Lane lane : kLanes) SetLaneHealth(lane, true);
    const auto accept = [this](int listener, Descriptor connection) {
      Hand(std::move(connection), listener, acceptor_.get());
    };
    const ServerLimits& limits = options_.limits;
    const int most = ConnectionLimit(limits.max_connections, limits.reserved_descriptors + HttpConnections());
    connections_ = std::make_unique<Connections>(std::move(listeners), most, accept, &connection_table_, &metrics_);
    listen_address_ = port == 0 ? options_.listen : WithPort(options_.listen, port);
    watchdog_ = std::make_unique<Watchdog>(options_.watchdog, lanes_.get(), &metrics_,
                                           [this](Lane lane, bool can_answer) { SetLaneHealth(lane, can_answer); });
    return absl::OkStatus();
  }

  // A part of the descriptors that there are for connections.
  int HttpConnections() const {
    if (options_.http.empty()) return 0;
    const int all = ConnectionLimit(options_.limits.max_connections, options_.limits.reserved_descriptors);
    return std::max(1, std::min(HttpListenerOptions().max_connections, all / 4));
  }

  absl::Status ListenToHttp() {
    HttpCalls::Options call_options{options_.http, options_.http_hosts, options_.limits};
    const auto connect = [this](Descriptor connection) { Hand(std::move(connection), -1, own_acceptor_.get()); };
    http_calls_ = std::make_unique<HttpCalls>(call_options, connect, lanes_.get(), &metrics_, access_.get(),
                                              [this] { return UsualTargets(); });
    std::unique_ptr<HttpTls> tls;
    if (!options_.tls.cert.empty()) {
      COBRA_ASSIGN_OR_RETURN(tls, HttpTls::Open(options_.tls));
    }
    HttpListenerOptions listener_options;
    listener_options.listen = options_.http;
    listener_options.max_connections = HttpConnections();
    absl::StatusOr<std::unique_ptr<HttpListener>> listener =
        HttpListener::Start(listener_options, http_calls_.get(), std::move(tls));
    if (!listener.ok()) return absl::UnavailableError(absl::StrCat("--http ", listener.status().message()));
    http_listener_ = *std::move(listener);
    http_address_ = WithPort(options_.http, http_listener_->port());
    return absl::OkStatus();
  }

  // As cobra-client chooses where no target is named: this machine if it is calibrated, else all
  // trained ones.
  std::vector<std::string> UsualTargets() const {
    std::vector<std::string> trained;
    for (const predict::TargetInfo& target : model_->Get()->Targets()) {
      if (target.spec.name == kThisMachine) return {kThisMachine};
      if (!target.calibrated) trained.push_back(target.spec.name);
    }
    return trained;
  }

  absl::StatusOr<std::vector<Descriptor>> ListenAtFlag() const {
    absl::StatusOr<std::vector<Descriptor>> listeners = ListenAt(options_.listen);
    if (!listeners.ok()) return absl::UnavailableError(absl::StrCat("--listen ", listeners.status().message()));
    return listeners;
  }

  void SetLimits(grpc::ServerBuilder* builder) const {
    const ServerLimits& limits = options_.limits;
    const auto milliseconds = [](absl::Duration time) { return static_cast<int>(absl::ToInt64Milliseconds(time)); };
    builder->SetMaxReceiveMessageSize(limits.max_request_bytes);
    proto::RefuseCompression(
        [builder](const std::string& name, int value) { builder->AddChannelArgument(name, value); });
    builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, limits.max_streams_per_connection);
    builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, milliseconds(limits.max_connection_idle));
    builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, milliseconds(limits.handshake_timeout));
    builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, milliseconds(limits.keepalive_period));
    builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, milliseconds(limits.keepalive_timeout));
    grpc::ResourceQuota quota("cobra");
    quota.Resize(static_cast<size_t>(limits.transport_memory_bytes));
    builder->SetResourceQuota(quota);
  }

  // A service is healthy while none of the lanes that its RPCs use is stuck, the server while
  // predictions are answered.
  void SetLaneHealth(Lane lane, bool can_answer) {
    lane_answers_[static_cast<size_t>(lane)] = can_answer;
    std::map<absl::string_view, bool> services;
    for (const RpcInfo& rpc : kRpcs) {
      bool& serving = services.try_emplace(rpc.service, true).first->second;
      serving = serving && lane_answers_[static_cast<size_t>(rpc.lane)];
    }
    for (const auto& [service, serving] : services) health_->Set(std::string(service), serving);
    health_->Set("", lane_answers_[static_cast<size_t>(Lane::kPredictions)]);
  }

  // In the order of construction: a member may use those above it and is destroyed before them.
  const ServerOptions options_;
  Metrics metrics_;
  std::unique_ptr<Access> access_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<store::TaskQueue> queue_;
  std::unique_ptr<TaskWatch> watch_;
  std::unique_ptr<LiveModel> model_;
  std::unique_ptr<ReaderProcesses> readers_;
  std::unique_ptr<PredictionLog> log_;
  std::unique_ptr<UnseenLayers> unseen_;
  std::unique_ptr<NetworkReader> network_reader_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<CalibrationWatch> calibration_watch_;
  std::unique_ptr<Lanes> lanes_;
  ConnectionTable connection_table_;
  UnknownCalls unknown_calls_{&connection_table_};
  std::unique_ptr<Arrivals> arrivals_;
  std::unique_ptr<Health> health_;
  std::unique_ptr<Reflection> reflection_;
  std::unique_ptr<PredictStreams> streams_;
  std::unique_ptr<CobraService> service_;
  std::unique_ptr<MeasurementService> measurement_service_;
  std::unique_ptr<AdminService> admin_service_;
  std::unique_ptr<MetricsEndpoint> endpoint_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_, own_acceptor_;
  std::unique_ptr<grpc::Server> grpc_server_;
  std::unique_ptr<Connections> connections_;
  std::unique_ptr<HttpListener> http_listener_;
  std::unique_ptr<HttpCalls> http_calls_;      // waits for its calls, which use the listener
  bool lane_answers_[std::size(kLanes)] = {};  // set by Listen(); written by the watchdog, once it runs
  std::unique_ptr<Watchdog> watchdog_;
  std::unique_ptr<IdleExit> idle_exit_;
  std::string listen_address_, metrics_address_, http_address_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  auto server = std::make_unique<ServerImpl>(options);
  COBRA_RETURN_IF_ERROR(server->Init());
  return server;
}

}  // namespace cobra::server
