#include "client/input/named_model.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file/csv.h"
#include "base/file/data_path.h"
#include "base/file/file.h"
#include "base/text/similar_words.h"
#include "base/user_error.h"
#include "client/input/library_hint.h"
#include "client/input/list_source.h"

namespace cobra::client {
namespace {

constexpr char kHint[] = "cobra-client predict --list ";
constexpr size_t kMostShown = 40;

using NamesOfList = std::map<std::string, NamedModel, std::less<>>;

NamesOfList ReadNames(absl::string_view list) {
  NamesOfList names;
  const std::string path = DataPath(absl::StrCat("data/lists/", list, ".csv"));
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return names;
  const absl::StatusOr<CsvTable> table = ParseCsv(*text);
  if (!table.ok()) return names;
  const int row = table->Column("row"), model = table->Column("model"), entry = table->Column("entry"),
            inputs = table->Column("inputs");
  const bool of_library = list == kTorchvisionList;
  for (const CsvTable::Row& line : table->rows) {
    const auto cell = [&line](int column) { return column < 0 ? "" : line.fields[static_cast<size_t>(column)]; };
    const std::string file =
        of_library ? cell(model) : (std::filesystem::path(path).parent_path() / cell(model)).string();
    names[cell(row)] = {file, cell(entry), cell(inputs), of_library};
  }
  return names;
}

const std::map<std::string, NamesOfList, std::less<>>& Lists() {
  static const auto* const lists = [] {
    auto* all = new std::map<std::string, NamesOfList, std::less<>>;
    for (const absl::string_view list : kShippedLists) all->emplace(list, ReadNames(list));
    return all;
  }();
  return *lists;
}

// "torchvision" of "torchvision:resnet18", and the rest; nothing before the name if that is not a
// list.
std::pair<std::string, std::string> Split(absl::string_view name) {
  const size_t colon = name.find(':');
  if (colon == absl::string_view::npos || Lists().find(name.substr(0, colon)) == Lists().end())
    return {"", std::string(name)};
  return {std::string(name.substr(0, colon)), std::string(name.substr(colon + 1))};
}

std::vector<std::string> ListsWith(const std::string& name) {
  std::vector<std::string> with;
  for (const auto& [list, names] : Lists()) {
    if (names.count(name) != 0) with.push_back(list);
  }
  return with;
}

}  // namespace

bool IsModelName(absl::string_view name) {
  const auto [list, rest] = Split(name);
  return !list.empty() || !ListsWith(rest).empty();
}

absl::StatusOr<NamedModel> FindNamedModel(absl::string_view name) {
  auto [list, rest] = Split(name);
  if (list.empty()) {
    const std::vector<std::string> with = ListsWith(rest);
    if (with.size() > 1)
      return UsageError(absl::StrCat(name, ": is a model of ", absl::StrJoin(with, " and of ")),
                        absl::StrCat("say which: ", absl::StrJoin(with, absl::StrCat(":", name, " or ")), ":", name));
    if (!with.empty()) list = with[0];
  }
  const auto names = Lists().find(list);
  if (names != Lists().end()) {
    if (const auto known = names->second.find(rest); known != names->second.end()) return known->second;
  }
  std::vector<absl::string_view> known;
  if (names != Lists().end()) {
    for (const auto& [word, model] : names->second) known.push_back(word);
  }
  const std::string nearest = NearestName(rest.substr(0, kMostShown), known);
  return UsageError(absl::StrCat(name.substr(0, kMostShown), ": ", list, " has no such model in the built-in list"),
                    nearest.empty() ? absl::StrCat(kHint, list, " names them all")
                                    : absl::StrCat("did you mean ", list, ":", nearest, "?"));
}

absl::StatusOr<std::string> FileOfNamedModel(const NamedModel& named, absl::string_view name,
                                             const std::vector<std::string>& libraries) {
  if (!named.of_library) return named.path;
  const auto in_folder = [&named](const std::string& folder) {
    return (std::filesystem::path(folder) / named.path).string();
  };
  for (const std::string& library : libraries) {
    if (std::string file = in_folder(library); FileExists(file)) return file;
  }
  const std::vector<std::string> folders = InstalledPackageFolders();
  const auto has = std::find_if(folders.begin(), folders.end(),
                                [&](const std::string& folder) { return FileExists(in_folder(folder)); });
  const std::string installed = has == folders.end() ? "/usr/lib/python3/dist-packages" : *has;
  return UsageError(absl::StrCat(name, ": no --library has ", named.path),
                    absl::StrCat("say where torchvision is installed: --library ", installed));
}

}  // namespace cobra::client
