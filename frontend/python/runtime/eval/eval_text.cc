// eval(), exec() and compile(): source text that the program passes as a value. It runs under the
// same limits as all other code.
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text/limit_message.h"
#include "frontend/python/runtime/eval/code_object.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/syntax/parse/parser.h"

namespace cobra::python {
namespace {

enum class Mode : uint8_t { kEval, kExec };

Result<CodeUnit*> ParseText(Interpreter& interp, absl::string_view text, absl::string_view filename, Mode mode) {
  RuntimeState& state = interp.state();
  std::string key = absl::StrCat(mode == Mode::kEval ? "e" : "x", filename, absl::string_view("\0", 1), text);
  if (auto it = state.texts.find(key); it != state.texts.end()) return it->second;
  for (size_t i = 0; i < text.size(); i += 8) COBRA_TRY(interp.Step());  // a tree takes many times its source
  const auto size = static_cast<int64_t>(text.size());
  if (size > interp.limits().source_bytes) {
    return interp.LimitReached(
        LimitMessage("the text given to eval() and exec()", size, interp.limits().source_bytes, "bytes"));
  }
  if (!interp.heap().CanAllocate(size * 25)) return interp.OutOfMemory();
  auto ast = mode == Mode::kEval ? ast::ParseExpression(text, filename) : ast::ParseModule(text, filename);
  if (ast.ok()) {
    auto code = std::make_shared<const ResolvedAst>(*std::move(ast));
    interp.heap().Allocate(static_cast<size_t>(code->memory_bytes()) + key.size());  // counts against the memory limit
    COBRA_TRY_ASSIGN(CodeUnit * unit, MakeUnit(interp, std::move(code), filename, /*internal=*/false));
    state.texts.emplace(std::move(key), unit);
    return unit;
  }
  std::optional<Diagnostic> d = DiagnosticFromStatus(ast.status());
  if (!d.has_value() || d->kind != Diagnostic::Kind::kSyntaxError) return interp.FromStatus(ast.status());
  // The message begins with the name of CPython's class of syntax errors.
  const BuiltinTypes& t = interp.types();
  std::string message = d->message;
  ClassObject* cls = t.SyntaxError;
  for (ClassObject* c : {t.IndentationError, t.TabError, t.SyntaxError}) {
    std::string prefix = absl::StrCat(c->name->view(), ": ");
    if (message.compare(0, prefix.size(), prefix) != 0) continue;
    cls = c;
    message = message.substr(prefix.size());
    break;
  }
  Value e = interp.NewException(cls, message);
  DictObject* attrs = interp.AttrsOf(e.object());
  interp.DictSetStr(attrs, "lineno", Value::Int(d->position.line));
  interp.DictSetStr(attrs, "offset", Value::Int(d->position.column));
  interp.DictSetStr(attrs, "filename", interp.NewStr(filename));
  return interp.RaiseValue(e);
}

// The namespaces in which the text runs: the caller's, unless the call passes others.
struct Namespaces {
  ModuleObject* module = nullptr;
  DictObject* globals = nullptr;
  DictObject* locals = nullptr;  // null: the globals
};
Result<Namespaces> FindNamespaces(Interpreter& interp, absl::string_view function, Value globals, Value locals) {
  Frame* caller = interp.state().frame;
  Namespaces n;
  if (globals.IsNone()) {
    n.module = caller->module;
    n.globals = caller->globals;
    if (locals.IsNone()) n.locals = LocalsDict(interp, *caller);
  } else {
    if (!globals.IsDict()) {
      return interp.Raise(interp.types().TypeError, function, "() globals must be a dict, not ",
                          interp.TypeName(globals));
    }
    n.globals = globals.as<DictObject>();
    n.module = caller->module;
    if (n.globals != caller->globals) {  // functions that the text defines read their globals from a module
      auto* m = interp.heap().New<ModuleObject>();
      m->cls = interp.types().module;
      Value* name = n.globals->table.GetStr(interp.names().__name__);
      m->name = name != nullptr && name->IsStr() ? name->as<StrObject>() : interp.Intern("builtins");
      m->attrs = n.globals;
      n.module = m;
    }
    Value* builtins = n.globals->table.GetStr(interp.Intern("__builtins__"));
    if (builtins == nullptr) interp.DictSetStr(n.globals, "__builtins__", Value(interp.state().builtins));
  }
  if (!locals.IsNone()) {
    if (!locals.IsDict()) return interp.Unsupported(absl::StrCat(function, "() with locals that are no dict"));
    n.locals = locals.as<DictObject>();
  }
  if (n.locals == n.globals) n.locals = nullptr;
  return n;
}

Result<Value> RunUnit(Interpreter& interp, const CodeUnit* unit, Mode mode, const Namespaces& names) {
  RuntimeState& state = interp.state();
  COBRA_TRY(interp.CheckStack());
  if (state.call_depth >= interp.limits().call_depth)
    return interp.Raise(interp.types().RecursionError, "maximum recursion depth exceeded");
  const ScopeInfo& scope = unit->code->root();
  Frame frame;
  frame.unit = unit;
  frame.scope = &scope;
  frame.module = names.module;
  frame.globals = names.globals;
  frame.names = names.locals;
  frame.locals = static_cast<Value*>(interp.heap().Allocate(static_cast<size_t>(scope.slot_count + 1) * sizeof(Value)));
  for (int i = 0; i < scope.slot_count; ++i) frame.locals[i] = Value::Unbound();
  ++state.call_depth;
  Result<Value> result = Value::None();
  if (mode == Mode::kExec) {
    result = RunFrame(interp, frame);
    if (result.ok()) result = Value::None();
  } else {
    const ast::ExprNode* body = unit->code->ast().expression()->body;
    frame.position = &body->pos;
    frame.back = state.frame;
    state.frame = &frame;
    result = Eval(interp, frame, body);
    if (!result.ok()) AddTraceback(interp, frame);
    state.frame = frame.back;
  }
  --state.call_depth;
  return result;
}

// Copies the names of `from` to `to`, except those that have the same value in `known` (if given).
void CopyNames(Interpreter& interp, DictObject* from, DictObject* known, DictObject* to) {
  for (size_t i = 0; i < from->table.entry_count(); ++i) {
    const auto& entry = from->table.entry(i);
    if (entry.key.IsUnbound() || !entry.key.IsStr()) continue;
    StrObject* name = interp.InternStr(entry.key.as<StrObject>());
    const Value* before = known == nullptr ? nullptr : known->table.GetStr(name);
    if (before == nullptr || !before->IsSame(entry.value)) to->table.SetStr(interp.heap(), name, entry.value);
  }
}

// A module body has only one namespace. If globals and locals differ, the body gets a merged copy
// of both; the names that it binds are then moved to the locals.
Result<Value> ExecUnit(Interpreter& interp, const CodeUnit* unit, const Namespaces& names) {
  if (names.locals == nullptr) return RunUnit(interp, unit, Mode::kExec, names);
  Namespaces shown = names;
  shown.globals = interp.NewDict();
  shown.locals = nullptr;
  for (DictObject* from : {names.globals, names.locals}) CopyNames(interp, from, nullptr, shown.globals);
  shown.module = interp.heap().New<ModuleObject>(*names.module);
  shown.module->attrs = shown.globals;
  DictObject* before = interp.NewDict();
  CopyNames(interp, shown.globals, nullptr, before);
  COBRA_TRY_ASSIGN(Value done, RunUnit(interp, unit, Mode::kExec, shown));
  CopyNames(interp, shown.globals, before, names.locals);
  return done;
}

class CompiledText : public NativeObject {
 public:
  CodeUnit* unit = nullptr;
  Mode mode = Mode::kExec;
};

Result<std::string> TextOf(Interpreter& interp, absl::string_view function, Value source) {
  if (source.IsStr()) return std::string(source.str());
  if (source.IsBytes()) return std::string(source.as<BytesObject>()->view());
  return interp.Raise(interp.types().TypeError, function, "() arg 1 must be a string, bytes or code object");
}

Result<Value> EvalOrExec(Interpreter& interp, const CallArgs& args, absl::string_view function, Mode mode) {
  Value source, globals, locals;
  COBRA_TRY(ArgReader(interp, function, args)
                .Required("source", &source)
                .Optional("globals", &globals)
                .Optional("locals", &locals)
                .IgnoreKwArgs()
                .Finish());
  COBRA_TRY_ASSIGN(Namespaces names, FindNamespaces(interp, function, globals, locals));
  if (auto* compiled = NativeCast<CompiledText>(source)) {
    COBRA_TRY_ASSIGN(Value result, compiled->mode == Mode::kExec ? ExecUnit(interp, compiled->unit, names)
                                                                 : RunUnit(interp, compiled->unit, Mode::kEval, names));
    return mode == Mode::kEval ? result : Value::None();
  }
  if (source.IsInstance() && source.object()->cls == interp.types().code)
    return interp.Unsupported(absl::StrCat(function, "() of a function's code"));
  COBRA_TRY_ASSIGN(std::string text, TextOf(interp, function, source));
  if (mode == Mode::kEval) text = std::string(absl::StripLeadingAsciiWhitespace(text));
  COBRA_TRY_ASSIGN(CodeUnit * unit, ParseText(interp, text, "<string>", mode));
  return mode == Mode::kExec ? ExecUnit(interp, unit, names) : RunUnit(interp, unit, mode, names);
}

Result<Value> Compile(Interpreter& interp, const CallArgs& args) {
  Value source;
  std::string filename, mode;
  int64_t flags = 0;
  COBRA_TRY(ArgReader(interp, "compile", args)
                .Required("source", &source)
                .Required("filename", &filename)
                .Required("mode", &mode)
                .Optional("flags", &flags)
                .IgnoreKwArgs()
                .Finish());
  if (flags & 0x400) return interp.Unsupported("compile() to a syntax tree");
  if (mode == "single") return interp.Unsupported("compile() in mode 'single'");
  if (mode != "eval" && mode != "exec")
    return interp.Raise(interp.types().ValueError, "compile() mode must be 'exec', 'eval' or 'single'");
  COBRA_TRY_ASSIGN(std::string text, TextOf(interp, "compile", source));
  auto* compiled = interp.heap().New<CompiledText>();
  compiled->mode = mode == "eval" ? Mode::kEval : Mode::kExec;
  COBRA_TRY_SET(compiled->unit, ParseText(interp, text, filename, compiled->mode));
  InstanceObject* code = interp.NewInstance(interp.types().code, compiled);
  DescribeCode(interp, code, compiled->unit, compiled->unit->code->root());
  interp.DictSetStr(interp.AttrsOf(code), "co_filename", interp.NewStr(filename));
  return Value(code);
}

}  // namespace

void InitTextFunctions(Interpreter& interp) {
  auto add = [&](absl::string_view name, NativeFunction f) {
    BuiltinObject* o = NewBuiltin(interp, name, std::move(f));
    o->module = interp.Intern("builtins");
    interp.DictSetStr(interp.state().builtins, name, o);
  };
  add("eval", [](Interpreter& i, const CallArgs& a) { return EvalOrExec(i, a, "eval", Mode::kEval); });
  add("exec", [](Interpreter& i, const CallArgs& a) { return EvalOrExec(i, a, "exec", Mode::kExec); });
  add("compile", Compile);
}

}  // namespace cobra::python
