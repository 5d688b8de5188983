// The files of /ui, and what else the program carries for HTTP.
#ifndef COBRA_SERVER_HTTP_PAGES_H_
#define COBRA_SERVER_HTTP_PAGES_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/http/message.h"

namespace cobra::http {

struct EmbeddedFile {
  absl::string_view name, bytes;
};

// ui/*, and "api.descriptors": proto/cobra/v1 as a FileDescriptorSet with its comments. The build
// generates it.
absl::Span<const EmbeddedFile> EmbeddedFiles();
// REQUIRES: there is such a file.
absl::string_view EmbeddedBytes(absl::string_view name);

// "/ui", "/ui/app.js", ... and the style and script of a report's page (report/page.h);
// "/ui/target_cards.md" if it is installed with the program; "/" leads to /ui. Nothing for other
// paths.
std::optional<Reply> PageAt(absl::string_view path);

// What every reply says to a browser: its scripts and styles come from this server, and no other
// site may show or read it.
const Headers& SafeHeaders();

}  // namespace cobra::http

#endif  // COBRA_SERVER_HTTP_PAGES_H_
