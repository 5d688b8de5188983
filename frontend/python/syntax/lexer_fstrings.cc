// f-strings since Python 3.12 (PEP 701): FStringStart, then texts (FStringMiddle) and fields in
// turn, FStringEnd. After CPython 3.13's tok_get_fstring_mode.
#include "absl/strings/str_cat.h"
#include "frontend/python/syntax/lexer.h"

namespace cobra::python {
namespace ast {
namespace {

bool AtQuotes(const char* p, char quote, int count) {
  for (int i = 0; i < count; ++i) {
    if (p[i] != quote) return false;
  }
  return true;
}

}  // namespace

// The prefix begins at p_.
void Lexer::BeginFString(Token* token, const char* quote_at) {
  if (fstrings_.size() >= kMaxFStrings) return Fail(token, p_, "too many nested f-strings");
  FString fstring;
  fstring.begin = p_;
  fstring.line_start = line_start_;
  fstring.line = line_;
  fstring.quote = *quote_at;
  fstring.triple = quote_at[1] == *quote_at && quote_at[2] == *quote_at;
  fstring.raw = absl::string_view(p_, quote_at - p_).find_first_of("rR") != absl::string_view::npos;
  p_ = quote_at + (fstring.triple ? 3 : 1);
  fstrings_.push_back(std::move(fstring));
  Finish(token, TokenKind::kFStringStart);
}

// At the brace that begins a field. False: *token is an error.
bool Lexer::BeginField(Token* token) {
  FString& fstring = fstrings_.back();
  if (fstring.fields.size() >= kMaxFields) {
    ++p_;
    Fail(token, p_, "f-string: expressions nested too deeply");
    return false;
  }
  fstring.in_text = false;
  fstring.fields.push_back(level_ + 1);
  return true;
}

// Of a doubled brace the text has one, and the position both.
void Lexer::EndFStringText(Token* token, const char* begin, const char* end, int32_t line, const char* line_start) {
  token->kind = TokenKind::kFStringMiddle;
  token->non_ascii = false;
  token->level = static_cast<uint8_t>(level_);
  token->begin = static_cast<int32_t>(begin - text_.data());
  token->end = static_cast<int32_t>(end - text_.data());
  const auto shift = [&](int32_t at_line) { return at_line == first_line_ ? column_shift_ : 0; };
  token->pos = {line, static_cast<int32_t>(begin - line_start) + shift(line), line_,
                static_cast<int32_t>(p_ - line_start_) + shift(line_)};
}

void Lexer::FailFString(Token* token) {
  const FString& fstring = fstrings_.back();
  const int last_line = line_;
  const char* const at = fstring.begin;
  line_ = fstring.line;
  line_start_ = fstring.line_start;
  Fail(token, at,
       absl::StrCat("unterminated ", fstring.triple ? "triple-quoted " : "", "f-string literal (detected at line ",
                    last_line, ")"));
}

// From a backslash to the last character that it escapes, or to the brace of `\N{`. True: to that
// brace.
bool Lexer::SkipFStringEscape(bool raw) {
  const char escaped = p_[1];
  if (escaped == '{' || escaped == '}' || escaped == '\0') return false;
  ++p_;
  if (escaped == '\n' && p_ + 1 < end_) NewLine(p_ + 1);
  if (raw || escaped != 'N' || p_[1] != '{') return false;
  ++p_;
  return true;
}

bool Lexer::ReadFStringText(Token* token) {
  FString* const fstring = &fstrings_.back();
  start_ = p_;
  const int quotes = fstring->triple ? 3 : 1;
  if (*p_ == '{' && p_[1] != '{') return !BeginField(token);
  if (AtQuotes(p_, fstring->quote, quotes)) {
    p_ += quotes;
    fstrings_.pop_back();
    Finish(token, TokenKind::kFStringEnd);
    return true;
  }
  const char* const begin = p_;
  const int32_t line = line_;
  const char* const line_start = line_start_;
  const bool in_specification = fstring->in_specification && !fstring->fields.empty();
  bool named_escape = false;
  const auto end = [&](const char* text_end, const char* next) {
    p_ = next;
    EndFStringText(token, begin, text_end, line, line_start);
    return true;
  };
  for (;; ++p_) {
    const char c = *p_;
    if (c == '\0' || (c == '\n' && !fstring->triple)) {
      if (in_specification && c == '\n') {
        if (version_ >= 13) {
          Fail(token, p_, "f-string: newlines are not allowed in format specifiers for single quoted f-strings");
          return true;
        }
        fstring->in_text = fstring->in_specification = false;  // the field goes on behind its specification
        return end(p_, p_);
      }
      FailFString(token);
      return true;
    }
    if (c == '\n') {
      if (p_ + 1 < end_) NewLine(p_ + 1);
      continue;
    }
    if (AtQuotes(p_, fstring->quote, quotes)) return end(p_, p_);
    if (c == '{') {
      if (p_[1] == '{' && !in_specification) return end(p_ + 1, p_ + 2);
      const char* const brace = p_;
      if (!BeginField(token)) return true;
      return end(brace, brace);
    }
    if (c == '}') {
      if (named_escape) return end(p_ + 1, p_ + 1);
      if (p_[1] == '}' && !in_specification && fstring->fields.empty()) return end(p_ + 1, p_ + 2);
      fstring->in_text = false;
      return end(p_, p_);
    }
    if (c == '\\' && SkipFStringEscape(fstring->raw)) named_escape = true;
  }
}

}  // namespace ast
}  // namespace cobra::python
