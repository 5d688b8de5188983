// CSV as RFC 4180 has it: commas, double quotes where a field has a comma, a quote or a line break, quotes doubled;
// lines end in LF or CRLF; a byte order mark before the first is passed over.
#ifndef COBRA_BASE_CSV_H_
#define COBRA_BASE_CSV_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra {

struct CsvTable {
  std::vector<std::string> header;
  struct Row {
    int line = 0;  // in the text, counted from 1
    std::vector<std::string> fields;
  };
  std::vector<Row> rows;  // each as long as the header
  // -1 if there is no such column.
  int Column(absl::string_view name) const;
};

// The first line is the header. InvalidArgument, beginning with the line's number, where a quote does not end or a row
// has another number of fields than the header; empty lines are passed over.
absl::StatusOr<CsvTable> ParseCsv(absl::string_view text);
// One line with its end.
std::string CsvLine(const std::vector<std::string>& fields);

}  // namespace cobra

#endif  // COBRA_BASE_CSV_H_
