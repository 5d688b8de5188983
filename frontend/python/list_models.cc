#include "frontend/python/list_models.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/syntax/ast.h"
#include "frontend/python/torch/tensor/tensor.h"

namespace cobra::python {
namespace {

constexpr int kMostWrappers = 8;       // decorators around a function
constexpr int kMostHops = 8;           // chain of functions, each returning the next one's result
constexpr int kMostStatements = 2000;  // examined in one function
constexpr size_t kLongestAnnotation = 30;

bool IsModelClass(Interpreter& interp, Value v) {
  const ClassObject* base = Torch(interp).module_class;
  return v.IsClass() && v.as<ClassObject>() != base && Interpreter::IsSubclassOf(v.as<ClassObject>(), base);
}

// The function below its decorators, which functools.wraps() stores in __wrapped__; null if there
// is no source text.
const FunctionObject* Unwrapped(Interpreter& interp, Value v) {
  for (int i = 0; i < kMostWrappers && v.IsFunction() && v.object()->attrs != nullptr; ++i) {
    const Value* inner = v.object()->attrs->table.GetStr(interp.names().__wrapped__);
    if (inner == nullptr || !inner->IsFunction()) break;
    v = *inner;
  }
  return v.IsFunction() && v.as<FunctionObject>()->definition != nullptr ? v.as<FunctionObject>() : nullptr;
}

// Examines the source text of functions and of the functions that they call, each once.
class ModelMakers {
 public:
  explicit ModelMakers(Interpreter& interp) : interp_(interp) {}

  bool Makes(const FunctionObject* f, int hops = 0) {
    if (f == nullptr || hops > kMostHops || !seen_.insert(f).second) return false;
    const ast::FunctionDef& definition = *f->definition;
    if (definition.returns != nullptr && NamesModelClass(f, definition.returns)) return true;
    Returns returns;
    int left = kMostStatements;
    Collect(definition.body, &returns, &left, 0);
    for (const ast::ExprNode* value : returns.values) {
      if (CallsMaker(f, Assigned(returns, value), hops)) return true;
    }
    return false;
  }

 private:
  struct Returns {
    std::vector<const ast::ExprNode*> values;
    std::vector<std::pair<ast::Identifier, const ast::ExprNode*>> assigned;
  };

  // A global of the function's module that is already loaded; otherwise Unbound.
  Value Global(const FunctionObject* f, absl::string_view name) const {
    const Value* v = f->module->attrs->table.GetStr(interp_.Intern(name));
    return v == nullptr || v->IsLazy() ? Value::Unbound() : *v;
  }

  bool NamesModelClass(const FunctionObject* f, const ast::ExprNode* e) const {
    if (const auto* text = e->AsOrNull<ast::Constant>())
      return text->constant_kind == ast::ConstantKind::kStr && IsModelClass(interp_, Global(f, text->text));
    if (const auto* name = e->AsOrNull<ast::Name>()) {
      const Value v = Global(f, name->id->text);
      return IsModelClass(interp_, v) || (v.IsClass() && v.as<ClassObject>() == Torch(interp_).module_class);
    }
    const auto* attribute = e->AsOrNull<ast::Attribute>();  // nn.Module
    return attribute != nullptr && attribute->attr->text == "Module" && attribute->value->Is<ast::Name>() &&
           attribute->value->As<ast::Name>()->id->text == "nn";
  }

  bool CallsMaker(const FunctionObject* f, const ast::ExprNode* e, int hops) {
    const auto* call = e == nullptr ? nullptr : e->AsOrNull<ast::Call>();
    const auto* name = call == nullptr ? nullptr : call->func->AsOrNull<ast::Name>();
    if (name == nullptr) return false;
    const Value called = Global(f, name->id->text);
    return IsModelClass(interp_, called) || Makes(Unwrapped(interp_, called), hops + 1);
  }

  // If `value` is a name, the expression assigned to it: the call in `model = ResNet(...)`.
  // Otherwise `value` itself.
  static const ast::ExprNode* Assigned(const Returns& returns, const ast::ExprNode* value) {
    const auto* name = value->AsOrNull<ast::Name>();
    if (name == nullptr) return value;
    for (const auto& [target, assigned] : returns.assigned) {
      if (target == name->id) return assigned;
    }
    return nullptr;
  }

  template <typename Statements>
  void Collect(const Statements& statements, Returns* returns, int* left, int depth) {
    constexpr int kMostDepth = 20;
    for (const ast::StmtNode* s : statements) {
      if (--*left < 0 || depth > kMostDepth) return;
      if (const auto* back = s->AsOrNull<ast::Return>()) {
        if (back->value != nullptr) returns->values.push_back(back->value);
      } else if (const auto* assign = s->AsOrNull<ast::Assign>()) {
        if (assign->targets.size() == 1 && assign->targets[0]->Is<ast::Name>())
          returns->assigned.emplace_back(assign->targets[0]->As<ast::Name>()->id, assign->value);
      } else if (const auto* branch = s->AsOrNull<ast::If>()) {
        Collect(branch->body, returns, left, depth + 1);
        Collect(branch->orelse, returns, left, depth + 1);
      } else if (const auto* with = s->AsOrNull<ast::With>()) {
        Collect(with->body, returns, left, depth + 1);
      }
    }
  }

  Interpreter& interp_;
  absl::flat_hash_set<const FunctionObject*> seen_;
};

std::string ParameterText(const FunctionObject* f, const ast::Arg* arg) {
  if (arg->annotation == nullptr) return std::string(arg->arg->text);
  const absl::string_view annotation = f->unit->code->ast().Text(arg->annotation->pos);
  if (annotation.size() > kLongestAnnotation || absl::StrContains(annotation, '\n')) return std::string(arg->arg->text);
  return absl::StrCat(arg->arg->text, ": ", annotation);
}

// The parameters without a default, except the first `skip`.
std::vector<std::string> RequiredParameters(const FunctionObject* f, size_t skip) {
  const ast::Arguments& a = *f->definition->args;
  std::vector<const ast::Arg*> plain(a.posonlyargs.begin(), a.posonlyargs.end());
  plain.insert(plain.end(), a.args.begin(), a.args.end());
  plain.resize(plain.size() - std::min(plain.size(), a.defaults.size()));
  std::vector<std::string> required;
  for (size_t i = skip; i < plain.size(); ++i) required.push_back(ParameterText(f, plain[i]));
  for (size_t i = 0; i < a.kwonlyargs.size(); ++i) {
    if (a.kw_defaults[i] == nullptr) required.push_back(absl::StrCat(a.kwonlyargs[i]->arg->text, "=..."));
  }
  return required;
}

bool IsWordCharacter(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Names as people write them: nothing that a terminal or a shell would take for more.
bool IsPlainName(absl::string_view name) {
  return !name.empty() && absl::c_all_of(name, IsWordCharacter) &&
         absl::ascii_isalpha(static_cast<unsigned char>(name[0]));
}

// Adds those of `names` that are words of the text, except `own`.
void AddMentioned(absl::string_view text, absl::string_view own, const absl::flat_hash_set<absl::string_view>& names,
                  absl::flat_hash_set<absl::string_view>* mentioned) {
  for (size_t begin = 0; begin < text.size();) {
    if (!IsWordCharacter(text[begin])) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < text.size() && IsWordCharacter(text[end])) ++end;
    const absl::string_view word = text.substr(begin, end - begin);
    if (word != own && names.contains(word)) mentioned->insert(word);
    begin = end;
  }
}

// Of the names of a module those whose definitions no other one's mentions: not the blocks of a
// network, nor the class that a function of the file makes.
absl::flat_hash_set<absl::string_view> NotMentioned(const ModuleObject* module,
                                                    const absl::flat_hash_set<absl::string_view>& names) {
  absl::flat_hash_set<absl::string_view> mentioned, left;
  if (module->unit == nullptr) return names;
  const ast::Ast& tree = module->unit->code->ast();
  const auto note = [&](absl::string_view name, const ast::StmtNode* s) {
    if (names.contains(name)) AddMentioned(tree.Text(s->pos), name, names, &mentioned);
  };
  for (const ast::StmtNode* s : tree.module()->body) {
    if (const auto* c = s->AsOrNull<ast::ClassDef>()) note(c->name->text, s);
    if (const auto* f = s->AsOrNull<ast::FunctionDef>()) note(f->name->text, s);
    if (const auto* a = s->AsOrNull<ast::Assign>(); a != nullptr && a->targets[0]->Is<ast::Name>())
      note(a->targets[0]->As<ast::Name>()->id->text, s);
  }
  for (absl::string_view name : names) {
    if (!mentioned.contains(name)) left.insert(name);
  }
  return left;
}

}  // namespace

bool MakesModel(Interpreter& interp, Value function) { return ModelMakers(interp).Makes(Unwrapped(interp, function)); }

std::string CallText(Interpreter& interp, absl::string_view name, Value callable) {
  const bool is_class = callable.IsClass();
  const Value called = is_class ? interp.LookupClass(callable.as<ClassObject>(), interp.names().__init__) : callable;
  if (is_class && called.IsBuiltin()) return absl::StrCat(name, "()");  // nn.Module's own __init__
  const FunctionObject* f = Unwrapped(interp, called);
  if (f == nullptr) return absl::StrCat(name, "(...)");
  return absl::StrCat(name, "(", absl::StrJoin(RequiredParameters(f, is_class ? 1 : 0), ", "), ")");
}

namespace {

// The packages that the values of a module's names come from, where no such package was found.
std::vector<std::string> MissingModules(const ModuleObject* module) {
  std::vector<std::string> missing;
  for (size_t i = 0; i < module->attrs->table.entry_count(); ++i) {
    const Value v = module->attrs->table.entry(i).value;
    if (!v.IsOpaque()) continue;
    const absl::string_view name = v.as<OpaqueObject>()->dotted_name->view();
    std::string package(name.substr(0, name.find_first_of(".([")));
    if (!absl::c_linear_search(missing, package)) missing.push_back(std::move(package));
  }
  return missing;
}

}  // namespace

ModelChoice ModelNames(Interpreter& interp, ModuleObject* module) {
  std::vector<std::string> ready, others, imported;
  absl::flat_hash_set<absl::string_view> own_names;
  for (size_t i = 0; i < module->attrs->table.entry_count(); ++i) {
    const DictTable::Entry entry = module->attrs->table.entry(i);
    if (entry.key.IsUnbound() || !entry.key.IsStr() || !IsPlainName(entry.key.str())) continue;
    const Value v = entry.value;
    const FunctionObject* f = Unwrapped(interp, v);
    const bool is_made = v.IsInstance() && Interpreter::IsSubclassOf(interp.class_of(v), Torch(interp).module_class);
    const bool makes = f != nullptr && f->module == module && MakesModel(interp, v);
    if (!is_made && !makes && !IsModelClass(interp, v)) continue;
    bool own = f != nullptr || is_made;
    if (v.IsClass()) {
      const Value* home = v.as<ClassObject>()->attrs->table.GetStr(interp.names().__module__);
      own = home != nullptr && home->IsStr() && home->str() == module->name->view();
    }
    std::string call = is_made ? std::string(entry.key.str()) : CallText(interp, entry.key.str(), v);
    if (own) own_names.insert(entry.key.str());
    (!own ? imported : is_made || absl::EndsWith(call, "()") ? ready : others).push_back(std::move(call));
  }
  const absl::flat_hash_set<absl::string_view> whole = NotMentioned(module, own_names);
  const auto is_whole = [&](absl::string_view call) { return whole.contains(call.substr(0, call.find('('))); };
  ModelChoice choice;
  if (whole.size() == 1) {
    const auto only = absl::c_find_if(ready, is_whole);
    if (only != ready.end()) choice.only = *only;
  }
  choice.names = std::move(ready);
  choice.names.insert(choice.names.end(), others.begin(), others.end());
  absl::c_stable_partition(choice.names, is_whole);
  if (choice.names.empty()) choice.names = std::move(imported);
  if (choice.names.empty()) choice.missing_modules = MissingModules(module);
  const Value* initial = module->attrs->table.GetStr(interp.Intern("get_init_inputs"));
  if (initial != nullptr && initial->IsFunction() && !choice.names.empty() && absl::EndsWith(choice.names[0], ")"))
    choice.initial = absl::StrCat(choice.names[0].substr(0, choice.names[0].find('(')), "(*get_init_inputs())");
  return choice;
}

const ast::FunctionDef* DefinitionOf(Interpreter& interp, Value model, absl::string_view method) {
  const Value found = model.IsFunction() ? model : interp.LookupClass(interp.class_of(model), interp.Intern(method));
  return found.IsFunction() ? found.as<FunctionObject>()->definition : nullptr;
}

std::string SignatureOf(Interpreter& interp, Value model, absl::string_view method) {
  const ast::FunctionDef* definition = DefinitionOf(interp, model, method);
  if (definition == nullptr) return "";
  const ast::Arguments& a = *definition->args;
  std::vector<const ast::Arg*> plain(a.posonlyargs.begin(), a.posonlyargs.end());
  plain.insert(plain.end(), a.args.begin(), a.args.end());
  std::vector<std::string> parts;
  for (size_t i = 0; i < plain.size(); ++i) {
    parts.push_back(absl::StrCat(plain[i]->arg->text, i + a.defaults.size() >= plain.size() ? "=..." : ""));
  }
  if (a.vararg != nullptr) parts.push_back(absl::StrCat("*", a.vararg->arg->text));
  if (a.vararg == nullptr && !a.kwonlyargs.empty()) parts.push_back("*");
  for (size_t i = 0; i < a.kwonlyargs.size(); ++i) {
    parts.push_back(absl::StrCat(a.kwonlyargs[i]->arg->text, a.kw_defaults[i] != nullptr ? "=..." : ""));
  }
  if (a.kwarg != nullptr) parts.push_back(absl::StrCat("**", a.kwarg->arg->text));
  return absl::StrCat(definition->name->text, "(", absl::StrJoin(parts, ", "), ")");
}

}  // namespace cobra::python
