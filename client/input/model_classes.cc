#include "client/input/model_classes.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace cobra::client {
namespace {

struct Class {
  std::string module, name;
  std::vector<std::string> bases;  // the last part of each: "Module"
};

// "net/blocks.py" -> "net.blocks", "net/__init__.py" -> "net", "__init__.py" -> ""
std::string ModuleName(absl::string_view path) {
  absl::ConsumeSuffix(&path, ".py");
  if (!absl::ConsumeSuffix(&path, "/__init__") && path == "__init__") return "";
  return absl::StrReplaceAll(path, {{"/", "."}});
}

bool IsNameCharacter(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

void AddClasses(const std::string& path, absl::string_view text, std::vector<Class>* classes) {
  const std::string module = ModuleName(path);
  const auto is_plain = [](char c) { return c == '.' || IsNameCharacter(c); };
  if (!std::all_of(module.begin(), module.end(), is_plain)) return;  // such a file cannot be imported
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, "class ")) continue;
    const size_t name_end =
        static_cast<size_t>(std::find_if_not(line.begin(), line.end(), IsNameCharacter) - line.begin());
    Class found{module, std::string(line.substr(0, name_end)), {}};
    line.remove_prefix(name_end);
    if (found.name.empty() || !absl::ConsumePrefix(&line, "(")) continue;
    for (absl::string_view base : absl::StrSplit(line.substr(0, line.find(')')), ',')) {
      base = absl::StripAsciiWhitespace(base);
      if (!absl::StrContains(base, '=')) found.bases.emplace_back(base.substr(base.rfind('.') + 1));
    }
    classes->push_back(std::move(found));
  }
}

}  // namespace

std::vector<std::string> ModelClasses(const std::map<std::string, std::string>& files) {
  std::vector<Class> classes;
  for (const auto& [path, text] : files) AddClasses(path, text, &classes);
  std::set<std::string> models, bases;
  const auto is_model_base = [&](const std::string& base) {
    return absl::StrContains(base, "Module") || models.count(base) > 0;
  };
  for (size_t before = classes.size() + 1; before != models.size();) {
    before = models.size();
    for (const Class& c : classes) {
      if (std::any_of(c.bases.begin(), c.bases.end(), is_model_base)) models.insert(c.name);
    }
  }
  for (const Class& c : classes) bases.insert(c.bases.begin(), c.bases.end());
  std::vector<std::string> names, others;
  for (const Class& c : classes) {
    if (models.count(c.name) == 0) continue;
    std::string name = c.module.empty() ? c.name : absl::StrCat(c.module, ".", c.name);
    (bases.count(c.name) > 0 ? others : names).push_back(std::move(name));
  }
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

}  // namespace cobra::client
