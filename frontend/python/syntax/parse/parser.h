// Python 3.11 source text -> ast::Ast.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_PARSE_PARSER_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_PARSE_PARSER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"
#include "frontend/python/syntax/ast.h"

namespace cobra::python {
namespace ast {

// A source that CPython 3.11 rejects (compile() raises SyntaxError) gives a Diagnostic of kind
// kSyntaxError with file, line, column, source line and CPython's message; one that exceeds
// source_bytes, syntax_nodes, syntax_names or syntax_depth, a Diagnostic of kind kLimit. The bytes
// may begin with a byte order mark and may declare an encoding (PEP 263): utf-8, latin-1, ascii and
// the usual Western code pages. Thread-safe: no state is shared between calls.
absl::StatusOr<std::shared_ptr<const Ast>> ParseModule(absl::string_view source, absl::string_view filename,
                                                       const Limits& limits = {});
// One expression, as eval() takes it (leading blanks are allowed), e.g. `resnet50(num_classes=10)`.
absl::StatusOr<std::shared_ptr<const Ast>> ParseExpression(absl::string_view source, absl::string_view filename,
                                                           const Limits& limits = {});

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_PARSE_PARSER_H_
