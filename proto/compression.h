// No receiver of ours takes compressed messages. gRPC 1.51 inflates them before it looks at their
// size: a megabyte becomes a gigabyte. A caller that compresses is answered with UNIMPLEMENTED, and
// with the names of what we take ("identity"), as gRPC's specification of compression has it.
#ifndef COBRA_PROTO_COMPRESSION_H_
#define COBRA_PROTO_COMPRESSION_H_

#include <grpc/compression.h>
#include <grpc/impl/codegen/grpc_types.h>

namespace cobra::proto {

// Calls `set(name, value)` for each channel argument that a server or a channel needs.
template <typename Set>
void RefuseCompression(const Set& set) {
  // Bits by grpc_compression_algorithm: only no compression.
  set(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1 << GRPC_COMPRESS_NONE);
  // A client learns how a reply is compressed while it takes the reply; so nothing in it must be
  // able to inflate.
  set(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
}

}  // namespace cobra::proto

#endif  // COBRA_PROTO_COMPRESSION_H_
