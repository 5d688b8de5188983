#include "client/terminal/text_table.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/text/without_escapes.h"
#include "client/terminal/display_width.h"

namespace cobra::client {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr char kGap[] = "  ";
constexpr int kGapWidth = sizeof(kGap) - 1;
constexpr int kDots = 3;

// The byte at which what comes after `n` columns begins, and how many columns are before it.
std::pair<size_t, int> After(absl::string_view text, int n) {
  size_t i = 0;
  int columns = 0;
  while (i < text.size()) {
    const Character next = FirstCharacter(text.substr(i));
    if (columns + next.columns > n) break;
    columns += next.columns;
    i += next.bytes;
  }
  return {i, columns};
}

int WidthOf(absl::string_view text) { return After(text, std::numeric_limits<int>::max() - 2).second; }

// The byte before which there are at most `n` columns, and the one before which there are `n` at
// least.
size_t HeadEnd(absl::string_view text, int n) { return After(text, n).first; }
size_t TailBegin(absl::string_view text, int n) {
  const auto [end, columns] = After(text, n);
  if (columns >= n || end == text.size()) return end;
  return end + FirstCharacter(text.substr(end)).bytes;  // half of it would be before
}

// A cell is on one line.
std::string CellText(const std::string& text) {
  return WithoutEscapes(absl::StrReplaceAll(text, {{"\n", " "}, {"\t", " "}}));
}

int TotalWidth(const std::vector<int>& widths) {
  return std::accumulate(widths.begin(), widths.end(), kGapWidth * (static_cast<int>(widths.size()) - 1));
}

int LeastWidth(const Column& column, int width) {
  return column.min_width == 0 ? width : std::min(width, column.min_width);
}

// Cuts the widest column that may be cut, character by character, until the table fits or nothing
// is left to cut.
void Fit(const std::vector<Column>& columns, int width, std::vector<int>* widths) {
  int total = TotalWidth(*widths);
  while (total > width) {
    int widest = -1;
    for (size_t i = 0; i < columns.size(); ++i) {
      if ((*widths)[i] <= LeastWidth(columns[i], (*widths)[i])) continue;
      if (widest < 0 || (*widths)[i] > (*widths)[widest]) widest = static_cast<int>(i);
    }
    if (widest < 0) return;
    --(*widths)[widest];
    --total;
  }
}

template <typename T>
void Remove(size_t index, std::vector<T>* list) {
  list->erase(list->begin() + static_cast<std::ptrdiff_t>(index));
}

std::vector<std::string> CellsOf(const Rows& rows, size_t column) {
  std::vector<std::string> cells;
  for (const auto& row : rows) cells.push_back(row[column]);
  return cells;
}

// Cells cut in the middle so that those which differ still do: in the least width from `width` on
// that allows it. Of the ways to cut, the one with equal halves comes first.
std::vector<std::string> CutInside(const std::vector<std::string>& cells, int width, int widest) {
  const size_t different = std::set<std::string>(cells.begin(), cells.end()).size();
  for (; width < widest; ++width) {
    const int kept = std::max(width - kDots, 0);
    for (const int head : {kept - kept / 2, kept / 3, kept - kept / 3, kept / 4, kept - kept / 4, kept / 8, kept}) {
      std::vector<std::string> cut;
      for (const std::string& cell : cells) cut.push_back(ShortenedInside(cell, width, head));
      if (std::set<std::string>(cut.begin(), cut.end()).size() == different) return cut;
    }
  }
  return cells;
}

// The columns of a table that are shown, with the widths of their cells.
class Layout {
 public:
  Layout(const Rows& rows, std::vector<Column> columns, int width) : columns_(std::move(columns)) {
    for (const auto& row : rows) {
      rows_.emplace_back();
      for (const std::string& cell : row) rows_.back().push_back(CellText(cell));
    }
    indices_.resize(columns_.size());
    std::iota(indices_.begin(), indices_.end(), size_t{0});
    for (size_t i = 0; i < columns_.size(); ++i) widths_.push_back(WidestOf(i));
    if (width > 0) MakeFit(width);
  }

  TableLines Lines(const PaintCell& paint) const {
    TableLines table;
    for (size_t r = 0; r < rows_.size(); ++r) {
      std::string line;
      int blanks = 0;  // not yet written: none at the end of a line
      for (size_t i = 0; i < columns_.size(); ++i) {
        const std::string& cell = rows_[r][i];
        const int pad = widths_[i] - WidthOf(cell);
        if (columns_[i].right) blanks += pad;
        if (!cell.empty()) {
          line.append(static_cast<size_t>(blanks), ' ');
          blanks = 0;
          line += paint ? paint(r, indices_[i], cell) : cell;
        }
        blanks += (columns_[i].right ? 0 : pad) + kGapWidth;
      }
      if (!below_.empty() && !below_[r].empty())
        absl::StrAppend(&line, "\n    ", paint ? paint(r, below_index_, below_[r]) : below_[r]);
      table.lines.push_back(std::move(line));
    }
    if (!left_out_.empty()) table.left_out = absl::StrCat("no room for: ", absl::StrJoin(left_out_, ", "));
    return table;
  }

 private:
  int WidestOf(size_t column) const {
    int widest = 0;
    for (const auto& row : rows_) widest = std::max(widest, WidthOf(row[column]));
    return widest;
  }

  int LeastTotal() const {
    std::vector<int> least;
    for (size_t i = 0; i < columns_.size(); ++i) least.push_back(LeastWidth(columns_[i], widths_[i]));
    return TotalWidth(least);
  }

  void MakeFit(int width) {
    if (TotalWidth(widths_) <= width) return;
    for (size_t i = 0; i < columns_.size(); ++i) {
      Column& column = columns_[i];  // what keeps its differences may need more than its least width for that
      if (!column.keep_both || column.min_width == 0 || widths_[i] <= column.min_width) continue;
      const std::vector<std::string> cut = CutInside(CellsOf(rows_, i), column.min_width, widths_[i]);
      column.min_width = 0;
      for (const std::string& cell : cut) column.min_width = std::max(column.min_width, WidthOf(cell));
    }
    for (size_t i = columns_.size(); i-- > 0 && TotalWidth(widths_) > width;) {
      if (!columns_[i].below) continue;
      below_ = CellsOf(rows_, i);
      below_[0].clear();  // nobody would know what its header is of
      below_index_ = indices_[i];
      Drop(i);
    }
    while (LeastTotal() > width) {
      const auto first = std::max_element(columns_.begin(), columns_.end(),
                                          [](const Column& a, const Column& b) { return a.leave_out < b.leave_out; });
      if (first->leave_out == 0) break;
      const auto index = static_cast<size_t>(first - columns_.begin());
      if (!rows_[0][index].empty()) left_out_.push_back(rows_[0][index]);
      Drop(index);
    }
    Fit(columns_, width, &widths_);
    for (size_t i = 0; i < columns_.size(); ++i) Cut(i);
  }

  void Drop(size_t index) {
    for (auto& row : rows_) Remove(index, &row);
    Remove(index, &columns_);
    Remove(index, &widths_);
    Remove(index, &indices_);
  }

  void Cut(size_t column) {
    std::vector<std::string> cells = CellsOf(rows_, column);
    if (columns_[column].keep_both) {
      cells = CutInside(cells, widths_[column], WidestOf(column));
    } else {
      for (std::string& cell : cells) cell = Shortened(cell, widths_[column], columns_[column].keep_end);
    }
    for (size_t r = 0; r < rows_.size(); ++r) rows_[r][column] = std::move(cells[r]);
    widths_[column] = WidestOf(column);
  }

  Rows rows_;
  std::vector<Column> columns_;
  std::vector<int> widths_;
  std::vector<size_t> indices_;     // of the columns among all
  std::vector<std::string> below_;  // by row; empty: none
  size_t below_index_ = 0;
  std::vector<std::string> left_out_;
};

}  // namespace

std::string Shortened(absl::string_view text, int width, bool keep_end) {
  const int length = WidthOf(text);
  if (width <= 0 || length <= width) return std::string(text);
  if (width <= kDots) return std::string(static_cast<size_t>(width), '.');
  if (keep_end) return absl::StrCat("...", text.substr(TailBegin(text, length - width + kDots)));
  return absl::StrCat(text.substr(0, HeadEnd(text, width - kDots)), "...");
}

std::string ShortenedInside(absl::string_view text, int width, int head) {
  const int length = WidthOf(text);
  if (width <= kDots || length <= width) return Shortened(text, width);
  head = std::clamp(head, 0, width - kDots);
  return absl::StrCat(text.substr(0, HeadEnd(text, head)), "...",
                      text.substr(TailBegin(text, length - (width - kDots - head))));
}

TableLines LinesOfTable(const std::vector<std::vector<std::string>>& rows, std::vector<Column> columns, int width,
                        const PaintCell& paint) {
  return Layout(rows, std::move(columns), width).Lines(paint);
}

std::string TextTable(const std::vector<std::vector<std::string>>& rows, std::vector<Column> columns, int width,
                      const PaintCell& paint) {
  const TableLines table = LinesOfTable(rows, std::move(columns), width, paint);
  std::string text;
  for (const std::string& line : table.lines) absl::StrAppend(&text, line, "\n");
  if (!table.left_out.empty()) absl::StrAppend(&text, table.left_out, "\n");
  return text;
}

std::string TextTable(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right_aligned) {
  std::vector<Column> columns;
  for (bool right : right_aligned) columns.push_back({right});
  return TextTable(rows, std::move(columns));
}

std::string CountText(double n) {
  if (n >= 1e9) return absl::StrFormat("%.2f G", n / 1e9);
  if (n >= 1e6) return absl::StrFormat("%.1f M", n / 1e6);
  if (n >= 1e3) return absl::StrFormat("%.1f k", n / 1e3);
  return absl::StrFormat("%.0f", n);
}

std::string PercentText(double fraction) { return absl::StrFormat("%.1f %%", 100 * fraction); }

std::string MebibytesText(int64_t bytes) { return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20)); }

std::string MillisecondsText(double us) { return absl::StrFormat("%.3f", us / 1000); }

std::string PlaceText(absl::string_view file, int line) {
  return file.empty() ? "" : absl::StrCat(file, HasLineNumbers(file) ? ":" : " node ", line);
}

bool HasLineNumbers(absl::string_view file) {
  return !absl::EndsWith(file, ".onnx") && !absl::EndsWith(file, ".tflite");
}

}  // namespace cobra::client
