#include "frontend/python/missing_file.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/text/similar_words.h"
#include "base/user_error.h"

namespace cobra::python {

absl::Status MissingFileError(std::vector<absl::string_view> files, absl::string_view path) {
  if (files.empty()) {
    return UserError(Diagnostic::Kind::kUsage, absl::StrCat(path, ": is not in any library"),
                     "send its text, or the graph (cobra-client --send graph), or name its library with --library DIR");
  }
  constexpr size_t kMostNamed = 10;
  const std::string nearest = NearestName(path, files);
  const size_t left_out = files.size() - std::min(files.size(), kMostNamed);
  files.resize(files.size() - left_out);
  return UserError(
      Diagnostic::Kind::kUsage, absl::StrCat(path, ": is neither among the files of the model nor in a library"),
      absl::StrCat(nearest.empty() ? "" : absl::StrCat("did you mean ", nearest, "? "), "the files are ",
                   absl::StrJoin(files, ", "), left_out == 0 ? "" : absl::StrCat(" and ", left_out, " more")));
}

}  // namespace cobra::python
