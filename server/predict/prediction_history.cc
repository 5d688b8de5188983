#include "server/predict/prediction_history.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/names.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "nlohmann/json.hpp"
#include "proto/label.h"

namespace cobra::server {
namespace {

constexpr int64_t kDefaultLimit = 1000, kMaxLimit = 10000, kMaxTargets = 64;

absl::Status CheckAtMost(const char* what, int64_t count, int64_t most) {
  if (count <= most) return absl::OkStatus();
  return UsageError(LimitMessage("ListPredictions", count, most, what), "ask for fewer");
}

absl::StatusOr<store::PredictionFilter> FilterOf(const v1::ListPredictionsRequest& request) {
  store::PredictionFilter filter;
  COBRA_RETURN_IF_ERROR(CheckAtMost("labels", request.labels_size(), proto::kMaxLabels));
  for (const std::string& label : request.labels()) {
    const size_t equals = label.find('=');
    if (equals == std::string::npos) {
      return UsageError(absl::StrCat("labels: \"", absl::CHexEscape(label), "\" is not a label"), "write NAME=VALUE");
    }
    std::string name = label.substr(0, equals), value = label.substr(equals + 1);
    COBRA_RETURN_IF_ERROR(proto::CheckLabel(name, value));
    filter.labels.emplace_back(std::move(name), std::move(value));
  }
  COBRA_RETURN_IF_ERROR(CheckAtMost("targets", request.targets_size(), kMaxTargets));
  for (const std::string& target : request.targets()) {
    COBRA_RETURN_IF_ERROR(CheckApiName("target", target));
    filter.targets.push_back(target);
  }
  COBRA_RETURN_IF_ERROR(CheckAtMost("predictions", request.limit(), kMaxLimit));
  if (request.limit() < 0) {
    return UsageError(absl::StrCat("limit ", request.limit(), ": is negative"),
                      absl::StrCat("use 1 to ", kMaxLimit, ", or leave it out"));
  }
  filter.limit = request.limit() == 0 ? kDefaultLimit : request.limit();
  std::string why;
  if (!request.since().empty() && !absl::ParseTime(absl::RFC3339_full, request.since(), &filter.since, &why)) {
    return UsageError(absl::StrCat("since \"", request.since(), "\": ", why), "write it as 2026-11-25T08:00:00Z");
  }
  return filter;
}

// At least what the row takes in a reply; each label has tags and lengths where the text has
// quotes.
int64_t ReplyBytes(const store::PredictionRecord& record) {
  constexpr size_t kTimeNumbersAndTags = 100;
  return static_cast<int64_t>(kTimeNumbersAndTags + 2 * record.labels_json.size() + record.target.size() +
                              record.fingerprint.size() + record.model_version.size());
}

void FillPrediction(const store::PredictionRecord& record, v1::StoredPrediction* out) {
  out->set_time(absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", record.time, absl::UTCTimeZone()));
  const nlohmann::json labels = ParseJson<nlohmann::json>(record.labels_json);
  // The server has written them itself (lanes/call_metadata.h).
  if (labels.is_object()) {
    for (const auto& [name, value] : labels.items()) {
      if (value.is_string()) (*out->mutable_labels())[name] = value.get<std::string>();
    }
  }
  out->set_target(record.target);
  out->set_fingerprint(record.fingerprint);
  out->set_model_version(record.model_version);
  out->set_latency_us(record.latency_us);
  out->set_low_us(record.low_us);
  out->set_high_us(record.high_us);
  out->set_confidence(record.confidence);
  out->set_extrapolating(record.extrapolating);
}

}  // namespace

absl::Status PredictionHistory::HandleListPredictions(const v1::ListPredictionsRequest& request,
                                                      v1::ListPredictionsResponse* response, const CallContext& call) {
  COBRA_ASSIGN_OR_RETURN(store::PredictionFilter filter, FilterOf(request));
  ++filter.limit;  // one more: whether there are more
  COBRA_ASSIGN_OR_RETURN(std::vector<store::PredictionRecord> records, store_->LabelledPredictions(filter));
  response->set_has_more(static_cast<int64_t>(records.size()) == filter.limit);
  if (response->has_more()) records.pop_back();
  int64_t bytes = 0;
  for (const store::PredictionRecord& record : records) {
    bytes += ReplyBytes(record);
    if (bytes > max_reply_bytes_) {
      response->set_has_more(true);
      break;
    }
    FillPrediction(record, response->add_predictions());
  }
  return absl::OkStatus();
}

}  // namespace cobra::server
