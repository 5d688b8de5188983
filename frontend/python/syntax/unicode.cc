#include "frontend/python/syntax/unicode.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace cobra::python {
namespace ast {
namespace {

struct Range {
  int32_t low;
  int32_t high;
};
struct Mapping {
  int32_t code_point;
  const char* text;
};
#include "frontend/python/tables/unicode_tables.inc"

// Numbers of eleven digits to the base 64, one after the other: half as long as in hexadecimal.
constexpr char kNames[] =
#include "frontend/python/tables/unicode_names.inc"
    ;
constexpr size_t kDigits = 11;

uint64_t NameRow(size_t row) {
  uint64_t number = 0;
  for (const char c : absl::string_view(kNames + row * kDigits, kDigits)) {
    // '-', digits, capitals, '_', small letters: the order of ASCII
    const int digit = c == '-' ? 0 : c <= '9' ? c - '0' + 1 : c <= 'Z' ? c - 'A' + 11 : c == '_' ? 37 : c - 'a' + 38;
    number = number << 6 | static_cast<uint64_t>(digit);
  }
  return number;
}

template <size_t n>
bool InRanges(const Range (&ranges)[n], int32_t c) {
  const Range* r = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                                    [](int32_t v, const Range& range) { return v < range.low; });
  return r != std::begin(ranges) && c <= r[-1].high;
}

bool IsAsciiLetter(int32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// "HANGUL SYLLABLE " is followed by the romanised parts of the syllable, longest match first.
int32_t LookUpHangul(absl::string_view s) {
  static constexpr const char* kLead[] = {"G",  "GG", "N", "D",  "DD", "R", "M", "B", "BB", "S",
                                          "SS", "",   "J", "JJ", "C",  "K", "T", "P", "H"};
  static constexpr const char* kVowel[] = {"A",  "AE", "YA", "YAE", "EO", "E",  "YEO", "YE", "O",  "WA", "WAE",
                                           "OE", "YO", "U",  "WEO", "WE", "WI", "YU",  "EU", "YI", "I"};
  static constexpr const char* kTail[] = {"",   "G",  "GG", "GS", "N",  "NJ", "NH", "D", "L",  "LG",
                                          "LM", "LB", "LS", "LT", "LP", "LH", "M",  "B", "BS", "S",
                                          "SS", "NG", "J",  "C",  "K",  "T",  "P",  "H"};
  const auto longest = [&s](const auto& parts) {
    int best = -1;
    for (int i = 0; i < static_cast<int>(std::size(parts)); ++i) {
      if (absl::StartsWith(s, parts[i]) && (best < 0 || std::strlen(parts[i]) > std::strlen(parts[best]))) best = i;
    }
    if (best >= 0) s.remove_prefix(std::strlen(parts[best]));
    return best;
  };
  const int lead = longest(kLead), vowel = longest(kVowel), tail = longest(kTail);
  if (lead < 0 || vowel < 0 || tail < 0 || !s.empty()) return -1;
  return 0xAC00 + (lead * 21 + vowel) * 28 + tail;
}

bool IsUnifiedIdeograph(int32_t c) {
  return (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B738) || (c >= 0x2B740 && c <= 0x2B81D) || (c >= 0x2B820 && c <= 0x2CEA1) ||
         (c >= 0x2CEB0 && c <= 0x2EBE0) || (c >= 0x30000 && c <= 0x3134A);
}

}  // namespace

int32_t DecodeUtf8(const char** p, const char* end) {
  const auto byte = [&](int i) { return static_cast<int32_t>(static_cast<uint8_t>((*p)[i])); };
  const int32_t c = byte(0);
  const int size = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
  if (end - *p < size) {
    *p = end;
    return 0xFFFD;
  }
  int32_t value = size == 1 ? c : size == 2 ? c & 0x1F : size == 3 ? c & 0x0F : c & 0x07;
  for (int i = 1; i < size; ++i) value = (value << 6) | (byte(i) & 0x3F);
  *p += size;
  return value;
}

void AppendUtf8(int32_t c, std::string* out) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out->push_back(static_cast<char>(0xC0 | (c >> 6)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | (c >> 12)));
    out->push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    out->push_back(static_cast<char>(0xF0 | (c >> 18)));
    out->push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

size_t FindInvalidUtf8(absl::string_view text) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const size_t n = text.size();
  size_t i = 0;
  while (i < n) {
    while (i + 8 <= n) {  // eight ASCII characters at a time
      uint64_t v;
      std::memcpy(&v, text.data() + i, 8);
      if (v & 0x8080808080808080u) break;
      i += 8;
    }
    if (i >= n) break;
    const uint8_t c = at(i);
    if (c < 0x80) {
      ++i;
      continue;
    }
    const size_t size = c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (size == 0 || i + size > n) return i;
    for (size_t k = 1; k < size; ++k) {
      if ((at(i + k) & 0xC0) != 0x80) return i;
    }
    // Rejects overlong forms, surrogates and values beyond U+10FFFF.
    const uint8_t d = at(i + 1);
    if ((c == 0xE0 && d < 0xA0) || (c == 0xED && d > 0x9F) || (c == 0xF0 && d < 0x90) || (c == 0xF4 && d > 0x8F))
      return i;
    i += size;
  }
  return absl::string_view::npos;
}

bool IsIdentifierStart(int32_t c) { return c < 0x80 ? IsAsciiLetter(c) : InRanges(kStartRanges, c); }

bool IsIdentifierContinue(int32_t c) {
  return c < 0x80 ? IsAsciiLetter(c) || (c >= '0' && c <= '9') : InRanges(kContinueRanges, c);
}

bool IsPrintable(int32_t c) { return c < 0x80 ? c >= 0x20 && c != 0x7F : !InRanges(kUnprintableRanges, c); }

std::string NormalizeIdentifier(absl::string_view name) {
  std::string out;
  const char* p = name.data();
  const char* const end = p + name.size();
  while (p < end) {
    const char* at = p;
    const int32_t c = DecodeUtf8(&p, end);
    const Mapping* m = std::lower_bound(std::begin(kNormalized), std::end(kNormalized), c,
                                        [](const Mapping& row, int32_t v) { return row.code_point < v; });
    if (c >= 0x80 && m != std::end(kNormalized) && m->code_point == c) {
      out += m->text;
    } else {
      out.append(at, p - at);
    }
  }
  return out;
}

int32_t LookUpCharacterName(absl::string_view name) {
  const std::string upper = absl::AsciiStrToUpper(name);
  absl::string_view rest = upper;
  if (absl::ConsumePrefix(&rest, "HANGUL SYLLABLE ")) return LookUpHangul(rest);
  if (absl::ConsumePrefix(&rest, "CJK UNIFIED IDEOGRAPH-")) {
    uint32_t value = 0;
    if (rest.size() < 4 || rest.size() > 5 || !absl::SimpleHexAtoi(rest, &value)) return -1;
    return IsUnifiedIdeograph(static_cast<int32_t>(value)) ? static_cast<int32_t>(value) : -1;
  }
  uint64_t hash = 0xCBF29CE484222325u;
  for (char c : upper) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  const uint64_t key = hash >> 21 << 21;
  size_t first = 0, end = sizeof(kNames) / kDigits;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (NameRow(middle) < key) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  if (first == sizeof(kNames) / kDigits || (NameRow(first) >> 21) != (key >> 21)) return -1;
  return static_cast<int32_t>(NameRow(first) & 0x1FFFFF);
}

}  // namespace ast
}  // namespace cobra::python
