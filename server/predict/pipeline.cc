#include "server/predict/pipeline.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/counted.h"
#include "base/diagnostic.h"
#include "base/heap_bytes.h"
#include "base/keyed_hash.h"
#include "base/limit_message.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/thread_priority.h"
#include "base/user_error.h"
#include "base/with_code.h"
#include "frontend/model_source.h"
#include "frontend/python/reader.h"
#include "graph/cost.h"
#include "graph/exact_bytes.h"
#include "graph/fingerprint.h"
#include "graph/graph_bytes.h"
#include "graph/memory.h"
#include "model/predict/target_hint.h"
#include "proto/graph_proto.h"
#include "proto/joined_reply.h"
#include "proto/model_source_proto.h"
#include "proto/network_hash.h"
#include "proto/request_words.h"
#include "server/lanes/request_record.h"
#include "server/predict/predict_message.h"
#include "server/predict/prediction_rows.h"
#include "server/reader/runtime_support.h"

namespace cobra::server {
namespace {

absl::Status OtherVersion(absl::string_view wanted, absl::string_view serving) {
  return WithCode(absl::StatusCode::kFailedPrecondition,
                  UserError(Diagnostic::Kind::kUsage,
                            absl::StrCat(wanted, ": this model version does not serve; ", serving, " does"),
                            "leave `model_version` out to take what serves"));
}

absl::Status UnknownTarget(absl::string_view target, const ModelSnapshot& model) {
  std::vector<std::string> names;
  for (const predict::TargetInfo& info : model.Targets()) names.push_back(info.spec.name);
  // First what may be cut off least: there may be hundreds of names.
  std::string hint = "`cobra-client calibrate` makes this-machine (a minute); `cobra-client targets` lists the others";
  if (target != kThisMachine) hint = predict::UnknownTargetHint(target, names);
  return WithCode(absl::StatusCode::kNotFound,
                  UserError(Diagnostic::Kind::kUsage, absl::StrCat(target, ": no such target"), std::move(hint)));
}

absl::Status NoModel() {
  return UserError(Diagnostic::Kind::kUsage, "model: is missing",
                   "set one of source, graph, onnx, tflite, architecture, ncnn");
}

// What PyTorch runs and takes no time is a mistake: a network without calls, or on empty inputs (a
// batch of 0).
absl::Status CheckHasTime(const graph::Graph& graph) {
  if (graph.nodes().empty()) {
    return UserError(Diagnostic::Kind::kUsage, "the model: has no calls of an operator, so there is no time to predict",
                     "its result is an input, a parameter or a constant: check `entry` and `method`");
  }
  for (const graph::NamedTensor& input : graph.inputs()) {
    if (input.type.num_elements() > 0) return absl::OkStatus();
  }
  if (graph.inputs().empty()) return absl::OkStatus();
  return UserError(
      Diagnostic::Kind::kUsage,
      absl::StrCat(graph::TypeText(graph.inputs()[0].type), ": an input without elements has no latency to predict"),
      "give every dimension of the input at least 1");
}

// Each name once, in the order of the request.
std::vector<std::string> DifferentTargets(const v1::PredictRequest& request) {
  std::vector<std::string> targets;
  for (const std::string& target : request.targets()) {
    if (!absl::c_linear_search(targets, target)) targets.push_back(target);
  }
  return targets;
}

// Whether it is a program of which no version of PyTorch is given.
bool FollowsTargets(const v1::PredictRequest& request) {
  return request.has_source() && request.source().torch_version().empty();
}

// No graph's key: no message begins with a zero, and no graph has as many inputs as the first eight
// bytes say (graph/exact_bytes.h).
Hash128 HashOfArchitecture(const v1::Architecture& architecture) {
  constexpr absl::string_view kPrefix("\0architecture ", 14);
  return KeyedHash(absl::StrCat(kPrefix, architecture.SerializeAsString()));
}

FilesUnchanged AllUnchanged(std::vector<FilesUnchanged> parts) {
  return [parts = std::move(parts)] {
    return absl::c_all_of(parts, [](const FilesUnchanged& unchanged) { return unchanged == nullptr || unchanged(); });
  };
}

void Count(const PredictionCounters& counters) {
  counters.from_cache->Increment();
  if (counters.extrapolating != nullptr) counters.extrapolating->Increment();
}

}  // namespace

Pipeline::Pipeline(PipelineOptions options, const LiveModel* model, ReaderProcesses* readers, PredictionLog* log,
                   UnseenLayers* unseen, Metrics* metrics)
    : options_(std::move(options)),
      model_(model),
      readers_(readers),
      log_(log),
      unseen_(unseen),
      metrics_(metrics),
      networks_(options_.network_cache_bytes),
      cache_(options_.prediction_cache_bytes),
      replies_(options_.reply_cache_bytes),
      graphs_("networks that are worked on", "try again, or send fewer and smaller ones at a time",
              options_.limits.max_graph_bytes, options_.limits.max_graph_bytes_per_caller),
      named_caches_({{"reply", [this] { return replies_.stats(); }, [this] { replies_.Clear(); }},
                     {"network", [this] { return networks_.stats(); }, [this] { networks_.Clear(); }},
                     {"prediction", [this] { return cache_.stats(); }, [this] { cache_.Clear(); }},
                     {"embedding", [this] { return model_->Get()->predictor->embedding_cache_stats(); },
                      [this] { model_->Get()->predictor->ClearEmbeddingCache(); }}}) {
  for (const NamedCache& cache : named_caches_) metrics_->WatchCache(cache.name, cache.stats);
}

absl::StatusOr<HeldBytes::Part> Pipeline::HoldGraph(const graph::Graph& graph, const CallContext& call) {
  return HoldGraphBytes(graph::GraphBytes(graph), call);
}

absl::StatusOr<HeldBytes::Part> Pipeline::HoldGraphBytes(int64_t bytes, const CallContext& call) {
  return graphs_.Hold(call.caller, static_cast<size_t>(bytes));
}

absl::StatusOr<v1::PredictResponse> Pipeline::Predict(v1::PredictRequest* request, Bytes graph_bytes,
                                                      const CallContext& call) {
  return PredictWith(*model_->Get(), request, graph_bytes, call);  // one version for the whole request
}

absl::StatusOr<v1::PredictResponse> Pipeline::PredictWith(const ModelSnapshot& model, v1::PredictRequest* request,
                                                          Bytes graph_bytes, const CallContext& call) {
  return FollowsTargets(*request) ? PredictVersions(model, request, call)
                                  : PredictOn(model, request, graph_bytes, call);
}

absl::StatusOr<v1::PredictResponse> Pipeline::PredictVersions(const ModelSnapshot& model, v1::PredictRequest* request,
                                                              const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckRequest(*request, std::nullopt, model));
  const Targets targets = DifferentTargets(*request);
  COBRA_ASSIGN_OR_RETURN(const auto by_version, ByVersion(model, *request));
  if (by_version.size() == 1) {
    request->mutable_source()->set_torch_version(by_version.begin()->first);
    return PredictOn(model, request, std::nullopt, call);
  }
  CallContext part = call;
  part.request = Hash128();  // no reply to a part answers the whole request
  Repeatable repeatable;
  proto::JoinedReply joined(targets);
  for (const auto& [version, same] : by_version) {
    v1::PredictRequest question = *request;
    question.mutable_source()->set_torch_version(version);
    question.mutable_targets()->Assign(same.begin(), same.end());
    COBRA_ASSIGN_OR_RETURN(v1::PredictResponse answer, PredictOn(model, &question, std::nullopt, part, &repeatable));
    joined.Add(std::move(answer));
  }
  v1::PredictResponse reply = std::move(joined).Take();
  if (repeatable.is_repeatable) {
    v1::PredictResponse without_times = reply;
    without_times.clear_read_us();
    without_times.clear_predict_us();
    RememberReply(call.request, model, AllUnchanged(std::move(repeatable.files_unchanged)), without_times);
  }
  return reply;
}

absl::StatusOr<std::map<std::string, Pipeline::Targets>> Pipeline::ByVersion(const ModelSnapshot& model,
                                                                             const v1::PredictRequest& request) const {
  std::map<std::string, Targets> by_version;
  const bool follows_targets = FollowsTargets(request);
  for (const std::string& target : DifferentTargets(request))
    by_version[follows_targets ? python::TorchVersionOf(model.RuntimeOf(target)) : ""].push_back(target);
  if (by_version.size() > static_cast<size_t>(options_.limits.max_torch_versions)) {
    return UserError(Diagnostic::Kind::kLimit,
                     LimitMessage("the targets", static_cast<int64_t>(by_version.size()),
                                  options_.limits.max_torch_versions, "versions of PyTorch"),
                     "set `torch_version`, or ask for fewer targets at once");
  }
  return by_version;
}

absl::StatusOr<Pipeline::AnsweredNetworks> Pipeline::PredictNetworks(const v1::PredictRequest& request,
                                                                     Bytes graph_bytes, const CallContext& call) {
  AnsweredNetworks answered{model_->Get(), {}};
  COBRA_RETURN_IF_ERROR(CheckRequest(request, graph_bytes, *answered.model));
  COBRA_ASSIGN_OR_RETURN(const auto by_version, ByVersion(*answered.model, request));
  for (const auto& [version, targets] : by_version) {
    v1::PredictRequest question = request;
    question.set_breakdown(true);
    if (!version.empty()) question.mutable_source()->set_torch_version(version);
    question.mutable_targets()->Assign(targets.begin(), targets.end());
    AnsweredNetwork& network = answered.networks.emplace_back();
    COBRA_ASSIGN_OR_RETURN(network.reply, PredictOn(*answered.model, &question, graph_bytes, call,
                                                    /*repeatable=*/nullptr, &network.graph));
    COBRA_ASSIGN_OR_RETURN(network.held, HoldGraph(network.graph, call));
  }
  return answered;
}

absl::StatusOr<v1::PredictResponse> Pipeline::PredictOn(const ModelSnapshot& model, v1::PredictRequest* request,
                                                        Bytes graph_bytes, const CallContext& call,
                                                        Repeatable* repeatable, graph::Graph* network_graph) {
  COBRA_RETURN_IF_ERROR(CheckRequest(*request, graph_bytes, model));
  const Targets targets = DifferentTargets(*request);
  v1::PredictResponse reply;
  reply.set_model_version(model.predictor->info().version);

  const bool is_architecture = request->has_architecture();
  std::optional<Hash128> network_hash;
  if (is_architecture) network_hash = HashOfArchitecture(request->architecture());
  if (graph_bytes.has_value() && !request->breakdown())
    network_hash = proto::NetworkHash(*graph_bytes, options_.limits.read.graph);
  if (!request->breakdown() && network_hash.has_value() && AnswerKnown(*network_hash, model, targets, call, &reply)) {
    if (is_architecture) RememberReply(call.request, model, nullptr, reply);
    return reply;
  }

  const std::string torch_version = request->source().torch_version();
  const absl::Time start = absl::Now();
  absl::StatusOr<ReadResult> result = ReadModel(request, graph_bytes, call);
  const absl::Time read = absl::Now();
  if (call.stages != nullptr) call.stages->read = read - start;
  COBRA_RETURN_IF_ERROR(result.status());
  const ReadResult& source = *result;
  COBRA_RETURN_IF_ERROR(CheckHasTime(source.graph));
  COBRA_ASSIGN_OR_RETURN(const HeldBytes::Part held, HoldGraph(source.graph, call));

  // An architecture string is one network, and shorter than its graph.
  const Hash128 exact = is_architecture ? *network_hash : KeyedHash(graph::ExactBytes(source.graph));
  COBRA_ASSIGN_OR_RETURN(const std::shared_ptr<const Network> network, NetworkOf(source.graph, exact, call));
  const Question question{model, source.graph, *network, request->keep_private(), call};
  FillNetwork(*network, &reply);
  const absl::Status answered =
      request->breakdown() ? PredictCalls(question, targets, &reply) : PredictTotals(question, targets, &reply);
  const absl::Time predicted = absl::Now();
  if (call.stages != nullptr) call.stages->predicted = predicted - read;
  COBRA_RETURN_IF_ERROR(answered);
  if (network_hash.has_value() && !is_architecture) RememberNetwork(*network_hash, *network);
  for (v1::TargetPrediction& prediction : *reply.mutable_predictions()) prediction.set_torch_version(torch_version);
  if (call.labels != nullptr && log_->Admits(static_cast<int64_t>(targets.size()), call.caller))
    RecordLabelled(reply, call);
  if (source.repeatable) RememberReply(call.request, model, source.files_unchanged, reply);
  if (repeatable != nullptr) repeatable->Add(source);
  if (network_graph != nullptr) *network_graph = std::move(result->graph);
  if (call.is_warm_up) return reply;

  reply.set_read_us(absl::ToDoubleMicroseconds(read - start));
  reply.set_predict_us(absl::ToDoubleMicroseconds(predicted - read));
  metrics_->PhaseDone("read", read - start);
  metrics_->PhaseDone("predict", predicted - read);
  return reply;
}

// A breakdown has names, so it needs the graph.
std::optional<v1::PredictResponse> Pipeline::PredictKnown(const v1::PredictRequest& request, absl::string_view graph,
                                                          const CallContext& call) {
  const std::shared_ptr<const ModelSnapshot> model = model_->Get();
  if (request.breakdown() || !CheckRequest(request, graph, *model).ok()) return std::nullopt;
  const std::optional<Hash128> network_hash = proto::NetworkHash(graph, options_.limits.read.graph);
  v1::PredictResponse reply;
  reply.set_model_version(model->predictor->info().version);
  if (!network_hash.has_value() || !AnswerKnown(*network_hash, *model, DifferentTargets(request), call, &reply))
    return std::nullopt;
  // Requests with names of their own come once: they would only drive other replies out.
  if (replies_.SeenBefore(call.request)) RememberReply(call.request, *model, nullptr, reply);
  return reply;
}

absl::StatusOr<Pipeline::Network> Pipeline::DescribeNetwork(const graph::Graph& graph, const Hash128& exact,
                                                            const CallContext& call) {
  Network network;
  network.exact = exact;
  network.fingerprint = graph::Fingerprint(graph).ToHex();
  COBRA_RETURN_IF_ERROR(call.Check());
  const graph::GraphCost cost = graph::CostOf(graph);
  COBRA_RETURN_IF_ERROR(call.Check());
  network.node_count = static_cast<int>(graph.nodes().size());
  network.parameter_count = graph.num_parameters();
  network.macs = cost.macs;
  network.flops = cost.flops;
  network.peak_memory_bytes = graph::PeakMemoryBytes(graph);
  network.is_float32 =
      absl::c_all_of(graph.parameters(), [](const auto& p) { return p.type.dtype == graph::DType::float32; });
  return network;
}

int64_t Pipeline::PeakMemoryBytesOn(const Question& question, const std::string& target) {
  const bool is_halved = question.network.is_float32 && question.model.HasHalfTensors(target);
  return is_halved ? question.network.peak_memory_bytes / 2 : 0;
}

absl::StatusOr<std::shared_ptr<const Pipeline::Network>> Pipeline::NetworkOf(const graph::Graph& graph,
                                                                             const Hash128& exact,
                                                                             const CallContext& call) {
  std::shared_ptr<const Network> known = networks_.Find(exact);
  if (known != nullptr) return known;
  COBRA_ASSIGN_OR_RETURN(Network network, DescribeNetwork(graph, exact, call));
  return RememberNetwork(exact, std::move(network));
}

std::shared_ptr<const Pipeline::Network> Pipeline::RememberNetwork(const Hash128& key, Network network) {
  return networks_.Insert(key, network, HeapBytes(network.fingerprint));
}

void Pipeline::FillNetwork(const Network& network, v1::PredictResponse* reply) {
  reply->set_fingerprint(network.fingerprint);
  reply->set_node_count(network.node_count);
  reply->set_parameter_count(network.parameter_count);
  reply->set_macs(network.macs);
  reply->set_flops(network.flops);
  reply->set_peak_memory_bytes(network.peak_memory_bytes);
}

// A cached answer is that of the very same graph on the same target of the same snapshot. The
// fingerprint would not do as a key: it leaves out calls that take time, and strangers could choose
// two graphs that share it.
Hash128 Pipeline::KeyOfTotals(const Network& network, const ModelSnapshot& model, absl::string_view target) {
  SipHasher hasher = KeyedHasher();
  const int64_t head[] = {static_cast<int64_t>(network.exact.high), static_cast<int64_t>(network.exact.low),
                          model.generation};
  hasher.Add(absl::string_view(reinterpret_cast<const char*>(head), sizeof(head)));
  hasher.Add(target);
  return std::move(hasher).Finish();
}

bool Pipeline::AnswerKnown(const Hash128& network_hash, const ModelSnapshot& model, const Targets& targets,
                           const CallContext& call, v1::PredictResponse* reply) {
  const std::shared_ptr<const Network> network = networks_.Find(network_hash);
  if (network == nullptr) return false;
  std::vector<std::shared_ptr<const KnownTotals>> known;
  for (const std::string& target : targets) {
    known.push_back(cache_.Find(KeyOfTotals(*network, model, target)));
    if (known.back() == nullptr) return false;
  }
  FillNetwork(*network, reply);
  for (size_t i = 0; i < targets.size(); ++i) {
    Count(known[i]->counters);
    FillTargetPrediction(targets[i], known[i]->totals, known[i]->peak_memory_bytes, reply->add_predictions());
  }
  if (call.labels != nullptr && log_->Admits(static_cast<int64_t>(targets.size()), call.caller))
    RecordLabelled(*reply, call);
  return true;
}

std::shared_ptr<const CachedReply> Pipeline::FindReply(const CallContext& call, absl::FunctionRef<std::string()> bytes,
                                                       bool may_wait, bool* must_wait) {
  std::shared_ptr<const CachedReply> reply = replies_.Find(call.request, model_->generation(), may_wait, must_wait);
  if (reply == nullptr) return nullptr;
  hot_.Asked(call.request, bytes);
  for (const PredictionCounters& counters : reply->predicted) Count(counters);
  v1::PredictResponse message;
  const auto rows = static_cast<int64_t>(reply->predicted.size());
  if (call.labels != nullptr && log_->Admits(rows, call.caller) && message.ParseFromString(reply->bytes))
    RecordLabelled(message, call);
  return reply;
}

// Every prediction that a labelled call gets, computed or known. Of other calls the computed ones
// are stored.
void Pipeline::RecordLabelled(const v1::PredictResponse& reply, const CallContext& call) {
  for (const v1::TargetPrediction& p : reply.predictions()) {
    log_->Append({absl::Now(), reply.fingerprint(), p.target(), reply.model_version(), p.latency_us(), p.low_us(),
                  p.high_us(), p.confidence(), p.extrapolating(), reply.node_count(), *call.labels},
                 call.caller);
  }
}

void Pipeline::WarmUp(const std::shared_ptr<const ModelSnapshot>& model, absl::Time deadline,
                      const std::atomic<bool>* stop) {
  int64_t answered = 0;
  for (const std::string& bytes : hot_.Hottest()) {
    if (absl::Now() >= deadline || (stop != nullptr && stop->load(std::memory_order_relaxed))) break;
    PredictMessage message;
    if (!message.Parse(bytes, options_.limits.max_parsed_bytes).ok()) continue;
    CallContext call;
    call.deadline = deadline;
    call.request = KeyedHash(bytes);
    call.cancelled = stop;
    call.is_warm_up = true;
    answered += PredictWith(*model, message.request(), message.graph(), call).ok() ? 1 : 0;
  }
  if (answered > 0)
    LogInfo(absl::StrCat("answered ahead: ", Counted(answered, "request"), ", those that are asked most"));
}

// The times stay out: another request's reading takes no time.
void Pipeline::RememberReply(const Hash128& request, const ModelSnapshot& model, const FilesUnchanged& files_unchanged,
                             const v1::PredictResponse& reply) {
  if (request == Hash128()) return;
  CachedReply cached;
  cached.generation = model.generation;
  cached.bytes = reply.SerializeAsString();
  for (const v1::TargetPrediction& prediction : reply.predictions())
    cached.predicted.push_back(metrics_->CountersOf(prediction.target(), prediction.extrapolating()));
  cached.files_unchanged = files_unchanged;
  cached.files_checked_ns.store(absl::GetCurrentTimeNanos(), std::memory_order_relaxed);
  replies_.Insert(request, std::move(cached));
}

// The cheap checks come before the source is read.
absl::Status Pipeline::CheckRequest(const v1::PredictRequest& request, Bytes graph, const ModelSnapshot& model) const {
  if (request.targets().empty()) {
    return UserError(Diagnostic::Kind::kUsage, "targets: none given",
                     "ListTargets (cobra-client targets) has their names");
  }
  if (request.targets_size() > options_.limits.max_targets) {
    return UserError(Diagnostic::Kind::kLimit,
                     LimitMessage("", request.targets_size(), options_.limits.max_targets, "targets"),
                     "split them into several requests");
  }
  const std::string& serving = model.predictor->info().version;
  if (!request.model_version().empty() && request.model_version() != serving)
    return OtherVersion(request.model_version(), serving);
  for (const std::string& target : request.targets()) {
    if (!model.Knows(target)) return UnknownTarget(target, model);
  }
  if (request.has_source() && !request.source().torch_version().empty())
    COBRA_RETURN_IF_ERROR(proto::InFieldNames(python::CheckTorchVersion(request.source().torch_version())));
  if (request.model_case() == v1::PredictRequest::MODEL_NOT_SET && !graph.has_value()) return NoModel();
  return absl::OkStatus();
}

// Programs and files of other tools are read in a process of their own. A graph or an architecture
// string is checked in a few lines.
absl::StatusOr<ReadResult> Pipeline::ReadWithin(const Limits& limits, v1::PredictRequest* request, Bytes graph_bytes,
                                                const CallContext& call) {
  if (graph_bytes.has_value()) {
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, proto::GraphFromWire(*graph_bytes, limits.graph));
    return ReadResult{std::move(graph), /*repeatable=*/true, nullptr};
  }
  if (request->has_source() || request->has_onnx() || request->has_tflite() || request->has_ncnn())
    return readers_->Read(request, limits.graph, call);
  COBRA_ASSIGN_OR_RETURN(frontend::ModelSource source, proto::TakeModelSource(request, limits));
  COBRA_ASSIGN_OR_RETURN(graph::Graph graph, frontend::ReadModel(std::move(source), limits));
  return ReadResult{std::move(graph), /*repeatable=*/true, nullptr};
}

absl::StatusOr<ReadResult> Pipeline::ReadModel(v1::PredictRequest* request, Bytes graph, const CallContext& call) {
  COBRA_RETURN_IF_ERROR(call.Check());
  const int64_t left_ms = std::max<int64_t>(1, absl::ToInt64Milliseconds(call.deadline - absl::Now()));
  Limits limits = options_.limits.read;
  limits.cancelled = call.cancelled;
  limits.wall_time_ms = std::min(limits.wall_time_ms, left_ms);
  absl::StatusOr<ReadResult> result = ReadWithin(limits, request, graph, call);
  if (result.ok()) return result;
  // A program that was stopped because its caller no longer waits is not at fault.
  COBRA_RETURN_IF_ERROR(call.Check());
  if (auto diagnostic = DiagnosticFromStatus(result.status())) metrics_->ReaderFailed(diagnostic->kind);
  return proto::InFieldNames(result.status());
}

absl::StatusOr<graph::Graph> Pipeline::ReadNetwork(v1::PredictRequest* request, absl::string_view runtime,
                                                   const CallContext& call) {
  if (request->model_case() == v1::PredictRequest::MODEL_NOT_SET) return NoModel();
  if (request->has_source()) {
    std::string* version = request->mutable_source()->mutable_torch_version();
    if (version->empty()) *version = python::TorchVersionOf(std::string(runtime));
    COBRA_RETURN_IF_ERROR(proto::InFieldNames(python::CheckTorchVersion(*version)));
  }
  std::string bytes;
  const bool has_graph = request->has_graph();
  if (has_graph) bytes = request->graph().SerializeAsString();
  COBRA_ASSIGN_OR_RETURN(ReadResult read, ReadModel(request, has_graph ? Bytes(bytes) : std::nullopt, call));
  COBRA_RETURN_IF_ERROR(CheckHasTime(read.graph));
  return std::move(read.graph);
}

absl::StatusOr<predict::LatencyPrediction> Pipeline::Compute(const Question& question, const std::string& target) {
  const auto& [model, graph, network, keep_private, call] = question;
  COBRA_RETURN_IF_ERROR(call.Check());
  absl::StatusOr<predict::LatencyPrediction> computed =
      model.predictor->Predict(graph, target, model.FindCalibration(target), [&call = call] {
        YieldPeriodically();
        return call.Stopped();
      });
  if (!computed.ok()) {
    COBRA_RETURN_IF_ERROR(call.Check());  // the predictor does not know why it was stopped
    return computed.status();
  }
  const std::string why = WhyNotRunnable(graph, model.RuntimeOf(target));
  if (!why.empty()) {
    computed->confidence = computed->coverage = 0;
    computed->extrapolating = true;
    computed->unknown.insert(computed->unknown.begin(), {why, 1.0});
  }
  if (call.is_warm_up) return computed;
  metrics_->Predicted(target, /*from_cache=*/false, computed->extrapolating);
  if (call.labels == nullptr) {
    log_->Append({absl::Now(), network.fingerprint, target, model.predictor->info().version, computed->latency_us,
                  computed->low_us, computed->high_us, computed->confidence, computed->extrapolating,
                  static_cast<int64_t>(graph.nodes().size()), ""},
                 call.caller);
  }
  if (computed->extrapolating && why.empty() && !keep_private) unseen_->Offer(graph, *computed, target, call.caller);
  return computed;
}

// A breakdown is always computed, from the predictor's own cache of layers.
absl::Status Pipeline::PredictCalls(const Question& question, const Targets& targets, v1::PredictResponse* reply) {
  const int64_t row_bytes = BreakdownRowBytes(question.graph), most = options_.limits.max_reply_bytes;
  int64_t reply_bytes = row_bytes * static_cast<int64_t>(targets.size());
  COBRA_RETURN_IF_ERROR(CheckPredictReplyBytes(reply_bytes, most));
  for (const std::string& target : targets) {
    COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction prediction, Compute(question, target));
    reply_bytes += BreakdownReasonBytes(prediction);
    COBRA_RETURN_IF_ERROR(CheckPredictReplyBytes(reply_bytes, most));
    v1::TargetPrediction* out = reply->add_predictions();
    FillTargetPrediction(target, prediction, PeakMemoryBytesOn(question, target), out);
    FillBreakdown(question.graph, prediction, out);
  }
  return absl::OkStatus();
}

absl::Status Pipeline::PredictTotals(const Question& question, const Targets& targets, v1::PredictResponse* reply) {
  for (const std::string& target : targets) {
    COBRA_ASSIGN_OR_RETURN(const std::shared_ptr<const KnownTotals> known, TotalsOf(question, target));
    FillTargetPrediction(target, known->totals, known->peak_memory_bytes, reply->add_predictions());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Pipeline::KnownTotals>> Pipeline::TotalsOf(const Question& question,
                                                                                const std::string& target) {
  const Hash128 key = KeyOfTotals(question.network, question.model, target);
  std::shared_ptr<const KnownTotals> known = cache_.Find(key);
  if (known == nullptr) {
    const bool is_first = computing_.Begin(key, [&] { return question.call.Stopped(); });
    if (!is_first) known = cache_.Find(key);
    if (known == nullptr) {  // also if the one that was first has failed
      const auto end = absl::MakeCleanup([&] {
        if (is_first) computing_.End(key);
      });
      return ComputeTotals(question, target, key);
    }
  }
  if (!question.call.is_warm_up) Count(known->counters);
  return known;
}

absl::StatusOr<std::shared_ptr<const Pipeline::KnownTotals>> Pipeline::ComputeTotals(const Question& question,
                                                                                     const std::string& target,
                                                                                     const Hash128& key) {
  COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction computed, Compute(question, target));
  KnownTotals totals{computed, PeakMemoryBytesOn(question, target),
                     metrics_->CountersOf(target, computed.extrapolating)};  // without the calls
  const std::vector<predict::UnknownPart>& unknown = totals.totals.unknown;
  int64_t held_bytes = HeapBytes(unknown);
  for (const predict::UnknownPart& part : unknown) held_bytes += HeapBytes(part.why);
  return cache_.Insert(key, std::move(totals), held_bytes);
}

}  // namespace cobra::server
