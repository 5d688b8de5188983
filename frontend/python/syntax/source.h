// The bytes of a source file -> the text that the lexer reads.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_SOURCE_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_SOURCE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::python {
namespace ast {

// UTF-8 without byte order mark and without NUL; every line ends in '\n' (from "\r\n", "\r" or the
// end of the text). Obeys PEP 263's encoding declarations.
absl::StatusOr<std::string> DecodeSource(absl::string_view source, absl::string_view filename, int64_t max_bytes);

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_SOURCE_H_
