#include "client/answer/exit_code.h"

#include "base/diagnostic.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

absl::Status Of(Diagnostic::Kind kind) {
  Diagnostic d;
  d.kind = kind;
  d.message = "conv2d: wrong";
  d.position = {"net.py", 3, 5};
  return DiagnosticToStatus(d);
}

TEST(ExitCodeTest, NumbersThatScriptsRelyOn) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCodeOf(Of(Diagnostic::Kind::kUsage)), 2);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("no server")), 3);
  EXPECT_EQ(ExitCodeOf(Of(Diagnostic::Kind::kUnsupported)), 4);
  EXPECT_EQ(ExitCodeOf(Of(Diagnostic::Kind::kDataDependent)), 4);
  EXPECT_EQ(ExitCodeOf(Of(Diagnostic::Kind::kSyntaxError)), 6);
  EXPECT_EQ(ExitCodeOf(Of(Diagnostic::Kind::kModelError)), 6);
  EXPECT_EQ(ExitCodeOf(Of(Diagnostic::Kind::kLimit)), 7);
  EXPECT_EQ(ExitCodeOf(absl::ResourceExhaustedError("queue")), 7);
  EXPECT_EQ(ExitCodeOf(absl::DeadlineExceededError("60 s")), 7);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("bug")), 3);
}

TEST(ExitCodeTest, JsonHasThePlace) {
  const nlohmann::json j = nlohmann::json::parse(ErrorJson(Of(Diagnostic::Kind::kModelError)));
  EXPECT_EQ(j["error"]["kind"], "model_error");
  EXPECT_EQ(j["error"]["file"], "net.py");
  EXPECT_EQ(j["error"]["line"], 3);
  EXPECT_EQ(j["error"]["exit_code"], 6);
}

TEST(ExitCodeTest, TextStartsWithThePlace) {
  EXPECT_EQ(ErrorText(Of(Diagnostic::Kind::kModelError)).substr(0, 11), "net.py:3:5:");
  EXPECT_EQ(ErrorText(absl::InternalError("bug")), "cobra-client: error: bug");
}

TEST(ExitCodeTest, MissingServerIsExplained) {
  const std::string text = ErrorText(absl::UnavailableError("no server answers at localhost:1: Connection refused"));
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "cobra-client: error: no server answers at localhost:1: Connection refused");
  EXPECT_NE(text.find("hint: start it there (cobra-server"), std::string::npos);
  const auto hint = [](const char* why) { return ErrorText(absl::UnavailableError(why)); };
  EXPECT_NE(hint("no server answers at h:1: Socket closed").find("--tls-ca FILE"), std::string::npos);
  EXPECT_NE(hint("no server answers at h:1: SSL routines::wrong version number").find("omit --tls-ca"),
            std::string::npos);
  EXPECT_NE(hint("no server answers at h:1: certificate verify failed").find("authority in --tls-ca"),
            std::string::npos);
  const nlohmann::json j = nlohmann::json::parse(ErrorJson(absl::UnavailableError("no server")));
  EXPECT_NE(j["error"]["hint"].get<std::string>().find("--server HOST:PORT"), std::string::npos);
}

}  // namespace
}  // namespace cobra::client
