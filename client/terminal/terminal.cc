#include "client/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/terminal/progress.h"

namespace cobra::client {
namespace {

constexpr int kWidthOfOldTerminals = 80;  // of those that do not say

constexpr absl::string_view kPlain = "\033[0m", kBold = "\033[1m", kDim = "\033[2m", kRed = "\033[31m",
                            kGreen = "\033[32m", kYellow = "\033[33m";

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

StreamFacts FactsOf(int descriptor) {
  StreamFacts facts{::isatty(descriptor) != 0, 0,
                    Environment("TERM"),       Environment("COLUMNS"),
                    Environment("NO_COLOR"),   Environment("CLICOLOR_FORCE")};
  winsize size = {};
  if (facts.is_terminal && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0) facts.terminal_width = size.ws_col;
  return facts;
}

bool IsDumb(const std::string& term) { return term.empty() || term == "dumb"; }

bool HasColor(const StreamFacts& facts, ColorChoice choice) {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  if (!facts.no_color.empty()) return false;
  if (!facts.clicolor_force.empty() && facts.clicolor_force != "0") return true;
  return facts.is_terminal && !IsDumb(facts.term);
}

int WidthOf(const StreamFacts& facts) {
  if (!facts.is_terminal) return 0;
  int columns = 0;
  if (absl::SimpleAtoi(facts.columns, &columns) && columns > 0) return columns;
  return facts.terminal_width > 0 ? facts.terminal_width : kWidthOfOldTerminals;
}

}  // namespace

TerminalStyle StyleOf(const StreamFacts& facts, ColorChoice choice) {
  return {WidthOf(facts), HasColor(facts, choice)};
}

TerminalStyle StandardOutputStyle(ColorChoice choice) { return StyleOf(FactsOf(STDOUT_FILENO), choice); }
TerminalStyle StandardErrorStyle(ColorChoice choice) { return StyleOf(FactsOf(STDERR_FILENO), choice); }

bool CanRedrawStandardError() { return ::isatty(STDERR_FILENO) != 0 && !IsDumb(Environment("TERM")); }

bool SomebodyCanAnswer() { return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0; }

bool AskYesOrNo(absl::string_view question) {
  Say(absl::StrCat(question, " [y/N] "));
  std::string answer;
  if (!std::getline(std::cin, answer)) Say("\n");
  answer = std::string(absl::StripAsciiWhitespace(answer));
  return !answer.empty() && (answer[0] == 'y' || answer[0] == 'Y');
}

std::string Painter::Paint(absl::string_view text, absl::string_view code) const {
  return color_ && !text.empty() ? absl::StrCat(code, text, kPlain) : std::string(text);
}

std::string Painter::Heading(absl::string_view text) const { return Paint(text, kBold); }
std::string Painter::Dim(absl::string_view text) const { return Paint(text, kDim); }
std::string Painter::Bad(absl::string_view text) const { return Paint(text, kRed); }
std::string Painter::Good(absl::string_view text) const { return Paint(text, kGreen); }
std::string Painter::Doubt(absl::string_view text) const { return Paint(text, kYellow); }

size_t PaintBytes(absl::string_view text) {
  for (const absl::string_view code : {kPlain, kBold, kDim, kRed, kGreen, kYellow}) {
    if (absl::StartsWith(text, code)) return code.size();
  }
  return 0;
}

std::string PaintedMessage(const std::string& text, bool color) {
  if (!color) return text;
  const Painter paint(color);
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (std::string& line : lines) {
    for (const std::string word : {"error: ", "warning: "}) {
      const size_t at = line.find(word);
      // Not inside of a quoted line of the user's program.
      if (at == std::string::npos || (at > 0 && line[0] == ' ')) continue;
      const std::string label = word.substr(0, word.size() - 1);
      line = absl::StrCat(line.substr(0, at), word[0] == 'e' ? paint.Bad(label) : paint.Doubt(label),
                          line.substr(at + label.size()));
      break;
    }
    if (absl::string_view(line).substr(0, 6) == "hint: ") line = absl::StrCat(paint.Heading("hint:"), line.substr(5));
  }
  return absl::StrJoin(lines, "\n");
}

}  // namespace cobra::client
