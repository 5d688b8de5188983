#include "client/entry_hint.h"

#include <algorithm>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/limits.h"
#include "frontend/python/syntax/ast.h"
#include "frontend/python/syntax/parser.h"

namespace cobra {
namespace {

constexpr size_t kMostNames = 12;  // torchvision's resnet.py has eleven functions

class ModelFinder {
 public:
  explicit ModelFinder(const ast::Ast& tree) : tree_(tree) {}

  std::vector<std::string> Find() {
    std::vector<std::string> functions, classes;
    for (const ast::StmtNode* statement : tree_.module()->body) {
      if (const auto* c = statement->AsOrNull<ast::ClassDef>()) {
        if (!IsModelClass(*c)) continue;
        makers_.insert(c->name->text);
        AddCall(c->name->text, ParametersOf(*c), &classes);
      } else if (const auto* f = statement->AsOrNull<ast::FunctionDef>()) {
        if (!IsModelFunction(*f)) continue;
        makers_.insert(f->name->text);
        AddCall(f->name->text, RequiredParameters(*f->args, /*skip=*/0), &functions);
      }
    }
    functions.insert(functions.end(), classes.begin(), classes.end());
    std::stable_partition(functions.begin(), functions.end(), [](const std::string& call) { return absl::EndsWith(call, "()"); });
    return functions;
  }

 private:
  static void AddCall(absl::string_view name, const std::string& parameters, std::vector<std::string>* calls) {
    if (!absl::StartsWith(name, "_")) calls->push_back(absl::StrCat(name, "(", parameters, ")"));
  }

  // "torch.nn.Module", "Net": the text of a dotted name.
  absl::string_view Text(const ast::ExprNode* e) const { return tree_.Text(e->pos); }
  bool IsModelName(absl::string_view text) const {
    return absl::StartsWith(text, "nn.") || absl::StartsWith(text, "torch.nn.") || absl::EndsWith(text, "Module") ||
           makers_.contains(text);
  }
  bool IsModelClass(const ast::ClassDef& c) const {
    return std::any_of(c.bases.begin(), c.bases.end(), [&](const ast::ExprNode* base) { return IsModelName(Text(base)); });
  }
  bool IsModelCall(const ast::ExprNode* e) const {
    const auto* call = e == nullptr ? nullptr : e->AsOrNull<ast::Call>();
    return call != nullptr && IsModelName(Text(call->func));
  }

  bool IsModelFunction(const ast::FunctionDef& f) const {
    if (f.returns != nullptr && IsModelName(Text(f.returns))) return true;
    absl::flat_hash_set<absl::string_view> models;  // local names that hold one
    for (const ast::StmtNode* statement : f.body) {
      if (const auto* assign = statement->AsOrNull<ast::Assign>()) {
        if (!IsModelCall(assign->value)) continue;
        for (const ast::ExprNode* target : assign->targets) models.insert(Text(target));
      } else if (const auto* returned = statement->AsOrNull<ast::Return>()) {
        return IsModelCall(returned->value) || (returned->value != nullptr && models.contains(Text(returned->value)));
      }
    }
    return false;
  }

  // Those without a default, the first `skip` left out.
  static std::string RequiredParameters(const ast::Arguments& a, size_t skip) {
    std::vector<const ast::Arg*> plain(a.posonlyargs.begin(), a.posonlyargs.end());
    plain.insert(plain.end(), a.args.begin(), a.args.end());
    std::vector<std::string> names;
    for (size_t i = skip; i + a.defaults.size() < plain.size(); ++i) names.emplace_back(plain[i]->arg->text);
    for (size_t i = 0; i < a.kwonlyargs.size(); ++i) {
      if (a.kw_defaults[i] == nullptr) names.push_back(absl::StrCat(a.kwonlyargs[i]->arg->text, "=..."));
    }
    return absl::StrJoin(names, ", ");
  }
  static std::string ParametersOf(const ast::ClassDef& c) {
    for (const ast::StmtNode* statement : c.body) {
      const auto* f = statement->AsOrNull<ast::FunctionDef>();
      if (f != nullptr && f->name->text == "__init__") return RequiredParameters(*f->args, /*skip=*/1);
    }
    return "...";  // its base says
  }

  const ast::Ast& tree_;
  absl::flat_hash_set<absl::string_view> makers_;
};

}  // namespace

std::vector<std::string> ModelsOf(absl::string_view source) {
  const absl::StatusOr<std::shared_ptr<const ast::Ast>> tree = ast::ParseModule(source, "");
  if (!tree.ok()) return {};
  return ModelFinder(**tree).Find();
}

std::string MissingEntryHint(const std::string& path) {
  std::vector<std::string> models;
  if (!IsDirectory(path)) {
    if (const absl::StatusOr<std::string> text = ReadFile(path, Limits().file_bytes); text.ok()) models = ModelsOf(*text);
  }
  if (models.empty()) return "an expression whose value is the model: --entry 'resnet50()'";
  const bool more = models.size() > kMostNames;
  models.resize(std::min(models.size(), kMostNames));
  return absl::StrCat("an expression whose value is the model; ", path, " has ", absl::StrJoin(models, ", "),
                      more ? " ..." : "", ": --entry '", models[0], "'");
}

}  // namespace cobra
