// eval() and exec(): builders read layer names from tables (`m = eval(m)`), and configurations are sometimes executed. What the text can do is
// what the program can do anyway; its tree counts against the memory limit, so that a loop over texts ends.
#include "absl/strings/strip.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/internal.h"
#include "frontend/python/runtime/native.h"
#include "frontend/python/syntax/parser.h"

namespace cobra::python {
namespace {

// The text of a str or bytes; an error says what the function takes.
Result<std::string> SourceText(Interpreter& interp, absl::string_view function, Value source) {
  if (source.IsStr()) return std::string(source.str());
  if (source.IsBytes()) return std::string(source.as<BytesObject>()->data, static_cast<size_t>(source.as<BytesObject>()->size));
  return interp.Raise(interp.types().TypeError, absl::StrCat(function, "() arg 1 must be a string, bytes or code object"));
}

Result<CodeUnit*> Compile(Interpreter& interp, absl::string_view text, bool expression) {
  COBRA_TRY(interp.CheckStack());
  if (static_cast<int64_t>(text.size()) > interp.limits().source_bytes) return interp.LimitReached("the text given to eval()");
  auto ast = expression ? ast::ParseExpression(text, "<string>") : ast::ParseModule(text, "<string>");
  if (!ast.ok()) {
    const auto diagnostic = DiagnosticFromStatus(ast.status());
    if (!diagnostic.has_value() || diagnostic->kind != Diagnostic::Kind::kSyntaxError) return interp.FromStatus(ast.status());
    absl::string_view message = diagnostic->message;
    message = absl::StripPrefix(message, "SyntaxError: ");
    return interp.Raise(interp.types().SyntaxError, message);
  }
  auto code = std::make_shared<const ResolvedAst>(*std::move(ast));
  interp.heap().Allocate(static_cast<size_t>(code->memory_bytes()));
  COBRA_TRY(interp.Step());
  return MakeUnit(interp, std::move(code), "<string>", false);
}

// What the names of the text mean: given dictionaries, or those of the caller.
struct Namespaces {
  DictObject* globals;
  DictObject* locals;
};

Result<Namespaces> FindNamespaces(Interpreter& interp, absl::string_view function, Value globals, Value locals) {
  Frame& caller = *interp.state().frame;
  for (Value v : {globals, locals}) {
    if (!v.IsNone() && !v.IsDict()) return interp.Raise(interp.types().TypeError, absl::StrCat(function, "() namespaces must be dicts"));
  }
  Namespaces found;
  found.globals = globals.IsNone() ? caller.globals : globals.as<DictObject>();
  found.locals = !locals.IsNone() ? locals.as<DictObject>() : globals.IsNone() ? LocalsDict(interp, caller) : found.globals;
  return found;
}

// What `from` holds and `known` (if given) does not hold just so.
void CopyNames(Interpreter& interp, DictObject* from, DictObject* known, DictObject* to) {
  for (size_t i = 0; i < from->table.entry_count(); ++i) {
    const auto& entry = from->table.entry(i);
    if (entry.key.IsUnbound() || !entry.key.IsStr()) continue;
    StrObject* name = interp.InternStr(entry.key.as<StrObject>());
    const Value* before = known == nullptr ? nullptr : known->table.GetStr(name);
    if (before == nullptr || !before->IsSame(entry.value)) to->table.SetStr(interp.heap(), name, entry.value);
  }
}

// Runs `body` in a frame of that unit.
template <typename Body>
auto WithFrame(Interpreter& interp, CodeUnit* unit, const Namespaces& names, Body body) {
  const ScopeInfo& scope = unit->code->root();
  Frame frame;
  frame.unit = unit;
  frame.scope = &scope;
  frame.back = interp.state().frame;
  frame.module = frame.back->module;
  if (names.globals != frame.module->attrs) {  // functions find their globals through a module
    auto* module = interp.heap().New<ModuleObject>(*frame.module);
    module->attrs = names.globals;
    frame.module = module;
  }
  frame.globals = names.globals;
  frame.names = names.locals == names.globals ? nullptr : names.locals;
  frame.locals = static_cast<Value*>(interp.heap().Allocate(static_cast<size_t>(scope.slot_count + 1) * sizeof(Value)));
  for (int i = 0; i < scope.slot_count; ++i) frame.locals[i] = Value::Unbound();
  frame.position = frame.back->position;
  interp.state().frame = &frame;
  auto result = body(frame);
  interp.state().frame = frame.back;
  return result;
}

}  // namespace

Result<Value> EvalFunction(Interpreter& interp, const CallArgs& args) {
  Value source, globals = Value::None(), locals = Value::None();
  ArgReader reader(interp, "eval", args);
  COBRA_TRY(reader.Required("source", &source).Optional("globals", &globals).Optional("locals", &locals).Finish());
  COBRA_TRY_ASSIGN(std::string text, SourceText(interp, "eval", source));
  COBRA_TRY_ASSIGN(Namespaces names, FindNamespaces(interp, "eval", globals, locals));
  COBRA_TRY_ASSIGN(CodeUnit * unit, Compile(interp, text, /*expression=*/true));
  return WithFrame(interp, unit, names, [&](Frame& frame) -> Result<Value> {
    const ast::ExprNode* body = unit->code->ast().expression()->body;
    frame.position = &body->pos;
    Result<Value> v = Eval(interp, frame, body);
    if (!v.ok()) AddTraceback(interp, frame);
    return v;
  });
}

Result<Value> ExecFunction(Interpreter& interp, const CallArgs& args) {
  Value source, globals = Value::None(), locals = Value::None();
  ArgReader reader(interp, "exec", args);
  COBRA_TRY(reader.Required("source", &source).Optional("globals", &globals).Optional("locals", &locals).Finish());
  COBRA_TRY_ASSIGN(std::string text, SourceText(interp, "exec", source));
  COBRA_TRY_ASSIGN(const Namespaces names, FindNamespaces(interp, "exec", globals, locals));
  COBRA_TRY_ASSIGN(CodeUnit * unit, Compile(interp, text, /*expression=*/false));
  // A module body knows one namespace. Where there are two, it gets one that shows both; what it bound then moves to the local one.
  DictObject* shown = names.globals;
  if (names.locals != names.globals) {
    shown = interp.NewDict();
    for (DictObject* from : {names.globals, names.locals}) CopyNames(interp, from, nullptr, shown);
  }
  COBRA_TRY_ASSIGN(Value done, WithFrame(interp, unit, {shown, shown}, [&](Frame& frame) { return RunFrame(interp, frame); }));
  if (shown != names.globals) CopyNames(interp, shown, names.globals, names.locals);
  return done.IsNone() ? done : Value::None();
}

}  // namespace cobra::python
