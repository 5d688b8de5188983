// What a stream can show: the width of a terminal, colours. Files and pipes get neither, so that
// scripts read the same text whatever the terminal is.
#ifndef COBRA_CLIENT_TERMINAL_TERMINAL_H_
#define COBRA_CLIENT_TERMINAL_TERMINAL_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace cobra::client {

// --color.
enum class ColorChoice { kAuto, kAlways, kNever };

// The capabilities of an output stream.
struct TerminalStyle {
  int width = 0;  // 0: no limit
  bool color = false;
};

// What decides the style of a stream.
struct StreamFacts {
  bool is_terminal = false;
  int terminal_width = 0;  // as the terminal reports it; 0: unknown
  // Of the environment; empty: not set.
  std::string term, columns, no_color, clicolor_force;
};
// --color comes first, then NO_COLOR, then CLICOLOR_FORCE; otherwise a terminal has colours unless
// TERM is "dumb" or not set. COLUMNS is the width of a terminal that has another one; of a file or
// a pipe nothing is.
TerminalStyle StyleOf(const StreamFacts& facts, ColorChoice choice);

TerminalStyle StandardOutputStyle(ColorChoice choice = ColorChoice::kAuto);
TerminalStyle StandardErrorStyle(ColorChoice choice = ColorChoice::kAuto);

// Whether a line on standard error can be drawn again and erased.
bool CanRedrawStandardError();

// Whether the user can be asked: standard input and standard error are a terminal.
bool SomebodyCanAnswer();

// "[y/N]": true if the answer on standard input begins with y. An end of input is a no.
bool AskYesOrNo(absl::string_view question);

// Text in colours, where there are any.
class Painter {
 public:
  explicit Painter(bool color) : color_(color) {}
  std::string Heading(absl::string_view text) const;
  std::string Dim(absl::string_view text) const;
  std::string Bad(absl::string_view text) const;
  std::string Good(absl::string_view text) const;
  std::string Doubt(absl::string_view text) const;
  // By a share of the whole: a fifth or more is highlighted.
  std::string Weight(absl::string_view text, double share) const {
    return share >= 0.2 ? Bad(text) : share >= 0.05 ? Doubt(text) : std::string(text);
  }

 private:
  std::string Paint(absl::string_view text, absl::string_view code) const;
  const bool color_;
};

// How many bytes at the head of the text are a colour of a Painter; 0: there is none.
size_t PaintBytes(absl::string_view text);

// The word "error:" or "warning:" that a line of `text` begins with, or has after a position, in
// its colour.
std::string PaintedMessage(const std::string& text, bool color);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_TERMINAL_TERMINAL_H_
