// sys, builtins, and _cobra: the functions in C++ that the Python sources under stdlib/ need.
#include <algorithm>
#include <array>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/text/limit_message.h"
#include "frontend/python/runtime/eval/code_object.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/interpreter/read_notes.h"
#include "frontend/python/runtime/modules/place.h"
#include "frontend/python/runtime/modules/stdlib.h"
#include "frontend/python/syntax/parse/parser.h"
#include "frontend/python/syntax/python_version.h"

namespace cobra::python {
namespace {

// Copies an instance: same class, payload copied by its own rule; the caller copies the attributes.
Result<Value> CopyInstance(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "copy", "object", args));
  if (v.IsException()) {
    auto* e = interp.heap().New<ExceptionObject>(*v.as<ExceptionObject>());
    e->attrs = nullptr;
    return Value(e);
  }
  for (absl::string_view name :
       {"generator", "coroutine", "async_generator", "dict_keys", "dict_values", "dict_items"}) {
    if (interp.TypeName(v) == name) return interp.Raise(interp.types().TypeError, "cannot pickle '", name, "' object");
  }
  if (!v.IsInstance()) return interp.Unsupported(absl::StrCat("copying an object of type ", interp.TypeName(v)));
  auto* original = v.as<InstanceObject>();
  NativeObject* payload = nullptr;
  if (original->native != nullptr) {
    payload = original->native->Copy(interp);
    if (payload == nullptr) {
      if (interp.HasError()) return Failure();
      return interp.Unsupported(absl::StrCat("copying an object of type ", interp.TypeName(v)));
    }
  }
  auto* copy = interp.heap().New<InstanceObject>();
  copy->cls = original->cls;
  copy->mark = original->mark;
  copy->native = payload;
  return Value(copy);
}

// explained(exception, hint): returns the exception with a hint that the user sees if the program
// does not catch it.
Result<Value> Explained(Interpreter& interp, const CallArgs& args) {
  Value v;
  StrObject* hint;
  COBRA_TRY(ArgReader(interp, "explained", args).Required("exception", &v).Required("hint", &hint).Finish());
  if (v.IsException()) v.as<ExceptionObject>()->hint = hint;
  return v;
}

// The instance's own attributes, or None.
Result<Value> AttrsOrNone(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "attrs", "object", args));
  if (!v.IsObject() || v.object()->attrs == nullptr || v.IsClass() || v.IsModule()) return Value::None();
  return Value(v.object()->attrs);
}

Result<Value> SetAttrs(Interpreter& interp, const CallArgs& args) {
  Value v;
  DictObject* attrs;
  COBRA_TRY(ArgReader(interp, "set_attrs", args).Required("object", &v).Required("attrs", &attrs).Finish());
  if (v.IsObject()) v.object()->attrs = attrs;
  return Value::None();
}

// A new empty container of the same class; for subclasses of list, dict, set.
Result<Value> EmptyLike(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "empty_like", "object", args));
  Value made;
  if (v.IsList()) made = interp.NewList();
  if (v.IsDict()) made = interp.NewDict();
  if (v.IsSet()) made = interp.NewSet();
  if (made.IsNone()) return interp.Raise(interp.types().TypeError, "not a container");
  made.object()->cls = v.object()->cls;
  return made;
}

// copy.copy() of a plain instance of a program's class that has only attributes and defines none of
// the hooks for copying. Returns None for any other object.
Result<Value> CopyPlain(Interpreter& interp, const CallArgs& args, const std::array<StrObject*, 5>& hooks) {
  COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "copy", "object", args));
  if (!v.IsInstance() || v.as<InstanceObject>()->native != nullptr) return Value::None();
  ClassObject* cls = v.object()->cls;
  if (cls->is_native || cls->has_metaclass) return Value::None();
  for (StrObject* name : hooks) {
    const Value hook = FindInClass(interp, cls, name);
    if (!hook.IsUnbound() && !(hook.IsBuiltin() && hook.as<BuiltinObject>()->owner == interp.types().object))
      return Value::None();
  }
  auto* copy = interp.heap().New<InstanceObject>();
  copy->cls = cls;
  copy->mark = v.object()->mark;
  if (const DictObject* attrs = v.object()->attrs) {
    COBRA_TRY(interp.Charge(static_cast<int64_t>(attrs->table.entry_count()) / 4 + 10));
    DictTable& table = interp.AttrsOf(copy)->table;
    for (size_t i = 0; i < attrs->table.entry_count(); ++i) {
      const DictTable::Entry& e = attrs->table.entry(i);
      if (!e.key.IsUnbound()) table.Append(interp.heap(), e.hash, e.key, e.value);
    }
  }
  return Value(copy);
}

// functools.partial.__call__
Result<Value> CallPartial(Interpreter& interp, const CallArgs& args, StrObject* const names[3]) {
  Value own[3];  // func, args, keywords
  for (int i = 0; i < 3; ++i) COBRA_TRY_SET(own[i], interp.GetAttr(args.self, names[i]));
  absl::InlinedVector<Value, 16> positional;
  if (own[1].IsTuple()) {
    const absl::Span<const Value> first = own[1].as<TupleObject>()->span();
    positional.assign(first.begin(), first.end());
  } else {
    COBRA_TRY_ASSIGN(std::vector<Value> first, interp.ToVector(own[1]));
    positional.assign(first.begin(), first.end());
  }
  positional.insert(positional.end(), args.positional.begin(), args.positional.end());
  DictObject* given = own[2].IsDict() ? own[2].as<DictObject>() : interp.NewDict();
  if (!own[2].IsDict()) COBRA_TRY(interp.DictUpdate(given, own[2]));
  absl::InlinedVector<KeywordArg, 16> keywords;
  for (size_t i = 0; i < given->table.entry_count(); ++i) {
    const DictTable::Entry& e = given->table.entry(i);
    if (e.key.IsUnbound()) continue;
    if (!e.key.IsStr()) return interp.Raise(interp.types().TypeError, "keywords must be strings");
    keywords.push_back({interp.InternStr(e.key.as<StrObject>()), e.value});
  }
  const size_t first = keywords.size();
  COBRA_TRY(interp.Charge(1 + static_cast<int64_t>(positional.size() + first * args.keywords.size()) / 16));
  for (const KeywordArg& k : args.keywords) {  // keywords of the call replace stored ones in their positions
    size_t at = 0;
    while (at < first && keywords[at].name != k.name) ++at;
    if (at < first) {
      keywords[at].value = k.value;
    } else {
      keywords.push_back(k);
    }
  }
  return interp.Call(own[0], positional, keywords);
}

Result<Value> UnsupportedCall(Interpreter& interp, const CallArgs& args) {
  std::string what, hint;
  COBRA_TRY(ArgReader(interp, "unsupported", args).Required("what", &what).Optional("hint", &hint).Finish());
  return interp.Unsupported(what, hint);
}

// A note on how the model was read (read_notes.h), at the line of the innermost Python frame that
// is not part of the runtime.
Result<Value> Note(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(std::string text, OnlyArgument<std::string>(interp, "note", "text", args));
  for (const Frame* f = interp.state().frame; f != nullptr; f = f->back) {
    if (f->unit->internal || f->position == nullptr) continue;
    AddReadNote({f->unit->display_name, f->position->line, 0}, std::move(text));
    break;
  }
  return Value::None();
}

// The __name__ in the globals of the innermost Python frame that is not part of the runtime.
Result<Value> CallerModule(Interpreter& interp, const CallArgs&) {
  for (Frame* f = interp.state().frame; f != nullptr; f = f->back) {
    if (f->unit->internal) continue;
    Value* name = f->globals->table.GetStr(interp.names().__name__);
    return name == nullptr ? Value::None() : *name;
  }
  return Value::None();
}

// The names of globals and builtins that a function's own code uses, in the order of the alphabet.
Result<Value> GlobalNames(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value function, OnlyArgument(interp, "global_names", "function", args));
  std::vector<Value> names;
  for (const auto& [name, ref] : function.as<FunctionObject>()->scope->refs) {
    if (ref.kind == RefKind::kGlobal) names.push_back(interp.Intern(name->text));
  }
  COBRA_TRY(interp.Charge(static_cast<int64_t>(names.size())));
  std::sort(names.begin(), names.end(), [](Value a, Value b) { return a.str() < b.str(); });
  return Value(interp.NewList(names));
}

// A value for a name of a missing module. It may be passed on, inherited from and called at import,
// but not computed on.
Result<Value> InertName(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(std::string name, OnlyArgument<std::string>(interp, "inert", "name", args));
  return interp.state().importer->Opaque(name);
}

// Whether the program is prepared for an exception.
Result<Value> UnderTry(Interpreter& interp, const CallArgs&) { return Value::Bool(IsUnderTry(interp)); }

// The frames of Python code, innermost first, except those of the runtime: (globals, locals, code,
// line).
Result<Value> Frames(Interpreter& interp, const CallArgs&) {
  ListObject* out = interp.NewList();
  for (Frame* f = interp.state().frame; f != nullptr; f = f->back) {
    COBRA_TRY(interp.Step());
    if (f->unit->internal) continue;
    COBRA_TRY_ASSIGN(Value code, CodeOfFrame(interp, *f));
    const int64_t line = f->position == nullptr ? 0 : f->position->line;
    out->items.push_back(interp.heap(),
                         interp.NewTuple({Value(f->globals), Value(LocalsDict(interp, *f)), code, Value::Int(line)}));
  }
  return Value(out);
}

Result<bool> IsLiteral(Interpreter& interp, const ast::ExprNode* e) {
  COBRA_TRY(interp.CheckStack());
  auto all = [&](const ast::Seq<ast::ExprNode>& items) -> Result<bool> {
    for (const ast::ExprNode* item : items) {
      if (item == nullptr) return false;  // ** in a dict
      COBRA_TRY_ASSIGN(bool literal, IsLiteral(interp, item));
      if (!literal) return false;
    }
    return true;
  };
  auto number = [](const ast::ExprNode* n, bool sign) {
    if (const auto* u = n->AsOrNull<ast::UnaryOp>();
        sign && u != nullptr && (u->op == ast::UnaryOperator::UAdd || u->op == ast::UnaryOperator::USub))
      n = u->operand;
    const auto* c = n->AsOrNull<ast::Constant>();
    return c != nullptr &&
           (c->constant_kind == ast::ConstantKind::kInt || c->constant_kind == ast::ConstantKind::kBigInt ||
            c->constant_kind == ast::ConstantKind::kFloat || c->constant_kind == ast::ConstantKind::kComplex);
  };
  if (const auto* list = e->AsOrNull<ast::List>()) return all(list->elts);
  if (const auto* tuple = e->AsOrNull<ast::Tuple>()) return all(tuple->elts);
  if (const auto* set = e->AsOrNull<ast::Set>()) return all(set->elts);
  if (const auto* dict = e->AsOrNull<ast::Dict>()) {
    COBRA_TRY_ASSIGN(bool keys, all(dict->keys));
    return keys ? all(dict->values) : Result<bool>(false);
  }
  if (const auto* sum = e->AsOrNull<ast::BinOp>()) {  // 1+2j
    const auto* imaginary = sum->right->AsOrNull<ast::Constant>();
    return (sum->op == ast::Operator::Add || sum->op == ast::Operator::Sub) && number(sum->left, true) &&
           imaginary != nullptr && imaginary->constant_kind == ast::ConstantKind::kComplex;
  }
  if (const auto* call = e->AsOrNull<ast::Call>()) {
    const auto* name = call->func->AsOrNull<ast::Name>();
    return name != nullptr && name->id->text == "set" && call->args.empty() && call->keywords.empty();
  }
  return e->AsOrNull<ast::Constant>() != nullptr || number(e, true);
}

// Whether the text is an expression that ast.literal_eval accepts. True for a text that does not
// parse: eval() then reports the error.
Result<Value> IsLiteralText(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(std::string text, OnlyArgument<std::string>(interp, "literal_eval", "text", args));
  const int64_t most = interp.limits().source_bytes / 25;  // a tree takes many times its source
  if (static_cast<int64_t>(text.size()) > most) {
    return interp.LimitReached(
        LimitMessage("the text given to literal_eval()", static_cast<int64_t>(text.size()), most, "bytes"));
  }
  auto tree = ast::ParseExpression(text, "<unknown>");
  if (!tree.ok()) return Value::Bool(true);
  COBRA_TRY_ASSIGN(bool literal, IsLiteral(interp, (*tree)->expression()->body));
  return Value::Bool(literal);
}

Result<Value> ImportModuleFunction(Interpreter& interp, const CallArgs& args) {
  std::string name;
  std::optional<std::string> package;
  COBRA_TRY(ArgReader(interp, "import_module", args).Required("name", &name).Optional("package", &package).Finish());
  if (!name.empty() && name[0] == '.') {
    const size_t level = std::min(name.find_first_not_of('.'), name.size());  // "." is the package itself
    if (!package.has_value()) {
      return interp.Raise(interp.types().TypeError,
                          "the 'package' argument is required to perform a relative import for '", name, "'");
    }
    std::string base = *package;
    for (size_t i = 1; i < level; ++i) {
      const size_t dot = base.rfind('.');
      if (dot == std::string::npos) return interp.Raise(interp.types().ImportError, kBeyondTopLevel);
      base.resize(dot);
    }
    name = level == name.size() ? base : absl::StrCat(base, ".", name.substr(level));
  }
  return interp.state().importer->ImportValue(name);
}

Result<Value> FindModule(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(std::string name, OnlyArgument<std::string>(interp, "find_spec", "name", args));
  Importer::Where where = interp.state().importer->Find(name);
  return Value::Bool(where != Importer::Where::kAbsent && where != Importer::Where::kOpaque);
}

// sys.version_info: one release of each version.
int MicroVersion() { return SeenPythonVersion() == 11 ? 2 : SeenPythonVersion() == 12 ? 3 : 5; }

Value VersionInfo(Interpreter& interp) {
  ClassObject* cls = NewBuiltinClass(interp, "version_info", interp.types().tuple, ObjectKind::kTuple);
  UpdateClassFlags(interp, cls);
  Value parts[] = {Value::Int(3), Value::Int(SeenPythonVersion()), Value::Int(MicroVersion()), interp.NewStr("final"),
                   Value::Int(0)};
  TupleObject* t = interp.NewTuple(parts);
  t->cls = cls;
  const char* names[] = {"major", "minor", "micro", "releaselevel", "serial"};
  DictObject* attrs = interp.AttrsOf(t);
  for (size_t i = 0; i < 5; ++i) interp.DictSetStr(attrs, names[i], parts[i]);
  return t;
}

// The part of sys that is written in Python.
constexpr absl::string_view kSysText = R"py(
class _Stream:
    def __init__(self, echo):
        self._echo = echo
    def write(self, text):
        if self._echo:
            _write(text)
        return len(text)
    def flush(self):
        pass
    def isatty(self):
        return False
stdout = __stdout__ = _Stream(True)
stderr = __stderr__ = _Stream(False)
class _Implementation:
    name = 'cpython'
    cache_tag = 'cpython-3%d' % version_info[1]
    hexversion = hexversion
    version = version_info
    _multiarch = 'x86_64-linux-gnu'
implementation = _Implementation()
class _Flags(tuple):
    debug = inspect = interactive = optimize = dont_write_bytecode = no_user_site = no_site = 0
    ignore_environment = verbose = bytes_warning = quiet = isolated = utf8_mode = warn_default_encoding = 0
    hash_randomization = 1
    dev_mode = safe_path = False
    int_max_str_digits = 4300
flags = _Flags((0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, False, 0, 0, False))
api_version = 1013
class _FloatInfo:
    max = 1.7976931348623157e+308
    min = 2.2250738585072014e-308
    epsilon = 2.220446049250313e-16
    dig = 15
    mant_dig = 53
float_info = _FloatInfo()
class _HashInfo:
    width = 64
    modulus = (1 << 61) - 1
    inf = 314159
    nan = 0
    imag = 1000003
    algorithm = 'siphash13'
    hash_bits = 64
    seed_bits = 128
    cutoff = 0
hash_info = _HashInfo()
class _IntInfo:
    bits_per_digit = 30
    sizeof_digit = 4
    default_max_str_digits = 4300
    str_digits_check_threshold = 640
int_info = _IntInfo()
class _ThreadInfo:
    name = 'pthread'
    lock = 'semaphore'
    version = None
thread_info = _ThreadInfo()
base_prefix = exec_prefix = base_exec_prefix = prefix
orig_argv = argv
abiflags = ''
copyright = ''
float_repr_style = 'short'
dont_write_bytecode = True
pycache_prefix = None
platlibdir = 'lib'
meta_path, path_hooks, path_importer_cache = [], [], {}
stdin = __stdin__ = _Stream(False)
def getfilesystemencoding():
    return 'utf-8'
def getfilesystemencodeerrors():
    return 'surrogateescape'
def getrefcount(obj):
    return 2
def gettrace():
    return None
def getprofile():
    return None
def settrace(function):
    pass
def setprofile(function):
    pass
def exception():
    return exc_info()[1]
def excepthook(*exc):
    pass
def displayhook(value):
    pass
def getswitchinterval():
    return 0.005
def setswitchinterval(interval):
    pass
def is_finalizing():
    return False
def get_int_max_str_digits():
    return 4300
def set_int_max_str_digits(maxdigits):
    pass
def audit(event, *args):
    pass
def addaudithook(hook):
    pass
def _getframe(depth=0):
    import inspect
    frame = inspect.currentframe()
    for _ in range(depth):
        if frame is None:
            break
        frame = frame.f_back
    if frame is None:
        raise ValueError('call stack is not deep enough')
    return frame
)py";

void AddSysConstants(Interpreter& interp, NativeModuleBuilder& m) {
  auto str = [&](absl::string_view s) { return Value(interp.NewStr(s)); };
  m.Value("modules", interp.state().importer->modules());
  m.Value("version_info", VersionInfo(interp))
      .Value("version", str(absl::StrCat("3.", SeenPythonVersion(), ".", MicroVersion(), " (main)")))
      .Value("hexversion", Value::Int(0x030000f0 | SeenPythonVersion() << 16 | MicroVersion() << 8));
  m.Value("platform", str("linux")).Value("byteorder", str("little")).Value("maxsize", Value::Int(INT64_MAX));
  m.Value("maxunicode", Value::Int(0x10ffff)).Value("executable", str("python3")).Value("prefix", str("/usr"));
  m.Value("argv", interp.NewList({str("")})).Value("path", interp.NewList()).Value("warnoptions", interp.NewList());
  m.Value("builtin_module_names", interp.NewTupleOfSize(0));
}

void AddSysFunctions(NativeModuleBuilder& m) {
  m.Function("getrecursionlimit",
             [](Interpreter& i, const CallArgs&) -> Result<Value> { return Value::Int(i.limits().call_depth); });
  m.Function("setrecursionlimit", [](Interpreter&, const CallArgs&) -> Result<Value> { return Value::None(); });
  m.Function("intern", [](Interpreter& i, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(StrObject * s, OnlyArgument<StrObject*>(i, "intern", "string", args));
    return Value(i.InternStr(s));
  });
  m.Function("getsizeof", [](Interpreter&, const CallArgs&) -> Result<Value> { return Value::Int(56); });
  m.Function("getdefaultencoding",
             [](Interpreter& i, const CallArgs&) -> Result<Value> { return Value(i.NewStr("utf-8")); });
  m.Function("exc_info", [](Interpreter& i, const CallArgs&) -> Result<Value> {
    Value e = i.state().handled_exception;
    if (!e.IsException()) return Value(i.NewTuple({Value::None(), Value::None(), Value::None()}));
    return Value(i.NewTuple({Value(e.object()->cls), e, Value::None()}));
  });
  m.Function("exit", [](Interpreter& i, const CallArgs& args) -> Result<Value> {
    return i.RaiseValue(
        NewException(i, i.types().SystemExit, static_cast<int>(args.positional.size()), args.positional.data()));
  });
  m.Function("_write", [](Interpreter& i, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(absl::string_view text, OnlyArgument<absl::string_view>(i, "write", "text", args));
    COBRA_TRY(i.Print(text));
    return Value::None();
  });
}

Result<void> DefineSys(Interpreter& interp, NativeModuleBuilder& m) {
  AddSysConstants(interp, m);
  AddSysFunctions(m);
  m.Source(kSysText);
  return {};
}

void AddCobraFunctions(Interpreter& interp, NativeModuleBuilder& m) {
  m.Function("copy_instance", CopyInstance)
      .Function("attrs", AttrsOrNone)
      .Function("set_attrs", SetAttrs)
      .Function("empty_like", EmptyLike);
  std::array<StrObject*, 5> hooks = {interp.Intern("__copy__"), interp.Intern("__reduce_ex__"),
                                     interp.Intern("__reduce__"), interp.Intern("__getstate__"),
                                     interp.Intern("__setstate__")};
  m.Function("copy_plain",
             [hooks](Interpreter& interp, const CallArgs& args) { return CopyPlain(interp, args, hooks); });
  BuiltinObject* call =
      NewBuiltin(interp, "__call__",
                 [func = interp.Intern("func"), args = interp.Intern("args"), keywords = interp.Intern("keywords")](
                     Interpreter& interp, const CallArgs& a) -> Result<Value> {
                   StrObject* const names[] = {func, args, keywords};
                   return CallPartial(interp, a, names);
                 });
  call->cls = interp.types().method_descriptor;
  call->is_method = true;
  m.Value("call_partial", call);
  m.Function("explained", Explained).Function("unsupported", UnsupportedCall).Function("caller_module", CallerModule);
  m.Function("inert", InertName)
      .Function("note", Note)
      .Function("global_names", GlobalNames)
      .Function("under_try", UnderTry)
      .Function("frames", Frames)
      .Function("is_literal", IsLiteralText);
  m.Function("import_module", ImportModuleFunction).Function("find_module", FindModule);
}

void AddCobraTypes(Interpreter& interp, NativeModuleBuilder& m) {
  m.Value("builtin_function", interp.types().builtin_function)
      .Value("method_descriptor", interp.types().method_descriptor);
  m.Value("generic_alias", interp.types().generic_alias).Value("union_type", interp.types().union_type);
  m.Value("generator", interp.types().generator)
      .Value("module", interp.types().module)
      .Value("cell", interp.types().cell);
  m.Value("dict_keys", interp.types().dict_keys)
      .Value("dict_values", interp.types().dict_values)
      .Value("dict_items", interp.types().dict_items);
  m.Value("coroutine", interp.types().coroutine).Value("async_generator", interp.types().async_generator);
  m.Value("member_descriptor", interp.types().member_descriptor);
  m.Value("iterator", interp.types().iterator)
      .Value("code", interp.types().code)
      .Value("opaque", interp.types().opaque);
}

void AddCobraTypeTests(NativeModuleBuilder& m) {
  m.Function("is_opaque", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return Value::Bool(!args.positional.empty() && args.positional[0].IsOpaque());
  });
  m.Function("is_native_class", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return Value::Bool(!args.positional.empty() && args.positional[0].IsClass() &&
                       args.positional[0].as<ClassObject>()->is_native);
  });
}

Result<void> DefineCobra(Interpreter& interp, NativeModuleBuilder& m) {
  AddCobraFunctions(interp, m);
  AddCobraTypes(interp, m);
  AddLibraryFunctions(m);
  AddSourceFunction(m);
  AddCompressionFunctions(m);
  AddPolynomialFunctions(m);
  AddFileFunctions(interp, m);
  m.Value("torch_version", interp.NewStr(interp.options().torch_version));
  AddCobraTypeTests(m);
  return {};
}

Result<void> DefineBuiltins(Interpreter& interp, NativeModuleBuilder& m) {
  m.module()->attrs = interp.state().builtins;
  return {};
}

}  // namespace

void AddSystemModules(NativeRegistry* registry) {
  const std::pair<const char*, Result<void> (*)(Interpreter&, NativeModuleBuilder&)> modules[] = {
      {"sys", DefineSys}, {"builtins", DefineBuiltins}, {"_cobra", DefineCobra}};
  for (const auto& [name, define] : modules) {
    NativeModule module;
    module.name = name;
    module.define = define;
    registry->Add(std::move(module));
  }
}

}  // namespace cobra::python
