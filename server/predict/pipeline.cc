#include "server/predict/pipeline.h"

#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/bytes/hash.h"
#include "base/bytes/keyed_hash.h"
#include "base/diagnostic.h"
#include "base/log.h"
#include "base/names.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "base/with_code.h"
#include "frontend/python/reader.h"
#include "model/predict/target/target_hint.h"
#include "proto/joined_reply.h"
#include "proto/network_hash.h"
#include "proto/request_words.h"
#include "server/predict/predict_message.h"

namespace cobra::server {
namespace {

absl::Status OtherVersion(absl::string_view wanted, absl::string_view serving) {
  return WithCode(absl::StatusCode::kFailedPrecondition,
                  UsageError(absl::StrCat(wanted, ": this model version does not serve; ", serving, " does"),
                             "omit `model_version` to use the version that serves"));
}

absl::Status UnknownTarget(absl::string_view target, const ModelSnapshot& model) {
  std::vector<std::string> names;
  for (const predict::TargetInfo& info : model.Targets()) names.push_back(info.spec.name);
  // First what may be cut off least: there may be hundreds of names.
  std::string hint =
      "`cobra-client calibrate` creates this-machine (a minute); `cobra-client targets` lists the others";
  if (target != kThisMachine) hint = predict::UnknownTargetHint(target, names);
  return WithCode(absl::StatusCode::kNotFound, UsageError(absl::StrCat(target, ": no such target"), std::move(hint)));
}

// Each name once, in the order of the request.
std::vector<std::string> UniqueTargets(const v1::PredictRequest& request) {
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

void AddTimes(absl::Duration read, absl::Duration predicted, v1::PredictResponse* reply) {
  reply->set_read_us(absl::ToDoubleMicroseconds(read));
  reply->set_predict_us(absl::ToDoubleMicroseconds(predicted));
}

std::vector<KnownAnswers::NamedCache> AllCaches(KnownAnswers* known, const LiveModel* model) {
  std::vector<KnownAnswers::NamedCache> caches = known->caches();
  caches.push_back({"embedding", [model] { return model->Get()->predictor->embedding_cache_stats(); },
                    [model] { model->Get()->predictor->ClearEmbeddingCache(); }});
  return caches;
}

}  // namespace

Pipeline::Pipeline(const CacheSizes& sizes, const LiveModel* model, NetworkReader* reader, PredictionLog* log,
                   UnseenLayers* unseen, Metrics* metrics)
    : model_(model),
      reader_(reader),
      log_(log),
      metrics_(metrics),
      known_(sizes, metrics),
      computation_(reader, &known_, log, unseen, metrics),
      caches_(AllCaches(&known_, model)) {
  for (const KnownAnswers::NamedCache& cache : caches_) metrics_->WatchCache(cache.name, cache.stats);
}

absl::StatusOr<v1::PredictResponse> Pipeline::Predict(v1::PredictRequest* request, Bytes graph_bytes,
                                                      const CallContext& call) {
  return PredictWith(*model_->Get(), request, graph_bytes, call);  // one version for the whole request
}

absl::StatusOr<v1::PredictResponse> Pipeline::PredictWith(const ModelSnapshot& model, v1::PredictRequest* request,
                                                          Bytes graph_bytes, const CallContext& call) {
  COBRA_ASSIGN_OR_RETURN(Answer answer, FollowsTargets(*request) ? AnswerVersions(model, request, call)
                                                                 : AnswerOne(model, request, graph_bytes, call));
  if (answer.repeatable) known_.RememberReply(call.request, model.generation, answer.files_unchanged, answer.reply);
  if (!answer.was_known && !call.is_warm_up) AddTimes(answer.read, answer.predicted, &answer.reply);
  return std::move(answer.reply);
}

absl::StatusOr<Pipeline::Answer> Pipeline::AnswerOne(const ModelSnapshot& model, v1::PredictRequest* request,
                                                     Bytes graph_bytes, const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckRequest(*request, graph_bytes, model));
  const Targets targets = UniqueTargets(*request);
  std::optional<Hash128> architecture_key, network_key;
  if (request->has_architecture()) network_key = architecture_key = HashOfArchitecture(request->architecture());
  if (graph_bytes.has_value() && !request->breakdown())
    network_key = proto::NetworkHash(*graph_bytes, reader_->limits().read.graph);
  Answer answer;
  if (!request->breakdown() && network_key.has_value()) {
    if (auto known = known_.AnswerTo(*network_key, model, targets, NetworkParts::WantedBy(*request, call))) {
      if (RecordsOf(call, known->predictions().size())) Record(*known, call);
      answer.reply = *std::move(known);
      answer.was_known = true;
      answer.repeatable = architecture_key.has_value();
      return answer;
    }
  }
  COBRA_ASSIGN_OR_RETURN(ComputedAnswer computed,
                         Compute({model, request, graph_bytes, architecture_key, targets, call}));
  if (network_key.has_value() && !architecture_key.has_value()) known_.RememberNetwork(*network_key, *computed.network);
  return Answer{std::move(computed.reply), computed.read,       computed.predicted,
                /*was_known=*/false,       computed.repeatable, std::move(computed.files_unchanged)};
}

absl::StatusOr<ComputedAnswer> Pipeline::Compute(const NetworkQuestion& question) {
  COBRA_ASSIGN_OR_RETURN(ComputedAnswer computed, computation_.ReadAndPredict(question));
  if (RecordsOf(question.call, computed.reply.predictions().size())) Record(computed.reply, question.call);
  if (question.call.is_warm_up) return computed;
  metrics_->PhaseDone("read", computed.read);
  metrics_->PhaseDone("predict", computed.predicted);
  return computed;
}

absl::StatusOr<Pipeline::Answer> Pipeline::AnswerVersions(const ModelSnapshot& model, v1::PredictRequest* request,
                                                          const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckRequest(*request, std::nullopt, model));
  const Targets targets = UniqueTargets(*request);
  COBRA_ASSIGN_OR_RETURN(const auto by_version, ByVersion(model, *request));
  if (by_version.size() == 1) {
    request->mutable_source()->set_torch_version(by_version.begin()->first);
    return AnswerOne(model, request, std::nullopt, call);
  }
  Answer whole;
  whole.repeatable = true;
  std::vector<FilesUnchanged> files_unchanged;
  proto::JoinedReply joined(targets);
  for (const auto& [version, same] : by_version) {
    v1::PredictRequest question = *request;
    question.mutable_source()->set_torch_version(version);
    question.mutable_targets()->Assign(same.begin(), same.end());
    COBRA_ASSIGN_OR_RETURN(Answer part, AnswerOne(model, &question, std::nullopt, call));
    joined.Add(std::move(part.reply));
    whole.read += part.read;
    whole.predicted += part.predicted;
    whole.repeatable = whole.repeatable && part.repeatable;
    files_unchanged.push_back(std::move(part.files_unchanged));
  }
  whole.reply = std::move(joined).Take();
  whole.files_unchanged = AllUnchanged(std::move(files_unchanged));
  return whole;
}

absl::StatusOr<std::map<std::string, Pipeline::Targets>> Pipeline::ByVersion(const ModelSnapshot& model,
                                                                             const v1::PredictRequest& request) const {
  std::map<std::string, Targets> by_version;
  const bool follows_targets = FollowsTargets(request);
  for (const std::string& target : UniqueTargets(request))
    by_version[follows_targets ? python::TorchVersionOf(model.RuntimeOf(target)) : ""].push_back(target);
  const int most = reader_->limits().max_torch_versions;
  if (by_version.size() > static_cast<size_t>(most)) {
    return UserError(Diagnostic::Kind::kLimit,
                     LimitMessage("the targets", static_cast<int64_t>(by_version.size()), most, "versions of PyTorch"),
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
    question.clear_omit();
    if (!version.empty()) question.mutable_source()->set_torch_version(version);
    COBRA_RETURN_IF_ERROR(CheckRequest(question, graph_bytes, *answered.model));
    std::optional<Hash128> architecture_key;
    if (question.has_architecture()) architecture_key = HashOfArchitecture(question.architecture());
    COBRA_ASSIGN_OR_RETURN(ComputedAnswer computed,
                           Compute({*answered.model, &question, graph_bytes, architecture_key, targets, call}));
    AddTimes(computed.read, computed.predicted, &computed.reply);
    answered.networks.push_back({std::move(computed.graph), std::move(computed.held), std::move(computed.reply)});
  }
  return answered;
}

// A breakdown has names, so it needs the graph.
std::optional<v1::PredictResponse> Pipeline::PredictKnown(const v1::PredictRequest& request, absl::string_view graph,
                                                          const CallContext& call) {
  const std::shared_ptr<const ModelSnapshot> model = model_->Get();
  if (request.breakdown() || !CheckRequest(request, graph, *model).ok()) return std::nullopt;
  const std::optional<Hash128> network_key = proto::NetworkHash(graph, reader_->limits().read.graph);
  if (!network_key.has_value()) return std::nullopt;
  std::optional<v1::PredictResponse> reply =
      known_.AnswerTo(*network_key, *model, UniqueTargets(request), NetworkParts::WantedBy(request, call));
  if (!reply.has_value()) return std::nullopt;
  if (RecordsOf(call, reply->predictions().size())) Record(*reply, call);
  // A request with new names comes once: it would only drive other replies out.
  if (known_.SeenBefore(call.request)) known_.RememberReply(call.request, model->generation, nullptr, *reply);
  return reply;
}

FoundReply Pipeline::FindReply(const CallContext& call, absl::FunctionRef<std::string()> bytes, bool may_wait) {
  FoundReply found = known_.FindReply(call.request, model_->generation(), may_wait, bytes);
  if (found.reply == nullptr || !RecordsOf(call, found.reply->predicted.size())) return found;
  v1::PredictResponse message;
  if (message.ParseFromString(found.reply->bytes)) Record(message, call);
  return found;
}

// Every prediction that a labelled call gets, computed or known. Of other calls the computed ones
// are stored.
bool Pipeline::RecordsOf(const CallContext& call, size_t rows) const {
  return call.labels != nullptr && log_->Admits(static_cast<int64_t>(rows), call.caller);
}

void Pipeline::Record(const v1::PredictResponse& reply, const CallContext& call) {
  for (const v1::TargetPrediction& p : reply.predictions()) {
    log_->Append({absl::Now(), reply.fingerprint(), p.target(), reply.model_version(), p.latency_us(), p.low_us(),
                  p.high_us(), p.confidence(), p.extrapolating(), reply.node_count(), *call.labels},
                 call.caller);
  }
}

void Pipeline::WarmUp(const std::shared_ptr<const ModelSnapshot>& model, absl::Time deadline,
                      const std::atomic<bool>* stop) {
  int64_t answered = 0;
  for (const std::string& bytes : known_.HottestRequests()) {
    if (absl::Now() >= deadline || (stop != nullptr && stop->load(std::memory_order_relaxed))) break;
    PredictMessage message;
    if (!message.Parse(bytes, reader_->limits().max_parsed_bytes).ok()) continue;
    CallContext call;
    call.deadline = deadline;
    call.request = KeyedHash(bytes);
    call.cancelled = stop;
    call.is_warm_up = true;
    answered += PredictWith(*model, message.request(), message.graph(), call).ok() ? 1 : 0;
  }
  if (answered > 0) LogInfo(absl::StrCat("warmed the caches with the ", Counted(answered, "most frequent request")));
}

// The cheap checks come before the source is read.
absl::Status Pipeline::CheckRequest(const v1::PredictRequest& request, Bytes graph, const ModelSnapshot& model) const {
  if (request.targets().empty()) {
    return UsageError("targets: none given", "ListTargets (cobra-client targets) has their names");
  }
  if (request.targets_size() > reader_->limits().max_targets) {
    return UserError(Diagnostic::Kind::kLimit,
                     LimitMessage("", request.targets_size(), reader_->limits().max_targets, "targets"),
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
  if (request.model_case() == v1::PredictRequest::MODEL_NOT_SET && !graph.has_value()) return NoModelError();
  return absl::OkStatus();
}

}  // namespace cobra::server
