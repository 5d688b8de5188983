// A hash of what a graph's bytes say of the network only, as a key of caches.
#ifndef COBRA_PROTO_NETWORK_HASH_H_
#define COBRA_PROTO_NETWORK_HASH_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "base/bytes/hash.h"
#include "base/limits.h"

namespace cobra::proto {

// Keyed (base/bytes/keyed_hash.h), of the bytes of a cobra.v1.Graph without what no prediction
// depends on: names of tensors, second names of parameters, source files, and where calls come
// from. That part is checked as GraphFromWire() checks it (graph_proto.h); nothing is returned if
// it would be refused, or the bytes are not a message. Of two graphs with the same hash,
// GraphFromWire() therefore refuses both, or reads both to the same network. The same network
// written another way has another hash. Much faster than reading the graph: no shape is inferred.
std::optional<Hash128> NetworkHash(absl::string_view graph_bytes, const GraphLimits& limits);

}  // namespace cobra::proto

#endif  // COBRA_PROTO_NETWORK_HASH_H_
