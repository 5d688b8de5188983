#include "server/transport/metrics_endpoint.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "prometheus/text_serializer.h"
#include "server/transport/listen_socket.h"

namespace cobra::server {
namespace {

// A request is a line and a few headers; a client that sends more, or takes longer, is not
// Prometheus.
constexpr size_t kMaxRequestBytes = 16 << 10;
constexpr absl::Duration kMaxConnectionTime = absl::Seconds(5);
// One more closes the oldest.
constexpr size_t kMaxConnections = 64;

std::string Response(absl::string_view status, absl::string_view type, absl::string_view body) {
  return absl::StrCat("HTTP/1.1 ", status, "\r\nContent-Type: ", type, "\r\nContent-Length: ", body.size(),
                      "\r\nConnection: close\r\n\r\n", body);
}

// A request that arrives, or a response that leaves.
struct Exchange {
  Descriptor connection;
  absl::Time deadline;
  std::string request;
  std::string response;  // empty until the request is complete
  size_t sent = 0;
  bool over = false;
};

class EndpointImpl final : public MetricsEndpoint {
 public:
  EndpointImpl(std::vector<Descriptor> listeners, std::vector<std::shared_ptr<prometheus::Collectable>> collectables,
               std::function<bool()> is_serving)
      : listeners_(std::move(listeners)),
        stop_(::eventfd(0, EFD_CLOEXEC)),
        collectables_(std::move(collectables)),
        is_serving_(std::move(is_serving)),
        thread_([this] { Loop(); }) {}

  ~EndpointImpl() override {
    const uint64_t one = 1;
    while (::write(stop_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
    }
    thread_.join();
  }

  int port() const override { return PortOf(listeners_[0]); }

 private:
  void Loop() {
    std::list<Exchange> exchanges;  // the oldest first
    while (true) {
      std::vector<pollfd> waits = {{stop_.get(), POLLIN, 0}};
      for (const Descriptor& listener : listeners_) waits.push_back({listener.get(), POLLIN, 0});
      for (const Exchange& exchange : exchanges) {
        const short events = exchange.response.empty() ? POLLIN : POLLOUT;
        waits.push_back({exchange.connection.get(), events, 0});
      }
      const absl::Duration wait =
          exchanges.empty() ? absl::InfiniteDuration() : exchanges.front().deadline - absl::Now();
      if (::poll(waits.data(), waits.size(), TimeoutOf(wait)) < 0) continue;
      if (waits[0].revents != 0) return;
      size_t i = 1 + listeners_.size();
      for (Exchange& exchange : exchanges) {
        if (waits[i++].revents != 0) Continue(&exchange);
        exchange.over = exchange.over || absl::Now() >= exchange.deadline;
      }
      exchanges.remove_if([](const Exchange& exchange) { return exchange.over; });
      for (i = 0; i < listeners_.size(); ++i) {
        if (waits[1 + i].revents != 0) Accept(listeners_[i], &exchanges);
      }
    }
  }

  // In the milliseconds of poll(2); -1: for ever.
  static int TimeoutOf(absl::Duration wait) {
    if (wait == absl::InfiniteDuration()) return -1;
    return static_cast<int>(
        absl::ToInt64Milliseconds(absl::Ceil(std::max(wait, absl::ZeroDuration()), absl::Milliseconds(1))));
  }

  static void Accept(const Descriptor& listener, std::list<Exchange>* exchanges) {
    Descriptor connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection.valid() && (errno == EMFILE || errno == ENFILE)) {
      exchanges->clear();  // idle ones would keep the next scrape out
      absl::SleepFor(absl::Milliseconds(50));
    }
    if (!connection.valid()) return;
    if (exchanges->size() >= kMaxConnections) exchanges->pop_front();
    exchanges->push_back({std::move(connection), absl::Now() + kMaxConnectionTime});
  }

  // Reads or writes what can be without waiting.
  void Continue(Exchange* exchange) const {
    const int fd = exchange->connection.get();
    if (exchange->response.empty()) {
      char buffer[4096];
      const ssize_t n = ::recv(fd, buffer, sizeof(buffer), 0);
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (n > 0) exchange->request.append(buffer, static_cast<size_t>(n));
      exchange->over = n <= 0 || exchange->request.size() > kMaxRequestBytes;
      if (!absl::StrContains(exchange->request, "\r\n\r\n")) return;
      exchange->response = Answer(exchange->request);
    }
    const absl::string_view rest = absl::string_view(exchange->response).substr(exchange->sent);
    const ssize_t n = ::send(fd, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0) exchange->sent += static_cast<size_t>(n);
    exchange->over = n <= 0 || exchange->sent == exchange->response.size();
  }

  std::string Answer(absl::string_view request) const {
    constexpr char kWhatThereIs[] = "GET /metrics\nGET /health\n";
    if (!absl::ConsumePrefix(&request, "GET ")) return Response("405 Method Not Allowed", "text/plain", kWhatThereIs);
    const absl::string_view path = request.substr(0, request.find_first_of(" ?"));
    if (path == "/health") {
      return is_serving_() ? Response("200 OK", "text/plain", "SERVING\n")
                           : Response("503 Service Unavailable", "text/plain", "NOT_SERVING\n");
    }
    if (path != "/metrics") return Response("404 Not Found", "text/plain", kWhatThereIs);
    std::vector<prometheus::MetricFamily> families;
    for (const auto& collectable : collectables_) {
      for (prometheus::MetricFamily& family : collectable->Collect()) families.push_back(std::move(family));
    }
    return Response("200 OK", "text/plain; version=0.0.4; charset=utf-8",
                    prometheus::TextSerializer().Serialize(families));
  }

  const std::vector<Descriptor> listeners_;
  const Descriptor stop_;  // an event: readable when the loop must end
  const std::vector<std::shared_ptr<prometheus::Collectable>> collectables_;
  const std::function<bool()> is_serving_;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::Start(
    absl::string_view address, std::vector<std::shared_ptr<prometheus::Collectable>> collectables,
    std::function<bool()> is_serving) {
  COBRA_ASSIGN_OR_RETURN(std::vector<Descriptor> listeners, ListenAt(address));
  return std::make_unique<EndpointImpl>(std::move(listeners), std::move(collectables), std::move(is_serving));
}

}  // namespace cobra::server
