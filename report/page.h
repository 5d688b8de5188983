// The page that draws a document (document.h): one HTML text that needs nothing else, neither
// network nor files.
#ifndef COBRA_REPORT_PAGE_H_
#define COBRA_REPORT_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "nlohmann/json_fwd.hpp"

namespace cobra::report {

// With the document inside.
std::string ReportPage(const nlohmann::json& document);

// The parts, for a server that sends them with its own documents: the style sheet, and the
// script. The script defines renderReport(document, element), and where the page has an element
// #report-data it draws what that contains.
absl::string_view PageStyle();
absl::string_view PageScript();

}  // namespace cobra::report

#endif  // COBRA_REPORT_PAGE_H_
