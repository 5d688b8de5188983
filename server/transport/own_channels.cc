#include "server/transport/own_channels.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "grpcpp/create_channel_posix.h"
#include "proto/compression.h"

namespace cobra::server {
namespace {

// The server closes connections that are idle longer (ServerLimits::max_connection_idle).
constexpr absl::Duration kMostIdle = absl::Minutes(1);

std::shared_ptr<grpc::Channel> NewChannel(const OwnChannels::Accept& accept) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return nullptr;
  accept(Descriptor(ends[0]));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  proto::RefuseCompression([&arguments](const char* name, int value) { arguments.SetInt(name, value); });
  return grpc::CreateCustomInsecureChannelFromFd("cobra", ends[1], arguments);
}

}  // namespace

OwnChannels::Place OwnChannels::Get() {
  absl::MutexLock lock(&mutex_);
  const absl::Time now = absl::Now();
  const auto is_idle = [now](const std::shared_ptr<Connection>& each) {
    return each->calls.load() == 0 && now - each->used >= kMostIdle;
  };
  connections_.erase(std::remove_if(connections_.begin(), connections_.end(), is_idle), connections_.end());
  // The first one with room: so the last ones become idle.
  const auto has_room = [this](const std::shared_ptr<Connection>& each) { return each->calls.load() < max_calls_; };
  auto found = std::find_if(connections_.begin(), connections_.end(), has_room);
  if (found == connections_.end()) {
    auto connection = std::make_shared<Connection>();
    connection->channel = NewChannel(accept_);
    if (connection->channel == nullptr) return nullptr;
    found = connections_.insert(found, std::move(connection));
  }
  const std::shared_ptr<Connection> connection = *found;
  connection->used = now;
  connection->calls.fetch_add(1);
  return Place(connection->channel.get(), [connection](grpc::Channel*) { connection->calls.fetch_sub(1); });
}

void OwnChannels::Forget(const Place& place) {
  absl::MutexLock lock(&mutex_);
  const auto is_its = [&](const std::shared_ptr<Connection>& each) { return each->channel.get() == place.get(); };
  connections_.erase(std::remove_if(connections_.begin(), connections_.end(), is_its), connections_.end());
}

}  // namespace cobra::server
