// What a Unicode character is and what its case mappings are, as CPython's str has them.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_TYPES_CHARACTER_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_TYPES_CHARACTER_H_

#include <cstdint>
#include <string>

namespace cobra::python {

// The bits of a property range, in the order of make_character_tables.py.
enum CharacterProperty : uint16_t {
  kAlpha = 1,
  kDecimal = 2,
  kDigit = 4,
  kNumeric = 8,
  kSpace = 16,
  kLowerCase = 32,
  kUpperCase = 64,
  kTitleCase = 128,
  kCaseIgnorable = 256,
};
uint16_t CharacterProperties(uint32_t c);
inline bool HasProperty(uint32_t c, uint16_t properties) { return (CharacterProperties(c) & properties) != 0; }
// 0 to 9. REQUIRES: HasProperty(c, kDecimal).
int DecimalDigit(uint32_t c);

enum class CaseKind : uint8_t { kLower, kUpper, kTitle, kFold };
// One character's mapping, which may be several characters (of 'ß' in upper case).
void AppendCase(CaseKind kind, uint32_t c, std::string* out);
// The single character it maps to; c itself if there is none.
uint32_t SimpleCase(CaseKind kind, uint32_t c);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_TYPES_CHARACTER_H_
