// What `cobra-client compare` and `predict --baseline` print.
#ifndef COBRA_CLIENT_COMPARE_COMPARE_RENDER_H_
#define COBRA_CLIENT_COMPARE_COMPARE_RENDER_H_

#include <string>

#include "client/compare/compare.h"
#include "client/terminal/terminal.h"
#include "nlohmann/json.hpp"

namespace cobra::client {

// `top`: how many modules to list for each target.
std::string ComparisonText(const Comparison& comparison, int top, const TerminalStyle& style = {});
// The part of it about the modules of one target.
std::string ModulesText(const TargetChange& target, int top, const TerminalStyle& style = {});

// Cells of tables of changes: "+18.4 %", "+2.939", "6 -> 8", "6 x blocks.*.mlp.down".
std::string SignedPercent(double fraction);
std::string SignedMilliseconds(double us);
std::string CallsText(const SavedModule& before, const SavedModule& after);
std::string ModuleText(const ModuleChange& module);

// The complete comparison. Changes are fractions; units are part of the names.
nlohmann::ordered_json ComparisonJson(const Comparison& comparison);
nlohmann::ordered_json TargetChangeJson(const TargetChange& target);  // one of its targets

}  // namespace cobra::client

#endif  // COBRA_CLIENT_COMPARE_COMPARE_RENDER_H_
