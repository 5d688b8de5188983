#include "client/explain/explain_render.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text/counted.h"
#include "base/text/without_escapes.h"
#include "client/answer/folded_calls.h"
#include "client/answer/unknown.h"
#include "client/terminal/output.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

constexpr int kBarWidth = 20;
// The overview fits a tall terminal.
constexpr size_t kOverviewModules = 28;  // lines of the module tree
constexpr size_t kOverviewLines = 5;
constexpr size_t kOverviewOperators = 6;
// The overview unfolds modules from one of these shares on: the smallest with which the tree fits.
constexpr double kUnfoldFrom[] = {0.05, 0.1, 0.2, 0.3, 0.5};
constexpr double kMinShownShare = 0.005;  // smaller siblings share a line there

std::string WhereOf(const CallCost& call) { return PlaceText(call.file, call.line); }

// The source lines, largest first; none if no call has a line number.
std::vector<GroupCost> SourceLines(const Explanation& e) {
  const bool known = std::any_of(e.calls.begin(), e.calls.end(),
                                 [](const CallCost& call) { return !call.file.empty() && HasLineNumbers(call.file); });
  return known ? ByLine(e) : std::vector<GroupCost>();
}

// A share of `full` fills the width; less than half a character becomes a dot.
std::string Bar(double share, double full) {
  if (share <= 0 || full <= 0) return "";
  const auto n = static_cast<size_t>(std::lround(kBarWidth * std::min(share / full, 1.0)));
  return n > 0 ? std::string(n, '#') : ".";
}

// A call that would be shown as zeros.
bool CostsNothing(const Explanation& e, const Cost& cost) {
  constexpr double kShownMs = 0.0005, kShownShare = 0.0005;  // rounded to three digits, and to "0.1 %"
  if (e.prediction.has_value())
    return std::abs(cost.latency_us) < 1000 * kShownMs && std::abs(e.TimeShare(cost)) < kShownShare;
  return e.FlopsShare(cost) < kShownShare && e.BytesShare(cost) < kShownShare;
}

template <typename T>
void Append(std::vector<T> more, std::vector<T>* all) {
  all->insert(all->end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

class Renderer {
 public:
  Renderer(const Explanation& e, const ExplainView& view)
      : e_(e), view_(view), timed_(e.prediction.has_value()), paint_(view.style.color) {}

  std::string Render() {
    Heading();
    switch (view_.by) {
      case ExplainBy::kOverview: Overview(); break;
      case ExplainBy::kLayer: Layers(); break;
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
  using NamedColumn = std::pair<std::string, Column>;
  struct Row {
    std::vector<std::string> cells;
    double share = 0;
    std::string below;  // a separate line under the row
  };

  void Line(absl::string_view line) { absl::StrAppend(&text_, line, "\n"); }
  void Section(absl::string_view title) {
    Line(absl::StrCat("\n", paint_.Heading(Shortened(title, view_.style.width))));
  }

  void Heading() {
    Line(paint_.Heading(
        absl::StrCat(WithoutEscapes(e_.title), e_.inputs.empty() ? "" : ", input ", absl::StrJoin(e_.inputs, ", "))));
    Line(absl::StrCat(Counted(e_.total.calls, "call"), ", ",
                      CountText(static_cast<double>(e_.total.parameters + e_.unused_parameters)), " parameters",
                      e_.unused_parameters > 0
                          ? absl::StrCat(" (", CountText(static_cast<double>(e_.unused_parameters)), " of them unused)")
                          : "",
                      ", ", CountText(static_cast<double>(e_.total.macs)), "MAC, ",
                      CountText(static_cast<double>(e_.total.flops)), "FLOP, ", MebibytesText(e_.total.bytes),
                      " read and written, peak memory ", MebibytesText(e_.peak_memory_bytes)));
    if (timed_) {
      const v1::TargetPrediction& p = *e_.prediction;
      const std::string interval = p.coverage() > 0
                                       ? absl::StrFormat("%.0f %% interval %s ms", 100 * p.coverage(), IntervalText(p))
                                       : paint_.Doubt(absl::StrCat(IntervalText(p), " ms"));
      Line(absl::StrFormat("predicted %s ms on %s (%s), confidence %s%s", MillisecondsText(p.latency_us()),
                           WithoutEscapes(p.target()), interval,
                           PaintedConfidence(paint_, p.confidence(), absl::StrFormat("%.2f", p.confidence())),
                           p.extrapolating() ? ", extrapolating: unlike what the weights were trained on" : ""));
      if (!view_.lacks_memory.empty())
        Line(paint_.Bad(absl::StrCat("does not fit: ", view_.lacks_memory, " of memory")));
      for (absl::string_view line :
           absl::StrSplit(absl::StrCat(UndisturbedText(p), UnknownText(p)), '\n', absl::SkipEmpty()))
        Line(line);
    } else {
      Line("shares are of FLOP and of bytes moved, not of time; --target NAME predicts the time");
    }
    Headlines();
  }

  const char* OfWhat(const Cost& cost) const {
    if (timed_) return "the time";
    return e_.FlopsShare(cost) >= e_.Share(cost) ? "the FLOP" : "the bytes moved";
  }
  std::string ShareText(const Cost& cost) const {
    const double share = e_.Share(cost);
    return absl::StrCat(paint_.Weight(PercentText(share), share), " of ", OfWhat(cost));
  }

  // The first things to look at: the heaviest source line, if it has several groups of calls, and
  // the heaviest calls.
  void Headlines() {
    const std::vector<CallGroup> groups = GroupCalls(e_);
    if (groups.empty()) return;
    const CallGroup& group = groups[0];
    const char* most = timed_ ? "slowest" : "heaviest";
    const std::vector<GroupCost> lines = SourceLines(e_);
    if (!lines.empty() && lines[0].name != kUnknownLine && lines[0].cost.calls > group.cost.calls &&
        e_.Share(lines[0].cost) > e_.Share(group.cost)) {
      const GroupCost& line = lines[0];
      Line(absl::StrCat(most, " line: ", line.name, ", ", ShareText(line.cost)));
      if (!line.source.empty()) Line(Shortened(absl::StrCat("  ", line.source), view_.style.width));
    }
    const CallCost& call = group.first();
    const std::string place = WhereOf(call);
    Line(absl::StrCat(most, group.cost.calls > 1 ? absl::StrCat(" calls: ", group.cost.calls, " x ") : " call: ",
                      call.op, group.module_path.empty() ? "" : " in ", group.module_path,
                      place.empty() ? "" : absl::StrCat(" (", place, ")"), ", ", ShareText(group.cost)));
    FusedCalls();
  }

  // What the runtime fuses, by operator.
  void FusedCalls() {
    std::map<std::string, int> by_op;
    double alone_us = 0, inside_us = 0;
    int count = 0;
    for (const CallCost& call : e_.calls) {
      if (!IsFused(call, e_.total)) continue;
      ++by_op[call.op];
      ++count;
      alone_us += call.alone_us;
      inside_us += call.cost.latency_us;
    }
    if (count == 0) return;
    std::vector<std::string> ops;
    for (const auto& [op, n] : by_op) ops.push_back(absl::StrCat(n, " ", op));
    Line(absl::StrFormat("%s %s probably fused with a neighbour (%s): %s ms here, alone %s ms", Counted(count, "call"),
                         count == 1 ? "is" : "are", absl::StrJoin(ops, ", "), MillisecondsText(inside_us),
                         MillisecondsText(alone_us)));
  }

  void Overview() {
    Section(absl::StrCat("Modules, in order of execution", timed_ ? ": share of the time" : ""));
    Modules(/*everything=*/false);
    std::vector<CallGroup> groups = GroupCalls(e_);
    groups.resize(std::min(groups.size(), static_cast<size_t>(view_.top)));
    Cost sum;
    for (const CallGroup& group : groups) sum += group.cost;
    Section(absl::StrCat(timed_ ? "Slowest" : "Heaviest", " calls, equal ones grouped: ", sum.calls, " of ",
                         e_.total.calls,
                         timed_ ? absl::StrCat(", ", PercentText(e_.TimeShare(sum)), " of the time") : ""));
    Calls(groups);
    if (const std::vector<GroupCost> lines = SourceLines(e_); !lines.empty()) {
      Section("Source lines");
      Groups(lines, "line", kOverviewLines);
    }
    Section("Operators");
    Groups(ByOperator(e_), "operator", kOverviewOperators);
  }

  // ---- the columns that every table begins with

  // A narrow terminal has no room for the bars.
  std::vector<NamedColumn> CostColumns() const {
    return {{timed_ ? "time" : "FLOP", {true}}, {timed_ ? "ms" : "bytes", {true}}, {"", {.leave_out = 9}}};
  }
  std::vector<std::string> CostCells(const Cost& cost, double full) const {
    if (timed_)
      return {PercentText(e_.TimeShare(cost)), MillisecondsText(cost.latency_us), Bar(e_.TimeShare(cost), full)};
    return {PercentText(e_.FlopsShare(cost)), PercentText(e_.BytesShare(cost)), Bar(e_.Share(cost), full)};
  }
  const char* CostNothing() const {
    return timed_ ? "that take next to no time" : "with next to no arithmetic and memory traffic";
  }
  void Folded(const FoldedCalls& folded) {
    if (!folded.empty()) Line(paint_.Dim(folded.Text(CostNothing())));
  }
  static std::string Mega(int64_t n) { return absl::StrFormat("%.2f", static_cast<double>(n) / 1e6); }

  // Rows with their colours and the lines below them.
  void Table(const std::vector<NamedColumn>& columns, const std::vector<Row>& rows) {
    std::vector<std::vector<std::string>> cells(1);
    std::vector<Column> forms;
    for (const auto& [name, form] : columns) {
      cells[0].push_back(name);
      forms.push_back(form);
    }
    for (const Row& row : rows) cells.push_back(row.cells);
    const TableLines table = LinesOfTable(cells, std::move(forms), view_.style.width);
    Line(paint_.Dim(table.lines[0]));
    for (size_t i = 0; i < rows.size(); ++i) {
      Line(paint_.Weight(table.lines[i + 1], rows[i].share));
      if (!rows[i].below.empty()) Line(paint_.Dim(Shortened(rows[i].below, view_.style.width)));
    }
    if (!table.left_out.empty()) Line(paint_.Dim(table.left_out));
  }

  // ---- modules

  struct TreeLine {
    const ModuleCost* module;
    int depth;
    bool own = false;     // the module's own calls, if it also has children
    bool folded = false;  // it has children that are not shown
    const Cost& cost() const { return own ? module->own : module->cost; }
  };

  // Every module with a share of at least `least` is unfolded, and no other. Depth is bounded
  // (explain.cc).
  void Unfold(const ModuleCost& m, int depth, double least, std::vector<TreeLine>* lines) const {
    const bool open = depth == 0 || e_.Share(m.cost) >= least;
    lines->push_back({&m, depth, /*own=*/false, /*folded=*/!open && !m.children.empty()});
    if (!open || m.children.empty()) return;
    if (m.own.calls > 0) lines->push_back({&m, depth + 1, /*own=*/true});
    for (const ModuleCost& child : m.children) Unfold(child, depth + 1, least, lines);
  }

  bool IsShown(const TreeLine& line) const { return line.depth == 0 || e_.Share(line.cost()) >= kMinShownShare; }

  // The tree of the overview; `least` becomes the share from which on modules are unfolded.
  std::vector<TreeLine> FittingTree(const ModuleCost& root, double* least) const {
    std::vector<TreeLine> lines;
    for (double share : kUnfoldFrom) {
      *least = share;
      lines.clear();
      Unfold(root, 0, share, &lines);
      const auto shown = std::count_if(lines.begin(), lines.end(), [&](const TreeLine& l) { return IsShown(l); });
      if (static_cast<size_t>(shown) <= kOverviewModules) break;
    }
    return lines;
  }

  void Modules(bool everything) {
    const ModuleCost root = ByModule(e_, /*merge_repeated_modules=*/!everything);
    std::vector<TreeLine> tree;
    double least = 0;
    if (everything) {
      Unfold(root, 0, -std::numeric_limits<double>::infinity(), &tree);
    } else {
      tree = FittingTree(root, &least);
    }
    std::vector<Row> rows;
    int hidden = 0, cost_nothing = 0;
    bool folded = false;
    for (const TreeLine& line : tree) {
      if (everything ? line.depth > 0 && CostsNothing(e_, line.cost()) : !IsShown(line)) {
        ++(everything ? cost_nothing : hidden);
        continue;
      }
      folded = folded || line.folded;
      const ModuleCost& m = *line.module;
      std::string name = line.own ? "(its own calls)" : line.depth == 0 ? "(model)" : m.name;
      if (m.alike > 1 && !line.own) absl::StrAppend(&name, " (", m.alike, " alike)");
      if (line.folded) absl::StrAppend(&name, " +");
      Row row{CostCells(line.cost(), 1), e_.Share(line.cost()), ""};
      Append({absl::StrCat(line.cost().calls), CountText(static_cast<double>(line.cost().parameters)),
              absl::StrCat(std::string(2 * line.depth, ' '), name)},
             &row.cells);
      rows.push_back(std::move(row));
    }
    std::vector<NamedColumn> columns = CostColumns();
    Append({{"calls", {true}}, {"params", {.right = true, .leave_out = 8}}, {"module", {false, 16}}}, &columns);
    Table(columns, rows);
    if (cost_nothing > 0) Line(paint_.Dim(absl::StrCat("and ", Counted(cost_nothing, "line"), " ", CostNothing())));
    std::vector<std::string> left_out;
    if (folded) left_out.push_back(absl::StrFormat("+ is folded: less than %g %%", 100 * least));
    if (hidden > 0) left_out.push_back(absl::StrCat(hidden, " more with less than 0.5 %"));
    if (left_out.empty()) return;
    Line(
        paint_.Dim(Shortened(absl::StrCat(absl::StrJoin(left_out, "; "), "; --by module has all"), view_.style.width)));
  }

  // ---- calls

  void Calls(const std::vector<CallGroup>& groups) {
    const double full = groups.empty() ? 1 : e_.Share(groups[0].cost);
    std::vector<Row> rows;
    std::string last;
    for (const CallGroup& group : groups) {
      const CallCost& call = group.first();
      Row row{CostCells(group.cost, full), e_.Share(group.cost), ""};
      Append({absl::StrCat(group.cost.calls, " x"), absl::StrCat(call.node), call.op, group.module_path, Shapes(call),
              WhereOf(call)},
             &row.cells);
      // Consecutive calls of the same source line quote it once.
      if (!call.source.empty() && WhereOf(call) != last) row.below = absl::StrCat("        ", call.source);
      last = WhereOf(call);
      rows.push_back(std::move(row));
    }
    std::vector<NamedColumn> columns = CostColumns();
    Append({{"calls", {true}},
            {"first", {.right = true, .leave_out = 8}},
            {"operator", {.min_width = 8, .keep_both = true}},
            {"module", {false, 14, true}},
            {"shapes", {.min_width = 15, .keep_both = true, .leave_out = 7}},
            {"where", {false, 12, true}}},
           &columns);
    Table(columns, rows);
  }

  static std::string Shapes(const CallCost& call) {
    return call.input.empty() ? call.output : absl::StrCat(call.input, " -> ", call.output);
  }

  void Layers() {
    Section("Calls, in order of execution");
    double full = 0;
    bool unsure = false;
    for (const CallCost& call : e_.calls) {
      full = std::max(full, e_.Share(call.cost));
      unsure = unsure || !call.unknown.empty();
    }
    std::vector<Row> rows;
    FoldedCalls folded;
    for (const CallCost& call : e_.calls) {
      if (CostsNothing(e_, call.cost) && call.unknown.empty()) {
        folded.Add(call.op, call.cost.latency_us);
        continue;
      }
      Row row{{absl::StrCat(call.node)}, e_.Share(call.cost), ""};
      Append(CostCells(call.cost, full), &row.cells);
      Append({Mega(call.cost.macs), Mega(call.cost.flops), MebibytesText(call.cost.bytes),
              CountText(static_cast<double>(call.cost.parameters)), call.op, call.module_path, call.output,
              WhereOf(call), call.source},
             &row.cells);
      if (unsure) row.cells.push_back(call.unknown);
      rows.push_back(std::move(row));
    }
    std::vector<NamedColumn> columns = {{"call", {true}}};
    Append(CostColumns(), &columns);
    Append({{"MMAC", {.right = true, .leave_out = 6}},
            {"MFLOP", {.right = true, .leave_out = 7}},
            {"moved", {.right = true, .leave_out = 8}},
            {"params", {.right = true, .leave_out = 5}},
            {"operator", {.min_width = 8, .keep_both = true}},
            {"module", {false, 16, true}},
            {"output", {.min_width = 10, .keep_both = true, .leave_out = 4}},
            {"where", {false, 16, true}},
            {"source", {.min_width = 12, .leave_out = 3}}},
           &columns);
    if (unsure) columns.push_back({"unsure, because", {.min_width = 12, .below = true}});
    Table(columns, rows);
    Folded(folded);
  }

  // ---- operators and lines

  void Groups(const std::vector<GroupCost>& groups, absl::string_view what,
              size_t most = std::numeric_limits<size_t>::max()) {
    const size_t shown = std::min(groups.size(), most);
    std::vector<Row> rows;
    Cost folded;
    int folded_rows = 0;
    bool sources = false;
    for (size_t i = 0; i < shown; ++i) sources = sources || !groups[i].source.empty();
    for (size_t i = 0; i < shown; ++i) {
      const Cost& cost = groups[i].cost;
      if (CostsNothing(e_, cost)) {
        folded += cost;
        ++folded_rows;
        continue;
      }
      Row row{CostCells(cost, 1), e_.Share(cost), ""};
      Append({absl::StrCat(cost.calls), Mega(cost.macs), Mega(cost.flops), MebibytesText(cost.bytes), groups[i].name},
             &row.cells);
      if (sources) row.cells.push_back(groups[i].source);
      rows.push_back(std::move(row));
    }
    std::vector<NamedColumn> columns = CostColumns();
    Append({{"calls", {true}},
            {"MMAC", {.right = true, .leave_out = 8}},
            {"MFLOP", {.right = true, .leave_out = 6}},
            {"moved", {.right = true, .leave_out = 7}},
            {std::string(what), {false, 16, true}}},
           &columns);
    if (sources) columns.push_back({"source", {.min_width = 20, .leave_out = 1}});
    Table(columns, rows);
    if (folded_rows > 0) {
      Line(paint_.Dim(
          absl::StrCat("and ", Counted(folded_rows, what), " of ", Counted(folded.calls, "call"), " ", CostNothing())));
    }
    if (shown == groups.size()) return;
    Line(paint_.Dim(
        absl::StrCat("and ", groups.size() - shown, " more; --by ", what == "line" ? "line" : "op", " has all")));
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
  if (e.prediction.has_value()) {
    j["unknown"] = call.unknown;
    j["alone_us"] = call.alone_us;
    j["taken_for_one"] = IsFused(call, e.total);
  }
  AddCost(e, call.cost, &j);
  j.erase("calls");
  return j;
}

Json CallGroupJson(const Explanation& e, const CallGroup& group) {
  const CallCost& call = group.first();
  Json j = {{"op", call.op},       {"module", group.module_path}, {"where", WhereOf(call)}, {"source", call.source},
            {"input", call.input}, {"output", call.output},       {"nodes", Json::array()}};
  for (const CallCost* member : group.calls) j["nodes"].push_back(member->node);
  AddCost(e, group.cost, &j);
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
    j["prediction"] = FieldsJson<Json>(*e.prediction);
    j["prediction"]["model_version"] = e.model_version;
  }
  Json total;
  AddCost(e, e.total, &total);
  total["params"] = e.total.parameters + e.unused_parameters;
  total["peak_memory_bytes"] = e.peak_memory_bytes;
  j["total"] = std::move(total);
  j["top"] = Json::array();
  for (const CallCost* call : LargestCalls(e, static_cast<size_t>(view.top))) j["top"].push_back(call->node);
  j["alike"] = Json::array();
  std::vector<CallGroup> groups = GroupCalls(e);
  groups.resize(std::min(groups.size(), static_cast<size_t>(view.top)));
  for (const CallGroup& group : groups) j["alike"].push_back(CallGroupJson(e, group));
  j["layers"] = Json::array();
  for (const CallCost& call : e.calls) j["layers"].push_back(CallJson(e, call));
  j["modules"] = Json::array();
  AddModules(e, ByModule(e, /*merge_repeated_modules=*/false), &j["modules"]);
  j["ops"] = GroupsJson(e, ByOperator(e), "op");
  j["lines"] = GroupsJson(e, ByLine(e), "where");
  return IndentedJson(j);
}

}  // namespace cobra::client
