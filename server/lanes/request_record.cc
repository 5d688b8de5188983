#include "server/lanes/request_record.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/throttled_log.h"
#include "server/lanes/call_metadata.h"

namespace cobra::server {
namespace {

// An overloaded server has thousands of slow requests a second.
ThrottledLog& SlowLog() {
  static auto* const log = new ThrottledLog(absl::Milliseconds(200));
  return *log;
}

}  // namespace

RequestRecord::RequestRecord(Rpc rpc, Metrics* metrics, const grpc::CallbackServerContext* context, absl::Duration slow)
    : rpc_(rpc), metrics_(metrics), context_(context), slow_(slow) {
  metrics_->RequestBegan(rpc);
}

void RequestRecord::Done(const absl::Status& status, absl::string_view caller, const RequestStages& stages) const {
  const absl::Duration duration = absl::Now() - arrived_;
  metrics_->RequestDone(rpc_, status.code(), duration);
  const bool own_error = absl::IsInternal(status) || absl::IsDataLoss(status) || absl::IsUnknown(status);
  if (!own_error && duration <= slow_) return;
  const std::optional<TraceContext> trace = context_ == nullptr ? std::nullopt : TraceOf(context_->client_metadata());
  const std::string code = StatusName(status.code());
  std::vector<LogField> fields = {{"rpc", MethodName(rpc_)}, {"status", code}};
  if (!caller.empty()) fields.push_back({"caller", caller});
  fields.push_back({"duration_ms", absl::ToDoubleMilliseconds(duration)});
  fields.push_back({"waited_ms", absl::ToDoubleMilliseconds(stages.waited)});
  fields.push_back({"read_ms", absl::ToDoubleMilliseconds(stages.read)});
  fields.push_back({"predicted_ms", absl::ToDoubleMilliseconds(stages.predicted)});
  if (trace.has_value()) {
    fields.push_back({"trace_id", trace->trace_id});
    fields.push_back({"parent_id", trace->parent_id});
  }
  if (own_error) {
    Log(LogLevel::kError, absl::StrCat(MethodName(rpc_), ": ", status.message()), fields);
  } else {
    SlowLog().Log(LogLevel::kWarning, "slow request", fields);
  }
}

}  // namespace cobra::server
