#include "report/boxes.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/cost/cost.h"
#include "report/call_text.h"

namespace cobra::report {
namespace {

// Deeper names count as one: no real network is nested so deeply, but a hostile graph may be.
constexpr size_t kMaxDepth = 32;
// More boxes inside one are cut into parts: a reader sees no more at once, and a page lays out no
// more at once.
constexpr size_t kMostChildren = 40;
// Repetitions without names are looked for where a box has more children than this.
constexpr size_t kFewChildren = 24;
constexpr size_t kLongestRepetition = 64;

// A box while it is built.
struct Item {
  BoxKind kind = BoxKind::kModule;
  std::string label;
  size_t depth = 0;  // parts of the paths of its calls that are its own name and those around it
  int32_t first = 0, end = 0;
  size_t structure = 0;  // hash of its calls and of the names below it
  std::vector<Item> children;

  int32_t calls() const { return end - first; }
};

class Maker {
 public:
  explicit Maker(const graph::Graph& graph) {
    const std::vector<graph::NodeCost> costs = graph::NodeCosts(graph);
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      const graph::Node& node = graph.nodes()[i];
      SplitPath(node.origin.module_path);
      const graph::NodeCost& c = costs[i];
      size_t hash = absl::HashOf(node.op, c.macs, c.flops, c.input_bytes, c.weight_bytes, c.output_bytes);
      for (const graph::TensorType& type : node.outputs) hash = absl::HashOf(hash, type.dtype, type.shape);
      hashes_.push_back(hash);
    }
  }

  Item Root() const {
    Item root;
    root.end = static_cast<int32_t>(paths_.size());
    Fill(&root);
    return root;
  }

 private:
  using Path = std::vector<absl::string_view>;

  // Exporters to ONNX write "/layer1/layer1.0/conv1/Conv": there a dot is part of a name.
  void SplitPath(absl::string_view path) {
    const char separator = !path.empty() && path[0] == '/' ? '/' : '.';
    separators_.push_back(separator);
    Path& parts = paths_.emplace_back();
    if (path.empty()) return;
    if (separator == '/') path.remove_prefix(1);
    parts = absl::StrSplit(path, absl::MaxSplits(separator, static_cast<int>(kMaxDepth) - 1));
  }

  std::string Joined(int32_t call, size_t from, size_t to) const {
    const Path& path = paths_[call];
    return absl::StrJoin(path.begin() + static_cast<ptrdiff_t>(from), path.begin() + static_cast<ptrdiff_t>(to),
                         std::string(1, separators_[call]));
  }

  // Whether the paths of all calls of an item go on with the same name.
  bool HasOneNameBelow(const Item& item) const {
    for (int32_t i = item.first; i < item.end; ++i) {
      if (paths_[i].size() <= item.depth || paths_[i][item.depth] != paths_[item.first][item.depth]) return false;
    }
    return true;
  }

  size_t StructureOf(const Item& item) const {
    size_t hash = 0;
    for (int32_t i = item.first; i < item.end; ++i) {
      hash = absl::HashOf(hash, hashes_[i]);
      for (size_t part = item.depth; part < paths_[i].size(); ++part) hash = absl::HashOf(hash, part, paths_[i][part]);
    }
    return hash;
  }

  Item CallOf(int32_t call, size_t depth) const {
    Item item;
    item.kind = BoxKind::kCall;
    item.label = Joined(call, depth, paths_[call].size());
    item.depth = paths_[call].size();
    item.first = call;
    item.end = call + 1;
    item.structure = hashes_[call];
    return item;
  }

  // Finds the children of a module.
  void Fill(Item* module) const {
    const size_t depth = module->depth;
    for (int32_t i = module->first; i < module->end;) {
      int32_t end = i + 1;
      if (paths_[i].size() > depth) {
        while (end < module->end && paths_[end].size() > depth && paths_[end][depth] == paths_[i][depth]) ++end;
      }
      if (end == i + 1) {
        module->children.push_back(CallOf(i, depth));
      } else {
        Item child;
        child.first = i;
        child.end = end;
        child.depth = depth + 1;
        child.structure = StructureOf(child);
        while (HasOneNameBelow(child)) ++child.depth;
        child.label = Joined(i, depth, child.depth);
        Fill(&child);
        module->children.push_back(std::move(child));
      }
      i = end;
    }
    MergeAlike(module);
    if (module->children.size() > kFewChildren) MergeRepetitions(module);
    CutLong(module);
    LiftOnlyChild(module);
  }

  // layers.0, layers.1 ... of one structure become one box.
  static void MergeAlike(Item* module) {
    std::vector<Item> merged;
    for (size_t i = 0; i < module->children.size();) {
      std::vector<Item>& children = module->children;
      const std::optional<absl::string_view> stem = NumberedStem(children[i].label);
      size_t end = i + 1;
      while (stem.has_value() && end < children.size() && NumberedStem(children[end].label) == stem &&
             AreAlike(children[i], children[end]))
        ++end;
      if (end == i + 1) {
        merged.push_back(std::move(children[i]));
      } else {
        Item group = GroupOf(absl::MakeSpan(children).subspan(i, end - i), BoxKind::kAlike);
        const std::string first = group.children.front().label, last = group.children.back().label;
        // A number alone would be read as a count.
        group.label = stem->empty() ? absl::StrCat(".", first, " to .", last)
                                    : absl::StrCat(first, " to ", last.substr(stem->size()));
        merged.push_back(std::move(group));
      }
      i = end;
    }
    module->children = std::move(merged);
  }

  static bool AreAlike(const Item& a, const Item& b) {
    return a.kind == b.kind && a.calls() == b.calls() && a.structure == b.structure;
  }

  // Takes the items.
  static Item GroupOf(absl::Span<Item> items, BoxKind kind) {
    Item group;
    group.kind = kind;
    group.first = items.front().first;
    group.end = items.back().end;
    group.depth = items.front().depth;
    for (Item& item : items) {
      group.structure = absl::HashOf(group.structure, item.structure);
      group.children.push_back(std::move(item));
    }
    return group;
  }

  // How often the `period` items from `at` on repeat.
  static size_t TimesOf(const std::vector<Item>& items, size_t at, size_t period) {
    size_t i = at + period;
    while (i < items.size() && items[i].label.empty() == items[i - period].label.empty() &&
           AreAlike(items[i], items[i - period]))
      ++i;
    return (i - at) / period;
  }

  // Sequences that repeat in a long list of calls: what blocks look like in a file without module
  // names.
  static void MergeRepetitions(Item* module) {
    std::vector<Item>& items = module->children;
    std::vector<Item> merged;
    for (size_t i = 0; i < items.size();) {
      size_t best_period = 0, best_times = 0, best_saved = 0;
      for (size_t period = 1; period <= kLongestRepetition && 2 * period <= items.size() - i; ++period) {
        const size_t times = TimesOf(items, i, period), saved = (times - 1) * period;
        constexpr size_t kLongEnough = 6;  // a shorter sequence that comes twice is chance
        if ((times < 3 && (times < 2 || period < kLongEnough)) || saved <= best_saved) continue;
        best_period = period;
        best_times = times;
        best_saved = saved;
      }
      if (best_times == 0) {
        merged.push_back(std::move(items[i++]));
        continue;
      }
      std::vector<Item> rounds;
      for (size_t round = 0; round < best_times; ++round, i += best_period) {
        rounds.push_back(best_period == 1 ? std::move(items[i])
                                          : GroupOf(absl::MakeSpan(items).subspan(i, best_period), BoxKind::kPart));
      }
      merged.push_back(GroupOf(absl::MakeSpan(rounds), BoxKind::kAlike));
    }
    items = std::move(merged);
  }

  static void CutLong(Item* module) {
    for (Item& child : module->children) CutLongGroup(&child);
    while (module->children.size() > kMostChildren) {
      std::vector<Item> parts;
      for (size_t i = 0; i < module->children.size(); i += kMostChildren) {
        const size_t count = std::min(kMostChildren, module->children.size() - i);
        parts.push_back(GroupOf(absl::MakeSpan(module->children).subspan(i, count), BoxKind::kPart));
      }
      module->children = std::move(parts);
    }
  }

  // Groups that were just made have not been cut: a group of a thousand alike, and the rounds in
  // it.
  static void CutLongGroup(Item* item) {
    if (item->kind == BoxKind::kModule || item->kind == BoxKind::kCall) return;
    if (item->kind == BoxKind::kAlike) {
      for (Item& round : item->children) CutLongGroup(&round);
    } else {
      CutLong(item);
    }
  }

  // "layers" that consists of "0 ... 11" is "layers.*".
  static void LiftOnlyChild(Item* module) {
    if (module->children.size() != 1 || module->children[0].kind != BoxKind::kAlike || module->label.empty()) return;
    Item only = std::move(module->children[0]);
    module->kind = BoxKind::kAlike;
    absl::StrAppend(&module->label, ".*");
    module->children = std::move(only.children);
  }

  std::vector<Path> paths_;
  std::vector<char> separators_;
  std::vector<size_t> hashes_;
};

void Flatten(Item item, int32_t parent, std::vector<Box>* boxes) {
  const auto index = static_cast<int32_t>(boxes->size());
  Box& box = boxes->emplace_back();
  box.kind = item.kind;
  box.label = std::move(item.label);
  box.parent = parent;
  box.first_call = item.first;
  box.end_call = item.end;
  if (parent >= 0) (*boxes)[parent].children.push_back(index);
  for (Item& child : item.children) Flatten(std::move(child), index, boxes);
}

// The children of the innermost box around both boxes that contain them.
std::pair<int32_t, int32_t> BelowCommon(const std::vector<Box>& boxes, int32_t a, int32_t b) {
  while (boxes[a].parent != boxes[b].parent) {
    // A parent has a smaller index than its children: the larger one is not an ancestor of the
    // other.
    int32_t& larger = boxes[a].parent > boxes[b].parent ? a : b;
    larger = boxes[larger].parent;
  }
  return {a, b};
}

void AddEdges(const graph::Graph& graph, std::vector<Box>* boxes) {
  std::vector<int32_t> box_of(graph.nodes().size());
  for (size_t i = 0; i < boxes->size(); ++i) {
    if ((*boxes)[i].kind == BoxKind::kCall) box_of[(*boxes)[i].first_call] = static_cast<int32_t>(i);
  }
  for (size_t k = 0; k < graph.nodes().size(); ++k) {
    for (const graph::ValueRef& input : graph.nodes()[k].inputs) {
      int32_t common = -1;  // of the boxes around both, the innermost
      if (input.is_node()) {
        const auto edge = BelowCommon(*boxes, box_of[input.index], box_of[k]);
        common = (*boxes)[edge.first].parent;
        (*boxes)[common].edges.push_back(edge);
      } else if (input.kind != graph::ValueRef::Kind::kInput) {
        continue;
      }
      for (int32_t box = box_of[k]; box >= 0 && (*boxes)[box].parent != common; box = (*boxes)[box].parent)
        (*boxes)[box].reads_outside = true;
    }
  }
  for (Box& box : *boxes) {
    std::sort(box.edges.begin(), box.edges.end());
    box.edges.erase(std::unique(box.edges.begin(), box.edges.end()), box.edges.end());
  }
}

// The row of a child is one below the lowest of those that it reads. A child that reads none of
// them (a table of positions) is right above the first one that reads it.
void SetRows(std::vector<Box>* boxes) {
  constexpr int32_t kNone = std::numeric_limits<int32_t>::max();
  std::vector<int32_t> reader_row(boxes->size(), kNone);
  std::vector<bool> reads(boxes->size(), false);
  for (Box& box : *boxes) {
    // Sorted by the first of each pair, and calls run in order: a child's row is known before it is
    // passed on.
    for (const auto& [from, to] : box.edges) {
      (*boxes)[to].row = std::max((*boxes)[to].row, (*boxes)[from].row + 1);
      reads[to] = true;
    }
    for (const auto& [from, to] : box.edges) reader_row[from] = std::min(reader_row[from], (*boxes)[to].row);
    for (const int32_t child : box.children) {
      if (!reads[child] && reader_row[child] != kNone) (*boxes)[child].row = reader_row[child] - 1;
    }
  }
}

}  // namespace

std::vector<Box> MakeBoxes(const graph::Graph& graph) {
  std::vector<Box> boxes;
  Flatten(Maker(graph).Root(), -1, &boxes);
  AddEdges(graph, &boxes);
  SetRows(&boxes);
  return boxes;
}

}  // namespace cobra::report
