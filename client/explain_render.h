// What `cobra-client explain` prints.
#ifndef COBRA_CLIENT_EXPLAIN_RENDER_H_
#define COBRA_CLIENT_EXPLAIN_RENDER_H_

#include <string>

#include "client/explain.h"
#include "client/text_table.h"

namespace cobra::client {

enum class ExplainBy {
  kOverview,  // heading, the modules where most of it is, the largest calls, source lines, operators
  kLayer,     // every call, in order of execution
  kModule,    // every module
  kOp,
  kLine,
};

struct ExplainView {
  ExplainBy by = ExplainBy::kOverview;
  int top = 10;  // kinds of calls in the overview, and in JSON calls and kinds of them
  TerminalStyle style;
};

std::string ExplanationText(const Explanation& explanation, const ExplainView& view);
// Everything, whatever `view.by`; shares are fractions, units stand in the names.
std::string ExplanationJson(const Explanation& explanation, const ExplainView& view);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_EXPLAIN_RENDER_H_
