#include "client/terminal/wrap.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/terminal/display_width.h"
#include "client/terminal/terminal.h"

namespace cobra::client {
namespace {

constexpr size_t kHanging = 2, kProgram = 4;

// Of a terminal, without colours.
int ColumnsOf(absl::string_view word) {
  int columns = 0;
  while (!word.empty()) {
    const size_t painted = word[0] == '\033' ? PaintBytes(word) : 0;
    const Character next = FirstCharacter(word);
    if (painted == 0) columns += next.columns;
    word.remove_prefix(painted > 0 ? painted : next.bytes);
  }
  return columns;
}

// Of a program, of a table that is wider than the terminal, or of a table in Markdown.
bool IsPreformatted(absl::string_view line, size_t indent) {
  const absl::string_view rest = line.substr(indent);
  return indent >= kProgram || absl::StartsWith(rest, "%") || absl::StartsWith(rest, "|") ||
         absl::StrContains(rest, "  ");
}

std::string WrappedLine(absl::string_view line, int width) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  if (ColumnsOf(line) <= width || IsPreformatted(line, indent)) return std::string(line);
  std::string text(line.substr(0, indent));
  int column = static_cast<int>(indent);
  bool begins = true;
  for (const absl::string_view word : absl::StrSplit(line.substr(indent), ' ')) {
    const int columns = ColumnsOf(word);
    if (!begins && column + 1 + columns > width) {
      text += '\n' + std::string(indent + kHanging, ' ');
      column = static_cast<int>(indent + kHanging);
      begins = true;
    }
    if (!begins) {
      text += ' ';
      ++column;
    }
    text.append(word.data(), word.size());
    column += columns;
    begins = false;
  }
  return text;
}

}  // namespace

std::string WordWrapped(absl::string_view text, int width) {
  if (width <= 0) return std::string(text);
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) lines.push_back(WrappedLine(line, width));
  return absl::StrJoin(lines, "\n");
}

}  // namespace cobra::client
