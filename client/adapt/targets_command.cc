#include "client/adapt/targets_command.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/without_escapes.h"
#include "client/adapt/calibrate_command.h"
#include "client/adapt/target_cards.h"
#include "client/adapt/target_render.h"
#include "client/answer/exit_code.h"
#include "client/request/target_names.h"
#include "client/terminal/output.h"
#include "client/terminal/progress.h"

namespace cobra::client {

absl::StatusOr<int> RunTargets(const CommonFlags& common, const TargetsFlags& flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  v1::ListTargetsRequest request;
  request.set_name(flags.name);
  request.set_device(flags.device);
  request.set_runtime(flags.runtime);
  request.set_kind(flags.kind);
  request.set_precision(flags.precision);
  if (flags.trained) request.set_origin(v1::ListTargetsRequest::ORIGIN_TRAINED);
  if (flags.calibrated) request.set_origin(v1::ListTargetsRequest::ORIGIN_CALIBRATED);
  COBRA_ASSIGN_OR_RETURN(v1::ListTargetsResponse response, Client::Connect(common.client)->ListTargets(request));
  if (flags.format == "names") {
    // For shells: what has other characters is not the name of ours.
    for (const v1::Target& target : response.targets()) {
      if (CheckTargetName(target.spec().name()).ok()) PrintText(target.spec().name());
    }
  } else if (!flags.format.empty()) {
    const std::string cards = TargetCards(response);
    PrintText(cards);
    if (cards.empty()) Say("no trained target matches, and only trained ones have a card; --format table lists all\n");
  } else if (common.json || response.targets_size() > 0) {
    const TerminalStyle style = StandardOutputStyle(common.color);
    common.json ? PrintData(TargetsJson(response)) : PrintText(TargetsTable(response, style), style.color);
  } else {
    // Whoever looks for a GPU that nobody measured can have a target of it.
    const std::string& wanted = flags.device.empty() ? flags.name : flags.device;
    std::optional<Diagnostic> unknown;
    if (!wanted.empty()) unknown = DiagnosticFromStatus(UnknownTarget(common.client, wanted));
    PrintText(absl::StrCat("no target matches; without filters, cobra-client targets lists all\n",
                           unknown ? absl::StrCat("hint: ", WithoutEscapes(unknown->hint), "\n") : ""));
  }
  return kExitOk;
}

}  // namespace cobra::client
