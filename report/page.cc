#include "report/page.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/bytes/hash.h"
#include "nlohmann/json.hpp"
#include "report/markup.h"
#include "report/page_files.h"

namespace cobra::report {
namespace {

// As a source of a Content-Security-Policy: what has these bytes, and nothing else, may run.
std::string CspHash(absl::string_view text) {
  const std::string digest = absl::HexStringToBytes(Sha256Hex(text));
  return absl::StrCat("'sha256-", absl::Base64Escape(digest), "'");
}

// Inside a <script> no "</" may end it, and no "<!--" may begin a comment: JSON writes both
// otherwise.
std::string ScriptJson(const nlohmann::json& document) {
  return absl::StrReplaceAll(document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                             {{"<", "\\u003c"}, {"\xe2\x80\xa8", "\\u2028"}, {"\xe2\x80\xa9", "\\u2029"}});
}

}  // namespace

absl::string_view PageStyle() { return kPageCss; }
absl::string_view PageScript() { return kPageJs; }

std::string ReportPage(const nlohmann::json& document) {
  const std::string policy = absl::StrCat("default-src 'none'; script-src ", CspHash(kPageJs), "; style-src ",
                                          CspHash(kPageCss), "; img-src data:; base-uri 'none'; form-action 'none'");
  const auto title = document.find("title");
  const std::string heading = title != document.end() && title->is_string() ? title->get<std::string>() : "report";
  return absl::StrReplaceAll(kPageHtml, {{"@POLICY@", policy},
                                         {"@TITLE@", MarkupText(heading)},
                                         {"@STYLE@", kPageCss},
                                         {"@DATA@", ScriptJson(document)},
                                         {"@SCRIPT@", kPageJs}});
}

}  // namespace cobra::report
