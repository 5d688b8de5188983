// Expressions that stand in no file: the entry, and the arguments of a request. They may name
// torch, math, and any module that can be imported: pkg.model.Net(pkg.vit.ViT()).
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/syntax/parse/parser.h"
#include "frontend/python/syntax/walk.h"

namespace cobra::python {
namespace {

// "pkg.vit.ViT": names with dots between them. Empty for any other expression.
std::string DottedName(const ast::ExprNode* e) {
  if (const auto* name = e->AsOrNull<ast::Name>()) return std::string(name->id->text);
  const auto* attribute = e->AsOrNull<ast::Attribute>();
  if (attribute == nullptr) return "";
  const std::string object = DottedName(attribute->value);
  return object.empty() ? "" : absl::StrCat(object, ".", attribute->attr->text);
}

// Imports the modules that an expression names. They become names of the module that it is
// evaluated in, whose own names hide them.
class NameImports {
 public:
  NameImports(Interpreter& interp, ModuleObject* module) : interp_(interp), module_(module) {}

  Result<void> ImportFor(const ast::ExprNode* e, absl::string_view text) {
    for (const char* usual : {"torch", "math"}) {
      if (absl::StrContains(text, usual)) COBRA_TRY(Import(usual));
    }
    return Visit(e);
  }

 private:
  Result<void> Visit(const ast::ExprNode* e) {
    if (const std::string dotted = DottedName(e); !dotted.empty()) {
      const bool is_bound = std::find(bound_.begin(), bound_.end(), dotted.substr(0, dotted.find('.'))) != bound_.end();
      return is_bound ? Result<void>() : Import(dotted);
    }
    if (const auto* lambda = e->AsOrNull<ast::Lambda>()) return VisitLambda(lambda);
    if (const ast::ComprehensionParts parts = ast::PartsOf(e); parts.elt != nullptr) return VisitComprehension(parts);
    const bool visited = ast::VisitChildren(e, [this](const ast::ExprNode* child) { return Visit(child).ok(); });
    if (!visited) return Failure();
    return {};
  }

  Result<void> VisitLambda(const ast::Lambda* lambda) {
    const ast::Arguments& a = *lambda->args;
    for (const ast::ExprNode* e : a.defaults) COBRA_TRY(Visit(e));
    for (const ast::ExprNode* e : a.kw_defaults) {
      if (e != nullptr) COBRA_TRY(Visit(e));
    }
    const size_t outer = bound_.size();
    for (const auto& args : {a.posonlyargs, a.args, a.kwonlyargs}) {
      for (const ast::Arg* arg : args) bound_.emplace_back(arg->arg->text);
    }
    for (const ast::Arg* arg : {a.vararg, a.kwarg}) {
      if (arg != nullptr) bound_.emplace_back(arg->arg->text);
    }
    COBRA_TRY(Visit(lambda->body));
    bound_.resize(outer);
    return {};
  }

  Result<void> VisitComprehension(const ast::ComprehensionParts& parts) {
    const size_t outer = bound_.size();
    for (const ast::Comprehension* c : parts.generators) {
      COBRA_TRY(Visit(c->iter));
      Bind(c->target);
      for (const ast::ExprNode* e : c->ifs) COBRA_TRY(Visit(e));
    }
    COBRA_TRY(Visit(parts.elt));
    if (parts.value != nullptr) COBRA_TRY(Visit(parts.value));
    bound_.resize(outer);
    return {};
  }

  void Bind(const ast::ExprNode* target) {
    if (const auto* name = target->AsOrNull<ast::Name>()) bound_.emplace_back(name->id->text);
    ast::VisitChildren(target, [this](const ast::ExprNode* child) {
      Bind(child);
      return true;
    });
  }

  // A module may make its names when they are asked for (PEP 562, or a class of its own).
  Result<void> AskModule(StrObject* name) {
    Result<Value> made = GetModuleAttr(interp_, module_, name);
    if (!made.ok() && !interp_.CatchException(interp_.types().AttributeError)) return Failure();
    if (made.ok() && !made->IsUnbound()) module_->attrs->table.SetStr(interp_.heap(), name, *made);
    return {};
  }

  // As far as `dotted` is a module.
  Result<void> Import(absl::string_view dotted) {
    StrObject* const top = interp_.Intern(dotted.substr(0, dotted.find('.')));
    if (module_->attrs->table.GetStr(top) == nullptr) COBRA_TRY(AskModule(top));
    const Value* const own = module_->attrs->table.GetStr(top);
    if (own != nullptr && !own->IsModule()) return {};
    for (size_t end = 0; end != absl::string_view::npos;) {
      end = dotted.find('.', end == 0 ? 0 : end + 1);
      const absl::string_view name = dotted.substr(0, end);
      const Importer::Where where = interp_.state().importer->Find(name);
      if (where == Importer::Where::kAbsent || where == Importer::Where::kOpaque) break;
      COBRA_TRY_ASSIGN(const Value imported, interp_.state().importer->ImportValue(name));
      if (own == nullptr && name.size() == top->view().size())
        module_->attrs->table.SetStr(interp_.heap(), top, imported);
    }
    return {};
  }

  Interpreter& interp_;
  ModuleObject* const module_;
  std::vector<std::string> bound_;  // by the lambdas and comprehensions around what is visited
};

}  // namespace

Result<Value> Interpreter::EvalExpression(absl::string_view text, ModuleObject* module) {
  auto ast = ast::ParseExpression(text, kEntryName);
  if (!ast.ok()) return FromStatus(ast.status());
  auto code = std::make_shared<const ResolvedAst>(*std::move(ast));
  COBRA_TRY_ASSIGN(CodeUnit * unit, MakeUnit(*this, code, kEntryName, false));
  const ast::ExprNode* const body = unit->code->ast().expression()->body;
  COBRA_TRY(NameImports(*this, module).ImportFor(body, text));
  Frame frame = ModuleFrame(*this, unit, module);
  frame.position = &body->pos;
  frame.back = state_->frame;
  state_->frame = &frame;
  Result<Value> v = Eval(*this, frame, body);
  if (!v.ok()) AddTraceback(*this, frame);
  state_->frame = frame.back;
  return v;
}

}  // namespace cobra::python
