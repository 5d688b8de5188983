#include "client/terminal/output.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/text/without_escapes.h"
#include "client/terminal/terminal.h"
#include "client/terminal/wrap.h"

namespace cobra::client {
namespace {

void Write(absl::string_view text) {
  if (text.empty()) return;
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (text.back() != '\n') std::fputc('\n', stdout);
}

}  // namespace

std::string TerminalText(absl::string_view text, bool color) {
  std::string shown;
  while (!text.empty()) {
    const size_t plain = color ? std::min(text.find('\033'), text.size()) : text.size();
    shown += WithoutEscapes(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const size_t painted = PaintBytes(text);
    if (painted > 0) {
      shown.append(text.data(), painted);
    } else {
      shown += '?';
    }
    text.remove_prefix(std::max<size_t>(painted, 1));
  }
  return shown;
}

std::string TextForPeople(absl::string_view text, bool color) {
  std::vector<std::string> lines = absl::StrSplit(TerminalText(text, color), '\n');
  for (std::string& line : lines) {
    const size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos && absl::string_view(line).substr(begin, 2) == "::") line.insert(begin + 1, " ");
  }
  return absl::StrReplaceAll(absl::StrJoin(lines, "\n"), {{"##[", "## ["}, {"##vso[", "##vso ["}});
}

void PrintText(absl::string_view text, bool color) {
  Write(WordWrapped(TextForPeople(text, color), StandardOutputStyle().width));
}

void PrintData(absl::string_view data) {
  ::isatty(STDOUT_FILENO) != 0 ? Write(TerminalText(data, /*color=*/false)) : Write(data);
}

bool FlushOutput() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace cobra::client
