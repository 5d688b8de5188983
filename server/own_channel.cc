#include "server/own_channel.h"

#include <sys/socket.h>

#include <utility>

#include "absl/time/clock.h"
#include "grpcpp/create_channel_posix.h"
#include "proto/compression.h"

namespace cobra::server {
namespace {

constexpr absl::Duration kMostIdle = absl::Minutes(1);

}  // namespace

std::shared_ptr<grpc::Channel> OwnChannel::Get() {
  absl::MutexLock lock(&mutex_);
  const absl::Time now = absl::Now();
  const absl::Duration idle = now - std::exchange(used_, now);
  if (channel_ != nullptr && idle < kMostIdle) return channel_;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return nullptr;
  accept_(Descriptor(ends[0]));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  proto::RefuseCompression([&arguments](const char* name, int value) { arguments.SetInt(name, value); });
  channel_ = grpc::CreateCustomInsecureChannelFromFd("cobra", ends[1], arguments);
  return channel_;
}

void OwnChannel::Forget(const std::shared_ptr<grpc::Channel>& channel) {
  absl::MutexLock lock(&mutex_);
  if (channel_ == channel) channel_ = nullptr;
}

}  // namespace cobra::server
