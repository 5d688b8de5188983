// Tables and numbers for people.
#ifndef COBRA_CLIENT_TERMINAL_TEXT_TABLE_H_
#define COBRA_CLIENT_TERMINAL_TEXT_TABLE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/terminal/terminal.h"

namespace cobra::client {

struct Column {
  bool right = false;     // numbers
  int min_width = 0;      // it may be cut to this width if the table is too wide; 0: never cut
  bool keep_end = false;  // cut at the front: the end of a module path is the most informative part
  // Cut in the middle, and only so far that names which differ still do.
  bool keep_both = false;
  // If names cut to their least width are not enough, columns are left out, those with the highest
  // number first, and a last line names them. 0: never.
  int leave_out = 0;
  // Instead of being omitted, its cells go to separate lines below their rows.
  bool below = false;
};

// A cell in its colour; `row` 0 is the header. The width is that of the text before.
using PaintCell = std::function<std::string(size_t row, size_t column, const std::string& text)>;

struct TableLines {
  std::vector<std::string> lines;  // one of each row, without line ends
  std::string left_out;            // "no room for: params, MMAC"; empty if all columns are there
};

// Rows of equal length, the first one the header. Control characters in cells are shown as '?'.
// Numbers are never cut: what does not fit even so is wider than the terminal.
TableLines LinesOfTable(const std::vector<std::vector<std::string>>& rows, std::vector<Column> columns, int width,
                        const PaintCell& paint = nullptr);
// `width` is that of the terminal in characters; 0: no limit, nothing is cut or left out.
std::string TextTable(const std::vector<std::vector<std::string>>& rows, std::vector<Column> columns, int width = 0,
                      const PaintCell& paint = nullptr);
std::string TextTable(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right_aligned);

// At most `width` characters (0: no limit), the rest replaced by "...".
std::string Shortened(absl::string_view text, int width, bool keep_end = false);
// The same with the first `head` characters and the end.
std::string ShortenedInside(absl::string_view text, int width, int head);

std::string CountText(double n);           // 25557032 -> "25.6 M"
std::string PercentText(double fraction);  // 0.412 -> "41.2 %"
std::string MebibytesText(int64_t bytes);  // "1.4 MiB"
std::string MillisecondsText(double us);   // "4.210"

// In the place of a position that is unknown.
inline constexpr char kUnknownLine[] = "(unknown)";

// The position of a call: "net.py:7"; "net.onnx node 7", counted as in errors, if the file has no
// lines; "" if unknown.
std::string PlaceText(absl::string_view file, int line);
// Whether positions in that file are line numbers.
bool HasLineNumbers(absl::string_view file);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_TERMINAL_TEXT_TABLE_H_
