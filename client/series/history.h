// A model over commits: stored predictions as series, one for each target and model.
#ifndef COBRA_CLIENT_SERIES_HISTORY_H_
#define COBRA_CLIENT_SERIES_HISTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

struct HistoryPoint {
  std::string at;  // the value of the label that tells points apart: a commit
  v1::StoredPrediction prediction;
  // Of the latency over that of the point before, as a fraction; nothing for the first point.
  std::optional<double> change;
  bool same_network = false;   // as the point before
  bool other_weights = false;  // than the point before: the change may be theirs
};

struct HistorySeries {
  std::string target, model;  // the label "model"; empty: none
  std::vector<HistoryPoint> points;
};

struct History {
  std::string by;  // name of the label that tells points apart
  std::vector<HistorySeries> series;
  // Values of the label, in the order of the first prediction that has it: a commit that is
  // predicted again later stays where it was.
  std::vector<std::string> order;
  int64_t without = 0;    // predictions without the label `by`, which are left out
  bool has_more = false;  // older predictions were not asked for
};

// Of predictions with the same value of `by`, the same target and model, the newest counts.
History MakeHistory(const v1::ListPredictionsResponse& response, absl::string_view by);

// "30d", "12h" before `now`, or a day "2026-11-25" or an RFC 3339 time: as
// ListPredictionsRequest.since wants it. A usage Diagnostic otherwise.
absl::StatusOr<std::string> ParseSince(absl::string_view text, absl::Time now);

std::string HistoryTable(const History& history);
std::string HistoryJson(const History& history);
// An SVG that needs no other file: latency with its interval over commits, a curve for each of the
// first kMostCurves series, guesses hollow, a dashed line where other weights answer.
std::string HistorySvg(const History& history);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_SERIES_HISTORY_H_
