// After the visit: whether what a scope declares `nonlocal` is bound outside of it.
#include "frontend/python/syntax/check/scope_checker.h"

namespace cobra::python {
namespace ast {

bool ScopeChecker::FailAtDirective(const Scope& scope, Identifier name, std::string message) {
  for (const Scope::Directive& directive : scope.directives) {
    if (directive.name == name) return Fail(directive.pos, std::move(message));
  }
  return Fail({}, std::move(message));
}

bool ScopeChecker::BoundOutside(const Scope& scope, Identifier name) const {
  for (int s = scope.parent; s >= 0; s = scopes_[s].parent) {
    const Scope& outer = scopes_[s];
    if (outer.kind == Scope::Kind::kClass && name->text == "__class__") return true;
    if (outer.kind != Scope::Kind::kFunction && outer.kind != Scope::Kind::kTypes) continue;
    uint16_t flags = 0;
    for (const Scope::Entry& entry : outer.entries) {
      if (entry.name == name) flags = entry.flags;
    }
    if (flags & kGlobal) return false;
    if (!(flags & kNonlocal) && (flags & (kLocal | kParam | kImport))) return true;
  }
  return false;
}

bool ScopeChecker::IsTypeParam(const Scope& scope, Identifier name) const {
  for (int s = scope.parent; s >= 0; s = scopes_[s].parent) {
    if (scopes_[s].kind == Scope::Kind::kClass) continue;
    for (const Scope::Entry& entry : scopes_[s].entries) {
      if (entry.name == name && (entry.flags & (kLocal | kParam | kImport))) return (entry.flags & kTypeParam) != 0;
    }
  }
  return false;
}

// Scopes are in the order in which they begin, which is the order of CPython's analysis.
bool ScopeChecker::Analyse() {
  for (const Scope& scope : scopes_) {
    if (!scope.analysed || scope.directives.empty()) continue;
    for (const Scope::Entry& entry : scope.entries) {
      if (!(entry.flags & kNonlocal)) continue;
      const std::string quoted = absl::StrCat("'", entry.name->text, "'");
      if (entry.flags & kGlobal) {
        return FailAtDirective(scope, entry.name, absl::StrCat("name ", quoted, " is nonlocal and global"));
      }
      if (scope.kind == Scope::Kind::kModule) {
        return FailAtDirective(scope, entry.name, "nonlocal declaration not allowed at module level");
      }
      if (IsTypeParam(scope, entry.name)) {
        return FailAtDirective(scope, entry.name,
                               absl::StrCat("nonlocal binding not allowed for type parameter ", quoted));
      }
      if (!BoundOutside(scope, entry.name)) {
        return FailAtDirective(scope, entry.name, absl::StrCat("no binding for nonlocal ", quoted, " found"));
      }
    }
  }
  return true;
}

}  // namespace ast
}  // namespace cobra::python
