#include "client/explain_render.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/unknown.h"
#include "nlohmann/json.hpp"

namespace cobra {
namespace {

constexpr int kBarWidth = 20;
constexpr int kOverviewModules = 24;     // lines of the module tree: with ten calls the overview fits a tall terminal
constexpr double kWorthOpening = 0.05;   // a module with less is not taken apart in the overview
constexpr double kWorthShowing = 0.005;  // smaller siblings share a line there

constexpr char kBold[] = "\033[1m", kRed[] = "\033[31m", kYellow[] = "\033[33m", kDim[] = "\033[2m", kEnd[] = "\033[0m";

std::string WhereOf(const CallCost& call) { return call.file.empty() ? "" : absl::StrCat(call.file, ":", call.line); }

// `full` fills the width; what would be less than half a character is a dot.
std::string Bar(double share, double full) {
  if (share <= 0 || full <= 0) return "";
  const auto n = static_cast<size_t>(std::lround(kBarWidth * std::min(share / full, 1.0)));
  return n > 0 ? std::string(n, '#') : ".";
}

// Text with the colour of its weight: what takes a fifth of the whole stands out.
class Painter {
 public:
  explicit Painter(bool color) : color_(color) {}
  std::string Heading(absl::string_view text) const { return Paint(text, kBold); }
  std::string Dim(absl::string_view text) const { return Paint(text, kDim); }
  std::string Weight(absl::string_view text, double share) const {
    return share >= 0.2 ? Paint(text, kRed) : share >= 0.05 ? Paint(text, kYellow) : std::string(text);
  }

 private:
  std::string Paint(absl::string_view text, const char* code) const {
    return color_ ? absl::StrCat(code, text, kEnd) : std::string(text);
  }
  const bool color_;
};

class Renderer {
 public:
  Renderer(const Explanation& e, const ExplainView& view)
      : e_(e), view_(view), timed_(e.prediction.has_value()), paint_(view.style.color) {}

  std::string Render() {
    Heading();
    switch (view_.by) {
      case ExplainBy::kOverview:
        Overview();
        break;
      case ExplainBy::kLayer:
        Layers();
        break;
      case ExplainBy::kModule:
        Section("Modules, in order of execution");
        Modules(/*everything=*/true);
        break;
      case ExplainBy::kOp:
        Section("Operators");
        Groups(ByOperator(e_), "operator");
        break;
      case ExplainBy::kLine:
        Section("Source lines");
        Groups(ByLine(e_), "line");
        break;
    }
    return std::move(text_);
  }

 private:
  struct Row {
    std::vector<std::string> cells;
    double share = 0;
    std::string below;  // a line of its own under the row
  };

  void Line(absl::string_view line) { absl::StrAppend(&text_, line, "\n"); }
  void Section(absl::string_view title) { Line(absl::StrCat("\n", paint_.Heading(title))); }

  void Heading() {
    Line(paint_.Heading(absl::StrCat(e_.title, e_.inputs.empty() ? "" : ", input ", absl::StrJoin(e_.inputs, ", "))));
    Line(absl::StrCat(
        e_.total.calls, " calls, ", CountText(static_cast<double>(e_.total.parameters + e_.unused_parameters)),
        " parameters",
        e_.unused_parameters > 0
            ? absl::StrCat(" (", CountText(static_cast<double>(e_.unused_parameters)), " of them in no call)")
            : "",
        ", ", CountText(static_cast<double>(e_.total.macs)), "MAC, ", CountText(static_cast<double>(e_.total.flops)),
        "FLOP, ", MebibytesText(e_.total.bytes), " read and written, peak memory ",
        MebibytesText(e_.peak_memory_bytes)));
    if (timed_) {
      const v1::TargetPrediction& p = *e_.prediction;
      Line(absl::StrFormat("predicted %s ms on %s (%s interval %s ... %s ms), confidence %.2f%s",
                           MillisecondsText(p.latency_us()), p.target(), CoverageText(p),
                           MillisecondsText(p.low_us()), MillisecondsText(p.high_us()), p.confidence(),
                           p.extrapolating() ? ", extrapolating: unlike what the weights were trained on" : ""));
      for (absl::string_view line : absl::StrSplit(UnknownText(p), '\n', absl::SkipEmpty())) Line(line);
    } else {
      Line("shares are of FLOP and of bytes moved, not of time: --target NAME asks a server for the time");
    }
    const std::vector<const CallCost*> largest = BySize(e_, 1);
    if (largest.empty()) return;
    const CallCost& call = *largest[0];
    const double share = e_.Share(call.cost);
    const char* of = timed_ ? "the time" : e_.FlopsShare(call.cost) >= share ? "the FLOP" : "the bytes moved";
    Line(absl::StrCat(timed_ ? "slowest call: " : "heaviest call: ", call.op, call.module_path.empty() ? "" : " in ",
                      call.module_path, call.file.empty() ? "" : absl::StrCat(" (", WhereOf(call), ")"), ", ",
                      paint_.Weight(PercentText(share), share), " of ", of));
  }

  void Overview() {
    Section(absl::StrCat("Modules, in order of execution", timed_ ? ": share of the time" : ""));
    Modules(/*everything=*/false);
    const std::vector<const CallCost*> calls = BySize(e_, static_cast<size_t>(view_.top));
    Cost sum;
    for (const CallCost* call : calls) sum += call->cost;
    Section(absl::StrCat(timed_ ? "Slowest" : "Heaviest", " calls: ", calls.size(), " of ", e_.total.calls,
                         timed_ ? absl::StrCat(", ", PercentText(e_.TimeShare(sum)), " of the time") : ""));
    Calls(calls);
    Section("Operators");
    Groups(ByOperator(e_), "operator");
  }

  // ---- the columns that every table begins with

  std::vector<std::string> CostHeader() const {
    if (timed_) return {"time", "ms", ""};
    return {"FLOP", "bytes", ""};
  }
  std::vector<Column> CostColumns() const { return {{true}, {true}, {false}}; }
  std::vector<std::string> CostCells(const Cost& cost, double full) const {
    if (timed_)
      return {PercentText(e_.TimeShare(cost)), MillisecondsText(cost.latency_us), Bar(e_.TimeShare(cost), full)};
    return {PercentText(e_.FlopsShare(cost)), PercentText(e_.BytesShare(cost)), Bar(e_.Share(cost), full)};
  }
  static std::string Mega(int64_t n) { return absl::StrFormat("%.2f", static_cast<double>(n) / 1e6); }

  // Rows with their colours and the lines below them.
  void Table(std::vector<std::string> header, const std::vector<Column>& columns, const std::vector<Row>& rows) {
    std::vector<std::vector<std::string>> cells = {std::move(header)};
    for (const Row& row : rows) cells.push_back(row.cells);
    std::vector<absl::string_view> lines;
    const std::string table = TextTable(cells, columns, view_.style.width);
    lines = absl::StrSplit(table, '\n', absl::SkipEmpty());
    Line(paint_.Dim(lines[0]));
    for (size_t i = 0; i < rows.size() && i + 1 < lines.size(); ++i) {
      Line(paint_.Weight(lines[i + 1], rows[i].share));
      if (!rows[i].below.empty()) Line(paint_.Dim(Shortened(rows[i].below, view_.style.width)));
    }
  }

  // ---- modules

  struct TreeLine {
    const ModuleCost* module;
    int depth;
    bool open = false;
    bool own = false;  // the calls that the module makes itself, where it has children too
    const Cost& cost() const { return own ? module->own : module->cost; }
  };

  // Opens the largest module again and again until the lines are used up: detail where the cost is.
  std::vector<TreeLine> Tree(const ModuleCost& root, bool everything) const {
    std::vector<TreeLine> lines = {{&root, 0}};
    while (true) {
      int best = -1;
      for (size_t i = 0; i < lines.size(); ++i) {
        const TreeLine& line = lines[i];
        if (line.open || line.own || line.module->children.empty()) continue;
        if (!everything && e_.Share(line.module->cost) < kWorthOpening) continue;
        if (best < 0 || e_.Share(line.module->cost) > e_.Share(lines[best].module->cost)) best = static_cast<int>(i);
        if (everything) break;
      }
      if (best < 0) return lines;
      lines[best].open = true;
      const ModuleCost& m = *lines[best].module;
      if (!everything && lines.size() > 1 && lines.size() + m.children.size() > kOverviewModules) continue;
      std::vector<TreeLine> children;
      const int depth = lines[best].depth + 1;
      if (m.own.calls > 0) children.push_back({&m, depth, false, /*own=*/true});
      for (const ModuleCost& child : m.children) children.push_back({&child, depth});
      lines.insert(lines.begin() + best + 1, children.begin(), children.end());
    }
  }

  void Modules(bool everything) {
    const ModuleCost root = ByModule(e_, /*merge_alike=*/!everything);
    std::vector<Row> rows;
    int hidden = 0;
    for (const TreeLine& line : Tree(root, everything)) {
      const ModuleCost& m = *line.module;
      const double share = e_.Share(line.cost());
      if (!everything && share < kWorthShowing && line.depth > 0) {
        ++hidden;
        continue;
      }
      std::string name = line.own ? "(its own calls)" : line.depth == 0 ? "(model)" : m.name;
      if (m.alike > 1 && !line.own) absl::StrAppend(&name, " (", m.alike, " alike)");
      Row row{CostCells(line.cost(), 1), share, ""};
      row.cells.push_back(absl::StrCat(line.cost().calls));
      row.cells.push_back(CountText(static_cast<double>(line.cost().parameters)));
      row.cells.push_back(absl::StrCat(std::string(2 * line.depth, ' '), name));
      rows.push_back(std::move(row));
    }
    std::vector<std::string> header = CostHeader();
    std::vector<Column> columns = CostColumns();
    for (const char* name : {"calls", "params"}) {
      header.push_back(name);
      columns.push_back({true});
    }
    header.push_back("module");
    columns.push_back({false, 16});
    Table(std::move(header), columns, rows);
    if (hidden > 0) Line(paint_.Dim(absl::StrCat("and ", hidden, " with less than 0.5 %; --by module has all")));
  }

  // ---- calls

  void Calls(const std::vector<const CallCost*>& calls) {
    const double full = calls.empty() ? 1 : e_.Share(calls[0]->cost);
    std::vector<Row> rows;
    std::string last;
    for (const CallCost* call : calls) {
      Row row{CostCells(call->cost, full), e_.Share(call->cost), ""};
      for (std::string cell : {absl::StrCat(call->node), call->op, call->module_path, Shapes(*call), WhereOf(*call)}) {
        row.cells.push_back(std::move(cell));
      }
      // The line is quoted once where calls of the same line follow each other.
      if (!call->source.empty() && WhereOf(*call) != last) row.below = absl::StrCat("        ", call->source);
      last = WhereOf(*call);
      rows.push_back(std::move(row));
    }
    std::vector<std::string> header = CostHeader();
    std::vector<Column> columns = CostColumns();
    for (const char* name : {"call", "operator", "module", "shapes", "where"}) header.push_back(name);
    for (const Column& column :
         {Column{true}, Column{}, Column{false, 12, true}, Column{false, 16}, Column{false, 12, true}}) {
      columns.push_back(column);
    }
    Table(std::move(header), columns, rows);
  }

  static std::string Shapes(const CallCost& call) {
    return call.input.empty() ? call.output : absl::StrCat(call.input, " -> ", call.output);
  }

  void Layers() {
    Section("Calls, in order of execution");
    double full = 0;
    for (const CallCost& call : e_.calls) full = std::max(full, e_.Share(call.cost));
    std::vector<Row> rows;
    for (const CallCost& call : e_.calls) {
      Row row{{absl::StrCat(call.node)}, e_.Share(call.cost), ""};
      for (std::string& cell : CostCells(call.cost, full)) row.cells.push_back(std::move(cell));
      for (std::string cell : {Mega(call.cost.macs), Mega(call.cost.flops), MebibytesText(call.cost.bytes),
                               CountText(static_cast<double>(call.cost.parameters)), call.op, call.module_path,
                               call.output, WhereOf(call), call.source}) {
        row.cells.push_back(std::move(cell));
      }
      rows.push_back(std::move(row));
    }
    std::vector<std::string> header = {"call"};
    for (std::string& name : CostHeader()) header.push_back(std::move(name));
    for (const char* name : {"MMAC", "MFLOP", "moved", "params", "operator", "module", "output", "where", "source"}) {
      header.push_back(name);
    }
    std::vector<Column> columns = {{true}};
    for (const Column& column : CostColumns()) columns.push_back(column);
    for (int i = 0; i < 4; ++i) columns.push_back({true});
    for (const Column& column :
         {Column{}, Column{false, 10, true}, Column{}, Column{false, 10, true}, Column{false, 8}}) {
      columns.push_back(column);
    }
    Table(std::move(header), columns, rows);
  }

  // ---- operators and lines

  void Groups(const std::vector<GroupCost>& groups, const char* what) {
    constexpr size_t kMost = 12;
    const size_t shown = view_.by == ExplainBy::kOverview ? std::min(groups.size(), kMost) : groups.size();
    std::vector<Row> rows;
    bool sources = false;
    for (size_t i = 0; i < shown; ++i) sources = sources || !groups[i].source.empty();
    for (size_t i = 0; i < shown; ++i) {
      const Cost& cost = groups[i].cost;
      Row row{CostCells(cost, 1), e_.Share(cost), ""};
      for (std::string cell :
           {absl::StrCat(cost.calls), Mega(cost.macs), Mega(cost.flops), MebibytesText(cost.bytes), groups[i].name}) {
        row.cells.push_back(std::move(cell));
      }
      if (sources) row.cells.push_back(groups[i].source);
      rows.push_back(std::move(row));
    }
    std::vector<std::string> header = CostHeader();
    std::vector<Column> columns = CostColumns();
    for (const char* name : {"calls", "MMAC", "MFLOP", "moved"}) {
      header.push_back(name);
      columns.push_back({true});
    }
    header.push_back(what);
    columns.push_back({false, 12, true});
    if (sources) {
      header.push_back("source");
      columns.push_back({false, 12});
    }
    Table(std::move(header), columns, rows);
    if (shown < groups.size()) Line(paint_.Dim(absl::StrCat("and ", groups.size() - shown, " more; --by op has all")));
  }

  const Explanation& e_;
  const ExplainView& view_;
  const bool timed_;
  const Painter paint_;
  std::string text_;
};

// ---- JSON

using Json = nlohmann::ordered_json;

void AddCost(const Explanation& e, const Cost& cost, Json* j) {
  if (e.prediction.has_value()) {
    (*j)["latency_us"] = cost.latency_us;
    (*j)["latency_share"] = e.TimeShare(cost);
  }
  (*j)["flops_share"] = e.FlopsShare(cost);
  (*j)["bytes_share"] = e.BytesShare(cost);
  (*j)["calls"] = cost.calls;
  (*j)["params"] = cost.parameters;
  (*j)["macs"] = cost.macs;
  (*j)["flops"] = cost.flops;
  (*j)["bytes"] = cost.bytes;
}

Json CallJson(const Explanation& e, const CallCost& call) {
  Json j = {{"node", call.node},     {"op", call.op},       {"module", call.module_path}, {"where", WhereOf(call)},
            {"source", call.source}, {"input", call.input}, {"output", call.output}};
  AddCost(e, call.cost, &j);
  j.erase("calls");
  return j;
}

void AddModules(const Explanation& e, const ModuleCost& m, Json* list) {
  Json j = {{"module", m.path}};
  AddCost(e, m.cost, &j);
  list->push_back(std::move(j));
  for (const ModuleCost& child : m.children) AddModules(e, child, list);
}

Json GroupsJson(const Explanation& e, const std::vector<GroupCost>& groups, const char* name) {
  Json list = Json::array();
  for (const GroupCost& group : groups) {
    Json j = {{name, group.name}};
    if (!group.source.empty()) j["source"] = group.source;
    AddCost(e, group.cost, &j);
    list.push_back(std::move(j));
  }
  return list;
}

}  // namespace

std::string ExplanationText(const Explanation& explanation, const ExplainView& view) {
  return Renderer(explanation, view).Render();
}

std::string ExplanationJson(const Explanation& e, const ExplainView& view) {
  Json j = {
      {"title", e.title}, {"inputs", e.inputs}, {"ranked_by", e.prediction ? "latency_share" : "flops_or_bytes_share"}};
  if (e.prediction.has_value()) {
    const v1::TargetPrediction& p = *e.prediction;
    j["prediction"] = {{"target", p.target()},
                       {"latency_us", p.latency_us()},
                       {"low_us", p.low_us()},
                       {"high_us", p.high_us()},
                       {"coverage", p.coverage()},
                       {"confidence", p.confidence()},
                       {"extrapolating", p.extrapolating()},
                       {"unknown", UnknownJson<Json>(p)},
                       {"model_version", e.model_version}};
  }
  Json total;
  AddCost(e, e.total, &total);
  total["params"] = e.total.parameters + e.unused_parameters;
  total["peak_memory_bytes"] = e.peak_memory_bytes;
  j["total"] = std::move(total);
  j["top"] = Json::array();
  for (const CallCost* call : BySize(e, static_cast<size_t>(view.top))) j["top"].push_back(call->node);
  j["layers"] = Json::array();
  for (const CallCost& call : e.calls) j["layers"].push_back(CallJson(e, call));
  j["modules"] = Json::array();
  AddModules(e, ByModule(e, /*merge_alike=*/false), &j["modules"]);
  j["ops"] = GroupsJson(e, ByOperator(e), "op");
  j["lines"] = GroupsJson(e, ByLine(e), "where");
  return j.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cobra
