#include "frontend/python/syntax/source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/text/limit_message.h"
#include "frontend/python/syntax/encodings.h"
#include "frontend/python/syntax/unicode.h"

namespace cobra::python {
namespace ast {
namespace {

absl::Status Problem(Diagnostic::Kind kind, absl::string_view filename, int line, std::string message) {
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.message = std::move(message);
  diagnostic.position = {std::string(filename), line, 0};
  return DiagnosticToStatus(diagnostic);
}

int LineOf(absl::string_view text, size_t offset) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(offset), '\n'));
}

// The encoding in `# -*- coding: latin-1 -*-`, or nothing. The line must contain only a comment.
absl::string_view DeclaredEncoding(absl::string_view line) {
  const size_t hash = line.find_first_not_of(" \t\f");
  if (hash == absl::string_view::npos || line[hash] != '#') return {};
  for (size_t at = line.find("coding", hash); at != absl::string_view::npos; at = line.find("coding", at + 1)) {
    absl::string_view rest = line.substr(at + 6);
    if (!absl::ConsumePrefix(&rest, ":") && !absl::ConsumePrefix(&rest, "=")) continue;
    rest = rest.substr(std::min(rest.find_first_not_of(" \t"), rest.size()));
    size_t n = 0;
    while (n < rest.size() && (absl::ascii_isalnum(rest[n]) || rest[n] == '-' || rest[n] == '_' || rest[n] == '.')) ++n;
    if (n > 0) return rest.substr(0, n);
  }
  return {};
}

// Searches the first two lines; the second only if the first has no code.
absl::string_view FindEncoding(absl::string_view text) {
  for (int i = 0; i < 2; ++i) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const absl::string_view line = text.substr(0, end);
    const absl::string_view encoding = DeclaredEncoding(line);
    if (!encoding.empty()) return encoding;
    const size_t first = line.find_first_not_of(" \t\f");
    if (first != absl::string_view::npos && line[first] != '#') return {};
    text.remove_prefix(end);
    if (!absl::ConsumePrefix(&text, "\r\n") && !text.empty()) text.remove_prefix(1);
  }
  return {};
}

// A text that ends in "\r\n" gets one more empty line, because CPython's compile() adds one. As a
// result, a backslash before the last newline is no error.
void NormalizeNewlines(std::string* text) {
  const bool extra_line = absl::EndsWith(*text, "\r\n");
  if (text->find('\r') != std::string::npos) {
    size_t to = 0;
    for (size_t from = 0; from < text->size(); ++from) {
      char c = (*text)[from];
      if (c == '\r') {
        if (from + 1 < text->size() && (*text)[from + 1] == '\n') ++from;
        c = '\n';
      }
      (*text)[to++] = c;
    }
    text->resize(to);
    if (extra_line) text->push_back('\n');
  }
  if (!text->empty() && text->back() != '\n') text->push_back('\n');
}

}  // namespace

absl::StatusOr<std::string> DecodeSource(absl::string_view source, absl::string_view filename, int64_t max_bytes) {
  if (static_cast<int64_t>(source.size()) > max_bytes) {
    return Problem(Diagnostic::Kind::kLimit, filename, 0,
                   LimitMessage(filename, static_cast<int64_t>(source.size()), max_bytes, "bytes"));
  }
  const bool bom = absl::ConsumePrefix(&source, "\xEF\xBB\xBF");
  const size_t nul = source.find('\0');
  if (nul != absl::string_view::npos) {
    return Problem(Diagnostic::Kind::kSyntaxError, filename, LineOf(source, nul),
                   "source code string cannot contain null bytes");
  }
  const std::string encoding(FindEncoding(source));
  std::string text;
  text.reserve(source.size() + 32);
  text.assign(source.data(), source.size());
  if (!encoding.empty()) {
    const std::string name = absl::StrReplaceAll(absl::AsciiStrToLower(encoding), {{"_", "-"}});
    const bool utf8 = name == "utf-8" || name == "utf8" || absl::StartsWith(name, "utf-8-");
    if (bom && !utf8) {
      return Problem(Diagnostic::Kind::kSyntaxError, filename, 0,
                     absl::StrCat("encoding problem: ", encoding, " with BOM"));
    }
    Decoded decoded = DecodeFrom(encoding, text);
    switch (decoded.kind) {
      case EncodingKind::kUtf8: break;
      case EncodingKind::kDecoded: text = std::move(decoded.text); break;
      case EncodingKind::kInvalid:
        return Problem(Diagnostic::Kind::kSyntaxError, filename, LineOf(text, decoded.bad),
                       absl::StrFormat("(unicode error) '%s' codec can't decode byte 0x%02x in position %d",
                                       decoded.name, static_cast<uint8_t>(text[decoded.bad]), decoded.bad));
      case EncodingKind::kUnsupported:
        return Problem(Diagnostic::Kind::kUnsupported, filename, 0,
                       absl::StrCat("the encoding ", encoding, " of a source file is not supported"));
      case EncodingKind::kUnknown:
        return Problem(Diagnostic::Kind::kSyntaxError, filename, 0, absl::StrCat("unknown encoding: ", encoding));
    }
  }
  NormalizeNewlines(&text);
  const size_t bad = FindInvalidUtf8(text);
  if (bad != absl::string_view::npos) {
    return Problem(Diagnostic::Kind::kSyntaxError, filename, LineOf(text, bad),
                   absl::StrFormat("(unicode error) 'utf-8' codec can't decode byte 0x%02x in position %d",
                                   static_cast<uint8_t>(text[bad]), bad));
  }
  return text;
}

}  // namespace ast
}  // namespace cobra::python
