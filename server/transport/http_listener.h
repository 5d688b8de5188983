// HTTP/1.1 connections: accepts them (connections.h), reads requests within limits of size and
// time, writes replies. What a request means is the handler's business (rpc/http_calls.h).
// Boost.Beast parses; a few threads wait for all connections at once, so that slow clients hold
// memory and a descriptor, but no thread.
//
// Every step has a deadline for the whole of it, however it trickles in: a head, a body, a reply. A
// body has a length that is known before, or is refused. So nobody can smuggle a request inside
// another one's body.
#ifndef COBRA_SERVER_TRANSPORT_HTTP_LISTENER_H_
#define COBRA_SERVER_TRANSPORT_HTTP_LISTENER_H_

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/access/forwarded.h"
#include "server/http/message.h"
#include "server/transport/http_tls.h"

namespace cobra::server {

// One request, from its head until its reply is sent.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  // The body is there. Calls `done` once, on any thread. Called once.
  virtual void Run(std::string body, std::function<void(http::Reply)> done) = 0;
  // The client went away. Any time after Run().
  virtual void Cancel() = 0;
};

// Called from the listener's threads.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // A reply at once, or what takes the body. A body that was not taken is not read.
  virtual std::variant<http::Reply, std::shared_ptr<HttpExchange>> Begin(const http::Head& head,
                                                                         const HttpPeer& peer) = 0;
};

struct HttpListenerOptions {
  std::string listen;          // "HOST:PORT"; port 0 chooses a free one
  int max_connections = 1024;  // then those silent longest, of the caller with the most, make room
  int threads = 2;
  absl::Duration head_time = absl::Seconds(10);  // TLS, and again the head of the first request
  absl::Duration idle_time = absl::Seconds(60);  // from a reply to the next request's whole head
  absl::Duration body_time = absl::Seconds(30);  // and a second for each `body_rate`; the same for replies
  int64_t body_rate = 256 << 10;
  size_t max_head_bytes = 16 << 10;
  int max_requests = 10'000;  // of one connection
};

class HttpListener {
 public:
  // `tls` may be null. Unavailable, beginning with the address, if it cannot listen there.
  static absl::StatusOr<std::unique_ptr<HttpListener>> Start(const HttpListenerOptions& options, HttpHandler* handler,
                                                             std::unique_ptr<HttpTls> tls);
  // REQUIRES: Stop() was called, and no exchange will call its `done` any more.
  virtual ~HttpListener() = default;

  virtual int port() const = 0;
  // From now on each reply ends its connection.
  virtual void BeginDrain() = 0;
  // Waits until every request has its reply; false at the deadline.
  virtual bool WaitIdle(absl::Time deadline) = 0;
  // Ends all connections and threads. Exchanges may still call `done`, which does nothing.
  virtual void Stop() = 0;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_TRANSPORT_HTTP_LISTENER_H_
