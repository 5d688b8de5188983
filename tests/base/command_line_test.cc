#include "base/process/command_line.h"

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/file/doc_path.h"
#include "base/file/file.h"
#include "base/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra {
namespace {

using testing::HasSubstr;

// A program with the commands predict FILE --input --target --budget-ms, and probe.
class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() : app_("Predicts.", "cobra-client") {
    app_.require_subcommand(1);
    CLI::App* predict = app_.add_subcommand("predict", "Latency");
    predict->add_option("file", file_, "A model");
    predict->add_option("--input", inputs_, "A shape")->allow_extra_args(false);
    predict->add_option("--target", target_, "Name of a target")->required();
    predict->add_option("--budget-ms", budget_ms_, "Milliseconds")->check(AboveZero());
    app_.add_subcommand("probe", "Measures");
  }
  absl::StatusOr<bool> Parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "./cobra-client");
    return ParseCommandLine(&app_, static_cast<int>(arguments.size()), arguments.data());
  }
  Diagnostic ProblemOf(const std::vector<const char*>& arguments) {
    const absl::StatusOr<bool> parsed = Parse(arguments);
    EXPECT_FALSE(parsed.ok());
    Diagnostic d = DiagnosticFromStatus(parsed.status()).value_or(Diagnostic());
    EXPECT_EQ(d.kind, Diagnostic::Kind::kUsage);
    return d;
  }

  CLI::App app_;
  std::string file_, target_;
  std::vector<std::string> inputs_;
  double budget_ms_ = 0;
};

TEST_F(CommandLineTest, ValidCommandLinesAreAccepted) {
  const absl::StatusOr<bool> parsed = Parse({"predict", "net.py", "--input", "1x3", "--input", "2", "--target", "cpu"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(*parsed);
  EXPECT_EQ(file_, "net.py");
  EXPECT_EQ(inputs_, (std::vector<std::string>{"1x3", "2"}));
}

TEST_F(CommandLineTest, HelpNamesPagesWhereThisMachineHasThem) {
  app_.footer("docs/ci.md says more, https://example.org/docs/ci.md too");
  testing::internal::CaptureStdout();
  ASSERT_TRUE(Parse({"--help"}).ok());
  const std::string help = testing::internal::GetCapturedStdout();
  const std::string page = DocPath("docs/ci.md");
  EXPECT_TRUE(FileExists(page)) << page;
  EXPECT_THAT(help, HasSubstr(page + " says more, https://example.org/docs/ci.md too"));
}

TEST_F(CommandLineTest, ErrorsNamePagesWhereThisMachineHasThem) {
  testing::internal::CaptureStderr();
  PrintError("cobra-worker", absl::InvalidArgumentError("no runner (docs/runners.md)"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cobra-worker: error: no runner (" + DocPath("docs/runners.md") + ")\n");
}

TEST_F(CommandLineTest, HelpAndVersionArePrintedAndEnd) {
  testing::internal::CaptureStdout();
  const absl::StatusOr<bool> version = Parse({"--version"});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), std::string("cobra-client ") + Version() + "\n");
  ASSERT_TRUE(version.ok());
  EXPECT_FALSE(*version);
  testing::internal::CaptureStdout();
  const absl::StatusOr<bool> help = Parse({"predict", "--help"});
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("Name of a target"));
  ASSERT_TRUE(help.ok());
  EXPECT_FALSE(*help);
}

TEST_F(CommandLineTest, CompletionIsPrintedAndEnds) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    testing::internal::CaptureStdout();
    const absl::StatusOr<bool> completion = Parse({"--completion", shell});
    EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("predict")) << shell;
    ASSERT_TRUE(completion.ok());
    EXPECT_FALSE(*completion);
  }
  EXPECT_FALSE(Parse({"--completion", "tcsh"}).ok());
}

TEST_F(CommandLineTest, AMistypedCommandNamesTheNearest) {
  EXPECT_EQ(ProblemOf({"pedict", "net.py"}).message, "pedict: cobra-client has no such command");
  EXPECT_EQ(ProblemOf({"pedict", "net.py"}).hint, "did you mean predict?");
  EXPECT_EQ(ProblemOf({"pred"}).hint, "did you mean predict?");
  EXPECT_EQ(ProblemOf({"magic"}).hint, "cobra-client --help lists what it has");
  EXPECT_THAT(ProblemOf({}).hint, HasSubstr("one of predict, probe"));
}

TEST_F(CommandLineTest, AMistypedFlagIsNamedBeforeWhatItLeavesMissing) {
  const Diagnostic d = ProblemOf({"predict", "net.py", "--inputs", "1x3x32x32"});
  EXPECT_EQ(d.message, "--inputs: cobra-client predict has no such flag");
  EXPECT_EQ(d.hint, "did you mean --input?");
  EXPECT_EQ(ProblemOf({"predict", "net.py", "--targt=cpu"}).hint, "did you mean --target?");
  EXPECT_EQ(ProblemOf({"predict", "--budget", "3", "--target", "cpu"}).hint, "did you mean --budget-ms?");
  EXPECT_THAT(ProblemOf({"--target", "cpu", "predict"}).message, HasSubstr("--target: must come after the command"));
  EXPECT_EQ(ProblemOf({"predict", "net.py", "more.py", "--target", "cpu"}).message, "more.py: unexpected argument");
}

TEST_F(CommandLineTest, MissingAndOutOfRangeValuesAreNamed) {
  EXPECT_EQ(ProblemOf({"predict", "net.py", "--target=", "cpu"}).message, "--target=: has no value");
  EXPECT_EQ(ProblemOf({"predict", "net.py"}).message, "--target: is missing");
  EXPECT_EQ(ProblemOf({"predict", "net.py"}).hint, "name of a target");
  for (const char* wrong : {"0", "-1", "soon", "nan"}) {
    EXPECT_EQ(ProblemOf({"predict", "--target", "cpu", "--budget-ms", wrong}).message,
              std::string("--budget-ms: ") + wrong + " is not a number above 0");
  }
}

}  // namespace
}  // namespace cobra
