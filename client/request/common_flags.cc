#include "client/request/common_flags.h"

#include "absl/status/status.h"
#include "base/address.h"
#include "base/status_macros.h"
#include "proto/connection.h"
#include "proto/label.h"

namespace cobra::client {

absl::Status CheckServer(const CommonFlags& common) {
  for (const auto& [name, value] : common.client.labels) COBRA_RETURN_IF_ERROR(proto::CheckLabel(name, value));
  if (common.client.address == kOwnServer) return absl::OkStatus();
  COBRA_RETURN_IF_ERROR(CheckAddress("--server", common.client.address));
  return proto::CheckConnection(common.client.connection, common.client.address);
}

}  // namespace cobra::client
