#include "proto/request_words.h"

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/user_error.h"

namespace cobra::proto {
namespace {

TEST(RequestWordsTest, FlagsBecomeFieldsAndFieldsFlags) {
  const absl::Status flags =
      UserError(Diagnostic::Kind::kUsage, "--input 1y3: is not a shape",
                "one --input for each tensor, --arg NAME=EXPR for anything else; --entry 'Net()'");
  const absl::Status fields = InFieldNames(flags);
  EXPECT_EQ(fields.code(), flags.code());
  const Diagnostic diagnostic = DiagnosticFromStatus(fields).value();
  EXPECT_EQ(diagnostic.message, "`inputs` 1y3: is not a shape");
  EXPECT_EQ(diagnostic.hint, "one `inputs` for each tensor, `arguments` NAME=EXPR for anything else; `entry` 'Net()'");
  EXPECT_EQ(InFlagNames(fields), flags);
}

TEST(RequestWordsTest, CodesAndOtherErrorsStay) {
  absl::Status error(absl::StatusCode::kNotFound, "x");
  DiagnosticToStatus({Diagnostic::Kind::kUsage, "--entry: is missing"})
      .ForEachPayload([&error](absl::string_view url, const absl::Cord& payload) { error.SetPayload(url, payload); });
  EXPECT_EQ(InFieldNames(error).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(InFieldNames(absl::InternalError("--input")), absl::InternalError("--input"));
  EXPECT_TRUE(InFieldNames(absl::OkStatus()).ok());
}

TEST(RequestWordsTest, AServersLibraryIsNotTheClients) {
  const absl::Status error =
      UserError(Diagnostic::Kind::kUnsupported, "timm was not found", "name it with --library DIR");
  EXPECT_EQ(DiagnosticFromStatus(InFlagNames(InFieldNames(error)))->hint, "name it with the server's --library DIR");
}

}  // namespace
}  // namespace cobra::proto
