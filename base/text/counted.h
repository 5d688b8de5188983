// "1 call", "2 calls": a number and what it counts, in messages.
#ifndef COBRA_BASE_TEXT_COUNTED_H_
#define COBRA_BASE_TEXT_COUNTED_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace cobra {

// `noun` is a singular whose plural ends in s.
inline std::string Counted(int64_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

}  // namespace cobra

#endif  // COBRA_BASE_TEXT_COUNTED_H_
