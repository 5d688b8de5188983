// Numbers and strings. f-strings are those of CPython 3.11 (parse_fstrings.cc has those of 3.12):
// the text between braces is found by counting brackets and quotes, enclosed in parentheses and
// parsed separately.
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "frontend/python/syntax/parse/parser_impl.h"
#include "frontend/python/syntax/unicode.h"

namespace cobra::python {
namespace ast {

namespace {

// CPython 3.11 rejects longer decimal literals; we limit all literals, because the conversion takes
// quadratic time.
constexpr size_t kMaxDecimalDigits = 4300;

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Converts digits of base 2, 8 or 16 to decimal digits, in limbs of 10^9.
std::string ToDecimal(absl::string_view digits, int base) {
  std::vector<uint32_t> limbs = {0};
  for (char c : digits) {
    uint64_t carry = DigitValue(c);
    for (uint32_t& limb : limbs) {
      carry += static_cast<uint64_t>(limb) * base;
      limb = static_cast<uint32_t>(carry % 1000000000);
      carry /= 1000000000;
    }
    if (carry != 0) limbs.push_back(static_cast<uint32_t>(carry));
  }
  std::string out = absl::StrCat(limbs.back());
  for (size_t i = limbs.size() - 1; i-- > 0;) absl::StrAppendFormat(&out, "%09u", limbs[i]);
  return out;
}

// The offset of `at` if every non-ASCII character were written \UXXXXXXXX: CPython decodes such a
// text, so its error positions count in it.
ptrdiff_t EscapedOffset(const char* begin, const char* at) {
  ptrdiff_t offset = 0;
  for (const char* p = begin; p < at; ++p) {
    const uint8_t c = static_cast<uint8_t>(*p);
    offset += c < 0x80 ? 1 : c >= 0xC0 ? 10 : 0;
  }
  return offset;
}

// The character that a backslash before `c` denotes if the escape has no other characters; else 0.
char SimpleEscape(char c) {
  switch (c) {
    case '\\':
    case '\'':
    case '"': return c;
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    default: return 0;
  }
}

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

const ExprNode* Parser::FailLiteral(std::string message) {
  if (!has_problem_) {
    has_problem_ = true;
    problem_at_last_token_ = true;
    problem_ = {SyntaxProblem::Kind::kSyntax, std::move(message), 0, 0};
  }
  return nullptr;
}

const ExprNode* Parser::FailLiteralAt(const Token& token, std::string message) {
  if (!has_problem_) {
    has_problem_ = true;
    problem_ = {SyntaxProblem::Kind::kSyntax, std::move(message), token.pos.line, token.pos.col + 1};
  }
  return nullptr;
}

// ---- numbers ----

const Constant* Parser::ParseNumber(const Token& token) {
  std::string without;
  absl::string_view text = TextOf(token);
  if (absl::string_view::npos != text.find('_')) {
    for (char c : text) {
      if (c != '_') without += c;
    }
    text = without;
  }
  Constant* constant = builder_->Node<Constant>(token.pos);
  const char marker = text.size() > 1 && text[0] == '0' ? (text[1] | 0x20) : 0;
  const bool radix = marker == 'x' || marker == 'o' || marker == 'b';
  if (!radix && text.find_first_of(".eEjJ") != absl::string_view::npos) {
    const bool imaginary = (text.back() | 0x20) == 'j';
    if (imaginary) text.remove_suffix(1);
    constant->constant_kind = imaginary ? ConstantKind::kComplex : ConstantKind::kFloat;
    if (absl::SimpleAtod(text, &constant->float_value)) return constant;
    FailLiteralAt(token, absl::StrCat("invalid number '", text, "'"));
    return nullptr;
  }
  if (ReadInteger(text, constant)) return constant;
  if (!has_problem_) {
    has_problem_ = true;
    const std::string message = absl::StrFormat(
        "Exceeds the limit (%d digits) for integer string conversion: value has %d digits; use "
        "sys.set_int_max_str_digits() to increase the limit - Consider hexadecimal for huge integer literals to avoid "
        "decimal conversion limits.",
        kMaxDecimalDigits, text.size());
    problem_ = {radix ? SyntaxProblem::Kind::kLimit : SyntaxProblem::Kind::kSyntax, message, token.pos.line, 0};
  }
  return nullptr;
}

bool Parser::ReadInteger(absl::string_view digits, Constant* constant) {
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0' && DigitValue(digits[1]) >= 10) {
    const char marker = digits[1] | 0x20;
    base = marker == 'x' ? 16 : marker == 'o' ? 8 : 2;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits[0] == '0' && (digits[1] | 0x20) == 'b') {
    base = 2;
    digits.remove_prefix(2);
  }
  const size_t written = digits.size();
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  constant->constant_kind = ConstantKind::kInt;
  uint64_t value = 0;
  bool fits = digits.size() <= 64;
  for (size_t i = 0; fits && i < digits.size(); ++i) {
    const uint64_t digit = DigitValue(digits[i]);
    fits = value <= (uint64_t{INT64_MAX} - digit) / base;
    value = value * base + digit;
  }
  if (fits) {
    constant->int_value = static_cast<int64_t>(value);
    return true;
  }
  const size_t bits_per_digit = base == 16 ? 4 : base == 8 ? 3 : 1;
  if (base == 10 ? written > kMaxDecimalDigits : digits.size() * bits_per_digit > kMaxDecimalDigits * 3) return false;
  constant->constant_kind = ConstantKind::kBigInt;
  constant->text = builder_->CopyText(base == 10 ? std::string(digits) : ToDecimal(digits, base));
  return true;
}

// ---- strings ----

struct Parser::StringPart {
  const Token* token = nullptr;
  absl::string_view body;  // between the quotes
  bool bytes = false;
  bool raw = false;
  bool format = false;
};

// Joins adjacent literals and the pieces of f-strings: text is joined until a field follows.
class Parser::StringJoiner {
 public:
  StringJoiner(Parser* parser, const Position& pos, bool is_u)
      : parser_(parser), nodes_(parser), pos_(pos), is_u_(is_u) {}

  std::string* text() { return &text_; }
  const Position& pos() const { return pos_; }
  void AddField(const ExprNode* field) {
    FlushText();
    nodes_.Add(field);
  }
  const ExprNode* Joined() {
    FlushText();
    return JoinedAt(pos_);
  }
  // For a format specification, CPython 3.11 gives the whole and its last text the position of the
  // token around it.
  const ExprNode* JoinedSpecification(const Position& token_pos) {
    if (!text_.empty()) nodes_.Add(parser_->MakeText(ConstantKind::kStr, text_, false, token_pos));
    return JoinedAt(token_pos);
  }
  const ExprNode* Plain(bool bytes) {
    return parser_->MakeText(bytes ? ConstantKind::kBytes : ConstantKind::kStr, text_, is_u_ && !bytes, pos_);
  }
  bool is_u() const { return is_u_; }

 private:
  const ExprNode* JoinedAt(const Position& pos) {
    JoinedStr* node = parser_->builder_->Node<JoinedStr>(pos);
    node->values = nodes_.Take();
    return parser_->WithHeight(node, HeightOf(node->values));
  }
  void FlushText() {
    if (!text_.empty()) nodes_.Add(parser_->MakeText(ConstantKind::kStr, text_, is_u_, pos_));
    text_.clear();
  }
  Parser* parser_;
  Collector<ExprNode> nodes_;
  Position pos_;
  bool is_u_;
  std::string text_;
};

const Constant* Parser::MakeText(ConstantKind kind, absl::string_view text, bool is_u, const Position& pos) {
  Constant* node = builder_->Node<Constant>(pos);
  node->constant_kind = kind;
  node->is_u_string = is_u;
  node->text = builder_->CopyText(text);
  return node;
}

bool Parser::SplitString(const Token& token, StringPart* part) {
  absl::string_view text = TextOf(token);
  part->token = &token;
  for (; text[0] != '"' && text[0] != '\''; text.remove_prefix(1)) {
    const char c = text[0] | 0x20;
    part->bytes |= c == 'b';
    part->raw |= c == 'r';
    part->format |= c == 'f';
  }
  const size_t quotes = text.size() >= 6 && text[1] == text[0] && text[2] == text[0] ? 3 : 1;
  part->body = text.substr(quotes, text.size() - 2 * quotes);
  if (!part->bytes) return true;
  for (char c : part->body) {
    if (static_cast<uint8_t>(c) < 0x80) continue;
    FailLiteralAt(token, "bytes can only contain ASCII literal characters");
    return false;
  }
  return true;
}

const ExprNode* Parser::ParseStrings(absl::Span<const Token> tokens) {
  const Token& first = tokens.front();
  const Token& last = tokens.back();
  const Position pos = {first.pos.line, first.pos.col, last.pos.end_line, last.pos.end_col};
  const bool is_u = text_[first.begin] == 'u';
  if (tokens.size() == 1) {  // most strings need no copy
    StringPart part;
    if (!SplitString(first, &part)) return nullptr;
    if (!part.format && (part.raw || part.body.find('\\') == absl::string_view::npos)) {
      Constant* node = builder_->Node<Constant>(pos);
      node->constant_kind = part.bytes ? ConstantKind::kBytes : ConstantKind::kStr;
      node->is_u_string = is_u;
      // The source lives as long as the tree, and the text of a field of an f-string is in the
      // arena.
      node->text = part.body;
      return node;
    }
  }
  StringJoiner joiner(this, pos, is_u);
  bool bytes = false;
  bool format = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    StringPart part;
    if (!SplitString(tokens[i], &part)) return nullptr;
    if (i > 0 && part.bytes != bytes) return FailLiteral("cannot mix bytes and nonbytes literals");
    bytes = part.bytes;
    format |= part.format;
    if (part.format) {
      const char* p = part.body.data();
      if (!ParseFStringBody(part, &p, p + part.body.size(), 0, &joiner)) return nullptr;
    } else if (part.raw) {
      joiner.text()->append(part.body.data(), part.body.size());
    } else if (!(bytes ? DecodeBytesEscapes(part.body, joiner.text()) : DecodeEscapes(part.body, joiner.text()))) {
      return nullptr;
    }
  }
  return format ? joiner.Joined() : joiner.Plain(bytes);
}

bool Parser::DecodeEscapes(absl::string_view body, std::string* out) {
  const char* p = body.data();
  const char* const end = p + body.size();
  while (p < end) {
    const void* backslash = std::memchr(p, '\\', end - p);
    const char* stop = backslash == nullptr ? end : static_cast<const char*>(backslash);
    out->append(p, stop - p);
    p = stop;
    if (p < end && !DecodeOneEscape(&p, end, out, body.data())) return false;
  }
  return true;
}

// *p is at a backslash.
bool Parser::DecodeOneEscape(const char** p, const char* end, std::string* out, const char* begin) {
  const char* q = *p + 1;
  if (q == end) {
    out->push_back('\\');  // only in the text of an f-string before a brace
    *p = q;
    return true;
  }
  const char c = *q++;
  *p = q;
  if (c == '\n') return true;
  if (const char simple = SimpleEscape(c)) {
    out->push_back(simple);
    return true;
  }
  if (c >= '0' && c <= '7') {
    int value = c - '0';
    for (int i = 0; i < 2 && q < end && *q >= '0' && *q <= '7'; ++i) value = value * 8 + (*q++ - '0');
    AppendUtf8(value, out);
    *p = q;
    return true;
  }
  if (c == 'x' || c == 'u' || c == 'U') return DecodeHexEscape(p, end, out, begin);
  if (c == 'N') return DecodeNamedEscape(p, end, out, begin);
  out->push_back('\\');  // not an escape: the backslash is kept
  out->push_back(c);
  return true;
}

// Reports an error in the escape that begins with the backslash at `start` and ends at `to`.
bool Parser::FailEscape(absl::string_view what, const char* begin, const char* start, const char* to) {
  FailLiteral(absl::StrFormat("(unicode error) 'unicodeescape' codec can't decode bytes in position %d-%d: %s",
                              EscapedOffset(begin, start), EscapedOffset(begin, to) - 1, what));
  return false;
}

// *p is after the x, u or U.
bool Parser::DecodeHexEscape(const char** p, const char* end, std::string* out, const char* begin) {
  const char* const start = *p - 2;
  const char c = start[1];
  const char* q = *p;
  const int digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
  uint32_t value = 0;
  for (int i = 0; i < digits; ++i, ++q) {
    if (q == end || DigitValue(*q) > 15) {
      return FailEscape(absl::StrFormat("truncated \\%c%s escape", c, std::string(digits, 'X')), begin, start, q);
    }
    value = value * 16 + DigitValue(*q);
  }
  if (value > 0x10FFFF) return FailEscape("illegal Unicode character", begin, start, q);
  AppendUtf8(static_cast<int32_t>(value), out);
  *p = q;
  return true;
}

// *p is after the N.
bool Parser::DecodeNamedEscape(const char** p, const char* end, std::string* out, const char* begin) {
  const char* const start = *p - 2;
  const char* const q = *p;
  const void* close = q < end && *q == '{' ? std::memchr(q, '}', end - q) : nullptr;
  if (close == nullptr || static_cast<const char*>(close) == q + 1)
    return FailEscape("malformed \\N character escape", begin, start, q);
  const char* name_end = static_cast<const char*>(close);
  const int32_t value = LookUpCharacterName(absl::string_view(q + 1, name_end - q - 1));
  if (value < 0) return FailEscape("unknown Unicode character name", begin, start, name_end + 1);
  AppendUtf8(value, out);
  *p = name_end + 1;
  return true;
}

bool Parser::DecodeBytesEscapes(absl::string_view body, std::string* out) {
  const char* p = body.data();
  const char* const end = p + body.size();
  while (p < end) {
    if (*p != '\\' || p + 1 == end) {
      out->push_back(*p++);
      continue;
    }
    const char c = p[1];
    if (c == 'x') {
      if (end - p < 4 || DigitValue(p[2]) > 15 || DigitValue(p[3]) > 15) {
        FailLiteral(absl::StrCat("(value error) invalid \\x escape at position ", p - body.data()));
        return false;
      }
      out->push_back(static_cast<char>(DigitValue(p[2]) * 16 + DigitValue(p[3])));
      p += 4;
    } else if (c >= '0' && c <= '7') {
      int value = 0;
      ++p;
      for (int i = 0; i < 3 && p < end && *p >= '0' && *p <= '7'; ++i) value = value * 8 + (*p++ - '0');
      out->push_back(static_cast<char>(value));
    } else if (c == 'u' || c == 'U' || c == 'N') {
      out->push_back('\\');
      ++p;
    } else {
      DecodeOneEscape(&p, end, out, body.data());
    }
  }
  return true;
}

// ---- f-strings ----

// Parses text and fields up to the end or, inside a format specification (level > 0), up to its
// '}'.
bool Parser::ParseFStringBody(const StringPart& part, const char** p, const char* end, int level,
                              StringJoiner* joiner) {
  for (;;) {
    bool more = false;
    if (!ReadFStringLiteral(part, p, end, level, joiner->text(), &more)) return false;
    if (more) continue;
    if (*p >= end || **p == '}') break;
    const ExprNode* field = ParseReplacementField(part, p, end, level, joiner);
    if (field == nullptr) return false;
    joiner->AddField(field);
  }
  if (level > 0 && (*p >= end || **p != '}')) {
    FailLiteral("f-string: expecting '}'");
    return false;
  }
  return true;
}

// Reads one piece of text. *more is true if it ended in a doubled brace, after which text may
// follow.
bool Parser::ReadFStringLiteral(const StringPart& part, const char** p, const char* end, int level, std::string* out,
                                bool* more) {
  const char* const begin = *p;
  const char* s = begin;
  const char* literal_end = end;
  const char* next = end;
  while (s < end) {
    char c = *s++;
    if (!part.raw && c == '\\' && s < end) {
      c = *s++;
      if (c == 'N') {
        if (s < end && *s++ == '{') {
          while (s < end && *s++ != '}') {
          }
        }
        continue;
      }
    }
    if (c != '{' && c != '}') continue;
    if (level == 0) {
      if (s < end && *s == c) {
        literal_end = s;
        next = s + 1;
        *more = true;
        break;
      }
      if (c == '}') {
        FailLiteral("f-string: single '}' is not allowed");
        return false;
      }
    }
    literal_end = next = s - 1;
    break;
  }
  *p = next;
  const absl::string_view literal(begin, literal_end - begin);
  if (!part.raw) return DecodeEscapes(literal, out);
  out->append(literal.data(), literal.size());
  return true;
}

// Moves *p from the first character after '{' to the character that ends the expression.
bool Parser::FindFieldEnd(const char** p, const char* end) {
  char quote = 0;
  bool triple = false;
  std::string open;
  const auto fail = [&](absl::string_view message) {
    FailLiteral(absl::StrCat("f-string", message));
    return false;
  };
  const char* s = *p;
  for (; s < end; ++s) {
    const char c = *s;
    if (c == '\\') return fail(" expression part cannot include a backslash");
    const bool three = s + 2 < end && s[1] == c && s[2] == c;
    if (quote != 0) {
      if (c != quote || (triple && !three)) continue;
      if (triple) s += 2;
      quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
      triple = three;
      if (three) s += 2;
    } else if (c == '[' || c == '{' || c == '(') {
      if (open.size() >= 200) return fail(": too many nested parenthesis");
      open.push_back(c);
    } else if (c == '#') {
      return fail(" expression part cannot include '#'");
    } else if (open.empty() && std::strchr("!:}=><", c) != nullptr) {
      if (s + 1 < end && s[1] == '=' && std::strchr("!=<>", c) != nullptr) {
        ++s;
        continue;
      }
      if (c == '>' || c == '<') continue;
      break;
    } else if (c == ']' || c == '}' || c == ')') {
      if (open.empty()) return fail(absl::StrFormat(": unmatched '%c'", c));
      const char expected = open.back() == '(' ? ')' : open.back() == '[' ? ']' : '}';
      if (c != expected) {
        return fail(
            absl::StrFormat(": closing parenthesis '%c' does not match opening parenthesis '%c'", c, open.back()));
      }
      open.pop_back();
    }
  }
  *p = s;
  if (quote != 0) return fail(": unterminated string");
  if (!open.empty()) return fail(absl::StrFormat(": unmatched '%c'", open.back()));
  return s < end || fail(": expecting '}'");
}

// `{expression [=] [!conversion] [:specification]}`; *p is at the '{'.
const ExprNode* Parser::ParseReplacementField(const StringPart& part, const char** p, const char* end, int level,
                                              StringJoiner* joiner) {
  if (level >= 2) return FailLiteral("f-string: expressions nested too deeply");
  const char* const begin = ++*p;
  if (!FindFieldEnd(p, end)) return nullptr;
  const ExprNode* value = ParseFieldExpression(part, begin, *p);
  if (value == nullptr) return nullptr;
  int conversion = -1;
  bool debug = false;
  if (**p == '=') {
    debug = true;
    do {
      ++*p;
    } while (*p < end && IsBlank(**p));
    joiner->text()->append(begin, *p - begin);
  }
  if (*p < end && **p == '!') {
    if (end - *p < 2) return FailLiteral("f-string: expecting '}'");
    conversion = static_cast<unsigned char>((*p)[1]);
    *p += 2;
    if (conversion != 's' && conversion != 'r' && conversion != 'a') {
      return FailLiteral("f-string: invalid conversion character: expected 's', 'r', or 'a'");
    }
  }
  const ExprNode* format_spec = nullptr;
  if (*p < end && **p == ':') {
    ++*p;
    StringJoiner spec(this, joiner->pos(), joiner->is_u());
    if (*p >= end) return FailLiteral("f-string: expecting '}'");
    if (!ParseFStringBody(part, p, end, level + 1, &spec)) return nullptr;
    if ((format_spec = spec.JoinedSpecification(part.token->pos)) == nullptr) return nullptr;
  }
  if (*p >= end || **p != '}') return FailLiteral("f-string: expecting '}'");
  ++*p;
  if (debug && format_spec == nullptr && conversion == -1) conversion = 'r';
  FormattedValue* node = builder_->Node<FormattedValue>(joiner->pos());
  node->value = value;
  node->conversion = conversion;
  node->format_spec = format_spec;
  return WithHeight(node, HeightOf(value, format_spec));
}

// The expression is parsed as a separate text, "(expression)". CPython 3.11 numbers its lines and
// columns as follows. The first line is the line of the string plus the number of newlines before
// the '{'. The columns of the first line start at the column of the '{' in its line; in the token's
// first line, this includes the column of the token.
const ExprNode* Parser::ParseFieldExpression(const StringPart& part, const char* begin, const char* end) {
  const char* s = begin;
  while (s < end && (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\f')) ++s;
  if (s == end) {
    if (*end == '!' || *end == ':' || *end == '=') {
      return FailLiteral(absl::StrFormat("f-string: expression required before '%c'", *end));
    }
    return FailLiteral("f-string: empty expression not allowed");
  }
  const size_t size = end - begin;
  char* text = const_cast<char*>(builder_->CopyText(std::string(size + 3 + 16, '\0')).data());
  text[0] = '(';
  std::memcpy(text + 1, begin, size);
  text[size + 1] = ')';
  text[size + 2] = '\n';

  const char* const token_begin = text_.data() + part.token->begin;
  const char* const brace = begin - 1;
  int lines = 0;
  for (const char* q = token_begin; q < brace; ++q) lines += *q == '\n';
  int cols = 0;
  const char* after = begin;
  while (*after == ' ' || *after == '\t' || *after == '\f') ++after;
  if (*after != '\n' && *after != '}') {
    const char* q = brace;
    while (q > token_begin && *q != '\n') --q;
    cols = static_cast<int>(brace - q);
    if (*q == '\n') cols -= 1;
  }
  const int column_shift = lines != 0 ? cols : part.token->pos.col + cols;
  const int first_line = part.token->pos.line + lines;
  Lexer lexer(absl::string_view(text, size + 3), 11, first_line, column_shift);
  Parser parser(&lexer, builder_, limits_, depth_ + 1);
  const ExprNode* value = parser.ParseFString();
  if (value != nullptr) return value;
  if (!has_problem_) {
    has_problem_ = true;
    problem_ = parser.Explain("fstring", first_line, column_shift);
  }
  return nullptr;
}

}  // namespace ast
}  // namespace cobra::python
