// Limits of message sizes that both ends of the API share.
#ifndef COBRA_PROTO_MESSAGE_LIMITS_H_
#define COBRA_PROTO_MESSAGE_LIMITS_H_

namespace cobra::proto {

// Size of one request. The client does not send larger ones, and gRPC rejects them before they are
// in memory. A graph of 20,000 calls has 8 MB; all of torchvision's source 1.5 MB. Only ONNX files
// that contain weights exceed it.
constexpr int kMaxRequestBytes = 32 << 20;

}  // namespace cobra::proto

#endif  // COBRA_PROTO_MESSAGE_LIMITS_H_
