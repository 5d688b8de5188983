#include "proto/status_proto.h"

#include <string>

#include "absl/time/time.h"
#include "base/diagnostic.h"
#include "base/retry_delay.h"
#include "gtest/gtest.h"
#include "proto/grpc_status.h"

namespace cobra::proto {
namespace {

Diagnostic Example() {
  Diagnostic d;
  d.kind = Diagnostic::Kind::kDataDependent;
  d.message = "if x.sum() > 0: depends on the value of a tensor";
  d.hint = "remove the branch";
  d.position = {"net.py", 12, 8, 19};
  d.module_path = "blocks.0";
  d.missing_module = "timm.layers";
  d.source_line = "    if x.sum() > 0:";
  d.frames = {{{"net.py", 30, 1}, "<module>", "Net()(x)"}, {{"net.py", 12, 8}, "Net.forward", "if x.sum() > 0:"}};
  return d;
}

TEST(StatusProtoTest, DiagnosticSurvivesTheWire) {
  const absl::Status sent = DiagnosticToStatus(Example());
  const absl::Status received = FromGrpcStatus(ToGrpcStatus(sent));
  EXPECT_EQ(received.code(), sent.code());
  EXPECT_EQ(received.message(), sent.message());
  std::optional<Diagnostic> d = DiagnosticFromStatus(received);
  ASSERT_TRUE(d.has_value());
  EXPECT_EQ(RenderDiagnostic(*d), RenderDiagnostic(Example()));
  EXPECT_EQ(d->kind, Diagnostic::Kind::kDataDependent);
  EXPECT_EQ(d->position.end_column, 19);
  EXPECT_EQ(d->missing_module, "timm.layers");
}

TEST(StatusProtoTest, EveryKindHasItsNameOnTheWire) {
  for (absl::string_view name : {"usage", "unsupported", "data_dependent", "syntax_error", "model_error", "limit"}) {
    Diagnostic d;
    d.kind = *DiagnosticKindFromName(name);
    v1::ErrorDetail proto;
    DiagnosticToProto(d, &proto);
    EXPECT_NE(proto.kind(), v1::ErrorDetail::KIND_UNSPECIFIED) << name;
    EXPECT_EQ(DiagnosticFromProto(proto).kind, d.kind) << name;
  }
}

TEST(StatusProtoTest, PlainStatusKeepsCodeAndMessage) {
  const absl::Status received = FromGrpcStatus(ToGrpcStatus(absl::UnavailableError("draining")));
  EXPECT_EQ(received, absl::UnavailableError("draining"));
}

TEST(StatusProtoTest, ABusyServerSaysWhenToComeBack) {
  const absl::Status busy = WithRetryDelay(absl::ResourceExhaustedError("busy"), absl::Milliseconds(1750));
  const grpc::Status sent = ToGrpcStatus(busy);
  v1::RpcStatus details;
  ASSERT_TRUE(details.ParseFromString(sent.error_details()));
  ASSERT_EQ(details.details_size(), 1);
  EXPECT_EQ(details.details(0).type_url(), "type.googleapis.com/google.rpc.RetryInfo");
  v1::RetryInfo info;
  ASSERT_TRUE(info.ParseFromString(details.details(0).value()));
  EXPECT_EQ(info.retry_delay().seconds(), 1);
  EXPECT_EQ(info.retry_delay().nanos(), 750'000'000);
  EXPECT_EQ(RetryDelayOf(FromGrpcStatus(sent)), absl::Milliseconds(1750));
  EXPECT_EQ(RetryDelayOf(absl::ResourceExhaustedError("limit")), std::nullopt);
}

TEST(StatusProtoTest, TextThatIsNoUtf8IsStillSent) {
  Diagnostic d = Example();
  d.source_line = "x = '\xff\xc3'";        // Latin-1
  d.message = "caf\xc3\xa9 \xed\xa0\x80";  // valid, then a surrogate
  std::optional<Diagnostic> received = DiagnosticFromStatus(FromGrpcStatus(ToGrpcStatus(DiagnosticToStatus(d))));
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->message.substr(0, 5), "caf\xc3\xa9");
}

TEST(StatusProtoTest, DeepCallChainStaysBelowTheTrailerLimit) {
  Diagnostic d = Example();
  d.frames.assign(900,
                  {{"a/rather/long/path/to/some/library/module.py", 100, 1}, "Class.method", std::string(2000, 'x')});
  d.frames.front().function = "outermost";
  d.frames.back().function = "innermost";
  const grpc::Status status = ToGrpcStatus(DiagnosticToStatus(d));
  EXPECT_LT(status.error_details().size(), 8000u);
  std::optional<Diagnostic> received = DiagnosticFromStatus(FromGrpcStatus(status));
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->frames.front().function, "outermost");
  EXPECT_EQ(received->frames.back().function, "innermost");
}

TEST(StatusProtoTest, LongPathsStayBelowTheTrailerLimit) {
  Diagnostic d;
  d.kind = Diagnostic::Kind::kSyntaxError;
  d.message = "invalid syntax";
  std::string path;
  for (int i = 0; i < 2000; ++i) path += "d/";
  d.position = {path + "net.py", 3, 1, 2};
  for (int i = 0; i < 30; ++i) d.frames.push_back({{path + "net.py", i, 1, 2}, "forward", "x = self.block(x)"});
  const grpc::Status status = ToGrpcStatus(DiagnosticToStatus(d));
  EXPECT_LT(status.error_details().size() * 4 / 3 + status.error_message().size(), 8000u);
  EXPECT_NE(status.error_message().find("invalid syntax"), std::string::npos);
  const auto back = DiagnosticFromStatus(FromGrpcStatus(status));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->message, "invalid syntax");
  EXPECT_EQ(back->position.line, 3);
  EXPECT_EQ(back->position.file.substr(back->position.file.size() - 8), "d/net.py");
  EXPECT_GT(back->frames.size(), 4u);
}

TEST(StatusProtoTest, DetailsThatAreNoRpcStatusAreIgnored) {
  const absl::Status received = FromGrpcStatus(grpc::Status(grpc::StatusCode::INTERNAL, "boom", "\x01\x02garbage"));
  EXPECT_EQ(received.code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(DiagnosticFromStatus(received).has_value());
}

}  // namespace
}  // namespace cobra::proto
