#include "server/transport/http_listener.h"

#include <sys/socket.h>

#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "server/transport/connections.h"
#include "server/transport/http_session.h"
#include "server/transport/listen_socket.h"

namespace cobra::server {
namespace {

using Tcp = asio::ip::tcp;

// As gRPC writes it: "ipv4:192.0.2.1:40000", "ipv6:[2001:db8::1]:40000".
std::string PeerName(const Tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? absl::StrCat("ipv6:[", address, "]:", endpoint.port())
                                    : absl::StrCat("ipv4:", address, ":", endpoint.port());
}

class ListenerImpl final : public HttpListener {
 public:
  ListenerImpl(const HttpListenerOptions& options, HttpHandler* handler, std::unique_ptr<HttpTls> tls)
      : shared_(std::make_shared<HttpShared>()), tls_(std::move(tls)), work_(asio::make_work_guard(io_)) {
    shared_->options = options;
    shared_->handler = handler;
  }
  ~ListenerImpl() override { Stop(); }

  absl::Status Listen() {
    COBRA_ASSIGN_OR_RETURN(std::vector<Descriptor> listeners, ListenAt(shared_->options.listen));
    port_ = PortOf(listeners[0]);
    for (int i = 0; i < shared_->options.threads; ++i) threads_.emplace_back([this] { io_.run(); });
    connections_ = std::make_unique<Connections>(
        std::move(listeners), shared_->options.max_connections,
        [this](int, Descriptor connection) { Accept(std::move(connection)); }, /*table=*/nullptr, /*metrics=*/nullptr);
    return absl::OkStatus();
  }

  int port() const override { return port_; }
  void BeginDrain() override { shared_->draining = true; }

  bool WaitIdle(absl::Time deadline) override {
    absl::MutexLock lock(&shared_->mutex);
    const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(shared_->mutex) { return shared_->open == 0; };
    return shared_->mutex.AwaitWithDeadline(absl::Condition(&idle), deadline);
  }

  void Stop() override {
    connections_.reset();
    work_.reset();
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  // On the thread that accepts.
  void Accept(Descriptor connection) {
    sockaddr_storage address = {};
    socklen_t size = sizeof(address);
    if (::getpeername(connection.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return;
    Tcp::socket socket(asio::make_strand(io_));
    beast::error_code error;
    socket.assign(address.ss_family == AF_INET6 ? Tcp::v6() : Tcp::v4(), connection.get(), error);
    if (error) return;
    (void)connection.Release();
    const Tcp::endpoint endpoint = socket.remote_endpoint(error);
    if (error) return;
    const std::string peer = PeerName(endpoint);
    beast::tcp_stream stream(std::move(socket));
    if (tls_ == nullptr) {
      std::make_shared<HttpSession<beast::tcp_stream>>(std::move(stream), peer, shared_)->Start();
      return;
    }
    const std::shared_ptr<SSL_CTX> context = tls_->Context();
    SSL_CTX_up_ref(context.get());  // the wrapper gives one back, and the connection takes its own
    asio::ssl::context wrapper(context.get());
    beast::ssl_stream<beast::tcp_stream> secure(std::move(stream), wrapper);
    std::make_shared<HttpSession<beast::ssl_stream<beast::tcp_stream>>>(std::move(secure), peer, shared_)->Start();
  }

  const std::shared_ptr<HttpShared> shared_;
  const std::unique_ptr<HttpTls> tls_;
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
  std::unique_ptr<Connections> connections_;
  int port_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpListener>> HttpListener::Start(const HttpListenerOptions& options,
                                                                  HttpHandler* handler, std::unique_ptr<HttpTls> tls) {
  auto listener = std::make_unique<ListenerImpl>(options, handler, std::move(tls));
  COBRA_RETURN_IF_ERROR(listener->Listen());
  return listener;
}

}  // namespace cobra::server
