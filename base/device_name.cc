#include "base/device_name.h"

#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"

namespace cobra {

bool DeviceNameHas(absl::string_view name, absl::string_view part) {
  if (part.empty()) return true;
  const std::string text = absl::AsciiStrToLower(name), wanted = absl::AsciiStrToLower(part);
  const auto is_letter = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); };
  const bool is_number = absl::ascii_isdigit(static_cast<unsigned char>(wanted.back()));
  for (size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) {
    const size_t end = at + wanted.size();
    const bool begins = at == 0 || !is_letter(wanted[0]) || !is_letter(text[at - 1]);
    const bool goes_on = is_number && end < text.size() && is_letter(text[end]);
    if (begins && !goes_on) return true;
  }
  return false;
}

}  // namespace cobra
