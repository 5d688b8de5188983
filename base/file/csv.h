// CSV as defined by RFC 4180: fields are separated by commas. A field that contains a comma, a
// quote or a line break is enclosed in double quotes, and its quotes are doubled. Lines end in LF
// or CRLF. A byte order mark is ignored.
#ifndef COBRA_BASE_FILE_CSV_H_
#define COBRA_BASE_FILE_CSV_H_

#include <cstddef>
#include <optional>
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

// The first line is the header. Empty lines are ignored. InvalidArgument, beginning with the line's
// number, if a quote does not end, a row has a different number of fields than the header, or
// fields are separated by semicolons.
absl::StatusOr<CsvTable> ParseCsv(absl::string_view text);

// The same, row by row, for a table that is too large to be kept as parsed rows.
class CsvRows {
 public:
  // REQUIRES: `text` outlives this object.
  static absl::StatusOr<CsvRows> Open(absl::string_view text);
  const std::vector<std::string>& header() const { return header_; }
  // Nothing after the last row. An error is that of ParseCsv; what follows it is undefined.
  absl::StatusOr<std::optional<CsvTable::Row>> Next();

 private:
  explicit CsvRows(absl::string_view text) : text_(text) {}
  bool AtEnd() const { return at_ >= text_.size(); }
  // The next line that is not empty; no fields after the last one.
  absl::StatusOr<CsvTable::Row> Line();
  absl::Status Fields(CsvTable::Row* row);
  bool Quoted(std::string* field);

  absl::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<std::string> header_;
};

// One line, with its line end.
std::string CsvLine(const std::vector<std::string>& fields);

}  // namespace cobra

#endif  // COBRA_BASE_FILE_CSV_H_
