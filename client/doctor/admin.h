// `cobra-client admin`: what the operator of a server does, apart from signals.
#ifndef COBRA_CLIENT_DOCTOR_ADMIN_H_
#define COBRA_CLIENT_DOCTOR_ADMIN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/request/common_flags.h"

namespace cobra::client {

enum class AdminAction { kReload, kVersions, kCaches, kFlush, kDrain };
struct AdminFlags {
  AdminAction action = AdminAction::kCaches;
  std::vector<std::string> caches;  // to flush; empty: all
};

// The exit code.
absl::StatusOr<int> RunAdmin(const CommonFlags& common, const AdminFlags& flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_DOCTOR_ADMIN_H_
