#include "tests/bench/load.h"

#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <deque>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"

namespace cobra::bench {
namespace {

constexpr std::chrono::seconds kReplyTime(10);

using SteadyClock = std::chrono::steady_clock;

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now().time_since_epoch()).count();
}

// The time in which calls count.
struct Window {
  Window(absl::Duration warm_up, absl::Duration duration)
      : start_ns(NowNs()),
        begin_ns(start_ns + absl::ToInt64Nanoseconds(warm_up)),
        end_ns(begin_ns + absl::ToInt64Nanoseconds(duration)),
        deadline(std::chrono::system_clock::now() + absl::ToChronoNanoseconds(warm_up + duration) + kReplyTime) {}

  bool Contains(int64_t at_ns) const { return begin_ns <= at_ns && at_ns < end_ns; }

  const int64_t start_ns, begin_ns, end_ns;
  // Of every call: a server that no longer answers does not hold up the loop.
  const std::chrono::system_clock::time_point deadline;
};

// The requests in turn, for all threads.
class Turns {
 public:
  Turns(const std::vector<grpc::ByteBuffer>& requests, bool each_once) : requests_(requests), each_once_(each_once) {}

  // Null when each has been sent once and that is enough.
  const grpc::ByteBuffer* Next() {
    const size_t turn = next_.fetch_add(1, std::memory_order_relaxed);
    if (each_once_ && turn >= requests_.size()) return nullptr;
    return &requests_[turn % requests_.size()];
  }
  size_t PositionOf(const grpc::ByteBuffer* request) const { return static_cast<size_t>(request - requests_.data()); }

 private:
  const std::vector<grpc::ByteBuffer>& requests_;
  const bool each_once_;
  std::atomic<size_t> next_{0};
};

class Lane;

// One of the calls in flight; it is used again for the next one. The order of members matters:
// `reader` lies in memory of the call that `context` owns.
struct Call {
  grpc::GenericStub* stub;
  Lane* lane;
  size_t request = 0;
  int64_t due_ns = 0;
  std::optional<grpc::ClientContext> context;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
  grpc::ByteBuffer reply;
  grpc::Status status;

  void Release() {
    reply.Clear();
    reader.reset();
    context.reset();
  }
};

// One connection: its calls, the thread that waits for replies, and what that thread has counted.
class Lane {
 public:
  Lane(const std::string& method, const Window& window, const CheckReply& is_right, Turns* turns)
      : method_(method), window_(window), is_right_(is_right), turns_(turns) {}

  Call* AddCall(grpc::GenericStub* stub) {
    calls_.emplace_back();
    calls_.back().stub = stub;
    calls_.back().lane = this;
    return &calls_.back();
  }

  // False if no request is left.
  bool Start(Call* call, int64_t due_ns) {
    const grpc::ByteBuffer* const request = turns_->Next();
    if (request == nullptr) return false;
    call->request = turns_->PositionOf(request);
    call->due_ns = due_ns;
    call->Release();
    call->context.emplace();
    call->context->set_deadline(window_.deadline);
    call->reader = call->stub->PrepareUnaryCall(&*call->context, method_, *request, &queue_);
    call->reader->StartCall();
    call->reader->Finish(&call->reply, &call->status, call);
    return true;
  }

  // The next call that has ended; null after ShutDown, when none is left.
  Call* Next() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) ? static_cast<Call*>(tag) : nullptr;
  }

  void Count(const Call& call, int64_t now_ns) {
    last_ns_ = now_ns;
    if (!call.status.ok()) {
      const size_t code = static_cast<size_t>(call.status.error_code());
      ++result_.errors[code < result_.errors.size() ? code : size_t{grpc::StatusCode::UNKNOWN}];
      return;
    }
    result_.latencies.Add(now_ns - call.due_ns);
    result_.reply_bytes += static_cast<int64_t>(call.reply.Length());
    if (is_right_ && !is_right_(call.request, call.reply)) ++result_.wrong;
  }

  // Until the end of the window, or until no request is left. REQUIRES: called once, in one thread.
  void RunClosed() {
    size_t in_flight = 0;
    for (Call& call : calls_) in_flight += Start(&call, NowNs());
    while (in_flight > 0) {
      Call* const call = Next();
      const int64_t now_ns = NowNs();
      if (window_.Contains(now_ns)) Count(*call, now_ns);
      if (now_ns >= window_.end_ns || !Start(call, now_ns)) --in_flight;
    }
    ShutDown();
    while (Next() != nullptr) {
    }
  }

  // REQUIRES: no Start afterwards.
  void ShutDown() { queue_.Shutdown(); }

  const LoadResult& result() const { return result_; }
  int64_t last_ns() const { return last_ns_; }  // when the last call that counts ended; 0 if none did

 private:
  const std::string& method_;
  const Window& window_;
  const CheckReply& is_right_;
  Turns* const turns_;
  grpc::CompletionQueue queue_;
  std::deque<Call> calls_;  // their addresses stay
  LoadResult result_;
  int64_t last_ns_ = 0;
};

// Calls that are not in flight. The one that has waited longest comes first, so that all
// connections are used alike.
class IdleCalls {
 public:
  void Put(Call* call) {
    absl::MutexLock lock(&mutex_);
    calls_.push_back(call);
  }
  // Waits for one.
  Call* Take() {
    const auto any = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !calls_.empty(); };
    absl::MutexLock lock(&mutex_, absl::Condition(&any));
    Call* const call = calls_.front();
    calls_.pop_front();
    return call;
  }
  void AwaitAll(size_t count) {
    const auto all = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return calls_.size() == count; };
    absl::MutexLock lock(&mutex_, absl::Condition(&all));
  }

 private:
  absl::Mutex mutex_;
  std::deque<Call*> calls_ ABSL_GUARDED_BY(mutex_);
};

void SleepUntil(int64_t at_ns) {
  std::this_thread::sleep_until(SteadyClock::time_point(std::chrono::nanoseconds(at_ns)));
}

// Sends every call of the loop when it is due.
void SendWhenDue(const OpenLoop& loop, const Window& window, IdleCalls* idle) {
  // The kernel may wake a thread 50 us late unless it is asked not to, and that would count as
  // latency.
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  DueTimes due_times(loop.rate_per_s, loop.seed);
  while (true) {
    const int64_t due_ns = window.start_ns + due_times.NextNs();
    if (due_ns >= window.end_ns) return;
    SleepUntil(due_ns);
    Call* const call = idle->Take();
    call->lane->Start(call, due_ns);
  }
}

LoadResult Merged(const std::deque<Lane>& lanes) {
  LoadResult all;
  for (const Lane& lane : lanes) {
    const LoadResult& one = lane.result();
    all.latencies.Merge(one.latencies);
    all.reply_bytes += one.reply_bytes;
    all.wrong += one.wrong;
    for (size_t i = 0; i < all.errors.size(); ++i) all.errors[i] += one.errors[i];
  }
  return all;
}

}  // namespace

int64_t DueTimes::NextNs() {
  // Not std::exponential_distribution: each library draws other numbers from the same seed.
  const double uniform = static_cast<double>(random_() >> 11) * 0x1p-53;  // in [0, 1)
  due_ns_ -= mean_gap_ns_ * std::log1p(-uniform);
  return static_cast<int64_t>(due_ns_);
}

std::string LoadResult::ErrorText() const {
  std::string text;
  for (size_t code = 0; code < errors.size(); ++code) {
    if (errors[code] == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", errors[code], " x ",
                    absl::StatusCodeToString(static_cast<absl::StatusCode>(code)));  // the same numbers as gRPC's
  }
  if (wrong > 0) absl::StrAppend(&text, text.empty() ? "" : ", ", wrong, " x wrong");
  return text;
}

absl::StatusOr<std::unique_ptr<LoadGenerator>> LoadGenerator::Connect(const LoadTarget& target) {
  std::unique_ptr<LoadGenerator> generator(new LoadGenerator);
  generator->method_ = target.method;
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // otherwise channels to one address share a connection
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  for (int i = 0; i < target.connections; ++i) {
    auto channel = grpc::CreateCustomChannel(target.address, grpc::InsecureChannelCredentials(), arguments);
    if (!channel->WaitForConnected(absl::ToChronoTime(absl::Now() + target.connect_time))) {
      return absl::UnavailableError(absl::StrCat("no server answers at ", target.address));
    }
    generator->stubs_.push_back(std::make_unique<grpc::GenericStub>(channel));
    generator->channels_.push_back(std::move(channel));
  }
  return generator;
}

LoadResult LoadGenerator::Run(const ClosedLoop& loop, const std::vector<grpc::ByteBuffer>& requests) {
  const size_t in_flight = static_cast<size_t>(loop.in_flight), used = std::min(in_flight, stubs_.size());
  const Window window(loop.warm_up, loop.duration);
  Turns turns(requests, loop.each_once);
  std::deque<Lane> lanes;
  for (size_t i = 0; i < used; ++i) lanes.emplace_back(method_, window, loop.is_right, &turns);
  for (size_t i = 0; i < in_flight; ++i) lanes[i % used].AddCall(stubs_[i % used].get());
  std::vector<std::thread> threads;
  for (Lane& lane : lanes) threads.emplace_back([&lane] { lane.RunClosed(); });
  for (std::thread& thread : threads) thread.join();
  LoadResult result = Merged(lanes);
  int64_t end_ns = window.end_ns;
  if (turns.Next() == nullptr) {  // the requests were at an end before the time was, or with it
    int64_t last_ns = window.begin_ns;
    for (const Lane& lane : lanes) last_ns = std::max(last_ns, lane.last_ns());
    end_ns = last_ns;
  }
  result.seconds = static_cast<double>(end_ns - window.begin_ns) * 1e-9;
  return result;
}

LoadResult LoadGenerator::Run(const OpenLoop& loop, const std::vector<grpc::ByteBuffer>& requests) {
  const size_t most = static_cast<size_t>(loop.max_in_flight), used = std::min(most, stubs_.size());
  const Window window(loop.warm_up, loop.duration);
  Turns turns(requests, /*each_once=*/false);
  std::deque<Lane> lanes;
  IdleCalls idle;
  for (size_t i = 0; i < used; ++i) lanes.emplace_back(method_, window, loop.is_right, &turns);
  for (size_t i = 0; i < most; ++i) idle.Put(lanes[i % used].AddCall(stubs_[i % used].get()));
  std::vector<std::thread> threads;
  for (Lane& lane : lanes) {
    threads.emplace_back([&] {
      while (Call* const call = lane.Next()) {
        if (window.Contains(call->due_ns)) lane.Count(*call, NowNs());
        call->Release();
        idle.Put(call);
      }
    });
  }
  std::thread sender([&] { SendWhenDue(loop, window, &idle); });
  sender.join();
  idle.AwaitAll(most);
  for (Lane& lane : lanes) lane.ShutDown();
  for (std::thread& thread : threads) thread.join();
  LoadResult result = Merged(lanes);
  result.seconds = absl::ToDoubleSeconds(loop.duration);
  return result;
}

grpc::ByteBuffer ToByteBuffer(absl::string_view bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size());
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace cobra::bench
