// Images: an interpreter that has imported its libraries is frozen once and then serves one request
// after the other. The heap (heap.h) restores every object; this file restores the little state
// outside the heap.
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_split.h"
#include "frontend/python/runtime/heap/coroutine.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

constexpr size_t kKeptStackBytes = 256 << 10;
constexpr size_t kIdleCoroutines = 16;  // stacks that a frozen interpreter keeps for its next generators

std::string FirstPart(absl::string_view dotted) { return std::string(dotted.substr(0, dotted.find('.'))); }

}  // namespace

Importer& Interpreter::importer() { return *state_->importer; }

bool Interpreter::Freeze() {
  RuntimeState& s = *state_;
  if (HasError() || s.frame != nullptr || s.suspended_generators > 0 || s.image != nullptr) return false;
  s.importer->Freeze();
  auto image = std::make_unique<ImageState>();
  image->single_characters = s.single_characters;
  image->interned = s.interned;
  image->units = s.units.size();
  image->texts = s.texts;
  image->source_bytes = s.source_bytes;
  image->class_epoch = s.class_epoch;
  image->steps_used = steps_used_;
  image->steps_until_check = steps_until_check_;
  image->library_steps_used = other_steps_used_;
  image->charged_bytes = s.charged_bytes;
  image->output = output_;
  if (!heap_.Freeze()) return false;
  s.image = std::move(image);
  return true;
}

bool Interpreter::Rollback() {
  RuntimeState& s = *state_;
  const ImageState& image = *s.image;
  UnwindGenerators();
  s.suspended_generators = 0;
  if (s.all_coroutines.size() > kIdleCoroutines) s.all_coroutines.resize(kIdleCoroutines);
  s.idle_coroutines.clear();
  for (const auto& coroutine : s.all_coroutines) s.idle_coroutines.push_back(coroutine.get());
  if (s.main_stack != nullptr) s.main_stack->Trim(kKeptStackBytes);
  pending_exception_ = Value::Unbound();
  failure_ = nullptr;
  if (!heap_.Rollback()) return false;
  s.importer->Rollback();
  s.single_characters = image.single_characters;
  s.interned = image.interned;
  s.units.resize(image.units);
  s.texts = image.texts;
  s.decoded_of = nullptr;
  s.source_bytes = image.source_bytes;
  RollbackClassCache(s, heap_);
  s.frame = nullptr;
  s.call_depth = 0;
  s.handled_exception = Value::None();
  s.repr_in_progress.clear();
  steps_used_ = image.steps_used;
  steps_until_check_ = image.steps_until_check;
  other_steps_used_ = image.library_steps_used;
  step_account_ = StepAccount::kProgram;
  s.charged_bytes = image.charged_bytes;
  output_ = image.output;
  return true;
}

void Interpreter::StartRequest(std::map<std::string, std::string> bundle, const Limits& limits) {
  const Limits old = options_.limits;
  options_.limits = limits;
  options_.limits.memory_bytes = old.memory_bytes;
  options_.limits.stack_bytes = old.stack_bytes;
  options_.limits.generator_stack_bytes = old.generator_stack_bytes;
  options_.bundle = std::move(bundle);
  // The steps that were granted in advance were counted against the old limit.
  SettleSteps();
  state_->importer->SetBundle(options_.bundle);
}

// ---- the importer ----

Result<void> Importer::Load(const Needed& needed) {
  if (needed.whole_module) {
    COBRA_TRY(ImportValue(needed.module));
  } else {
    COBRA_TRY(FromImport(needed.module, interp_.Intern(needed.attribute)));
  }
  return {};
}

void Importer::NoteNeeded(const LazyObject* lazy, int loaded_before) {
  if (loaded_ == loaded_before || running_library_files_ > 0) return;
  const bool whole_module = lazy->attribute == nullptr;
  needed_.push_back(
      {std::string(lazy->module->view()), whole_module ? "" : std::string(lazy->attribute->view()), whole_module});
}

void Importer::Freeze() {
  frozen_locations_ = std::move(locations_);
  locations_.clear();
  frozen_pending_ = std::move(pending_);
  pending_.clear();
  frozen_absent_ = std::move(absent_);
  absent_.clear();
  frozen_put_aside_ = std::move(put_aside_);
  put_aside_.clear();
  frozen_spec_class_ = spec_class_;
  for (const auto& [name, location] : frozen_locations_) frozen_tops_.insert(FirstPart(name));
  frozen_files_ = library_files_.size();
  frozen_loaded_ = loaded_;
  modules();
}

void Importer::Rollback() {
  locations_.clear();
  pending_.clear();
  absent_.clear();
  put_aside_.clear();
  spec_class_ = frozen_spec_class_;
  is_loading_deferred_ = false;
  has_deferred_ = true;  // perhaps
  for (size_t i = frozen_files_; i < library_files_.size(); ++i)
    run_library_files_.erase({library_files_[i].source, library_files_[i].path});
  library_files_.resize(frozen_files_);
  needed_.clear();
  running_library_files_ = 0;
  loaded_ = frozen_loaded_;
  bundle_prefixes_ = {""};
}

void Importer::SetBundle(const std::map<std::string, std::string>& bundle) { bundle_ = MemorySource(bundle); }

bool Importer::BundleShadowsImports(const std::map<std::string, std::string>& bundle) const {
  for (const auto& [path, text] : bundle) {
    for (absl::string_view part : absl::StrSplit(path, '/')) {
      if (frozen_tops_.contains(part.substr(0, part.find('.')))) return true;
    }
  }
  return false;
}

bool Importer::FilesUnchanged() const {
  for (size_t i = 0; i < frozen_files_; ++i) {
    if (library_files_[i].source->Stamp(library_files_[i].path) != library_files_[i].stamp) return false;
  }
  return true;
}

}  // namespace cobra::python
