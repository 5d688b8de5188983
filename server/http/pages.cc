#include "server/http/pages.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file/data_path.h"
#include "base/file/doc_path.h"
#include "base/file/file.h"
#include "report/page.h"

namespace cobra::http {
namespace {

constexpr char kHtml[] = "text/html; charset=utf-8";
constexpr char kCss[] = "text/css; charset=utf-8";
constexpr char kJavaScript[] = "text/javascript; charset=utf-8";
constexpr char kMarkdown[] = "text/markdown; charset=utf-8";
constexpr int64_t kMostCardBytes = 4 << 20;

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

// What the build wrote of the shipped targets: an installed page, or a file next to build/*/bin.
std::optional<Reply> TargetCards() {
  absl::StatusOr<std::string> cards = ReadFile(DocPath("docs/target_cards.md"), kMostCardBytes);
  if (!cards.ok()) cards = ReadFile(absl::StrCat(ProgramFolder(), "/../self/target_cards.md"), kMostCardBytes);
  if (!cards.ok()) return std::nullopt;
  Reply reply;
  reply.content_type = kMarkdown;
  reply.body = *std::move(cards);
  return reply;
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
  if (path == "/ui/target_cards.md") return TargetCards();
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
