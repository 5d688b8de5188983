#include "base/diagnostic.h"

#include <gtest/gtest.h>

namespace cobra {
namespace {

Diagnostic ShapeMismatch() {
  Diagnostic d;
  d.kind = Diagnostic::Kind::kModelError;
  d.message = "conv2d: input has 3 channels, weight wants 4";
  d.hint = "change in_channels";
  d.position = {"model.py", 12, 9};
  d.source_line = "    x = self.conv(x)";
  d.frames = {{{"model.py", 20, 1}, "<module>", "net(x)"}, {{"model.py", 12, 9}, "Net.forward", "    x = self.conv(x)"}};
  return d;
}

TEST(Diagnostic, SurvivesTheTripThroughAStatus) {
  const absl::Status status = DiagnosticToStatus(ShapeMismatch());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const auto back = DiagnosticFromStatus(status);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->kind, Diagnostic::Kind::kModelError);
  EXPECT_EQ(back->position.line, 12);
  ASSERT_EQ(back->frames.size(), 2u);
  EXPECT_EQ(back->frames[1].function, "Net.forward");
  EXPECT_EQ(RenderDiagnostic(*back), RenderDiagnostic(ShapeMismatch()));
}

TEST(Diagnostic, PlainStatusCarriesNone) {
  EXPECT_FALSE(DiagnosticFromStatus(absl::InternalError("disk")).has_value());
}

TEST(Diagnostic, RendersLineCaretChainAndHint) {
  EXPECT_EQ(RenderDiagnostic(ShapeMismatch()),
            "model.py:12:9: error: conv2d: input has 3 channels, weight wants 4\n"
            "        x = self.conv(x)\n"
            "            ^\n"
            "  in Net.forward (model.py:12:9)\n"
            "  in <module> (model.py:20:1)\n"
            "hint: change in_channels");
}

TEST(Diagnostic, InvalidUtf8InASourceLineIsReplacedNotLost) {
  Diagnostic d = ShapeMismatch();
  d.source_line = "x = '\xff'";
  const auto back = DiagnosticFromStatus(DiagnosticToStatus(d));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->message, d.message);
}

TEST(Diagnostic, KindsHaveTheExitCodesOfTheClient) {
  const struct { const char* name; int exit_code; } kinds[] = {{"usage", 2},        {"unsupported", 4}, {"data_dependent", 4},
                                                              {"syntax_error", 6}, {"model_error", 6}, {"limit", 7}};
  for (const auto& kind : kinds) {
    const auto parsed = DiagnosticKindFromName(kind.name);
    ASSERT_TRUE(parsed.has_value()) << kind.name;
    EXPECT_EQ(DiagnosticExitCode(*parsed), kind.exit_code) << kind.name;
    EXPECT_EQ(DiagnosticKindName(*parsed), kind.name);
  }
  EXPECT_FALSE(DiagnosticKindFromName("nonsense").has_value());
}

}  // namespace
}  // namespace cobra
