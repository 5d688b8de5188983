// What one request, and all of them together, may cost this server.
#ifndef COBRA_SERVER_LIMITS_H_
#define COBRA_SERVER_LIMITS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "base/limits.h"
#include "proto/message_limits.h"

namespace cobra::server {

struct ServerLimits {
  int max_request_bytes = proto::kMaxRequestBytes;  // of one message
  // Of one request, parsed: two of its bytes may be an empty message of 100. A graph of 60,000 calls takes some 80 MB.
  int64_t max_parsed_bytes = int64_t{160} << 20;
  // Targets of one request: more than anybody has devices; bounds the work behind a small message.
  int max_targets = 64;
  // Requests waiting for a thread. At 1 ms a request and two threads this is half a second of waiting; beyond it, the
  // caller had better go elsewhere.
  int max_queued = 1024;
  // HTTP/2 streams a connection may have open: one client cannot fill the queue alone more often than this.
  int max_streams_per_connection = 1024;
  // Memory that gRPC may use for messages in transit.
  int64_t transport_memory_bytes = int64_t{512} << 20;
  // A request without a deadline of its own gets this one, so that nothing stays for ever.
  absl::Duration default_deadline = absl::Seconds(60);
  // What reading the model may cost; its wall time is cut to the request's deadline.
  Limits read;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_LIMITS_H_
