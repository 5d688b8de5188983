// A model as the user names it on the command line or in a list.
#ifndef COBRA_CLIENT_INPUT_MODEL_ARGUMENTS_H_
#define COBRA_CLIENT_INPUT_MODEL_ARGUMENTS_H_

#include "absl/time/time.h"
#include "base/limits.h"
#include "report/question.h"

namespace cobra::client {

struct ModelArguments : report::AskedModel {
  // Multiplies the limits of reading, which are for untrusted models. This one is the user's own.
  double limits_times = 10;
  bool keep_values = false;  // of constants, in the graph
};

// Limits of reading it, `time` among them.
Limits LimitsOf(const ModelArguments& model, absl::Duration time);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_INPUT_MODEL_ARGUMENTS_H_
