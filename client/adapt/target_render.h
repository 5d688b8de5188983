// Targets as text for people and as JSON for programs.
#ifndef COBRA_CLIENT_ADAPT_TARGET_RENDER_H_
#define COBRA_CLIENT_ADAPT_TARGET_RENDER_H_

#include <string>

#include "client/terminal/terminal.h"
#include "cobra/v1/cobra.pb.h"
#include "nlohmann/json_fwd.hpp"

namespace cobra::client {

std::string TargetsTable(const v1::ListTargetsResponse& response, const TerminalStyle& style = {});

std::string TargetsJson(const v1::ListTargetsResponse& response);

nlohmann::json TargetJson(const v1::Target& target);
// "; version 7 of 2026-11-20T08:00:00Z, 2 earlier"; empty without versions.
std::string VersionText(const v1::Target& target);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ADAPT_TARGET_RENDER_H_
