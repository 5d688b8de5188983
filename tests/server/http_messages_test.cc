// What is between HTTP and the messages of the API, without a connection: forms, queries, JSON,
// errors, browsers.
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/diagnostic.h"
#include "base/retry_delay.h"
#include "base/text/json.h"
#include "base/user_error.h"
#include "cobra/v1/admin.pb.h"
#include "cobra/v1/cobra.pb.h"
#include "cobra/v1/measurements.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "server/http/error_reply.h"
#include "server/http/form.h"
#include "server/http/openapi.h"
#include "server/http/pages.h"
#include "server/http/predict_form.h"
#include "server/http/route.h"
#include "server/http/same_origin.h"
#include "server/http/transcode.h"
#include "server/lanes/rpcs.h"

namespace cobra::http {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string MessageOf(const absl::Status& status) {
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  return diagnostic.has_value() ? diagnostic->message : absl::StrCat("no diagnostic: ", status.ToString());
}

template <typename Message>
absl::StatusOr<std::string> FromJson(absl::string_view json) {
  return BytesOfJson(*Message::descriptor(), json);
}

std::string PartText(absl::string_view disposition, absl::string_view value) {
  return absl::StrCat("--x\r\nContent-Disposition: form-data; ", disposition, "\r\n\r\n", value, "\r\n");
}
constexpr char kFormType[] = "multipart/form-data; boundary=x";

absl::StatusOr<v1::PredictRequest> Predict(const std::string& body) {
  const std::string whole = absl::StrCat(body, "--x--\r\n");
  absl::StatusOr<std::vector<Part>> parts = ParseMultipart(kFormType, whole);
  if (!parts.ok()) return parts.status();
  return PredictRequestOf(*parts);
}

std::string FileText(absl::string_view name) {
  return PartText(absl::StrCat("name=\"model\"; filename=\"", name, "\""), "bytes");
}

TEST(TranscodeTest, JsonBecomesTheMessage) {
  const auto bytes = FromJson<v1::PredictRequest>(
      R"({"targets": ["a"], "breakdown": true, "onnx": {"file": "AAEC", "inputs": ["1x3"]}})");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  v1::PredictRequest request;
  ASSERT_TRUE(request.ParseFromString(*bytes));
  EXPECT_EQ(request.onnx().file(), std::string("\0\1\2", 3));
  EXPECT_TRUE(request.breakdown());
}

TEST(TranscodeTest, RefusalsNameTheField) {
  const auto message = [](absl::string_view json) { return MessageOf(FromJson<v1::PredictRequest>(json).status()); };
  EXPECT_THAT(message(R"({"sourc": {}})"), StartsWith("sourc: is not a field of PredictRequest"));
  EXPECT_THAT(message(R"({"source": {"entri": "Net"}})"), StartsWith("source.entri: is not a field of source"));
  EXPECT_THAT(message(R"({"breakdown": "perhaps"})"), HasSubstr("breakdown"));
  EXPECT_THAT(message(R"({"onnx": {"file": "***"}})"), HasSubstr("file"));
  EXPECT_THAT(message("[1, 2"), StartsWith("the request"));
  EXPECT_THAT(message("[]"), StartsWith("the request: "));
  EXPECT_THAT(message("{\"targets\": [\"\xff\"]}"), StartsWith("the request"));
  EXPECT_THAT(message(R"({"onnx": {}, "tflite": {}})"), HasSubstr("oneof"));
}

TEST(TranscodeTest, DeepNestingIsRefusedBeforeItIsParsed) {
  const absl::Status status = FromJson<v1::PredictRequest>(std::string(100'000, '[')).status();
  EXPECT_THAT(MessageOf(status), HasSubstr("nesting"));
}

TEST(TranscodeTest, RepliesHaveTheNamesOfTheProtoFilesAndAllTheirValues) {
  v1::PredictResponse response;
  response.set_macs(int64_t{1} << 60);
  response.add_predictions()->set_target("a\"<b>\n");
  const auto json = JsonOfBytes(*v1::PredictResponse::descriptor(), response.SerializeAsString());
  ASSERT_TRUE(json.ok());
  const auto parsed = ParseJson<nlohmann::json>(*json);
  EXPECT_EQ(parsed["macs"], "1152921504606846976");
  EXPECT_EQ(parsed["predictions"][0]["target"], "a\"<b>\n");
  EXPECT_EQ(parsed["predictions"][0]["latency_us"], 0);
  EXPECT_EQ(parsed["predictions"][0]["extrapolating"], false);
}

// Details are sent under Google's names of the types (error.proto).
TEST(TranscodeTest, DetailsOfErrorsInsideAReplyAreWritten) {
  v1::PredictBatchResponse response;
  v1::RpcStatus* error = response.add_results()->mutable_error();
  v1::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(2);
  error->add_details()->PackFrom(retry);
  error->mutable_details(0)->set_type_url("type.googleapis.com/google.rpc.RetryInfo");
  const auto json = JsonOfBytes(*v1::PredictBatchResponse::descriptor(), response.SerializeAsString());
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_THAT(*json, HasSubstr("\"retry_delay\":\"2s\""));
}

TEST(TranscodeTest, AQueryBecomesTheMessage) {
  const auto fields = ParseQuery("device=EPYC%209&kind=c+pu&origin=ORIGIN_TRAINED");
  ASSERT_TRUE(fields.ok());
  const auto bytes = BytesOfQuery(*v1::ListTargetsRequest::descriptor(), *fields);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  v1::ListTargetsRequest request;
  ASSERT_TRUE(request.ParseFromString(*bytes));
  EXPECT_EQ(request.device(), "EPYC 9");
  EXPECT_EQ(request.kind(), "c pu");
  EXPECT_EQ(request.origin(), v1::ListTargetsRequest::ORIGIN_TRAINED);
  EXPECT_THAT(MessageOf(BytesOfQuery(*v1::ListTargetsRequest::descriptor(), {{"nam", "x"}}).status()),
              StartsWith("nam: is not a field of this query"));
  EXPECT_THAT(MessageOf(BytesOfQuery(*v1::ListTargetsRequest::descriptor(), {{"name", "x"}, {"name", "y"}}).status()),
              StartsWith("name: is given twice"));
  EXPECT_FALSE(ParseQuery("name=%4").ok());
  EXPECT_FALSE(ParseQuery("name=%zz").ok());
}

TEST(FormTest, PartsAreWhatCurlSends) {
  const std::string body = absl::StrCat(PartText("name=\"a\"", "1\r\n2"),
                                        PartText("name=\"m\"; filename=\"q\\\"uo%22te.py\"", ""), "--x--\r\n");
  const auto parts = ParseMultipart(kFormType, body);
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_EQ((*parts)[0].value, "1\r\n2");
  EXPECT_FALSE((*parts)[0].file_name.has_value());
  EXPECT_EQ((*parts)[1].file_name, "q\"uo\"te.py");
  EXPECT_EQ((*parts)[1].value, "");
}

TEST(FormTest, WhatIsNoFormIsRefused) {
  const std::string good = PartText("name=\"a\"", "1");
  for (const std::string& body :
       {std::string(), good, good + "--x", good + "--x-", "junk" + good + "--x--", std::string("--x\r\n--x--"),
        std::string("--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--"),
        std::string("--x\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n--x--"),
        std::string("--x\r\nno header\r\n\r\n1\r\n--x--"),
        std::string("--x\r\nContent-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: "
                    "base64\r\n\r\n1\r\n--x--")}) {
    EXPECT_THAT(MessageOf(ParseMultipart(kFormType, body).status()), StartsWith("the form: ")) << body;
  }
  EXPECT_FALSE(ParseMultipart("multipart/form-data", good + "--x--").ok());
  EXPECT_FALSE(ParseMultipart(absl::StrCat("multipart/form-data; boundary=", std::string(71, 'x')), good).ok());
  std::string many;
  for (size_t i = 0; i <= kMaxParts; ++i) absl::StrAppend(&many, good);
  EXPECT_THAT(MessageOf(ParseMultipart(kFormType, many + "--x--").status()), HasSubstr("2,000 parts"));
  many.resize(many.size() - good.size());
  EXPECT_TRUE(ParseMultipart(kFormType, many + "--x--").ok());
}

TEST(PredictFormTest, TheEndingOfTheFileSaysWhatItIs) {
  const auto source =
      Predict(absl::StrCat(FileText("net.py"), PartText("name=input", "1x3"), PartText("name=input", "1x4"),
                           PartText("name=arg", "x=[1, 2]"), PartText("name=target", "a, b"),
                           PartText("name=target", "c"), PartText("name=breakdown", "true")));
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(source->source().file(), "net.py");
  EXPECT_EQ(source->source().files(0).text(), "bytes");
  EXPECT_THAT(source->source().inputs(), testing::ElementsAre("1x3", "1x4"));
  EXPECT_EQ(source->source().arguments(0).expression(), "[1, 2]");
  EXPECT_EQ(source->targets_size(), 3);
  EXPECT_TRUE(source->breakdown());
  EXPECT_EQ(Predict(FileText("a.onnx"))->onnx().name(), "a.onnx");
  EXPECT_EQ(Predict(FileText("../../a.tflite"))->tflite().name(), "a.tflite");
  EXPECT_EQ(Predict(FileText("a.param"))->ncnn().param(), "bytes");
  EXPECT_EQ(Predict(PartText("name=arch", "nasbench201:x"))->architecture().text(), "nasbench201:x");
}

TEST(PredictFormTest, RefusalsBeginWithTheField) {
  const auto message = [](const std::string& body) { return MessageOf(Predict(body).status()); };
  EXPECT_THAT(message(""), StartsWith("model: is missing"));
  for (const Asker asker : {Asker::kCurl, Asker::kPage}) {
    const std::optional<Diagnostic> missing = DiagnosticFromStatus(PredictRequestOf({}, asker).status());
    ASSERT_TRUE(missing.has_value());
    EXPECT_EQ(absl::StrContains(missing->hint, "-F"), asker == Asker::kCurl) << missing->hint;
  }
  EXPECT_THAT(message(FileText("a.txt")), StartsWith("model=a.txt: is not a .py"));
  EXPECT_THAT(message(PartText("name=model", "net.py")), StartsWith("model=net.py: is not a file"));
  EXPECT_THAT(message(FileText("a.py") + PartText("name=arch", "x")), StartsWith("give `arch` or `model`, not both"));
  EXPECT_THAT(message(FileText("a.py") + PartText("name=inputs", "x")), StartsWith("inputs: is not a field"));
  EXPECT_THAT(message(FileText("a.py") + FileText("b.py")), StartsWith("model: is given twice"));
  EXPECT_THAT(message(FileText("a.tflite") + PartText("name=entry", "x")), StartsWith("entry: says nothing about"));
  EXPECT_THAT(message(FileText("a.py") + PartText("name=arg", "x")), StartsWith("arg=x: is not NAME=EXPRESSION"));
  EXPECT_THAT(message(FileText("a.py") + PartText("name=breakdown", "yes")), StartsWith("breakdown=yes: is not"));
  EXPECT_THAT(message(FileText("\xff.py")), StartsWith("model: the name of its file is not UTF-8"));
  EXPECT_THAT(message(FileText("a.py") + PartText("name=entry", "\xff")), StartsWith("entry: is not UTF-8"));
}

Head RequestOf(Headers headers) {
  Head head;
  head.headers = std::move(headers);
  return head;
}

TEST(SameOriginTest, OnlyNamesOfTheServerAreItsHost) {
  const SameOrigin local("127.0.0.1:80", {"Cobra.example.org"});
  const auto code = [](const SameOrigin& rules, const std::string& host) {
    return rules.Check(RequestOf({{"host", host}}), false).code();
  };
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:8080", "localhost:80", "LOCALHOST.", "[::1]:80", "cobra.example.org"})
    EXPECT_EQ(code(local, host), absl::StatusCode::kOk) << host;
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", "[::1", "localhost:80x",
                           "localhost@evil.example", "[::1]evil.example"})
    EXPECT_EQ(code(local, host), absl::StatusCode::kPermissionDenied) << host;
  const SameOrigin everywhere("0.0.0.0:80", {});
  EXPECT_EQ(code(everywhere, "192.0.2.1:80"), absl::StatusCode::kOk);
  EXPECT_EQ(code(everywhere, "evil.example"), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(local.Check(RequestOf({}), false).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(local.Check(RequestOf({{"host", "localhost"}, {"host", "localhost"}}), false).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(SameOriginTest, PagesOfOtherSitesMayNotAsk) {
  const SameOrigin rules("127.0.0.1:8080", {});
  const auto ok = [&rules](Headers headers, bool is_page = false) {
    headers.emplace_back("host", "localhost:8080");
    return rules.Check(RequestOf(std::move(headers)), is_page).ok();
  };
  EXPECT_TRUE(ok({{"origin", "http://localhost:8080"}}));
  EXPECT_TRUE(ok({{"origin", "https://localhost:8080"}}));  // behind a proxy that has TLS
  EXPECT_TRUE(ok({{"sec-fetch-site", "same-origin"}}));
  EXPECT_TRUE(ok({{"sec-fetch-site", "none"}}));
  for (const char* origin : {"null", "http://localhost", "http://localhost:8081", "http://evil.example:8080",
                             "http://localhost:8080.evil.example", "file://", ""})
    EXPECT_FALSE(ok({{"origin", origin}})) << origin;
  EXPECT_FALSE(ok({{"sec-fetch-site", "cross-site"}}));
  EXPECT_FALSE(ok({{"sec-fetch-site", "same-site"}}));
  EXPECT_FALSE(ok({{"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}}));
  EXPECT_TRUE(ok({{"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}}, /*is_page=*/true));
}

TEST(ErrorReplyTest, HasWhatTheDiagnosticHas) {
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::kModelError;
  diagnostic.message = "RuntimeError: \"<b>\"";
  diagnostic.hint = "do that";
  diagnostic.position = {"net.py", 3, 5, 9};
  diagnostic.source_line = "    x = y";
  diagnostic.frames.push_back({{"net.py", 9, 1, 0}, "Net.forward", "self.f()"});
  const Reply reply = ErrorReply(DiagnosticToStatus(diagnostic));
  EXPECT_EQ(reply.status, 400);
  const auto error = ParseJson<nlohmann::json>(reply.body)["error"];
  EXPECT_EQ(error["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(error["kind"], "model_error");
  EXPECT_EQ(error["message"], diagnostic.message);
  EXPECT_EQ(error["where"]["line"], 3);
  EXPECT_EQ(error["where"]["end_column"], 9);
  EXPECT_EQ(error["frames"][0]["function"], "Net.forward");
}

TEST(ErrorReplyTest, OnlyWhatMayBeRepeatedSaysSo) {
  EXPECT_EQ(ErrorReply(absl::ResourceExhaustedError("busy")).status, 429);
  EXPECT_EQ(ErrorReply(UserError(Diagnostic::Kind::kLimit, "too large")).status, 422);
  EXPECT_EQ(ErrorReply(UserError(Diagnostic::Kind::kUnsupported, "what is this")).status, 422);
  const Reply busy = ErrorReply(WithRetryDelay(absl::ResourceExhaustedError("busy"), absl::Milliseconds(1200)));
  EXPECT_THAT(busy.headers, testing::Contains(std::pair<std::string, std::string>("Retry-After", "2")));
  EXPECT_EQ(ParseJson<nlohmann::json>(busy.body)["error"]["retry_after_ms"], 1200);
}

std::vector<Route> AllRoutes() {
  (void)v1::EnqueueRequest::descriptor();  // a linker leaves out files whose messages nobody names
  (void)v1::GetCachesRequest::descriptor();
  std::vector<Route> routes;
  for (const server::RpcInfo& rpc : server::kRpcs)
    if (rpc.kind == server::RpcKind::kUnary) routes.push_back(RouteOf(rpc.service, rpc.method));
  return routes;
}

TEST(RouteTest, EveryUnaryRpcHasOneOfItsOwn) {
  std::set<std::string> paths;
  for (const Route& route : AllRoutes()) {
    ASSERT_NE(route.rpc, nullptr) << route.path;
    EXPECT_TRUE(paths.insert(route.path).second) << route.path;
    if (route.method != "GET") continue;
    for (int i = 0; i < route.rpc->input_type()->field_count(); ++i) {
      EXPECT_NE(route.rpc->input_type()->field(i)->cpp_type(), google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE)
          << route.path << ": a query has no message " << route.rpc->input_type()->field(i)->name();
    }
  }
  EXPECT_EQ(RouteOf("cobra.v1.Cobra", "PredictBatch").path, "/v1/predict-batch");
  EXPECT_EQ(RouteOf("cobra.v1.Cobra", "ListTargets").method, "GET");
  EXPECT_EQ(RouteOf("cobra.v1.Cobra", "ListTargets").path, "/v1/targets");
  EXPECT_EQ(paths.count(kOpenApiPath), 0u);
}

// Calls `visit` with each "$ref".
void VisitReferences(const nlohmann::json& json, const std::function<void(const std::string&)>& visit) {
  for (const auto& [key, value] : json.items()) {
    if (json.is_object() && key == "$ref") visit(value.get<std::string>());
    if (value.is_structured()) VisitReferences(value, visit);
  }
}

TEST(OpenApiTest, DescribesEveryRouteAndItsSchemas) {
  const std::vector<Route> routes = AllRoutes();
  const auto api = ParseJson<nlohmann::json>(OpenApiDocument(routes, "1", /*secured=*/true));
  EXPECT_EQ(api["openapi"], "3.1.0");
  EXPECT_EQ(api["paths"].size(), routes.size());
  std::set<std::string> operations;
  for (const auto& [path, methods] : api["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      EXPECT_TRUE(method == "get" || method == "post");
      EXPECT_TRUE(operations.insert(operation["operationId"]).second);
      EXPECT_FALSE(operation["description"].get<std::string>().empty()) << path;
      EXPECT_TRUE(operation["responses"].contains("200"));
      EXPECT_EQ(operation.contains("requestBody"), method == "post");
    }
  }
  int references = 0;
  VisitReferences(api, [&](const std::string& reference) {
    ++references;
    ASSERT_THAT(reference, StartsWith("#/components/schemas/"));
    EXPECT_TRUE(api["components"]["schemas"].contains(reference.substr(21))) << reference;
  });
  EXPECT_GT(references, 50);
  EXPECT_EQ(api["components"]["schemas"]["SourceModel"]["properties"]["entry"]["type"], "string");
  EXPECT_THAT(api["components"]["schemas"]["SourceModel"]["properties"]["entry"]["description"],
              HasSubstr("A Python expression"));
  EXPECT_EQ(api["components"]["schemas"]["SourceFile"]["properties"]["text"]["contentEncoding"], "base64");
  EXPECT_TRUE(api["components"]["securitySchemes"].contains("token"));
}

TEST(PagesTest, AreFilesOfTheProgram) {
  ASSERT_TRUE(PageAt("/ui").has_value());
  EXPECT_THAT(PageAt("/ui")->body, StartsWith("<!doctype html>"));
  EXPECT_EQ(PageAt("/")->status, 302);
  for (const char* path : {"/ui/", "/ui/../ui", "/ui/index.html", "/ui/%61pp.js", "//ui", "/UI", "/api.descriptors"})
    EXPECT_FALSE(PageAt(path).has_value()) << path;
  // The policy allows no script and no style inside of the page.
  EXPECT_EQ(PageAt("/ui")->body.find("<style"), std::string::npos);
  EXPECT_EQ(PageAt("/ui")->body.find(" style="), std::string::npos);
  EXPECT_EQ(PageAt("/ui")->body.find(" onclick"), std::string::npos);
  for (const char* script : {"/ui/app.js", "/ui/report.js"})
    EXPECT_EQ(PageAt(script)->body.find("innerHTML"), std::string::npos) << script;
}

}  // namespace
}  // namespace cobra::http
