// Tables and numbers for people.
#ifndef COBRA_CLIENT_TEXT_TABLE_H_
#define COBRA_CLIENT_TEXT_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::client {

struct Column {
  bool right = false;     // numbers
  int min_width = 0;      // it may be cut to this width if the table is too wide; 0: never cut
  bool keep_end = false;  // cut at the front: the end of a module path is the most informative part
};

// Rows of equal length, the first one the header. `width` is that of the terminal in characters; 0: no limit.
std::string TextTable(const std::vector<std::vector<std::string>>& rows, std::vector<Column> columns, int width = 0);
std::string TextTable(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right_aligned);

// At most `width` characters (0: no limit), the rest replaced by "...".
std::string Shortened(absl::string_view text, int width, bool keep_end = false);

std::string CountText(double n);           // 25557032 -> "25.6 M"
std::string PercentText(double fraction);  // 0.412 -> "41.2 %"
std::string MebibytesText(int64_t bytes);  // "1.4 MiB"
std::string MillisecondsText(double us);   // "4.210"

// The position of a call: "net.py:7"; "net.onnx node 7", counted as in errors, if the file has no lines; "" if unknown.
std::string PlaceText(absl::string_view file, int line);
// Whether positions in that file are line numbers.
bool HasLineNumbers(absl::string_view file);

// The capabilities of an output stream.
struct TerminalStyle {
  int width = 0;  // 0: no limit
  bool color = false;
};
// The style of standard output: a width and colours if it is a terminal.
TerminalStyle StandardOutputStyle();

}  // namespace cobra::client

#endif  // COBRA_CLIENT_TEXT_TABLE_H_
