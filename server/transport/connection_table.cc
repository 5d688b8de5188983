#include "server/transport/connection_table.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/file/descriptor.h"
#include "server/access/caller.h"

namespace cobra::server {
namespace {

// What a connection sends though nobody has asked for it, such as answers to pings, in a second.
constexpr double kControlBytesPerSecond = 256;
// The preface, settings and TLS's handshake.
constexpr int64_t kGreetingBytes = 16 << 10;

constexpr char kUnixPeer[] = "unix:";

ino_t InodeOf(int descriptor) {
  struct stat status = {};
  return ::fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

std::string PeerOfAddress(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
    return absl::StrCat("ipv4:", text, ":", ntohs(v4.sin_port));
  }
  if (address.ss_family != AF_INET6) return kUnixPeer;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  const int port = ntohs(v6.sin6_port);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    ::inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text, sizeof(text));
    return absl::StrCat("ipv4:", text, ":", port);
  }
  ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text));
  const std::string zone = v6.sin6_scope_id == 0 ? "" : absl::StrCat("%25", v6.sin6_scope_id);
  return absl::StrCat("ipv6:%5B", text, zone, "%5D:", port);
}

// Nothing where the kernel does not tell: of a Unix socket, or of one that is closed.
std::optional<tcp_info> TcpInfoOf(int descriptor) {
  tcp_info info = {};
  socklen_t size = sizeof(info);
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  return info;
}

}  // namespace

Connection::Connection(int descriptor, const sockaddr_storage& address)
    : descriptor_(descriptor),
      inode_(InodeOf(descriptor)),
      peer_(PeerOfAddress(address)),
      caller_(CallerOfAddress(address)),
      accepted_(absl::Now()),
      sampled_taken_(-kGreetingBytes),
      sampled_(accepted_) {}

Connection::Connection(std::string caller)
    : descriptor_(-1), inode_(0), peer_(kUnixPeer), caller_(std::move(caller)), accepted_(absl::Now()) {}

bool Connection::IsOpen() const { return inode_ != 0 && InodeOf(descriptor_) == inode_; }

absl::Duration Connection::Silence() const {
  const absl::Duration age = absl::Now() - accepted_;
  const std::optional<tcp_info> info = IsOpen() ? TcpInfoOf(descriptor_) : std::nullopt;
  if (!info.has_value()) return age;
  return std::min(age, absl::Milliseconds(std::min(info->tcpi_last_data_recv, info->tcpi_last_data_sent)));
}

// gRPC may close the connection at any time, and its number then belongs to another file. A
// duplicate is checked to be the same socket, and stays so.
void Connection::End() {
  if (inode_ == 0) return;
  ended_.store(true, std::memory_order_relaxed);
  const Descriptor duplicate(::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0));
  if (duplicate.valid() && InodeOf(duplicate.get()) == inode_) ::shutdown(duplicate.get(), SHUT_RDWR);
}

void Connection::Sample(absl::Time now, absl::Time oldest) {
  const std::optional<tcp_info> info = IsOpen() ? TcpInfoOf(descriptor_) : std::nullopt;
  if (!info.has_value()) return held_bytes_.store(0, std::memory_order_relaxed);
  // What is taken meanwhile was received before.
  const int64_t taken = taken_bytes_.load(std::memory_order_relaxed);
  const auto received = static_cast<int64_t>(info->tcpi_bytes_received);
  const auto control = static_cast<int64_t>(kControlBytesPerSecond * absl::ToDoubleSeconds(now - sampled_));
  const int64_t more = (received - sampled_received_) - (taken - sampled_taken_) - control;
  // Nothing is held for calls that have ended.
  const bool idle = open_calls_.load(std::memory_order_relaxed) == 0;
  const bool may_be_older = oldest < sampled_ || open_streams_.load(std::memory_order_relaxed) > 0;
  const int64_t before = may_be_older ? held_bytes() : 0;
  held_bytes_.store(idle ? 0 : std::max<int64_t>(0, before + more), std::memory_order_relaxed);
  sampled_received_ = received;
  sampled_taken_ = taken;
  sampled_ = now;
}

void ConnectionTable::Add(std::shared_ptr<Connection> connection) {
  if (connection->peer() == kUnixPeer) return;
  absl::MutexLock lock(&mutex_);
  std::shared_ptr<Connection>& slot = by_peer_[connection->peer()];
  slot = std::move(connection);
}

void ConnectionTable::Remove(const Connection& connection) {
  absl::MutexLock lock(&mutex_);
  const auto found = by_peer_.find(connection.peer());
  if (found != by_peer_.end() && found->second.get() == &connection) by_peer_.erase(found);  // or it has a successor
}

std::shared_ptr<Connection> ConnectionTable::Find(absl::string_view peer) const {
  absl::ReaderMutexLock lock(&mutex_);
  const auto found = by_peer_.find(peer);
  return found == by_peer_.end() ? local_ : found->second;
}

std::vector<std::shared_ptr<Connection>> ConnectionTable::All() const {
  absl::ReaderMutexLock lock(&mutex_);
  std::vector<std::shared_ptr<Connection>> all;
  all.reserve(by_peer_.size());
  for (const auto& [peer, connection] : by_peer_) all.push_back(connection);
  return all;
}

}  // namespace cobra::server
