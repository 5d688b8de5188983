#include "base/diagnostic.h"

#include <gtest/gtest.h>

namespace cobra {
namespace {

Diagnostic ShapeMismatch() {
  Diagnostic d;
  d.kind = Diagnostic::Kind::kModelError;
  d.message = "conv2d: input has 3 channels, weight wants 4";
  d.hint = "change in_channels";
  d.position = {"model.py", 12, 9, 21};
  d.source_line = "    x = self.conv(x)";
  d.frames = {{{"model.py", 20, 1, 7}, "<module>", "net(x)"}, {d.position, "Net.forward", d.source_line}};
  d.module_path = "stem.conv";
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
  EXPECT_EQ(back->position.end_column, 21);
  EXPECT_EQ(back->module_path, "stem.conv");
  EXPECT_EQ(back->frames[1].function, "Net.forward");
  EXPECT_EQ(RenderDiagnostic(*back), RenderDiagnostic(ShapeMismatch()));
}

TEST(Diagnostic, PlainStatusCarriesNone) {
  EXPECT_FALSE(DiagnosticFromStatus(absl::InternalError("disk")).has_value());
}

TEST(Diagnostic, RendersTheCallChainInnermostLast) {
  EXPECT_EQ(RenderDiagnostic(ShapeMismatch()),
            "Traceback (most recent call last):\n"
            "  File \"model.py\", line 20, in <module>\n"
            "    net(x)\n"
            "  File \"model.py\", line 12, in Net.forward\n"
            "    x = self.conv(x)\n"
            "        ^^^^^^^^^^^^\n"
            "model.py:12:9: error: conv2d: input has 3 channels, weight wants 4\n"
            "in module stem.conv\n"
            "hint: change in_channels");
}

// The last line but the message of the rendering of a syntax error in that line.
std::string Caret(const std::string& line, int column, int end_column) {
  Diagnostic d;
  d.kind = Diagnostic::Kind::kSyntaxError;
  d.message = "m";
  d.position = {"f", 1, column, end_column};
  d.source_line = line;
  const std::string text = RenderDiagnostic(d);
  EXPECT_EQ(text.substr(0, 17), "  File \"f\", line ");
  const size_t end = text.rfind("\nf:1"), begin = text.rfind('\n', end - 1);
  return text.substr(begin + 1, end - begin - 1);
}

TEST(Diagnostic, TheCaretStandsUnderTheExpression) {
  EXPECT_EQ(Caret("    x = y + z", 9, 14), "        ^^^^^");  // without the indentation
  EXPECT_EQ(Caret("x = y", 5, 0), "        ^");               // the end is not known
  EXPECT_EQ(Caret("x = y", 1, 6), "    x = y");               // all of it: no caret, as in CPython
  EXPECT_EQ(Caret("a\tb", 3, 4),
            "    "
            " \t^");                                             // a tab stays one
  EXPECT_EQ(Caret("\xc3\xa4\xc3\xb6 = y", 6, 7), "         ^");  // columns are characters
  EXPECT_EQ(Caret("class A", 8, 0), "           ^");             // behind the end
  EXPECT_EQ(Caret("x", 50, 60), "    x");                        // of another line: none
}

TEST(Diagnostic, LongChainsAreShortened) {
  Diagnostic d = ShapeMismatch();
  d.frames.assign(200, d.frames[1]);
  std::string text = RenderDiagnostic(d);
  EXPECT_NE(text.find("[Previous line repeated 197 more times]"), std::string::npos);
  for (int i = 0; i < 200; ++i) d.frames[i].position.line = i + 1;
  text = RenderDiagnostic(d);
  EXPECT_NE(text.find("[184 calls left out]"), std::string::npos);
  EXPECT_NE(text.find("line 4,"), std::string::npos);
  EXPECT_EQ(text.find("line 5,"), std::string::npos);
  EXPECT_EQ(text.find("line 188,"), std::string::npos);
  EXPECT_NE(text.find("line 189,"), std::string::npos);
  EXPECT_NE(text.find("line 200,"), std::string::npos);
}

TEST(Diagnostic, AUsersTextCannotDriveTheTerminal) {
  Diagnostic d = ShapeMismatch();
  d.message = "\x1b[31mred\x07";
  d.source_line = d.frames[1].source_line = "x = '\x1b]0;title\x07'\r";
  const std::string text = RenderDiagnostic(d);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_NE(text.find("?[31mred?"), std::string::npos);
}

TEST(Diagnostic, AFileNameIsNoLineOfATraceback) {
  Diagnostic d;
  d.message = "no";
  d.position = {"a\nb.py", 3};
  d.module_path = "x\ny";
  d.frames = {{d.position, "f\ng", "pass"}};
  EXPECT_EQ(RenderDiagnostic(d),
            "Traceback (most recent call last):\n  File \"a?b.py\", line 3, in f?g\n    pass\na?b.py:3: error: no\n"
            "in module x?y");
}

TEST(Diagnostic, InvalidUtf8InASourceLineIsReplacedNotLost) {
  Diagnostic d = ShapeMismatch();
  d.source_line = "x = '\xff'";
  const auto back = DiagnosticFromStatus(DiagnosticToStatus(d));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->message, d.message);
}

TEST(Diagnostic, KindsHaveTheExitCodesOfTheClient) {
  const struct {
    const char* name;
    int exit_code;
  } kinds[] = {{"usage", 2},        {"unsupported", 4}, {"data_dependent", 4},
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
