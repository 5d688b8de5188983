// inspect.getsource: the lines of a function or class, which stand in files that the program could
// read as well.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/interpreter/native.h"
#include "frontend/python/runtime/modules/stdlib.h"

namespace cobra::python {
namespace {

// The first class statement for a qualified name in a block, also below `if` and `try`, as in
// CPython; null if there is none.
const ast::ClassDef* FindClassStatement(ast::Seq<ast::StmtNode> block, absl::Span<const absl::string_view> parts) {
  const ast::ClassDef* found = nullptr;
  const auto look_in = [&](ast::Seq<ast::StmtNode> inner) {
    if (found == nullptr) found = FindClassStatement(inner, parts);
  };
  for (const ast::StmtNode* s : block) {
    if (found != nullptr) break;
    if (const auto* c = s->AsOrNull<ast::ClassDef>(); c != nullptr && c->name->text == parts[0]) {
      found = parts.size() == 1 ? c : FindClassStatement(c->body, parts.subspan(1));
    } else if (const auto* branch = s->AsOrNull<ast::If>()) {
      look_in(branch->body);
      look_in(branch->orelse);
    } else if (const auto* tried = s->AsOrNull<ast::Try>()) {
      look_in(tried->body);
      for (const ast::ExceptHandler* h : tried->handlers) look_in(h->body);
      look_in(tried->orelse);
    }
  }
  return found;
}

// (text, number of its first line) of a statement, with its decorators.
Result<Value> LinesOf(Interpreter& interp, const CodeUnit& unit, const ast::Position& pos,
                      ast::Seq<ast::ExprNode> decorators) {
  const int first = decorators.empty() ? pos.line : decorators[0]->pos.line;
  std::string text;
  for (int line = first; line <= pos.end_line; ++line) absl::StrAppend(&text, unit.code->ast().Line(line), "\n");
  COBRA_TRY(interp.Charge(StepsToScan(text.size())));
  return Value(interp.NewTuple({Value(interp.NewStr(text)), Value::Int(first)}));
}

// Of a function or class; None if its text is not known: it is built in, a lambda, or made by
// exec().
Result<Value> SourceOf(Interpreter& interp, const CallArgs& args) {
  const Value v = args.positional.empty() ? Value::None() : args.positional[0];
  if (v.IsFunction()) {
    const auto* f = v.as<FunctionObject>();
    if (f->definition == nullptr || f->unit->internal) return Value::None();
    return LinesOf(interp, *f->unit, f->definition->pos, f->definition->decorator_list);
  }
  if (!v.IsClass() || !v.as<ClassObject>()->module.IsStr()) return Value::None();
  const auto* cls = v.as<ClassObject>();
  const Value* const module =
      interp.importer().modules()->table.GetStr(interp.Intern(cls->module.as<StrObject>()->view()));
  if (module == nullptr || !module->IsModule()) return Value::None();
  const CodeUnit* const unit = module->as<ModuleObject>()->unit;
  if (unit == nullptr || unit->internal) return Value::None();
  const std::vector<absl::string_view> parts = absl::StrSplit(cls->qualname->view(), '.');
  const ast::ClassDef* const found = FindClassStatement(unit->code->ast().module()->body, parts);
  return found == nullptr ? Result<Value>(Value::None()) : LinesOf(interp, *unit, found->pos, found->decorator_list);
}

}  // namespace

void AddSourceFunction(NativeModuleBuilder& m) { m.Function("source_of", SourceOf); }

}  // namespace cobra::python
