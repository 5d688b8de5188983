// What `cobra-client explain` prints.
#ifndef COBRA_CLIENT_EXPLAIN_EXPLAIN_RENDER_H_
#define COBRA_CLIENT_EXPLAIN_EXPLAIN_RENDER_H_

#include <string>

#include "client/explain/explain.h"
#include "client/terminal/text_table.h"

namespace cobra::client {

enum class ExplainBy {
  kOverview,  // heading, the most expensive modules, the largest calls, source lines, operators
  kLayer,     // every call, in order of execution
  kModule,    // every module
  kOp,
  kLine,
};

struct ExplainView {
  ExplainBy by = ExplainBy::kOverview;
  int top = 10;  // groups of calls in the overview; in JSON calls and groups
  TerminalStyle style;
  std::string lacks_memory;  // "needs 30.1 GB of 24 GB": of a network that does not fit into the target's memory
};

std::string ExplanationText(const Explanation& explanation, const ExplainView& view);
// All lists, whatever `view.by`. Shares are fractions; units are part of the names.
std::string ExplanationJson(const Explanation& explanation, const ExplainView& view);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_EXPLAIN_EXPLAIN_RENDER_H_
