#include "client/series/history_command.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "base/text/without_escapes.h"
#include "base/user_error.h"
#include "client/answer/exit_code.h"
#include "client/answer/written_file.h"
#include "client/series/history.h"

namespace cobra::client {

absl::StatusOr<int> RunHistory(CommonFlags common, const HistoryFlags& flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  COBRA_RETURN_IF_ERROR(CheckReplaces("--out ", flags.out, {}, common.client.connection));
  v1::ListPredictionsRequest request;
  for (const auto& [name, value] : std::exchange(common.client.labels, {}))
    request.add_labels(absl::StrCat(name, "=", value));
  for (const std::string& target : flags.targets) request.add_targets(target);
  COBRA_ASSIGN_OR_RETURN(*request.mutable_since(), ParseSince(flags.since, absl::Now()));
  request.set_limit(static_cast<int32_t>(flags.limit));
  COBRA_ASSIGN_OR_RETURN(const v1::ListPredictionsResponse response,
                         Client::Connect(common.client)->ListPredictions(request));
  const History history = MakeHistory(response, flags.by);
  if (flags.format == "svg" && history.series.empty()) {
    return UsageError("--format svg: no stored prediction matches, so there is nothing to draw",
                      "cobra-client history without it gives the details");
  }
  COBRA_RETURN_IF_ERROR(flags.format == "svg" ? WriteOutput(flags.out, HistorySvg(history))
                        : common.json         ? WriteOutput(flags.out, HistoryJson(history))
                                              : WriteText(flags.out, WithoutEscapes(HistoryTable(history))));
  return kExitOk;
}

}  // namespace cobra::client
