#include "server/request_record.h"

#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace cobra::server {

void RequestRecord::Done(const absl::Status& status) const {
  metrics_->RequestDone(rpc_, status.code(), absl::Now() - arrived_);
  if (absl::IsInternal(status) || absl::IsDataLoss(status) || absl::IsUnknown(status)) {
    LogError(absl::StrCat(MethodName(rpc_), ": ", status.message()));
  }
}

}  // namespace cobra::server
