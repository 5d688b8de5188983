// What simultaneous callers want computed, in common batches. What several of them want is computed once.
//
// A caller computes a batch itself: what it wants, then, as far as there is room, what others wait for. A batch with
// room waits a moment for callers that are still writing down what they want; a caller that is alone never waits. Any
// thread.
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
#include "base/hash.h"

namespace cobra::predict {

template <typename Input, typename Value>
class SharedBatches {
 public:
  using Values = std::vector<std::shared_ptr<const Value>>;
  // One value for each input, in their order. Called without a lock, by several threads at once.
  using Compute = std::function<Values(absl::Span<const Input* const>)>;

  struct Options {
    size_t together = 16;  // of a batch: some 1 ms
    absl::Duration wait = absl::Microseconds(200);
    // Then a caller no longer relies on another one, whose thread may get no processor.
    absl::Duration patience = absl::Milliseconds(20);
  };

  explicit SharedBatches(Compute compute, Options options = {})
      : compute_(std::move(compute)), options_(std::move(options)) {}

  // A value for each key, of the input that `make` makes of its number; an input that another caller has brought is not
  // made. False when `cancelled`, which is asked before each batch. REQUIRES: the keys differ; as many values as keys.
  bool Get(absl::Span<const Hash128> keys, absl::FunctionRef<Input(size_t)> make,
           const std::function<bool()>& cancelled, absl::Span<std::shared_ptr<const Value>> values) {
    const Jobs jobs = Join(keys, make);
    const auto leave = absl::MakeCleanup([this, &jobs] { Leave(jobs); });
    bool relies_on_others = true;
    while (!AllDone(jobs)) {
      if (cancelled && cancelled()) return false;
      const Batch batch = Take(jobs, relies_on_others);
      relies_on_others = !batch.empty() || AwaitOthers(jobs);
      if (!batch.empty()) Run(batch);
    }
    for (size_t i = 0; i < jobs.size(); ++i) values[i] = jobs[i]->value;
    return true;
  }

 private:
  enum class State { kWaiting, kTaken, kDone };
  struct Job {
    Job(const Hash128& key, Input input) : key(key), input(std::move(input)) {}

    const Hash128 key;
    const Input input;
    State state = State::kWaiting;
    int wanted = 0;                                            // by callers
    std::shared_ptr<const Value> value;                        // constant when done
    typename std::list<std::shared_ptr<Job>>::iterator place;  // in waiting_, while it waits
  };

  using Jobs = std::vector<std::shared_ptr<Job>>;
  using Batch = Jobs;

  std::shared_ptr<Job> FindLocked(const Hash128& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = jobs_.find(key);
    if (found == jobs_.end()) return nullptr;
    ++found->second->wanted;
    return found->second;
  }

  Jobs Join(absl::Span<const Hash128> keys, absl::FunctionRef<Input(size_t)> make) {
    Jobs jobs(keys.size());
    {
      absl::MutexLock lock(&mutex_);
      ++arriving_;
      for (size_t i = 0; i < keys.size(); ++i) jobs[i] = FindLocked(keys[i]);
    }
    Jobs made(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      if (jobs[i] == nullptr) made[i] = std::make_shared<Job>(keys[i], make(i));
    }
    absl::MutexLock lock(&mutex_);
    --arriving_;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (jobs[i] == nullptr) jobs[i] = FindLocked(keys[i]);  // another caller was faster
      if (jobs[i] != nullptr) continue;
      jobs[i] = std::move(made[i]);
      jobs[i]->wanted = 1;
      jobs[i]->place = waiting_.insert(waiting_.end(), jobs[i]);
      jobs_[keys[i]] = jobs[i];
    }
    for (Batch* batch : open_) FillLocked(batch);  // or this caller would take all of them
    return jobs;
  }

  // What nobody wants any more is not computed.
  void Leave(const Jobs& jobs) {
    absl::MutexLock lock(&mutex_);
    for (const std::shared_ptr<Job>& job : jobs) {
      if (--job->wanted > 0 || job->state != State::kWaiting) continue;
      waiting_.erase(job->place);
      jobs_.erase(job->key);
    }
  }

  bool AllDone(const Jobs& jobs) {
    absl::MutexLock lock(&mutex_);
    return AllDoneLocked(jobs);
  }
  static bool AllDoneLocked(const Jobs& jobs) {
    for (const std::shared_ptr<Job>& job : jobs) {
      if (job->state != State::kDone) return false;
    }
    return true;
  }

  // The next batch; empty if others compute all that is left.
  Batch Take(const Jobs& own, bool relies_on_others) {
    Batch batch;
    absl::MutexLock lock(&mutex_);
    for (const std::shared_ptr<Job>& job : own) {
      if (batch.size() == options_.together) return batch;
      if (job->state == State::kWaiting || (job->state == State::kTaken && !relies_on_others)) TakeLocked(job, &batch);
    }
    if (batch.empty()) return batch;
    FillLocked(&batch);
    const auto is_ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return arriving_ == 0 || batch.size() == options_.together;
    };
    open_.push_back(&batch);
    mutex_.AwaitWithTimeout(absl::Condition(&is_ready), options_.wait);
    open_.erase(std::find(open_.begin(), open_.end(), &batch));
    return batch;
  }
  // With what others wait for.
  void FillLocked(Batch* batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (batch->size() < options_.together && !waiting_.empty()) TakeLocked(waiting_.front(), batch);
  }
  void TakeLocked(std::shared_ptr<Job> job, Batch* batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (job->state == State::kWaiting) waiting_.erase(job->place);
    job->state = State::kTaken;
    batch->push_back(std::move(job));
  }

  void Run(const Batch& batch) {
    std::vector<const Input*> inputs;
    for (const std::shared_ptr<Job>& job : batch) inputs.push_back(&job->input);
    Values values = compute_(inputs);
    absl::MutexLock lock(&mutex_);
    for (size_t i = 0; i < batch.size(); ++i) {
      Job& job = *batch[i];
      if (job.state == State::kDone) continue;  // a caller lost its patience, and was faster
      job.value = std::move(values[i]);
      job.state = State::kDone;
      jobs_.erase(job.key);
    }
  }

  // False if that takes too long.
  bool AwaitOthers(const Jobs& jobs) {
    const auto done = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return AllDoneLocked(jobs); };
    absl::MutexLock lock(&mutex_);
    return mutex_.AwaitWithTimeout(absl::Condition(&done), options_.patience);
  }

  const Compute compute_;
  const Options options_;
  absl::Mutex mutex_;
  absl::flat_hash_map<Hash128, std::shared_ptr<Job>> jobs_ ABSL_GUARDED_BY(mutex_);  // not done
  std::list<std::shared_ptr<Job>> waiting_ ABSL_GUARDED_BY(mutex_);                  // in the order of their coming
  std::vector<Batch*> open_ ABSL_GUARDED_BY(mutex_);                                 // that wait for callers
  int arriving_ ABSL_GUARDED_BY(mutex_) = 0;                                         // callers that make inputs
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_SHARED_BATCHES_H_
