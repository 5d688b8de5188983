#include "frontend/python/runtime/modules/parse_ahead.h"

#include <system_error>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/scope.h"
#include "frontend/python/syntax/walk.h"

namespace cobra::python {

using ast::ExprNode;
using ast::StmtKind;
using ast::StmtNode;

namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 19;  // so that stopping takes no more than some milliseconds
constexpr size_t kMaxBytes = size_t{16} << 20;     // of all files together
constexpr int kMaxDepth = 200;                     // of modules that import each other

absl::string_view Parent(absl::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == absl::string_view::npos ? absl::string_view() : name.substr(0, dot);
}

bool IsTypeChecking(const ExprNode* test) {
  if (const auto* name = test->AsOrNull<ast::Name>()) return name->id->text == "TYPE_CHECKING";
  const auto* attribute = test->AsOrNull<ast::Attribute>();
  return attribute != nullptr && attribute->attr->text == "TYPE_CHECKING";
}

}  // namespace

// One traversal of the modules. A module's code is kept until the traversal ends, because the
// traversal refers to it.
class ImportWalk {
 public:
  explicit ImportWalk(ParseAhead* ahead) : ahead_(*ahead) {}

  void Visit(const std::string& name) {
    if (name.empty() || ahead_.stop_ || depth_ >= kMaxDepth || visited_.contains(name)) return;
    Visit(std::string(Parent(name)));  // which may well import this one
    if (!visited_.try_emplace(name).second) return;
    std::string text, display;
    auto module = std::make_unique<Module>();
    module->name = name;
    if (!Read(module.get(), &text, &display) || text.size() > kMaxFileBytes || bytes_ + text.size() > kMaxBytes) return;
    bytes_ += text.size();
    auto code = ParseShared(text, display);
    if (!code.ok()) return;  // the interpreter will report it
    ahead_.parsed_.push_back(display);
    module->code = *std::move(code);
    Module* m = module.get();
    visited_[name] = std::move(module);
    ++depth_;
    Block(m, m->code->ast().module()->body);
    --depth_;
  }

 private:
  struct Target {
    std::string module, attribute;  // no attribute: the module itself
  };
  struct Module {
    std::string name;
    bool is_package = false;
    bool is_library = false;
    int try_depth = 0;
    std::shared_ptr<const ResolvedAst> code;
    absl::flat_hash_map<absl::string_view, Target> put_off;      // names that are imported at their first use
    absl::flat_hash_map<absl::string_view, std::string> native;  // names that are bound to native modules
  };

  // Finds a module in the same way as Importer::Locate, but ignores the program's own files.
  bool Read(Module* m, std::string* text, std::string* display) {
    if (const NativeModule* native = ahead_.natives_->Find(m->name)) {
      m->is_package = true;
      *text = std::string(native->source);
      *display = absl::StrCat("<", m->name, ">");
      return !text->empty();
    }
    if (ahead_.natives_->Covers(m->name) || IsNeverRead(m->name)) return false;
    const std::string base = absl::StrReplaceAll(m->name, {{".", "/"}});
    for (const auto& root : ahead_.library_roots_) {
      for (const char* ending : {"/__init__.py", ".py"}) {
        const std::string path = base + ending;
        if (!root->IsFile(path)) continue;
        absl::StatusOr<std::string> read = root->Read(path);
        if (!read.ok()) return false;
        m->is_package = ending[0] == '/';
        m->is_library = true;
        *text = *std::move(read);
        *display = root->DisplayName(path);
        return true;
      }
    }
    return false;
  }

  void Need(const Target& target) {
    Visit(target.module);
    if (target.attribute.empty()) return;
    auto it = visited_.find(target.module);
    if (it == visited_.end() || it->second == nullptr) {
      if (ahead_.natives_->Find(target.module) != nullptr) Visit(absl::StrCat(target.module, ".", target.attribute));
      return;
    }
    Module* m = it->second.get();
    Use(m, target.attribute);
    if (m->is_package) Visit(absl::StrCat(target.module, ".", target.attribute));
  }

  void Use(Module* m, absl::string_view name) {
    auto it = m->put_off.find(name);
    if (it == m->put_off.end()) return;
    const Target target = it->second;
    m->put_off.erase(it);
    Need(target);
  }

  // The name of the native module that `e` denotes, as torch.nn in torch.nn.Module; empty if there
  // is none. The module is visited, because its first use loads it.
  std::string NativeModuleOf(Module* m, const ExprNode* e) {
    if (const auto* name = e->AsOrNull<ast::Name>()) {
      auto it = m->native.find(name->id->text);
      return it == m->native.end() ? "" : it->second;
    }
    const auto* attribute = e->AsOrNull<ast::Attribute>();
    if (attribute == nullptr) return "";
    std::string module = NativeModuleOf(m, attribute->value);
    if (module.empty()) return "";
    absl::StrAppend(&module, ".", attribute->attr->text);
    if (ahead_.natives_->Find(module) == nullptr) return "";
    Visit(module);
    return module;
  }

  void Bind(Module* m, absl::string_view name, const std::string& module) {
    if (ahead_.natives_->Find(module) != nullptr) m->native[name] = module;
  }

  bool Expression(Module* m, const ExprNode* e) {
    if (e == nullptr || ahead_.stop_) return true;
    if (e->Is<ast::Attribute>()) NativeModuleOf(m, e);
    if (const auto* name = e->AsOrNull<ast::Name>()) {
      if (!m->put_off.empty()) Use(m, name->id->text);
      return true;
    }
    const ast::ComprehensionParts parts = ast::PartsOf(e);
    if (parts.elt != nullptr) {
      for (const ast::Comprehension* c : parts.generators) Expression(m, c->iter);
      Expression(m, parts.elt);
      return Expression(m, parts.value);
    }
    return ast::VisitChildren(e, [&](const ExprNode* child) { return Expression(m, child); });
  }
  void Expressions(Module* m, ast::Seq<ExprNode> all) {
    for (const ExprNode* e : all) Expression(m, e);
  }

  void Block(Module* m, ast::Seq<StmtNode> body) {
    for (const StmtNode* s : body) {
      if (ahead_.stop_) return;
      Statement(m, s);
    }
  }

  void Function(Module* m, ast::Seq<ExprNode> decorators, const ast::Arguments* args) {
    Expressions(m, decorators);
    Expressions(m, args->defaults);
    Expressions(m, args->kw_defaults);
  }

  void Statement(Module* m, const StmtNode* s) {
    switch (s->node_kind) {
      case StmtKind::Import: return Import(m, s->As<ast::Import>());
      case StmtKind::ImportFrom: return ImportFrom(m, s->As<ast::ImportFrom>());
      case StmtKind::FunctionDef:
        return Function(m, s->As<ast::FunctionDef>()->decorator_list, s->As<ast::FunctionDef>()->args);
      case StmtKind::AsyncFunctionDef:
        return Function(m, s->As<ast::AsyncFunctionDef>()->decorator_list, s->As<ast::AsyncFunctionDef>()->args);
      case StmtKind::ClassDef: {
        const auto* c = s->As<ast::ClassDef>();
        Expressions(m, c->decorator_list);
        Expressions(m, c->bases);
        for (const ast::Keyword* k : c->keywords) Expression(m, k->value);
        return Block(m, c->body);
      }
      case StmtKind::Expr: Expression(m, s->As<ast::Expr>()->value); return;
      case StmtKind::Assign:
        Expression(m, s->As<ast::Assign>()->value);
        return Expressions(m, s->As<ast::Assign>()->targets);
      case StmtKind::AugAssign: Expression(m, s->As<ast::AugAssign>()->value); return;
      case StmtKind::AnnAssign:
        Expression(m, s->As<ast::AnnAssign>()->value);
        if (!m->code->future_annotations()) Expression(m, s->As<ast::AnnAssign>()->annotation);
        return;
      case StmtKind::If: {
        const auto* i = s->As<ast::If>();
        Expression(m, i->test);
        if (!IsTypeChecking(i->test)) Block(m, i->body);
        return Block(m, i->orelse);
      }
      case StmtKind::For: Expression(m, s->As<ast::For>()->iter); return Block(m, s->As<ast::For>()->body);
      case StmtKind::With:
        for (const ast::WithItem* item : s->As<ast::With>()->items) Expression(m, item->context_expr);
        return Block(m, s->As<ast::With>()->body);
      case StmtKind::Try: {
        const auto* t = s->As<ast::Try>();
        ++m->try_depth;
        Block(m, t->body);
        --m->try_depth;
        Block(m, t->orelse);
        return Block(m, t->finalbody);
      }
      default: return;
    }
  }

  bool CanDefer(const Module* m) const { return m->is_library && m->try_depth == 0; }

  void Import(Module* m, const ast::Import* s) {
    for (const ast::Alias* a : s->names) {
      const absl::string_view name = a->name->text;
      // `import a.b` binds a.
      const absl::string_view bound = a->asname != nullptr ? a->asname->text : name.substr(0, name.find('.'));
      Bind(m, bound, std::string(a->asname != nullptr ? name : bound));
      if (CanDefer(m)) {
        m->put_off[bound] = {std::string(name), ""};
      } else {
        Visit(std::string(name));
      }
    }
  }

  void ImportFrom(Module* m, const ast::ImportFrom* s) {
    std::string module = s->module == nullptr ? "" : std::string(s->module->text);
    if (s->level > 0) {
      absl::string_view package = m->is_package ? absl::string_view(m->name) : Parent(m->name);
      for (int i = 1; i < s->level; ++i) package = Parent(package);
      module = module.empty() ? std::string(package) : absl::StrCat(package, ".", module);
    }
    for (const ast::Alias* a : s->names) {
      const absl::string_view bound = (a->asname != nullptr ? a->asname : a->name)->text;
      Bind(m, bound, absl::StrCat(module, ".", a->name->text));
      if (a->name->text == "*") {
        Visit(module);
      } else if (CanDefer(m)) {
        m->put_off[bound] = {module, std::string(a->name->text)};
      } else {
        Need({module, std::string(a->name->text)});
      }
    }
  }

  ParseAhead& ahead_;
  absl::flat_hash_map<std::string, std::unique_ptr<Module>> visited_;  // null: nothing to read
  size_t bytes_ = 0;
  int depth_ = 0;
};

ParseAhead::ParseAhead(const NativeRegistry* natives, std::vector<std::shared_ptr<const FileSource>> library_roots,
                       std::vector<std::string> modules)
    : natives_(natives), library_roots_(std::move(library_roots)) {
  try {
    thread_ = std::thread([this, modules = std::move(modules)] {
      ImportWalk walk(this);
      for (const std::string& name : modules) walk.Visit(name);
    });
  } catch (const std::system_error&) {
    // No thread could be started: every file is parsed when it is needed.
  }
}

ParseAhead::~ParseAhead() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

const std::vector<std::string>& ParseAhead::Finish() {
  if (thread_.joinable()) thread_.join();
  return parsed_;
}

}  // namespace cobra::python
