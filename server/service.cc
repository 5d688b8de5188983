#include "server/service.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "base/utc_text.h"
#include "base/version.h"
#include "server/access.h"
#include "server/caller.h"
#include "server/measurement_task.h"
#include "server/message_bytes.h"
#include "server/predict_message.h"

namespace cobra::server {
namespace {

void FillVersions(const std::vector<store::CalibrationVersion>& versions, v1::Target* out) {
  bool serving = false;  // the newest one that is not withdrawn
  for (const store::CalibrationVersion& from : versions) {
    v1::CalibrationVersion* version = out->add_calibrations();
    version->set_version(from.version);
    version->set_created_at(UtcText(from.time));
    version->set_caller(from.caller);
    version->set_withdrawn(from.withdrawn);
    version->set_serving(!from.withdrawn && !serving);
    serving = serving || !from.withdrawn;
  }
}

void FillTarget(const predict::TargetInfo& info, const ModelSnapshot& model, v1::Target* out) {
  const predict::TargetSpec& s = info.spec;
  v1::TargetSpec* spec = out->mutable_spec();
  spec->set_name(s.name);
  spec->set_device(s.device);
  spec->set_kind(s.kind);
  spec->set_runtime(s.runtime);
  spec->set_precision(s.precision);
  spec->set_layout(s.layout);
  spec->set_compile(s.compile);
  spec->set_threads(s.threads);
  spec->set_peak_gflops(s.peak_gflops);
  spec->set_memory_gb_per_s(s.memory_gb_per_s);
  spec->set_last_level_cache_mb(s.last_level_cache_mb);
  spec->set_clock_mhz(s.clock_mhz);
  spec->set_cores(s.cores);
  spec->set_memory_gb(s.memory_gb);
  const predict::MeasuredErrors& e = info.errors;
  v1::MeasuredErrors* errors = out->mutable_errors();
  errors->set_layer_mape(e.layer_mape);
  errors->set_network_mape(e.network_mape);
  errors->set_network_within_5_percent(e.network_within_5);
  errors->set_network_within_10_percent(e.network_within_10);
  errors->set_network_within_25_percent(e.network_within_25);
  errors->set_repeatability_floor(e.repeatability_floor);
  errors->set_layers_tested(e.layers_tested);
  errors->set_networks_tested(e.networks_tested);
  out->set_calibrated(info.calibrated);
  out->set_base_target(info.base_target);
  const predict::Calibration* calibration = model.FindCalibration(s.name);
  if (calibration == nullptr) return;
  if (const auto versions = model.versions.find(s.name); versions != model.versions.end())
    FillVersions(versions->second, out);
  out->set_probe_layer_mape_before(calibration->probe_layer_mape_before);
  out->set_probe_layer_mape_after(calibration->probe_layer_mape_after);
  out->set_probe_network_mape_after(calibration->probe_network_mape_after);
}

bool HasPart(absl::string_view text, absl::string_view part) {
  return absl::StrContains(absl::AsciiStrToLower(text), absl::AsciiStrToLower(part));
}

bool Fits(const v1::ListTargetsRequest& filter, const predict::TargetInfo& target) {
  const predict::TargetSpec& spec = target.spec;
  return HasPart(spec.name, filter.name()) && HasPart(spec.device, filter.device()) &&
         HasPart(spec.runtime, filter.runtime()) &&
         (filter.kind().empty() || absl::EqualsIgnoreCase(spec.kind, filter.kind())) &&
         (filter.precision().empty() || absl::EqualsIgnoreCase(spec.precision, filter.precision())) &&
         (filter.origin() == v1::ListTargetsRequest::ORIGIN_UNSPECIFIED ||
          (filter.origin() == v1::ListTargetsRequest::ORIGIN_CALIBRATED) == target.calibrated);
}

absl::Status FillTargetByName(const ModelSnapshot& model, absl::string_view name, v1::Target* out) {
  for (const predict::TargetInfo& info : model.Targets()) {
    if (info.spec.name != name) continue;
    FillTarget(info, model, out);
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat(name, ": was created but is not served"));
}

}  // namespace

UnaryCalls::Shortcut CobraService::FindReply(const grpc::ByteBuffer& request, const CallContext& call, bool may_wait,
                                             grpc::ByteBuffer* response) const {
  // Some 50 us; what takes longer is for the pool.
  constexpr size_t kMaxGraphBytes = 64 << 10;
  const auto bytes = [&request] { return TextOf(request); };
  bool must_wait = false;
  if (const std::shared_ptr<const CachedReply> reply = pipeline_->FindReply(call, bytes, may_wait, &must_wait)) {
    grpc::ByteBuffer bytes = BufferOf(reply->bytes);
    response->Swap(&bytes);
    return UnaryCalls::Shortcut::kAnswered;
  }
  if (must_wait) return UnaryCalls::Shortcut::kLater;
  PredictMessage message;
  if (may_wait || request.Length() > kMaxGraphBytes || !message.Parse(request, calls_.limits().max_parsed_bytes).ok() ||
      !message.graph().has_value())
    return UnaryCalls::Shortcut::kUnknown;
  const std::optional<v1::PredictResponse> reply = pipeline_->PredictKnown(*message.request(), *message.graph(), call);
  return reply.has_value() && SerializeMessage(*reply, response).ok() ? UnaryCalls::Shortcut::kAnswered
                                                                      : UnaryCalls::Shortcut::kUnknown;
}

absl::Status CobraService::HandlePredict(const grpc::ByteBuffer& request, grpc::ByteBuffer* response,
                                         const CallContext& call) {
  PredictMessage message;
  COBRA_RETURN_IF_ERROR(message.Parse(request, calls_.limits().max_parsed_bytes));
  COBRA_ASSIGN_OR_RETURN(const v1::PredictResponse reply, pipeline_->Predict(message.request(), message.graph(), call));
  return SerializeMessage(reply, response);
}

absl::Status CobraService::HandleListTargets(const v1::ListTargetsRequest& request, v1::ListTargetsResponse* response,
                                             const CallContext& call) {
  if (!v1::ListTargetsRequest::Origin_IsValid(request.origin())) {
    return UserError(Diagnostic::Kind::kUsage, absl::StrCat("origin ", static_cast<int>(request.origin()), ": is none"),
                     "use ORIGIN_TRAINED or ORIGIN_CALIBRATED, or leave it out");
  }
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
  COBRA_RETURN_IF_ERROR(CheckName("target", target, 200));
  COBRA_RETURN_IF_ERROR(CheckTarget(call.principal.get(), target));
  COBRA_ASSIGN_OR_RETURN(CalibrationOutcome outcome,
                         model_->Calibrate(target, request.probe_json(), CallerName(call, "")));
  response->set_layers_used(outcome.layers);
  response->set_networks_used(outcome.networks);
  return FillTargetByName(*model_->Get(), target, response->mutable_target());
}

absl::Status CobraService::HandleUndoCalibration(const v1::UndoCalibrationRequest& request,
                                                 v1::UndoCalibrationResponse* response, const CallContext& call) {
  const std::string target = request.target().empty() ? kThisMachine : request.target();
  COBRA_RETURN_IF_ERROR(CheckName("target", target, 200));
  COBRA_RETURN_IF_ERROR(CheckTarget(call.principal.get(), target));
  COBRA_RETURN_IF_ERROR(model_->UndoCalibration(target, request.version()));
  const std::shared_ptr<const ModelSnapshot> model = model_->Get();
  if (!model->Knows(target)) return absl::OkStatus();
  return FillTargetByName(*model, target, response->mutable_target());
}

}  // namespace cobra::server
