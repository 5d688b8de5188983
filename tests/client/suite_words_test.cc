#include "client/check/suite_words.h"

#include <string>

#include "base/diagnostic.h"
#include "base/user_error.h"
#include "gtest/gtest.h"

namespace cobra::client {
namespace {

std::string HintOf(const std::string& hint) {
  const absl::Status error = UserError(Diagnostic::Kind::kUsage, "the message", hint);
  return DiagnosticFromStatus(InSuiteKeys(error)).value_or(Diagnostic()).hint;
}

TEST(SuiteWordsTest, HintsNameKeys) {
  EXPECT_EQ(
      HintOf("give one --input for each tensor argument, and --arg NAME=EXPR for anything that is not a tensor"),
      "give one of inputs = [...] for each tensor argument, and arguments = [\"NAME=EXPR\"] for anything that is not "
      "a tensor");
  EXPECT_EQ(HintOf("usual ones: --input 1x3x224x224 (an image), --input x=1x128:int64 (tokens)"),
            "usual ones: inputs = [\"1x3x224x224\"] (an image), inputs = [\"x=1x128:int64\"] (tokens)");
  EXPECT_EQ(HintOf("name the folder that it is in with --library DIR"),
            "name the folder that it is in with libraries = [\"DIR\"]");
  EXPECT_EQ(HintOf("check --input; --entry 'Net()'"), "check inputs; entry = \"Net()\"");
}

TEST(SuiteWordsTest, MessagesTooAndOtherErrorsStay) {
  const absl::Status error = UserError(Diagnostic::Kind::kUsage, "--input 1x3xW: is not a shape", "");
  EXPECT_EQ(DiagnosticFromStatus(InSuiteKeys(error))->message, "inputs 1x3xW: is not a shape");
  EXPECT_EQ(InSuiteKeys(error).code(), error.code());
  EXPECT_EQ(InSuiteKeys(absl::InternalError("--input")), absl::InternalError("--input"));
  EXPECT_TRUE(InSuiteKeys(absl::OkStatus()).ok());
}

}  // namespace
}  // namespace cobra::client
