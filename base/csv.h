// CSV as defined by RFC 4180: fields are separated by commas. A field that contains a comma, a quote or a line break is
// enclosed in double quotes, and its quotes are doubled. Lines end in LF or CRLF. A byte order mark is ignored.
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

// The first line is the header. Empty lines are ignored. InvalidArgument, beginning with the line's number, if a quote
// does not end or a row has a different number of fields than the header.
absl::StatusOr<CsvTable> ParseCsv(absl::string_view text);
// One line, with its line end.
std::string CsvLine(const std::vector<std::string>& fields);

}  // namespace cobra

#endif  // COBRA_BASE_CSV_H_
