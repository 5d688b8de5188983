#include "server/access/forwarded.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "proto/label.h"
#include "proto/request_id.h"

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

bool IsPrintable(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

absl::Status AddCredentials(const http::Head& head, const HttpPeer& peer, const ServerLimits& limits,
                            MetadataList* metadata) {
  const std::vector<absl::string_view> tokens = head.Values("authorization");
  if (tokens.size() > 1) return absl::UnauthenticatedError("authorization: is given twice");
  for (const absl::string_view token : tokens) {
    if (token.size() > static_cast<size_t>(limits.max_authorization_bytes))
      return absl::UnauthenticatedError(
          LimitMessage("authorization", static_cast<int64_t>(token.size()), limits.max_authorization_bytes, "bytes"));
    if (!IsPrintable(token)) return UsageError("authorization: has characters that are not printable ASCII");
    metadata->emplace_back("authorization", std::string(token));
  }
  const auto names = static_cast<int64_t>(peer.certificate_names.size());
  if (names > limits.max_certificate_names)
    return absl::UnauthenticatedError(
        LimitMessage("the client certificate", names, limits.max_certificate_names, "names"));
  for (const std::string& name : peer.certificate_names) metadata->emplace_back(kCertificateName, name);
  return absl::OkStatus();
}

// Those that the call would refuse are refused here.
absl::Status AddLabels(const http::Head& head, MetadataList* metadata) {
  MetadataList labels;
  for (const auto& [name, value] : head.headers) {
    absl::string_view label = name;
    if (!absl::ConsumePrefix(&label, proto::kLabelPrefix)) continue;
    COBRA_RETURN_IF_ERROR(proto::CheckLabel(label, value));
    labels.push_back(proto::LabelMetadata(label, value));
  }
  Metadata as_received;
  for (const auto& [name, value] : labels) as_received.emplace(name, value);
  COBRA_RETURN_IF_ERROR(LabelsOf(as_received).status());
  metadata->insert(metadata->end(), std::make_move_iterator(labels.begin()), std::make_move_iterator(labels.end()));
  return absl::OkStatus();
}

absl::Status AddRequestId(const http::Head& head, MetadataList* metadata) {
  const std::vector<absl::string_view> given = head.Values(proto::kRequestIdName);
  if (given.size() > 1) return UsageError(absl::StrCat(proto::kRequestIdName, ": is given twice"));
  for (const absl::string_view id : given) {
    COBRA_RETURN_IF_ERROR(proto::CheckRequestId(id));
    metadata->emplace_back(proto::kRequestIdName, std::string(id));
  }
  return absl::OkStatus();
}

absl::Status AddTrace(const http::Head& head, MetadataList* metadata) {
  const std::vector<absl::string_view> given = head.Values(kTraceName);
  if (!std::all_of(given.begin(), given.end(), IsPrintable))
    return UsageError(absl::StrCat(kTraceName, ": has characters that are not printable ASCII"));
  if (given.size() != 1) return absl::OkStatus();  // of several none counts
  if (const std::optional<TraceContext> trace = TraceOf(given[0]))
    metadata->emplace_back(kTraceName, absl::StrCat("00-", trace->trace_id, "-", trace->parent_id, "-00"));
  return absl::OkStatus();
}

}  // namespace

int64_t MetadataBytes(const MetadataList& metadata) {
  constexpr size_t kOfEach = 32;  // RFC 7540, section 6.5.2
  size_t bytes = 0;
  for (const auto& [name, value] : metadata) {
    const size_t carried = absl::EndsWith(name, "-bin") ? (value.size() + 2) / 3 * 4 : value.size();  // in base64
    bytes += name.size() + carried + kOfEach;
  }
  return static_cast<int64_t>(bytes);
}

absl::StatusOr<MetadataList> ForwardedMetadata(const http::Head& head, const HttpPeer& peer,
                                               const ForwardOptions& options, const ServerLimits& limits) {
  MetadataList metadata = {{kKeyName, Key()}, {kPeerName, peer.address}};
  if (options.as_report) metadata.emplace_back(kReportName, "1");
  if (options.with_credentials) COBRA_RETURN_IF_ERROR(AddCredentials(head, peer, limits, &metadata));
  COBRA_RETURN_IF_ERROR(AddLabels(head, &metadata));
  COBRA_RETURN_IF_ERROR(AddRequestId(head, &metadata));
  COBRA_RETURN_IF_ERROR(AddTrace(head, &metadata));
  const int64_t bytes = MetadataBytes(metadata);
  if (bytes <= limits.max_forwarded_bytes) return metadata;
  return UsageError(LimitMessage("the headers that go on to the call", bytes, limits.max_forwarded_bytes, "bytes"),
                    "give fewer or shorter labels");
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
