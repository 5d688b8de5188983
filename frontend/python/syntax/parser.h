// Python 3.11 source text -> ast::Ast.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_PARSER_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_PARSER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "frontend/python/syntax/ast.h"

namespace cobra {
namespace ast {

struct ParseLimits {
  // The largest file of python3-torch and the standard library together is below 1 MB; generated model code has been
  // seen at 3 MB. A tree takes up to 25 times its source in memory, so this also bounds memory at about 200 MB.
  int64_t max_source_bytes = int64_t{8} << 20;
  // Real code has one node per 8 bytes; this is one per 2 bytes of the largest source.
  int64_t max_nodes = int64_t{4} << 20;
  // Height of an expression tree (a chain a.b.c or x + x + x counts each link) and, separately, nesting of statements.
  // CPython's compiler stops at about 3,000. At 1,000 a recursive walk with 1 KB a level takes 1 MB of an 8 MB stack.
  int32_t max_depth = 1000;
};

// A source that CPython 3.11 rejects (compile() raises SyntaxError) gives a Diagnostic of kind kSyntaxError with file,
// line, column, source line and CPython's message; one that exceeds a limit, a Diagnostic of kind kLimit. The bytes may
// begin with a byte order mark and may declare an encoding (PEP 263): utf-8, latin-1, ascii and the usual Western code
// pages. Thread-safe: no state is shared between calls.
absl::StatusOr<std::shared_ptr<const Ast>> ParseModule(absl::string_view source, absl::string_view filename,
                                                       const ParseLimits& limits = {});
// One expression, as eval() takes it (leading blanks are allowed), e.g. `resnet50(num_classes=10)`.
absl::StatusOr<std::shared_ptr<const Ast>> ParseExpression(absl::string_view source, absl::string_view filename,
                                                           const ParseLimits& limits = {});

}  // namespace ast
}  // namespace cobra

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_PARSER_H_
