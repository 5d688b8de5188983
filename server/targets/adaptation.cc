#include "server/targets/adaptation.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/names.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "graph/form/graph_bytes.h"
#include "model/predict/target/timing_level.h"
#include "server/access/access.h"
#include "server/access/caller.h"
#include "server/targets/done_once.h"
#include "server/targets/new_level.h"
#include "server/targets/target_message.h"

namespace cobra::server {
namespace {

constexpr int kMaxSuggestFrom = 1000, kMaxSuggested = 100, kSuggested = 5;

absl::Status CheckMayChange(const CallContext& call, absl::string_view name) {
  COBRA_RETURN_IF_ERROR(CheckApiName("name", name));
  return CheckTarget(call.principal.get(), name);
}

constexpr char kSendUnmodified[] = "send the unmodified reply of ExportTarget";

absl::StatusOr<predict::ProbeResult> Imported(const std::string& exported_json) {
  absl::StatusOr<predict::ProbeResult> probe = predict::ProbeResultFromJson(exported_json, /*needs_records=*/false);
  if (!probe.ok()) {
    const std::optional<Diagnostic> known = DiagnosticFromStatus(probe.status());
    const absl::string_view why = absl::StripPrefix(probe.status().message(), "probe: ");
    return UserError(known.has_value() ? known->kind : Diagnostic::Kind::kUsage, absl::StrCat("exported_json: ", why),
                     kSendUnmodified);
  }
  COBRA_ASSIGN_OR_RETURN(probe->machine, CheckedSpec(SpecMessage(probe->machine)));
  if (probe->records.size() > 2 * predict::kMaxTimedNetworks) {
    return UserError(Diagnostic::Kind::kLimit,
                     LimitMessage("exported_json", static_cast<int64_t>(probe->records.size()),
                                  static_cast<int64_t>(2 * predict::kMaxTimedNetworks), "records"));
  }
  std::vector<store::TimedNetwork> networks;
  for (const store::Measurement& measured : probe->records) {
    if (!measured.subject.is_network) continue;
    const std::string& label = measured.subject.label;
    const bool is_name =
        !label.empty() && label.size() <= kMaxNameLetters && absl::c_none_of(label, absl::ascii_iscntrl);
    networks.push_back({is_name ? label : absl::StrCat(networks.size() + 1), measured.subject.graph,
                        measured.undisturbed_us(), std::max(1, measured.latency.runs)});
  }
  predict::CheckedTimings checked = predict::CheckTimings(std::move(networks), probe->machine, {});
  if (!checked.refused.empty()) {
    const predict::RefusedRow& first = checked.refused[0];
    return UsageError(absl::StrCat("exported_json: row ", first.row, ": ", first.why.message()), kSendUnmodified);
  }
  // Of timings nothing else is taken over from the file; a probe's layers and profiles are.
  if (!predict::HasLayers(*probe)) probe->records = std::move(checked.records);
  return probe;
}

// A name stays with a kind of device and a runtime, and timings with their device: they say nothing
// about another.
absl::Status CheckSameDevice(const ModelSnapshot& model, const predict::TargetSpec& machine) {
  const predict::Calibration* const serving = model.FindCalibration(machine.name);
  if (serving == nullptr) return absl::OkStatus();
  const predict::TargetSpec& known = serving->machine;
  const std::string hint = absl::StrCat(
      "give another name, or withdraw that target first: cobra-client calibrate --undo --name ", machine.name);
  if (known.kind != machine.kind || predict::RuntimeFamily(known) != predict::RuntimeFamily(machine)) {
    return UsageError(absl::StrCat("name ", machine.name, ": is a ", known.kind, " with ", known.runtime,
                                   "; the data sheet is of a ", machine.kind, " with ", machine.runtime),
                      hint);
  }
  const bool is_same = absl::EqualsIgnoreCase(known.device, machine.device) && known.precision == machine.precision &&
                       known.compile == machine.compile && known.layout == machine.layout &&
                       (known.kind == "gpu" || known.threads == machine.threads);
  if (serving->samples == 0 || is_same) return absl::OkStatus();
  const auto what = [](const predict::TargetSpec& spec) {
    const std::string threads = spec.kind == "gpu" ? "" : absl::StrCat(", ", Counted(spec.threads, "thread"));
    return absl::StrCat(spec.device, " (", spec.precision, ", ", spec.compile, ", ", spec.layout, threads, ")");
  };
  return UsageError(
      absl::StrCat("name ", machine.name, ": has timings of ", what(known), "; the data sheet is of ", what(machine)),
      hint);
}

// Moves the record whose row `error` begins with to the refused ones. False if there is none, or it
// is the last one.
bool DropNamedSample(const absl::Status& error, std::vector<store::Measurement>* records,
                     google::protobuf::RepeatedPtrField<v1::RefusedTiming>* refused) {
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(error);
  if (!diagnostic.has_value() || records->size() < 2) return false;
  for (auto record = records->begin(); record != records->end(); ++record) {
    const std::string row = record->subject.label;
    absl::string_view why = diagnostic->message;
    if (!absl::ConsumePrefix(&why, absl::StrCat("row ", row, ": "))) continue;
    FillRefused({{row, absl::InvalidArgumentError(why)}}, refused);
    records->erase(record);
    return true;
  }
  return false;
}

// Of timings that take the place of what the target has.
absl::StatusOr<std::string> WarningAbout(const ModelSnapshot& model, const predict::ProbeResult& measured,
                                         const std::function<bool()>& cancelled) {
  if (predict::HasLayers(measured)) return "";
  COBRA_ASSIGN_OR_RETURN(const double level, LevelOf(model, measured.machine.name, measured.records, cancelled));
  if (level != 1) return ReplacedWarning(level, measured.machine.name);
  return PublishedWarning(model, measured.machine, measured.records, cancelled);
}

// What is refused is an error unless `skip_refused`. `measured`: what the target has already.
absl::StatusOr<predict::CheckedTimings> Checked(const ReadTimings& read, const predict::ProbeResult& measured,
                                                bool skip_refused, const CallContext& call) {
  const bool had_rows = !read.networks.empty() || !read.refused.empty();
  predict::CheckedTimings checked =
      predict::CheckTimings(read.networks, measured.machine, measured.records, [&call] { return call.Stopped(); });
  COBRA_RETURN_IF_ERROR(call.Check());
  checked.refused.insert(checked.refused.begin(), read.refused.begin(), read.refused.end());
  const bool has_any = !checked.records.empty();
  if (!checked.refused.empty() && (!skip_refused || (had_rows && !has_any))) return RefusedError(checked.refused);
  return checked;
}

}  // namespace

absl::Status Adaptation::HandleAdapt(v1::AdaptRequest& request, v1::AdaptResponse* response, const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckMayChange(call, request.name()));
  const VersionCause cause = {CallerName(call, ""), RequestOf(request, call)};
  return DoOnce(
      model_, request.name(), cause.request, [&] { return Adapt(request, cause, response, call); },
      [&](const std::string& answer) { return FillStoredAnswer(answer, *model_->Get(), request.name(), response); });
}

absl::Status Adaptation::Adapt(v1::AdaptRequest& request, VersionCause cause, v1::AdaptResponse* response,
                               const CallContext& call) {
  predict::ProbeResult measured;
  ReadTimings read;
  HeldBytes::Part held;
  if (!request.exported_json().empty()) {
    if (request.has_spec() || !request.samples().empty()) {
      return UsageError("exported_json: already has a data sheet and timings",
                        "omit spec and samples; Observe adds timings");
    }
    COBRA_ASSIGN_OR_RETURN(measured, Imported(request.exported_json()));
    COBRA_ASSIGN_OR_RETURN(held, HoldRecords(measured.records, call));
  } else {
    COBRA_ASSIGN_OR_RETURN(measured.machine, CheckedSpec(request.spec()));
    if (static_cast<size_t>(request.samples_size()) > predict::kMaxAdaptSamples) {
      return UserError(Diagnostic::Kind::kLimit,
                       LimitMessage("samples", request.samples_size(), int64_t{predict::kMaxAdaptSamples}, "timings"),
                       "adapt with some of them, and add the others with Observe (cobra-client observe)");
    }
    COBRA_ASSIGN_OR_RETURN(read, ReadTimedNetworks(request.mutable_samples(), measured.machine.runtime, reader_, call));
    COBRA_ASSIGN_OR_RETURN(predict::CheckedTimings timings, Checked(read, measured, request.skip_refused(), call));
    COBRA_RETURN_IF_ERROR(CheckRefusedBytes(timings.refused, reader_->limits().max_reply_bytes));
    measured.records = std::move(timings.records);
    FillRefused(timings.refused, response->mutable_refused());
  }
  measured.machine.name = request.name();
  const std::shared_ptr<const ModelSnapshot> model = model_->Get();
  COBRA_RETURN_IF_ERROR(CheckSameDevice(*model, measured.machine));
  const bool is_correction = request.exported_json().empty() && request.samples().empty();
  absl::StatusOr<std::string> warning = "";
  if (!is_correction) warning = WarningAbout(*model, measured, [&call] { return call.Stopped(); });
  COBRA_RETURN_IF_ERROR(call.Check());
  COBRA_RETURN_IF_ERROR(warning.status());
  COBRA_RETURN_IF_ERROR(AdaptTo(request, *warning, std::move(cause), &measured, response, call));
  COBRA_RETURN_IF_ERROR(FillTargetByName(*model_->Get(), request.name(), response->mutable_target()));
  AddWarning(*warning, response);
  return absl::OkStatus();
}

absl::Status Adaptation::AdaptTo(const v1::AdaptRequest& request, absl::string_view warning, VersionCause cause,
                                 predict::ProbeResult* measured, v1::AdaptResponse* response, const CallContext& call) {
  // Who corrects a data sheet does not mean to lose what was timed, also not what comes at the same
  // time.
  const bool is_correction = request.exported_json().empty() && request.samples().empty();
  absl::Status adapted;
  int64_t follows = 0;
  bool takes_timings = is_correction;
  bool again = true;
  while (again) {
    if (takes_timings) {
      COBRA_ASSIGN_OR_RETURN(follows, TakeTimings(request.name(), measured));
      response->clear_refused();  // of the timings that it had before
    }
    cause.request.answer = StoredAnswer(*response, warning);
    adapted = model_
                  ->Adapt(
                      request.name(), *measured, cause, [&call] { return call.Stopped(); }, follows)
                  .status();
    takes_timings = is_correction && absl::IsAborted(adapted);
    // A mistaken unit is found by the fit, one sample at a time. Of a correction, too: what was
    // left out stays so.
    again = !call.Stopped() &&
            (absl::IsAborted(adapted) ||
             (request.skip_refused() && DropNamedSample(adapted, &measured->records, response->mutable_refused())));
  }
  COBRA_RETURN_IF_ERROR(adapted.ok() ? adapted : call.Check());
  return adapted;
}

absl::StatusOr<int64_t> Adaptation::TakeTimings(const std::string& name, predict::ProbeResult* measured) const {
  absl::StatusOr<LiveModel::Measured> earlier = model_->MeasuredOf(name);
  if (absl::IsNotFound(earlier.status())) return 0;
  COBRA_RETURN_IF_ERROR(earlier.status());
  measured->records = std::move(earlier->probe.records);
  return earlier->version;
}

absl::StatusOr<HeldBytes::Part> Adaptation::HoldRecords(absl::Span<const store::Measurement> records,
                                                        const CallContext& call) const {
  int64_t bytes = 0;
  for (const store::Measurement& record : records) bytes += graph::GraphBytes(record.subject.graph);
  return reader_->HoldBytes(bytes, call);
}

absl::Status Adaptation::RejectImplausible(absl::string_view target, const CallContext& call,
                                           predict::CheckedTimings* timings) const {
  constexpr double kUnlike = 60, kUnlikeSheet = 250;
  const std::shared_ptr<const ModelSnapshot> model = model_->Get();
  const predict::Calibration* const serving = model->FindCalibration(target);
  if (serving == nullptr) return absl::OkStatus();
  const double most = IsTimed(*serving) ? kUnlike : kUnlikeSheet;
  std::vector<store::Measurement> kept;
  for (store::Measurement& record : timings->records) {
    const absl::StatusOr<predict::LatencyPrediction> predicted =
        model->predictor->Predict(record.subject.graph, target, serving, [&call] { return call.Stopped(); });
    COBRA_RETURN_IF_ERROR(call.Check());
    COBRA_RETURN_IF_ERROR(predicted.status());
    const double us = record.latency.median_us, factor = us / predicted->latency_us;
    if (factor < most && factor > 1 / most) {
      kept.push_back(std::move(record));
      continue;
    }
    timings->refused.push_back(
        {record.subject.label,
         absl::InvalidArgumentError(
             absl::StrFormat("latency_ms %.6g: %.3g times what the target predicts, %.4g ms: is it in milliseconds?",
                             us / 1000, factor, predicted->latency_us / 1000))});
  }
  timings->records = std::move(kept);
  return absl::OkStatus();
}

absl::Status Adaptation::ReplaceLevel(const std::string& target, const predict::TimingLevel& level, VersionCause cause,
                                      LiveModel::Measured* measured, std::vector<store::Measurement> timed,
                                      std::string* warning, const v1::AdaptResponse& response,
                                      const CallContext& call) {
  std::set<std::string> again;
  for (const store::Measurement& record : timed) again.insert(record.subject.fingerprint);
  const auto left_out = static_cast<size_t>(absl::c_count_if(
      measured->probe.records, [&again](const auto& record) { return again.count(record.subject.fingerprint) == 0; }));
  *warning = NewLevelWarning(level, left_out, target);
  cause.request.answer = StoredAnswer(response, *warning);
  measured->probe.records.clear();
  predict::AddTimings(std::move(timed), &measured->probe);
  return model_
      ->Adapt(
          target, measured->probe, cause, [&call] { return call.Stopped(); }, measured->version)
      .status();
}

absl::Status Adaptation::HandleObserve(v1::ObserveRequest& request, v1::AdaptResponse* response,
                                       const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckMayChange(call, request.target()));
  const VersionCause cause = {CallerName(call, ""), RequestOf(request, call)};
  return DoOnce(
      model_, request.target(), cause.request, [&] { return Observe(request, cause, response, call); },
      [&](const std::string& answer) { return FillStoredAnswer(answer, *model_->Get(), request.target(), response); });
}

absl::Status Adaptation::Observe(v1::ObserveRequest& request, VersionCause cause, v1::AdaptResponse* response,
                                 const CallContext& call) {
  COBRA_ASSIGN_OR_RETURN(LiveModel::Measured measured, model_->MeasuredOf(request.target()));
  if (request.samples().empty()) return UsageError("samples: there are none", "send networks with latency_ms");
  COBRA_ASSIGN_OR_RETURN(const ReadTimings read,
                         ReadTimedNetworks(request.mutable_samples(), measured.probe.machine.runtime, reader_, call));
  absl::Status observed;
  predict::CheckedTimings timings;
  HeldBytes::Part held;
  std::string warning;
  // Who observes at the same time, here or at another server of the store, may have sent what
  // contradicts it.
  do {
    if (absl::IsAborted(observed)) {
      COBRA_ASSIGN_OR_RETURN(measured, model_->MeasuredOf(request.target()));
    }
    held = HeldBytes::Part();
    COBRA_ASSIGN_OR_RETURN(held, HoldRecords(measured.probe.records, call));
    // A probe's layers have their own level, which another probe changes.
    std::optional<predict::TimingLevel> level;
    if (!predict::HasLayers(measured.probe)) level = predict::FindNewLevel(read.networks, measured.probe.records);
    if (level.has_value()) predict::ScaleTimings(level->factor, &measured.probe.records);
    COBRA_ASSIGN_OR_RETURN(timings, Checked(read, measured.probe, request.skip_refused(), call));
    COBRA_RETURN_IF_ERROR(RejectImplausible(request.target(), call, &timings));
    if (!timings.refused.empty() && (!request.skip_refused() || timings.records.empty()))
      return RefusedError(timings.refused);
    COBRA_RETURN_IF_ERROR(CheckRefusedBytes(timings.refused, reader_->limits().max_reply_bytes));
    response->clear_refused();
    FillRefused(timings.refused, response->mutable_refused());
    if (level.has_value()) {
      observed = ReplaceLevel(request.target(), *level, cause, &measured, std::move(timings.records), &warning,
                              *response, call);
      continue;
    }
    const absl::StatusOr<double> unlike =
        LevelOf(*model_->Get(), request.target(), timings.records, [&call] { return call.Stopped(); });
    COBRA_RETURN_IF_ERROR(call.Check());
    COBRA_RETURN_IF_ERROR(unlike.status());
    warning = JoinedWarning(*unlike);
    cause.request.answer = StoredAnswer(*response, warning);
    observed = model_
                   ->Observe(request.target(), measured.version, std::move(timings.records), cause,
                             [&call] { return call.Stopped(); })
                   .status();
  } while (absl::IsAborted(observed) && !call.Stopped());
  COBRA_RETURN_IF_ERROR(observed);
  COBRA_RETURN_IF_ERROR(FillTargetByName(*model_->Get(), request.target(), response->mutable_target()));
  AddWarning(warning, response);
  return absl::OkStatus();
}

absl::Status Adaptation::HandleExportTarget(const v1::ExportTargetRequest& request, v1::ExportTargetResponse* response,
                                            const CallContext& call) {
  COBRA_RETURN_IF_ERROR(CheckMayChange(call, request.target()));
  COBRA_ASSIGN_OR_RETURN(const LiveModel::Measured measured, model_->MeasuredOf(request.target()));
  COBRA_ASSIGN_OR_RETURN(const HeldBytes::Part held, HoldRecords(measured.probe.records, call));
  // What Adapt would not take is of no use.
  COBRA_ASSIGN_OR_RETURN(*response->mutable_exported_json(),
                         predict::ProbeResultToJson(measured.probe, reader_->limits().max_request_bytes));
  return absl::OkStatus();
}

absl::Status Adaptation::HandleSuggestSamples(v1::SuggestSamplesRequest& request, v1::SuggestSamplesResponse* response,
                                              const CallContext& call) {
  COBRA_ASSIGN_OR_RETURN(const predict::TargetSpec machine, CheckedSpec(request.spec()));
  const int count = request.count() == 0 ? kSuggested : request.count();
  if (count < 0 || count > kMaxSuggested)
    return UsageError(absl::StrCat("count ", count, ": from 1 to ", kMaxSuggested));
  if (request.networks_size() > kMaxSuggestFrom) {
    return UserError(Diagnostic::Kind::kLimit,
                     LimitMessage("networks", request.networks_size(), kMaxSuggestFrom, "networks"),
                     "let it choose from fewer");
  }
  if (request.networks().empty()) return UsageError("networks: there are none to choose from");
  TimedNetworkReader networks(request.mutable_networks(), machine.runtime, reader_, call);
  std::vector<std::string> rows;
  const auto next = [&]() -> absl::StatusOr<std::optional<graph::Graph>> {
    COBRA_ASSIGN_OR_RETURN(std::optional<store::TimedNetwork> network, networks.Next());
    if (!network.has_value()) return std::nullopt;
    rows.push_back(std::move(network->name));
    return std::move(network->graph);
  };
  const absl::StatusOr<std::vector<size_t>> chosen = model_->Get()->predictor->Suggest(
      machine, next, static_cast<size_t>(count), {{}, [&call] { return call.Stopped(); }});
  COBRA_RETURN_IF_ERROR(call.Check());
  COBRA_RETURN_IF_ERROR(chosen.status());
  if (rows.empty()) return RefusedError(networks.refused());
  for (const size_t i : *chosen) response->add_rows(rows[i]);
  FillRefused(networks.refused(), response->mutable_refused());
  return absl::OkStatus();
}

}  // namespace cobra::server
