// The message and position of CPython 3.11 for a source that it rejects.
//
// CPython parses with a packrat parser. When that fails, it parses again with extra rules that
// recognise common mistakes; where these report something depends on what the grammar tries in
// which order. So, for a source that our parser rejects, we do the same: an interpreter of the same
// grammar (error_grammar.inc) runs over the tokens, first without and then with those rules. It is
// slow (about 1 MB/s), but runs only to explain an error, and its steps are counted.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_PARSE_SYNTAX_ERRORS_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_PARSE_SYNTAX_ERRORS_H_

#include "absl/strings/string_view.h"
#include "frontend/python/syntax/lexer.h"
#include "frontend/python/syntax/parse/parser.h"
#include "frontend/python/syntax/tree_builder.h"

namespace cobra::python {
namespace ast {

struct ErrorSearch {
  absl::string_view text;  // as Lexer takes it
  int version = 13;        // minor one of Python
  int first_line = 1;
  int column_shift = 0;
  absl::string_view start_rule;  // "file", "eval" or "fstring"
  int depth = 0;                 // of the expression in an f-string
  Position stopped_at;           // of the last token that our parser has seen
};

// REQUIRES: the source is not correct. `builder` owns the nodes that are created meanwhile.
SyntaxProblem FindSyntaxError(const ErrorSearch& search, const Limits& limits, TreeBuilder* builder);

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_PARSE_SYNTAX_ERRORS_H_
