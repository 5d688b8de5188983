// BaseExceptionGroup, ExceptionGroup, and the operations that except* needs.
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

ExceptionObject* Self(const CallArgs& args) { return args.self.as<ExceptionObject>(); }

bool IsGroup(Interpreter& interp, Value v) {
  return v.IsException() && Interpreter::IsSubclassOf(v.object()->cls, interp.types().BaseExceptionGroup);
}

Result<std::vector<Value>> Children(Interpreter& interp, Value group) {
  auto args = group.as<ExceptionObject>()->args.as<TupleObject>()->span();
  if (args.size() < 2) return std::vector<Value>();
  return interp.ToVector(args[1]);
}

Result<Value> GroupNew(Interpreter& interp, const CallArgs& args) {
  const BuiltinTypes& t = interp.types();
  auto* cls = args.self.as<ClassObject>();
  if (args.positional.size() < 2) {
    return interp.Raise(t.TypeError, "BaseExceptionGroup.__new__() takes exactly 2 arguments (", args.positional.size(),
                        " given)");
  }
  Value message = args.positional[0], children = args.positional[1];
  if (!message.IsStr()) {
    return interp.Raise(t.TypeError, "BaseExceptionGroup.__new__() argument 1 must be str, not ",
                        interp.TypeName(message));
  }
  if (!children.IsList() && !children.IsTuple())
    return interp.Raise(t.TypeError, "second argument (exceptions) must be a sequence");
  COBRA_TRY_ASSIGN(std::vector<Value> items, interp.ToVector(children));
  if (items.empty()) return interp.Raise(t.ValueError, "second argument (exceptions) must be a non-empty sequence");
  bool only_exceptions = true;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].IsException())
      return interp.Raise(t.ValueError, "Item ", i, " of second argument (exceptions) is not an exception");
    only_exceptions = only_exceptions && Interpreter::IsSubclassOf(items[i].object()->cls, t.Exception);
  }
  if (cls == t.BaseExceptionGroup) {
    if (only_exceptions) cls = t.ExceptionGroup;
  } else if (!only_exceptions && Interpreter::IsSubclassOf(cls, t.Exception)) {
    return interp.Raise(t.TypeError, cls == t.ExceptionGroup
                                         ? std::string("Cannot nest BaseExceptions in an ExceptionGroup")
                                         : absl::StrCat("Cannot nest BaseExceptions in '", cls->name->view(), "'"));
  }
  ExceptionObject* e = NewException(interp, cls, 0, nullptr);
  e->args = interp.NewTuple(args.positional);
  return Value(e);
}

// Calls group.derive(exceptions) and copies cause, context, traceback and notes of the original.
Result<Value> Derive(Interpreter& interp, Value group, const std::vector<Value>& children) {
  COBRA_TRY_ASSIGN(Value made, interp.CallMethod(group, "derive", {Value(interp.NewList(children))}));
  if (!IsGroup(interp, made))
    return interp.Raise(interp.types().TypeError, "derive must return an instance of BaseExceptionGroup");
  auto* from = group.as<ExceptionObject>();
  auto* to = made.as<ExceptionObject>();
  to->cause = from->cause;
  to->context = from->context;
  to->suppress_context = from->suppress_context;
  to->traceback = from->traceback;
  Value* notes = from->attrs == nullptr ? nullptr : from->attrs->table.GetStr(interp.names().__notes__);
  if (notes != nullptr) interp.AttrsOf(to)->table.SetStr(interp.heap(), interp.names().__notes__, *notes);
  return made;
}

Result<SplitGroup> Split(Interpreter& interp, Value group, absl::FunctionRef<Result<bool>(Value)> matches) {
  COBRA_TRY(interp.CheckStack());
  COBRA_TRY(interp.Step());
  COBRA_TRY_ASSIGN(bool whole, matches(group));
  if (whole) return SplitGroup{group, Value::None()};
  if (!IsGroup(interp, group)) return SplitGroup{Value::None(), group};
  COBRA_TRY_ASSIGN(std::vector<Value> children, Children(interp, group));
  std::vector<Value> in, out;
  for (Value child : children) {
    COBRA_TRY_ASSIGN(SplitGroup parts, Split(interp, child, matches));
    if (!parts.match.IsNone()) in.push_back(parts.match);
    if (!parts.rest.IsNone()) out.push_back(parts.rest);
  }
  SplitGroup result{Value::None(), Value::None()};
  if (!in.empty()) COBRA_TRY_SET(result.match, Derive(interp, group, in));
  if (!out.empty()) COBRA_TRY_SET(result.rest, Derive(interp, group, out));
  return result;
}

// Splits a group by a class, a tuple of classes or a function.
Result<SplitGroup> SplitBy(Interpreter& interp, Value group, Value condition) {
  bool classes =
      condition.IsTuple() ||
      (condition.IsClass() && Interpreter::IsSubclassOf(condition.as<ClassObject>(), interp.types().BaseException));
  if (!classes && !interp.IsCallable(condition))
    return interp.Raise(interp.types().TypeError, "expected a function, exception type or tuple of exception types");
  return Split(interp, group, [&](Value e) -> Result<bool> {
    if (classes) return interp.IsInstance(e, condition);
    COBRA_TRY_ASSIGN(Value r, interp.Call(condition, {e}));
    return interp.Truth(r);
  });
}

Result<Value> SplitMethod(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value condition, OnlyArgument(interp, "split", "matcher_value", args));
  COBRA_TRY_ASSIGN(SplitGroup parts, SplitBy(interp, args.self, condition));
  return Value(interp.NewTuple({parts.match, parts.rest}));
}

Result<Value> Subgroup(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value condition, OnlyArgument(interp, "subgroup", "matcher_value", args));
  COBRA_TRY_ASSIGN(SplitGroup parts, SplitBy(interp, args.self, condition));
  return parts.match;
}

Result<void> CollectLeaves(Interpreter& interp, Value e, std::vector<Value>* leaves) {
  COBRA_TRY(interp.CheckStack());
  COBRA_TRY(interp.Step());
  if (!IsGroup(interp, e)) {
    leaves->push_back(e);
    return {};
  }
  COBRA_TRY_ASSIGN(std::vector<Value> children, Children(interp, e));
  for (Value child : children) COBRA_TRY(CollectLeaves(interp, child, leaves));
  return {};
}

}  // namespace

Result<SplitGroup> MatchExceptStar(Interpreter& interp, Value exception, Value classes) {
  if (!IsGroup(interp, exception)) {
    COBRA_TRY_ASSIGN(bool matches, interp.IsInstance(exception, classes));
    if (!matches) return SplitGroup{Value::None(), exception};
    COBRA_TRY_ASSIGN(Value group, interp.Call(Value(interp.types().BaseExceptionGroup),
                                              {Value(interp.NewStr("")), Value(interp.NewTuple({exception}))}));
    return SplitGroup{group, Value::None()};
  }
  return SplitBy(interp, exception, classes);
}

Result<Value> ProjectGroup(Interpreter& interp, Value original, const std::vector<Value>& parts) {
  if (!IsGroup(interp, original)) return parts[0];
  std::vector<Value> leaves;
  for (Value p : parts) COBRA_TRY(CollectLeaves(interp, p, &leaves));
  COBRA_TRY_ASSIGN(SplitGroup split, Split(interp, original, [&](Value e) -> Result<bool> {
                     for (Value leaf : leaves) {
                       if (leaf.IsSame(e)) return true;
                     }
                     return false;
                   }));
  return split.match;
}

Result<StrObject*> GroupText(Interpreter& interp, ExceptionObject* group) {
  COBRA_TRY_ASSIGN(std::vector<Value> children, Children(interp, Value(group)));
  COBRA_TRY_ASSIGN(StrObject * message, interp.Str(group->args.as<TupleObject>()->items[0]));
  return interp.NewStr(
      absl::StrCat(message->view(), " (", children.size(), " sub-exception", children.size() == 1 ? "" : "s", ")"));
}

void InitExceptionGroupTypes(Interpreter& interp) {
  const BuiltinTypes& t = interp.types();
  t.ExceptionGroup->bases.push_back(interp.heap(), t.Exception);
  t.Exception->subclasses.push_back(interp.heap(), t.ExceptionGroup);
  (void)ComputeMro(interp, t.ExceptionGroup);  // cannot fail: the bases are built-in classes
  for (ClassObject* cls : {t.BaseExceptionGroup, t.ExceptionGroup}) SetNativeNew(interp, cls, GroupNew);
  ClassObject* base = t.BaseExceptionGroup;
  AddProperty(interp, base, "message", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return Self(args)->args.as<TupleObject>()->items[0];
  });
  AddProperty(interp, base, "exceptions", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(std::vector<Value> children, Children(interp, args.self));
    return Value(interp.NewTuple(children));
  });
  AddMethod(interp, base, "split", SplitMethod);
  AddMethod(interp, base, "subgroup", Subgroup);
  AddMethod(interp, base, "derive", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value children, OnlyArgument(interp, "derive", "excs", args));
    return interp.Call(Value(interp.types().BaseExceptionGroup),
                       {Self(args)->args.as<TupleObject>()->items[0], children});
  });
  AddClassMethod(interp, base, "__class_getitem__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    return MakeGenericAlias(interp, args.self, args.positional.empty() ? Value::None() : args.positional[0]);
  });
}

}  // namespace cobra::python
