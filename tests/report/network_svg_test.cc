#include "report/network_svg.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/report/networks.h"

namespace cobra::report {
namespace {

using testing::HasSubstr;
using testing::Not;

size_t Count(absl::string_view text, absl::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != absl::string_view::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Every tag is closed in its order, and no "&" begins anything but an entity. (The end-to-end test parses the picture.)
void ExpectWellFormed(const std::string& svg) {
  std::vector<std::string> open;
  for (size_t i = 0; i < svg.size(); ++i) {
    if (svg[i] == '&') {
      const absl::string_view rest = absl::string_view(svg).substr(i);
      EXPECT_TRUE(absl::StartsWith(rest, "&amp;") || absl::StartsWith(rest, "&lt;") || absl::StartsWith(rest, "&gt;") ||
                  absl::StartsWith(rest, "&quot;"))
          << rest.substr(0, 20);
    }
    if (svg[i] != '<') continue;
    const size_t end = svg.find('>', i);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = svg.substr(i + 1, end - i - 1);
    if (tag[0] == '/') {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), tag.substr(1));
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
    i = end;
  }
  EXPECT_TRUE(open.empty());
}

TEST(NetworkSvgTest, AlikeBlocksAreDrawnOnceAndOpen) {
  const std::string svg = NetworkSvg(Residual(12), "Net()");
  ExpectWellFormed(svg);
  EXPECT_THAT(svg, HasSubstr("12 \xc3\x97 blocks.*"));
  EXPECT_EQ(Count(svg, ">conv</text>"), 1u);
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(svg, HasSubstr("<title>Net()</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(NetworkSvgTest, NamesAreText) {
  const std::string svg = NetworkSvg(Named({kTag, kEndOfScript, "\xff\x1b"}), kTag);
  ExpectWellFormed(svg);
  EXPECT_THAT(svg, Not(HasSubstr("<img")));
  EXPECT_THAT(svg, Not(HasSubstr("script>")));
  EXPECT_THAT(svg, HasSubstr("&lt;img src=x onerror=alert(1)&gt;"));
}

TEST(NetworkSvgTest, ALargeNetworkIsASmallPicture) {
  std::vector<std::string> names;
  for (int i = 0; i < 10000; ++i) names.push_back(absl::StrCat("stage", i / 1000, ".m", i % 1000 / 10, ".x", i % 7));
  const std::string svg = NetworkSvg(Named(names), "Net()");
  ExpectWellFormed(svg);
  EXPECT_LT(svg.size(), 60000u);
  EXPECT_LE(Count(svg, "class=\"box"), 100u);
}

TEST(NetworkSvgTest, LongNamesAreCut) {
  const std::string svg =
      NetworkSvg(Named({std::string(5000, 'x') + ".a", std::string(5000, 'x') + ".b", "c"}), "Net()");
  ExpectWellFormed(svg);
  EXPECT_LT(svg.size(), 20000u);
}

}  // namespace
}  // namespace cobra::report
