// Assignment and deletion targets; functions and closures; comprehensions.
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

using ast::ExprKind;
using ast::ExprNode;

Result<void> StoreRef(Interpreter& interp, Frame& frame, Ref ref, StrObject* name, Value value) {
  switch (ref.kind) {
    case RefKind::kLocal: frame.locals[ref.slot] = value; return {};
    case RefKind::kCell: frame.locals[ref.slot].as<CellObject>()->value = value; return {};
    case RefKind::kFree: frame.free[ref.slot]->value = value; return {};
    case RefKind::kName:
    case RefKind::kClassFree:
      if (frame.names != nullptr) {
        if (frame.names->cls != interp.types().dict) return interp.SetItem(Value(frame.names), Value(name), value);
        frame.names->table.SetStr(interp.heap(), name, value);
        return {};
      }
      [[fallthrough]];
    case RefKind::kGlobal: frame.globals->table.SetStr(interp.heap(), name, value); return {};
  }
  return {};
}

Result<void> StoreName(Interpreter& interp, Frame& frame, ast::Identifier id, Value value) {
  id = frame.scope->Mangled(id);
  Ref ref = frame.scope->Resolve(id);
  // `from x import y` at module level may bind a lazy value; anywhere else the value must be
  // resolved first.
  if (value.IsLazy() && ref.kind != RefKind::kGlobal) COBRA_TRY_SET(value, ForceLazy(interp, value));
  return StoreRef(interp, frame, ref, NameOf(interp, frame.unit, id), value);
}

namespace {

StrObject* NameOfTarget(Interpreter& interp, const Frame& frame, Ref ref, const ast::Name* n) {
  const bool is_symbol = ref.kind == RefKind::kName || ref.kind == RefKind::kGlobal;
  return NameOfSymbol(interp, frame.unit, is_symbol ? ref.slot : frame.scope->Mangled(n->id)->id);
}

Result<void> Unpack(Interpreter& interp, Frame& frame, ast::Seq<ExprNode> targets, const ast::Position* pos,
                    Value value) {
  size_t star = targets.size();
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i]->Is<ast::Starred>()) star = i;
  }
  frame.position = pos;
  // Exact tuples need no iterator. (A list may be changed by the assignments: its items are
  // copied.)
  if (star == targets.size() && value.IsTuple() && value.object()->cls == interp.types().tuple &&
      static_cast<size_t>(value.as<TupleObject>()->size) == targets.size()) {
    for (size_t i = 0; i < targets.size(); ++i)
      COBRA_TRY(Assign(interp, frame, targets[i], value.as<TupleObject>()->items[i]));
    return {};
  }
  std::vector<Value> items;
  bool too_many = false;
  if (!IsIterable(interp, value))
    return interp.Raise(interp.types().TypeError, "cannot unpack non-iterable ", interp.TypeName(value), " object");
  interp.state().unpacking = star == targets.size() ? static_cast<int64_t>(targets.size()) : 0;
  Result<Value> iterator = interp.Iter(value);
  interp.state().unpacking = 0;
  if (!iterator.ok()) return Failure();
  while (true) {
    COBRA_TRY_ASSIGN(Value item, interp.Next(*iterator));
    if (item.IsUnbound()) break;
    if (star == targets.size() && items.size() == targets.size()) {
      too_many = true;
      break;
    }
    items.push_back(item);
    COBRA_TRY(interp.CheckSize(static_cast<int64_t>(items.size())));
    COBRA_TRY(interp.Step());
  }
  if (too_many)
    return interp.Raise(interp.types().ValueError, "too many values to unpack (expected ", targets.size(), ")");
  size_t fixed = star == targets.size() ? targets.size() : targets.size() - 1;
  if (items.size() < fixed) {
    return interp.Raise(interp.types().ValueError, "not enough values to unpack (expected ",
                        star == targets.size() ? "" : "at least ", fixed, ", got ", items.size(), ")");
  }
  size_t extra = items.size() - fixed;
  for (size_t i = 0, at = 0; i < targets.size(); ++i) {
    if (i == star) {
      ListObject* rest = interp.NewList(absl::MakeConstSpan(items).subspan(at, extra));
      COBRA_TRY(Assign(interp, frame, targets[i]->As<ast::Starred>()->value, rest));
      at += extra;
    } else {
      COBRA_TRY(Assign(interp, frame, targets[i], items[at++]));
    }
  }
  return {};
}

}  // namespace

Result<void> Assign(Interpreter& interp, Frame& frame, const ExprNode* target, Value value) {
  switch (target->node_kind) {
    case ExprKind::Name: {
      Ref ref = frame.unit->code->ref(target->node_id);
      if (ref.kind == RefKind::kLocal) {
        frame.locals[ref.slot] = value;
        return {};
      }
      const auto* n = target->As<ast::Name>();
      return StoreRef(interp, frame, ref, NameOfTarget(interp, frame, ref, n), value);
    }
    case ExprKind::Attribute: {
      const auto* a = target->As<ast::Attribute>();
      COBRA_TRY_ASSIGN(Value object, Eval(interp, frame, a->value));
      frame.position = &a->pos;
      return interp.SetAttr(object, NameOfSymbol(interp, frame.unit, frame.unit->code->attribute_symbol(a->node_id)),
                            value);
    }
    case ExprKind::Subscript: {
      const auto* s = target->As<ast::Subscript>();
      COBRA_TRY_ASSIGN(Value object, Eval(interp, frame, s->value));
      COBRA_TRY_ASSIGN(Value key, Eval(interp, frame, s->slice));
      frame.position = &s->pos;
      return interp.SetItem(object, key, value);
    }
    case ExprKind::Tuple: return Unpack(interp, frame, target->As<ast::Tuple>()->elts, &target->pos, value);
    case ExprKind::List: return Unpack(interp, frame, target->As<ast::List>()->elts, &target->pos, value);
    case ExprKind::Starred: return Assign(interp, frame, target->As<ast::Starred>()->value, value);
    default: return interp.Raise(interp.types().SyntaxError, "cannot assign to expression");
  }
}

Result<void> DeleteTarget(Interpreter& interp, Frame& frame, const ExprNode* target) {
  frame.position = &target->pos;
  switch (target->node_kind) {
    case ExprKind::Name: {
      const auto* n = target->As<ast::Name>();
      Ref ref = frame.unit->code->ref(target->node_id);
      Value* slot = nullptr;
      if (ref.kind == RefKind::kLocal) slot = &frame.locals[ref.slot];
      if (ref.kind == RefKind::kCell) slot = &frame.locals[ref.slot].as<CellObject>()->value;
      if (ref.kind == RefKind::kFree) slot = &frame.free[ref.slot]->value;
      if (slot != nullptr) {
        if (slot->IsUnbound()) {
          return interp.Raise(interp.types().UnboundLocalError, "cannot access local variable '", n->id->text,
                              "' where it is not associated with a value");
        }
        *slot = Value::Unbound();
        return {};
      }
      DictObject* names = ref.kind != RefKind::kGlobal && frame.names != nullptr ? frame.names : frame.globals;
      if (names->table.EraseStr(NameOfTarget(interp, frame, ref, n))) return {};
      return interp.Raise(interp.types().NameError, "name '", n->id->text, "' is not defined");
    }
    case ExprKind::Attribute: {
      const auto* a = target->As<ast::Attribute>();
      COBRA_TRY_ASSIGN(Value object, Eval(interp, frame, a->value));
      frame.position = &target->pos;
      return interp.DelAttr(object, NameOfSymbol(interp, frame.unit, frame.unit->code->attribute_symbol(a->node_id)));
    }
    case ExprKind::Subscript: {
      const auto* s = target->As<ast::Subscript>();
      COBRA_TRY_ASSIGN(Value object, Eval(interp, frame, s->value));
      COBRA_TRY_ASSIGN(Value key, Eval(interp, frame, s->slice));
      frame.position = &target->pos;
      return interp.DelItem(object, key);
    }
    case ExprKind::Tuple:
      for (const ExprNode* e : target->As<ast::Tuple>()->elts) COBRA_TRY(DeleteTarget(interp, frame, e));
      return {};
    case ExprKind::List:
      for (const ExprNode* e : target->As<ast::List>()->elts) COBRA_TRY(DeleteTarget(interp, frame, e));
      return {};
    default: return interp.Raise(interp.types().SyntaxError, "cannot delete expression");
  }
}

// ---- functions ----

CellObject* NewCell(Interpreter& interp, Value value) {
  CellObject* c = interp.heap().New<CellObject>();
  c->cls = interp.types().cell;
  c->value = value;
  return c;
}

void InitCells(Interpreter& interp, Frame& frame) {
  for (uint32_t slot : frame.scope->cell_slots) frame.locals[slot] = NewCell(interp, frame.locals[slot]);
}

CellObject** MakeClosure(Interpreter& interp, Frame& frame, const ScopeInfo& scope) {
  if (scope.closure_sources.empty()) return nullptr;
  auto** free = static_cast<CellObject**>(interp.heap().Allocate(scope.closure_sources.size() * sizeof(CellObject*)));
  for (size_t i = 0; i < scope.closure_sources.size(); ++i) {
    int32_t source = scope.closure_sources[i];
    free[i] = source >= 0 ? frame.locals[source].as<CellObject>() : frame.free[~source];
  }
  return free;
}

Result<Value> MakeFunction(Interpreter& interp, Frame& frame, const ScopeInfo& scope, const ast::Arguments* args,
                           StrObject* name) {
  FunctionObject* f = interp.heap().New<FunctionObject>();
  f->cls = interp.types().function;
  f->unit = frame.unit;
  f->scope = &scope;
  f->module = frame.module;
  f->name = name;
  f->qualname = scope.qualname_prefix.empty() ? name : interp.Intern(absl::StrCat(scope.qualname_prefix, name->view()));
  f->default_count = static_cast<int>(args->defaults.size());
  if (f->default_count > 0) {
    f->defaults = static_cast<Value*>(interp.heap().Allocate(args->defaults.size() * sizeof(Value)));
    for (size_t i = 0; i < args->defaults.size(); ++i)
      COBRA_TRY_SET(f->defaults[i], Eval(interp, frame, args->defaults[i]));
  }
  for (size_t i = 0; i < args->kw_defaults.size(); ++i) {
    if (args->kw_defaults[i] == nullptr) continue;
    if (f->keyword_defaults == nullptr) f->keyword_defaults = interp.NewDict();
    COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, args->kw_defaults[i]));
    f->keyword_defaults->table.SetStr(
        interp.heap(), NameOf(interp, frame.unit, scope.slot_names[static_cast<size_t>(scope.positional) + i]), v);
  }
  f->free = MakeClosure(interp, frame, scope);
  return Value(f);
}

// ---- comprehensions ----

namespace {

struct ComprehensionRun {
  Interpreter& interp;
  Frame& frame;
  ast::Seq<ast::Comprehension> clauses;
  const ExprNode* element;  // for a dict: the key
  const ExprNode* value;    // for a dict only
  ListObject* list = nullptr;
  SetObject* set = nullptr;
  DictObject* dict = nullptr;

  Result<void> Emit() {
    COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, element));
    if (list != nullptr) {
      list->items.push_back(interp.heap(), v);
      return {};
    }
    if (set != nullptr) {
      COBRA_TRY(interp.SetAdd(set, v));
      return {};
    }
    COBRA_TRY_ASSIGN(Value item, Eval(interp, frame, value));
    return interp.DictSet(dict, v, item);
  }

  Result<void> Clause(size_t i, Value iterable) {
    const ast::Comprehension* clause = clauses[i];
    frame.position = &clause->iter->pos;
    auto visit = [&](Value item) -> Result<bool> {
      COBRA_TRY(Assign(interp, frame, clause->target, item));
      for (const ExprNode* test : clause->ifs) {
        COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, test));
        frame.position = &test->pos;
        COBRA_TRY_ASSIGN(bool pass, interp.Truth(v));
        if (!pass) return true;
      }
      if (i + 1 == clauses.size()) {
        COBRA_TRY(Emit());
      } else {
        COBRA_TRY_ASSIGN(Value inner, Eval(interp, frame, clauses[i + 1]->iter));
        COBRA_TRY(Clause(i + 1, inner));
      }
      return true;
    };
    if (clause->is_async) return IterateAsync(interp, frame, iterable, visit);
    return interp.Iterate(iterable, visit);
  }
};

}  // namespace

Result<Value> EvalComprehension(Interpreter& interp, Frame& frame, const ExprNode* e) {
  ComprehensionRun run{interp, frame, {}, nullptr, nullptr};
  Value result;
  if (const auto* list = e->AsOrNull<ast::ListComp>()) {
    run.clauses = list->generators;
    run.element = list->elt;
    result = run.list = interp.NewList();
  } else if (const auto* set = e->AsOrNull<ast::SetComp>()) {
    run.clauses = set->generators;
    run.element = set->elt;
    result = run.set = interp.NewSet();
  } else {
    const auto* dict = e->As<ast::DictComp>();
    run.clauses = dict->generators;
    run.element = dict->key;
    run.value = dict->value;
    result = run.dict = interp.NewDict();
  }
  COBRA_TRY_ASSIGN(Value first, Eval(interp, frame, run.clauses[0]->iter));
  for (uint32_t slot : frame.unit->code->scope(e->node_id).fresh_cells)
    frame.locals[slot] = NewCell(interp, Value::Unbound());
  COBRA_TRY(run.Clause(0, first));
  return result;
}

int64_t TakeUnpackCount(Interpreter& interp) { return std::exchange(interp.state().unpacking, 0); }

DictObject* CallerGlobals(Interpreter& interp) {
  const Frame* frame = interp.state().frame;
  return frame == nullptr || frame->back == nullptr ? nullptr : frame->back->globals;
}

}  // namespace cobra::python
