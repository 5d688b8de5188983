// The name of a caller, for the store: who requested a task, reported a measurement, sent a probe.
#ifndef COBRA_SERVER_CALLER_H_
#define COBRA_SERVER_CALLER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "server/call_context.h"

namespace cobra::server {

// Without access control nobody proves who they are: the name that the request itself gives, or "".
inline std::string CallerName(const CallContext&, absl::string_view given) { return std::string(given); }

}  // namespace cobra::server

#endif  // COBRA_SERVER_CALLER_H_
