// A time in the format of RFC 3339: "2026-11-20T08:00:00Z".
#ifndef COBRA_BASE_TEXT_UTC_TEXT_H_
#define COBRA_BASE_TEXT_UTC_TEXT_H_

#include <string>

#include "absl/time/time.h"

namespace cobra {

inline std::string UtcText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

}  // namespace cobra

#endif  // COBRA_BASE_TEXT_UTC_TEXT_H_
