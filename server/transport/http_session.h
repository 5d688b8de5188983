// One HTTP connection (http_listener.h), with or without TLS. Only http_listener.cc includes it:
// Boost's headers are large.
#ifndef COBRA_SERVER_TRANSPORT_HTTP_SESSION_H_
#define COBRA_SERVER_TRANSPORT_HTTP_SESSION_H_

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "server/http/error_reply.h"
#include "server/http/pages.h"
#include "server/transport/http_listener.h"

namespace cobra::server {

namespace asio = boost::asio;
namespace beast = boost::beast;

// What the sessions of a listener share.
struct HttpShared {
  HttpListenerOptions options;
  HttpHandler* handler;
  std::atomic<bool> draining{false};
  absl::Mutex mutex;
  int64_t open ABSL_GUARDED_BY(mutex) = 0;  // requests whose reply is not sent

  void Count(int by) {
    absl::MutexLock lock(&mutex);
    open += by;
  }
  // For so many bytes in one direction.
  std::chrono::milliseconds TimeFor(int64_t bytes) const {
    const absl::Duration time = options.body_time + absl::Seconds(1) * (bytes / options.body_rate);
    return std::chrono::milliseconds(absl::ToInt64Milliseconds(time));
  }
};

template <typename Stream>
class HttpSession : public std::enable_shared_from_this<HttpSession<Stream>> {
  using Error = beast::error_code;
  using HeadParser = beast::http::request_parser<beast::http::empty_body>;
  using BodyParser = beast::http::request_parser<beast::http::string_body>;
  using Response = beast::http::response<beast::http::string_body>;
  static constexpr bool kTls = !std::is_same_v<Stream, beast::tcp_stream>;

 public:
  HttpSession(Stream stream, std::string peer, std::shared_ptr<HttpShared> shared)
      : stream_(std::move(stream)), watch_(stream_.get_executor()), shared_(std::move(shared)) {
    peer_.address = std::move(peer);
    buffer_.max_size(kMaxBuffer);
  }
  ~HttpSession() { EndRequest(); }

  void Start() {
    asio::dispatch(stream_.get_executor(), [self = this->shared_from_this()] { self->Handshake(); });
  }

 private:
  static constexpr size_t kMaxBuffer = 64 << 10;
  static constexpr std::chrono::milliseconds kWatchPeriod{250};
  static constexpr std::chrono::seconds kLinger{2};

  beast::tcp_stream& tcp() { return beast::get_lowest_layer(stream_); }
  void ExpiresAfter(absl::Duration time) {
    tcp().expires_after(std::chrono::milliseconds(absl::ToInt64Milliseconds(time)));
  }

  void Handshake() {
    if constexpr (kTls) {
      ExpiresAfter(shared_->options.head_time);
      stream_.async_handshake(asio::ssl::stream_base::server, [self = this->shared_from_this()](Error error) {
        if (error) return;
        self->peer_.certificate_names = PeerCertificateNames(self->stream_.native_handle());
        self->ReadHead();
      });
    } else {
      ReadHead();
    }
  }

  void ReadHead() {
    head_.emplace();
    head_->header_limit(static_cast<uint32_t>(shared_->options.max_head_bytes));
    head_->body_limit(std::numeric_limits<uint64_t>::max());  // the handler decides
    ExpiresAfter(requests_ == 0 ? shared_->options.head_time : shared_->options.idle_time);
    beast::http::async_read_header(stream_, buffer_, *head_, [self = this->shared_from_this()](Error error, size_t) {
      error ? self->RefuseHead(error) : self->BeginRequest();
    });
  }

  void RefuseHead(Error error) {
    if (error == beast::http::error::end_of_stream) return Close();
    const bool is_http = error.category() == beast::http::make_error_code(beast::http::error::bad_target).category();
    if (!is_http || error == beast::http::error::partial_message) return;  // it is gone, or too slow
    const bool is_long = error == beast::http::error::header_limit || error == beast::http::error::buffer_overflow;
    BeginCount();
    keep_alive_ = false;
    is_head_ = false;
    Send(http::ErrorReply(
        is_long ? 431 : 400,
        absl::InvalidArgumentError(absl::StrCat("the request: is not HTTP/1.1 as it should be: ", error.message()))));
  }

  // The head as the handler takes it. nullopt if the target is not a path.
  std::optional<http::Head> TakeHead() {
    const auto& message = head_->get();
    http::Head head;
    head.method = std::string(message.method_string());
    const std::string target(message.target());
    if (!absl::StartsWith(target, "/")) return std::nullopt;
    head.path = target.substr(0, target.find('?'));
    if (head.path.size() < target.size()) head.query = target.substr(head.path.size() + 1);
    for (const auto& field : message)
      head.headers.emplace_back(absl::AsciiStrToLower(std::string(field.name_string())), std::string(field.value()));
    const auto length = head_->content_length();
    head.content_length = length.has_value() ? static_cast<int64_t>(std::min<uint64_t>(*length, int64_t{1} << 62)) : 0;
    return head;
  }

  void BeginRequest() {
    BeginCount();
    ++requests_;
    const std::optional<http::Head> head = TakeHead();
    // A coding that the parser does not know has a body too, of a length that nobody knows.
    const bool has_body =
        head_->get().count(beast::http::field::transfer_encoding) > 0 || head_->content_length().value_or(0) > 0;
    is_head_ = head_->get().method() == beast::http::verb::head;
    keep_alive_ = head_->keep_alive() && requests_ < shared_->options.max_requests;
    if (!head.has_value()) {
      keep_alive_ = false;
      return Send(http::ErrorReply(absl::InvalidArgumentError("the target of the request: is not a path")));
    }
    auto begun = shared_->handler->Begin(*head, peer_);
    if (auto* reply = std::get_if<http::Reply>(&begun)) {
      keep_alive_ = keep_alive_ && !has_body;  // what follows would be the body
      return Send(std::move(*reply));
    }
    exchange_ = std::move(std::get<1>(begun));
    if (!has_body) return RunExchange("");
    if (absl::EqualsIgnoreCase(head->Value("expect"), "100-continue")) return SendContinue(head->content_length);
    ReadBody(head->content_length);
  }

  void SendContinue(int64_t length) {
    static constexpr char kContinue[] = "HTTP/1.1 100 Continue\r\n\r\n";
    ExpiresAfter(shared_->options.body_time);
    asio::async_write(stream_, asio::buffer(kContinue, sizeof(kContinue) - 1),
                      [self = this->shared_from_this(), length](Error error, size_t) {
                        error ? self->EndRequest() : self->ReadBody(length);
                      });
  }

  void ReadBody(int64_t length) {
    body_.emplace(std::move(*head_));
    body_->body_limit(static_cast<uint64_t>(length));
    tcp().expires_after(shared_->TimeFor(length));
    beast::http::async_read(stream_, buffer_, *body_, [self = this->shared_from_this()](Error error, size_t) {
      if (error) return self->EndRequest();
      std::string body = std::move(self->body_->get().body());
      self->body_.reset();
      self->RunExchange(std::move(body));
    });
  }

  void RunExchange(std::string body) {
    tcp().expires_never();
    waits_ = true;
    exchange_->Run(std::move(body), [self = this->shared_from_this()](http::Reply reply) {
      asio::post(self->stream_.get_executor(), [self, reply = std::move(reply)]() mutable {
        self->waits_ = false;
        self->watch_.cancel();
        self->Send(std::move(reply));
      });
    });
    WatchClient();
  }

  // A client that has closed the connection wants no answer. What was sent before that may still be
  // unread here, so only the system knows.
  void WatchClient() {
    if (!waits_) return;
    watch_.expires_after(kWatchPeriod);
    watch_.async_wait([self = this->shared_from_this()](Error error) {
      if (error || !self->waits_) return;
      tcp_info info = {};
      socklen_t size = sizeof(info);
      const int socket = self->tcp().socket().native_handle();
      const bool known = ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
      if (known && info.tcpi_state == TCP_ESTABLISHED) return self->WatchClient();
      self->exchange_->Cancel();
    });
  }

  void Send(http::Reply reply) {
    response_.emplace(static_cast<beast::http::status>(reply.status), 11);
    if (shared_->draining.load(std::memory_order_relaxed)) keep_alive_ = false;
    response_->set(beast::http::field::date,
                   absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", absl::Now(), absl::UTCTimeZone()));
    if (!reply.content_type.empty()) response_->set(beast::http::field::content_type, reply.content_type);
    response_->set(beast::http::field::cache_control, "no-store");
    for (const auto& [name, value] : http::SafeHeaders()) response_->set(name, value);
    for (const auto& [name, value] : reply.headers) response_->set(name, value);
    response_->keep_alive(keep_alive_);
    response_->body() = std::move(reply.body);
    response_->prepare_payload();
    serializer_.emplace(*response_);
    tcp().expires_after(shared_->TimeFor(static_cast<int64_t>(response_->body().size())));
    auto sent = [self = this->shared_from_this()](Error error, size_t) { self->Sent(error); };
    if (is_head_) return beast::http::async_write_header(stream_, *serializer_, std::move(sent));
    beast::http::async_write(stream_, *serializer_, std::move(sent));
  }

  void Sent(Error error) {
    serializer_.reset();
    response_.reset();
    EndRequest();
    if (error) return;
    keep_alive_ ? ReadHead() : Close();
  }

  void BeginCount() {
    if (std::exchange(counted_, true)) return;
    shared_->Count(+1);
  }
  void EndRequest() {
    exchange_.reset();
    if (std::exchange(counted_, false)) shared_->Count(-1);
  }

  // Says that nothing more comes, and takes for a moment what the client still sends: the system
  // would otherwise reset the connection, and the client might not see the reply.
  void Close() {
    tcp().expires_after(kLinger);
    if constexpr (kTls) {
      stream_.async_shutdown([self = this->shared_from_this()](Error) { self->Linger(); });
    } else {
      Linger();
    }
  }
  void Linger() {
    Error ignored;
    tcp().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    tcp().expires_after(kLinger);
    Discard();
  }
  void Discard() {
    tcp().async_read_some(asio::buffer(discarded_), [self = this->shared_from_this()](Error error, size_t) {
      if (!error) self->Discard();
    });
  }

  Stream stream_;
  asio::steady_timer watch_;
  const std::shared_ptr<HttpShared> shared_;
  HttpPeer peer_;
  beast::flat_buffer buffer_;
  std::optional<HeadParser> head_;
  std::optional<BodyParser> body_;
  std::shared_ptr<HttpExchange> exchange_;
  std::optional<Response> response_;
  std::optional<beast::http::response_serializer<beast::http::string_body>> serializer_;
  std::array<char, 4096> discarded_;
  int requests_ = 0;
  bool counted_ = false, keep_alive_ = false, is_head_ = false;
  bool waits_ = false;  // for its exchange
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_TRANSPORT_HTTP_SESSION_H_
