// One of the requests that a call of PredictBatch or PredictStream carries, from its bytes to those
// of its result.
#ifndef COBRA_SERVER_PREDICT_PREDICT_ITEM_H_
#define COBRA_SERVER_PREDICT_PREDICT_ITEM_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/bytes/wire_format.h"
#include "server/lanes/call_context.h"
#include "server/lanes/held_bytes.h"
#include "server/lanes/metrics.h"
#include "server/lanes/rpcs.h"
#include "server/predict/pipeline.h"

namespace cobra::server {

// The bytes of the PredictResponse, from a cache where one knows it. `call.request` is the hash of
// `request`. Takes as long as it takes: for threads of the pool.
absl::StatusOr<std::string> AnswerItem(absl::string_view request, int64_t max_parsed_bytes, const CallContext& call,
                                       Pipeline* pipeline);

// The numbers of a result's fields, of which one is set.
struct ResultFields {
  int response = 0, error = 0;
};
// Whose item it is.
struct ItemCaller {
  Rpc rpc;
  const std::string& name;
  HeldBytes* replies;
  Metrics* metrics;
};
// Writes the reply, which the caller then holds until the result is destroyed; without room for it,
// that error. Errors are counted.
HeldBytes::Part WriteResult(const absl::StatusOr<std::string>& reply, const ItemCaller& caller,
                            const ResultFields& fields, WireWriter* out);

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_PREDICT_ITEM_H_
