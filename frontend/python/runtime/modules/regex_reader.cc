#include "frontend/python/runtime/modules/regex_reader.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/syntax/unicode.h"

namespace cobra::python {

int64_t RegexReader::Length(const std::string& utf8) { return CodePoints(utf8); }

std::string RegexReader::Text(int64_t begin, int64_t end) const {
  std::string out;
  for (int64_t i = begin; i < end; ++i) AppendUtf8(&out, pattern_[static_cast<size_t>(i)]);
  return out;
}

bool RegexReader::Until(uint32_t terminator, const char* what, std::string* text) {
  int64_t begin = at_;
  while (Next() != kEndOfPattern && Next() != terminator) ++at_;
  *text = Text(begin, at_);
  if (Next() == kEndOfPattern) {
    if (text->empty()) return Fail(absl::StrCat("missing ", what), 0);
    std::string shown;
    AppendUtf8(&shown, terminator);
    return Fail(absl::StrCat("missing ", shown, ", unterminated name"), Length(*text));
  }
  ++at_;
  if (text->empty()) return Fail(absl::StrCat("missing ", what), 1);
  return true;
}

bool RegexReader::FailAt(std::string message, int64_t position) {
  if (error_->message.empty()) *error_ = {std::move(message), position};
  return false;
}

bool RegexReader::HexEscape(int digits, uint32_t* value) {
  int64_t begin = at_ - 2;
  while (at_ - begin < digits + 2 && IsHex(Next())) ++at_;
  std::string text = Text(begin, at_);
  if (at_ - begin != digits + 2) return Fail(absl::StrCat("incomplete escape ", text), Length(text));
  unsigned long v = std::stoul(text.substr(2), nullptr, 16);
  if (v > 0x10ffff) return Fail(absl::StrCat("bad escape ", text), Length(text));
  *value = static_cast<uint32_t>(v);
  return true;
}

bool RegexReader::NamedEscape(uint32_t* value) {
  if (!Take('{')) return Fail("missing {", 0);
  std::string name;
  if (!Until('}', "character name", &name)) return false;
  int32_t c = ast::LookUpCharacterName(name);
  if (c < 0) return Fail(absl::StrCat("undefined character name ", QuotedStr(name)), Length(name) + 4);
  *value = static_cast<uint32_t>(c);
  return true;
}

int RegexReader::CommonEscape(int64_t c, bool in_set, uint32_t* value) {
  static const std::map<int64_t, uint32_t> kSimple = {{'a', 7}, {'f', 12}, {'n', 10},   {'r', 13},
                                                      {'t', 9}, {'v', 11}, {'\\', '\\'}};
  auto simple = kSimple.find(c);
  if (simple != kSimple.end()) return *value = simple->second, 1;
  if (in_set && c == 'b') return *value = 8, 1;
  if (c == 'x') return HexEscape(2, value) ? 1 : -1;
  if (!bytes_ && c == 'u') return HexEscape(4, value) ? 1 : -1;
  if (!bytes_ && c == 'U') return HexEscape(8, value) ? 1 : -1;
  if (!bytes_ && c == 'N') return NamedEscape(value) ? 1 : -1;
  return 0;
}

bool RegexReader::OctalEscape(int64_t begin, uint32_t* value) {
  std::string text = Text(begin, at_);
  unsigned long v = std::stoul(text.substr(1), nullptr, 8);
  if (v > 0377) return Fail(absl::StrCat("octal escape value ", text, " outside of range 0-0o377"), Length(text));
  *value = static_cast<uint32_t>(v);
  return true;
}

}  // namespace cobra::python
