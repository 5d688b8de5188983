// Encodings of source text that are not UTF-8: those that CPython 3.11 knows, by the names that it
// has for them.
#ifndef COBRA_FRONTEND_PYTHON_SYNTAX_ENCODINGS_H_
#define COBRA_FRONTEND_PYTHON_SYNTAX_ENCODINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace cobra::python {
namespace ast {

enum class EncodingKind : uint8_t {
  kDecoded,
  kUtf8,         // the text is UTF-8 (or ASCII) already
  kInvalid,      // a byte that the encoding does not have
  kUnsupported,  // Python knows it: one with states (iso2022_jp), with characters of more parts (big5hkscs) ...
  kUnknown,
};

struct Decoded {
  EncodingKind kind = EncodingKind::kUnknown;
  std::string text;  // UTF-8, if kDecoded
  size_t bad = 0;    // offset of the first invalid byte, if kInvalid
  std::string name;  // as Python shows it: "gbk"
};

// Decodes `bytes` from an encoding that may be written in any of its ways: "GBK", "shift-jis",
// "latin_1".
Decoded DecodeFrom(absl::string_view encoding, absl::string_view bytes);

}  // namespace ast
}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_SYNTAX_ENCODINGS_H_
