// Exception objects.
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

ExceptionObject* NewException(Interpreter& interp, ClassObject* cls, int argument_count, const Value* arguments) {
  ExceptionObject* e = interp.heap().New<ExceptionObject>();
  e->cls = cls;
  e->args = interp.NewTuple(absl::MakeConstSpan(arguments, static_cast<size_t>(argument_count)));
  return e;
}

namespace {

// The key under which an instance stores a field of its built-in class. It is not a valid attribute
// name, so a derived class may have an attribute with the name of the field.
StrObject* FieldKey(Interpreter& interp, absl::string_view name) { return interp.Intern(absl::StrCat(" ", name)); }

// 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte
Result<StrObject*> CodecErrorText(Interpreter& interp, absl::Span<const Value> args) {
  COBRA_TRY_ASSIGN(StrObject * codec, interp.Str(args[0]));
  COBRA_TRY_ASSIGN(StrObject * reason, interp.Str(args[4]));
  COBRA_TRY_ASSIGN(int64_t start, interp.Index(args[2]));
  COBRA_TRY_ASSIGN(int64_t end, interp.Index(args[3]));
  bool decoding = args[1].IsBytes();
  std::string what, where = absl::StrCat("position ", start);
  COBRA_TRY_ASSIGN(int64_t length, interp.Length(args[1]));
  if (end != start + 1 || start < 0 || start >= length) {
    what = decoding ? "bytes" : "characters";
    absl::StrAppend(&where, "-", end - 1);
  } else if (decoding) {
    what = absl::StrCat("byte 0x",
                        absl::Hex(static_cast<unsigned char>(args[1].as<BytesObject>()->data[start]), absl::kZeroPad2));
  } else {
    COBRA_TRY_ASSIGN(Value character, interp.GetItem(args[1], Value::Int(start)));
    what = absl::StrCat("character ", QuotedStr(character.str(), /*ascii_only=*/true));
  }
  return interp.NewStr(absl::StrCat("'", codec->view(), "' codec can't ", decoding ? "decode " : "encode ", what,
                                    " in ", where, ": ", reason->view()));
}

}  // namespace

Result<StrObject*> ExceptionText(Interpreter& interp, ExceptionObject* e) {
  auto args = e->args.as<TupleObject>()->span();
  if (Interpreter::IsSubclassOf(e->cls, interp.types().BaseExceptionGroup)) return GroupText(interp, e);
  const auto field = [&](absl::string_view name) {
    const Value* own = e->attrs == nullptr ? nullptr : e->attrs->table.GetStr(FieldKey(interp, name));
    return own == nullptr ? Value::None() : *own;
  };
  if (Interpreter::IsSubclassOf(e->cls, interp.types().ImportError)) {
    if (const Value message = field("msg"); message.IsStr()) return message.as<StrObject>();
  }
  if (Interpreter::IsSubclassOf(e->cls, interp.types().OSError)) {
    const Value error = field("errno"), strerror = field("strerror"), filename = field("filename");
    if (!filename.IsNone() || (!error.IsNone() && !strerror.IsNone())) {
      COBRA_TRY_ASSIGN(StrObject * number, interp.Str(error));
      COBRA_TRY_ASSIGN(StrObject * text, interp.Str(strerror));
      std::string out = absl::StrCat("[Errno ", number->view(), "] ", text->view());
      if (!filename.IsNone()) {
        COBRA_TRY_ASSIGN(StrObject * file, interp.Repr(filename));
        absl::StrAppend(&out, ": ", file->view());
      }
      return interp.NewStr(out);
    }
  }
  if (args.empty()) return interp.NewStr("");
  if (args.size() == 1) {
    if (Interpreter::IsSubclassOf(e->cls, interp.types().KeyError)) return interp.Repr(args[0]);
    return interp.Str(args[0]);
  }
  if (Interpreter::IsSubclassOf(e->cls, interp.types().UnicodeError) && args.size() == 5)
    return CodecErrorText(interp, args);
  return interp.Repr(e->args);
}

namespace {

ExceptionObject* Self(const CallArgs& args) { return args.self.as<ExceptionObject>(); }

Result<Value> ExceptionNew(Interpreter& interp, const CallArgs& args) {
  ExceptionObject* e = interp.heap().New<ExceptionObject>();
  e->cls = args.self.as<ClassObject>();
  if (e->cls == interp.types().OSError && args.positional.size() >= 2 && args.positional[0].IsInt()) {
    const BuiltinTypes& t = interp.types();
    switch (args.positional[0].as_int()) {
      case 1:
      case 13: e->cls = t.PermissionError; break;
      case 2: e->cls = t.FileNotFoundError; break;
      case 17: e->cls = t.FileExistsError; break;
      case 20: e->cls = t.NotADirectoryError; break;
      case 21: e->cls = t.IsADirectoryError; break;
      default: break;
    }
  }
  // If a subclass of OSError has its own __init__, the arguments are stored only when that calls
  // OSError.__init__.
  const bool waits = Interpreter::IsSubclassOf(e->cls, interp.types().OSError) &&
                     interp.LookupClass(e->cls, interp.names().__init__).IsFunction();
  e->args = waits ? interp.NewTuple({}) : interp.NewTuple(args.positional);
  return Value(e);
}

bool HasFields(Interpreter& interp, const ClassObject* cls) {
  const BuiltinTypes& t = interp.types();
  return Interpreter::IsSubclassOf(cls, t.StopIteration) || Interpreter::IsSubclassOf(cls, t.SystemExit) ||
         Interpreter::IsSubclassOf(cls, t.ImportError) || Interpreter::IsSubclassOf(cls, t.OSError);
}

// Sets the fields that these types derive from their arguments, in addition to `args`.
void SetFields(Interpreter& interp, ExceptionObject* e, absl::Span<const Value> args) {
  const BuiltinTypes& t = interp.types();
  const auto set = [&](absl::string_view name, Value v) {
    interp.AttrsOf(e)->table.SetStr(interp.heap(), FieldKey(interp, name), v);
  };
  if (Interpreter::IsSubclassOf(e->cls, t.StopIteration)) {
    set("value", args.empty() ? Value::None() : args[0]);
  } else if (Interpreter::IsSubclassOf(e->cls, t.SystemExit)) {
    if (!args.empty()) set("code", args.size() == 1 ? args[0] : e->args);
  } else if (Interpreter::IsSubclassOf(e->cls, t.ImportError)) {
    set("msg", args.size() == 1 ? args[0] : Value::None());
  } else if (Interpreter::IsSubclassOf(e->cls, t.OSError) && args.size() >= 2 && args.size() <= 5) {
    set("errno", args[0]);
    set("strerror", args[1]);
    if (args.size() < 3 || args[2].IsNone()) return;
    set("filename", args[2]);
    e->args = interp.NewTuple(args.subspan(0, 2));
  }
}

Result<Value> ExceptionInit(Interpreter& interp, const CallArgs& args) {
  if (!args.keywords.empty()) {
    // ImportError(name=..., path=...) and AttributeError(name=..., obj=...) take keyword arguments.
    ClassObject* cls = Self(args)->cls;
    bool takes = Interpreter::IsSubclassOf(cls, interp.types().ImportError) ||
                 Interpreter::IsSubclassOf(cls, interp.types().AttributeError) ||
                 Interpreter::IsSubclassOf(cls, interp.types().NameError);
    if (!takes) return interp.Raise(interp.types().TypeError, cls->name->view(), "() takes no keyword arguments");
    for (const KeywordArg& k : args.keywords)
      interp.AttrsOf(Self(args))->table.SetStr(interp.heap(), FieldKey(interp, k.name->view()), k.value);
  }
  Self(args)->args = interp.NewTuple(args.positional);
  SetFields(interp, Self(args), args.positional);
  return Value::None();
}

// Adds a property for argument number `index`; it is None if the argument is absent.
void AddArgumentProperty(Interpreter& interp, ClassObject* cls, absl::string_view name, size_t index) {
  AddProperty(
      interp, cls, name,
      [index, key = std::string(name)](Interpreter& interp, const CallArgs& args) -> Result<Value> {
        if (Self(args)->attrs != nullptr) {
          Value* own = Self(args)->attrs->table.GetStr(FieldKey(interp, key));
          // Errors that the interpreter itself raised store the value under its plain name.
          if (own == nullptr) own = Self(args)->attrs->table.GetStr(interp.Intern(key));
          if (own != nullptr) return *own;
        }
        // The program did not call __init__.
        if (!Self(args)->cls->is_native && HasFields(interp, Self(args)->cls)) return Value::None();
        auto span = Self(args)->args.as<TupleObject>()->span();
        return index < span.size() ? span[index] : Value::None();
      },
      [key = std::string(name)](Interpreter& interp, const CallArgs& args) -> Result<Value> {
        interp.AttrsOf(args.self.object())->table.SetStr(interp.heap(), FieldKey(interp, key), args.positional[0]);
        return Value::None();
      });
}

Result<Value> AddNote(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value note, OnlyArgument(interp, "add_note", "note", args));
  DictObject* attrs = interp.AttrsOf(args.self.object());
  Value* notes = attrs->table.GetStr(interp.names().__notes__);
  if (notes == nullptr) {
    attrs->table.SetStr(interp.heap(), interp.names().__notes__, interp.NewList());
    notes = attrs->table.GetStr(interp.names().__notes__);
  }
  notes->as<ListObject>()->items.push_back(interp.heap(), note);
  return Value::None();
}

void AddExceptionMethods(Interpreter& interp, ClassObject* base) {
  AddMethod(interp, base, "__str__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(StrObject * s, ExceptionText(interp, Self(args)));
    return Value(s);
  });
  AddMethod(interp, base, "__repr__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(StrObject * s, DefaultRepr(interp, args.self));
    return Value(s);
  });
  AddMethod(interp, base, "with_traceback",
            [](Interpreter&, const CallArgs& args) -> Result<Value> { return args.self; });
  AddMethod(interp, base, "add_note", AddNote);
}

void AddExceptionProperties(Interpreter& interp, ClassObject* base) {
  AddProperty(
      interp, base, "args", [](Interpreter&, const CallArgs& args) -> Result<Value> { return Self(args)->args; },
      [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
        COBRA_TRY_ASSIGN(std::vector<Value> items, interp.ToVector(args.positional[0]));
        Self(args)->args = interp.NewTuple(items);
        return Value::None();
      });
  auto link = [&](absl::string_view name, Value ExceptionObject::*field) {
    AddProperty(
        interp, base, name, [field](Interpreter&, const CallArgs& args) -> Result<Value> { return Self(args)->*field; },
        [field](Interpreter&, const CallArgs& args) -> Result<Value> {
          Self(args)->*field = args.positional[0];
          return Value::None();
        });
  };
  link("__cause__", &ExceptionObject::cause);
  link("__context__", &ExceptionObject::context);
  AddProperty(
      interp, base, "__suppress_context__",
      [](Interpreter&, const CallArgs& args) -> Result<Value> { return Value::Bool(Self(args)->suppress_context); },
      [](Interpreter&, const CallArgs& args) -> Result<Value> {
        Self(args)->suppress_context = args.positional[0].IsBool() && args.positional[0].as_bool();
        return Value::None();
      });
  AddProperty(
      interp, base, "__traceback__", [](Interpreter&, const CallArgs&) -> Result<Value> { return Value::None(); },
      [](Interpreter&, const CallArgs&) -> Result<Value> { return Value::None(); });
}

void AddArgumentProperties(Interpreter& interp) {
  AddArgumentProperty(interp, interp.types().StopIteration, "value", 0);
  AddArgumentProperty(interp, interp.types().SystemExit, "code", 0);
  for (absl::string_view name : {"errno", "strerror", "filename", "filename2"})
    AddArgumentProperty(interp, interp.types().OSError, name, 99);
  size_t position = 0;
  for (absl::string_view name : {"encoding", "object", "start", "end", "reason"}) {
    for (ClassObject* cls : {interp.types().UnicodeDecodeError, interp.types().UnicodeEncodeError})
      AddArgumentProperty(interp, cls, name, position);
    ++position;
  }
  AddArgumentProperty(interp, interp.types().SyntaxError, "msg", 0);
  for (absl::string_view name : {"lineno", "offset", "filename", "text"})
    AddArgumentProperty(interp, interp.types().SyntaxError, name, 99);
  AddArgumentProperty(interp, interp.types().ImportError, "msg", 0);
  for (absl::string_view name : {"name", "path"}) AddArgumentProperty(interp, interp.types().ImportError, name, 99);
  for (absl::string_view name : {"name", "obj"}) AddArgumentProperty(interp, interp.types().AttributeError, name, 99);
  AddArgumentProperty(interp, interp.types().NameError, "name", 99);
}

}  // namespace

void InitExceptionTypes(Interpreter& interp) {
  ClassObject* base = interp.types().BaseException;
  SetNativeNew(interp, base, ExceptionNew);
  AddMethod(interp, base, "__init__", ExceptionInit);
  AddExceptionMethods(interp, base);
  AddExceptionProperties(interp, base);
  AddArgumentProperties(interp);
}

}  // namespace cobra::python
