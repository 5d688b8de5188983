// What `cobra-client compare` and `predict --baseline` print.
#ifndef COBRA_CLIENT_COMPARE_RENDER_H_
#define COBRA_CLIENT_COMPARE_RENDER_H_

#include <string>

#include "client/compare.h"
#include "client/terminal.h"
#include "nlohmann/json.hpp"

namespace cobra::client {

// `top`: how many modules to list for each target.
std::string ComparisonText(const Comparison& comparison, int top, const TerminalStyle& style = {});
// The complete comparison. Changes are fractions; units are part of the names.
nlohmann::ordered_json ComparisonJson(const Comparison& comparison);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_COMPARE_RENDER_H_
