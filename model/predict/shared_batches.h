// Computes what simultaneous callers ask for in common batches. What several of them ask for is
// computed once.
//
// A caller computes a batch itself: what it asks for, then a little of what others wait for, if
// that is little too. A batch with room waits a moment for callers that are still preparing their
// requests; a single caller never waits. Nobody computes a part of a large request of somebody
// else. Any thread.
#ifndef COBRA_MODEL_PREDICT_SHARED_BATCHES_H_
#define COBRA_MODEL_PREDICT_SHARED_BATCHES_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/bytes/hash.h"

namespace cobra::predict {

template <typename Input, typename Value>
class SharedBatches {
 public:
  using Values = std::vector<std::shared_ptr<const Value>>;
  // One value for each input, in their order. Called without a lock, by several threads at once.
  using Compute = std::function<Values(absl::Span<const Input* const>)>;
  // Time grows with the sum of these.
  using Cost = std::function<size_t(const Input&)>;

  struct Options {
    size_t together = 16;  // of one caller: some 1 ms
    size_t shared = 6;     // inputs of a batch that has any of another caller
    size_t cost = 400;     // of the inputs of such a batch
    absl::Duration wait = absl::Microseconds(200);
    // Then a caller no longer relies on another one, whose thread may get no processor.
    absl::Duration patience = absl::Milliseconds(20);
  };

  SharedBatches(Compute compute, Cost cost, Options options = {})
      : compute_(std::move(compute)), cost_(std::move(cost)), options_(std::move(options)) {}

  // A value for each key, of the input that `make` makes of its number; an input that another
  // caller has brought is not made. False when `cancelled`, which is asked before each batch.
  // REQUIRES: the keys differ; as many values as keys.
  bool Get(absl::Span<const Hash128> keys, absl::FunctionRef<Input(size_t)> make,
           const std::function<bool()>& cancelled, absl::Span<std::shared_ptr<const Value>> values) {
    Want want;
    const auto leave = absl::MakeCleanup([this, &want] { Leave(want.jobs); });
    if (!Join(keys, make, cancelled, &want)) return false;
    while (!AllDone(&want)) {
      if (cancelled && cancelled()) return false;
      const Batch batch = Take(want);
      want.relies_on_others = !batch.jobs.empty() || AwaitOthers(&want);
      if (!batch.jobs.empty()) Run(batch);
    }
    for (size_t i = 0; i < want.jobs.size(); ++i) values[i] = want.jobs[i]->value;
    return true;
  }

 private:
  enum class State { kWaiting, kTaken, kDone };
  struct Job {
    Job(const Hash128& key, Input input, size_t cost) : key(key), input(std::move(input)), cost(cost) {}

    const Hash128 key;
    const Input input;
    const size_t cost;
    State state = State::kWaiting;
    int wanted = 0;                                            // by callers
    bool is_offered = false;                                   // it is in offered_
    std::shared_ptr<const Value> value;                        // constant when done
    typename std::list<std::shared_ptr<Job>>::iterator place;  // in offered_
  };
  using Jobs = std::vector<std::shared_ptr<Job>>;
  struct Batch {
    Jobs jobs;
    size_t cost = 0;
  };
  // What one caller waits for.
  struct Want {
    Jobs jobs;
    size_t num_done = 0;  // the first ones
    bool relies_on_others = true;
  };

  std::shared_ptr<Job> FindLocked(const Hash128& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = jobs_.find(key);
    if (found == jobs_.end()) return nullptr;
    ++found->second->wanted;
    return found->second;
  }

  // False when cancelled.
  bool Join(absl::Span<const Hash128> keys, absl::FunctionRef<Input(size_t)> make,
            const std::function<bool()>& cancelled, Want* want) {
    constexpr size_t kAtOnce = 256;
    Jobs found(keys.size());
    {
      absl::MutexLock lock(&mutex_);
      ++arriving_;
      for (size_t i = 0; i < keys.size(); ++i) {
        found[i] = FindLocked(keys[i]);
        if (found[i] != nullptr) want->jobs.push_back(found[i]);
      }
    }
    Jobs made(keys.size());
    bool is_wanted = true;
    for (size_t i = 0; i < keys.size() && is_wanted; ++i) {
      if (i % kAtOnce == kAtOnce - 1) is_wanted = !cancelled || !cancelled();
      if (found[i] != nullptr) continue;
      Input input = make(i);
      const size_t cost = cost_(input);
      made[i] = std::make_shared<Job>(keys[i], std::move(input), cost);
    }
    absl::MutexLock lock(&mutex_);
    --arriving_;
    if (!is_wanted) return false;  // those that were found are left
    want->jobs.clear();
    size_t num_new = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (found[i] == nullptr) found[i] = FindLocked(keys[i]);  // another caller was faster
      if (found[i] == nullptr) {
        found[i] = std::move(made[i]);
        found[i]->wanted = 1;
        jobs_[keys[i]] = found[i];
        ++num_new;
      }
      want->jobs.push_back(found[i]);
    }
    if (num_new <= options_.shared) OfferLocked(want->jobs);
    return true;
  }

  void OfferLocked(const Jobs& jobs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const std::shared_ptr<Job>& job : jobs) {
      if (job->state != State::kWaiting || job->is_offered) continue;
      job->is_offered = true;
      job->place = offered_.insert(offered_.end(), job);
    }
    for (Batch* batch : open_) FillLocked(batch);  // or this caller would take all of them
  }

  // What nobody wants any more is not computed.
  void Leave(const Jobs& jobs) {
    absl::MutexLock lock(&mutex_);
    for (const std::shared_ptr<Job>& job : jobs) {
      if (--job->wanted > 0 || job->state != State::kWaiting) continue;
      WithdrawLocked(job.get());
      jobs_.erase(job->key);
    }
  }
  void WithdrawLocked(Job* job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (job->is_offered) offered_.erase(job->place);
    job->is_offered = false;
  }

  bool AllDone(Want* want) {
    absl::MutexLock lock(&mutex_);
    return AllDoneLocked(want);
  }
  static bool AllDoneLocked(Want* want) {
    while (want->num_done < want->jobs.size() && want->jobs[want->num_done]->state == State::kDone) ++want->num_done;
    return want->num_done == want->jobs.size();
  }

  // The next batch; empty if others compute all that is left.
  Batch Take(const Want& want) {
    Batch batch;
    absl::MutexLock lock(&mutex_);
    for (size_t i = want.num_done; i < want.jobs.size(); ++i) {
      const std::shared_ptr<Job>& job = want.jobs[i];
      if (batch.jobs.size() == options_.together) return batch;
      if (job->state == State::kWaiting || (job->state == State::kTaken && !want.relies_on_others))
        TakeLocked(job, &batch);
    }
    if (batch.jobs.empty() || IsFull(batch)) return batch;
    FillLocked(&batch);
    const auto is_ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return arriving_ == 0 || IsFull(batch); };
    open_.push_back(&batch);
    mutex_.AwaitWithTimeout(absl::Condition(&is_ready), options_.wait);
    open_.erase(std::find(open_.begin(), open_.end(), &batch));
    return batch;
  }
  bool IsFull(const Batch& batch) const { return batch.jobs.size() >= options_.shared || batch.cost >= options_.cost; }
  // With what others offer.
  void FillLocked(Batch* batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (!IsFull(*batch) && !offered_.empty() && batch->cost + offered_.front()->cost <= options_.cost)
      TakeLocked(offered_.front(), batch);
  }
  void TakeLocked(std::shared_ptr<Job> job, Batch* batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    WithdrawLocked(job.get());
    job->state = State::kTaken;
    batch->cost += job->cost;
    batch->jobs.push_back(std::move(job));
  }

  void Run(const Batch& batch) {
    std::vector<const Input*> inputs;
    for (const std::shared_ptr<Job>& job : batch.jobs) inputs.push_back(&job->input);
    Values values = compute_(inputs);
    absl::MutexLock lock(&mutex_);
    for (size_t i = 0; i < batch.jobs.size(); ++i) {
      Job& job = *batch.jobs[i];
      if (job.state == State::kDone) continue;  // a caller lost its patience, and was faster
      job.value = std::move(values[i]);
      job.state = State::kDone;
      jobs_.erase(job.key);
    }
  }

  // False if that takes too long.
  bool AwaitOthers(Want* want) {
    const auto done = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return AllDoneLocked(want); };
    absl::MutexLock lock(&mutex_);
    return mutex_.AwaitWithTimeout(absl::Condition(&done), options_.patience);
  }

  const Compute compute_;
  const Cost cost_;
  const Options options_;
  absl::Mutex mutex_;
  absl::flat_hash_map<Hash128, std::shared_ptr<Job>> jobs_ ABSL_GUARDED_BY(mutex_);  // not done
  std::list<std::shared_ptr<Job>> offered_ ABSL_GUARDED_BY(mutex_);  // of callers that want little, as they came
  std::vector<Batch*> open_ ABSL_GUARDED_BY(mutex_);                 // that wait for callers
  int arriving_ ABSL_GUARDED_BY(mutex_) = 0;                         // callers that make inputs
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_SHARED_BATCHES_H_
