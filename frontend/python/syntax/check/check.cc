#include "frontend/python/syntax/check/check.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "frontend/python/syntax/check/check_internal.h"

namespace cobra::python {
namespace ast {
namespace {

constexpr absl::string_view kFeatures[] = {"nested_scopes",  "generators",     "division",         "absolute_import",
                                           "with_statement", "print_function", "unicode_literals", "barry_as_FLUFL",
                                           "generator_stop", "annotations"};

bool CheckFeatures(const ImportFrom& import, ScopeFacts* facts, SyntaxProblem* problem) {
  for (const Alias* alias : import.names) {
    const absl::string_view name = alias->name->text;
    bool known = false;
    for (absl::string_view feature : kFeatures) known |= feature == name;
    if (name == "annotations") facts->future_annotations = true;
    if (known) continue;
    *problem = {SyntaxProblem::Kind::kSyntax,
                name == "braces" ? "not a chance" : absl::StrCat("future feature ", name, " is not defined"),
                import.pos.line, import.pos.col + 1};
    return false;
  }
  return true;
}

}  // namespace

// Only a doc string and other __future__ imports may precede a __future__ import. (CheckCompile
// finds those that come too late.)
bool CheckFuture(const Module& module, ScopeFacts* facts, SyntaxProblem* problem) {
  for (const StmtNode* statement : module.body) {
    const ImportFrom* import = statement->AsOrNull<ImportFrom>();
    if (import != nullptr && import->module != nullptr && import->module->text == "__future__") {
      if (!CheckFeatures(*import, facts, problem)) return false;
      facts->last_future_line = statement->pos.line;
      continue;
    }
    const Expr* expr = statement->AsOrNull<Expr>();
    const Constant* constant = expr == nullptr ? nullptr : expr->value->AsOrNull<Constant>();
    if (constant == nullptr || constant->constant_kind != ConstantKind::kStr) return true;
  }
  return true;
}

bool CheckTree(const Ast& ast, int version, SyntaxProblem* problem) {
  ScopeFacts facts;
  facts.version = version;
  if (ast.module() != nullptr && !CheckFuture(*ast.module(), &facts, problem)) return false;
  return CheckScopes(ast, &facts, problem) && CheckCompile(ast, facts, problem);
}

}  // namespace ast
}  // namespace cobra::python
