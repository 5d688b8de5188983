#include "server/transport/connections.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/log.h"
#include "base/throttled_log.h"

namespace cobra::server {
namespace {

// How long gRPC may take to close a connection that was ended; usually it takes less than a
// millisecond.
constexpr absl::Duration kClosingTime = absl::Milliseconds(200);
constexpr absl::Duration kPollPeriod = absl::Seconds(1);
constexpr absl::Duration kIdle = absl::Seconds(1);

// Ends the connection that has been silent longest among those of the caller with the most, up to
// `most` times; after the first time only connections that are idle.
int EndSome(const std::list<std::shared_ptr<Connection>>& open, size_t most) {
  using Silent = std::pair<absl::Duration, Connection*>;
  std::map<absl::string_view, std::vector<Silent>> callers;
  for (const std::shared_ptr<Connection>& connection : open) {
    if (!connection->ended()) callers[connection->caller()].push_back({connection->Silence(), connection.get()});
  }
  for (auto& [caller, silent] : callers) std::sort(silent.begin(), silent.end());
  int ended = 0;
  while (static_cast<size_t>(ended) < most && !callers.empty()) {
    std::vector<Silent>& greediest = std::max_element(callers.begin(), callers.end(), [](const auto& x, const auto& y) {
                                       if (x.second.size() != y.second.size()) return x.second.size() < y.second.size();
                                       return !x.second.empty() && x.second.back().first < y.second.back().first;
                                     })->second;
    if (greediest.empty() || (ended > 0 && greediest.back().first < kIdle)) break;
    greediest.back().second->End();
    greediest.pop_back();
    ++ended;
  }
  return ended;
}

ThrottledLog& RoomLog() {
  static auto* const log = new ThrottledLog;
  return *log;
}

}  // namespace

Connections::Connections(std::vector<Descriptor> listeners, int max_open, Handler handler, ConnectionTable* table,
                         Metrics* metrics)
    : listeners_(std::move(listeners)),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      max_open_(static_cast<size_t>(max_open)),
      handler_(std::move(handler)),
      table_(table),
      metrics_(metrics),
      thread_([this] { Loop(); }) {}

Connections::~Connections() { StopAccepting(); }

void Connections::StopAccepting() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  while (::write(stop_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
  listeners_.clear();
}

bool Connections::Close(absl::Time deadline) {
  StopAccepting();
  for (const std::shared_ptr<Connection>& connection : open_) connection->End();
  while (true) {
    ForgetClosed();
    if (open_.empty() || absl::Now() >= deadline) return open_.empty();
    absl::SleepFor(absl::Milliseconds(1));
  }
}

void Connections::Loop() {
  std::vector<pollfd> waits;
  for (const Descriptor& listener : listeners_) waits.push_back({listener.get(), POLLIN, 0});
  waits.push_back({stop_.get(), POLLIN, 0});
  while (true) {
    const int ready = ::poll(waits.data(), waits.size(), static_cast<int>(absl::ToInt64Milliseconds(kPollPeriod)));
    if (ready <= 0) {
      ForgetClosed();
      continue;
    }
    if (waits.back().revents != 0) return;
    for (size_t i = 0; i < listeners_.size(); ++i) {
      if (waits[i].revents != 0) Accept(waits[i].fd);
    }
  }
}

void Connections::Accept(int listener) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  Descriptor connection(
      ::accept4(listener, reinterpret_cast<sockaddr*>(&address), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection.valid()) {
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return;
    RoomLog().Warning(absl::StrCat("a connection was not accepted: ", absl::ErrnoToStatus(errno, "").message()));
    absl::SleepFor(absl::Milliseconds(50));  // it still waits, and so would be tried again at once
    return;
  }
  if (open_.size() >= max_open_) MakeRoom();
  if (open_.size() >= max_open_) return;
  open_.push_back(std::make_shared<Connection>(connection.get(), address));
  if (table_ != nullptr) table_->Add(open_.back());
  if (metrics_ != nullptr) metrics_->SetConnections(static_cast<int64_t>(open_.size()));
  handler_(listener, std::move(connection));
}

void Connections::ForgetClosed() {
  open_.remove_if([this](const std::shared_ptr<Connection>& connection) {
    if (connection->IsOpen()) return false;
    if (table_ != nullptr) table_->Remove(*connection);
    return true;
  });
  if (metrics_ != nullptr) metrics_->SetConnections(static_cast<int64_t>(open_.size()));
}

void Connections::MakeRoom() {
  ForgetClosed();
  if (open_.size() < max_open_) return;
  // Several at once: in a flood, each new connection would wait until gRPC has closed another one.
  const int ended = EndSome(open_, std::max<size_t>(1, max_open_ / 16));
  RoomLog().Warning(absl::StrCat(max_open_, " connections are open: ", ended, " of them are closed for new ones"));
  if (metrics_ != nullptr) metrics_->ConnectionsEnded(ended);
  for (const absl::Time until = absl::Now() + kClosingTime; open_.size() >= max_open_ && absl::Now() < until;) {
    absl::SleepFor(absl::Milliseconds(1));
    ForgetClosed();
  }
}

int ConnectionLimit(int wanted, int reserved) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  const auto most = static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, 1 << 30));
  // Where there are hardly any descriptors, half of them.
  return static_cast<int>(std::min<int64_t>(wanted, std::max<int64_t>({most - reserved, most / 2, 1})));
}

}  // namespace cobra::server
