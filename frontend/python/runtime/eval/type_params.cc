// The variables live in slots of the frame around the statement (scope.cc), as those of a
// comprehension do; what is evaluated lazily is a function without parameters.
#include "frontend/python/runtime/eval/type_params.h"

#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/syntax/type_params.h"

namespace cobra::python {
namespace {

// typing.TypeVar and the like, which the statement does not import.
Result<Value> FromTyping(Interpreter& interp, absl::string_view name) {
  COBRA_TRY_ASSIGN(ModuleObject * typing, interp.ImportModule("typing"));
  return interp.GetAttr(typing, name);
}

void SetVariable(Interpreter& interp, Frame& frame, const ast::TypeParam* param, Value value) {
  const Ref ref = frame.unit->code->ref(param->node_id);
  if (ref.kind == RefKind::kCell && !value.IsUnbound()) {
    frame.locals[ref.slot].as<CellObject>()->value = value;
  } else {
    frame.locals[ref.slot] = ref.kind == RefKind::kCell ? Value(NewCell(interp, value)) : value;
  }
}

}  // namespace

Result<TupleObject*> BindTypeParams(Interpreter& interp, Frame& frame, const ast::StmtNode* statement) {
  const ast::Seq<ast::TypeParam> params = ast::TypeParamsOf(frame.unit->code->ast(), statement);
  if (params.empty()) return nullptr;
  // A bound may name a variable that comes after it: the cells are there before the first function
  // is made.
  for (const ast::TypeParam* param : params) SetVariable(interp, frame, param, Value::Unbound());
  std::vector<Value> made;
  for (const ast::TypeParam* param : params) {
    COBRA_TRY_ASSIGN(Value maker, FromTyping(interp, "_type_param"));
    Value bound = Value::None(), default_value = Value::None();
    if (param->bound != nullptr) COBRA_TRY_SET(bound, Eval(interp, frame, param->bound));
    if (param->default_value != nullptr) COBRA_TRY_SET(default_value, Eval(interp, frame, param->default_value));
    const bool constraints = param->bound != nullptr && param->bound->body->Is<ast::Tuple>();
    const Value arguments[] = {interp.NewStr(ast::NameOf(param->node_kind)), NameOf(interp, frame.unit, param->name),
                               bound, Value::Bool(constraints), default_value};
    frame.position = &param->pos;
    COBRA_TRY_ASSIGN(Value variable,
                     interp.Call(maker, absl::MakeConstSpan(arguments), absl::Span<const KeywordArg>()));
    SetVariable(interp, frame, param, variable);
    made.push_back(variable);
  }
  return interp.NewTuple(made);
}

Completion ExecTypeAlias(Interpreter& interp, Frame& frame, const ast::AnnAssign* s) {
  const auto define = [&]() -> Result<void> {
    COBRA_TRY_ASSIGN(TupleObject * params, BindTypeParams(interp, frame, s));
    if (params == nullptr) params = interp.NewTupleOfSize(0);
    COBRA_TRY_ASSIGN(Value value, Eval(interp, frame, s->value));
    COBRA_TRY_ASSIGN(Value maker, FromTyping(interp, "_type_alias"));
    frame.position = &s->pos;
    const Value arguments[] = {NameOf(interp, frame.unit, s->target->As<ast::Name>()->id), value, params};
    COBRA_TRY_ASSIGN(Value alias, interp.Call(maker, absl::MakeConstSpan(arguments), absl::Span<const KeywordArg>()));
    return Assign(interp, frame, s->target, alias);
  };
  return define().ok() ? Completion::kNormal : Completion::kError;
}

}  // namespace cobra::python
