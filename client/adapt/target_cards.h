// What each target was trained on, and its measured errors, as a document.
#ifndef COBRA_CLIENT_ADAPT_TARGET_CARDS_H_
#define COBRA_CLIENT_ADAPT_TARGET_CARDS_H_

#include <string>

#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

// Markdown: how to read it; then a heading, what it is and a table a target, in their order.
// Calibrated ones are left out, they are one server's own.
std::string TargetCards(const v1::ListTargetsResponse& response);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ADAPT_TARGET_CARDS_H_
