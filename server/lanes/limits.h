// Limits of one request, and of all requests together.
#ifndef COBRA_SERVER_LANES_LIMITS_H_
#define COBRA_SERVER_LANES_LIMITS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "base/limits.h"
#include "proto/message_limits.h"

namespace cobra::server {

// Of calls whose message is not there yet, of all callers, known or not (rpc/arrivals.h).
struct ArrivalLimits {
  int max_calls = 4096;  // some 12 KB each: 50 MB. As many as there are connections
  // A large message over a slow line takes longer: as long as it arrives at `bytes_per_second`, it
  // may.
  absl::Duration call_time = absl::Seconds(30);
  double bytes_per_second = 256 << 10;
  // What has come of messages that are not complete: four of the largest of a caller, eight in all.
  int64_t max_caller_bytes = int64_t{128} << 20;
  int64_t max_bytes = int64_t{256} << 20;
  // Calls that have begun and have not ended, whatever they wait for: their message, a thread, that
  // their caller takes the reply. Our own limits of queues, streams and watches come to some
  // 10,000.
  int64_t max_open_calls = 16'384;
  // How often it is looked after them. What a fast sender adds meanwhile comes on top.
  absl::Duration period = absl::Milliseconds(20);
  // Calls of Health.Watch: a load balancer has one, and nobody needs a credential. One more takes
  // the place of the oldest one of the caller with the most.
  size_t max_health_watches = 1024;
  size_t max_caller_health_watches = 64;
};

struct ServerLimits {
  ArrivalLimits arrivals;
  int max_request_bytes = proto::kMaxRequestBytes;  // of one message
  // Size of one parsed request: two of its bytes may be an empty message of 100. A graph of 60,000
  // calls takes some 80 MB.
  int64_t max_parsed_bytes = int64_t{160} << 20;
  // Targets of one request: more than users have devices. Bounds the work that a small message can
  // cause.
  int max_targets = 512;
  // Of PyTorch, among the targets of one request: source is read once for each.
  int max_torch_versions = 4;
  int max_batch = 10'000;  // requests of one PredictBatch
  // Of the texts of one network's different layers, about: half a second of processor time where
  // none was asked about before. DenseNet-201 has 18,000, a decoder's thousand steps with a growing
  // cache 90,000.
  int64_t max_layer_words = 120'000;
  // Of one reply of Predict: a breakdown of 60,000 calls on one target, or of 1,500 on 64, has some
  // 8 MB. A row repeats the names of its file and module.
  int64_t max_reply_bytes = int64_t{16} << 20;
  // Of replies that are made and not sent, since their callers do not read: four of the largest.
  int64_t max_unsent_bytes_per_caller = int64_t{64} << 20;
  int64_t max_unsent_bytes = int64_t{256} << 20;
  // Of requests that wait or are worked on: four of the largest.
  int64_t max_waiting_bytes_per_caller = int64_t{128} << 20;
  int64_t max_waiting_bytes = int64_t{384} << 20;
  // Graphs of one request that are held together (Adapt, Observe): 400 networks of 300 calls have
  // 90 MiB.
  int64_t max_networks_bytes = int64_t{128} << 20;
  // Graphs of requests that are worked on. A small program may make one of 130 MiB, which passes
  // if no other waits.
  int64_t max_graph_bytes_per_caller = int64_t{192} << 20;
  int64_t max_graph_bytes = int64_t{512} << 20;
  // Requests waiting for a thread. At 1 ms a request and two threads this is half a second of
  // waiting; with a longer queue, the caller should use another server.
  int max_queued = 1024;  // of each lane
  // Of one caller: half of them, so that another one finds room without taking it from anybody.
  int max_queued_per_caller = 512;
  // Open HTTP/2 streams of one connection: a client with more calls at a time keeps the others to
  // itself until there is room, or opens another connection. gRPC takes what one connection has
  // sent in one go, so that a thousand calls that begin on one would keep those of others waiting
  // (1,024: 15 ms; 128: 2 to 5).
  int max_streams_per_connection = 128;
  // Over HTTP, what goes on with a request to its call as metadata, as gRPC counts it. Callers
  // share the connections of those calls, and gRPC ends one over 8 KiB; gRPC's own headers have
  // some 600 bytes.
  int max_forwarded_bytes = 6 << 10;
  // Of that, the header "authorization" (a token of `cobra-server token` has 43), and names of a
  // client certificate.
  int max_authorization_bytes = 512;
  int max_certificate_names = 16;
  // Requests over HTTP of one caller at a time: half of the connections over HTTP, so that others
  // find room.
  int max_http_calls_per_caller = 512;
  // Calls of server reflection at a time.
  int max_reflection_calls = 32;
  // Open connections: a worker, a client and a proxy hold one each. Fewer where there are fewer
  // descriptors.
  int max_connections = 4096;
  // Descriptors for everything else: the database, a socket and a process handle for each reader,
  // scrapes.
  int reserved_descriptors = 256;
  // A connection without a call for this long is closed; clients connect again by themselves.
  absl::Duration max_connection_idle = absl::Minutes(5);
  // A new connection must speak HTTP/2 within this time.
  absl::Duration handshake_timeout = absl::Seconds(10);
  // A silent caller is asked this often whether it is there, and has `keepalive_timeout` to answer.
  absl::Duration keepalive_period = absl::Minutes(1);
  absl::Duration keepalive_timeout = absl::Seconds(20);
  // Memory that gRPC may use for messages in transit. Close to it gRPC ends connections, whosever
  // they are: so it is above what our own limits allow, of messages that arrive, that wait, and
  // that are sent.
  int64_t transport_memory_bytes = int64_t{1280} << 20;
  // The deadline of requests that have none, so that no request stays for ever.
  absl::Duration default_deadline = absl::Seconds(60);
  // A request that takes longer is logged with its stages.
  absl::Duration slow_request = absl::Seconds(1);
  // Limits of reading the model; its wall time is limited to the request's deadline.
  Limits read;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_LANES_LIMITS_H_
