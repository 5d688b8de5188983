#include "base/text/utf8.h"

#include <cstdint>
#include <cstring>

namespace cobra {

size_t Utf8CharacterBytes(absl::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool no_character = (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
  return overlong || no_character ? 0 : length;
}

absl::string_view Utf8Prefix(absl::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  const auto continues = [&text](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  while (bytes > 0 && continues(bytes)) --bytes;
  return text.substr(0, bytes);
}

bool IsUtf8(absl::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  while (!text.empty()) {
    uint64_t eight = 0;  // ASCII, as nearly all text is, goes eight characters at a time
    if (text.size() >= sizeof(eight)) std::memcpy(&eight, text.data(), sizeof(eight));
    const bool ascii = text.size() >= sizeof(eight) && (eight & kHighBits) == 0;
    const size_t length = ascii ? sizeof(eight) : Utf8CharacterBytes(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string ReplaceInvalidUtf8(absl::string_view text) {
  std::string out(text);
  for (size_t i = 0; i < out.size();) {
    const size_t length = Utf8CharacterBytes(absl::string_view(out).substr(i));
    if (length == 0) out[i] = '?';
    i += length == 0 ? 1 : length;
  }
  return out;
}

}  // namespace cobra
