// Calls that the HTTP listener makes in this process, on behalf of whoever sent a request. It says who that is in
// metadata that nobody else can forge: with them goes a key that this process made and tells nobody.
#ifndef COBRA_SERVER_FORWARDED_H_
#define COBRA_SERVER_FORWARDED_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "grpcpp/grpcpp.h"
#include "server/call_metadata.h"

namespace cobra::server {

struct HttpPeer {
  std::string address;                         // as grpc::ServerContext::peer() writes it: "ipv4:192.0.2.1:40000"
  std::vector<std::string> certificate_names;  // of a certificate that TLS has verified
};

// `as_report`: a Predict is answered with the document of a report (report_reply.h) in the place of its reply.
void AddForwarded(const HttpPeer& peer, bool as_report, grpc::ClientContext* context);
// The caller's address: that of the request, or of gRPC's own connection.
std::string PeerOf(const grpc::CallbackServerContext& context);
bool WantsReport(const grpc::CallbackServerContext& context);
// None unless the call is forwarded.
std::vector<absl::string_view> ForwardedCertificates(const Metadata& metadata);

}  // namespace cobra::server

#endif  // COBRA_SERVER_FORWARDED_H_
