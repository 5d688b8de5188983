// Which of the known words a user probably meant.
#ifndef COBRA_BASE_TEXT_SIMILAR_WORDS_H_
#define COBRA_BASE_TEXT_SIMILAR_WORDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra {

// The name of a program that is nearest to a misspelled one, as CPython's tracebacks suggest it; ""
// if none is near. About a third of the letters may be changed, missing, extra, or swapped with
// their neighbour.
std::string NearestName(absl::string_view name, const std::vector<absl::string_view>& known);

// The same for a word of a command line or a configuration file, whose end may also be missing. A
// known word is found.
std::string NearestWord(absl::string_view word, const std::vector<std::string>& known);

// "a, b, c": all names if they are few; else those that share most parts (between hyphens) with
// `name`, then those with the fewest different letters, and their total number: "a, b, c (the
// nearest of 267)".
std::string SimilarNames(absl::string_view name, const std::vector<std::string>& known);

}  // namespace cobra

#endif  // COBRA_BASE_TEXT_SIMILAR_WORDS_H_
