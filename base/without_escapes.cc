#include "base/without_escapes.h"

namespace cobra {
namespace {

// How many bytes at the head of `text` are one character that is not to be shown; 0 if it may be.
size_t HiddenBytes(absl::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  const unsigned char first = byte(0);
  if (first < 0x20) return first == '\n' || first == '\t' ? 0 : 1;
  if (first == 0x7F) return 1;
  if (first == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F) return 2;
  if (first != 0xE2) return 0;
  // U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069
  const bool turns =
      (byte(1) == 0x80 && (byte(2) == 0x8E || byte(2) == 0x8F || (byte(2) >= 0xAA && byte(2) <= 0xAE))) ||
      (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);
  return turns ? 3 : 0;
}

}  // namespace

std::string WithoutEscapes(absl::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const size_t hidden = HiddenBytes(text);
    shown.push_back(hidden > 0 ? '?' : text[0]);
    text.remove_prefix(hidden > 0 ? hidden : 1);
  }
  return shown;
}

}  // namespace cobra
