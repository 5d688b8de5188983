// Errors as replies. docs/http.md describes the body:
//   {"error": {"code": "INVALID_ARGUMENT", "message": ..., "kind": "usage", "hint": ..., "where": {"file", "line"}}}
#ifndef COBRA_SERVER_HTTP_ERROR_REPLY_H_
#define COBRA_SERVER_HTTP_ERROR_REPLY_H_

#include "absl/status/status.h"
#include "server/http/message.h"

namespace cobra::http {

// The status of HTTP that a status of gRPC is, as google.rpc.Code has it. A Diagnostic about what
// cannot be read, or exceeds a limit, is 422: nobody shall repeat that request, as 429 and 501 have
// programs do.
int HttpStatusOf(const absl::Status& status);
// REQUIRES: not OK.
Reply ErrorReply(const absl::Status& status);
// With a status of HTTP that gRPC does not have: 405, 413.
Reply ErrorReply(int http_status, const absl::Status& status);

}  // namespace cobra::http

#endif  // COBRA_SERVER_HTTP_ERROR_REPLY_H_
