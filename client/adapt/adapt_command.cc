#include "client/adapt/adapt_command.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/text/utf8.h"
#include "base/text/without_escapes.h"
#include "base/user_error.h"
#include "base/with_code.h"
#include "client/adapt/calibration_render.h"
#include "client/adapt/data_sheet.h"
#include "client/adapt/timed_list.h"
#include "client/answer/exit_code.h"
#include "client/answer/written_file.h"
#include "client/request/target_names.h"
#include "client/terminal/output.h"
#include "client/terminal/progress.h"
#include "frontend/python/torch/names/torch_version.h"
#include "nlohmann/json.hpp"
#include "proto/status_proto.h"

namespace cobra::client {
namespace {

constexpr int64_t kMaxExportBytes = int64_t{256} << 20;
// Of timings; more go in several messages. A server's memory for one is some seven times its bytes.
constexpr size_t kMaxMessageBytes = size_t{8} << 20;

TimedListOptions OptionsOf(const CommonFlags& common, const ModelArguments& of_all, const std::string& runtime) {
  TimedListOptions options;
  options.of_all = of_all;
  options.torch_version = of_all.torch_version.empty() ? python::TorchVersionOf(runtime) : of_all.torch_version;
  options.time = common.client.deadline;
  return options;
}

// A usage Diagnostic too if models are refused and may not be skipped, or if none is left.
absl::StatusOr<TimedModels> LoadSamples(const std::string& path, const TimedListOptions& options, bool skip_refused) {
  COBRA_ASSIGN_OR_RETURN(TimedModels loaded, LoadTimedModels(path, options));
  if (!loaded.refused.empty() && (!skip_refused || loaded.networks.empty())) return RefusedError(path, loaded.refused);
  return loaded;
}

// Those of the server after those that were not sent.
std::vector<std::string> AllRefused(const std::vector<RefusedLine>& not_sent,
                                    const google::protobuf::RepeatedPtrField<v1::RefusedTiming>& by_server) {
  std::vector<std::string> texts = RefusedTexts(not_sent);
  for (const v1::RefusedTiming& refused : by_server)
    texts.push_back(absl::StrCat("row ", refused.row(), ": ", WhyText(proto::StatusFromProto(refused.error()))));
  return texts;
}

int PrintAdapted(const CommonFlags& common, const v1::AdaptResponse& response,
                 const std::vector<std::string>& refused) {
  common.json ? PrintData(AdaptedJson(response, refused)) : PrintText(AdaptedText(response, refused));
  return kExitOk;
}

absl::StatusOr<int> Export(Client* client, const AdaptFlags& flags) {
  v1::ExportTargetRequest request;
  request.set_target(flags.name);
  COBRA_ASSIGN_OR_RETURN(const v1::ExportTargetResponse response, client->ExportTarget(request));
  if (absl::Status written = WriteMaybeGzip(flags.export_file, response.exported_json()); !written.ok())
    return UsageError(absl::StrCat("--export ", written.message()));
  PrintText(absl::StrCat(flags.export_file, ": target ", flags.name, "; cobra-client adapt --import reads it\n"));
  return kExitOk;
}

// The server knows the file as a field.
absl::Status OfImportedFile(absl::string_view file, const absl::Status& status) {
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  constexpr absl::string_view kField = "exported_json: ";
  if (!diagnostic.has_value() || !absl::StartsWith(diagnostic->message, kField)) return status;
  diagnostic->message = absl::StrCat("--import ", file, ": ", diagnostic->message.substr(kField.size()));
  diagnostic->hint = "give an unmodified file written by --export";
  return WithCode(status.code(), DiagnosticToStatus(*diagnostic));
}

// The server knows rows, not the file that has them.
absl::Status OfSamplesFile(absl::string_view file, const absl::Status& status) {
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (file.empty() || !diagnostic.has_value()) return status;
  if (!absl::StartsWith(diagnostic->message, "row ") && !absl::StartsWith(diagnostic->message, "the samples"))
    return status;
  diagnostic->message = absl::StrCat(file, ": ", diagnostic->message);
  return WithCode(status.code(), DiagnosticToStatus(*diagnostic));
}

absl::StatusOr<int> Import(Client* client, const CommonFlags& common, const AdaptFlags& flags) {
  v1::AdaptRequest request;
  COBRA_ASSIGN_OR_RETURN(*request.mutable_exported_json(), ReadNamed("--import", flags.import_file, kMaxExportBytes));
  if (!IsUtf8(request.exported_json()))
    return UsageError(absl::StrCat("--import ", flags.import_file, ": was not written by --export: it is not text"));
  request.set_name(flags.name);
  const absl::StatusOr<v1::AdaptResponse> response = client->Adapt(request);
  if (!response.ok()) return OfImportedFile(flags.import_file, response.status());
  return PrintAdapted(common, *response, {});
}

absl::StatusOr<int> Suggest(Client* client, const CommonFlags& common, const AdaptFlags& flags) {
  v1::SuggestSamplesRequest request;
  COBRA_ASSIGN_OR_RETURN(*request.mutable_spec(), LoadSpec(flags.spec));
  TimedListOptions options = OptionsOf(common, flags.of_all, request.spec().runtime());
  options.needs_latency = false;
  COBRA_ASSIGN_OR_RETURN(TimedModels loaded, LoadTimedModels(flags.list, options));
  if (loaded.networks.empty()) return RefusedError(flags.list, loaded.refused);
  for (v1::TimedNetwork& network : loaded.networks) request.add_networks()->Swap(&network);
  request.set_count(flags.suggest);
  COBRA_ASSIGN_OR_RETURN(const v1::SuggestSamplesResponse response, client->SuggestSamples(request));
  const std::vector<std::string> refused = AllRefused(loaded.refused, response.refused());
  if (common.json) {
    const std::vector<std::string> rows(response.rows().begin(), response.rows().end());
    const nlohmann::json answer = {{"rows", rows}, {"refused", refused}};
    PrintData(IndentedJson(answer));
    return kExitOk;
  }
  for (const std::string& row : response.rows()) PrintText(row);
  for (const std::string& row : refused) Say(absl::StrCat("left out: ", WithoutEscapes(row), "\n"));
  return kExitOk;
}

absl::Status CheckAdaptFlags(const AdaptFlags& flags, const ConnectionFiles& connection) {
  const int ways = (flags.suggest > 0 || !flags.list.empty()) + !flags.export_file.empty() + !flags.import_file.empty();
  if (ways > 1) return UsageError("--suggest, --export and --import: give only one of them");
  if ((flags.suggest > 0) != !flags.list.empty())
    return UsageError("--suggest: needs a list", "give both: --suggest 5 --list LIST.csv");
  if (flags.suggest == 0 && flags.name.empty()) return UsageError("--name: is missing", "name the target: --name NAME");
  const bool needs_spec = flags.export_file.empty() && flags.import_file.empty();
  if (needs_spec && flags.spec.empty())
    return UsageError("--spec: is missing", "give the device's data sheet: --spec SPEC.json");
  if (!needs_spec && (!flags.spec.empty() || !flags.samples.empty()))
    return UsageError("--spec, --samples: an exported target has its own");
  return CheckReplaces("--export ", flags.export_file, {}, connection);
}

// Of a later message: the timings of the earlier ones are stored.
absl::Status AfterStored(size_t networks, const absl::Status& status) {
  const std::string hint =
      absl::StrCat("of the list is stored: the first ", Counted(networks, "network"), "; send the others");
  if (std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status)) {
    diagnostic->hint = hint;
    return WithCode(status.code(), DiagnosticToStatus(*diagnostic));
  }
  return absl::Status(status.code(), absl::StrCat(status.message(), "; ", hint));
}

// Sends timings in messages that a server takes.
absl::StatusOr<int> SendTimings(const CommonFlags& common, const ObserveFlags& flags, TimedModels loaded) {
  const std::unique_ptr<Client> client = Client::Connect(common.client);
  std::vector<std::string> refused = RefusedTexts(loaded.refused);
  v1::AdaptResponse response;
  size_t next = 0;
  while (next < loaded.networks.size()) {
    v1::ObserveRequest request;
    request.set_target(flags.target);
    request.set_skip_refused(flags.skip_refused);
    size_t bytes = 0;
    while (next < loaded.networks.size()) {
      bytes += loaded.networks[next].ByteSizeLong();
      if (request.samples_size() > 0 && bytes > kMaxMessageBytes) break;
      request.add_samples()->Swap(&loaded.networks[next++]);
    }
    const size_t stored = next - static_cast<size_t>(request.samples_size());
    absl::StatusOr<v1::AdaptResponse> observed = client->Observe(request);
    if (!observed.ok()) {
      const absl::Status status = OfSamplesFile(flags.samples, observed.status());
      return stored == 0 ? status : AfterStored(stored, status);
    }
    // Of each message; the target is that of the last one.
    for (const std::string& row : response.target().doubted()) {
      if (absl::StartsWith(row, "warning: ")) observed->mutable_target()->add_doubted(row);
    }
    response = *std::move(observed);
    for (std::string& text : AllRefused({}, response.refused())) refused.push_back(std::move(text));
  }
  return PrintAdapted(common, response, refused);
}

}  // namespace

absl::StatusOr<int> RunAdapt(const CommonFlags& common, const AdaptFlags& flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  COBRA_RETURN_IF_ERROR(CheckAdaptFlags(flags, common.client.connection));
  const std::unique_ptr<Client> client = Client::Connect(common.client);
  if (!flags.export_file.empty()) return Export(client.get(), flags);
  if (!flags.import_file.empty()) return Import(client.get(), common, flags);
  if (flags.suggest > 0) return Suggest(client.get(), common, flags);
  v1::AdaptRequest request;
  request.set_name(flags.name);
  request.set_skip_refused(flags.skip_refused);
  COBRA_ASSIGN_OR_RETURN(*request.mutable_spec(), LoadSpec(flags.spec));
  TimedModels loaded;
  if (!flags.samples.empty()) {
    const TimedListOptions options = OptionsOf(common, flags.of_all, request.spec().runtime());
    COBRA_ASSIGN_OR_RETURN(loaded, LoadSamples(flags.samples, options, flags.skip_refused));
  }
  for (v1::TimedNetwork& network : loaded.networks) request.add_samples()->Swap(&network);
  const absl::StatusOr<v1::AdaptResponse> response = client->Adapt(request);
  if (!response.ok()) return OfSamplesFile(flags.samples, response.status());
  const int code = PrintAdapted(common, *response, AllRefused(loaded.refused, response->refused()));
  if (!common.json) {
    PrintText(AssumedText(flags.spec, response->target().spec()));
    PrintText(MeasuredAlreadyText(client.get(), response->target().spec()));
  }
  return code;
}

absl::StatusOr<int> RunObserve(const CommonFlags& common, const ObserveFlags& flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  const bool has_model = !flags.model.path.empty() || !flags.model.architecture.empty();
  if (has_model == !flags.samples.empty())
    return UsageError("--samples: give either a list or one model", "give a list, or a model and --latency-ms");
  if (has_model == flags.latency_ms.empty())
    return UsageError(!flags.latency_ms.empty() ? "--latency-ms: only for a single model" : "--latency-ms: is missing",
                      "give a model and its --latency-ms, or a list with a column latency_ms: --samples LIST.csv");
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse targets, Client::Connect(common.client)->ListTargets({}));
  COBRA_RETURN_IF_ERROR(CheckTargets(common.client, targets, {flags.target}));
  std::string runtime;
  for (const v1::Target& target : targets.targets()) {
    if (target.spec().name() == flags.target) runtime = target.spec().runtime();
  }
  TimedListOptions options = OptionsOf(common, flags.model, runtime);
  options.join = true;
  TimedModels loaded;
  if (has_model) {
    COBRA_ASSIGN_OR_RETURN(const double latency_ms, ParseLatency(flags.latency_ms));
    COBRA_ASSIGN_OR_RETURN(v1::TimedNetwork network, LoadTimedModel(flags.model, options));
    network.set_latency_ms(latency_ms);
    network.set_row(flags.model.path.empty() ? flags.model.architecture : flags.model.path);
    loaded.networks.push_back(std::move(network));
  } else {
    COBRA_ASSIGN_OR_RETURN(loaded, LoadSamples(flags.samples, options, flags.skip_refused));
  }
  return SendTimings(common, flags, std::move(loaded));
}

}  // namespace cobra::client
