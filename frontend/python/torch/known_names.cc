#include "frontend/python/torch/known_names.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace cobra::python {
namespace {

struct Names {
  absl::string_view module;
  absl::string_view names;
};
constexpr Names kNames[] = {
#include "frontend/python/torch/known_names.inc"
};

using NameTable = absl::flat_hash_map<absl::string_view, KnownName>;

const absl::flat_hash_map<absl::string_view, NameTable>& Tables() {
  static const auto* const kTables = [] {
    auto* tables = new absl::flat_hash_map<absl::string_view, NameTable>();
    for (const Names& entry : kNames) {
      NameTable& table = (*tables)[entry.module];
      for (absl::string_view item : absl::StrSplit(entry.names, ' ', absl::SkipEmpty())) {
        const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(item, absl::MaxSplits('=', 1));
        const std::pair<absl::string_view, absl::string_view> home =
            absl::StrSplit(parts.second, absl::MaxSplits(':', 1));
        table[parts.first] = {home.first, home.second};
      }
    }
    return tables;
  }();
  return *kTables;
}

}  // namespace

std::optional<KnownName> FindKnownTorchName(absl::string_view module, absl::string_view name) {
  const auto table = Tables().find(module);
  if (table == Tables().end()) return std::nullopt;
  const auto found = table->second.find(name);
  if (found == table->second.end()) return std::nullopt;
  return found->second;
}

bool IsKnownTorchModule(absl::string_view module) {
  return module == "torch" || FindKnownTorchName("", module).has_value();
}

}  // namespace cobra::python
