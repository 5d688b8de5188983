// Module paths that differ in numbers only: "blocks.0.mlp", "blocks.1.mlp".
#ifndef COBRA_CLIENT_ANSWER_PATH_PATTERN_H_
#define COBRA_CLIENT_ANSWER_PATH_PATTERN_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::client {

// Replaces each number by a star: "h.3.mlp_0" -> "h.*.mlp_*". Paths that differ in numbers only
// have the same pattern.
std::string PathPattern(absl::string_view path);

// Replaces by a star each number in which the paths differ: "h.3.mlp_0", "h.4.mlp_0" ->
// "h.*.mlp_0". REQUIRES: at least one path, and equal patterns.
std::string CommonPath(const std::vector<absl::string_view>& paths);

// The same with these numbers instead of a star, so that two groups of one pattern have two names:
// "h.{3,4}.mlp_0", "h.{0-11}.mlp_0".
std::string NumberedPath(const std::vector<absl::string_view>& paths);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ANSWER_PATH_PATTERN_H_
