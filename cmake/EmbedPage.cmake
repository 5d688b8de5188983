# cobra_embed_page(OUTPUT HTML CSS JS ...)
#   writes OUTPUT, a C++ header with the texts of a page: kPageHtml, kPageCss, and kPageJs, which is
#   the scripts in their order inside one function, so that none of their names is the page's.
function(cobra_embed_page output html css)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${html} ${css} ${ARGN})
  file(READ ${html} html_text)
  file(READ ${css} css_text)
  set(js_text "(() => {\n'use strict';\n")
  foreach(script ${ARGN})
    file(READ ${script} text)
    string(APPEND js_text "${text}")
  endforeach()
  string(APPEND js_text "})();\n")
  file(
    GENERATE
    OUTPUT ${output}
    CONTENT
      "// Generated from report/page/.
#ifndef COBRA_REPORT_PAGE_FILES_H_
#define COBRA_REPORT_PAGE_FILES_H_

#include \"absl/strings/string_view.h\"

namespace cobra::report {

inline constexpr absl::string_view kPageHtml = R\"COBRA(${html_text})COBRA\";
inline constexpr absl::string_view kPageCss = R\"COBRA(${css_text})COBRA\";
inline constexpr absl::string_view kPageJs = R\"COBRA(${js_text})COBRA\";

}  // namespace cobra::report

#endif  // COBRA_REPORT_PAGE_FILES_H_
")
endfunction()
