#include "server/message_bytes.h"

#include <optional>

#include "base/diagnostic.h"
#include "cobra/v1/cobra.pb.h"
#include "gtest/gtest.h"

namespace cobra::server {
namespace {

TEST(MessageBytesTest, AReplyBeyondTheLimitIsAnError) {
  v1::GetModelInfoResponse reply;
  reply.set_version(std::string(1000, 'v'));
  const auto size = static_cast<int64_t>(reply.ByteSizeLong());
  grpc::ByteBuffer bytes;
  EXPECT_TRUE(SerializeMessage(reply, &bytes, size).ok());
  EXPECT_EQ(bytes.Length(), static_cast<size_t>(size));
  const absl::Status status = SerializeMessage(reply, &bytes, size - 1);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  ASSERT_TRUE(diagnostic.has_value());
  EXPECT_EQ(diagnostic->kind, Diagnostic::Kind::kLimit);
}

}  // namespace
}  // namespace cobra::server
