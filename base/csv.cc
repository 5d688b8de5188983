#include "base/csv.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace cobra {
namespace {

class CsvReader {
 public:
  explicit CsvReader(absl::string_view text) : text_(text) {}

  bool AtEnd() const { return at_ >= text_.size(); }

  // Returns the fields of the next line; an empty line has none.
  absl::StatusOr<CsvTable::Row> Row() {
    CsvTable::Row row;
    row.line = line_;
    bool more = true;
    while (more) {
      std::string field;
      if (!AtEnd() && text_[at_] == '"') {
        if (!Quoted(&field))
          return absl::InvalidArgumentError(absl::StrCat("line ", row.line, ": a quoted field does not end"));
      } else {
        const size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
        field = std::string(text_.substr(at_, end - at_));
        if (!field.empty() && field.back() == '\r' && (end == text_.size() || text_[end] == '\n')) field.pop_back();
        at_ = end;
      }
      row.fields.push_back(std::move(field));
      if (!AtEnd() && text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
      more = !AtEnd() && text_[at_] == ',';
      if (!AtEnd() && !more && text_[at_] != '\n') {
        return absl::InvalidArgumentError(absl::StrCat("line ", row.line, ": text after a quoted field"));
      }
      if (!AtEnd()) ++at_;
    }
    ++line_;
    if (row.fields.size() == 1 && row.fields[0].empty()) row.fields.clear();
    return row;
  }

 private:
  bool Quoted(std::string* field) {
    for (++at_; !AtEnd(); ++at_) {
      const char c = text_[at_];
      if (c == '"' && at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        ++at_;
      } else if (c == '"') {
        ++at_;
        return true;
      }
      line_ += c == '\n';
      *field += c;
    }
    return false;
  }

  absl::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

int CsvTable::Column(absl::string_view name) const {
  for (size_t i = 0; i < header.size(); ++i) {
    if (header[i] == name) return static_cast<int>(i);
  }
  return -1;
}

absl::StatusOr<CsvTable> ParseCsv(absl::string_view text) {
  absl::ConsumePrefix(&text, "\xEF\xBB\xBF");  // the byte order mark that spreadsheets write before UTF-8
  CsvReader reader(text);
  CsvTable table;
  while (!reader.AtEnd()) {
    absl::StatusOr<CsvTable::Row> row = reader.Row();
    if (!row.ok()) return row.status();
    if (row->fields.empty()) continue;
    if (table.header.empty()) {
      table.header = std::move(row->fields);
      continue;
    }
    if (row->fields.size() != table.header.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", row->line, ": has ", row->fields.size(), " fields, the header ", table.header.size()));
    }
    table.rows.push_back(*std::move(row));
  }
  if (table.header.empty()) return absl::InvalidArgumentError("line 1: no header");
  return table;
}

std::string CsvLine(const std::vector<std::string>& fields) {
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ',';
    if (fields[i].find_first_of(",\"\r\n") == std::string::npos) {
      line += fields[i];
    } else {
      absl::StrAppend(&line, "\"", absl::StrReplaceAll(fields[i], {{"\"", "\"\""}}), "\"");
    }
  }
  return line + "\n";
}

}  // namespace cobra
