// A number with fewer digits, for files that store only significant ones.
#ifndef COBRA_BASE_TEXT_SIGNIFICANT_H_
#define COBRA_BASE_TEXT_SIGNIFICANT_H_

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

namespace cobra {

// `value` rounded to that many significant digits; unchanged if it is not finite.
inline double Significant(double value, int digits) {
  double rounded = value;
  return absl::SimpleAtod(absl::StrFormat("%.*g", digits, value), &rounded) ? rounded : value;
}

}  // namespace cobra

#endif  // COBRA_BASE_TEXT_SIGNIFICANT_H_
