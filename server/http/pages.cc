#include "server/http/pages.h"

#include <string>

namespace cobra::http {
namespace {

struct Page {
  absl::string_view path, file, content_type;
};
constexpr Page kPages[] = {{"/ui", "index.html", "text/html; charset=utf-8"},
                           {"/ui/app.css", "app.css", "text/css; charset=utf-8"},
                           {"/ui/app.js", "app.js", "text/javascript; charset=utf-8"}};

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
  for (const Page& page : kPages) {
    if (page.path != path) continue;
    reply.content_type = std::string(page.content_type);
    reply.body = std::string(EmbeddedBytes(page.file));
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
