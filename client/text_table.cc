#include "client/text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace cobra::client {
namespace {

constexpr char kGap[] = "  ";

bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

int WidthOf(absl::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), StartsCharacter));
}

// The byte at which character `n` begins.
size_t ByteOf(absl::string_view text, int n) {
  size_t i = 0;
  while (i < text.size() && (n > 0 || !StartsCharacter(text[i]))) {
    ++i;
    if (i < text.size() && StartsCharacter(text[i])) --n;
  }
  return i;
}

// Cuts the widest column that may be cut, character by character, until the table fits or nothing is left to cut.
void Fit(const std::vector<Column>& columns, int width, std::vector<int>* widths) {
  int total = static_cast<int>(sizeof(kGap) - 1) * (static_cast<int>(widths->size()) - 1);
  for (int w : *widths) total += w;
  while (total > width) {
    int widest = -1;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].min_width == 0 || (*widths)[i] <= columns[i].min_width) continue;
      if (widest < 0 || (*widths)[i] > (*widths)[widest]) widest = static_cast<int>(i);
    }
    if (widest < 0) return;
    --(*widths)[widest];
    --total;
  }
}

}  // namespace

std::string Shortened(absl::string_view text, int width, bool keep_end) {
  const int length = WidthOf(text);
  if (width <= 0 || length <= width) return std::string(text);
  constexpr int kDots = 3;
  if (width <= kDots) return std::string(static_cast<size_t>(width), '.');
  if (keep_end) return absl::StrCat("...", text.substr(ByteOf(text, length - width + kDots)));
  return absl::StrCat(text.substr(0, ByteOf(text, width - kDots)), "...");
}

std::string TextTable(const std::vector<std::vector<std::string>>& rows, std::vector<Column> columns, int width) {
  std::vector<int> widths(columns.size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  if (width > 0) Fit(columns, width, &widths);
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string cell = Shortened(row[i], widths[i], columns[i].keep_end);
      const std::string pad(static_cast<size_t>(widths[i] - WidthOf(cell)), ' ');
      absl::StrAppend(&line, i == 0 ? "" : kGap, columns[i].right ? pad : "", cell, columns[i].right ? "" : pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, Shortened(line, width), "\n");
  }
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

TerminalStyle StandardOutputStyle() {
  TerminalStyle style;
  if (isatty(STDOUT_FILENO) == 0) return style;
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
  const char* terminal = std::getenv("TERM");
  style.color = terminal != nullptr && absl::string_view(terminal) != "dumb";
  return style;
}

}  // namespace cobra::client
