#include "server/targets/target_message.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/utc_text.h"
#include "base/user_error.h"
#include "model/predict/target/sheet_check.h"
#include "proto/target_json.h"

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

}  // namespace

void FillTarget(const predict::TargetInfo& info, const ModelSnapshot& model, v1::Target* out) {
  const predict::TargetSpec& s = info.spec;
  *out->mutable_spec() = SpecMessage(s);
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
  errors->set_layer_coverage(e.layer_coverage);
  errors->set_network_coverage(e.network_coverage);
  errors->set_layers_trained(e.layers_trained);
  errors->set_networks_trained(e.networks_trained);
  errors->set_not_run(e.not_run);
  for (const predict::SpaceErrors& space : e.spaces) {
    v1::SpaceErrors* of_space = errors->add_spaces();
    of_space->set_space(space.space);
    of_space->set_networks(space.networks);
    of_space->set_mape(space.mape);
    of_space->set_within_10_percent(space.within_10);
    of_space->set_coverage(space.coverage);
  }
  out->set_calibrated(info.calibrated);
  out->set_base_target(info.base_target);
  const predict::Calibration* calibration = model.FindCalibration(s.name);
  if (calibration == nullptr) return;
  if (const auto versions = model.versions.find(s.name); versions != model.versions.end())
    FillVersions(versions->second, out);
  out->set_probe_layer_mape_before(calibration->probe_layer_mape_before);
  out->set_probe_layer_mape_after(calibration->probe_layer_mape_after);
  out->set_probe_network_mape_after(calibration->probe_network_mape_after);
  if (const predict::Disturbance& from = calibration->disturbance; from.timings > 0) {
    v1::Disturbance* disturbance = out->mutable_disturbance();
    disturbance->set_typical_ratio(from.typical);
    disturbance->set_low_ratio(from.low);
    disturbance->set_high_ratio(from.high);
    disturbance->set_timings(from.timings);
  }
  out->set_samples(calibration->samples);
  out->set_sample_mape_before(calibration->sample_mape_before);
  out->set_sample_mape_after(calibration->sample_mape_after);
  // Of all targets a list has, so that 256 of them stay below the bytes of a reply.
  constexpr size_t kMostDoubted = 64;
  for (size_t i = 0; i < std::min(calibration->doubted.size(), kMostDoubted); ++i)
    out->add_doubted(calibration->doubted[i]);
  for (const predict::CalibrationPart& from : calibration->parts) {
    v1::AdaptedPart* part = out->add_parts();
    part->set_base_target(from.base_target);
    part->set_weight(from.weight);
    part->set_own_specification(from.own_specification);
  }
}

v1::TargetSpec SpecMessage(const predict::TargetSpec& spec) {
  return proto::TargetSpecFromJson(predict::TargetSpecToJson(spec), nullptr).value();
}

absl::StatusOr<predict::TargetSpec> CheckedSpec(const v1::TargetSpec& message) {
  v1::TargetSpec filled = message;
  if (filled.precision().empty()) filled.set_precision("float32");
  if (filled.layout().empty()) filled.set_layout("nchw");
  if (filled.compile().empty()) filled.set_compile("eager");
  if (filled.threads() == 0) filled.set_threads(1);
  COBRA_ASSIGN_OR_RETURN(const predict::TargetSpec spec, predict::TargetSpecFromJson(proto::TargetSpecToJson(filled)));
  const absl::Status checked = predict::CheckSheet(spec);
  if (checked.ok()) return spec;
  return UsageError(absl::StrCat("spec: ", checked.message()));
}

absl::Status FillTargetByName(const ModelSnapshot& model, absl::string_view name, v1::Target* out) {
  for (const predict::TargetInfo& info : model.Targets()) {
    if (info.spec.name != name) continue;
    FillTarget(info, model, out);
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat(name, ": was created but is not served"));
}

}  // namespace cobra::server
