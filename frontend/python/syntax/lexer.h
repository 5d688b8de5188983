// Characters -> tokens, after the tokenizer.c of CPython 3.11, or of 3.13 where f-strings are
// tokens of their own (PEP 701): the same tokens, the same errors, found at the same moment.
// Tokens are made on demand because CPython, too, reports whatever comes first: an error of the
// grammar or one of the characters.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_LEXER_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_LEXER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "frontend/python/syntax/ast.h"

namespace cobra::python {
namespace ast {

enum class TokenKind : uint8_t {
#define COBRA_TOKEN_SPACE(name) k##name,
#define COBRA_TOKEN_CLASS(name) k##name,
#define COBRA_TOKEN_OP(name, spelling) k##name,
#define COBRA_TOKEN_KEYWORD(name, spelling) k##name,
#include "frontend/python/syntax/tokens.def"
};

struct Token {
  TokenKind kind = TokenKind::kEndMarker;
  bool non_ascii = false;  // of names: to be normalised
  uint8_t level = 0;       // open brackets, after this token
  int32_t begin = 0;       // byte offsets in the source
  int32_t end = 0;
  Position pos;  // col is -1 for tokens without text (indent, dedent, end marker), as in CPython

  // Newline, Indent, Dedent, EndMarker: never the end of a node.
  bool IsSpace() const { return kind <= TokenKind::kDedent; }
};

// The kinds of CPython's errors; kLimit is ours.
struct SyntaxProblem {
  enum class Kind { kSyntax, kIndentation, kTab, kLimit, kInternal };
  Kind kind = Kind::kSyntax;
  std::string message;
  int line = 0;
  int column = 0;  // from 1; 0 if unknown
};

class Lexer {
 public:
  // `text` ends in '\n' (unless empty) and is followed by at least 8 readable bytes, the first of
  // them zero. A lexer for an expression in the middle of a file starts at `first_line`;
  // `column_shift` is added to the columns of that line. `version`: minor one of Python
  // (python_version.h).
  Lexer(absl::string_view text, int version, int first_line = 1, int column_shift = 0);

  // Makes the next token. kError: problem() says what is wrong; do not call again except through
  // ScanForErrors.
  void Next(Token* token);

  absl::string_view text() const { return text_; }
  const SyntaxProblem& problem() const { return problem_; }
  // Whether the error was of the kind that CPython raises at once ("unterminated string literal"),
  // rather than a state of the tokenizer ("unindent does not match").
  bool problem_was_raised() const { return problem_was_raised_; }
  bool reached_end() const { return reached_end_; }
  int version() const { return version_; }
  // Reads on to the end of the text: true if CPython's tokenizer would raise on the way, or if a
  // bracket that was opened before `error_line` is never closed; then problem() is that error.
  bool ScanForErrors(int error_line);

 private:
  static constexpr int kMaxIndents = 100;
  static constexpr int kMaxLevel = 200;
  // CPython's MAXFSTRINGLEVEL and MAX_EXPR_NESTING.
  static constexpr size_t kMaxFStrings = 149;
  static constexpr size_t kMaxFields = 3;
  // An f-string that has begun. Its text alternates with fields, which are ordinary tokens in
  // braces.
  struct FString {
    const char* begin;
    const char* line_start;  // of the line that it begins in
    int32_t line;
    char quote;
    bool triple;
    bool raw;
    bool in_text = true;            // otherwise inside a field
    bool in_specification = false;  // text behind the colon of a field
    std::vector<int> fields;        // the levels of brackets inside the open fields
  };
  struct Bracket {
    char open;
    int32_t line;
    int32_t col;
  };

  int Column(const char* p) const;
  void Fail(Token* token, const char* at, std::string message);
  void FailState(Token* token, SyntaxProblem::Kind kind, std::string message, const char* at);
  void FailAtEnd(Token* token);
  void NewLine(const char* start_of_next) {
    ++line_;
    line_start_ = start_of_next;
  }
  bool ContinuationLine(Token* token);
  // False: an error, and *token is it.
  bool ReadIndentation(Token* token, bool* blank_line);
  void ReadName(Token* token);
  void ReadString(Token* token, const char* quote);
  void BeginFString(Token* token, const char* quote);
  // The next token of the innermost f-string, whose text is being read. False: a field begins,
  // whose tokens are others'.
  bool ReadFStringText(Token* token);
  // Whether the next token is in no brackets but those of the innermost f-string's innermost field.
  bool IsDirectlyInField() const {
    return !fstrings_.empty() && !fstrings_.back().fields.empty() && level_ == fstrings_.back().fields.back();
  }
  bool BeginField(Token* token);
  bool SkipFStringEscape(bool raw);
  void EndFStringText(Token* token, const char* begin, const char* end, int32_t line, const char* line_start);
  void FailFString(Token* token);
  void ReadNumber(Token* token);
  const char* DecimalTail(const char* p, Token* token);
  bool CheckNumberEnd(const char* p, const char* kind, Token* token);
  void ReadOperator(Token* token);
  void ReadClosingBracket(Token* token);
  bool CheckIdentifier(Token* token);
  void Finish(Token* token, TokenKind kind);
  void Textless(Token* token, TokenKind kind);
  void SetUnclosed();

  absl::string_view text_;
  const char* p_;
  const char* end_;
  const char* start_;       // of the current token
  const char* line_start_;  // of the current line
  int32_t line_;
  int32_t start_line_ = 0;  // of the current token: differs for strings of several lines
  const char* start_line_start_ = nullptr;
  const int version_;
  const int32_t first_line_;
  const int32_t column_shift_;
  std::vector<FString> fstrings_;  // innermost last
  bool at_line_start_ = true;
  bool reached_end_ = false;
  bool problem_was_raised_ = false;
  int pending_ = 0;  // indents (> 0) or dedents (< 0) to hand out
  int indent_ = 0;
  int32_t indents_[kMaxIndents];
  int32_t alt_indents_[kMaxIndents];  // the same with tabs as one column: their disagreement is a TabError
  int level_ = 0;
  Bracket brackets_[kMaxLevel];
  SyntaxProblem problem_;
};

// "end of file", "'('", "a name": for messages.
const char* Spelling(TokenKind kind);

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_LEXER_H_
