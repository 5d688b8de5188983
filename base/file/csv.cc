#include "base/file/csv.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace cobra {

int CsvTable::Column(absl::string_view name) const {
  for (size_t i = 0; i < header.size(); ++i) {
    if (header[i] == name) return static_cast<int>(i);
  }
  return -1;
}

absl::StatusOr<CsvTable> ParseCsv(absl::string_view text) {
  COBRA_ASSIGN_OR_RETURN(CsvRows rows, CsvRows::Open(text));
  CsvTable table;
  table.header = rows.header();
  while (true) {
    COBRA_ASSIGN_OR_RETURN(std::optional<CsvTable::Row> row, rows.Next());
    if (!row.has_value()) return table;
    table.rows.push_back(*std::move(row));
  }
}

absl::StatusOr<CsvRows> CsvRows::Open(absl::string_view text) {
  absl::ConsumePrefix(&text, "\xEF\xBB\xBF");  // the byte order mark that spreadsheets write before UTF-8
  CsvRows rows(text);
  COBRA_ASSIGN_OR_RETURN(CsvTable::Row header, rows.Line());
  if (header.fields.empty()) return absl::InvalidArgumentError("line 1: no header");
  // Spreadsheets write them where numbers have commas, which would have to be read as well.
  if (header.fields.size() == 1 && absl::StrContains(header.fields[0], ';'))
    return absl::InvalidArgumentError(absl::StrCat(
        "line ", header.line, ": its fields are separated by semicolons; use commas, and decimal points in numbers"));
  rows.header_ = std::move(header.fields);
  return rows;
}

absl::StatusOr<std::optional<CsvTable::Row>> CsvRows::Next() {
  COBRA_ASSIGN_OR_RETURN(CsvTable::Row row, Line());
  if (row.fields.empty()) return std::optional<CsvTable::Row>();
  if (row.fields.size() != header_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", row.line, ": has ", row.fields.size(), " fields, the header ", header_.size()));
  }
  return std::optional<CsvTable::Row>(std::move(row));
}

absl::StatusOr<CsvTable::Row> CsvRows::Line() {
  CsvTable::Row row;
  while (!AtEnd() && row.fields.empty()) {
    row.line = line_;
    COBRA_RETURN_IF_ERROR(Fields(&row));
    ++line_;
    if (row.fields.size() == 1 && row.fields[0].empty()) row.fields.clear();
  }
  return row;
}

absl::Status CsvRows::Fields(CsvTable::Row* row) {
  bool more = true;
  while (more) {
    std::string field;
    if (!AtEnd() && text_[at_] == '"') {
      if (!Quoted(&field))
        return absl::InvalidArgumentError(absl::StrCat("line ", row->line, ": a quoted field does not end"));
    } else {
      const size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
      field = std::string(text_.substr(at_, end - at_));
      if (!field.empty() && field.back() == '\r' && (end == text_.size() || text_[end] == '\n')) field.pop_back();
      at_ = end;
    }
    row->fields.push_back(std::move(field));
    if (!AtEnd() && text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    more = !AtEnd() && text_[at_] == ',';
    if (!AtEnd() && !more && text_[at_] != '\n') {
      return absl::InvalidArgumentError(absl::StrCat("line ", row->line, ": text after a quoted field"));
    }
    if (!AtEnd()) ++at_;
  }
  return absl::OkStatus();
}

bool CsvRows::Quoted(std::string* field) {
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
