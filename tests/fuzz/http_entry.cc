#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "cobra/v1/admin.pb.h"
#include "cobra/v1/cobra.pb.h"
#include "cobra/v1/measurements.pb.h"
#include "google/protobuf/stubs/logging.h"
#include "server/http/error_reply.h"
#include "server/http/form.h"
#include "server/http/pages.h"
#include "server/http/predict_form.h"
#include "server/http/same_origin.h"
#include "server/http/transcode.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {
namespace {

void Refused(const absl::Status& status) {
  CheckRefusal(status);
  if (http::ErrorReply(status).body.empty()) Fail("an error without a body", status.ToString());
}

// What became bytes is JSON again, and that JSON is the same bytes. Not so a text that is not
// UTF-8.
template <typename Message>
void Json(absl::string_view json) {
  const absl::StatusOr<std::string> bytes = http::BytesOfJson(*Message::descriptor(), json);
  if (!bytes.ok()) return Refused(bytes.status());
  Message message;
  if (!message.ParseFromString(*bytes)) Fail("JSON becomes what protobuf does not parse", std::string(json));
  const absl::StatusOr<std::string> again = http::JsonOfBytes(*Message::descriptor(), message.SerializeAsString());
  if (!again.ok()) Fail("a message that is not JSON", message.DebugString());
  const absl::StatusOr<std::string> same = http::BytesOfJson(*Message::descriptor(), *again);
  Message second;
  if (!same.ok() || !second.ParseFromString(*same)) Fail("JSON of ours that is refused", *again);
  if (second.SerializeAsString() != message.SerializeAsString()) Fail("another message", message.DebugString());
}

template <typename Message>
void Query(absl::string_view query) {
  const auto fields = http::ParseQuery(query);
  if (!fields.ok()) return Refused(fields.status());
  const absl::StatusOr<std::string> bytes = http::BytesOfQuery(*Message::descriptor(), *fields);
  Message message;
  if (!bytes.ok()) return Refused(bytes.status());
  if (!message.ParseFromString(*bytes)) Fail("a query becomes what protobuf does not parse", std::string(query));
}

// The first line is the Content-Type.
void Form(absl::string_view data) {
  const absl::string_view content_type = data.substr(0, data.find('\n'));
  const absl::string_view body = data.substr(std::min(data.size(), content_type.size() + 1));
  const absl::StatusOr<std::vector<http::Part>> parts = http::ParseMultipart(content_type, body);
  if (!parts.ok()) return Refused(parts.status());
  for (const http::Part& part : *parts) {
    if (part.name.empty()) Fail("a part without a name", std::string(body));
    if (!part.value.empty() && (part.value.begin() < body.begin() || part.value.end() > body.end()))
      Fail("a part outside of the body", part.name);
  }
  const absl::StatusOr<v1::PredictRequest> request = http::PredictRequestOf(*parts);
  if (!request.ok()) return Refused(request.status());
  (void)request->SerializeAsString();
}

// Lines "name: value".
void Browser(absl::string_view data) {
  static const http::SameOrigin rules("127.0.0.1:80", {"cobra.example"});
  http::Head head;
  std::string host;
  while (!data.empty()) {
    const absl::string_view line = data.substr(0, data.find('\n'));
    data.remove_prefix(std::min(data.size(), line.size() + 1));
    const size_t colon = line.find(": ");
    if (colon == absl::string_view::npos) continue;
    head.headers.emplace_back(std::string(line.substr(0, colon)), std::string(line.substr(colon + 2)));
    if (head.headers.back().first == "host") host = http::HostOf(head.headers.back().second);
  }
  for (const bool is_page : {false, true}) {
    if (!rules.Check(head, is_page).ok()) continue;
    if (host != "127.0.0.1" && host != "localhost" && host != "::1" && host != "cobra.example")
      Fail("another host is let in", host);
    for (const absl::string_view origin : head.Values("origin"))
      if (!absl::StrContains(absl::AsciiStrToLower(origin), host))
        Fail("another origin is let in", std::string(origin));
  }
}

}  // namespace

void Http(absl::string_view data) {
  static const bool quiet = (google::protobuf::SetLogHandler(nullptr), true);
  (void)quiet;
  if (data.empty()) return;
  const absl::string_view rest = data.substr(1);
  switch (data[0]) {
    case 'p': return Json<v1::PredictRequest>(rest);
    case 'b': return Json<v1::PredictBatchRequest>(rest);
    case 'a': return Json<v1::AdaptRequest>(rest);
    case 'l': return Json<v1::LeaseRequest>(rest);
    case 'r': return Json<v1::ReportRequest>(rest);
    case 'e': return Json<v1::EnqueueRequest>(rest);
    case 'q': return Query<v1::ListTargetsRequest>(rest);
    case 'f': return Form(rest);
    case 'o': return Browser(rest);
    case 'u': return (void)http::PageAt(rest);
    default: return;
  }
}

}  // namespace cobra::fuzz
