// The life of an interpreter: creation, Run, the step counter and its limits, and the reporting of
// errors.
#include "frontend/python/runtime/interpreter/interpreter.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/process/thread_priority.h"
#include "base/text/limit_message.h"
#include "base/text/similar_words.h"
#include "frontend/python/runtime/heap/coroutine.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/interpreter/missing_module.h"

namespace cobra::python {
namespace {

// Below this many bytes of native stack, Python code gets a RecursionError. One level of the
// evaluator needs less than 1 KB.
constexpr int64_t kStackReserveBytes = 48 << 10;
constexpr int64_t kStepsBetweenChecks = 1024;

// The one-based position, in characters, of a byte offset in the line.
int ColumnOf(absl::string_view line, int byte_offset) {
  const absl::string_view before = line.substr(0, static_cast<size_t>(std::max(byte_offset, 0)));
  return 1 + static_cast<int>(std::count_if(before.begin(), before.end(),
                                            [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

DiagnosticFrame MakeFrame(const CodeUnit* unit, const ast::Position& position, absl::string_view function) {
  DiagnosticFrame f;
  const absl::string_view line = unit->code->ast().Line(position.line);
  const int end = position.end_line == position.line ? position.end_col : static_cast<int>(line.size());
  f.position = {unit->display_name, position.line, ColumnOf(line, position.col), ColumnOf(line, end)};
  f.function = std::string(function);
  f.source_line = std::string(line);
  return f;
}

absl::string_view FunctionName(const Frame& frame) {
  if (frame.function != nullptr) return frame.function->qualname->view();
  if (frame.scope != nullptr && frame.scope->kind == ScopeKind::kClass) return frame.scope->name->text;
  if (frame.scope != nullptr && frame.scope->kind == ScopeKind::kGenerator) return "<genexpr>";
  return "<module>";
}

}  // namespace

namespace {
// The names that __dir__ of an instance returns, if its class defines one: the children of an
// nn.Module are not in its attribute dictionary.
std::vector<std::string> InstanceAttributeNames(Interpreter& interp, Value v) {
  std::vector<std::string> names;
  if (!v.IsInstance() || !interp.LookupClass(interp.class_of(v), interp.names().__dir__).IsFunction()) return names;
  const Result<Value> listed = interp.CallMethod(v, interp.names().__dir__);
  if (!listed.ok()) return names;
  (void)interp.Iterate(*listed, [&](Value name) -> Result<bool> {
    if (name.IsStr()) names.emplace_back(name.str());
    return true;
  });
  return names;
}

// For an uncaught exception: the name nearest to the one that was not found, or "". This may run
// code of the program.
std::string SuggestionFor(Interpreter& interp, ExceptionObject* e) {
  if (e->suggestion != nullptr) return std::string(e->suggestion->view());
  if (!Interpreter::IsSubclassOf(e->cls, interp.types().AttributeError) || e->attrs == nullptr) return "";
  Value* name = e->attrs->table.GetStr(interp.names().name);
  Value* object = e->attrs->table.GetStr(interp.names().obj);
  if (name == nullptr || object == nullptr || !name->IsStr()) return "";
  const std::vector<std::string> own = InstanceAttributeNames(interp, *object);
  std::vector<absl::string_view> candidates(own.begin(), own.end());
  auto add = [&](const DictObject* d) {
    if (d == nullptr) return;
    for (size_t i = 0; i < d->table.entry_count(); ++i) {
      if (d->table.entry(i).key.IsStr()) candidates.push_back(d->table.entry(i).key.str());
    }
  };
  if (object->IsObject()) add(object->object()->attrs);
  for (ClassObject* c : object->IsClass() ? object->as<ClassObject>()->mro : interp.class_of(*object)->mro)
    add(c->attrs);
  return NearestName(name->str(), candidates);
}

void ExplainImportError(Interpreter& interp, const ExceptionObject* e, Diagnostic* diagnostic) {
  if (e->cls == interp.types().ModuleNotFoundError) {
    const Value* name = e->attrs == nullptr ? nullptr : e->attrs->table.GetStr(interp.names().name);
    if (name == nullptr || !name->IsStr()) return;  // the program itself raised the exception
    diagnostic->missing_module = std::string(name->str());
    diagnostic->hint = MissingModuleHint(interp.options().bundle, name->str());
  } else if (e->cls == interp.types().ImportError && absl::EndsWith(diagnostic->message, kNoParentPackage)) {
    diagnostic->missing_module = ".";
    diagnostic->hint =
        "the file is part of a package: name the folder that the package is in with --library DIR, or give the "
        "package's folder";
  } else if (e->cls == interp.types().ImportError && absl::EndsWith(diagnostic->message, kBeyondTopLevel)) {
    diagnostic->hint =
        "the package is part of a larger one: give the folder that this one is in as the model, and the file as a "
        "module of it in --entry "
        "('package.module.Net()')";
  }
}
}  // namespace

RuntimeState::RuntimeState(Interpreter& interp)
    : importer(std::make_unique<Importer>(interp, [&interp](std::unique_ptr<Diagnostic> failure) {
        return std::exchange(interp.failure_, std::move(failure));
      })) {}
RuntimeState::~RuntimeState() = default;

Interpreter::Interpreter(InterpreterOptions options)
    : options_(std::move(options)), heap_(options_.limits.memory_bytes, options_.limits.memory_spare_bytes) {}

Interpreter::~Interpreter() { UnwindGenerators(); }

// Generators that were never finished hold C++ objects on their stacks: unwind them without running
// the program's code.
void Interpreter::UnwindGenerators() {
  for (size_t i = 0; i < state_->all_coroutines.size(); ++i) {
    Coroutine& c = *state_->all_coroutines[i];
    if (c.finished()) continue;
    (void)LimitReached("the interpreter is being destroyed");
    c.Resume();
  }
}

absl::StatusOr<std::unique_ptr<Interpreter>> Interpreter::Create(InterpreterOptions options) {
  std::unique_ptr<Interpreter> interp(new Interpreter(std::move(options)));
  interp->state_ = std::make_unique<RuntimeState>(*interp);
  RuntimeState& state = *interp->state_;
  InitBuiltinTypes(*interp, &interp->types_);
  const BuiltinTypes& types = interp->types_;
  for (const auto& [tag, cls] : {std::pair(Value::Tag::kError, types.none_type),
                                 {Value::Tag::kUnbound, types.none_type},
                                 {Value::Tag::kNone, types.none_type},
                                 {Value::Tag::kEllipsis, types.ellipsis_type},
                                 {Value::Tag::kNotImplemented, types.not_implemented_type},
                                 {Value::Tag::kBool, types.bool_type},
                                 {Value::Tag::kInt, types.int_type},
                                 {Value::Tag::kFloat, types.float_type}}) {
    interp->class_of_tag_[static_cast<size_t>(tag)] = cls;
  }
  state.empty_str = interp->Intern("");
  state.empty_bytes = interp->NewBytes("");
  state.empty_tuple = interp->NewTupleOfSize(0);
#define COBRA_NAME(name) interp->names_.name = interp->Intern(#name);
#include "frontend/python/runtime/interpreter/names.def"
#undef COBRA_NAME
  interp->names_.throw_ = interp->Intern("throw");
  state.builtins = interp->NewDict();
  InitObjectType(*interp);
  InitFunctionTypes(*interp);
  InitSmallTypes(*interp);
  InitNumberTypes(*interp);
  InitStrType(*interp);
  InitBytesType(*interp);
  InitSequenceTypes(*interp);
  InitDictTypes(*interp);
  InitSetTypes(*interp);
  InitExceptionTypes(*interp);
  InitExceptionGroupTypes(*interp);
  InitIteratorTypes(*interp);
  InitGeneratorType(*interp);
  InitAsyncTypes(*interp);
  InitOpaqueType(*interp);
  InitBuiltins(*interp);
  InitTextFunctions(*interp);
#define COBRA_BUILTIN_TYPE(name, python_name) UpdateClassFlags(*interp, interp->types_.name);
#define COBRA_EXCEPTION_TYPE(name, base) UpdateClassFlags(*interp, interp->types_.name);
#include "frontend/python/runtime/interpreter/builtin_types.def"
#undef COBRA_BUILTIN_TYPE
#undef COBRA_EXCEPTION_TYPE
  interp->steps_until_check_ = 0;  // creating the built-in classes does not count as work of the program
  state.charged_bytes = interp->heap_.used_bytes();
  return interp;
}

namespace {

// Of `raise ... from cause`, and of what that one was raised from; None if there is none.
Value FirstCause(const ExceptionObject* e) {
  constexpr int kMostCauses = 16;  // the program may tie them in a circle
  Value first = Value::None();
  for (int i = 0; i < kMostCauses && e->cause.IsException(); ++i) {
    first = e->cause;
    e = first.as<ExceptionObject>();
  }
  return first;
}

std::string CauseText(const ExceptionObject& cause, absl::string_view text) {
  std::string out(cause.cls->name->view());
  if (!text.empty()) absl::StrAppend(&out, ": ", text.substr(0, 500));
  if (cause.traceback.size() > 0) {
    const TracebackEntry& t = cause.traceback[0];
    const SourcePosition at = MakeFrame(t.unit, *t.position, t.function->view()).position;
    absl::StrAppend(&out, " (", at.file, ":", at.line, ")");
  }
  return out;
}

}  // namespace

Diagnostic Interpreter::DescribeException(Coroutine& stack) {
  Value exception = pending_exception_;
  pending_exception_ = Value::Unbound();
  auto* e = exception.as<ExceptionObject>();
  const Value first = FirstCause(e);
  std::string text, cause_text, nearest;
  const char* outer_stack_low = stack_low_;
  stack_low_ = stack.stack_low() + kStackReserveBytes;
  stack.Start([&] {
    Result<StrObject*> s = Str(exception);
    if (s.ok()) text = std::string((*s)->view());
    pending_exception_ = Value::Unbound();
    if (first.IsException()) s = Str(first);
    if (s.ok() && first.IsException()) cause_text = std::string((*s)->view());
    pending_exception_ = Value::Unbound();
    if (failure_ == nullptr) nearest = SuggestionFor(*this, e);
  });
  stack.Resume();
  stack_low_ = outer_stack_low;
  pending_exception_ = Value::Unbound();
  failure_ = nullptr;
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::kModelError;
  diagnostic.message = std::string(e->cls->name->view());
  if (!text.empty()) absl::StrAppend(&diagnostic.message, ": ", text);
  constexpr size_t kLongestMessage = 2000;  // the program determines its length
  if (diagnostic.message.size() > kLongestMessage)
    diagnostic.message = absl::StrCat(diagnostic.message.substr(0, kLongestMessage), " ...");
  if (first.IsException())
    absl::StrAppend(&diagnostic.message, "; caused by ", CauseText(*first.as<ExceptionObject>(), cause_text));
  if (!nearest.empty()) absl::StrAppend(&diagnostic.message, ". Did you mean: '", nearest, "'?");
  std::replace(diagnostic.message.begin(), diagnostic.message.end(), '\n', ' ');
  for (size_t i = e->traceback.size(); i > 0; --i) {
    const TracebackEntry& t = e->traceback[i - 1];
    diagnostic.frames.push_back(MakeFrame(t.unit, *t.position, t.function->view()));
  }
  ExplainImportError(*this, e, &diagnostic);
  if (e->hint != nullptr) diagnostic.hint = std::string(e->hint->view());
  if (diagnostic.hint.empty()) diagnostic.hint = kPythonRaisesToo;
  return diagnostic;
}

absl::Status Interpreter::Run(absl::FunctionRef<Result<void>(Interpreter&)> body) {
  // An image may have been made under another limit, long ago.
  deadline_ = options_.limits.wall_time_ms > 0
                  ? std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.limits.wall_time_ms)
                  : std::chrono::steady_clock::time_point::max();
  heap_.NoteThread();
  // The stack is kept for the next run, unless this run is inside another one.
  std::unique_ptr<Coroutine> stack = std::move(state_->main_stack);
  if (stack == nullptr) stack = Coroutine::Create(static_cast<size_t>(options_.limits.stack_bytes));
  if (stack == nullptr) return absl::ResourceExhaustedError("no address space for the interpreter's stack");
  const char* outer_stack_low = stack_low_;
  stack_low_ = stack->stack_low() + kStackReserveBytes;
  bool ok = true;
  stack->Start([&] { ok = body(*this).ok(); });
  stack->Resume();
  stack_low_ = outer_stack_low;
  state_->frame = nullptr;
  state_->call_depth = 0;
  if (ok && !HasError()) {
    state_->main_stack = std::move(stack);
    return absl::OkStatus();
  }
  if (!HasError()) return absl::InternalError("the interpreter reported a failure without an error");
  Diagnostic diagnostic = failure_ != nullptr ? *failure_ : DescribeException(*stack);
  if (!diagnostic.frames.empty()) {
    diagnostic.position = diagnostic.frames.back().position;
    diagnostic.source_line = diagnostic.frames.back().source_line;
  }
  pending_exception_ = Value::Unbound();
  failure_ = nullptr;
  return DiagnosticToStatus(diagnostic);
}

Result<void> Interpreter::Print(absl::string_view text) {
  Spend(static_cast<int64_t>(text.size()) / 16);
  // Output beyond the limit is dropped.
  if (static_cast<int64_t>(output_.size() + text.size()) > options_.limits.output_bytes) return {};
  output_.append(text.data(), text.size());
  return {};
}

// ---- errors ----

Failure Interpreter::Raise(ClassObject* exception_class, absl::string_view message) {
  return RaiseValue(NewException(exception_class, message));
}

Failure Interpreter::RaiseValue(Value exception) {
  if (failure_ != nullptr) return {};
  auto* e = exception.as<ExceptionObject>();
  Value handled = state_->handled_exception;
  if (handled.IsException() && handled.as<ExceptionObject>() != e && e->context.IsNone()) e->context = handled;
  pending_exception_ = exception;
  return {};
}

bool Interpreter::CatchException(ClassObject* cls, Value* exception) {
  if (failure_ != nullptr || pending_exception_.IsUnbound()) return false;
  if (!IsSubclassOf(pending_exception_.as<ExceptionObject>()->cls, cls)) return false;
  if (exception != nullptr) *exception = pending_exception_;
  pending_exception_ = Value::Unbound();
  return true;
}

SourcePosition Interpreter::CurrentPosition() const {
  for (const Frame* f = state_->frame; f != nullptr; f = f->back) {
    if (f->position == nullptr || f->unit->internal) continue;
    return {f->unit->display_name, f->position->line, f->position->col + 1};
  }
  return {};
}

std::vector<DiagnosticFrame> Interpreter::CurrentFrames() const {
  std::vector<DiagnosticFrame> frames;
  for (const Frame* f = state_->frame; f != nullptr; f = f->back) {
    if (f->position == nullptr || f->unit->internal) continue;
    if (frames.size() >= 200) break;  // deep recursion repeats itself
    frames.push_back(MakeFrame(f->unit, *f->position, FunctionName(*f)));
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

namespace {
std::unique_ptr<Diagnostic> MakeFailure(const Interpreter& interp, Diagnostic::Kind kind, std::string message,
                                        absl::string_view hint) {
  auto d = std::make_unique<Diagnostic>();
  d->kind = kind;
  d->message = std::move(message);
  d->hint = std::string(hint);
  d->frames = interp.CurrentFrames();
  return d;
}
}  // namespace

Failure Interpreter::Unsupported(absl::string_view what, absl::string_view hint, absl::string_view missing_module) {
  if (failure_ == nullptr) {
    failure_ = MakeFailure(
        *this, Diagnostic::Kind::kUnsupported, absl::StrCat(what, " is not supported"),
        hint.empty() ? "COBRA cannot read this yet: make sure that the model in eval mode does not use it, or report it"
                     : hint);
    failure_->missing_module = std::string(missing_module);
  }
  pending_exception_ = Value::Unbound();
  return {};
}

Failure Interpreter::NotFound(absl::string_view message, absl::string_view hint, absl::string_view missing_module) {
  if (failure_ == nullptr) {
    failure_ = MakeFailure(*this, Diagnostic::Kind::kUnsupported, std::string(message), hint);
    failure_->missing_module = std::string(missing_module);
  }
  pending_exception_ = Value::Unbound();
  return {};
}

Failure Interpreter::DataDependent(absl::string_view what, absl::string_view hint) {
  if (failure_ == nullptr) {
    failure_ = MakeFailure(
        *this, Diagnostic::Kind::kDataDependent, absl::StrCat(what, " depends on tensor values"),
        hint.empty() ? "the graph must be the same for every input: replace the decision by one on shapes" : hint);
  }
  pending_exception_ = Value::Unbound();
  return {};
}

Failure Interpreter::LimitReached(absl::string_view what, absl::string_view hint) {
  if (failure_ == nullptr) {
    failure_ = MakeFailure(*this, Diagnostic::Kind::kLimit, std::string(what),
                           hint.empty() ? "is the model meant to be this large? docs/reader.md has the limits" : hint);
  }
  pending_exception_ = Value::Unbound();
  return {};
}

Failure Interpreter::IntTooLarge() {
  return LimitReached(LimitMessage("an integer", options_.limits.big_int_bits, "bits"));
}

Failure Interpreter::OutOfMemory(absl::string_view hint) {
  return LimitReached(LimitMessage("the memory of the program", options_.limits.memory_bytes, "bytes"), hint);
}

Failure Interpreter::FromStatus(const absl::Status& status) {
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (diagnostic.has_value() ? diagnostic->kind == Diagnostic::Kind::kModelError : absl::IsInvalidArgument(status)) {
    return Raise(types_.RuntimeError,
                 diagnostic.has_value() ? absl::string_view(diagnostic->message) : status.message());
  }
  if (failure_ == nullptr) {
    if (!diagnostic.has_value()) {
      diagnostic.emplace();
      diagnostic->kind = absl::IsResourceExhausted(status) ? Diagnostic::Kind::kLimit : Diagnostic::Kind::kUnsupported;
      diagnostic->message = std::string(status.message());
    }
    // The program's call chain. If the diagnostic has its own position (a syntax error in an
    // imported file), that becomes the innermost frame.
    std::vector<DiagnosticFrame> frames = CurrentFrames();
    if (diagnostic->position.line != 0) frames.push_back({diagnostic->position, "", diagnostic->source_line});
    diagnostic->frames = std::move(frames);
    failure_ = std::make_unique<Diagnostic>(*std::move(diagnostic));
  }
  pending_exception_ = Value::Unbound();
  return {};
}

// ---- limits ----

Result<void> Interpreter::StepSlow() {
  if (failure_ != nullptr) return Failure();
  const Limits& limits = options_.limits;
  if (heap_.exhausted()) {
    return OutOfMemory("a model definition should not hold data; look for a loop that grows a list or a string");
  }
  YieldPeriodically();
  if (steps_until_check_ < 0) SettleSteps();  // more work than was granted in advance
  ChargeMemory();
  const bool library = step_account_ == StepAccount::kLibrary;
  const int64_t most = library ? limits.library_steps : limits.steps;
  if (steps_used_ >= most) {
    return LimitReached(LimitMessage(library ? "importing libraries" : "the program", most, "steps"),
                        "is there an endless loop? Otherwise raise this limit with cobra-client --limits-times.");
  }
  if (limits.cancelled != nullptr && limits.cancelled->load(std::memory_order_relaxed))
    return LimitReached("the request was cancelled");
  if (std::chrono::steady_clock::now() > deadline_) {
    return LimitReached(LimitMessage("the program", limits.wall_time_ms, "ms"),
                        "is there an endless loop? Otherwise give it more time (--deadline-s).");
  }
  steps_until_check_ = std::min(kStepsBetweenChecks, most - steps_used_);
  steps_used_ += steps_until_check_;
  return {};
}

void Interpreter::SettleSteps() {
  steps_used_ -= steps_until_check_;
  steps_until_check_ = 0;
}

void Interpreter::ChargeMemory() {
  // The first access to a page costs about 64 steps.
  constexpr int64_t kBytesAStep = 64;
  steps_used_ += (heap_.used_bytes() - state_->charged_bytes) / kBytesAStep;
  state_->charged_bytes = heap_.used_bytes();
}

StepAccount Interpreter::CountStepsOn(StepAccount account) {
  if (account == step_account_) return account;
  SettleSteps();
  ChargeMemory();
  std::swap(steps_used_, other_steps_used_);
  return std::exchange(step_account_, account);
}

Result<void> Interpreter::CheckSize(int64_t items, int64_t bytes_per_item) {
  if (items <= options_.limits.sequence_items && heap_.CanAllocate(items * bytes_per_item)) return {};
  const char* const hint = "a model definition should not hold data of this size";
  if (items > options_.limits.sequence_items)
    return LimitReached(LimitMessage("a sequence", items, options_.limits.sequence_items, "items"), hint);
  return OutOfMemory(hint);
}

Failure Interpreter::RaiseRecursion() { return Raise(types_.RecursionError, "maximum recursion depth exceeded"); }

void AddTraceback(Interpreter& interp, const Frame& frame) {
  Value exception;
  if (frame.position == nullptr || frame.unit->internal ||
      !interp.CatchException(interp.types().BaseException, &exception))
    return;
  auto* e = exception.as<ExceptionObject>();
  TracebackEntry entry;
  entry.unit = frame.unit;
  entry.position = frame.position;
  entry.function = frame.function != nullptr ? frame.function->qualname : interp.Intern(FunctionName(frame));
  size_t n = e->traceback.size();
  bool seen = n > 0 && e->traceback[n - 1].function == entry.function && e->traceback[n - 1].unit == entry.unit &&
              frame.generator == nullptr && e->traceback[n - 1].position->line == entry.position->line;
  if (!seen && n < 200) e->traceback.push_back(interp.heap(), entry);
  Value context = e->context;
  (void)interp.RaiseValue(exception);
  e->context = context;
}

}  // namespace cobra::python
