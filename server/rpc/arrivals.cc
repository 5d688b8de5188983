#include "server/rpc/arrivals.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/text/limit_message.h"
#include "base/throttled_log.h"
#include "server/lanes/call_context.h"

namespace cobra::server {
namespace {

// What is ended beyond a limit, so that the next newcomer does not reach it again.
constexpr double kRelief = 0.75;
// Of calls that wait: what gRPC does with many refusals at once keeps other calls waiting.
constexpr double kCallRelief = 0.97;
// A connection that has sent nothing for this long is silent, and goes before one that holds some
// times as much.
constexpr absl::Duration kSilent = absl::Seconds(1);
constexpr int64_t kSilentWeight = 4;
// A connection with no more open calls than this is not what floods a server.
constexpr int64_t kFewCalls = 8;
// Those without old calls are looked at so often: what they held before one became old is known
// then.
constexpr absl::Duration kSampleAllPeriod = absl::Milliseconds(100);

// The most that each may have, so that all together have at most `target`; at least one.
size_t ShareOf(std::vector<size_t> counts, size_t target) {
  std::sort(counts.begin(), counts.end());
  for (size_t i = 0; i < counts.size(); ++i) {
    const size_t share = target / (counts.size() - i);
    if (counts[i] > share) return std::max<size_t>(share, 1);
    target -= counts[i];
  }
  return counts.empty() ? 0 : counts.back();
}

template <typename Connections>
size_t CountOf(const Connections& connections) {
  size_t count = 0;
  for (const auto& [connection, calls] : connections) count += calls.size();
  return count;
}

ThrottledLog& ArrivalLog() {
  static auto* const log = new ThrottledLog;
  return *log;
}

}  // namespace

Arrivals::Arrivals(const ArrivalLimits& limits, ConnectionTable* connections, Metrics* metrics)
    : limits_(limits), connections_(connections), metrics_(metrics), thread_([this] { Loop(); }) {}

Arrivals::~Arrivals() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

Arrivals::Shard& Arrivals::ShardOf(const Call* call) {
  return shards_[absl::Hash<const Call*>()(call) % shards_.size()];
}

absl::Status Arrivals::Begin(Call* call, const std::shared_ptr<Connection>& connection, bool to_the_end) {
  const int64_t waiting = num_waiting_.fetch_add(1, std::memory_order_relaxed) + 1;
  // The thread is behind, though it makes room at a half or a quarter of this.
  const int64_t most = (connection->open_calls() > kFewCalls ? 2 : 4) * int64_t{limits_.max_calls};
  if (waiting > most) {
    num_waiting_.fetch_sub(1, std::memory_order_relaxed);
    return absl::ResourceExhaustedError(LimitMessage("calls without their message", limits_.max_calls, "calls"));
  }
  {
    Shard& shard = ShardOf(call);
    absl::MutexLock lock(&shard.mutex);
    shard.waiting.emplace(call, Entry{connection, absl::Now(), to_the_end});
  }
  if (waiting > limits_.max_calls) {
    absl::MutexLock lock(&mutex_);
    crowded_ = true;
  }
  // After the call is there for Close() to see.
  if (!to_the_end && closed_.load(std::memory_order_seq_cst) && End(call)) return StoppingError();
  return absl::OkStatus();
}

bool Arrivals::End(Call* call) {
  Shard& shard = ShardOf(call);
  absl::MutexLock lock(&shard.mutex);
  if (shard.waiting.erase(call) == 0) return false;
  num_waiting_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

void Arrivals::Close() {
  closed_.store(true, std::memory_order_seq_cst);
  for (const Waiting& waiting : Snapshot()) {
    if (!waiting.entry.to_the_end) RefuseOne(waiting, StoppingError());
  }
}

std::vector<Arrivals::Waiting> Arrivals::Snapshot() {
  std::vector<Waiting> all;
  for (Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    for (const auto& [call, entry] : shard.waiting) all.push_back({call, entry});
  }
  return all;
}

void Arrivals::RefuseOne(const Waiting& waiting, const absl::Status& why) {
  {
    Shard& shard = ShardOf(waiting.call);
    absl::MutexLock lock(&shard.mutex);
    const auto found = shard.waiting.find(waiting.call);
    // Another call may have its address by now.
    if (found == shard.waiting.end() || found->second.began != waiting.entry.began) return;
    shard.waiting.erase(found);
  }
  num_waiting_.fetch_sub(1, std::memory_order_relaxed);
  if (metrics_ != nullptr) metrics_->ArrivalRefused();
  waiting.call->Refuse(why);  // without the lock: gRPC may call the object back at once
}

void Arrivals::Loop() {
  absl::Time looked, sampled_all;
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      const auto wake = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || crowded_; };
      const absl::Duration rest = num_waiting() > 0 ? limits_.period : kSampleAllPeriod;
      mutex_.AwaitWithTimeout(absl::Condition(&wake), std::min(rest, kSampleAllPeriod));
      if (stop_) return;
      crowded_ = false;
    }
    const absl::Time now = absl::Now();
    std::vector<Waiting> waiting = Snapshot();
    // In a flood, this thread wakes far more often than each connection needs to be looked at.
    if (now - looked >= limits_.period) {
      looked = now;
      const bool sample_all = now - sampled_all >= kSampleAllPeriod;
      if (waiting.empty() && !sample_all) continue;
      if (sample_all) sampled_all = now;
      LookAtConnections(&waiting, now, sample_all);
    }
    if (static_cast<int64_t>(waiting.size()) > limits_.max_calls) RefuseSurplus(waiting);
  }
}

void Arrivals::LookAtConnections(std::vector<Waiting>* waiting, absl::Time now, bool all) {
  const std::vector<std::shared_ptr<Connection>> connections = connections_->All();
  absl::flat_hash_map<Connection*, absl::Time> oldest;
  for (const Waiting& each : *waiting) {
    absl::Time& began = oldest.try_emplace(each.entry.connection.get(), absl::InfiniteFuture()).first->second;
    began = std::min(began, each.entry.began);
  }
  for (const std::shared_ptr<Connection>& connection : connections) {
    if (all || connection->held_bytes() > 0) oldest.try_emplace(connection.get(), absl::InfiniteFuture());
  }
  for (const auto& [connection, began] : oldest) connection->Sample(now, began);
  RefuseLate(waiting, now);
  EndHolders(connections);
  EndCrowded(connections);
}

void Arrivals::RefuseLate(std::vector<Waiting>* waiting, absl::Time now) {
  const auto late = [&](const Waiting& each) {
    const double seconds = static_cast<double>(each.entry.connection->held_bytes()) / limits_.bytes_per_second;
    return now - each.entry.began > limits_.call_time + absl::Seconds(seconds);
  };
  const auto first = std::partition(waiting->begin(), waiting->end(), [&](const Waiting& each) { return !late(each); });
  for (auto each = first; each != waiting->end(); ++each) {
    RefuseOne(*each, absl::DeadlineExceededError(absl::StrCat(
                         "the request: its message did not arrive within ", absl::FormatDuration(limits_.call_time),
                         ", and a second for each ", static_cast<int64_t>(limits_.bytes_per_second) >> 10,
                         " KiB of it; send less, or over a faster line")));
  }
  waiting->erase(first, waiting->end());
}

// Keeps nearly what may wait: of each caller as many as of the others, as far as it has them, and
// likewise of each connection of a caller. The oldest ones go first.
void Arrivals::RefuseSurplus(const std::vector<Waiting>& waiting) {
  absl::flat_hash_map<absl::string_view, absl::flat_hash_map<const Connection*, std::vector<const Waiting*>>> callers;
  for (const Waiting& each : waiting)
    callers[each.entry.connection->caller()][each.entry.connection.get()].push_back(&each);
  std::vector<size_t> of_callers;
  for (const auto& [caller, connections] : callers) of_callers.push_back(CountOf(connections));
  const auto target = static_cast<size_t>(kCallRelief * static_cast<double>(limits_.max_calls));
  const size_t caller_share = ShareOf(of_callers, target);
  const absl::Status refused = absl::ResourceExhaustedError(absl::StrCat(
      LimitMessage("calls without their message", limits_.max_calls, "calls"), "; send each call's message with it"));
  int64_t surplus = 0;
  const auto refuse_oldest = [&](std::vector<const Waiting*>* calls, size_t keep) {
    if (calls->size() <= keep) return;
    std::sort(calls->begin(), calls->end(),
              [](const Waiting* a, const Waiting* b) { return a->entry.began > b->entry.began; });
    for (size_t i = keep; i < calls->size(); ++i) RefuseOne(*(*calls)[i], refused);
    surplus += static_cast<int64_t>(calls->size() - keep);
    calls->resize(keep);
  };
  for (auto& [caller, connections] : callers) {
    std::vector<size_t> of_connections;
    for (const auto& [connection, calls] : connections) of_connections.push_back(calls.size());
    const size_t share = ShareOf(of_connections, caller_share);
    std::vector<const Waiting*> kept;
    for (auto& [connection, calls] : connections) {
      refuse_oldest(&calls, share);
      kept.insert(kept.end(), calls.begin(), calls.end());
    }
    refuse_oldest(&kept, caller_share);  // more connections than calls that the caller may have
  }
  ArrivalLog().Warning(absl::StrCat(waiting.size(), " calls have sent no message: ", surplus, " of them are refused"));
}

void Arrivals::EndHolders(const std::vector<std::shared_ptr<Connection>>& connections) {
  int64_t all = 0;
  std::map<absl::string_view, int64_t> callers;
  std::vector<Connection*> holders;
  for (const std::shared_ptr<Connection>& connection : connections) {
    if (connection->held_bytes() == 0 || connection->ended()) continue;
    all += connection->held_bytes();
    callers[connection->caller()] += connection->held_bytes();
    holders.push_back(connection.get());
  }
  const auto most_of_caller = [&] {
    return std::max_element(callers.begin(), callers.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; });
  };
  if (holders.empty() || (all <= limits_.max_bytes && most_of_caller()->second <= limits_.max_caller_bytes)) return;
  int ended = 0;
  int64_t ended_bytes = 0;
  while (true) {
    const auto most = most_of_caller();
    if (most == callers.end() || most->second == 0) break;
    const bool caller_has_room = most->second <= static_cast<int64_t>(kRelief * limits_.max_caller_bytes);
    if (all <= static_cast<int64_t>(kRelief * limits_.max_bytes) && caller_has_room) break;
    Connection* chosen = nullptr;
    int64_t chosen_weight = 0;
    for (Connection* holder : holders) {
      if (holder->ended() || holder->caller() != most->first) continue;
      const int64_t weight = holder->held_bytes() * (holder->Silence() >= kSilent ? kSilentWeight : 1);
      if (weight > chosen_weight) chosen = holder, chosen_weight = weight;
    }
    if (chosen == nullptr) break;
    chosen->End();
    ++ended;
    ended_bytes += chosen->held_bytes();
    all -= chosen->held_bytes();
    most->second -= chosen->held_bytes();
  }
  ArrivalLog().Warning(absl::StrCat("messages without their end take ", (all + ended_bytes) >> 20, " MiB: ", ended,
                                    " connections, which hold ", ended_bytes >> 20, " MiB of it, are closed"));
  if (metrics_ != nullptr) metrics_->ConnectionsEnded(ended);
}

void Arrivals::EndCrowded(const std::vector<std::shared_ptr<Connection>>& connections) {
  // Calls begin and end meanwhile: each number is read once.
  using Crowd = std::pair<int64_t, Connection*>;
  int64_t all = 0;
  std::map<absl::string_view, std::vector<Crowd>> callers;
  for (const std::shared_ptr<Connection>& connection : connections) {
    const int64_t open = connection->open_calls();
    all += open;
    if (open > 0 && !connection->ended()) callers[connection->caller()].push_back({open, connection.get()});
  }
  if (all <= limits_.max_open_calls) return;
  const auto open_of = [](const std::vector<Crowd>& own) {
    int64_t open = 0;
    for (const Crowd& each : own) open += each.first;
    return static_cast<size_t>(open);
  };
  std::vector<size_t> of_callers;
  for (const auto& [caller, own] : callers) of_callers.push_back(open_of(own));
  const size_t share = ShareOf(of_callers, static_cast<size_t>(kRelief * static_cast<double>(limits_.max_open_calls)));
  int ended = 0;
  for (auto& [caller, own] : callers) {
    std::sort(own.begin(), own.end());
    for (size_t left = open_of(own); left > share; ++ended) {
      left -= static_cast<size_t>(own.back().first);
      own.back().second->End();
      own.pop_back();
    }
  }
  ArrivalLog().Warning(absl::StrCat(all, " calls are open: ", ended, " connections, those with the most, are closed"));
  if (metrics_ != nullptr) metrics_->ConnectionsEnded(ended);
}

}  // namespace cobra::server
