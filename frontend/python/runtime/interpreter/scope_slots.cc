#include "frontend/python/runtime/interpreter/scope_passes.h"

namespace cobra::python {
namespace {

using ast::Identifier;
using Scope = NotedScope;

bool HasSlots(const Scope* s) { return s->info->kind != ScopeKind::kModule && s->info->kind != ScopeKind::kClass; }
bool BindsAsLocal(const Scope* s, Identifier name) {
  if (!HasSlots(s)) return false;
  auto it = s->flags.find(name);
  return it != s->flags.end() && (it->second & Scope::kBound) &&
         !(it->second & (Scope::kDeclaredGlobal | Scope::kDeclaredNonlocal));
}

}  // namespace

// The scope that binds `name` for `from`, which does not bind it itself; null if the name is
// global.
NotedScope* SlotAssigner::FindHome(Scope* from, Identifier name) {
  for (Scope* s = from->parent; s != nullptr; s = s->parent) {
    if (s->info->kind == ScopeKind::kClass) {
      if (name == class_symbol_) {
        s->needs_class_cell = true;
        return s;
      }
      continue;
    }
    if (BindsAsLocal(s, name)) return s;
    auto it = s->flags.find(name);
    if (it != s->flags.end() && (it->second & Scope::kDeclaredGlobal)) return nullptr;
  }
  return nullptr;
}

// Whether the scope is a class body or the expression of eval(), which may have local names.
bool SlotAssigner::HasNamespace(const Scope* scope) const {
  return scope->info->kind == ScopeKind::kClass ||
         (scope->info->kind == ScopeKind::kModule && out_->ast().module() == nullptr);
}

void SlotAssigner::Resolve(Scope* scope) {
  // Other scopes may add free variables to `order` during the loop.
  for (size_t i = 0; i < scope->order.size(); ++i) {
    Identifier name = scope->order[i];
    uint8_t flags = scope->flags[name];
    if (flags & Scope::kDeclaredGlobal) {
      scope->resolved[name] = {RefKind::kGlobal, 0};
      continue;
    }
    if (BindsAsLocal(scope, name)) continue;  // numbered in Assign
    if (!HasSlots(scope) && (flags & Scope::kBound) && !(flags & Scope::kDeclaredNonlocal)) {
      scope->resolved[name] = {scope->info->kind == ScopeKind::kModule ? RefKind::kGlobal : RefKind::kName, 0};
      continue;
    }
    Scope* home = scope->info->kind == ScopeKind::kModule ? nullptr : FindHome(scope, name);
    if (home == nullptr) {
      scope->resolved[name] = {HasNamespace(scope) ? RefKind::kName : RefKind::kGlobal, 0};
      continue;
    }
    if (home->frame == scope->frame && home->info->kind != ScopeKind::kClass) {
      scope->same_frame.emplace_back(name, home);
      continue;
    }
    home->flags[name] |= Scope::kCaptured;
    AddFree(scope, home, name);
  }
}

// Makes `name` of `home` a free variable of every frame from that of `scope` outwards to that of
// `home`.
void SlotAssigner::AddFree(Scope* scope, Scope* home, Identifier name) {
  for (Scope* frame = scope->frame; frame != home->frame; frame = frame->parent->frame) {
    if (frame->free_index.contains(name)) break;
    frame->free_index[name] = static_cast<uint32_t>(frame->info->free_names.size());
    frame->info->free_names.push_back(name);
    frame->homes[name] = home;
  }
  uint32_t index = scope->frame->free_index[name];
  bool in_class = scope->info->kind == ScopeKind::kClass && !(scope->flags[name] & Scope::kDeclaredNonlocal);
  scope->resolved[name] = {in_class ? RefKind::kClassFree : RefKind::kFree, index};
}

void SlotAssigner::Assign(Scope* scope) {
  ScopeInfo* frame = scope->frame->info;
  if (scope->needs_class_cell) {
    scope->info->class_cell_slot = frame->slot_count++;
    frame->slot_names.resize(static_cast<size_t>(frame->slot_count), nullptr);
    frame->cell_slots.push_back(static_cast<uint32_t>(scope->info->class_cell_slot));
  }
  for (Identifier name : scope->order) {
    if (!BindsAsLocal(scope, name)) continue;
    uint32_t slot = static_cast<uint32_t>(frame->slot_count++);
    bool is_comprehension = scope->info->kind == ScopeKind::kComprehension;
    frame->slot_names.resize(static_cast<size_t>(frame->slot_count), nullptr);
    if (!is_comprehension) frame->slot_names[slot] = name;
    bool captured = scope->flags[name] & Scope::kCaptured;
    if (captured && is_comprehension) scope->info->fresh_cells.push_back(slot);
    if (captured && !is_comprehension) frame->cell_slots.push_back(slot);
    scope->resolved[name] = {captured ? RefKind::kCell : RefKind::kLocal, slot};
  }
}

void SlotAssigner::Finish(Scope* scope) {
  ScopeInfo* info = scope->info;
  for (const auto& [name, home] : scope->same_frame) scope->resolved[name] = home->resolved[name];
  if (scope->frame == scope) {
    for (Identifier name : info->free_names) {
      Scope* home = scope->homes[name];
      Scope* around = scope->parent->frame;
      int32_t source;
      if (home->frame == around) {
        source = home->info->kind == ScopeKind::kClass ? home->info->class_cell_slot
                                                       : static_cast<int32_t>(home->resolved[name].slot);
      } else {
        source = ~static_cast<int32_t>(around->free_index[name]);
      }
      info->closure_sources.push_back(source);
      if (name == class_symbol_) info->class_free = static_cast<int>(info->closure_sources.size()) - 1;
    }
  }
  for (const auto& [name, node_id] : scope->nodes) {
    Ref ref = scope->resolved[name];
    if (ref.kind == RefKind::kName || ref.kind == RefKind::kGlobal) ref.slot = name->id;
    out_->table_[node_id] = (static_cast<uint32_t>(ref.kind) << 24) | ref.slot;
  }
  info->refs = scope->resolved;  // a copy: inner scopes still read the original
}

void SlotAssigner::Run() {
  for (const auto& scope : scopes_) Resolve(scope.get());
  for (const auto& scope : scopes_) Assign(scope.get());
  for (const auto& scope : scopes_) Finish(scope.get());
}

}  // namespace cobra::python
