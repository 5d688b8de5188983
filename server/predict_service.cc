#include "server/predict_service.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "base/device_name.h"
#include "base/diagnostic.h"
#include "base/names.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "base/version.h"
#include "server/access/access.h"
#include "server/access/caller.h"
#include "server/access/forwarded.h"
#include "server/predict/predict_message.h"
#include "server/predict/report_reply.h"
#include "server/rpc/message_bytes.h"
#include "server/targets/done_once.h"
#include "server/targets/target_message.h"

namespace cobra::server {
namespace {

bool HasPart(absl::string_view text, absl::string_view part) {
  return absl::StrContains(absl::AsciiStrToLower(text), absl::AsciiStrToLower(part));
}

// Each is looked for in every target. No name is longer.
absl::Status CheckFilter(const v1::ListTargetsRequest& filter) {
  constexpr size_t kMost = 200;
  for (const auto& [name, text] : {std::make_pair("name", &filter.name()), std::make_pair("device", &filter.device()),
                                   std::make_pair("runtime", &filter.runtime()), std::make_pair("kind", &filter.kind()),
                                   std::make_pair("precision", &filter.precision())}) {
    if (text->size() > kMost)
      return UserError(Diagnostic::Kind::kLimit,
                       LimitMessage(name, static_cast<int64_t>(text->size()), kMost, "bytes"));
  }
  return absl::OkStatus();
}

bool Fits(const v1::ListTargetsRequest& filter, const predict::TargetInfo& target) {
  const predict::TargetSpec& spec = target.spec;
  return HasPart(spec.name, filter.name()) && DeviceNameHas(spec.device, filter.device()) &&
         HasPart(spec.runtime, filter.runtime()) &&
         (filter.kind().empty() || absl::EqualsIgnoreCase(spec.kind, filter.kind())) &&
         (filter.precision().empty() || absl::EqualsIgnoreCase(spec.precision, filter.precision())) &&
         (filter.origin() == v1::ListTargetsRequest::ORIGIN_UNSPECIFIED ||
          (filter.origin() == v1::ListTargetsRequest::ORIGIN_CALIBRATED) == target.calibrated);
}

}  // namespace

CobraService::CobraService(NetworkReader* reader, Pipeline* pipeline, PredictStreams* streams, LiveModel* model,
                           store::Store* store, const UnaryCalls& calls)
    : UnaryService(calls),
      pipeline_(pipeline),
      streams_(streams),
      model_(model),
      adaptation_(reader, model),
      history_(store, calls.limits().max_reply_bytes) {
  Answer(Rpc::kPredict, [this](auto* context) { return Predict(context); });
  Answer(Rpc::kPredictBatch, [this](auto* context) {
    const UnaryCalls& own = this->calls();
    auto work = std::make_shared<BatchWork>(pipeline_, &own.lanes()->replies(), own.metrics(), own.limits());
    return own.RunShared(Rpc::kPredictBatch, context, std::move(work));
  });
  Answer(Rpc::kPredictStream, [this](auto* context) { return streams_->Open(context, this->calls().access()); });
  AnswerUnary(Rpc::kListTargets, this, &CobraService::HandleListTargets);
  AnswerUnary(Rpc::kGetModelInfo, this, &CobraService::HandleGetModelInfo);
  AnswerUnary(Rpc::kCalibrate, this, &CobraService::HandleCalibrate);
  AnswerUnary(Rpc::kUndoCalibration, this, &CobraService::HandleUndoCalibration);
  AnswerUnary(Rpc::kAdapt, &adaptation_, &Adaptation::HandleAdapt, ParseTimedNetworks);
  AnswerUnary(Rpc::kObserve, &adaptation_, &Adaptation::HandleObserve, ParseTimedNetworks);
  AnswerUnary(Rpc::kExportTarget, &adaptation_, &Adaptation::HandleExportTarget);
  AnswerUnary(Rpc::kSuggestSamples, &adaptation_, &Adaptation::HandleSuggestSamples, ParseTimedNetworks);
  AnswerUnary(Rpc::kListPredictions, &history_, &PredictionHistory::HandleListPredictions);
}

BytesReactor* CobraService::Predict(grpc::CallbackServerContext* context) const {
  if (WantsReport(*context)) {
    return calls().RunBytes(Rpc::kPredict, context, /*shortcut=*/nullptr,
                            [this](const grpc::ByteBuffer& request, const CallContext& call,
                                   grpc::ByteBuffer* response) { return HandleReport(request, response, call); });
  }
  return calls().RunBytes(
      Rpc::kPredict, context,
      [this](const grpc::ByteBuffer& request, const CallContext& call, bool may_wait, grpc::ByteBuffer* response) {
        return FindReply(request, call, may_wait, response);
      },
      [this](const grpc::ByteBuffer& request, const CallContext& call, grpc::ByteBuffer* response) {
        return HandlePredict(request, response, call);
      });
}

UnaryCalls::Shortcut CobraService::FindReply(const grpc::ByteBuffer& request, const CallContext& call, bool may_wait,
                                             grpc::ByteBuffer* response) const {
  // Some 50 us; what takes longer is for the pool.
  constexpr size_t kMaxGraphBytes = 64 << 10;
  const auto bytes = [&request] { return TextOf(request); };
  const FoundReply found = pipeline_->FindReply(call, bytes, may_wait);
  if (found.reply != nullptr) {
    grpc::ByteBuffer bytes = BufferOf(found.reply->bytes);
    response->Swap(&bytes);
    return UnaryCalls::Shortcut::kAnswered;
  }
  if (found.must_wait) return UnaryCalls::Shortcut::kLater;
  PredictMessage message;
  if (may_wait || request.Length() > kMaxGraphBytes ||
      !message.Parse(request, calls().limits().max_parsed_bytes).ok() || !message.graph().has_value())
    return UnaryCalls::Shortcut::kUnknown;
  const std::optional<v1::PredictResponse> reply = pipeline_->PredictKnown(*message.request(), *message.graph(), call);
  return reply.has_value() && SerializeMessage(*reply, response).ok() ? UnaryCalls::Shortcut::kAnswered
                                                                      : UnaryCalls::Shortcut::kUnknown;
}

absl::Status CobraService::HandlePredict(const grpc::ByteBuffer& request, grpc::ByteBuffer* response,
                                         const CallContext& call) const {
  PredictMessage message;
  COBRA_RETURN_IF_ERROR(message.Parse(request, calls().limits().max_parsed_bytes));
  COBRA_ASSIGN_OR_RETURN(const v1::PredictResponse reply, pipeline_->Predict(message.request(), message.graph(), call));
  return SerializeMessage(reply, response);
}

absl::Status CobraService::HandleReport(const grpc::ByteBuffer& request, grpc::ByteBuffer* response,
                                        const CallContext& call) const {
  PredictMessage message;
  COBRA_RETURN_IF_ERROR(message.Parse(request, calls().limits().max_parsed_bytes));
  COBRA_ASSIGN_OR_RETURN(const std::string report,
                         MakeReport(pipeline_, *message.request(), message.graph(), calls().limits(), call));
  grpc::ByteBuffer bytes = BufferOf(report);
  response->Swap(&bytes);
  return absl::OkStatus();
}

absl::Status CobraService::HandleListTargets(const v1::ListTargetsRequest& request, v1::ListTargetsResponse* response,
                                             const CallContext& call) {
  if (!v1::ListTargetsRequest::Origin_IsValid(request.origin())) {
    return UsageError(absl::StrCat("origin ", static_cast<int>(request.origin()), ": is none"),
                      "use ORIGIN_TRAINED or ORIGIN_CALIBRATED, or leave it out");
  }
  COBRA_RETURN_IF_ERROR(CheckFilter(request));
  const std::shared_ptr<const ModelSnapshot> model = model_->Get();
  for (const predict::TargetInfo& info : model->Targets()) {
    if (Fits(request, info)) FillTarget(info, *model, response->add_targets());
  }
  return absl::OkStatus();
}

absl::Status CobraService::HandleGetModelInfo(const v1::GetModelInfoRequest& request,
                                              v1::GetModelInfoResponse* response, const CallContext& call) {
  const predict::ModelInfo info = model_->Get()->predictor->info();
  response->set_version(info.version);
  response->set_sha256(info.sha256);
  response->set_parameter_count(info.num_parameters);
  response->set_vocabulary_size(info.vocabulary_size);
  response->set_trained_at(info.trained_at);
  response->set_layers_trained(info.layers_trained);
  response->set_networks_trained(info.networks_trained);
  response->set_server_version(Version());
  return absl::OkStatus();
}

absl::Status CobraService::HandleCalibrate(const v1::CalibrateRequest& request, v1::CalibrateResponse* response,
                                           const CallContext& call) {
  const std::string target = request.target().empty() ? kThisMachine : request.target();
  COBRA_RETURN_IF_ERROR(CheckApiName("target", target));
  COBRA_RETURN_IF_ERROR(CheckTarget(call.principal.get(), target));
  const VersionCause cause = {CallerName(call, ""), RequestOf(request, call)};
  const auto calibrate = [&]() -> absl::Status {
    COBRA_ASSIGN_OR_RETURN(const CalibrationOutcome outcome,
                           model_->Calibrate(target, request.probe_json(), cause, [&call] { return call.Stopped(); }));
    response->set_layers_used(outcome.layers);
    response->set_networks_used(outcome.networks);
    return absl::OkStatus();
  };
  // Its numbers are those of the probe, which came again.
  const auto count_again = [&](const std::string&) -> absl::Status {
    COBRA_ASSIGN_OR_RETURN(const predict::ProbeResult probe, predict::ProbeResultFromJson(request.probe_json()));
    const auto networks = std::count_if(probe.records.begin(), probe.records.end(),
                                        [](const store::Measurement& record) { return record.subject.is_network; });
    response->set_networks_used(static_cast<int32_t>(networks));
    response->set_layers_used(static_cast<int32_t>(probe.records.size()) - response->networks_used());
    return absl::OkStatus();
  };
  COBRA_RETURN_IF_ERROR(DoOnce(model_, target, cause.request, calibrate, count_again));
  return FillTargetByName(*model_->Get(), target, response->mutable_target());
}

absl::Status CobraService::HandleUndoCalibration(const v1::UndoCalibrationRequest& request,
                                                 v1::UndoCalibrationResponse* response, const CallContext& call) {
  const std::string target = request.target().empty() ? kThisMachine : request.target();
  COBRA_RETURN_IF_ERROR(CheckApiName("target", target));
  COBRA_RETURN_IF_ERROR(CheckTarget(call.principal.get(), target));
  COBRA_RETURN_IF_ERROR(model_->UndoCalibration(target, request.version()));
  const std::shared_ptr<const ModelSnapshot> model = model_->Get();
  if (!model->Knows(target)) return absl::OkStatus();
  return FillTargetByName(*model, target, response->mutable_target());
}

}  // namespace cobra::server
