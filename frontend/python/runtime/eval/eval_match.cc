// The match statement (PEP 634).
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

using ast::PatternKind;
using ast::PatternNode;

namespace {

Result<bool> Matches(Interpreter& interp, Frame& frame, const PatternNode* p, Value subject);

// A user class counts as a sequence only if it derives from collections.abc.Sequence.
bool DerivesFromSequence(Value v) {
  if (!v.IsInstance()) return false;
  for (const ClassObject* c : v.object()->cls->mro) {
    if (c->name->view() == "Sequence" && c->module.IsStr() && c->module.str() == "collections.abc") return true;
  }
  return false;
}

Result<bool> MatchSequence(Interpreter& interp, Frame& frame, const ast::MatchSequence* p, Value subject) {
  absl::Span<const Value> items;
  std::vector<Value> storage;
  if (subject.IsList()) {
    storage.assign(subject.as<ListObject>()->items.begin(), subject.as<ListObject>()->items.end());
    items = storage;
  } else if (subject.IsTuple()) {
    items = subject.as<TupleObject>()->span();
  } else if (subject.IsRange() || DerivesFromSequence(subject)) {
    COBRA_TRY_ASSIGN(storage, interp.ToVector(subject));
    items = storage;
  } else {
    return false;
  }
  size_t star = p->patterns.size();
  for (size_t i = 0; i < p->patterns.size(); ++i) {
    if (p->patterns[i]->Is<ast::MatchStar>()) star = i;
  }
  bool has_star = star != p->patterns.size();
  size_t fixed = p->patterns.size() - (has_star ? 1 : 0);
  if (has_star ? items.size() < fixed : items.size() != fixed) return false;
  size_t extra = items.size() - fixed;
  for (size_t i = 0, at = 0; i < p->patterns.size(); ++i) {
    if (i == star) {
      const auto* s = p->patterns[i]->As<ast::MatchStar>();
      if (s->name != nullptr) COBRA_TRY(StoreName(interp, frame, s->name, interp.NewList(items.subspan(at, extra))));
      at += extra;
      continue;
    }
    COBRA_TRY_ASSIGN(bool m, Matches(interp, frame, p->patterns[i], items[at++]));
    if (!m) return false;
  }
  return true;
}

Result<bool> MatchMapping(Interpreter& interp, Frame& frame, const ast::MatchMapping* p, Value subject) {
  if (!subject.IsDict()) return false;
  auto* dict = subject.as<DictObject>();
  DictObject* rest = nullptr;
  if (p->rest != nullptr) {
    rest = interp.NewDict();
    COBRA_TRY(interp.DictUpdate(rest, subject));
  }
  for (size_t i = 0; i < p->keys.size(); ++i) {
    COBRA_TRY_ASSIGN(Value key, Eval(interp, frame, p->keys[i]));
    COBRA_TRY_ASSIGN(Value v, interp.DictGet(dict, key));
    if (v.IsUnbound()) return false;
    COBRA_TRY_ASSIGN(bool m, Matches(interp, frame, p->patterns[i], v));
    if (!m) return false;
    if (rest != nullptr) COBRA_TRY(interp.DictErase(rest, key));
  }
  if (rest != nullptr) COBRA_TRY(StoreName(interp, frame, p->rest, rest));
  return true;
}

Result<bool> MatchClass(Interpreter& interp, Frame& frame, const ast::MatchClass* p, Value subject) {
  COBRA_TRY_ASSIGN(Value cls, Eval(interp, frame, p->cls));
  if (!cls.IsClass()) return interp.Raise(interp.types().TypeError, "called match pattern must be a class");
  COBRA_TRY_ASSIGN(bool is, interp.IsInstance(subject, cls));
  if (!is) return false;
  const BuiltinTypes& t = interp.types();
  size_t first = 0;
  if (!p->patterns.empty()) {
    Value names = interp.LookupClass(cls.as<ClassObject>(), interp.names().__match_args__);
    if (names.IsUnbound()) {
      bool whole = false;  // int(x), str(x), ...: the one positional pattern is the subject itself
      for (ClassObject* c :
           {t.bool_type, t.bytes, t.dict, t.float_type, t.frozenset, t.int_type, t.list, t.set, t.str, t.tuple}) {
        whole |= Interpreter::IsSubclassOf(cls.as<ClassObject>(), c);
      }
      if (!whole || p->patterns.size() > 1) {
        return interp.Raise(t.TypeError, cls.as<ClassObject>()->name->view(), "() accepts ", whole ? 1 : 0,
                            " positional sub-pattern", whole ? "" : "s", " (", p->patterns.size(), " given)");
      }
      COBRA_TRY_ASSIGN(bool m, Matches(interp, frame, p->patterns[0], subject));
      if (!m) return false;
    } else {
      if (!names.IsTuple()) return interp.Raise(t.TypeError, "__match_args__ must be a tuple");
      auto span = names.as<TupleObject>()->span();
      if (p->patterns.size() > span.size()) {
        return interp.Raise(t.TypeError, cls.as<ClassObject>()->name->view(), "() accepts ", span.size(),
                            " positional sub-pattern", span.size() == 1 ? "" : "s", " (", p->patterns.size(),
                            " given)");
      }
      for (; first < p->patterns.size(); ++first) {
        if (!span[first].IsStr()) return interp.Raise(t.TypeError, "__match_args__ elements must be strings");
        COBRA_TRY_ASSIGN(Value v, interp.GetAttrOrUnbound(subject, span[first].as<StrObject>()));
        if (v.IsUnbound()) return false;
        COBRA_TRY_ASSIGN(bool m, Matches(interp, frame, p->patterns[first], v));
        if (!m) return false;
      }
    }
  }
  for (size_t i = 0; i < p->kwd_attrs.size(); ++i) {
    COBRA_TRY_ASSIGN(Value v, interp.GetAttrOrUnbound(subject, NameOf(interp, frame.unit, p->kwd_attrs[i])));
    if (v.IsUnbound()) return false;
    COBRA_TRY_ASSIGN(bool m, Matches(interp, frame, p->kwd_patterns[i], v));
    if (!m) return false;
  }
  return true;
}

Result<bool> Matches(Interpreter& interp, Frame& frame, const PatternNode* p, Value subject) {
  frame.position = &p->pos;
  COBRA_TRY(interp.CheckStack());
  switch (p->node_kind) {
    case PatternKind::MatchValue: {
      COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, p->As<ast::MatchValue>()->value));
      return interp.Equal(subject, v);
    }
    case PatternKind::MatchSingleton:
      switch (p->As<ast::MatchSingleton>()->value) {
        case ast::ConstantKind::kTrue: return subject.IsSame(Value::Bool(true));
        case ast::ConstantKind::kFalse: return subject.IsSame(Value::Bool(false));
        default: return subject.IsNone();
      }
    case PatternKind::MatchSequence: return MatchSequence(interp, frame, p->As<ast::MatchSequence>(), subject);
    case PatternKind::MatchMapping: return MatchMapping(interp, frame, p->As<ast::MatchMapping>(), subject);
    case PatternKind::MatchClass: return MatchClass(interp, frame, p->As<ast::MatchClass>(), subject);
    case PatternKind::MatchStar: return true;
    case PatternKind::MatchAs: {
      const auto* a = p->As<ast::MatchAs>();
      if (a->pattern != nullptr) {
        COBRA_TRY_ASSIGN(bool m, Matches(interp, frame, a->pattern, subject));
        if (!m) return false;
      }
      if (a->name != nullptr) COBRA_TRY(StoreName(interp, frame, a->name, subject));
      return true;
    }
    case PatternKind::MatchOr:
      for (const PatternNode* x : p->As<ast::MatchOr>()->patterns) {
        COBRA_TRY_ASSIGN(bool m, Matches(interp, frame, x, subject));
        if (m) return true;
      }
      return false;
  }
  return false;
}

}  // namespace

Completion ExecMatch(Interpreter& interp, Frame& frame, const ast::Match* s) {
  Result<Value> subject = Eval(interp, frame, s->subject);
  if (!subject.ok()) return Completion::kError;
  for (const ast::MatchCase* c : s->cases) {
    Result<bool> m = Matches(interp, frame, c->pattern, *subject);
    if (!m.ok()) return Completion::kError;
    if (!*m) continue;
    if (c->guard != nullptr) {
      Result<Value> guard = Eval(interp, frame, c->guard);
      if (!guard.ok()) return Completion::kError;
      Result<bool> pass = interp.Truth(*guard);
      if (!pass.ok()) return Completion::kError;
      if (!*pass) continue;
    }
    return ExecBlock(interp, frame, c->body);
  }
  return Completion::kNormal;
}

}  // namespace cobra::python
