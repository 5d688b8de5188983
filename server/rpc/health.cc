#include "server/rpc/health.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/bytes/wire_format.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "proto/grpc_status.h"
#include "server/access/caller.h"
#include "server/lanes/fair_room.h"
#include "server/rpc/message_bytes.h"
#include "server/rpc/single_request_call.h"

namespace cobra::server {
namespace {

constexpr size_t kMaxServiceBytes = 200;  // of a service's name; ours have some 20

// HealthCheckRequest: one text, `service`, field 1.
absl::StatusOr<std::string> ServiceOf(const grpc::ByteBuffer& request) {
  const absl::Status malformed = UsageError("the request: is not a HealthCheckRequest");
  if (request.Length() > kMaxServiceBytes + 16) return malformed;
  const std::string bytes = TextOf(request);
  std::string service;
  for (absl::string_view rest = bytes; !rest.empty();) {
    WireField field;
    if (!NextWireField(&rest, &field)) return malformed;
    if (field.number == 1 && field.kind == WireField::Kind::kBytes) service = std::string(field.bytes);
  }
  return service;
}

}  // namespace

class HealthCheckCall final : public SingleRequestCall {
 public:
  HealthCheckCall(const Health* health, Arrivals* arrivals, grpc::CallbackServerContext* context)
      : SingleRequestCall(arrivals, context), health_(health) {}

  // HealthCheckResponse: one number, `status`, field 1.
  static grpc::ByteBuffer Reply(Health::Serving serving) {
    WireWriter writer(4);
    writer.Number(1, static_cast<uint64_t>(serving));
    return BufferOf(writer.bytes());
  }

  void Received() override {
    const absl::StatusOr<std::string> service = ServiceOf(request());
    if (!service.ok()) return Lost(service.status());
    const Health::Serving serving = health_->StatusOf(*service);
    if (serving == Health::Serving::kServiceUnknown)
      return Lost(absl::NotFoundError(absl::StrCat("service \"", *service, "\": is not a service of this server")));
    response_ = Reply(serving);
    StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
  }
  void Lost(const absl::Status& why) override { Finish(proto::ToGrpcStatus(why)); }
  void OnDone() override { delete this; }

 private:
  const Health* const health_;
  grpc::ByteBuffer response_;
};

class HealthWatchCall final : public SingleRequestCall {
 public:
  HealthWatchCall(Health* health, Arrivals* arrivals, grpc::CallbackServerContext* context)
      : SingleRequestCall(arrivals, context), health_(health) {}

  const std::string& service() const { return service_; }
  const std::string& caller() const { return connection().caller(); }

  void Received() override {
    absl::StatusOr<std::string> service = ServiceOf(request());
    if (!service.ok()) return Lost(service.status());
    service_ = *std::move(service);
    {
      absl::MutexLock lock(&mutex_);
      received_ = true;
    }
    health_->Add(this);
  }
  // Without the lock: once the call is finished, OnDone() may delete it on another thread.
  void Lost(const absl::Status& why) override {
    {
      absl::MutexLock lock(&mutex_);
      if (std::exchange(ended_, true)) return;
    }
    Finish(proto::ToGrpcStatus(why));
  }
  // Only the latest status matters to a caller that reads slowly.
  void Notify(Health::Serving serving) {
    absl::MutexLock lock(&mutex_);
    if (serving != sent_) next_ = serving;
    if (serving == sent_) next_.reset();
    GoLocked();
  }
  void OnWriteDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      writing_ = false;
      if (ok) return GoLocked();
    }
    Lost(absl::CancelledError("the caller disconnected"));
  }
  // While the message is waited for, its read ends the call, and nothing else: Arrivals may be
  // about to refuse it.
  void OnCancel() override {
    {
      absl::MutexLock lock(&mutex_);
      if (!received_) return;
    }
    Lost(absl::CancelledError("the caller disconnected"));
  }
  void OnDone() override {
    health_->Remove(this);
    delete this;
  }

 private:
  void GoLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || ended_ || !next_.has_value()) return;
    sent_ = next_;
    next_.reset();
    message_ = HealthCheckCall::Reply(*sent_);
    writing_ = true;
    StartWrite(&message_);
  }

  Health* const health_;
  std::string service_;
  absl::Mutex mutex_;
  std::optional<Health::Serving> sent_ ABSL_GUARDED_BY(mutex_), next_ ABSL_GUARDED_BY(mutex_);
  grpc::ByteBuffer message_ ABSL_GUARDED_BY(mutex_);  // gRPC's while `writing_`
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool received_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

Health::Health(const ArrivalLimits& limits, Arrivals* arrivals) : limits_(limits) {
  const auto open = [this, arrivals](const char* method, auto make) {
    Answer(absl::StrCat("/grpc.health.v1.Health/", method),
           [this, arrivals, make](grpc::CallbackServerContext* context) -> BytesReactor* {
             SingleRequestCall* call = make(this, arrivals, context);
             call->AwaitRequest(/*to_the_end=*/true);
             return call;
           });
  };
  open("Check", [](auto... arguments) -> SingleRequestCall* { return new HealthCheckCall(arguments...); });
  open("Watch", [](auto... arguments) -> SingleRequestCall* { return new HealthWatchCall(arguments...); });
}

Health::Serving Health::StatusLocked(const std::string& service) const {
  const auto found = is_serving_.find(service);
  if (found == is_serving_.end()) return Serving::kServiceUnknown;
  return found->second && !shut_down_ ? Serving::kServing : Serving::kNotServing;
}

Health::Serving Health::StatusOf(const std::string& service) const {
  absl::MutexLock lock(&mutex_);
  return StatusLocked(service);
}

void Health::Set(const std::string& service, bool is_serving) {
  absl::MutexLock lock(&mutex_);
  is_serving_[service] = is_serving;
  NotifyLocked();
}

void Health::Shutdown() {
  absl::MutexLock lock(&mutex_);
  shut_down_ = true;
  NotifyLocked();
}

// A watch is not deleted meanwhile: its OnDone() waits in Remove().
void Health::NotifyLocked() {
  for (HealthWatchCall* watch : watches_) watch->Notify(StatusLocked(watch->service()));
}

void Health::Add(HealthWatchCall* watch) {
  absl::MutexLock lock(&mutex_);
  std::vector<absl::string_view> callers;
  for (const HealthWatchCall* each : watches_) callers.push_back(each->caller());
  const Room room = {limits_.max_health_watches, limits_.max_caller_health_watches};
  if (const std::optional<GivesWay> gives_way = WhoGivesWay(callers, watch->caller(), room)) {
    const auto oldest = watches_.begin() + static_cast<std::ptrdiff_t>(gives_way->position);
    const size_t most = gives_way->is_own ? room.most_of_caller : room.most;
    (*oldest)->Lost(
        absl::ResourceExhaustedError(absl::StrCat(LimitMessage(gives_way->is_own ? "this client's watches" : "watches",
                                                               static_cast<int64_t>(most), "calls of Health.Watch"),
                                                  ": replaced by a newer one")));
    watches_.erase(oldest);
  }
  watches_.push_back(watch);
  watch->Notify(StatusLocked(watch->service()));
}

void Health::Remove(HealthWatchCall* watch) {
  absl::MutexLock lock(&mutex_);
  watches_.erase(std::remove(watches_.begin(), watches_.end(), watch), watches_.end());
}

}  // namespace cobra::server
