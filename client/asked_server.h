// Which server the questions without --server go to: the one that listens at the default address,
// otherwise the user's own. A user who has both sees other targets and another history when one
// takes the other's place, so that is reported, once for each change.
#ifndef COBRA_CLIENT_ASKED_SERVER_H_
#define COBRA_CLIENT_ASKED_SERVER_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cobra::client {

enum class AskedServer { kDefault, kOwn };

// The store of the user's own server, if it has ever run; empty otherwise.
std::string OwnStore();

// Called when that server is asked; `address` is the default one. What was asked last is kept in
// `asked-server` in the user's state folder. Says nothing to a user who has no server of their own,
// nor after BeQuiet().
void ReportServerChange(AskedServer server, absl::string_view address);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ASKED_SERVER_H_
