#include "frontend/python/torch/names/known_names.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "frontend/python/torch/names/versions.h"

namespace cobra::python {
namespace {

struct Names {
  absl::string_view module;
  absl::string_view names;
};
constexpr Names kNames[] = {
// of 1.13
#include "frontend/python/tables/known_names.inc"
};
constexpr Names kLater[] = {
// of 2.13 alone; "-name" is of 1.13 alone
#include "frontend/python/tables/later_names.inc"
};
constexpr int kLaterMajor = 2, kLaterMinor = 13;

using NameTable = absl::flat_hash_map<absl::string_view, KnownName>;

using NameTables = absl::flat_hash_map<absl::string_view, NameTable>;

template <size_t kCount>
const NameTables* TablesOf(const Names (&names)[kCount]) {
  auto* tables = new NameTables();
  for (const Names& entry : names) {
    NameTable& table = (*tables)[entry.module];
    for (absl::string_view item : absl::StrSplit(entry.names, ' ', absl::SkipEmpty())) {
      const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(item, absl::MaxSplits('=', 1));
      const std::pair<absl::string_view, absl::string_view> home =
          absl::StrSplit(parts.second, absl::MaxSplits(':', 1));
      table[parts.first] = {home.first, home.second};
    }
  }
  return tables;
}

const KnownName* Find(const NameTables& tables, absl::string_view module, absl::string_view name) {
  const auto table = tables.find(module);
  if (table == tables.end()) return nullptr;
  const auto found = table->second.find(name);
  return found == table->second.end() ? nullptr : &found->second;
}

const NameTables& Known() {
  static const NameTables* const kTables = TablesOf(kNames);
  return *kTables;
}
const NameTables& Later() {
  static const NameTables* const kTables = TablesOf(kLater);
  return *kTables;
}

bool HasLater(int major) { return major >= kLaterMajor; }

}  // namespace

std::optional<KnownName> FindKnownTorchName(absl::string_view module, absl::string_view name, int major, int minor) {
  if (IsGoneTorchName(module, name, major, minor)) return std::nullopt;
  const KnownName* found = Find(Known(), module, name);
  if (found == nullptr && HasLater(major)) found = Find(Later(), module, name);
  if (found == nullptr) return std::nullopt;
  return *found;
}

std::vector<std::string> KnownTorchNames(absl::string_view module, int major, int minor) {
  std::vector<std::string> names;
  for (const NameTables* tables : {&Known(), &Later()}) {
    const auto table = tables->find(module);
    if (table == tables->end()) continue;
    for (const auto& [name, known] : table->second) {
      if (FindKnownTorchName(module, name, major, minor).has_value()) names.emplace_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> GoneTorchNames(absl::string_view module, int major, int minor) {
  std::vector<std::string> names;
  const auto table = Later().find(module);
  if (table == Later().end()) return names;
  for (const auto& [name, known] : table->second) {
    if (name[0] == '-' && IsGoneTorchName(module, name.substr(1), major, minor)) names.emplace_back(name.substr(1));
  }
  return names;
}

bool IsGoneTorchName(absl::string_view module, absl::string_view name, int major, int minor) {
  if (major < kLaterMajor || (major == kLaterMajor && minor < kLaterMinor)) return false;
  return Find(Later(), module, absl::StrCat("-", name)) != nullptr;
}

bool InTorchVersion(absl::string_view module, absl::string_view name, int major, int minor) {
  if (IsGoneTorchName(module, name, major, minor)) return false;
  const auto since = TorchNameSince(module, name);
  if (!since) return true;
  return major != since->first ? major > since->first : minor >= since->second;
}

bool IsKnownTorchModule(absl::string_view module) { return module == "torch" || Find(Known(), "", module) != nullptr; }

}  // namespace cobra::python
