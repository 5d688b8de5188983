#include "report/network_svg.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/counted.h"
#include "base/text/utf8.h"
#include "graph/cost/cost.h"
#include "report/boxes.h"
#include "report/markup.h"

namespace cobra::report {
namespace {

// In pixels. Letters are those of the widest usual font (DejaVu Sans, on average): a picture of its
// own cannot ask how wide its text is, and what does not fit is cut off.
constexpr double kLetter = 8.3;  // of the labels, 13 pixels high
constexpr double kLeast = 140, kMost = 320, kBoxHeight = 44, kGap = 16, kRowGap = 26, kPad = 14, kHeader = 30;
constexpr double kLane = 10, kMargin = 20, kTitleHeight = 74, kLegendHeight = 52;
constexpr double kMostRowWidth = 1200;
constexpr size_t kMostBoxes = 40;
constexpr size_t kMostLanes = 6;
constexpr double kLeastOpened = 0.02;  // share of the arithmetic
constexpr size_t kMostLabel = 60;
constexpr double kTitleLetter = 12, kSoftLetter = 7.7, kLeastWidth = 720;  // of bold text of 17 pixels, and of 12

// Shares of the arithmetic from which on each colour is used.
constexpr double kSteps[] = {0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32};

// The colours of report/page/page.css.
constexpr char kStyle[] = R"(<style>
text{font:13px system-ui,sans-serif;fill:#1f2328}
.paper{fill:#fff}.title{font-size:17px;font-weight:600}.soft{fill:#57606a;font-size:12px}.sub{font-size:12px}
.frame{fill:#f6f8fa;stroke:#afb8c1}.deep{fill:#fff}.box{stroke:#8c959f}.wire{fill:none;stroke:#6e7781;stroke-width:1.3}.tip{fill:#6e7781}
.h0{fill:#f4f7fb}.h1{fill:#dfebf7}.h2{fill:#c6dcf0}.h3{fill:#a3c9e6}.h4{fill:#7fb5dc}.h5{fill:#5a9fd0}.h6{fill:#2068ac}.h7{fill:#08437f}
.t6,.t7{fill:#fff}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.paper{fill:#0d1117}.soft{fill:#9aa4af}
.frame{fill:#151b23;stroke:#484f58}.deep{fill:#0d1117}.box{stroke:#6e7681}.wire{stroke:#8b949e}.tip{fill:#8b949e}
.h0{fill:#1b232d}.h1{fill:#1c3045}.h2{fill:#1d3f60}.h3{fill:#1f4d78}.h4{fill:#235c92}.h5{fill:#5b9bd5}.h6{fill:#83bbec}.h7{fill:#b3d9fb}
.t5,.t6,.t7{fill:#04101c}
}
</style>
)";

// At most so many characters.
std::string Shortened(absl::string_view text, size_t most) {
  size_t bytes = 0;
  for (size_t count = 0; bytes < text.size(); ++count) {
    if (count + 1 == most) return absl::StrCat(text.substr(0, bytes), "\xe2\x80\xa6");
    bytes += std::max<size_t>(1, Utf8CharacterBytes(text.substr(bytes)));
  }
  return std::string(text);
}

struct Size {
  double width = 0, height = 0;
};

// A box of the picture. An open one has what is inside.
struct Drawn {
  const Box* box = nullptr;
  int64_t times = 1;  // how many boxes of the network it stands for
  double share = 0;   // of the arithmetic, of all of them
  bool open = false;
  Size size;
  double x = 0, y = 0;                   // relative to the frame around it
  double line_top = 0, line_bottom = 0;  // of the boxes beside it, likewise
  bool is_last = false;                  // of these
  std::vector<Drawn> inside;
  size_t lanes = 0;  // beside the boxes, for arrows over several rows
};

class Picture {
 public:
  Picture(const graph::Graph& graph, absl::string_view title) : graph_(graph), boxes_(MakeBoxes(graph)), title_(title) {
    double sum = 0;
    const std::vector<graph::NodeCost> costs = graph::NodeCosts(graph);
    before_.push_back(0);
    for (const graph::NodeCost& cost : costs) before_.push_back(sum += static_cast<double>(cost.flops));
  }

  std::string Draw() {
    Drawn root = DrawnOf(0, 1);
    Open(&root);
    Lay(&root);
    const double width = std::max(root.size.width + 2 * kMargin, kLeastWidth);
    const double height = kTitleHeight + root.size.height + kLegendHeight;
    root.x = (width - root.size.width) / 2;
    root.y = kTitleHeight;
    Place(root, 0, 0, 0);
    Heading(width, height);
    return absl::StrFormat(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
        "role=\"img\">\n<title>%s</title>\n%s<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n%s</svg>\n",
        width, height, width, height, MarkupText(title_), kStyle, width, height, body_);
  }

 private:
  Drawn DrawnOf(int32_t index, int64_t times) const {
    Drawn drawn;
    drawn.box = &boxes_[index];
    drawn.times = times;
    const double all = before_.back();
    const double flops = before_[drawn.box->end_call] - before_[drawn.box->first_call];
    drawn.share = all > 0 ? static_cast<double>(times) * flops / all : 0;
    return drawn;
  }

  // The box whose children are drawn inside; of boxes that are alike, the first one.
  const Box& Content(const Box& box) const {
    const bool inner = box.kind == BoxKind::kAlike && !boxes_[box.children[0]].children.empty() &&
                       boxes_[box.children[0]].kind != BoxKind::kAlike;
    return inner ? boxes_[box.children[0]] : box;
  }

  std::vector<Drawn> InsideOf(const Drawn& drawn) const {
    const Box& box = *drawn.box;
    const int64_t times =
        box.kind == BoxKind::kAlike ? drawn.times * static_cast<int64_t>(box.children.size()) : drawn.times;
    std::vector<Drawn> inside;
    const Box& content = Content(box);
    for (const int32_t child : content.children) {
      inside.push_back(DrawnOf(child, times));
      if (content.kind == BoxKind::kAlike) break;
    }
    return inside;
  }

  static bool CanOpen(const Box& box, const std::vector<Box>& boxes) {
    if (box.kind == BoxKind::kCall) return false;
    return box.kind != BoxKind::kAlike || boxes[box.children[0]].kind != BoxKind::kCall;
  }

  // The network, then whatever has the most arithmetic and still fits.
  void Open(Drawn* root) const {
    if (root->box->children.empty()) return;
    root->open = true;
    root->inside = InsideOf(*root);
    size_t count = root->inside.size();
    while (Drawn* next = Largest(root, count)) {
      next->open = true;
      next->inside = InsideOf(*next);
      count += next->inside.size();
    }
  }

  // The closed box with the largest share of those that can be opened; null if there is none.
  Drawn* Largest(Drawn* from, size_t count) const {
    if (!from->open) {
      const bool fits = CanOpen(*from->box, boxes_) && from->share >= kLeastOpened &&
                        count + Content(*from->box).children.size() <= kMostBoxes;
      return fits ? from : nullptr;
    }
    Drawn* best = nullptr;
    for (Drawn& child : from->inside) {
      Drawn* found = Largest(&child, count);
      if (found != nullptr && (best == nullptr || found->share > best->share)) best = found;
    }
    return best;
  }

  std::string LabelOf(const Drawn& drawn) const { return Shortened(FullLabelOf(*drawn.box), kMostLabel); }

  std::string FullLabelOf(const Box& box) const {
    const std::string times = box.kind == BoxKind::kAlike ? absl::StrCat(box.children.size(), " \xc3\x97 ") : "";
    if (!box.label.empty()) return absl::StrCat(times, box.label);
    if (box.kind == BoxKind::kCall) return std::string(graph::OpName(graph_.nodes()[box.first_call].op));
    if (box.kind == BoxKind::kAlike) return absl::StrCat(times, Counted(boxes_[box.children[0]].calls(), "call"));
    if (box.parent < 0) return "network";
    return absl::StrCat("calls ", box.first_call, " to ", box.end_call - 1);
  }

  std::string DetailOf(const Drawn& drawn) const {
    const Box& box = *drawn.box;
    const std::string share = drawn.share >= 0.0005 ? absl::StrFormat(" \xc2\xb7 %.1f %%", 100 * drawn.share) : "";
    if (box.kind != BoxKind::kCall) return absl::StrCat(Counted(box.calls(), "call"), share);
    const graph::Node& node = graph_.nodes()[box.first_call];
    const std::string what = box.label.empty() ? node.outputs.empty() ? "" : graph::ShapeText(node.outputs[0].shape)
                                               : std::string(graph::OpName(node.op));
    return absl::StrCat(what, share);
  }

  // The sizes, from the inside out.
  void Lay(Drawn* drawn) const {
    if (!drawn->open) {
      const size_t letters = std::max(LabelOf(*drawn).size(), DetailOf(*drawn).size());
      drawn->size = {std::clamp(static_cast<double>(letters) * kLetter + 2 * kPad, kLeast, kMost), kBoxHeight};
      return;
    }
    for (Drawn& child : drawn->inside) Lay(&child);
    // Lines of boxes: those of a row, cut where they get too wide.
    std::vector<size_t> order(drawn->inside.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [drawn](size_t a, size_t b) { return drawn->inside[a].box->row < drawn->inside[b].box->row; });
    std::vector<std::pair<size_t, size_t>> lines;  // of `order`
    std::vector<Size> sizes;
    for (size_t i = 0; i < order.size(); ++i) {
      const Drawn& child = drawn->inside[order[i]];
      const bool same = i > 0 && drawn->inside[order[i - 1]].box->row == child.box->row;
      if (!same || sizes.back().width + kGap + child.size.width > kMostRowWidth) {
        lines.push_back({i, i});
        sizes.push_back({-kGap, 0});
      }
      ++lines.back().second;
      sizes.back().width += kGap + child.size.width;
      sizes.back().height = std::max(sizes.back().height, child.size.height);
    }
    drawn->lanes = LanesOf(*drawn);
    Size room = {static_cast<double>(LabelOf(*drawn).size() + DetailOf(*drawn).size() + 3) * kLetter, 0};
    for (const Size& line : sizes) room.width = std::max(room.width, line.width);
    double y = kHeader + 14;
    for (size_t line = 0; line < lines.size(); ++line) {
      double x = kPad + (room.width - sizes[line].width) / 2;
      for (size_t i = lines[line].first; i < lines[line].second; ++i) {
        Drawn& child = drawn->inside[order[i]];
        child.x = x;
        child.y = y + (sizes[line].height - child.size.height) / 2;
        child.line_top = y;
        child.line_bottom = y + sizes[line].height;
        child.is_last = i + 1 == lines[line].second;
        x += child.size.width + kGap;
      }
      y += sizes[line].height + kRowGap;
    }
    drawn->size = {room.width + 2 * kPad + kLane * static_cast<double>(drawn->lanes), y - kRowGap + kPad};
  }

  // An arrow. From null: from outside of the frame.
  struct Link {
    const Drawn *from = nullptr, *to = nullptr;
    int32_t from_row = 0;
    bool is_long() const { return to->box->row > from_row + 1; }
  };

  std::vector<Link> LinksOf(const Drawn& drawn) const {
    std::vector<Link> links;
    const auto find = [&](int32_t index) -> const Drawn* {
      for (const Drawn& child : drawn.inside) {
        if (child.box == &boxes_[index]) return &child;
      }
      return nullptr;
    };
    int32_t top = std::numeric_limits<int32_t>::max();
    for (const Drawn& child : drawn.inside) top = std::min(top, child.box->row);
    for (const Drawn& child : drawn.inside) {
      if (child.box->reads_outside) links.push_back({nullptr, &child, top - 1});
    }
    for (const auto& [from, to] : Content(*drawn.box).edges) {
      const Drawn *source = find(from), *reader = find(to);
      if (source != nullptr && reader != nullptr) links.push_back({source, reader, source->box->row});
    }
    return links;
  }

  // Each source of arrows over several rows has its own lane, as far as there are lanes.
  size_t LanesOf(const Drawn& drawn) const {
    size_t lanes = 0;
    const Drawn* last = &drawn;  // no source
    for (const Link& link : LinksOf(drawn)) {
      if (!link.is_long() || link.from == last) continue;
      last = link.from;
      ++lanes;
    }
    return std::min(kMostLanes, lanes);
  }

  void Text(double x, double y, absl::string_view style, absl::string_view text) {
    absl::StrAppendFormat(&body_, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">%s</text>\n", x, y, style,
                          MarkupText(text));
  }

  static int StepOf(double share) {
    int step = 0;
    for (size_t i = 0; i < std::size(kSteps); ++i) {
      if (share >= kSteps[i]) step = static_cast<int>(i);
    }
    return step;
  }

  void Place(const Drawn& drawn, double x, double y, int depth) {
    x += drawn.x;
    y += drawn.y;
    const std::string label = LabelOf(drawn), detail = DetailOf(drawn);
    const auto rect = [&](double shift, const std::string& style) {
      absl::StrAppendFormat(&body_,
                            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"5\" class=\"%s\"/>\n",
                            x + shift, y + shift, drawn.size.width, drawn.size.height, style);
    };
    if (drawn.open) {
      rect(0, depth % 2 == 0 ? "frame" : "frame deep");
      Text(x + kPad, y + 20, "", absl::StrCat(label, "   ", detail));
      for (const Drawn& child : drawn.inside) Place(child, x, y, depth + 1);
      Wires(drawn, x, y);
      return;
    }
    const int step = StepOf(drawn.share);
    const auto most = static_cast<size_t>((drawn.size.width - kPad) / kLetter);
    absl::StrAppend(&body_, "<g><title>", MarkupText(absl::StrCat(label, ", ", detail)), "</title>\n");
    if (drawn.box->kind == BoxKind::kAlike) rect(4, absl::StrCat("box h", step));
    rect(0, absl::StrCat("box h", step));
    Text(x + 10, y + 18, absl::StrCat("t", step), Shortened(label, most));
    Text(x + 10, y + 35, absl::StrCat("sub t", step), Shortened(detail, most));
    body_ += "</g>\n";
  }

  void Wires(const Drawn& drawn, double x, double y) {
    const Drawn* source = &drawn;  // none
    size_t lane = 0;
    for (const Link& link : LinksOf(drawn)) {
      if (!link.is_long()) {
        ShortWire(link, x, y);
        continue;
      }
      if (link.from != source) {
        source = link.from;
        ++lane;
      }
      if (lane > kMostLanes) continue;
      LongWire(link, x, y, x + drawn.size.width - kPad / 2 - kLane * static_cast<double>(lane - 1));
    }
  }

  // Straight beside the other boxes of both rows, bent between the rows.
  void ShortWire(const Link& link, double x, double y) {
    const double to_x = x + link.to->x + link.to->size.width / 2, to_y = y + link.to->y;
    if (link.from == nullptr) {
      absl::StrAppendFormat(&body_, "<path class=\"wire\" d=\"M%.1f %.1fV%.1f\"/>\n", to_x, y + kHeader - 2, to_y - 4);
    } else {
      const double from_x = x + link.from->x + link.from->size.width / 2, row = y + link.from->line_bottom;
      const double next = y + link.to->line_top, bend = (next - row) / 2;
      absl::StrAppendFormat(&body_, "<path class=\"wire\" d=\"M%.1f %.1fV%.1fC%.1f %.1f %.1f %.1f %.1f %.1fV%.1f\"/>\n",
                            from_x, y + link.from->y + link.from->size.height, row, from_x, row + bend, to_x,
                            next - bend, to_x, next, to_y - 4);
    }
    Tip(to_x, to_y, 0);
  }

  // Beside all rows, at `right`; at a box with others beside it, through the room between the rows.
  void LongWire(const Link& link, double x, double y, double right) {
    constexpr double kTurn = 6, kAside = 10;
    std::string path;
    if (link.from == nullptr) {
      absl::StrAppendFormat(&path, "M%.1f %.1f", x + link.to->x + link.to->size.width / 2, y + kHeader);
    } else if (link.from->is_last) {
      absl::StrAppendFormat(&path, "M%.1f %.1f", x + link.from->x + link.from->size.width,
                            y + link.from->y + link.from->size.height / 2);
    } else {
      absl::StrAppendFormat(&path, "M%.1f %.1fV%.1fq0 6 6 6", x + link.from->x + link.from->size.width / 2 + kAside,
                            y + link.from->y + link.from->size.height, y + link.from->line_bottom + 2);
    }
    absl::StrAppendFormat(&path, "H%.1fq6 0 6 6", right - kTurn);
    if (link.to->is_last) {
      const double in_x = x + link.to->x + link.to->size.width, in_y = y + link.to->y + link.to->size.height / 2;
      absl::StrAppendFormat(&path, "V%.1fq0 6 -6 6H%.1f", in_y - kTurn, in_x + 4);
      Tip(in_x, in_y, 90);
    } else {
      const double in_x = x + link.to->x + link.to->size.width / 2 + kAside, in_y = y + link.to->y;
      absl::StrAppendFormat(&path, "V%.1fq0 6 -6 6H%.1fq-6 0 -6 6V%.1f", y + link.to->line_top - 2 * kTurn - 2,
                            in_x + kTurn, in_y - 4);
      Tip(in_x, in_y, 0);
    }
    absl::StrAppend(&body_, "<path class=\"wire\" d=\"", path, "\"/>\n");
  }

  void Tip(double x, double y, int degrees) {
    absl::StrAppendFormat(
        &body_, "<path class=\"tip\" d=\"M0 0L-4 -7L4 -7Z\" transform=\"translate(%.1f %.1f) rotate(%d)\"/>\n", x, y,
        degrees);
  }

  void Heading(double width, double height) {
    Text(kMargin, 32, "title", Shortened(title_, static_cast<size_t>((width - 2 * kMargin) / kTitleLetter)));
    std::string inputs;
    for (const graph::NamedTensor& input : graph_.inputs())
      absl::StrAppend(&inputs, inputs.empty() ? "" : ", ", graph::TypeText(input.type));
    Text(kMargin, 54, "soft",
         Shortened(absl::StrCat(Counted(static_cast<int64_t>(graph_.nodes().size()), "call"), "; inputs ", inputs),
                   static_cast<size_t>((width - 2 * kMargin) / kSoftLetter)));
    double x = kMargin;
    const double y = height - 30;
    for (size_t i = 0; i < std::size(kSteps); ++i, x += 26)
      absl::StrAppendFormat(&body_, "<rect x=\"%.1f\" y=\"%.1f\" width=\"26\" height=\"12\" class=\"h%d\"/>\n", x, y,
                            i);
    Text(x + 10, y + 11, "soft", "share of the FLOP: below 0.5 % to above 32 %, doubling");
  }

  const graph::Graph& graph_;
  const std::vector<Box> boxes_;
  const absl::string_view title_;
  std::vector<double> before_;  // floating point operations of the calls before each
  std::string body_;
};

}  // namespace

std::string NetworkSvg(const graph::Graph& graph, absl::string_view title) { return Picture(graph, title).Draw(); }

}  // namespace cobra::report
