// Errors in the words of cobra.toml: whoever writes `inputs = [...]` there has no --input to
// correct.
#ifndef COBRA_CLIENT_CHECK_SUITE_WORDS_H_
#define COBRA_CLIENT_CHECK_SUITE_WORDS_H_

#include "absl/status/status.h"

namespace cobra::client {

// The same error with keys in place of the flags that it names: inputs = ["1x3x64x64"] for --input
// 1x3x64x64.
absl::Status InSuiteKeys(const absl::Status& error);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_CHECK_SUITE_WORDS_H_
