// Errors that CPython's compile.c reports in the patterns of a match statement.
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/syntax/check/check_internal.h"

namespace cobra::python {
namespace ast {
namespace {

// The names that a pattern binds, and whether it may match everything.
struct PatternContext {
  std::vector<Identifier> stores;
  bool allow_irrefutable = false;
};

// Keys that are equal in Python have equal texts: 1, 1.0 and True do.
std::string KeyText(const ExprNode* key) {
  std::string sign;
  if (key->Is<UnaryOp>()) {
    sign = "-";
    key = key->As<UnaryOp>()->operand;
  }
  if (key->Is<BinOp>()) {
    return absl::StrCat(KeyText(key->As<BinOp>()->left), Spelling(key->As<BinOp>()->op),
                        KeyText(key->As<BinOp>()->right));
  }
  const Constant* c = key->AsOrNull<Constant>();
  if (c == nullptr) return "";
  switch (c->constant_kind) {
    case ConstantKind::kNone: return "None";
    case ConstantKind::kEllipsis: return "...";
    case ConstantKind::kTrue: return "1";
    case ConstantKind::kFalse: return "0";
    case ConstantKind::kInt: return absl::StrCat(c->int_value == 0 ? "" : sign, c->int_value);
    case ConstantKind::kBigInt: return absl::StrCat(sign, c->text);
    case ConstantKind::kFloat:
    case ConstantKind::kComplex: {
      if (c->float_value == 0) return "0";
      const char* unit = c->constant_kind == ConstantKind::kComplex ? "j" : "";
      const int64_t whole = c->float_value < 9e18 ? static_cast<int64_t>(c->float_value) : 0;
      if (static_cast<double>(whole) == c->float_value) return absl::StrCat(sign, whole, unit);
      return absl::StrCat(sign, c->float_value, unit);
    }
    case ConstantKind::kStr: return absl::StrCat("s", c->text);
    case ConstantKind::kBytes: return absl::StrCat("b", c->text);
  }
  return "";
}

class PatternChecker : private CheckBase {
 public:
  PatternChecker(const Ast& ast, absl::FunctionRef<bool(const ExprNode*)> visit, SyntaxProblem* problem)
      : CheckBase(ast, problem), visit_(visit) {}

  bool Pattern(const PatternNode* p, PatternContext* context);

 private:
  bool SubPatterns(Seq<PatternNode> patterns, PatternContext* context);
  bool Alternatives(const MatchOr* p, PatternContext* context);
  bool Mapping(const MatchMapping* p, PatternContext* context);
  bool ClassPattern(const MatchClass* p, PatternContext* context);
  bool Store(Identifier name, const PatternNode* p, PatternContext* context);

  absl::FunctionRef<bool(const ExprNode*)> visit_;
};

bool PatternChecker::Store(Identifier name, const PatternNode* p, PatternContext* context) {
  if (name == nullptr) return true;
  if (!MayBind(name, p->pos)) return false;
  for (Identifier stored : context->stores) {
    if (stored == name) return Fail(p->pos, absl::StrCat("multiple assignments to name '", name->text, "' in pattern"));
  }
  context->stores.push_back(name);
  return true;
}

bool PatternChecker::SubPatterns(Seq<PatternNode> patterns, PatternContext* context) {
  const bool outer = context->allow_irrefutable;
  for (const PatternNode* p : patterns) {
    context->allow_irrefutable = true;
    if (!Pattern(p, context)) return false;
  }
  context->allow_irrefutable = outer;
  return true;
}

bool PatternChecker::Pattern(const PatternNode* p, PatternContext* context) {
  switch (p->node_kind) {
    case PatternKind::MatchValue: {
      const ExprNode* value = p->As<MatchValue>()->value;
      if (value->Is<JoinedStr>()) return Fail(p->pos, "patterns may only match literals and attribute lookups");
      return visit_(value);
    }
    case PatternKind::MatchSingleton: return true;
    case PatternKind::MatchSequence: {
      const Seq<PatternNode> patterns = p->As<MatchSequence>()->patterns;
      bool starred = false;
      for (const PatternNode* item : patterns) {
        if (!item->Is<MatchStar>()) continue;
        if (starred) return Fail(p->pos, "multiple starred names in sequence pattern");
        starred = true;
      }
      return SubPatterns(patterns, context);
    }
    case PatternKind::MatchMapping: return Mapping(p->As<MatchMapping>(), context);
    case PatternKind::MatchClass: return ClassPattern(p->As<MatchClass>(), context);
    case PatternKind::MatchStar: return Store(p->As<MatchStar>()->name, p, context);
    case PatternKind::MatchAs: {
      const MatchAs* as = p->As<MatchAs>();
      if (as->pattern != nullptr) return Pattern(as->pattern, context) && Store(as->name, p, context);
      if (context->allow_irrefutable) return Store(as->name, p, context);
      return Fail(p->pos, as->name == nullptr ? std::string("wildcard makes remaining patterns unreachable")
                                              : absl::StrCat("name capture '", as->name->text,
                                                             "' makes remaining patterns unreachable"));
    }
    case PatternKind::MatchOr: return Alternatives(p->As<MatchOr>(), context);
  }
  return true;
}

bool PatternChecker::Alternatives(const MatchOr* p, PatternContext* context) {
  absl::flat_hash_set<Identifier> control;
  std::vector<Identifier> ordered;
  for (size_t i = 0; i < p->patterns.size(); ++i) {
    PatternContext inner;
    inner.allow_irrefutable = i + 1 == p->patterns.size() && context->allow_irrefutable;
    if (!Pattern(p->patterns[i], &inner)) return false;
    bool same = i == 0 || inner.stores.size() == control.size();
    if (i == 0) {
      control.insert(inner.stores.begin(), inner.stores.end());
      ordered = std::move(inner.stores);
    } else {
      for (Identifier name : inner.stores) same &= control.contains(name);
    }
    if (!same) return Fail(p->patterns[i]->pos, "alternative patterns bind different names");
  }
  for (Identifier name : ordered) {
    if (!Store(name, p, context)) return false;
  }
  return true;
}

bool PatternChecker::Mapping(const MatchMapping* p, PatternContext* context) {
  absl::flat_hash_set<std::string> seen;
  for (const ExprNode* key : p->keys) {
    if (key->Is<JoinedStr>()) return Fail(p->pos, "mapping pattern keys may only match literals and attribute lookups");
    std::string text = KeyText(key);
    if (!text.empty() && !seen.insert(std::move(text)).second) {
      return Fail(p->pos, absl::StrCat("mapping pattern checks duplicate key (", ast_.Text(key->pos), ")"));
    }
    if (!visit_(key)) return false;
  }
  return SubPatterns(p->patterns, context) && Store(p->rest, p, context);
}

bool PatternChecker::ClassPattern(const MatchClass* p, PatternContext* context) {
  absl::flat_hash_set<Identifier> seen;
  for (size_t i = 0; i < p->kwd_attrs.size(); ++i) {
    if (!MayBind(p->kwd_attrs[i], p->kwd_patterns[i]->pos)) return false;
    if (seen.insert(p->kwd_attrs[i]).second) continue;
    return Fail(p->kwd_patterns[i]->pos,
                absl::StrCat("attribute name repeated in class pattern: ", p->kwd_attrs[i]->text));
  }
  return visit_(p->cls) && SubPatterns(p->patterns, context) && SubPatterns(p->kwd_patterns, context);
}

}  // namespace

bool CheckPattern(const Ast& ast, const PatternNode* pattern, bool allow_irrefutable,
                  absl::FunctionRef<bool(const ExprNode*)> visit, SyntaxProblem* problem) {
  PatternContext context;
  context.allow_irrefutable = allow_irrefutable;
  return PatternChecker(ast, visit, problem).Pattern(pattern, &context);
}

}  // namespace ast
}  // namespace cobra::python
