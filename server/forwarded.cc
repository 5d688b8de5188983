#include "server/forwarded.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <cstdlib>

#include "absl/strings/escaping.h"

namespace cobra::server {
namespace {

constexpr char kKeyName[] = "cobra-http-key";
constexpr char kPeerName[] = "cobra-http-peer";
constexpr char kReportName[] = "cobra-http-report";
constexpr char kCertificateName[] = "cobra-http-certificate-bin";  // gRPC carries any bytes under such a name

const std::string& Key() {
  static const auto* const key = [] {
    unsigned char bytes[32];
    if (RAND_bytes(bytes, sizeof(bytes)) != 1) std::abort();  // without randomness there is no TLS either
    return new std::string(
        absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(bytes), sizeof(bytes))));
  }();
  return *key;
}

bool IsForwarded(const Metadata& metadata) {
  if (metadata.count(kKeyName) != 1) return false;
  const grpc::string_ref given = metadata.find(kKeyName)->second;
  return given.size() == Key().size() && CRYPTO_memcmp(given.data(), Key().data(), Key().size()) == 0;
}

}  // namespace

void AddForwarded(const HttpPeer& peer, bool as_report, grpc::ClientContext* context) {
  context->AddMetadata(kKeyName, Key());
  if (as_report) context->AddMetadata(kReportName, "1");
  context->AddMetadata(kPeerName, peer.address);
  for (const std::string& name : peer.certificate_names) context->AddMetadata(kCertificateName, name);
}

std::string PeerOf(const grpc::CallbackServerContext& context) {
  const Metadata& metadata = context.client_metadata();
  const auto peer = metadata.find(kPeerName);
  if (peer == metadata.end() || !IsForwarded(metadata)) return context.peer();
  return std::string(peer->second.data(), peer->second.size());
}

bool WantsReport(const grpc::CallbackServerContext& context) {
  const Metadata& metadata = context.client_metadata();
  return metadata.count(kReportName) > 0 && IsForwarded(metadata);
}

std::vector<absl::string_view> ForwardedCertificates(const Metadata& metadata) {
  std::vector<absl::string_view> names;
  if (!IsForwarded(metadata)) return names;
  const auto [begin, end] = metadata.equal_range(kCertificateName);
  for (auto name = begin; name != end; ++name) names.emplace_back(name->second.data(), name->second.size());
  return names;
}

}  // namespace cobra::server
