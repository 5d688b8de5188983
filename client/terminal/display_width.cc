#include "client/terminal/display_width.h"

#include <utf8proc.h>

#include <algorithm>

namespace cobra::client {

Character FirstCharacter(absl::string_view text) {
  utf8proc_int32_t code = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t size = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (size <= 0 || code < 0) return {};
  return {static_cast<size_t>(size), std::clamp(utf8proc_charwidth(code), 0, 2)};
}

}  // namespace cobra::client
