#include "store/record_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/bytes/hash.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/text/json_text.h"
#include "nlohmann/json.hpp"

namespace cobra::store {
namespace {

using Json = nlohmann::ordered_json;

// Among two hundred thousand graphs, two share their 12 digits with a probability of 1 in 14,000;
// pack_records.py then refuses to pack.
constexpr size_t kGraphIdDigits = 12;
constexpr absl::string_view kGraphKey = "\"graph\":";

struct Line {
  std::string text;
  // Of a record without its graph: what takes the graph's place.
  std::string graph_id;
};

absl::Status Wrong(absl::string_view path, size_t line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ":", line + 1, ": ", what));
}

// Writes the names that the numbers of a packed profile stand for.
absl::Status NameProfile(const Json& names, Json* profile) {
  if (!profile->is_array()) return absl::OkStatus();  // whoever reads the field says what is wrong with it
  for (Json& entry : *profile) {
    if (!entry.is_array() || entry.empty() || !entry[0].is_number_unsigned()) continue;
    const uint64_t number = entry[0].get<uint64_t>();
    if (number >= names.size()) {
      return absl::InvalidArgumentError(absl::StrCat("profile: no line \"names\" above has a name ", number));
    }
    entry[0] = names[number];
  }
  return absl::OkStatus();
}

// One line; `names` are those of the last line "names" above.
absl::StatusOr<Line> ReadLine(absl::string_view text, Json* names) {
  // What nothing stands for anything in is passed on as it is, whatever it is: its reader has the
  // better messages.
  const bool names_line = absl::StartsWith(text, "{\"kind\":\"names\"");
  if (!names_line && !absl::StrContains(text, "\"graph_id\"") && !absl::StrContains(text, "\"profile\"")) {
    return Line{std::string(text), ""};
  }
  Json json = ParseJson<Json>(text);
  if (!json.is_object()) return Line{std::string(text), ""};
  if (names_line) {
    *names = json.value("names", Json::array());
    if (names->is_array()) return Line{};
    return absl::InvalidArgumentError("\"names\" is not a list");
  }
  if (const auto profile = json.find("profile"); profile != json.end()) {
    COBRA_RETURN_IF_ERROR(NameProfile(*names, &*profile));
  }
  const auto id = json.find("graph_id");
  if (id == json.end()) return Line{JsonText(json), ""};
  if (json.contains("graph")) return absl::InvalidArgumentError("has both \"graph\" and \"graph_id\"");
  if (!id->is_string() || id->get_ref<const std::string&>().size() != kGraphIdDigits) {
    return absl::InvalidArgumentError(
        absl::StrCat("graph_id ", id->dump(), ": is not ", kGraphIdDigits, " hexadecimal digits"));
  }
  const std::string graph_id = id->get<std::string>();
  json.erase("graph_id");
  return Line{JsonText(json), graph_id};
}

// The files of `folder`, first those of the same kind of subjects: selected-layers.jsonl.xz looks
// into layers.jsonl.xz.
absl::StatusOr<std::vector<std::string>> GraphFiles(const std::string& folder, absl::string_view record_file) {
  COBRA_ASSIGN_OR_RETURN(std::vector<std::string> files, ListFiles(folder, ""));
  files.erase(std::remove_if(files.begin(), files.end(),
                             [](const std::string& name) { return !absl::StrContains(name, ".jsonl"); }),
              files.end());
  std::stable_partition(files.begin(), files.end(),
                        [&](const std::string& name) { return absl::EndsWith(record_file, name); });
  return files;
}

using Graphs = absl::flat_hash_map<std::string, std::string>;

// Moves the graphs that `missing` names from one file of graphs, lines {"label":...,"graph":...},
// to `found`. The id of a graph is computed from its text, so that it cannot be that of another
// one.
absl::Status TakeGraphs(const std::string& path, absl::flat_hash_set<std::string>* missing, Graphs* found) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadMaybeCompressed(path));
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const size_t at = line.find(kGraphKey);
    if (!line.empty() && (at == absl::string_view::npos || !absl::EndsWith(line, "}"))) {
      return Wrong(path, number, "has no \"graph\"");
    }
    ++number;
    if (line.empty()) continue;
    const absl::string_view graph = absl::StripSuffix(line.substr(at + kGraphKey.size()), "}");
    const auto wanted = missing->find(GraphId(graph));
    if (wanted == missing->end()) continue;
    found->emplace(*wanted, graph);
    missing->erase(wanted);
  }
  return absl::OkStatus();
}

absl::StatusOr<Graphs> FindGraphs(absl::string_view path, const std::vector<Line>& lines) {
  absl::flat_hash_set<std::string> missing;
  for (const Line& line : lines) {
    if (!line.graph_id.empty()) missing.insert(line.graph_id);
  }
  Graphs found;
  if (missing.empty()) return found;
  const size_t slash = path.rfind('/');
  const std::string folder = absl::StrCat(slash == absl::string_view::npos ? "." : path.substr(0, slash), "/../graphs");
  if (IsDirectory(folder)) {
    COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> files, GraphFiles(folder, path));
    for (const std::string& file : files) {
      if (missing.empty()) break;
      COBRA_RETURN_IF_ERROR(TakeGraphs(absl::StrCat(folder, "/", file), &missing, &found));
    }
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    if (missing.contains(lines[i].graph_id)) {
      return Wrong(path, i,
                   absl::StrCat("graph_id \"", lines[i].graph_id, "\": no file in ", folder, " has this graph"));
    }
  }
  return found;
}

}  // namespace

std::string GraphId(absl::string_view graph_json) { return Sha256Hex(graph_json).substr(0, kGraphIdDigits); }

absl::StatusOr<std::string> ReadRecordFile(absl::string_view path) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadMaybeCompressed(path));
  std::vector<Line> lines;
  Json names = Json::array();
  for (absl::string_view part : absl::StrSplit(text, '\n')) {
    absl::StatusOr<Line> line = ReadLine(part, &names);
    if (!line.ok()) return Wrong(path, lines.size(), line.status().message());
    lines.push_back(*std::move(line));
  }
  COBRA_ASSIGN_OR_RETURN(const Graphs graphs, FindGraphs(path, lines));
  std::string resolved;
  for (size_t i = 0; i < lines.size(); ++i) {
    absl::string_view line = lines[i].text;
    if (i > 0) resolved += '\n';
    if (lines[i].graph_id.empty()) {
      absl::StrAppend(&resolved, line);
    } else {
      line.remove_suffix(1);  // its closing brace
      absl::StrAppend(&resolved, line, ",", kGraphKey, graphs.at(lines[i].graph_id), "}");
    }
  }
  return resolved;
}

}  // namespace cobra::store
