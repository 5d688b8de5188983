// The operators as methods of the built-in classes, for subclasses and super().
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

// An object of one of the built-in layouts, possibly of a subclass.
bool HasBuiltinLayout(Value v) { return !v.IsInstance(); }

// list *= n, dict |= mapping, and the operators of two sets.
Result<Value> ChangeInPlace(Interpreter& interp, BinaryOp op, Value self, Value other) {
  if (self.IsList()) {
    COBRA_TRY_ASSIGN(Value repeated, RepeatSequence(interp, self, other));
    if (repeated.IsNotImplemented()) return repeated;
    self.as<ListObject>()->items.swap(repeated.as<ListObject>()->items);
    return self;
  }
  if (self.IsDict()) {
    COBRA_TRY(interp.DictUpdate(self.as<DictObject>(), other));
    return self;
  }
  if (!other.IsSet()) return Value::NotImplemented();
  COBRA_TRY_ASSIGN(bool done, SetInPlace(interp, op, self.as<SetObject>(), other.as<SetObject>()));
  return done ? self : Value::NotImplemented();
}

}  // namespace

void AddOperatorMethods(Interpreter& interp, ClassObject* cls, std::initializer_list<BinaryOp> ops, bool compare) {
  for (BinaryOp op : ops) {
    const OperatorNames& names = NamesOf(op);
    AddMethod(interp, cls, (interp.names().*names.direct)->view(),
              [op](Interpreter& interp, const CallArgs& args) -> Result<Value> {
                if (args.positional.empty())
                  return interp.Raise(interp.types().TypeError, "expected 1 argument, got 0");
                // Formatting takes an operand of any type.
                bool any = op == BinaryOp::kMod && (args.self.IsStr() || args.self.IsBytes());
                return any || HasBuiltinLayout(args.positional[0])
                           ? BuiltinBinary(interp, op, args.self, args.positional[0])
                           : Value::NotImplemented();
              });
    const BuiltinTypes& t = interp.types();
    if ((cls == t.list && op == BinaryOp::kMult) || (cls == t.dict && op == BinaryOp::kBitOr) || cls == t.set) {
      AddMethod(interp, cls, (interp.names().*names.in_place)->view(),
                [op](Interpreter& interp, const CallArgs& args) -> Result<Value> {
                  if (args.positional.empty())
                    return interp.Raise(interp.types().TypeError, "expected 1 argument, got 0");
                  return ChangeInPlace(interp, op, args.self, args.positional[0]);
                });
    }
    AddMethod(interp, cls, (interp.names().*names.reflected)->view(),
              [op](Interpreter& interp, const CallArgs& args) -> Result<Value> {
                if (args.positional.empty())
                  return interp.Raise(interp.types().TypeError, "expected 1 argument, got 0");
                return HasBuiltinLayout(args.positional[0]) ? BuiltinBinary(interp, op, args.positional[0], args.self)
                                                            : Value::NotImplemented();
              });
  }
  if (!compare) return;
  for (CompareOp op :
       {CompareOp::kEq, CompareOp::kNotEq, CompareOp::kLt, CompareOp::kLtE, CompareOp::kGt, CompareOp::kGtE}) {
    AddMethod(interp, cls, CompareName(interp, op)->view(),
              [op](Interpreter& interp, const CallArgs& args) -> Result<Value> {
                if (args.positional.empty())
                  return interp.Raise(interp.types().TypeError, "expected 1 argument, got 0");
                return BuiltinCompare(interp, op, args.self, args.positional[0]);
              });
  }
}

}  // namespace cobra::python
