// A model as the user names it on the command line or in a list.
#ifndef COBRA_CLIENT_INPUT_MODEL_ARGUMENTS_H_
#define COBRA_CLIENT_INPUT_MODEL_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/limits.h"

namespace cobra::client {

struct ModelArguments {
  std::string path;          // FILE_OR_DIR, or
  std::string architecture;  // SPACE:STRING
  std::string entry;
  std::string method = "forward";
  std::vector<std::string> inputs;
  std::vector<std::string> arguments;  // "name=EXPR"
  std::vector<std::string> libraries;
  // Multiplies the limits of reading, which are for untrusted models. This one is the user's own.
  double limits_times = 10;
  // Empty: that of each target's runtime; without a target the newest that is known.
  std::string torch_version;
  bool training = false;     // --mode train
  bool keep_values = false;  // of constants, in the graph
  int64_t cached_tokens = 0;
};

// Limits of reading it, `time` among them.
Limits LimitsOf(const ModelArguments& model, absl::Duration time);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_INPUT_MODEL_ARGUMENTS_H_
