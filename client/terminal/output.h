// All that cobra-client writes to standard output; standard error is Say() (progress.h). Both take
// text that a server, a file, a repository or the environment had a part in. So what a terminal
// obeys instead of showing it is replaced here, where no command can forget it:
// tests/client/output_sink_test.py looks for other ways to the terminal.
#ifndef COBRA_CLIENT_TERMINAL_OUTPUT_H_
#define COBRA_CLIENT_TERMINAL_OUTPUT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cobra::client {

// As a terminal gets it: with '?' for what it would obey (base/text/without_escapes.h). `color`:
// the colours of a Painter stay.
std::string TerminalText(absl::string_view text, bool color);

// The same, and no line is a command to GitHub Actions ("::error::") or Azure Pipelines ("##vso["),
// which read what the programs of a job print.
std::string TextForPeople(absl::string_view text, bool color);

// Of text for people, TextForPeople(), wherever it goes: it may be shown by a pager. Ends a last
// line.
void PrintText(absl::string_view text, bool color = false);
// Of data for programs (JSON, CSV, SVG, reports): files and pipes get the very bytes, a terminal
// TerminalText(). Ends a last line.
void PrintData(absl::string_view data);

// Of nlohmann's json or ordered_json, as commands print it: indented, with U+FFFD for what is not
// UTF-8.
template <typename Json>
std::string IndentedJson(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

// Whether all that was printed has been written: not on a full disk.
bool FlushOutput();

}  // namespace cobra::client

#endif  // COBRA_CLIENT_TERMINAL_OUTPUT_H_
