// Calls that the HTTP listener makes in this process, on behalf of whoever sent a request. It says
// who that is in metadata that nobody else can forge: with them goes a key that this process made
// and tells nobody.
#ifndef COBRA_SERVER_ACCESS_FORWARDED_H_
#define COBRA_SERVER_ACCESS_FORWARDED_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/grpcpp.h"
#include "server/http/message.h"
#include "server/lanes/call_metadata.h"
#include "server/lanes/limits.h"

namespace cobra::server {

struct HttpPeer {
  std::string address;                         // as grpc::ServerContext::peer() writes it: "ipv4:192.0.2.1:40000"
  std::vector<std::string> certificate_names;  // of a certificate that TLS has verified
};

using MetadataList = std::vector<std::pair<std::string, std::string>>;
struct ForwardOptions {
  bool with_credentials = false;  // access control is on: the token and the certificate's names go on, too
  bool as_report =
      false;  // a Predict is answered with the document of a report (predict/report_reply.h), not with its reply
};
// The metadata of the call that a request becomes: who sends it, its labels, its id, its trace.
// Calls of all callers share connections (transport/own_channels.h); gRPC ends one over metadata
// that are too large, and the process over some that are not printable. So nothing goes on as it
// came: labels and trace are read and written again, and the whole is bounded.
// Refused otherwise, before anything is made of the request: Unauthenticated for credentials, a
// Diagnostic for the rest. A trace that is not valid is left out.
absl::StatusOr<MetadataList> ForwardedMetadata(const http::Head& head, const HttpPeer& peer,
                                               const ForwardOptions& options, const ServerLimits& limits);
// As gRPC counts them, at most.
int64_t MetadataBytes(const MetadataList& metadata);
// The caller's address: that of the request, or of gRPC's own connection.
std::string PeerOf(const grpc::CallbackServerContext& context);
bool WantsReport(const grpc::CallbackServerContext& context);
// None unless the call is forwarded.
std::vector<absl::string_view> ForwardedCertificates(const Metadata& metadata);

}  // namespace cobra::server

#endif  // COBRA_SERVER_ACCESS_FORWARDED_H_
