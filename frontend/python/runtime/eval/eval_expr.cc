// Expressions.
#include <alloca.h>

#include <cmath>

#include "absl/container/inlined_vector.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text/similar_words.h"
#include "frontend/python/runtime/heap/set_order.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

using ast::ExprKind;
using ast::ExprNode;

namespace {

BinaryOp OpOf(ast::Operator op) {
  switch (op) {
    case ast::Operator::Add: return BinaryOp::kAdd;
    case ast::Operator::Sub: return BinaryOp::kSub;
    case ast::Operator::Mult: return BinaryOp::kMult;
    case ast::Operator::MatMult: return BinaryOp::kMatMult;
    case ast::Operator::Div: return BinaryOp::kDiv;
    case ast::Operator::Mod: return BinaryOp::kMod;
    case ast::Operator::Pow: return BinaryOp::kPow;
    case ast::Operator::LShift: return BinaryOp::kLShift;
    case ast::Operator::RShift: return BinaryOp::kRShift;
    case ast::Operator::BitOr: return BinaryOp::kBitOr;
    case ast::Operator::BitXor: return BinaryOp::kBitXor;
    case ast::Operator::BitAnd: return BinaryOp::kBitAnd;
    case ast::Operator::FloorDiv: return BinaryOp::kFloorDiv;
  }
  return BinaryOp::kAdd;
}

Failure RaiseUnboundName(Interpreter& interp, Ref ref, ast::Identifier id) {
  if (ref.kind == RefKind::kLocal || ref.kind == RefKind::kCell) {
    return interp.Raise(interp.types().UnboundLocalError, "cannot access local variable '", id->text,
                        "' where it is not associated with a value");
  }
  return interp.Raise(interp.types().NameError, "cannot access free variable '", id->text,
                      "' where it is not associated with a value in enclosing scope");
}

__attribute__((noinline)) Result<Value> EvalName(Interpreter& interp, Frame& frame, const ast::Name* n) {
  const Ref ref = ResolvedAst::RefOf(frame.unit->table[n->node_id]);
  Value v;
  switch (ref.kind) {
    case RefKind::kLocal: v = frame.locals[ref.slot]; break;
    case RefKind::kCell: v = frame.locals[ref.slot].as<CellObject>()->value; break;
    case RefKind::kFree: v = frame.free[ref.slot]->value; break;
    case RefKind::kClassFree:
      if (frame.names != nullptr) {
        if (Value* own = frame.names->table.GetStr(NameOf(interp, frame.unit, frame.scope->Mangled(n->id))))
          return *own;
      }
      v = frame.free[ref.slot]->value;
      break;
    case RefKind::kName:
      if (frame.names != nullptr) {
        if (Value* own = frame.names->table.GetStr(NameOfSymbol(interp, frame.unit, ref.slot))) return *own;
      }
      [[fallthrough]];
    case RefKind::kGlobal: {
      StrObject* name = NameOfSymbol(interp, frame.unit, ref.slot);
      std::atomic<uint16_t>& guess = frame.unit->guesses[n->node_id];
      Value* own = frame.globals->table.GetStr(name, guess);
      if (own == nullptr) own = interp.state().builtins->table.GetStr(name, guess);
      if (own != nullptr && !own->IsLazy()) return *own;
      Result<Value> r = LoadGlobal(interp, frame, name);
      if (!r.ok()) frame.position = &n->pos;
      return r;
    }
  }
  if (!v.IsUnbound()) return v;
  frame.position = &n->pos;
  return RaiseUnboundName(interp, ref, n->id);
}

__attribute__((noinline)) Result<Value> EvalBinOp(Interpreter& interp, Frame& frame, const ast::BinOp* e) {
  COBRA_TRY_ASSIGN(Value a, Eval(interp, frame, e->left));
  COBRA_TRY_ASSIGN(Value b, Eval(interp, frame, e->right));
  CountExpressions(interp, frame, 3);
  if (a.IsInt() && b.IsInt()) {
    int64_t x = a.as_int(), y = b.as_int(), r;
    switch (e->op) {
      case ast::Operator::Add:
        if (!__builtin_add_overflow(x, y, &r)) return Value::Int(r);
        break;
      case ast::Operator::Sub:
        if (!__builtin_sub_overflow(x, y, &r)) return Value::Int(r);
        break;
      case ast::Operator::Mult:
        if (!__builtin_mul_overflow(x, y, &r)) return Value::Int(r);
        break;
      default: break;
    }
  }
  frame.position = &e->pos;
  return interp.Binary(OpOf(e->op), a, b);
}

__attribute__((noinline)) Result<Value> EvalUnary(Interpreter& interp, Frame& frame, const ast::UnaryOp* e) {
  COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, e->operand));
  CountExpressions(interp, frame, 3);
  frame.position = &e->pos;
  switch (e->op) {
    case ast::UnaryOperator::Not: {
      COBRA_TRY_ASSIGN(bool b, interp.Truth(v));
      return Value::Bool(!b);
    }
    case ast::UnaryOperator::Invert: return interp.Unary(Interpreter::UnaryOp::kInvert, v);
    case ast::UnaryOperator::UAdd: return interp.Unary(Interpreter::UnaryOp::kPlus, v);
    case ast::UnaryOperator::USub: return interp.Unary(Interpreter::UnaryOp::kMinus, v);
  }
  return Value::None();
}

__attribute__((noinline)) Result<Value> EvalBoolOp(Interpreter& interp, Frame& frame, const ast::BoolOp* e) {
  bool stop_at = e->op == ast::BoolOperator::Or;
  Value v;
  for (size_t i = 0; i < e->values.size(); ++i) {
    COBRA_TRY_ASSIGN(v, Eval(interp, frame, e->values[i]));
    if (i + 1 == e->values.size()) break;
    frame.position = &e->values[i]->pos;
    CountExpressions(interp, frame);
    COBRA_TRY_ASSIGN(bool b, interp.Truth(v));
    if (b == stop_at) break;
  }
  return v;
}

Result<Value> CompareOnce(Interpreter& interp, ast::CmpOperator op, Value a, Value b) {
  using CompareOp = Interpreter::CompareOp;
  switch (op) {
    case ast::CmpOperator::Is: return Value::Bool(a.IsSame(b));
    case ast::CmpOperator::IsNot: return Value::Bool(!a.IsSame(b));
    case ast::CmpOperator::In: {
      COBRA_TRY_ASSIGN(bool in, interp.Contains(b, a));
      return Value::Bool(in);
    }
    case ast::CmpOperator::NotIn: {
      COBRA_TRY_ASSIGN(bool in, interp.Contains(b, a));
      return Value::Bool(!in);
    }
    case ast::CmpOperator::Eq: return interp.Compare(CompareOp::kEq, a, b);
    case ast::CmpOperator::NotEq: return interp.Compare(CompareOp::kNotEq, a, b);
    case ast::CmpOperator::Lt: return interp.Compare(CompareOp::kLt, a, b);
    case ast::CmpOperator::LtE: return interp.Compare(CompareOp::kLtE, a, b);
    case ast::CmpOperator::Gt: return interp.Compare(CompareOp::kGt, a, b);
    case ast::CmpOperator::GtE: return interp.Compare(CompareOp::kGtE, a, b);
  }
  return Value::None();
}

__attribute__((noinline)) Result<Value> EvalCompare(Interpreter& interp, Frame& frame, const ast::Compare* e) {
  COBRA_TRY_ASSIGN(Value left, Eval(interp, frame, e->left));
  Value result;
  for (size_t i = 0; i < e->ops.size(); ++i) {
    COBRA_TRY_ASSIGN(Value right, Eval(interp, frame, e->comparators[i]));
    frame.position = &e->pos;
    CountExpressions(interp, frame, 3);
    COBRA_TRY_ASSIGN(result, CompareOnce(interp, e->ops[i], left, right));
    if (i + 1 < e->ops.size()) {
      COBRA_TRY_ASSIGN(bool b, interp.Truth(result));
      if (!b) return result;
    }
    left = right;
  }
  return result;
}

// Evaluates the elements of a display or the positional arguments of a call, and unpacks starred
// ones.
Result<void> EvalElements(Interpreter& interp, Frame& frame, ast::Seq<ExprNode> elements, std::vector<Value>* out) {
  for (const ExprNode* e : elements) {
    if (const auto* starred = e->AsOrNull<ast::Starred>()) {
      COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, starred->value));
      frame.position = &starred->pos;
      if (!IsIterable(interp, v) && !v.IsOpaque())
        return interp.Raise(interp.types().TypeError, "Value after * must be an iterable, not ", interp.TypeName(v));
      COBRA_TRY(interp.Iterate(v, [&](Value item) -> Result<bool> {
        out->push_back(item);
        return interp.CheckSize(static_cast<int64_t>(out->size())).ok() ? Result<bool>(true) : Result<bool>(Failure());
      }));
      continue;
    }
    COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, e));
    out->push_back(v);
  }
  return {};
}

bool HasStar(ast::Seq<ExprNode> elements) {
  for (const ExprNode* e : elements) {
    if (e->Is<ast::Starred>()) return true;
  }
  return false;
}

__attribute__((noinline)) Result<Value> EvalTuple(Interpreter& interp, Frame& frame, ast::Seq<ExprNode> elements) {
  if (HasStar(elements)) {
    std::vector<Value> items;
    COBRA_TRY(EvalElements(interp, frame, elements, &items));
    return Value(interp.NewTuple(items));
  }
  TupleObject* t = interp.NewTupleOfSize(static_cast<int64_t>(elements.size()));
  for (size_t i = 0; i < elements.size(); ++i) COBRA_TRY_SET(t->items[i], Eval(interp, frame, elements[i]));
  return Value(t);
}

__attribute__((noinline)) Result<Value> EvalList(Interpreter& interp, Frame& frame, ast::Seq<ExprNode> elements) {
  ListObject* list = interp.NewList();
  if (HasStar(elements)) {
    std::vector<Value> items;
    COBRA_TRY(EvalElements(interp, frame, elements, &items));
    for (Value v : items) list->items.push_back(interp.heap(), v);
    return Value(list);
  }
  list->items.reserve(interp.heap(), elements.size());
  for (const ExprNode* e : elements) {
    COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, e));
    list->items.push_back(interp.heap(), v);
  }
  return Value(list);
}

__attribute__((noinline)) Result<Value> EvalSet(Interpreter& interp, Frame& frame, ast::Seq<ExprNode> elements) {
  CountExpressions(interp, frame, 4 * elements.size());  // most may be equal
  std::vector<Value> items;
  COBRA_TRY(EvalElements(interp, frame, elements, &items));
  SetObject* set = interp.NewSet();
  for (Value v : items) COBRA_TRY(interp.SetAdd(set, v));
  bool constant = elements.size() >= 3;
  for (const ExprNode* e : elements) constant = constant && e->Is<ast::Constant>();
  if (!constant) return Value(set);
  // CPython's compiler makes a frozenset of the constants and builds it again from its items when
  // it looks for equal constants. At run time the set is a copy of that; these steps determine its
  // order (set_order.h).
  SetObject* compiled = interp.NewSet();
  for (Value v : SetItems(*set)) COBRA_TRY(interp.SetAdd(compiled, v));
  SetObject* copy = interp.NewSet();
  COBRA_TRY(MergeSet(interp, copy, compiled));
  return Value(copy);
}

__attribute__((noinline)) Result<Value> EvalDict(Interpreter& interp, Frame& frame, const ast::Dict* e) {
  DictObject* dict = interp.NewDict();
  CountExpressions(interp, frame, 4 * e->values.size());  // most keys may be equal
  for (size_t i = 0; i < e->values.size(); ++i) {
    if (e->keys[i] == nullptr) {
      COBRA_TRY_ASSIGN(Value mapping, Eval(interp, frame, e->values[i]));
      frame.position = &e->values[i]->pos;
      if (!mapping.IsDict() && !mapping.IsInstance())
        return interp.Raise(interp.types().TypeError, "'", interp.TypeName(mapping), "' object is not a mapping");
      COBRA_TRY(interp.DictUpdate(dict, mapping));
      continue;
    }
    COBRA_TRY_ASSIGN(Value key, Eval(interp, frame, e->keys[i]));
    COBRA_TRY_ASSIGN(Value value, Eval(interp, frame, e->values[i]));
    frame.position = &e->pos;
    COBRA_TRY(interp.DictSet(dict, key, value));
  }
  return Value(dict);
}

__attribute__((noinline)) Result<Value> EvalSlice(Interpreter& interp, Frame& frame, const ast::Slice* e) {
  Value parts[3];
  const ExprNode* nodes[3] = {e->lower, e->upper, e->step};
  for (int i = 0; i < 3; ++i) {
    if (nodes[i] != nullptr) COBRA_TRY_SET(parts[i], Eval(interp, frame, nodes[i]));
  }
  return Value(interp.NewSlice(parts[0], parts[1], parts[2]));
}

__attribute__((noinline)) Result<Value> EvalSubscript(Interpreter& interp, Frame& frame, const ast::Subscript* e) {
  COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, e->value));
  COBRA_TRY_ASSIGN(Value key, Eval(interp, frame, e->slice));
  frame.position = &e->pos;
  return interp.GetItem(v, key);
}

__attribute__((noinline)) Result<Value> EvalAttribute(Interpreter& interp, Frame& frame, const ast::Attribute* e) {
  COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, e->value));
  StrObject* name = NameOfSymbol(interp, frame.unit, frame.unit->table[e->node_id]);
  frame.position = &e->pos;
  return GetAttrAt(interp, v, name, frame.unit->guesses[e->node_id]);
}

__attribute__((noinline)) Result<Value> EvalLambda(Interpreter& interp, Frame& frame, const ast::Lambda* e) {
  return MakeFunction(interp, frame, frame.unit->code->scope(e->node_id), e->args, interp.Intern("<lambda>"));
}

__attribute__((noinline)) Result<Value> EvalNamed(Interpreter& interp, Frame& frame, const ast::NamedExpr* e) {
  COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, e->value));
  COBRA_TRY(Assign(interp, frame, e->target, v));
  return v;
}

__attribute__((noinline)) Result<Value> EvalIfExp(Interpreter& interp, Frame& frame, const ast::IfExp* e) {
  COBRA_TRY_ASSIGN(Value test, Eval(interp, frame, e->test));
  frame.position = &e->test->pos;
  COBRA_TRY_ASSIGN(bool b, interp.Truth(test));
  return Eval(interp, frame, b ? e->body : e->orelse);
}

__attribute__((noinline)) Result<Value> EvalAwait(Interpreter& interp, Frame& frame, const ast::Await* e) {
  COBRA_TRY_ASSIGN(Value awaitable, Eval(interp, frame, e->value));
  frame.position = &e->pos;
  return Await(interp, frame, awaitable);
}

// "main.f()", as CPython names the callee in these errors.
std::string FunctionText(Interpreter& interp, Value callee) {
  if (callee.IsBoundMethod()) callee = callee.as<BoundMethodObject>()->function;
  if (callee.IsFunction()) {
    const auto* function = callee.as<FunctionObject>();
    const Value* name = function->module->attrs->table.GetStr(interp.names().__name__);
    return absl::StrCat(
        name != nullptr && name->IsStr() ? name->as<StrObject>()->view() : function->module->name->view(), ".",
        function->qualname->view(), "()");
  }
  if (callee.IsBuiltin()) return absl::StrCat(callee.as<BuiltinObject>()->qualname->view(), "()");
  if (callee.IsClass()) return absl::StrCat(callee.as<ClassObject>()->qualname->view(), "()");
  return absl::StrCat(interp.TypeName(callee), " object");
}

// Evaluates `**mapping` in a call.
Result<void> SpreadKeywords(Interpreter& interp, Value mapping, Value callee, std::vector<KeywordArg>* out) {
  const bool is_dict =
      mapping.IsDict() && (mapping.object()->cls == interp.types().dict ||
                           interp.LookupClass(mapping.object()->cls, interp.names().__iter__).IsBuiltin());
  if (!is_dict) {
    Result<Value> keys = interp.GetAttrOrUnbound(mapping, interp.names().keys);
    if (!keys.ok()) return Failure();
    if (keys->IsUnbound()) {
      return interp.Raise(interp.types().TypeError, FunctionText(interp, callee),
                          " argument after ** must be a mapping, not ", interp.TypeName(mapping));
    }
    DictObject* copy = interp.NewDict();
    COBRA_TRY(interp.DictUpdate(copy, mapping));
    mapping = copy;
  }
  const DictTable& table = mapping.as<DictObject>()->table;
  for (size_t i = 0; i < table.entry_count(); ++i) {
    const DictTable::Entry& e = table.entry(i);
    if (e.key.IsUnbound()) continue;
    if (!e.key.IsStr()) return interp.Raise(interp.types().TypeError, "keywords must be strings");
    StrObject* name = interp.InternStr(e.key.as<StrObject>());
    COBRA_TRY(interp.Charge(static_cast<int64_t>(out->size()) / 32));
    for (const KeywordArg& k : *out) {
      if (k.name == name) {
        return interp.Raise(interp.types().TypeError, FunctionText(interp, callee),
                            " got multiple values for keyword argument '", name->view(), "'");
      }
    }
    out->push_back({name, e.value});
  }
  return {};
}

Result<Value> CallSpread(Interpreter& interp, Frame& frame, const ast::Call* e, Value function, Value self) {
  std::vector<Value> positional;
  COBRA_TRY(EvalElements(interp, frame, e->args, &positional));
  std::vector<KeywordArg> keywords;
  for (const ast::Keyword* k : e->keywords) {
    COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, k->value));
    if (k->arg == nullptr) {
      frame.position = &e->pos;
      COBRA_TRY(SpreadKeywords(interp, v, function, &keywords));
      continue;
    }
    StrObject* name = NameOf(interp, frame.unit, k->arg);
    for (const KeywordArg& other : keywords) {
      if (other.name == name) {
        return interp.Raise(interp.types().TypeError, FunctionText(interp, function),
                            " got multiple values for keyword argument '", name->view(), "'");
      }
    }
    keywords.push_back({name, v});
  }
  CallArgs args;
  args.self = self;
  args.positional = positional;
  args.keywords = keywords;
  frame.position = &e->pos;
  return interp.Call(function, args);
}

}  // namespace

Result<Value> LoadGlobal(Interpreter& interp, Frame& frame, StrObject* name) {
  if (Value* v = frame.globals->table.GetStr(name)) {
    if (!v->IsLazy()) return *v;
    COBRA_TRY_ASSIGN(Value forced, ForceLazy(interp, *v));
    frame.globals->table.SetStr(interp.heap(), name, forced);
    return forced;
  }
  if (Value* v = interp.state().builtins->table.GetStr(name)) return Forced(interp, v);
  // It may be one of the names of a module that is nowhere.
  if (frame.module != nullptr && !frame.module->is_native && !frame.module->getattr_hook.IsUnbound() &&
      frame.globals == frame.module->attrs && !absl::StartsWith(name->view(), "__")) {
    return interp.Call(frame.module->getattr_hook, {Value(name)});
  }
  Value e = interp.NewException(interp.types().NameError, absl::StrCat("name '", name->view(), "' is not defined"));
  interp.AttrsOf(e.object())->table.SetStr(interp.heap(), interp.names().name, Value(name));
  std::vector<absl::string_view> candidates;
  auto add = [&](const DictTable& t) {
    for (size_t i = 0; i < t.entry_count(); ++i) {
      if (t.entry(i).key.IsStr()) candidates.push_back(t.entry(i).key.str());
    }
  };
  for (ast::Identifier id : frame.scope->slot_names) {
    if (id != nullptr) candidates.push_back(id->text);
  }
  add(frame.globals->table);
  add(interp.state().builtins->table);
  std::string nearest = NearestName(name->view(), candidates);
  if (!nearest.empty()) e.as<ExceptionObject>()->suggestion = interp.NewStr(nearest);
  return interp.RaiseValue(e);
}

namespace {
__attribute__((noinline)) Result<Value> MakeConstant(Interpreter& interp, const ast::Constant* c, Value* constant) {
  switch (c->constant_kind) {
    case ast::ConstantKind::kBigInt: {
      BigInt value;
      BigInt::Parse(c->text, 10, &value);
      if (value.bits() > interp.limits().big_int_bits) return interp.IntTooLarge();
      *constant = interp.NewInt(value);
      break;
    }
    case ast::ConstantKind::kComplex: *constant = interp.NewComplex(0, c->float_value); break;
    case ast::ConstantKind::kBytes: *constant = interp.NewBytes(c->text); break;
    // Short strings are often names (keys, attribute names).
    default: *constant = c->text.size() <= 64 ? interp.Intern(c->text) : interp.NewStr(c->text); break;
  }
  return *constant;
}
}  // namespace

Result<Value> EvalConstant(Interpreter& interp, const CodeUnit* unit, const ast::Constant* c) {
  switch (c->constant_kind) {
    case ast::ConstantKind::kNone: return Value::None();
    case ast::ConstantKind::kTrue: return Value::Bool(true);
    case ast::ConstantKind::kFalse: return Value::Bool(false);
    case ast::ConstantKind::kEllipsis: return Value::Ellipsis();
    case ast::ConstantKind::kInt: return Value::Int(c->int_value);
    case ast::ConstantKind::kFloat: return Value::Float(c->float_value);
    default: break;
  }
  Value* constant = &unit->constants[unit->table[c->node_id]];
  if (!constant->IsUnbound()) return *constant;
  return MakeConstant(interp, c, constant);
}

Result<Value> EvalCall(Interpreter& interp, Frame& frame, const ast::Call* e) {
  Value function, self = Value::Unbound();
  if (const auto* attribute = e->func->AsOrNull<ast::Attribute>()) {
    COBRA_TRY_ASSIGN(Value object, Eval(interp, frame, attribute->value));
    StrObject* name = NameOfSymbol(interp, frame.unit, frame.unit->table[attribute->node_id]);
    frame.position = &attribute->pos;
    COBRA_TRY(GetMethod(interp, object, name, frame.unit->guesses[attribute->node_id], &function, &self));
  } else {
    COBRA_TRY_ASSIGN(function, Eval(interp, frame, e->func));
  }
  size_t n = e->args.size(), k = e->keywords.size();
  CountExpressions(interp, frame, n + k);
  if (frame.unit->table[e->node_id] == 0) return CallSpread(interp, frame, e, function, self);
  auto* positional = static_cast<Value*>(alloca((n + 1) * sizeof(Value)));
  auto* keywords = static_cast<KeywordArg*>(alloca((k + 1) * sizeof(KeywordArg)));
  for (size_t i = 0; i < n; ++i) COBRA_TRY_SET(positional[i], Eval(interp, frame, e->args[i]));
  for (size_t i = 0; i < k; ++i) {
    keywords[i].name = NameOf(interp, frame.unit, e->keywords[i]->arg);
    COBRA_TRY_ASSIGN(keywords[i].value, Eval(interp, frame, e->keywords[i]->value));
  }
  CallArgs args;
  args.self = self;
  args.positional = absl::MakeConstSpan(positional, n);
  args.keywords = absl::MakeConstSpan(keywords, k);
  frame.position = &e->pos;
  return interp.Call(function, args);
}

Result<Value> EvalJoinedStr(Interpreter& interp, Frame& frame, const ast::JoinedStr* e) {
  absl::InlinedVector<char, 192> out;
  CountExpressions(interp, frame, 8 * e->values.size());
  for (const ExprNode* part : e->values) {
    if (const auto* text = part->AsOrNull<ast::Constant>()) {
      out.insert(out.end(), text->text.begin(), text->text.end());
      continue;
    }
    const auto* f = part->As<ast::FormattedValue>();
    COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, f->value));
    frame.position = &f->pos;
    StrObject* s = nullptr;
    if (f->conversion == 'r' || f->conversion == 'a') {
      COBRA_TRY_ASSIGN(s, interp.Repr(v));
      if (f->conversion == 'a' && !s->ascii) s = interp.NewStr(QuotedStr(s->view(), true));
      v = s;
    } else if (f->conversion == 's') {
      COBRA_TRY_ASSIGN(s, interp.Str(v));
      v = s;
    }
    Value spec = interp.state().empty_str;
    if (f->format_spec != nullptr)
      COBRA_TRY_SET(spec, EvalJoinedStr(interp, frame, f->format_spec->As<ast::JoinedStr>()));
    COBRA_TRY_ASSIGN(s, interp.Format(v, spec.str()));
    interp.Spend(StepsToCopy(s->view().size()));
    out.insert(out.end(), s->data, s->data + s->size);
    COBRA_TRY(interp.CheckSize(static_cast<int64_t>(out.size()), 1));
  }
  return Value(interp.NewStr(absl::string_view(out.data(), out.size())));
}

// Cases that need more than a call are separate functions, so that the frequent cases save only the
// registers they use.
Result<Value> EvalNode(Interpreter& interp, Frame& frame, const ExprNode* e) {
  if (StackPointer() < interp.stack_low()) return interp.RaiseRecursion();
  CountExpressions(interp, frame);
  switch (e->node_kind) {
    case ExprKind::Name: return EvalName(interp, frame, e->As<ast::Name>());
    case ExprKind::Constant: return EvalConstant(interp, frame.unit, e->As<ast::Constant>());
    case ExprKind::Attribute: return EvalAttribute(interp, frame, e->As<ast::Attribute>());
    case ExprKind::Call: return EvalCall(interp, frame, e->As<ast::Call>());
    case ExprKind::BinOp: return EvalBinOp(interp, frame, e->As<ast::BinOp>());
    case ExprKind::UnaryOp: return EvalUnary(interp, frame, e->As<ast::UnaryOp>());
    case ExprKind::BoolOp: return EvalBoolOp(interp, frame, e->As<ast::BoolOp>());
    case ExprKind::Compare: return EvalCompare(interp, frame, e->As<ast::Compare>());
    case ExprKind::Subscript: return EvalSubscript(interp, frame, e->As<ast::Subscript>());
    case ExprKind::Tuple: return EvalTuple(interp, frame, e->As<ast::Tuple>()->elts);
    case ExprKind::List: return EvalList(interp, frame, e->As<ast::List>()->elts);
    case ExprKind::Set: return EvalSet(interp, frame, e->As<ast::Set>()->elts);
    case ExprKind::Dict: return EvalDict(interp, frame, e->As<ast::Dict>());
    case ExprKind::Slice: return EvalSlice(interp, frame, e->As<ast::Slice>());
    case ExprKind::IfExp: return EvalIfExp(interp, frame, e->As<ast::IfExp>());
    case ExprKind::Lambda: return EvalLambda(interp, frame, e->As<ast::Lambda>());
    case ExprKind::ListComp:
    case ExprKind::SetComp:
    case ExprKind::DictComp: return EvalComprehension(interp, frame, e);
    case ExprKind::GeneratorExp: return MakeGeneratorExpression(interp, frame, e->As<ast::GeneratorExp>());
    case ExprKind::JoinedStr: return EvalJoinedStr(interp, frame, e->As<ast::JoinedStr>());
    case ExprKind::NamedExpr: return EvalNamed(interp, frame, e->As<ast::NamedExpr>());
    case ExprKind::Yield:
    case ExprKind::YieldFrom: return EvalYield(interp, frame, e);
    case ExprKind::Await: return EvalAwait(interp, frame, e->As<ast::Await>());
    case ExprKind::FormattedValue:
    case ExprKind::Starred: break;  // parts of other expressions
  }
  return interp.Raise(interp.types().SyntaxError, "can't use starred expression here");
}

}  // namespace cobra::python
