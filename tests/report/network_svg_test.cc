#include "report/network_svg.h"

#include <algorithm>
#include <cstdio>
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

// Every tag is closed in its order, and no "&" begins anything but an entity. (The end-to-end test
// parses the picture.)
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

// In the widest usual font a letter of the labels (13 pixels high) takes about 8 pixels.
TEST(NetworkSvgTest, TextEndsBeforeItsBoxAndThePicture) {
  constexpr double kLetter = 8, kSoftLetter = 7.4, kTitleLetter = 11.6;
  const std::string svg =
      NetworkSvg(Named({"a_name_of_thirty_letters_or_so.b", "c.a_rather_long_name_too", "d"}), std::string(200, 'N'));
  double width = 0, box_end = 0, x = 0, y = 0, box_width = 0;
  ASSERT_EQ(sscanf(svg.c_str() + svg.find("viewBox"), "viewBox=\"0 0 %lf", &width), 1);
  int texts = 0;
  for (size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    if (sscanf(svg.c_str() + at, "<rect x=\"%lf\" y=\"%lf\" width=\"%lf", &x, &y, &box_width) == 3)
      box_end = x + box_width;
    if (sscanf(svg.c_str() + at, "<text x=\"%lf\"", &x) != 1) continue;
    const absl::string_view tag = absl::string_view(svg).substr(at, svg.find("</text>", at) - at);
    const absl::string_view text = tag.substr(tag.find('>') + 1);
    const bool is_title = absl::StrContains(tag, "class=\"title\""), is_soft = absl::StrContains(tag, "class=\"soft\"");
    const double letter = is_title ? kTitleLetter : is_soft ? kSoftLetter : kLetter;
    const double end = is_title || is_soft ? width : box_end;
    EXPECT_LE(x + letter * static_cast<double>(
                               std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; })),
              end)
        << tag;
    ++texts;
  }
  EXPECT_GT(texts, 5);
}

TEST(NetworkSvgTest, LongNamesAreCut) {
  const std::string svg =
      NetworkSvg(Named({std::string(5000, 'x') + ".a", std::string(5000, 'x') + ".b", "c"}), "Net()");
  ExpectWellFormed(svg);
  EXPECT_LT(svg.size(), 20000u);
}

}  // namespace
}  // namespace cobra::report
