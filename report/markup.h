// Untrusted text inside HTML and SVG.
#ifndef COBRA_REPORT_MARKUP_H_
#define COBRA_REPORT_MARKUP_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cobra::report {

// As text between tags or inside a double-quoted attribute: no character of it is markup, and none
// is invisible.
std::string MarkupText(absl::string_view text);

}  // namespace cobra::report

#endif  // COBRA_REPORT_MARKUP_H_
