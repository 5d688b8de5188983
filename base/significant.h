// A number with fewer digits, for files that keep no more than is known.
#ifndef COBRA_BASE_SIGNIFICANT_H_
#define COBRA_BASE_SIGNIFICANT_H_

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

namespace cobra {

// `value` with so many significant digits; itself, if it is not finite.
inline double Significant(double value, int digits) {
  double rounded = value;
  return absl::SimpleAtod(absl::StrFormat("%.*g", digits, value), &rounded) ? rounded : value;
}

}  // namespace cobra

#endif  // COBRA_BASE_SIGNIFICANT_H_
