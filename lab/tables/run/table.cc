#include "lab/tables/run/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/file/csv.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/text/utc_text.h"
#include "nlohmann/json.hpp"

namespace cobra::lab {
namespace {

using Json = nlohmann::ordered_json;

struct Spread {
  double mean = 0, deviation = 0;
};
Spread SpreadOf(const std::vector<double>& values) {
  Spread s;
  for (double v : values) s.mean += v / static_cast<double>(values.size());
  for (double v : values) s.deviation += (v - s.mean) * (v - s.mean);
  s.deviation = values.size() > 1 ? std::sqrt(s.deviation / static_cast<double>(values.size() - 1)) : 0;
  return s;
}

Json CellToJson(const TableCell& c) {
  Json figures = Json::object();
  for (const auto& [name, value] : c.figures) figures[name] = value;
  return {{"method", c.method},   {"group", c.group},           {"seed", c.seed},
          {"seconds", c.seconds}, {"parameters", c.parameters}, {"figures", figures}};
}

TableCell CellFromJson(const Json& j) {
  TableCell c{j.value("method", ""),   j.value("group", ""),
              j.value("seed", 0),      {},
              j.value("seconds", 0.0), j.value("parameters", int64_t{0})};
  const Json figures = j.value("figures", Json::object());
  for (const auto& [name, value] : figures.items())
    c.figures.emplace_back(name, value.is_number() ? value.get<double>() : std::nan(""));  // JSON writes NaN as null
  return c;
}

// NaN if the cell does not have this figure.
double FigureOf(const TableCell& cell, const std::string& name) {
  for (const auto& [figure, value] : cell.figures) {
    if (figure == name) return value;
  }
  return std::nan("");
}

std::string Shown(double value, const TableColumn& column) {
  return std::isnan(value) ? "" : absl::StrFormat("%.*f", column.digits, value * column.factor);
}

std::vector<const TableCell*> CellsOf(const TableRun& run, const std::string& method, const std::string& group) {
  std::vector<const TableCell*> cells;
  for (const TableCell& c : run.cells) {
    if (c.method == method && c.group == group) cells.push_back(&c);
  }
  return cells;
}

std::vector<std::string> GroupsOf(const TableRun& run) {
  std::vector<std::string> groups;
  for (const TableCell& c : run.cells) {
    if (std::find(groups.begin(), groups.end(), c.group) == groups.end()) groups.push_back(c.group);
  }
  return groups;
}

template <typename F>
Spread SpreadOver(const std::vector<const TableCell*>& cells, F value) {
  std::vector<double> values;
  for (const TableCell* c : cells) values.push_back(value(*c));
  return SpreadOf(values);
}

// Finds a cell that an earlier run has computed.
absl::StatusOr<std::optional<TableCell>> FindSavedCell(const std::string& state, const std::string& method,
                                                       const std::string& group, int seed) {
  if (!FileExists(state)) return std::nullopt;
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(state));
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const Json j = ParseJson<Json>(line);
    if (!j.is_object()) continue;  // an incomplete line
    TableCell cell = CellFromJson(j);
    if (cell.method == method && cell.group == group && cell.seed == seed) return cell;
  }
  return std::nullopt;
}

// Appends the line on a line of its own, even if an earlier run was interrupted while it wrote the
// last one.
absl::Status AppendLine(const std::string& path, const std::string& line) {
  std::FILE* file = std::fopen(path.c_str(), "ae");
  if (file == nullptr) return absl::PermissionDeniedError(absl::StrCat(path, ": cannot be appended to"));
  const absl::StatusOr<std::string> before = ReadFile(path);
  const std::string text = absl::StrCat(before.ok() && !before->empty() && before->back() != '\n' ? "\n" : "", line);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) return absl::InternalError(absl::StrCat(path, ": cannot be written"));
  return absl::OkStatus();
}

// Empty if this is not a repository, or there is no git.
std::string Commit() {
  absl::StatusOr<std::string> head = RunProgram({"git", "rev-parse", "--short", "HEAD"});
  return head.ok() ? std::string(absl::StripAsciiWhitespace(*head)) : "";
}

absl::Status WriteLedger(const TableOptions& o) {
  if (!FileExists(o.ledger))
    COBRA_RETURN_IF_ERROR(AppendLine(o.ledger, CsvLine({"date", "table", "commit", "command", "seeds"})));
  return AppendLine(o.ledger, CsvLine({UtcText(absl::Now()), o.name, Commit(), o.command, absl::StrCat(o.seeds)}));
}

}  // namespace

MetricValues ToMetricValues(const training::Metrics& m) {
  return {
      {"mape", m.mape},           {"within_1", m.within_1}, {"within_5", m.within_5},       {"within_10", m.within_10},
      {"within_25", m.within_25}, {"spearman", m.spearman}, {"n", static_cast<double>(m.n)}};
}

const std::vector<TableColumn>& MetricColumns() {
  static const auto* columns = new std::vector<TableColumn>{
      {"within_1", "within 1 %"},   {"within_5", "within 5 %"}, {"within_10", "within 10 %"},
      {"within_25", "within 25 %"}, {"mape", "MAPE, %"},        {"spearman", "Spearman", 1, 3}};
  return *columns;
}

absl::Status TableRun::Add(const std::string& method, const std::string& group, int seed,
                           const std::function<absl::StatusOr<TableCell>()>& make) {
  if (std::find(methods.begin(), methods.end(), method) == methods.end()) methods.push_back(method);
  COBRA_ASSIGN_OR_RETURN(std::optional<TableCell> known, FindSavedCell(options.state, method, group, seed));
  if (known) {
    cells.push_back(*std::move(known));
    return absl::OkStatus();
  }
  if (options.finished) {
    ++missing;
    return absl::OkStatus();
  }
  if (!options.ledger.empty() && !in_ledger_) COBRA_RETURN_IF_ERROR(WriteLedger(options));
  in_ledger_ = true;
  const double start = ProcessorSeconds();
  absl::StatusOr<TableCell> computed = make();
  if (!computed.ok())
    return absl::Status(computed.status().code(),
                        absl::StrCat(method, ", ", group, ", seed ", seed, ": ", computed.status().message()));
  TableCell& cell = *computed;
  cell.method = method;
  cell.group = group;
  cell.seed = seed;
  if (cell.seconds == 0) cell.seconds = ProcessorSeconds() - start;
  std::string shown;
  for (const TableColumn& c : columns) {
    if (const double value = FigureOf(cell, c.figure); !std::isnan(value))
      absl::StrAppend(&shown, shown.empty() ? "" : ", ", c.title, " ", Shown(value, c));
  }
  LogInfo(absl::StrFormat("%s: %s, %s, seed %d: %s; %.1f s", options.name, group, method, seed, shown, cell.seconds));
  if (!options.state.empty())
    COBRA_RETURN_IF_ERROR(AppendLine(options.state, absl::StrCat(CellToJson(cell).dump(), "\n")));
  cells.push_back(std::move(cell));
  return absl::OkStatus();
}

absl::Status TableRun::AddFigures(const std::string& method, const std::string& group, int seed,
                                  const MetricValues& figures) {
  return Add(method, group, seed, [&figures]() -> absl::StatusOr<TableCell> {
    TableCell cell;
    cell.figures = figures;
    return cell;
  });
}

double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string TableToJson(const TableRun& run) {
  Json rows = Json::array();
  for (const std::string& group : GroupsOf(run)) {
    for (const std::string& method : run.methods) {
      const auto cells = CellsOf(run, method, group);
      if (cells.empty()) continue;
      Json metrics = Json::object(), spread = Json::object();
      for (const auto& [name, unused] : cells[0]->figures) {
        const Spread s = SpreadOver(cells, [&name = name](const TableCell& c) { return FigureOf(c, name); });
        metrics[name] = s.mean;
        spread[name] = s.deviation;
      }
      rows.push_back({{"method", method},
                      {"group", group},
                      {"metrics", metrics},
                      {"spread", spread},
                      {"seconds", SpreadOver(cells, [](const TableCell& c) { return c.seconds; }).mean},
                      {"seeds", cells.size()},
                      {"parameters", cells[0]->parameters}});
    }
  }
  return Json{{"table", run.options.name}, {"rows", rows}, {"command", run.options.command}}.dump(1);
}

namespace {

// The columns for which a cell of the group has a figure.
std::vector<TableColumn> ColumnsOf(const TableRun& run, const std::string& group) {
  std::vector<TableColumn> columns;
  for (const TableColumn& column : run.columns) {
    const auto has = [&](const TableCell& c) { return c.group == group && !std::isnan(FigureOf(c, column.figure)); };
    if (std::any_of(run.cells.begin(), run.cells.end(), has)) columns.push_back(column);
  }
  return columns;
}

// "| method | 42.0 ± 1.0 | ... |\n"
std::string MarkdownRow(const TableRun& run, const std::vector<TableColumn>& columns, const std::string& method,
                        const std::string& group) {
  const auto cells = CellsOf(run, method, group);
  if (cells.empty()) return "";
  std::string out = absl::StrCat("| ", method, " |");
  for (const TableColumn& c : columns) {
    const Spread s = SpreadOver(cells, [&c](const TableCell& cell) { return FigureOf(cell, c.figure); });
    absl::StrAppend(&out, " ", Shown(s.mean, c));
    if (cells.size() > 1 && !std::isnan(s.mean)) absl::StrAppend(&out, " ± ", Shown(s.deviation, c));
    absl::StrAppend(&out, " |");
  }
  const auto published = run.published.find(absl::StrCat(method, "/", group));
  const int64_t parameters = cells[0]->parameters;
  absl::StrAppend(&out, " ", cells.size(), " | ", parameters == 0 ? "" : absl::StrCat(parameters), " | ",
                  absl::StrFormat("%.3g", SpreadOver(cells, [](const TableCell& c) { return c.seconds; }).mean), " | ",
                  published == run.published.end() ? "" : published->second, " |\n");
  return out;
}

// The link to a heading of Markdown, "#few-samples-10", in the form of GitHub and most others.
std::string Anchor(absl::string_view heading) {
  std::string anchor = "#";
  for (char c : heading) {
    if (c == ' ') anchor += '-';
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
      anchor += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return anchor;
}

// A table of contents for a long document.
std::string Contents(const std::vector<std::string>& groups) {
  constexpr size_t kFewest = 20;
  if (groups.size() < kFewest) return "";
  std::string out = "\n";
  for (const std::string& group : groups) absl::StrAppend(&out, "- [", group, "](", Anchor(group), ")\n");
  return out;
}

}  // namespace

std::string TableToMarkdown(const TableRun& run) {
  std::string out =
      absl::StrCat("# ", run.options.name, "\n\nMade by `", run.options.command,
                   "`. Mean and standard deviation over the seeds, test rows only; processor seconds of fitting "
                   "and predicting on one core.\n");
  if (run.missing > 0) {
    absl::StrAppend(&out, "\n**Unfinished**: ", run.missing, " cells are missing. The same command continues from `",
                    run.options.name, ".partial.jsonl` in the same folder.\n");
  }
  for (const std::string& paragraph : run.before) absl::StrAppend(&out, "\n", paragraph, "\n");
  const std::vector<std::string> groups = GroupsOf(run);
  out += Contents(groups);
  for (const std::string& group : groups) {
    const std::vector<TableColumn> columns = ColumnsOf(run, group);
    absl::StrAppend(&out, "\n## ", group, "\n\n| method |");
    for (const TableColumn& c : columns) absl::StrAppend(&out, " ", c.title, " |");
    absl::StrAppend(&out, " seeds | parameters | seconds | published |\n|---|");
    for (size_t i = 0; i < columns.size() + 4; ++i) absl::StrAppend(&out, "---|");
    absl::StrAppend(&out, "\n");
    for (const std::string& method : run.methods) absl::StrAppend(&out, MarkdownRow(run, columns, method, group));
  }
  for (const std::string& paragraph : run.after) absl::StrAppend(&out, "\n", paragraph, "\n");
  return out;
}

}  // namespace cobra::lab
