// Limits of one request, and of all requests together.
#ifndef COBRA_SERVER_LIMITS_H_
#define COBRA_SERVER_LIMITS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "base/limits.h"
#include "proto/message_limits.h"

namespace cobra::server {

struct ServerLimits {
  int max_request_bytes = proto::kMaxRequestBytes;  // of one message
  // Size of one parsed request: two of its bytes may be an empty message of 100. A graph of 60,000 calls takes some 80
  // MB.
  int64_t max_parsed_bytes = int64_t{160} << 20;
  // Targets of one request: more than users have devices. Bounds the work that a small message can cause.
  int max_targets = 512;
  // Of PyTorch, among the targets of one request: source is read once for each.
  int max_torch_versions = 4;
  int max_batch = 10'000;  // requests of one PredictBatch
  // Of one reply of Predict: a breakdown of 60,000 calls on one target, or of 1,500 on 64, has some 8 MB. A row repeats
  // the names of its file and module.
  int64_t max_reply_bytes = int64_t{16} << 20;
  // Of replies that are made and not sent, since their callers do not read: four of the largest.
  int64_t max_unsent_bytes_per_caller = int64_t{64} << 20;
  int64_t max_unsent_bytes = int64_t{256} << 20;
  // Of requests that wait or are worked on: four of the largest.
  int64_t max_waiting_bytes_per_caller = int64_t{128} << 20;
  int64_t max_waiting_bytes = int64_t{384} << 20;  // below `transport_memory_bytes`, beyond which gRPC ends connections
  // Requests waiting for a thread. At 1 ms a request and two threads this is half a second of waiting; with a longer
  // queue, the caller should use another server.
  int max_queued = 1024;  // of each lane
  // Of one caller: half of them, so that another one finds room without taking it from anybody.
  int max_queued_per_caller = 512;
  // Open HTTP/2 streams of one connection: bounds how many requests one client can queue.
  int max_streams_per_connection = 1024;
  // Calls of server reflection at a time. gRPC gives each a thread of its own while it is open.
  int max_reflection_calls = 32;
  // Open connections: a worker, a client and a proxy hold one each. Fewer where there are fewer descriptors.
  int max_connections = 4096;
  // Descriptors for everything else: the database, a socket and a process handle for each reader, scrapes.
  int reserved_descriptors = 256;
  // A connection without a call for this long is closed; clients connect again by themselves.
  absl::Duration max_connection_idle = absl::Minutes(5);
  // A new connection must speak HTTP/2 within this time.
  absl::Duration handshake_timeout = absl::Seconds(10);
  // A silent caller is asked this often whether it is there, and has `keepalive_timeout` to answer.
  absl::Duration keepalive_period = absl::Minutes(1);
  absl::Duration keepalive_timeout = absl::Seconds(20);
  // Memory that gRPC may use for messages in transit.
  int64_t transport_memory_bytes = int64_t{512} << 20;
  // The deadline of requests that have none, so that no request stays for ever.
  absl::Duration default_deadline = absl::Seconds(60);
  // A request that takes longer is logged with its stages.
  absl::Duration slow_request = absl::Seconds(1);
  // Limits of reading the model; its wall time is limited to the request's deadline.
  Limits read;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_LIMITS_H_
