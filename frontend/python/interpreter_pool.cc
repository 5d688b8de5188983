#include "frontend/python/interpreter_pool.h"

#include <atomic>
#include <list>
#include <optional>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/bytes/hash.h"
#include "base/status_macros.h"
#include "frontend/python/import_plan.h"
#include "frontend/python/interpreter_image.h"
#include "frontend/python/runtime/modules/parse_ahead.h"
#include "frontend/python/syntax/python_version.h"

namespace cobra::python {
namespace {

// An image of torch alone is 2 MB, one with all of torchvision 15 MB.
constexpr int64_t kMaxIdleBytes = int64_t{512} << 20;
constexpr size_t kMaxIdle = 64;
constexpr size_t kMaxRemembered = 4096;  // requests whose needs are known
constexpr absl::Duration kFilesTrusted = absl::Seconds(1);

// An image that waits for a request.
struct Waiting {
  int64_t number = 0;
  bool has_needs = false;  // of the request that has taken it: its later imports are in the image
  std::unique_ptr<InterpreterImage> image;
  Hash128 key;
  absl::Time files_checked;
};

// Starts to parse the imported modules on a second core, for a request that finds no image. Null if
// there is only one.
std::unique_ptr<ParseAhead> ParseImportsAhead(const SourceRequest& request) {
  static const bool kHasOtherCores = std::thread::hardware_concurrency() > 1;
  if (!kHasOtherCores) return nullptr;
  // The modules of torch that every network needs.
  std::vector<std::string> modules = {"torch", "torch.nn.parameter", "torch.nn.modules.module"};
  for (const char* family :
       {"container", "conv", "batchnorm", "activation", "linear", "normalization", "pooling", "dropout"}) {
    modules.push_back(absl::StrCat("torch.nn.modules.", family));
  }
  for (const Importer::Needed& n : PlanImports(request)) modules.push_back(n.module);
  return std::make_unique<ParseAhead>(&AllNatives(), LibrariesOf(request), std::move(modules));
}

// Whether the limits that affect an image have their default values.
bool HasDefaultLimits(const Limits& l) {
  const Limits usual;
  return l.memory_bytes == usual.memory_bytes && l.memory_spare_bytes == usual.memory_spare_bytes &&
         l.call_depth == usual.call_depth && l.stack_bytes == usual.stack_bytes &&
         l.generator_stack_bytes == usual.generator_stack_bytes &&
         l.suspended_generators == usual.suspended_generators && l.modules == usual.modules &&
         l.source_bytes == usual.source_bytes && l.syntax_nodes == usual.syntax_nodes &&
         l.syntax_names == usual.syntax_names && l.syntax_depth == usual.syntax_depth &&
         l.big_int_bits == usual.big_int_bits && l.sequence_items == usual.sequence_items &&
         l.output_bytes == usual.output_bytes;
}

// Hashes without a secret serve as keys here because all requests of a process are one user's: a
// server reads each request in a separate process.
Hash128 Add(Hash128 h, absl::string_view text) { return HashCombine(h, HashBytes(text)); }

Hash128 RequestHash(const SourceRequest& r) {
  Hash128 h = HashBytes(r.file);
  for (const auto& [path, text] : r.bundle) h = Add(Add(h, path), text);
  for (const std::string& input : r.inputs) h = Add(h, input);
  for (const auto& [name, expression] : r.arguments) h = Add(Add(h, name), expression);
  return Add(Add(h, r.entry), r.method);
}

Hash128 KeyOf(const SourceRequest& request, const ImportList& imports) {
  Hash128 h = Add(HashBytes(absl::StrCat(request.torch_version, " ", PythonVersionText())), request.package);
  for (const std::string& root : request.library_roots) h = Add(h, root);
  for (const Importer::Needed& n : imports) h = Add(h, absl::StrCat(n.module, n.whole_module ? "" : ":", n.attribute));
  return h;
}

class Pool {
 public:
  static Pool& Get() {
    static auto* const pool = new Pool();
    return *pool;
  }

  // An image for this request, or null if the request is the first of its kind.
  std::unique_ptr<Waiting> Take(const SourceRequest& request, const Limits& limits, Hash128 signature) {
    const ImportList head = PlanImports(request);
    const Hash128 plain = KeyOf(request, head);
    ImportList needs;
    bool was_seen = false;
    {
      absl::MutexLock lock(&mutex_);
      if (auto it = known_.find(signature); it != known_.end()) {
        needs = it->second.needs;
        was_seen = true;
      }
      was_seen = seen_[plain]++ > 0 || was_seen;
      if (seen_.size() > kMaxRemembered) seen_.clear();
    }
    std::unique_ptr<Waiting> waiting;
    if (!needs.empty()) {
      ImportList imports = head;
      imports.insert(imports.end(), needs.begin(), needs.end());
      const Hash128 key = KeyOf(request, imports);
      waiting = TakeIdle(key);
      if (waiting == nullptr) waiting = Make(request, imports, key);
    }
    const bool has_needs = waiting != nullptr;
    if (waiting == nullptr) waiting = TakeIdle(plain);
    if (waiting == nullptr && was_seen) waiting = Make(request, head, plain);
    if (waiting == nullptr) return nullptr;
    if (!waiting->image->IsUsable(request, limits)) {
      Keep(std::move(waiting));
      return nullptr;
    }
    waiting->has_needs = has_needs;
    return waiting;
  }

  void Learn(Hash128 signature, const ImportList& needs, const Hash128& outcome) {
    absl::MutexLock lock(&mutex_);
    if (known_.size() >= kMaxRemembered) known_.clear();
    if (differed_.size() >= kMaxRemembered) differed_.clear();
    // A library file may have changed once; after that, it is the imports that come too early.
    known_.try_emplace(signature, Known{differed_[signature] > 1 ? ImportList() : needs, outcome, 0});
  }

  bool Knows(Hash128 signature) {
    absl::MutexLock lock(&mutex_);
    return known_.contains(signature);
  }

  // Whether an image with what the request needs gives what it gave without it. If not, the request
  // is forgotten.
  bool Trusts(const Waiting& waiting, Hash128 signature, absl::FunctionRef<Hash128()> outcome) {
    {
      absl::MutexLock lock(&mutex_);
      const auto it = known_.find(signature);
      if (it != known_.end() && it->second.trusted == waiting.number) return true;
    }
    const Hash128 now = outcome();
    absl::MutexLock lock(&mutex_);
    const auto it = known_.find(signature);
    if (it == known_.end()) return false;
    if (it->second.outcome == now) {
      it->second.trusted = waiting.number;
      return true;
    }
    ++differed_[signature];
    known_.erase(it);
    return false;
  }

  void GiveBack(std::unique_ptr<Waiting> waiting) {
    if (waiting->image->Rollback()) Keep(std::move(waiting));
  }

 private:
  std::unique_ptr<Waiting> TakeIdle(Hash128 key) {
    std::unique_ptr<Waiting> waiting;
    {
      absl::MutexLock lock(&mutex_);
      for (auto it = idle_.begin(); it != idle_.end(); ++it) {
        if ((*it)->key != key) continue;
        waiting = std::move(*it);
        idle_.erase(it);
        idle_bytes_ -= waiting->image->heap().used_bytes();
        break;
      }
    }
    if (waiting == nullptr) return nullptr;
    const absl::Time now = absl::Now();
    if (now - waiting->files_checked > kFilesTrusted) {
      if (!waiting->image->FilesUnchanged()) return nullptr;
      waiting->files_checked = now;
    }
    return waiting;
  }

  void Keep(std::unique_ptr<Waiting> waiting) {
    std::list<std::unique_ptr<Waiting>> evicted;  // destroyed after the lock is released
    absl::MutexLock lock(&mutex_);
    idle_bytes_ += waiting->image->heap().used_bytes();
    idle_.push_front(std::move(waiting));
    while (idle_bytes_ > kMaxIdleBytes || idle_.size() > kMaxIdle) {
      idle_bytes_ -= idle_.back()->image->heap().used_bytes();
      evicted.splice(evicted.end(), idle_, std::prev(idle_.end()));
    }
  }

  // Null if the imports fail: the request itself then reports the error.
  std::unique_ptr<Waiting> Make(const SourceRequest& request, const ImportList& imports, Hash128 key) {
    {
      absl::MutexLock lock(&mutex_);
      if (impossible_.contains(key)) return nullptr;
    }
    auto waiting = std::make_unique<Waiting>();
    waiting->image = InterpreterImage::Create(LibrariesOf(request), request.torch_version, imports, Limits());
    waiting->key = key;
    waiting->number = ++images_made_;
    waiting->files_checked = absl::Now();
    if (waiting->image != nullptr) return waiting;
    absl::MutexLock lock(&mutex_);
    if (impossible_.size() >= kMaxRemembered) impossible_.clear();
    impossible_.insert(key);
    return nullptr;
  }

  absl::Mutex mutex_;
  std::list<std::unique_ptr<Waiting>> idle_ ABSL_GUARDED_BY(mutex_);  // latest first
  int64_t idle_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  struct Known {
    ImportList needs;
    Hash128 outcome;      // without them
    int64_t trusted = 0;  // number of the image with them that has given the same
  };
  std::atomic<int64_t> images_made_{0};
  absl::flat_hash_map<Hash128, int> differed_ ABSL_GUARDED_BY(mutex_);  // how often, by signature
  absl::flat_hash_map<Hash128, Known> known_ ABSL_GUARDED_BY(mutex_);   // by signature
  absl::flat_hash_set<Hash128> impossible_ ABSL_GUARDED_BY(mutex_);     // keys whose image could not be made
  absl::flat_hash_map<Hash128, int> seen_ ABSL_GUARDED_BY(mutex_);      // by key without needs
};

// A fresh interpreter, or one of an image.
class Lease : public InterpreterLease {
 public:
  Lease(std::unique_ptr<Machine> fresh, std::unique_ptr<ParseAhead> ahead)
      : fresh_(std::move(fresh)), ahead_(std::move(ahead)), machine_(fresh_.get()) {}
  Lease(std::unique_ptr<Waiting> waiting, const SourceRequest& request, const Limits& limits)
      : waiting_(std::move(waiting)), machine_(&waiting_->image->Start(request, limits)) {}
  ~Lease() override {
    if (outcome_.has_value()) Pool::Get().Learn(*signature_, machine_->interpreter->importer().needed(), *outcome_);
    if (waiting_ != nullptr) Pool::Get().GiveBack(std::move(waiting_));
  }
  // The pool remembers what this request needs.
  void set_signature(Hash128 signature) { signature_ = signature; }
  Machine& machine() override { return *machine_; }
  bool warm() const override { return waiting_ != nullptr; }
  bool Trusts(absl::FunctionRef<Hash128()> outcome) override {
    if (!signature_.has_value()) return true;
    if (waiting_ != nullptr && waiting_->has_needs) return Pool::Get().Trusts(*waiting_, *signature_, outcome);
    if (!Pool::Get().Knows(*signature_)) outcome_ = outcome();
    return true;
  }

 private:
  std::unique_ptr<Machine> fresh_;
  std::unique_ptr<ParseAhead> ahead_;
  std::unique_ptr<Waiting> waiting_;
  Machine* const machine_;
  std::optional<Hash128> signature_, outcome_;
};

}  // namespace

bool IsBuiltInModule(absl::string_view name) { return AllNatives().Covers(name); }

absl::StatusOr<std::unique_ptr<InterpreterLease>> LeaseInterpreter(const SourceRequest& request, const Limits& limits) {
  const bool pooled = HasDefaultLimits(limits);
  const Hash128 signature = pooled ? RequestHash(request) : Hash128();
  std::unique_ptr<Lease> lease;
  if (pooled) {
    if (std::unique_ptr<Waiting> waiting = Pool::Get().Take(request, limits, signature))
      lease = std::make_unique<Lease>(std::move(waiting), request, limits);
  }
  if (lease == nullptr) {
    std::unique_ptr<ParseAhead> ahead = ParseImportsAhead(request);
    COBRA_ASSIGN_OR_RETURN(std::unique_ptr<Machine> fresh,
                           NewMachine(LibrariesOf(request), request.torch_version, request.bundle, limits));
    lease = std::make_unique<Lease>(std::move(fresh), std::move(ahead));
  }
  if (pooled) lease->set_signature(signature);
  return lease;
}

}  // namespace cobra::python
