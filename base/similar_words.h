// Which of the known words a user probably meant.
#ifndef COBRA_BASE_SIMILAR_WORDS_H_
#define COBRA_BASE_SIMILAR_WORDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra {

// "" if none is near: a third of the letters may be wrong, or the end missing.
std::string NearestWord(absl::string_view word, const std::vector<std::string>& known);

// "a, b, c": all names if they are few; else those that share most parts (between hyphens) with `name`, then those with
// the fewest different letters, and how many there are: "a, b, c (the nearest of 267)".
std::string SimilarNames(absl::string_view name, const std::vector<std::string>& known);

}  // namespace cobra

#endif  // COBRA_BASE_SIMILAR_WORDS_H_
