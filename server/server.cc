#include "server/server.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/address.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/subprocess.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "model/predict/predictor.h"
#include "server/access.h"
#include "server/credentials.h"
#include "server/exposure.h"
#include "server/listen_socket.h"
#include "server/live_model.h"
#include "server/measurement_service.h"
#include "server/metrics.h"
#include "server/metrics_endpoint.h"
#include "server/pipeline.h"
#include "server/prediction_log.h"
#include "server/reader_processes.h"
#include "server/rpcs.h"
#include "server/service.h"
#include "server/task_watch.h"
#include "server/unary_calls.h"
#include "server/unseen_layers.h"
#include "server/worker_pool.h"
#include "store/store.h"
#include "store/task_queue.h"

namespace cobra::server {
namespace {

// "host:0" with the port that the system chose.
std::string WithPort(const std::string& address, int port) {
  return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
}

// gRPC does not say why it cannot listen; a plain socket fails for the same reason.
std::string WhyNotTaken(const std::string& address) {
  const absl::Status status = IsGrpcName(address) ? absl::OkStatus() : ListenAt(address).status();
  return status.ok() ? absl::StrCat(address, ": cannot be taken") : std::string(status.message());
}

class ServerImpl final : public Server {
 public:
  explicit ServerImpl(const ServerOptions& options) : options_(options) {}

  ~ServerImpl() override {
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
    COBRA_ASSIGN_OR_RETURN(readers_, ReaderProcesses::Start(reader_options, &metrics_));

    log_ = std::make_unique<PredictionLog>(store_.get(), &metrics_);
    PipelineOptions pipeline_options;
    pipeline_options.limits = options_.limits;
    pipeline_options.prediction_cache_bytes = options_.prediction_cache_bytes;
    UnseenLayersOptions unseen_options;
    unseen_options.max_waiting = options_.max_learning_tasks;
    unseen_ = std::make_unique<UnseenLayers>(unseen_options, queue_.get(), &metrics_);
    pipeline_ = std::make_unique<Pipeline>(pipeline_options, model_.get(), readers_.get(), log_.get(), unseen_.get(),
                                           &metrics_);
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    pool_ = std::make_unique<WorkerPool>(options_.threads > 0 ? options_.threads : cores, options_.limits.max_queued,
                                         &metrics_);
    const UnaryCalls calls(pool_.get(), &metrics_, options_.limits, access_.get());
    service_ = std::make_unique<CobraService>(pipeline_.get(), model_.get(), calls);
    measurement_service_ = std::make_unique<MeasurementService>(queue_.get(), watch_.get(), model_.get(), &metrics_,
                                                                calls, options_.limits.read.graph);
    COBRA_RETURN_IF_ERROR(ExposeMetrics());
    return Listen();
  }

  std::string listen_address() const override { return listen_address_; }
  std::string metrics_address() const override { return metrics_address_; }
  absl::Status ReloadModel() override { return model_->Reload(); }

  void Drain() override {
    grpc_server_->GetHealthCheckService()->SetServingStatus(false);
    pool_->Close();
    if (!pool_->WaitIdle(options_.drain_timeout)) {
      LogWarning(absl::StrCat("requests still run after ", absl::FormatDuration(options_.drain_timeout),
                              "; they are cancelled"));
    }
    // Open health watches would block this forever: they and all other calls end at the deadline.
    grpc_server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
    log_->Flush();
    unseen_->Flush();
  }

 private:
  LiveModel::Loader Loader() const {
    if (options_.loader) return options_.loader;
    predict::PredictorOptions predictor_options;
    predictor_options.embedding_cache_bytes = options_.embedding_cache_bytes;
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
    } else if (!IsLocalAddress(options_.listen)) {
      LogWarning(absl::StrCat(options_.listen, ": whoever reaches this address may do everything"));
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
        MetricsEndpoint::Start(options_.metrics, metrics_.collectables());
    if (!endpoint.ok()) return absl::UnavailableError(absl::StrCat("--metrics ", endpoint.status().message()));
    endpoint_ = *std::move(endpoint);
    metrics_address_ = WithPort(options_.metrics, endpoint_->port());
    return absl::OkStatus();
  }

  absl::Status Listen() {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(options_.listen, credentials_, &port);
    builder.RegisterService(service_.get());
    builder.RegisterService(measurement_service_.get());
    builder.SetMaxReceiveMessageSize(options_.limits.max_request_bytes);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options_.limits.max_streams_per_connection);
    // Two servers on one port would share the requests silently.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    grpc::ResourceQuota quota("cobra");
    quota.Resize(static_cast<size_t>(options_.limits.transport_memory_bytes));
    builder.SetResourceQuota(quota);
    grpc_server_ = builder.BuildAndStart();
    if (grpc_server_ == nullptr || port == 0) {
      return absl::UnavailableError(absl::StrCat("--listen ", WhyNotTaken(options_.listen)));
    }
    listen_address_ = WithPort(options_.listen, port);
    grpc_server_->GetHealthCheckService()->SetServingStatus(true);
    for (const RpcInfo& rpc : kRpcs) grpc_server_->GetHealthCheckService()->SetServingStatus(rpc.service, true);
    return absl::OkStatus();
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
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<WorkerPool> pool_;
  std::unique_ptr<CobraService> service_;
  std::unique_ptr<MeasurementService> measurement_service_;
  std::unique_ptr<MetricsEndpoint> endpoint_;
  std::unique_ptr<grpc::Server> grpc_server_;
  std::string listen_address_, metrics_address_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  auto server = std::make_unique<ServerImpl>(options);
  COBRA_RETURN_IF_ERROR(server->Init());
  return server;
}

}  // namespace cobra::server
