#include "server/http/route.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace cobra::http {
namespace {

// "GetModelInfo" -> "get-model-info".
std::string WithHyphens(absl::string_view name) {
  std::string text;
  for (const char c : name) {
    if (absl::ascii_isupper(static_cast<unsigned char>(c)) && !text.empty()) text.push_back('-');
    text.push_back(absl::ascii_tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

}  // namespace

Route RouteOf(absl::string_view service, absl::string_view method) {
  Route route;
  route.rpc = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(absl::StrCat(service, ".", method));
  const bool asks = absl::ConsumePrefix(&method, "List") || absl::ConsumePrefix(&method, "Get");
  route.method = asks ? "GET" : "POST";
  route.path = absl::StrCat("/v1/", WithHyphens(method));
  return route;
}

Route ReportRoute() {
  Route route = RouteOf("cobra.v1.Cobra", "Predict");
  route.path = "/ui/report";
  route.as_report = true;
  return route;
}

}  // namespace cobra::http
