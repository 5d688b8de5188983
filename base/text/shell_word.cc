#include "base/text/shell_word.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace cobra {

std::string ShellWord(absl::string_view argument) {
  constexpr char kPlain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=@%+";
  if (!argument.empty() && argument.find_first_not_of(kPlain) == absl::string_view::npos) return std::string(argument);
  return absl::StrCat("'", absl::StrReplaceAll(argument, {{"'", "'\\''"}}), "'");
}

}  // namespace cobra
