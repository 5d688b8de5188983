// Module paths that differ in numbers only: "blocks.0.mlp", "blocks.1.mlp".
#ifndef COBRA_CLIENT_ALIKE_PATHS_H_
#define COBRA_CLIENT_ALIKE_PATHS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::client {

// A star for each number: "h.3.mlp_0" -> "h.*.mlp_*". Alike paths have the same.
std::string PathPattern(absl::string_view path);

// A star for each number in which alike paths differ: "h.3.mlp_0", "h.4.mlp_0" -> "h.*.mlp_0".
// REQUIRES: there is one at least, and their patterns are equal.
std::string CommonPath(const std::vector<absl::string_view>& paths);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ALIKE_PATHS_H_
