// Cuts the text of a JSON object without reading it: a graph inside a record goes to the reader of
// graphs as it was written, and is not parsed twice.
#ifndef COBRA_STORE_JSON_CUT_H_
#define COBRA_STORE_JSON_CUT_H_

#include "absl/strings/string_view.h"

namespace cobra::store {

// The text of the object's member `name`, without white space around it; empty if the text is not
// an object, has no such member, or several. The name is found only where it is written without
// escapes. The syntax is not checked beyond what is needed to find the end of each member.
absl::string_view MemberText(absl::string_view object, absl::string_view name);

}  // namespace cobra::store

#endif  // COBRA_STORE_JSON_CUT_H_
