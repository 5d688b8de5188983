// One step of a decoder after others: the keys and values that it would have kept of earlier
// tokens.
#ifndef COBRA_FRONTEND_PYTHON_CACHED_TOKENS_H_
#define COBRA_FRONTEND_PYTHON_CACHED_TOKENS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "frontend/python/input_spec.h"
#include "frontend/python/runtime/interpreter/interpreter.h"

namespace cobra::python {

inline constexpr int64_t kMaxCachedTokens = int64_t{1} << 24;

// The `past_key_values` that the model itself gives after `tokens` tokens: an object of its own
// kind. It is called as in the request, with so many tokens in the input that is stepped through
// (the first one whose name begins with "decoder_", otherwise the first one), and without masks and
// positions, which belong to the step. That call is not recorded. Each tensor of the object becomes
// an input of the network: past_key_values.0, past_key_values.1, ... REQUIRES: nothing is being
// recorded.
Result<Value> CacheOfTokens(Interpreter& interp, ModuleObject* module, Value model, absl::Span<const InputSpec> inputs,
                            int64_t tokens);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_CACHED_TOKENS_H_
