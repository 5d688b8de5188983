#include "report/markup.h"

#include "absl/strings/str_replace.h"
#include "base/text/utf8.h"
#include "base/text/without_escapes.h"

namespace cobra::report {

std::string MarkupText(absl::string_view text) {
  return absl::StrReplaceAll(WithoutEscapes(ReplaceInvalidUtf8(text)),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace cobra::report
