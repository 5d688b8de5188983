#include "server/http/pages.h"

#include <array>
#include <string>

#include "report/page.h"

namespace cobra::http {
namespace {

constexpr char kHtml[] = "text/html; charset=utf-8";
constexpr char kCss[] = "text/css; charset=utf-8";
constexpr char kJavaScript[] = "text/javascript; charset=utf-8";

struct Page {
  absl::string_view path, bytes, content_type;
};
const std::array<Page, 5>& Pages() {
  static const auto* const pages = new std::array<Page, 5>{{{"/ui", EmbeddedBytes("index.html"), kHtml},
                                                            {"/ui/app.css", EmbeddedBytes("app.css"), kCss},
                                                            {"/ui/app.js", EmbeddedBytes("app.js"), kJavaScript},
                                                            {"/ui/report.css", report::PageStyle(), kCss},
                                                            {"/ui/report.js", report::PageScript(), kJavaScript}}};
  return *pages;
}

}  // namespace

absl::string_view EmbeddedBytes(absl::string_view name) {
  for (const EmbeddedFile& file : EmbeddedFiles())
    if (file.name == name) return file.bytes;
  return {};
}

std::optional<Reply> PageAt(absl::string_view path) {
  Reply reply;
  if (path == "/") {
    reply.status = 302;
    reply.headers.emplace_back("Location", "/ui");
    return reply;
  }
  for (const Page& page : Pages()) {
    if (page.path != path) continue;
    reply.content_type = std::string(page.content_type);
    reply.body = std::string(page.bytes);
    reply.headers.emplace_back("Cache-Control", "no-cache");
    return reply;
  }
  return std::nullopt;
}

const Headers& SafeHeaders() {
  static const auto* const headers =
      new Headers{{"Content-Security-Policy",
                   "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                   "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
                  {"X-Content-Type-Options", "nosniff"},
                  {"X-Frame-Options", "DENY"},
                  {"Referrer-Policy", "no-referrer"},
                  {"Cross-Origin-Resource-Policy", "same-origin"},
                  {"Cross-Origin-Opener-Policy", "same-origin"}};
  return *headers;
}

}  // namespace cobra::http
