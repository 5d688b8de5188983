#include "server/metrics_endpoint.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "prometheus/text_serializer.h"
#include "server/listen_socket.h"

namespace cobra::server {
namespace {

// A request is a line and a few headers; a client that sends more, or takes longer, is not Prometheus.
constexpr size_t kMaxRequestBytes = 16 << 10;
constexpr absl::Duration kMaxConnectionTime = absl::Seconds(5);

int PortOf(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
  return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

// Waits until `fd` is ready for `events`; returns false at the deadline.
bool WaitFor(int fd, short events, absl::Time deadline) {
  pollfd wait = {fd, events, 0};
  const int64_t left_ms = absl::ToInt64Milliseconds(deadline - absl::Now());
  return left_ms > 0 && ::poll(&wait, 1, static_cast<int>(left_ms)) > 0;
}

std::string Response(absl::string_view status, absl::string_view type, absl::string_view body) {
  return absl::StrCat("HTTP/1.1 ", status, "\r\nContent-Type: ", type, "\r\nContent-Length: ", body.size(),
                      "\r\nConnection: close\r\n\r\n", body);
}

class EndpointImpl final : public MetricsEndpoint {
 public:
  EndpointImpl(Descriptor listener, std::vector<std::shared_ptr<prometheus::Collectable>> collectables)
      : listener_(std::move(listener)),
        stop_(::eventfd(0, EFD_CLOEXEC)),
        collectables_(std::move(collectables)),
        thread_([this] { Loop(); }) {}

  ~EndpointImpl() override {
    const uint64_t one = 1;
    while (::write(stop_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
    }
    thread_.join();
  }

  int port() const override { return PortOf(listener_.get()); }

 private:
  void Loop() {
    while (true) {
      pollfd waits[2] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
      if (::poll(waits, 2, /*timeout_ms=*/-1) < 0) continue;
      if (waits[1].revents != 0) return;
      Descriptor connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (connection.get() >= 0) Serve(connection.get());
    }
  }

  void Serve(int fd) const {
    const absl::Time deadline = absl::Now() + kMaxConnectionTime;
    std::string request;
    char buffer[4096];
    while (!absl::StrContains(request, "\r\n\r\n")) {
      if (request.size() > kMaxRequestBytes || !WaitFor(fd, POLLIN, deadline)) return;
      const ssize_t n = ::recv(fd, buffer, sizeof(buffer), 0);
      if (n <= 0) return;
      request.append(buffer, n);
    }
    const std::string response = Answer(request);
    for (size_t sent = 0; sent < response.size();) {
      if (!WaitFor(fd, POLLOUT, deadline)) return;
      const ssize_t n = ::send(fd, response.data() + sent, response.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;
      sent += n;
    }
  }

  std::string Answer(absl::string_view request) const {
    if (!absl::StartsWith(request, "GET ")) return Response("405 Method Not Allowed", "text/plain", "GET /metrics\n");
    if (!absl::StartsWith(request, "GET /metrics ") && !absl::StartsWith(request, "GET /metrics?")) {
      return Response("404 Not Found", "text/plain", "GET /metrics\n");
    }
    std::vector<prometheus::MetricFamily> families;
    for (const auto& collectable : collectables_) {
      for (prometheus::MetricFamily& family : collectable->Collect()) families.push_back(std::move(family));
    }
    return Response("200 OK", "text/plain; version=0.0.4; charset=utf-8",
                    prometheus::TextSerializer().Serialize(families));
  }

  const Descriptor listener_;
  const Descriptor stop_;  // an event: readable when the loop must end
  const std::vector<std::shared_ptr<prometheus::Collectable>> collectables_;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::Start(
    absl::string_view address, std::vector<std::shared_ptr<prometheus::Collectable>> collectables) {
  COBRA_ASSIGN_OR_RETURN(Descriptor listener, ListenAt(address));
  return std::make_unique<EndpointImpl>(std::move(listener), std::move(collectables));
}

}  // namespace cobra::server
