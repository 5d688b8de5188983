// The characters and escapes of a regular expression, below its grammar (regex_parse.cc).
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_REGEX_READER_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_REGEX_READER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frontend/python/runtime/modules/regex.h"

namespace cobra::python {

// `at_` steps over a backslash and the escaped character at once, like the Tokenizer of CPython's
// re/_parser.py. Functions that return bool return false after an error.
class RegexReader {
 protected:
  static constexpr int64_t kEndOfPattern = -1;

  RegexReader(const std::vector<uint32_t>& pattern, bool bytes, RegexError* error)
      : pattern_(pattern), bytes_(bytes), error_(error) {}

  static bool IsDigit(int64_t c) { return c >= '0' && c <= '9'; }
  static bool IsOctal(int64_t c) { return c >= '0' && c <= '7'; }
  static bool IsHex(int64_t c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
  static bool IsAsciiLetter(int64_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  // In characters.
  static int64_t Length(const std::string& utf8);

  int64_t Next() const { return at_ < Size() ? pattern_[static_cast<size_t>(at_)] : kEndOfPattern; }
  int64_t Size() const { return static_cast<int64_t>(pattern_.size()); }
  bool Take(uint32_t c) {
    if (Next() != c) return false;
    ++at_;
    return true;
  }
  std::string Text(int64_t begin, int64_t end) const;
  // Reads everything before `terminator`, and the terminator. `what` is its name in messages.
  bool Until(uint32_t terminator, const char* what, std::string* text);

  // Both return false. The error's position is `back` characters before the current one.
  bool Fail(std::string message, int64_t back) { return FailAt(std::move(message), at_ - back); }
  bool FailAt(std::string message, int64_t position);

  // 1: *value is the character; 0: not one of these; -1: error. Consumes the character after the
  // backslash.
  int CommonEscape(int64_t c, bool in_set, uint32_t* value);
  // The value of the digits between the backslash at `begin` and the current position.
  bool OctalEscape(int64_t begin, uint32_t* value);

  const std::vector<uint32_t>& pattern_;
  bool bytes_;
  RegexError* error_;
  int64_t at_ = 0;

 private:
  // \xhh and the like, whose first character is already consumed; `digits` more follow.
  bool HexEscape(int digits, uint32_t* value);
  bool NamedEscape(uint32_t* value);
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_MODULES_REGEX_READER_H_
