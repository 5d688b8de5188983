#include "server/http/form.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"

namespace cobra::http {
namespace {

constexpr size_t kLongestPartHead = 8 << 10;

absl::Status NotAForm(absl::string_view why) {
  return UsageError(absl::StrCat("the form: ", why), "send it as `curl -F` does");
}

// Takes `key="value"` or `key=value` with what is before and after it, up to a ";" of its own.
// Inside of quotes a backslash stands before a quote or a backslash; before anything else it is
// itself, as browsers and curl write it.
bool TakeParameter(absl::string_view* rest, std::string* key, std::string* value) {
  *rest = absl::StripLeadingAsciiWhitespace(*rest);
  const size_t equals = rest->find('=');
  if (equals == absl::string_view::npos) return false;
  *key = absl::AsciiStrToLower(absl::StripAsciiWhitespace(rest->substr(0, equals)));
  rest->remove_prefix(equals + 1);
  value->clear();
  if (!absl::ConsumePrefix(rest, "\"")) {
    *value = std::string(absl::StripAsciiWhitespace(rest->substr(0, rest->find(';'))));
    rest->remove_prefix(std::min(rest->size(), rest->find(';')));
  } else {
    while (!rest->empty() && rest->front() != '"') {
      if (rest->front() == '\\' && rest->size() > 1 && ((*rest)[1] == '"' || (*rest)[1] == '\\'))
        rest->remove_prefix(1);
      value->push_back(rest->front());
      rest->remove_prefix(1);
    }
    if (!absl::ConsumePrefix(rest, "\"")) return false;
  }
  *rest = absl::StripLeadingAsciiWhitespace(*rest);
  return rest->empty() || absl::ConsumePrefix(rest, ";");
}

// The value of one parameter of "type; a=b; c="d""; nothing if it is missing or the header is no
// such list.
std::optional<std::string> Parameter(absl::string_view header, absl::string_view wanted) {
  const size_t semicolon = header.find(';');
  if (semicolon == absl::string_view::npos) return std::nullopt;
  absl::string_view rest = header.substr(semicolon + 1);
  std::string key, value;
  while (TakeParameter(&rest, &key, &value))
    if (key == wanted) return value;
  return std::nullopt;
}

// Browsers write a quote and a line's end in a name as %22, %0D and %0A, and nothing else like
// this.
std::string NameOf(std::string text) {
  std::string name;
  for (absl::string_view rest = text; !rest.empty();) {
    const bool coded = absl::ConsumePrefix(&rest, "%22");
    name.push_back(coded ? '"' : rest.front());
    if (!coded) rest.remove_prefix(1);
  }
  return name;
}

absl::StatusOr<Part> ParsePart(absl::string_view part) {
  const size_t end = part.substr(0, kLongestPartHead).find("\r\n\r\n");
  if (end == absl::string_view::npos) return NotAForm("the headers of a part are not terminated");
  Part parsed;
  parsed.value = part.substr(end + 4);
  bool has_disposition = false;
  for (const absl::string_view line : absl::StrSplit(part.substr(0, end), "\r\n")) {
    const size_t colon = line.find(':');
    if (colon == absl::string_view::npos) return NotAForm("a part has a line that is not a header");
    const absl::string_view key = line.substr(0, colon), value = absl::StripAsciiWhitespace(line.substr(colon + 1));
    if (absl::EqualsIgnoreCase(key, "content-transfer-encoding") && !absl::EqualsIgnoreCase(value, "binary") &&
        !absl::EqualsIgnoreCase(value, "8bit") && !absl::EqualsIgnoreCase(value, "7bit"))
      return NotAForm("a part is encoded; send it unencoded");
    if (!absl::EqualsIgnoreCase(key, "content-disposition")) continue;
    const std::optional<std::string> name = Parameter(value, "name");
    if (has_disposition || !absl::StartsWithIgnoreCase(value, "form-data") || !name.has_value() || name->empty())
      return NotAForm("a part has no name");
    has_disposition = true;
    parsed.name = NameOf(*name);
    if (std::optional<std::string> file_name = Parameter(value, "filename")) parsed.file_name = NameOf(*file_name);
  }
  if (!has_disposition) return NotAForm("a part has no name");
  return parsed;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = absl::ascii_tolower(static_cast<unsigned char>(c));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

absl::StatusOr<std::string> Decoded(absl::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i] == '+' ? ' ' : text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return UsageError(absl::StrCat(text.substr(0, 80), ": has a % without two hexadecimal digits"));
    }
    decoded.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return decoded;
}

}  // namespace

std::string MediaType(absl::string_view content_type) {
  return absl::AsciiStrToLower(absl::StripAsciiWhitespace(content_type.substr(0, content_type.find(';'))));
}

absl::StatusOr<std::vector<Part>> ParseMultipart(absl::string_view content_type, absl::string_view body) {
  const std::optional<std::string> boundary = Parameter(content_type, "boundary");
  if (!boundary.has_value() || boundary->empty() || boundary->size() > 70)
    return NotAForm("its Content-Type has no boundary of 1 to 70 characters");
  const std::string first = absl::StrCat("--", *boundary), delimiter = absl::StrCat("\r\n", first);
  if (!absl::ConsumePrefix(&body, first)) return NotAForm("it does not begin with its boundary");
  std::vector<Part> parts;
  while (!absl::ConsumePrefix(&body, "--")) {
    if (!absl::ConsumePrefix(&body, "\r\n")) return NotAForm("a boundary is not at the end of its line");
    const size_t end = body.find(delimiter);
    if (end == absl::string_view::npos) return NotAForm("the last boundary is missing");
    if (parts.size() >= kMaxParts) {
      return UserError(Diagnostic::Kind::kLimit, LimitMessage("the form", static_cast<int64_t>(kMaxParts), "parts"));
    }
    COBRA_ASSIGN_OR_RETURN(Part part, ParsePart(body.substr(0, end)));
    parts.push_back(std::move(part));
    body.remove_prefix(end + delimiter.size());
  }
  return parts;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ParseQuery(absl::string_view query) {
  std::vector<std::pair<std::string, std::string>> fields;
  for (const absl::string_view field : absl::StrSplit(query, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair = absl::StrSplit(field, absl::MaxSplits('=', 1));
    COBRA_ASSIGN_OR_RETURN(std::string name, Decoded(pair.first));
    COBRA_ASSIGN_OR_RETURN(std::string value, Decoded(pair.second));
    fields.emplace_back(std::move(name), std::move(value));
  }
  return fields;
}

}  // namespace cobra::http
