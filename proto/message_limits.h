// What both ends of the API must agree on about the size of messages.
#ifndef COBRA_PROTO_MESSAGE_LIMITS_H_
#define COBRA_PROTO_MESSAGE_LIMITS_H_

namespace cobra::proto {

// Of one request: gRPC refuses larger ones before they are in memory, the client before they are sent. A graph of
// 20,000 calls has 8 MB; all of torchvision's source 1.5 MB. Weights inside an ONNX file are what does not fit.
constexpr int kMaxRequestBytes = 32 << 20;

}  // namespace cobra::proto

#endif  // COBRA_PROTO_MESSAGE_LIMITS_H_
