#include "frontend/python/interpreter_pool.h"

#include <list>
#include <optional>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/hash.h"
#include "base/status_macros.h"
#include "frontend/python/import_plan.h"
#include "frontend/python/runtime/import.h"
#include "frontend/python/runtime/parse_ahead.h"
#include "frontend/python/torch/library.h"

namespace cobra::python {
namespace {

// An image of torch alone is 2 MB, one with all of torchvision 15 MB.
constexpr int64_t kMaxIdleBytes = int64_t{512} << 20;
constexpr size_t kMaxIdle = 64;
constexpr size_t kMaxRemembered = 4096;  // requests whose needs are known
constexpr absl::Duration kFilesTrusted = absl::Seconds(1);

const NativeRegistry& Natives() {
  static const auto* const kRegistry = [] {
    auto* registry = new NativeRegistry();
    AddStandardLibrary(registry);
    AddTorch(registry);
    return registry;
  }();
  return *kRegistry;
}

struct Machine {
  std::optional<TorchState> torch;
  std::unique_ptr<Interpreter> interpreter;
  Hash128 key;           // of the image; unused in a fresh one
  TorchLibrary library;  // as it was when the image was made
  absl::Time files_checked;
};

std::vector<std::shared_ptr<const FileSource>> LibraryRoots(const SourceRequest& request) {
  std::vector<std::shared_ptr<const FileSource>> roots;
  if (!request.package.empty()) roots.push_back(PackageSource(request.package));
  for (const std::string& root : request.library_roots) roots.push_back(DirectorySource(root));
  return roots;
}

// For a request that finds no image. Null where there is no second core to do it.
std::unique_ptr<ParseAhead> ParseWhatIsImported(const SourceRequest& request) {
  static const bool kHasOtherCores = std::thread::hardware_concurrency() > 1;
  if (!kHasOtherCores) return nullptr;
  // What every network needs of torch, by name only.
  std::vector<std::string> modules = {"torch", "torch.nn.parameter", "torch.nn.modules.module"};
  for (const char* family :
       {"container", "conv", "batchnorm", "activation", "linear", "normalization", "pooling", "dropout"}) {
    modules.push_back(absl::StrCat("torch.nn.modules.", family));
  }
  for (const Importer::Needed& n : PlanImports(request)) modules.push_back(n.module);
  return std::make_unique<ParseAhead>(&Natives(), LibraryRoots(request), std::move(modules));
}

absl::StatusOr<std::unique_ptr<Machine>> NewMachine(const SourceRequest& request, const Limits& limits,
                                                    bool with_bundle) {
  auto machine = std::make_unique<Machine>();
  machine->torch.emplace(limits.graph);
  InterpreterOptions options;
  options.limits = limits;
  if (with_bundle) options.bundle = request.bundle;
  options.library_roots = LibraryRoots(request);
  options.natives = &Natives();
  options.torch_version = request.torch_version;
  options.host = &*machine->torch;
  COBRA_ASSIGN_OR_RETURN(machine->interpreter, Interpreter::Create(std::move(options)));
  return machine;
}

// What PyTorch has loaded after `import torch`, and what model files import of the standard library.
Result<void> ImportBasics(Interpreter& interp) {
  COBRA_TRY(interp.ImportModule("torch"));
  COBRA_TRY(interp.ImportModule("torch.nn.modules.module"));
  for (const std::string& name : Natives().NamesUnder("torch.nn.")) {
    if (interp.ImportModule(name).ok()) continue;
    // A module that the target version lacks.
    if (!interp.CatchException(interp.types().ModuleNotFoundError)) return Failure();
  }
  COBRA_TRY_ASSIGN(ModuleObject * nn, interp.ImportModule("torch.nn"));
  COBRA_TRY(interp.GetAttr(nn, "__dict__"));  // all its classes, which are found one by one otherwise
  for (const char* name :
       {"abc", "collections", "collections.abc", "copy", "dataclasses", "enum", "functools", "inspect", "itertools",
        "logging", "math", "numbers", "operator", "os", "re", "types", "typing", "warnings"}) {
    COBRA_TRY(interp.ImportModule(name));
  }
  return {};
}

// Whether the limits that shape an image are the usual ones.
bool HasDefaultLimits(const Limits& l) {
  const Limits usual;
  return l.memory_bytes == usual.memory_bytes && l.call_depth == usual.call_depth &&
         l.stack_bytes == usual.stack_bytes && l.generator_stack_bytes == usual.generator_stack_bytes &&
         l.suspended_generators == usual.suspended_generators && l.modules == usual.modules &&
         l.source_bytes == usual.source_bytes && l.syntax_nodes == usual.syntax_nodes &&
         l.syntax_names == usual.syntax_names && l.syntax_depth == usual.syntax_depth &&
         l.big_int_bits == usual.big_int_bits && l.sequence_items == usual.sequence_items &&
         l.output_bytes == usual.output_bytes;
}

Hash128 Add(Hash128 h, absl::string_view text) { return HashCombine(h, HashBytes(text)); }

Hash128 RequestHash(const SourceRequest& r) {
  Hash128 h = HashBytes(r.file);
  for (const auto& [path, text] : r.bundle) h = Add(Add(h, path), text);
  for (const std::string& input : r.inputs) h = Add(h, input);
  for (const auto& [name, expression] : r.arguments) h = Add(Add(h, name), expression);
  return Add(Add(h, r.entry), r.method);
}

using ImportList = std::vector<Importer::Needed>;

Hash128 KeyOf(const SourceRequest& request, const ImportList& imports) {
  Hash128 h = Add(HashBytes(request.torch_version), request.package);
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

  // An image for this request, or null: it is the first of its kind.
  std::unique_ptr<Machine> Take(const SourceRequest& request, const Limits& limits, Hash128 signature) {
    ImportList imports = PlanImports(request);
    const Hash128 plain = KeyOf(request, imports);
    std::optional<ImportList> needs;
    int plain_seen = 0;
    {
      absl::MutexLock lock(&mutex_);
      if (auto it = needs_.find(signature); it != needs_.end()) needs = it->second;
      plain_seen = seen_[plain]++;
      if (seen_.size() > kMaxRemembered) seen_.clear();
    }
    if (needs.has_value()) imports.insert(imports.end(), needs->begin(), needs->end());
    const Hash128 key = KeyOf(request, imports);
    std::unique_ptr<Machine> machine = TakeIdle(key);
    if (machine == nullptr && (needs.has_value() || plain_seen > 0)) machine = Make(request, imports, key);
    if (machine == nullptr) return nullptr;
    if (machine->interpreter->importer().BundleShadowsImports(request.bundle) ||
        machine->interpreter->steps_used() >= limits.steps) {
      Keep(std::move(machine));
      return nullptr;
    }
    machine->interpreter->StartRequest(request.bundle, limits);
    machine->torch.emplace(limits.graph);
    static_cast<TorchLibrary&>(*machine->torch) = machine->library;
    return machine;
  }

  void Learn(Hash128 signature, const ImportList& needs) {
    absl::MutexLock lock(&mutex_);
    if (needs_.size() >= kMaxRemembered) needs_.clear();
    needs_.try_emplace(signature, needs);
  }

  void GiveBack(std::unique_ptr<Machine> machine) {
    if (!machine->interpreter->Rollback()) return;
    machine->torch.reset();
    Keep(std::move(machine));
  }

 private:
  std::unique_ptr<Machine> TakeIdle(Hash128 key) {
    std::unique_ptr<Machine> machine;
    {
      absl::MutexLock lock(&mutex_);
      for (auto it = idle_.begin(); it != idle_.end(); ++it) {
        if ((*it)->key != key) continue;
        machine = std::move(*it);
        idle_.erase(it);
        idle_bytes_ -= machine->interpreter->heap().used_bytes();
        break;
      }
    }
    if (machine == nullptr) return nullptr;
    const absl::Time now = absl::Now();
    if (now - machine->files_checked > kFilesTrusted) {
      if (!machine->interpreter->importer().FilesUnchanged()) return nullptr;
      machine->files_checked = now;
    }
    return machine;
  }

  void Keep(std::unique_ptr<Machine> machine) {
    std::list<std::unique_ptr<Machine>> evicted;  // destroyed after the lock is released
    absl::MutexLock lock(&mutex_);
    idle_bytes_ += machine->interpreter->heap().used_bytes();
    idle_.push_front(std::move(machine));
    while (idle_bytes_ > kMaxIdleBytes || idle_.size() > kMaxIdle) {
      idle_bytes_ -= idle_.back()->interpreter->heap().used_bytes();
      evicted.splice(evicted.end(), idle_, std::prev(idle_.end()));
    }
  }

  // Null if the imports fail: the request will say how.
  std::unique_ptr<Machine> Make(const SourceRequest& request, const ImportList& imports, Hash128 key) {
    {
      absl::MutexLock lock(&mutex_);
      if (impossible_.contains(key)) return nullptr;
    }
    absl::StatusOr<std::unique_ptr<Machine>> machine = NewMachine(request, Limits(), /*with_bundle=*/false);
    if (!machine.ok()) return nullptr;
    Interpreter& interpreter = *(*machine)->interpreter;
    const absl::Status status = interpreter.Run([&](Interpreter& interp) -> Result<void> {
      COBRA_TRY(ImportBasics(interp));
      for (const Importer::Needed& n : imports) COBRA_TRY(interp.importer().Load(n));
      return {};
    });
    if (!status.ok() || !interpreter.Freeze()) {
      absl::MutexLock lock(&mutex_);
      if (impossible_.size() >= kMaxRemembered) impossible_.clear();
      impossible_.insert(key);
      return nullptr;
    }
    (*machine)->key = key;
    (*machine)->library = *(*machine)->torch;
    (*machine)->files_checked = absl::Now();
    return *std::move(machine);
  }

  absl::Mutex mutex_;
  std::list<std::unique_ptr<Machine>> idle_ ABSL_GUARDED_BY(mutex_);  // latest first
  int64_t idle_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<Hash128, ImportList> needs_ ABSL_GUARDED_BY(mutex_);  // by signature
  absl::flat_hash_set<Hash128> impossible_ ABSL_GUARDED_BY(mutex_);         // keys whose image could not be made
  absl::flat_hash_map<Hash128, int> seen_ ABSL_GUARDED_BY(mutex_);          // by key without needs
};

class Lease : public InterpreterLease {
 public:
  Lease(std::unique_ptr<Machine> machine, std::unique_ptr<ParseAhead> ahead, bool warm, bool pooled, Hash128 signature)
      : machine_(std::move(machine)), ahead_(std::move(ahead)), warm_(warm), pooled_(pooled), signature_(signature) {}
  ~Lease() override {
    if (!pooled_) return;
    Pool::Get().Learn(signature_, machine_->interpreter->importer().needed());
    if (warm_) Pool::Get().GiveBack(std::move(machine_));
  }
  Interpreter& interpreter() override { return *machine_->interpreter; }
  TorchState& torch() override { return *machine_->torch; }
  bool warm() const override { return warm_; }

 private:
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<ParseAhead> ahead_;
  bool warm_, pooled_;
  Hash128 signature_;
};

}  // namespace

bool IsBuiltInModule(absl::string_view name) { return Natives().Covers(name); }

absl::StatusOr<std::unique_ptr<InterpreterLease>> LeaseInterpreter(const SourceRequest& request, const Limits& limits) {
  const bool pooled = HasDefaultLimits(limits);
  const Hash128 signature = pooled ? RequestHash(request) : Hash128();
  if (pooled) {
    if (std::unique_ptr<Machine> machine = Pool::Get().Take(request, limits, signature)) {
      return std::make_unique<Lease>(std::move(machine), nullptr, /*warm=*/true, pooled, signature);
    }
  }
  std::unique_ptr<ParseAhead> ahead = ParseWhatIsImported(request);
  COBRA_ASSIGN_OR_RETURN(std::unique_ptr<Machine> machine, NewMachine(request, limits, /*with_bundle=*/true));
  return std::make_unique<Lease>(std::move(machine), std::move(ahead), /*warm=*/false, pooled, signature);
}

}  // namespace cobra::python
