// What an error of reading says about the request. The frontends write cobra-client's flags;
// whoever uses the API knows fields.
#ifndef COBRA_PROTO_REQUEST_WORDS_H_
#define COBRA_PROTO_REQUEST_WORDS_H_

#include "absl/status/status.h"

namespace cobra::proto {

// "--input" becomes "`inputs`", and so on. An error without a Diagnostic stays as it is.
absl::Status InFieldNames(const absl::Status& error);
// And back.
absl::Status InFlagNames(const absl::Status& error);

}  // namespace cobra::proto

#endif  // COBRA_PROTO_REQUEST_WORDS_H_
