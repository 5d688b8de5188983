// Properties of Unicode 14 characters (the version of CPython 3.11) for the lexer.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_UNICODE_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_UNICODE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace cobra::python {
namespace ast {

// Decodes one code point and moves *p behind it. REQUIRES: valid UTF-8 in [*p, end), *p < end.
// Surrogates are taken as they come.
int32_t DecodeUtf8(const char** p, const char* end);
void AppendUtf8(int32_t code_point, std::string* out);
// Offset of the first byte that is not UTF-8; npos if there is none.
size_t FindInvalidUtf8(absl::string_view text);

bool IsIdentifierStart(int32_t code_point);
bool IsIdentifierContinue(int32_t code_point);
bool IsPrintable(int32_t code_point);
// NFKC, as Python compares names, of each character by itself: 'ﬁ' -> "fi". A base letter followed
// by a combining mark is not composed: such a name stays two code points.
std::string NormalizeIdentifier(absl::string_view name);

// The code point that \N{name} means; -1 if there is none. Names are as unicodedata knows them, in
// any case.
int32_t LookUpCharacterName(absl::string_view name);

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_UNICODE_H_
