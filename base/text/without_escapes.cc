#include "base/text/without_escapes.h"

#include <cstdint>

#include "base/text/utf8.h"

namespace cobra {
namespace {

// Marks that turn the direction of what follows, and those that end a line or a paragraph.
bool TurnsOrBreaks(uint32_t code) {
  return code == 0x61C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

size_t ObeyedBytes(absl::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x20) return first == '\n' || first == '\t' ? 0 : 1;
  if (first < 0x80) return first == 0x7F ? 1 : 0;
  switch (Utf8CharacterBytes(text)) {
    case 0: return first <= 0x9F ? 1 : 0;  // a terminal that does not know UTF-8 has its control characters there
    case 2: {
      const uint32_t code = (first & 0x1FU) << 6 | (byte(1) & 0x3FU);
      return code <= 0x9F || TurnsOrBreaks(code) ? 2 : 0;
    }
    case 3: return TurnsOrBreaks((first & 0xFU) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU)) ? 3 : 0;
    default: return 0;
  }
}

std::string WithoutEscapes(absl::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const size_t hidden = ObeyedBytes(text);
    const size_t bytes = hidden > 0 ? hidden : Utf8CharacterBytes(text) > 0 ? Utf8CharacterBytes(text) : 1;
    if (hidden > 0) {
      shown.push_back('?');
    } else {
      shown.append(text.data(), bytes);
    }
    text.remove_prefix(bytes);
  }
  return shown;
}

}  // namespace cobra
