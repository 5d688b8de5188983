#include "report/page.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/bytes/hash.h"
#include "base/text/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "report/document.h"
#include "tests/report/networks.h"

namespace cobra::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

json OddDocument() {
  const graph::Graph graph = Named({kTag, kEndOfScript, "\xe2\x80\xa8"});
  Contents contents;
  contents.title = absl::StrCat(kTag, kEndOfScript, "@DATA@ @SCRIPT@");
  contents.answers.push_back({&graph, Response(graph)});
  return *MakeDocument(contents);
}

// What is between two texts, the first of which occurs once.
std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::vector<std::string> parts = absl::StrSplit(text, begin);
  EXPECT_EQ(parts.size(), 2u) << begin;
  return parts.size() < 2 ? "" : parts[1].substr(0, parts[1].find(end));
}

TEST(PageTest, TheDocumentIsInItUnchanged) {
  const json document = OddDocument();
  const std::string data = Between(ReportPage(document), "id=\"report-data\">", "</script>");
  EXPECT_EQ(ParseJson<json>(data), document);
  EXPECT_THAT(data, Not(HasSubstr("<")));
}

TEST(PageTest, NamesOfTheModelAreNoMarkup) {
  const std::string page = ReportPage(OddDocument());
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  EXPECT_EQ(Between(page, "<title>", "</title>"),
            "&lt;img src=x onerror=alert(1)&gt;&lt;/script&gt;&lt;!-- &quot;'&amp;@DATA@ @SCRIPT@: latency report");
}

TEST(PageTest, ThePolicyAllowsItsOwnScriptAndStyleAlone) {
  const std::string page = ReportPage(OddDocument());
  const std::string policy = Between(page, "Content-Security-Policy\" content=\"", "\"");
  const auto hash = [](absl::string_view text) {
    return absl::StrCat("'sha256-", absl::Base64Escape(absl::HexStringToBytes(Sha256Hex(text))), "'");
  };
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, HasSubstr(absl::StrCat("script-src ", hash(Between(page, "<script>", "</script>")), ";")));
  EXPECT_THAT(policy, HasSubstr(absl::StrCat("style-src ", hash(Between(page, "<style>", "</style>")), ";")));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(policy, Not(HasSubstr("http")));
}

TEST(PageTest, NothingIsLoadedAndNoMarkupIsMadeOfText) {
  const std::string page = ReportPage(OddDocument());
  for (const char* word : {"src=\"", "url(", "@import", "innerHTML", "outerHTML", "insertAdjacentHTML",
                           "document.write", "eval(", "fetch(", "XMLHttpRequest", "import("})
    EXPECT_FALSE(absl::StrContains(page, word)) << word;
}

}  // namespace
}  // namespace cobra::report
