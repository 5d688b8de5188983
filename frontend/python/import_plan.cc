#include "frontend/python/import_plan.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "frontend/python/runtime/interpreter/scope.h"
#include "frontend/python/syntax/ast.h"

namespace cobra::python {
namespace {

using Needed = Importer::Needed;

bool InBundle(const SourceRequest& request, absl::string_view dotted) {
  const absl::string_view top = dotted.substr(0, dotted.find('.'));
  for (const auto& [path, text] : request.bundle) {
    absl::string_view rest = path;
    while (!rest.empty()) {
      const size_t slash = rest.find('/');
      const absl::string_view part = rest.substr(0, slash);
      if (part.substr(0, part.find('.')) == top) return true;
      rest = slash == absl::string_view::npos ? "" : rest.substr(slash + 1);
    }
  }
  return false;
}

bool IsInert(const ast::StmtNode* s) {
  if (const auto* e = s->AsOrNull<ast::Expr>()) return e->value->Is<ast::Constant>();
  const auto* a = s->AsOrNull<ast::Assign>();
  return a != nullptr && a->value->Is<ast::Constant>() && a->targets.size() == 1 && a->targets[0]->Is<ast::Name>();
}

// Returns false if the plan ends at this statement.
bool AddImport(const SourceRequest& request, const ast::StmtNode* s, std::vector<Needed>* plan) {
  if (const auto* import = s->AsOrNull<ast::Import>()) {
    for (const ast::Alias* a : import->names) {
      if (InBundle(request, a->name->text)) return false;
      plan->push_back({std::string(a->name->text), "", true});
    }
    return true;
  }
  const auto* from = s->AsOrNull<ast::ImportFrom>();
  if (from == nullptr || from->level > 0 || from->module == nullptr || InBundle(request, from->module->text))
    return false;
  if (from->module->text == "__future__") return true;
  for (const ast::Alias* a : from->names) {
    if (a->name->text == "*") return false;
    plan->push_back({std::string(from->module->text), std::string(a->name->text), false});
  }
  return true;
}

}  // namespace

std::vector<Needed> PlanImports(const SourceRequest& request) {
  std::vector<Needed> plan;
  const auto main = request.bundle.find(request.file);
  if (main == request.bundle.end()) {
    std::vector<std::string> roots = request.library_roots;
    if (!request.package.empty()) roots.insert(roots.begin(), request.package.substr(0, request.package.rfind('/')));
    for (const std::string& root : roots) {
      absl::string_view path = request.file;
      absl::ConsumePrefix(&path, absl::StrCat(absl::StripSuffix(root, "/"), "/"));
      if (path == request.file && absl::StartsWith(path, "/")) continue;
      const absl::string_view module = absl::StripSuffix(absl::StripSuffix(path, ".py"), "/__init__");
      plan.push_back({absl::StrReplaceAll(module, {{"/", "."}}), "", true});
      break;
    }
    return plan;
  }
  if (static_cast<int64_t>(main->second.size()) > Limits().source_bytes) return plan;  // the request will report it
  const auto code = ParseShared(main->second, request.file);
  if (!code.ok()) return plan;
  for (const ast::StmtNode* s : (*code)->ast().module()->body) {
    if (!IsInert(s) && !AddImport(request, s, &plan)) break;
  }
  return plan;
}

}  // namespace cobra::python
