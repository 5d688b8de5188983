#include "frontend/python/syntax/lexer.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "frontend/python/syntax/unicode.h"

namespace cobra::python {
namespace ast {
namespace {

enum CharClass : uint8_t { kStart = 1, kContinue = 2, kDigit = 4, kHex = 8, kStringStop = 16 };

struct CharTable {
  uint8_t of[256] = {};
  CharTable() {
    for (int c = 0; c < 256; ++c) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 128;
      const bool digit = c >= '0' && c <= '9';
      const bool hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      const bool stop = c == 0 || c == '\n' || c == '\\' || c == '"' || c == '\'';
      of[c] = (letter ? kStart | kContinue : 0) | (digit ? kDigit | kContinue : 0) | (hex ? kHex : 0) |
              (stop ? kStringStop : 0);
    }
  }
};
const CharTable kChars;
inline bool Is(char c, int mask) { return (kChars.of[static_cast<uint8_t>(c)] & mask) != 0; }

// Keywords have 2 to 8 letters, so each fits into one integer and one comparison suffices.
inline uint64_t LoadName(const char* p, size_t size) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return size >= 8 ? v : v & ((uint64_t{1} << (8 * size)) - 1);
}

class KeywordTable {
 public:
  KeywordTable() {
#define COBRA_TOKEN_KEYWORD(name, spelling) Add(spelling, TokenKind::k##name);
#include "frontend/python/syntax/tokens.def"
  }
  TokenKind Find(const char* p, size_t size) const {
    if (size < 2 || size > 8) return TokenKind::kName;
    const uint64_t v = LoadName(p, size);
    for (size_t i = Slot(v);; i = (i + 1) & 255) {
      if (rows_[i].text == v) return rows_[i].kind;
      if (rows_[i].text == 0) return TokenKind::kName;
    }
  }

 private:
  static size_t Slot(uint64_t v) { return (v * 0x9E3779B97F4A7C15u) >> 56; }
  void Add(const char* text, TokenKind kind) {
    char padded[16] = {};
    std::strncpy(padded, text, 8);
    const uint64_t v = LoadName(padded, std::strlen(text));
    size_t i = Slot(v);
    while (rows_[i].text != 0) i = (i + 1) & 255;
    rows_[i] = {v, kind};
  }
  struct Row {
    uint64_t text = 0;
    TokenKind kind = TokenKind::kName;
  };
  Row rows_[256];
};
const KeywordTable kKeywords;

// Length of a string prefix (r, b, u, f, rb, rf in any order and case) if a quote follows; else -1.
int StringPrefix(const char* p) {
  bool b = false, u = false, r = false, f = false;
  for (int i = 0; i < 3; ++i) {
    const char c = p[i] | 0x20;
    if (p[i] == '"' || p[i] == '\'') return i;
    if (c == 'b' && !(b || u || f)) {
      b = true;
    } else if (c == 'u' && !(b || u || r || f)) {
      u = true;
    } else if (c == 'r' && !(r || u)) {
      r = true;
    } else if (c == 'f' && !(f || b || u)) {
      f = true;
    } else {
      return -1;
    }
  }
  return -1;
}

bool StartsStringPrefix(char c) {
  switch (c) {
    case 'b':
    case 'B':
    case 'r':
    case 'R':
    case 'u':
    case 'U':
    case 'f':
    case 'F': return true;
    default: return false;
  }
}

// Deprecated but allowed: a keyword directly after a number, as in `1if x else y`.
bool KeywordMayFollowNumber(const char* p) {
  switch (p[0]) {
    case 'a': return p[1] == 'n' && p[2] == 'd';
    case 'e': return p[1] == 'l' && p[2] == 's' && p[3] == 'e';
    case 'f': return p[1] == 'o' && p[2] == 'r';
    case 'i': return p[1] == 'f' || p[1] == 'n' || p[1] == 's';
    case 'o': return p[1] == 'r';
    case 'n': return p[1] == 'o' && p[2] == 't';
    default: return false;
  }
}

}  // namespace

const char* Spelling(TokenKind kind) {
  switch (kind) {
// clang-format 14 splits labels inside macros.
// clang-format off
#define COBRA_TOKEN_SPACE(name) case TokenKind::k##name: return #name;
#define COBRA_TOKEN_CLASS(name) case TokenKind::k##name: return #name;
#define COBRA_TOKEN_OP(name, spelling) case TokenKind::k##name: return spelling;
#define COBRA_TOKEN_KEYWORD(name, spelling) case TokenKind::k##name: return spelling;
#include "frontend/python/syntax/tokens.def"
    // clang-format on
  }
  return "";
}

Lexer::Lexer(absl::string_view text, int version, int first_line, int column_shift)
    : text_(text),
      p_(text.data()),
      end_(text.data() + text.size()),
      start_(p_),
      line_start_(p_),
      line_(first_line),
      version_(version),
      first_line_(first_line),
      column_shift_(column_shift) {
  indents_[0] = alt_indents_[0] = 0;
}

int Lexer::Column(const char* p) const {
  return static_cast<int>(p - line_start_) + (line_ == first_line_ ? column_shift_ : 0);
}

void Lexer::Finish(Token* token, TokenKind kind) {
  token->kind = kind;
  token->non_ascii = false;
  token->level = static_cast<uint8_t>(level_);
  token->begin = static_cast<int32_t>(start_ - text_.data());
  token->end = static_cast<int32_t>(p_ - text_.data());
  const int32_t shift = line_ == first_line_ ? column_shift_ : 0;
  const int32_t col = static_cast<int32_t>(start_ - line_start_) + shift;
  token->pos = {line_, col, line_, static_cast<int32_t>(p_ - line_start_) + shift};
}

void Lexer::Textless(Token* token, TokenKind kind) {
  token->kind = kind;
  token->non_ascii = false;
  token->level = static_cast<uint8_t>(level_);
  token->begin = token->end = static_cast<int32_t>(p_ - text_.data());
  token->pos = {line_, -1, line_, -1};
}

void Lexer::Fail(Token* token, const char* at, std::string message) {
  Textless(token, TokenKind::kError);
  problem_ = {SyntaxProblem::Kind::kSyntax, std::move(message), line_, Column(at) + 1};
  problem_was_raised_ = true;
}

void Lexer::FailState(Token* token, SyntaxProblem::Kind kind, std::string message, const char* at) {
  Textless(token, TokenKind::kError);
  problem_ = {kind, std::move(message), line_, at == nullptr ? 0 : Column(at) + 1};
  problem_was_raised_ = false;
}

void Lexer::SetUnclosed() {
  const Bracket& bracket = brackets_[level_ - 1];
  problem_ = {SyntaxProblem::Kind::kSyntax, absl::StrFormat("'%c' was never closed", bracket.open), bracket.line,
              bracket.col + 1};
}

void Lexer::FailAtEnd(Token* token) {
  FailState(token, SyntaxProblem::Kind::kSyntax, "unexpected EOF while parsing", p_);
  reached_end_ = true;
  if (level_ > 0) SetUnclosed();
}

// After a backslash, the newline must follow, and the text must not end there.
bool Lexer::ContinuationLine(Token* token) {
  if (*p_ != '\n') {
    FailState(token, SyntaxProblem::Kind::kSyntax, "unexpected character after line continuation character", p_);
    return false;
  }
  ++p_;
  if (p_ >= end_) {
    FailAtEnd(token);
    return false;
  }
  NewLine(p_);
  return true;
}

bool Lexer::ReadIndentation(Token* token, bool* blank_line) {
  int col = 0, alt_col = 0, continued_col = 0;
  at_line_start_ = false;
  for (;; ++p_) {
    if (*p_ == ' ') {
      ++col, ++alt_col;
    } else if (*p_ == '\t') {
      col = (col / 8 + 1) * 8;
      ++alt_col;
    } else if (*p_ == '\f') {
      col = alt_col = 0;
    } else if (*p_ == '\\') {
      // The position of the first backslash is the indentation of the continued line.
      if (continued_col == 0) continued_col = col;
      ++p_;
      if (!ContinuationLine(token)) return false;
      --p_;
    } else {
      break;
    }
  }
  *blank_line = *p_ == '#' || *p_ == '\n';
  if (*blank_line || level_ > 0) return true;
  if (continued_col != 0) col = alt_col = continued_col;
  const bool deeper = col > indents_[indent_];
  if (deeper) {
    if (indent_ + 1 >= kMaxIndents) {
      FailState(token, SyntaxProblem::Kind::kIndentation, "too many levels of indentation", nullptr);
      return false;
    }
    if (alt_col > alt_indents_[indent_]) {
      ++pending_;
      indents_[++indent_] = col;
      alt_indents_[indent_] = alt_col;
      return true;
    }
  } else {
    while (indent_ > 0 && col < indents_[indent_]) {
      --pending_;
      --indent_;
    }
    if (col != indents_[indent_]) {
      FailState(token, SyntaxProblem::Kind::kIndentation, "unindent does not match any outer indentation level", p_);
      return false;
    }
    if (alt_col == alt_indents_[indent_]) return true;
  }
  FailState(token, SyntaxProblem::Kind::kTab, "inconsistent use of tabs and spaces in indentation", nullptr);
  return false;
}

void Lexer::Next(Token* token) {
  bool blank_line = false;
  if (!fstrings_.empty() && fstrings_.back().in_text && ReadFStringText(token)) return;
  for (;;) {
    if (at_line_start_) {
      blank_line = false;
      if (!ReadIndentation(token, &blank_line)) return;
    }
    if (pending_ != 0) {
      Textless(token, pending_ < 0 ? TokenKind::kDedent : TokenKind::kIndent);
      pending_ += pending_ < 0 ? 1 : -1;
      return;
    }
    while (*p_ == ' ' || *p_ == '\t' || *p_ == '\f') ++p_;
    if (*p_ == '#') {
      p_ = static_cast<const char*>(std::memchr(p_, '\n', end_ - p_));  // every line ends in '\n'
    }
    start_ = p_;
    const char c = *p_;
    if (Is(c, kStart)) return ReadName(token);
    if (c == '\n') {
      ++p_;
      at_line_start_ = true;
      if (blank_line || level_ > 0) {
        if (p_ < end_) NewLine(p_);
        continue;
      }
      Finish(token, TokenKind::kNewline);
      --token->end;
      --token->pos.end_col;
      if (p_ < end_) NewLine(p_);
      return;
    }
    if (c == '\\') {
      ++p_;
      if (!ContinuationLine(token)) return;
      continue;
    }
    if (c == '\0') {
      if (level_ > 0) return FailAtEnd(token);
      reached_end_ = true;
      return Textless(token, TokenKind::kEndMarker);
    }
    if (Is(c, kDigit) || (c == '.' && Is(p_[1], kDigit))) return ReadNumber(token);
    if (c == '"' || c == '\'') return ReadString(token, p_);
    return ReadOperator(token);
  }
}

void Lexer::ReadName(Token* token) {
  if (StartsStringPrefix(*p_)) {
    const int prefix = StringPrefix(p_);
    if (prefix >= 0) return ReadString(token, p_ + prefix);
  }
  const char* p = p_;
  uint8_t seen = 0;
  do {
    seen |= static_cast<uint8_t>(*p++);
  } while (Is(*p, kContinue));
  p_ = p;
  if (seen & 0x80) {
    if (!CheckIdentifier(token)) return;
    Finish(token, TokenKind::kName);
    token->non_ascii = true;
    return;
  }
  Finish(token, kKeywords.Find(start_, p - start_));
}

bool Lexer::CheckIdentifier(Token* token) {
  const char* p = start_;
  bool first = true;
  while (p < p_) {
    const char* at = p;
    const int32_t c = DecodeUtf8(&p, p_);
    if (first ? IsIdentifierStart(c) : IsIdentifierContinue(c)) {
      first = false;
      continue;
    }
    p_ = p;
    if (IsPrintable(c)) {
      Fail(token, at, absl::StrFormat("invalid character '%s' (U+%04X)", absl::string_view(at, p - at), c));
    } else {
      Fail(token, at, absl::StrFormat("invalid non-printable character U+%04X", c));
    }
    return false;
  }
  return true;
}

void Lexer::ReadString(Token* token, const char* quote_at) {
  const char quote = *quote_at;
  if (version_ >= 12 && absl::string_view(p_, quote_at - p_).find_first_of("fF") != absl::string_view::npos)
    return BeginFString(token, quote_at);
  const int32_t first_line = line_;
  const char* const first_line_start = line_start_;
  const bool triple = quote_at[1] == quote && quote_at[2] == quote;
  const char* p = quote_at + (triple ? 3 : 1);
  for (;; ++p) {
    while (!Is(*p, kStringStop)) ++p;
    if (*p == quote) {
      if (!triple) break;
      if (p[1] == quote && p[2] == quote) {
        p += 2;
        break;
      }
      continue;
    }
    bool ended = *p == '\0';
    if (*p == '\\') {
      ++p;
      ended = *p == '\0';
      if (*p == '\n' && p + 1 < end_) NewLine(p + 1);
    } else if (*p == '\n') {
      ended = !triple;
      if (triple && p + 1 < end_) NewLine(p + 1);
    }
    if (!ended) continue;
    if (!fstrings_.empty() && fstrings_.back().quote == quote && fstrings_.back().triple == triple) {
      p_ = start_;
      line_ = first_line;
      line_start_ = first_line_start;
      return Fail(token, start_, "f-string: expecting '}'");
    }
    const int last_line = line_;
    line_ = first_line;
    line_start_ = first_line_start;
    const char* at = start_;
    p_ = p;
    return Fail(token, at,
                absl::StrCat("unterminated ", triple ? "triple-quoted " : "", "string literal (detected at line ",
                             last_line, ")"));
  }
  p_ = p + 1;
  Finish(token, TokenKind::kString);
  if (line_ != first_line) {
    token->pos.line = first_line;
    token->pos.col = static_cast<int32_t>(start_ - first_line_start) + (first_line == first_line_ ? column_shift_ : 0);
  }
}

const char* Lexer::DecimalTail(const char* p, Token* token) {
  for (;;) {
    while (Is(*p, kDigit)) ++p;
    if (*p != '_') return p;
    ++p;
    if (!Is(*p, kDigit)) {
      Fail(token, p - 1, "invalid decimal literal");
      return nullptr;
    }
  }
}

bool Lexer::CheckNumberEnd(const char* p, const char* kind, Token* token) {
  if (Is(*p, kContinue) && !KeywordMayFollowNumber(p)) {
    Fail(token, p - 1, absl::StrCat("invalid ", kind, " literal"));
    return false;
  }
  p_ = p;
  Finish(token, TokenKind::kNumber);
  return true;
}

void Lexer::ReadNumber(Token* token) {
  const char* p = p_;
  const char marker = p[0] == '0' ? (p[1] | 0x20) : 0;
  if (marker == 'x' || marker == 'o' || marker == 'b') {
    const char* name = marker == 'x' ? "hexadecimal" : marker == 'o' ? "octal" : "binary";
    const char top = marker == 'o' ? '7' : '1';
    const auto is_digit = [&](char c) { return marker == 'x' ? Is(c, kHex) : c >= '0' && c <= top; };
    p += 2;
    do {
      if (*p == '_') ++p;
      if (!is_digit(*p)) {
        if (Is(*p, kDigit)) return Fail(token, p, absl::StrFormat("invalid digit '%c' in %s literal", *p, name));
        return Fail(token, p - 1, absl::StrCat("invalid ", name, " literal"));
      }
      while (is_digit(*p)) ++p;
    } while (*p == '_');
    if (Is(*p, kDigit)) return Fail(token, p, absl::StrFormat("invalid digit '%c' in %s literal", *p, name));
    CheckNumberEnd(p, name, token);
    return;
  }
  bool old_octal = false;
  if (*p == '0') {
    const char* q = p;
    while (*q == '0' || (*q == '_' && Is(q[1], kDigit))) ++q;
    old_octal = Is(*q, kDigit);
  }
  if (*p != '.') p = DecimalTail(p, token);
  if (p == nullptr) return;
  if (*p == '.') {
    old_octal = false;
    ++p;
    if (Is(*p, kDigit)) p = DecimalTail(p, token);
    if (p == nullptr) return;
  }
  if (*p == 'e' || *p == 'E') {
    const char* digits = p + (p[1] == '+' || p[1] == '-' ? 2 : 1);
    if (Is(*digits, kDigit)) {
      old_octal = false;
      p = DecimalTail(digits, token);
      if (p == nullptr) return;
    } else if (digits == p + 2) {
      return Fail(token, p + 1, "invalid decimal literal");
    }
  }
  if (*p == 'j' || *p == 'J') {
    CheckNumberEnd(p + 1, "imaginary", token);
  } else if (old_octal) {
    Fail(token, start_,
         "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers");
  } else {
    CheckNumberEnd(p, "decimal", token);
  }
}

void Lexer::ReadClosingBracket(Token* token) {
  const char* p = p_;
  if (*p == '}' && !fstrings_.empty() && fstrings_.back().fields.empty())
    return Fail(token, p, "f-string: single '}' is not allowed");
  if (*p != '}' && IsDirectlyInField()) return Fail(token, p, absl::StrFormat("f-string: unmatched '%c'", *p));
  if (level_ == 0) return Fail(token, p, absl::StrFormat("unmatched '%c'", *p));
  const Bracket& open = brackets_[--level_];
  const char expected = open.open == '(' ? ')' : open.open == '[' ? ']' : '}';
  if (*p != expected) {
    std::string message =
        absl::StrFormat("closing parenthesis '%c' does not match opening parenthesis '%c'", *p, open.open);
    if (open.line != line_) absl::StrAppend(&message, " on line ", open.line);
    return Fail(token, p, std::move(message));
  }
  ++p_;
  if (!fstrings_.empty() && level_ < fstrings_.back().fields.back()) {
    FString& fstring = fstrings_.back();
    fstring.fields.pop_back();
    fstring.in_text = true;
    fstring.in_specification = false;
  }
  Finish(token, *p == ')' ? TokenKind::kRParen : *p == ']' ? TokenKind::kRSquare : TokenKind::kRBrace);
}

void Lexer::ReadOperator(Token* token) {
  using K = TokenKind;
  const char* p = p_;
  const auto take = [&](int size, K kind) {
    p_ = p + size;
    Finish(token, kind);
  };
  const bool eq = p[1] == '=';
  if (*p == ':' && IsDirectlyInField()) {
    fstrings_.back().in_text = fstrings_.back().in_specification = true;
    return take(1, K::kColon);
  }
  switch (*p) {
    case '(':
    case '[':
    case '{':
      if (level_ >= kMaxLevel) return Fail(token, p, "too many nested parentheses");
      brackets_[level_++] = {*p, line_, Column(p)};
      return take(1, *p == '(' ? K::kLParen : *p == '[' ? K::kLSquare : K::kLBrace);
    case ')':
    case ']':
    case '}': return ReadClosingBracket(token);
    case ':': return eq ? take(2, K::kColonEqual) : take(1, K::kColon);
    case ',': return take(1, K::kComma);
    case ';': return take(1, K::kSemicolon);
    case '.': return p[1] == '.' && p[2] == '.' ? take(3, K::kEllipsis) : take(1, K::kDot);
    case '=': return eq ? take(2, K::kEqEqual) : take(1, K::kEqual);
    case '+': return eq ? take(2, K::kPlusEqual) : take(1, K::kPlus);
    case '-': return eq ? take(2, K::kMinusEqual) : p[1] == '>' ? take(2, K::kArrow) : take(1, K::kMinus);
    case '*':
      if (p[1] == '*') return p[2] == '=' ? take(3, K::kDoubleStarEqual) : take(2, K::kDoubleStar);
      return eq ? take(2, K::kStarEqual) : take(1, K::kStar);
    case '/':
      if (p[1] == '/') return p[2] == '=' ? take(3, K::kDoubleSlashEqual) : take(2, K::kDoubleSlash);
      return eq ? take(2, K::kSlashEqual) : take(1, K::kSlash);
    case '<':
      if (p[1] == '<') return p[2] == '=' ? take(3, K::kLeftShiftEqual) : take(2, K::kLeftShift);
      if (p[1] == '>') return take(2, K::kLessGreater);
      return eq ? take(2, K::kLessEqual) : take(1, K::kLess);
    case '>':
      if (p[1] == '>') return p[2] == '=' ? take(3, K::kRightShiftEqual) : take(2, K::kRightShift);
      return eq ? take(2, K::kGreaterEqual) : take(1, K::kGreater);
    case '!': return eq ? take(2, K::kNotEqual) : take(1, K::kOther);
    case '%': return eq ? take(2, K::kPercentEqual) : take(1, K::kPercent);
    case '@': return eq ? take(2, K::kAtEqual) : take(1, K::kAt);
    case '|': return eq ? take(2, K::kVBarEqual) : take(1, K::kVBar);
    case '^': return eq ? take(2, K::kCircumflexEqual) : take(1, K::kCircumflex);
    case '&': return eq ? take(2, K::kAmperEqual) : take(1, K::kAmper);
    case '~': return take(1, K::kTilde);
    default:
      if (*p < 0x20 || *p == 0x7F) {
        return Fail(token, p, absl::StrFormat("invalid non-printable character U+%04X", *p));
      }
      return take(1, K::kOther);
  }
}

bool Lexer::ScanForErrors(int error_line) {
  Token token;
  for (;;) {
    Next(&token);
    if (token.kind == TokenKind::kEndMarker) return false;
    if (token.kind != TokenKind::kError) continue;
    if (problem_was_raised_) return true;
    if (level_ == 0 || error_line <= brackets_[level_ - 1].line) return false;
    SetUnclosed();
    return true;
  }
}

}  // namespace ast
}  // namespace cobra::python
