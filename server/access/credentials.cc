// gRPC's C++ API of 1.51 has two kinds of TLS credentials. SslServerCredentials reads its files
// once. TlsServerCredentials watches them, but drops what it has when a new certificate and key do
// not fit together, as they do not while one of them is written: every handshake fails until then.
// So this file uses the C API, which asks a callback for new certificates at each connection and
// keeps the old ones if it has none.
#include "server/access/credentials.h"

#include <grpc/grpc_security.h>

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/file/pem.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "server/access/forwarded.h"
#include "server/access/watched_files.h"
#include "server/lanes/call_metadata.h"
#include "server/lanes/request_record.h"

namespace cobra::server {
namespace {

absl::string_view View(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)), GRPC_SLICE_LENGTH(slice)};
}

// The certificates of a server. gRPC calls Fetch() when it starts to listen and at each connection.
class CertificateFiles {
 public:
  explicit CertificateFiles(const TlsFiles& files) : files_(files), watched_({files.cert, files.key, files.ca}) {}

  absl::Status Read() {
    absl::MutexLock lock(&mutex_);
    return ReadLocked();
  }

  grpc_ssl_client_certificate_request_type request_type() const {
    // Requested, not required: a caller may have a token instead.
    return files_.ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                             : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
  }

  static grpc_ssl_certificate_config_reload_status Fetch(void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<CertificateFiles*>(self)->Fetch(config);
  }

 private:
  grpc_ssl_certificate_config_reload_status Fetch(grpc_ssl_server_certificate_config** config) {
    absl::MutexLock lock(&mutex_);
    if (watched_.Changed()) {
      const absl::Status status = ReadLocked();
      if (status.ok()) LogInfo(absl::StrCat(files_.cert, ": read again, with its key"));
      if (!status.ok()) LogError(absl::StrCat(status.message(), "; the certificates read before continue to serve"));
    }
    if (!std::exchange(is_new_, false)) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    grpc_ssl_pem_key_cert_pair pair = {pair_.key.c_str(), pair_.certificates.c_str()};
    // gRPC aborts without an authority, also where it never asks a client for a certificate.
    const std::string& authority = files_.ca.empty() ? pair_.certificates : authority_;
    *config = grpc_ssl_server_certificate_config_create(authority.c_str(), &pair, 1);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  absl::Status ReadLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    COBRA_ASSIGN_OR_RETURN(KeyPair pair, ReadKeyPair(files_.cert, files_.key));
    if (!files_.ca.empty()) {
      COBRA_ASSIGN_OR_RETURN(authority_, ReadCertificates(files_.ca));
    }
    pair_ = std::move(pair);
    is_new_ = true;
    return absl::OkStatus();
  }

  const TlsFiles files_;
  absl::Mutex mutex_;
  WatchedFiles watched_ ABSL_GUARDED_BY(mutex_);
  KeyPair pair_ ABSL_GUARDED_BY(mutex_);
  std::string authority_ ABSL_GUARDED_BY(mutex_);
  bool is_new_ ABSL_GUARDED_BY(mutex_) = false;
};

std::vector<absl::string_view> CertificateNames(const grpc_auth_context* context) {
  std::vector<absl::string_view> names;
  for (const char* property : {GRPC_X509_CN_PROPERTY_NAME, GRPC_X509_SAN_PROPERTY_NAME}) {
    grpc_auth_property_iterator each = grpc_auth_context_find_properties_by_name(context, property);
    while (const grpc_auth_property* found = grpc_auth_property_iterator_next(&each))
      names.emplace_back(found->value, found->value_length);
  }
  return names;
}

// The row of "/cobra.v1.Cobra/Predict"; null if there is none.
const RpcInfo* RpcOfPath(absl::string_view path) {
  for (const RpcInfo& rpc : kRpcs) {
    absl::string_view rest = path;
    if (absl::ConsumePrefix(&rest, "/") && absl::ConsumePrefix(&rest, rpc.service) && absl::ConsumePrefix(&rest, "/") &&
        rest == rpc.method)
      return &rpc;
  }
  return nullptr;
}

// What guards every method of the server, also those that gRPC brings along.
class Gate {
 public:
  Gate(Access* access, Metrics* metrics) : access_(access), metrics_(metrics) {}

  // gRPC's callback: `self` is a Gate.
  static void Process(void* self, grpc_auth_context* context, const grpc_metadata* metadata, size_t count,
                      grpc_process_auth_metadata_done_cb done, void* user_data) {
    const absl::Status status = static_cast<Gate*>(self)->Check(context, metadata, count);
    // The numbers of absl::StatusCode and grpc_status_code are the same by design.
    done(user_data, nullptr, 0, nullptr, 0, static_cast<grpc_status_code>(status.code()),
         status.ok() ? nullptr : std::string(status.message()).c_str());
  }

 private:
  absl::Status Check(const grpc_auth_context* context, const grpc_metadata* metadata, size_t count) const {
    CallerProof proof;
    absl::string_view path;
    for (size_t i = 0; i < count; ++i) {
      if (View(metadata[i].key) == ":path") path = View(metadata[i].value);
      if (View(metadata[i].key) == "authorization") proof.authorization.push_back(View(metadata[i].value));
    }
    if (absl::StartsWith(path, "/grpc.health.v1.Health/")) return absl::OkStatus();
    proof.certificate_names = CertificateNames(context);
    const RpcInfo* rpc = RpcOfPath(path);
    if (rpc == nullptr) return access_->Admit(Role::kAnyRole, "this method", proof).status();
    absl::Status status = access_->Admit(rpc->role, rpc->method, proof).status();
    if (!status.ok()) RequestRecord(rpc->rpc, metrics_, /*context=*/nullptr).Done(status);
    return status;
  }

  Access* const access_;
  Metrics* const metrics_;
};

class Credentials final : public grpc::ServerCredentials {
 public:
  Credentials(std::unique_ptr<CertificateFiles> files, std::unique_ptr<Gate> gate)
      : files_(std::move(files)), gate_(std::move(gate)) {
    if (files_ == nullptr) {
      credentials_ = grpc_insecure_server_credentials_create();
    } else {
      credentials_ = grpc_ssl_server_credentials_create_with_options(
          grpc_ssl_server_credentials_create_options_using_config_fetcher(files_->request_type(),
                                                                          &CertificateFiles::Fetch, files_.get()));
    }
    if (gate_ != nullptr) {
      grpc_server_credentials_set_auth_metadata_processor(credentials_,
                                                          {&Gate::Process, /*destroy=*/[](void*) {}, gate_.get()});
    }
  }
  ~Credentials() override { grpc_server_credentials_release(credentials_); }

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  const std::unique_ptr<CertificateFiles> files_;
  const std::unique_ptr<Gate> gate_;
  grpc_server_credentials* credentials_ = nullptr;
};

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(const TlsFiles& tls, Access* access,
                                                                               Metrics* metrics) {
  std::unique_ptr<CertificateFiles> files;
  if (!tls.cert.empty()) {
    files = std::make_unique<CertificateFiles>(tls);
    COBRA_RETURN_IF_ERROR(files->Read());
  }
  std::unique_ptr<Gate> gate = access == nullptr ? nullptr : std::make_unique<Gate>(access, metrics);
  return std::make_shared<Credentials>(std::move(files), std::move(gate));
}

absl::StatusOr<std::shared_ptr<const Principal>> AdmitCall(Access* access, Rpc rpc,
                                                           grpc::CallbackServerContext* context) {
  if (access == nullptr) return nullptr;
  const std::unique_ptr<grpc_auth_context, decltype(&grpc_auth_context_release)> peer(
      grpc_call_auth_context(context->c_call()), &grpc_auth_context_release);
  CallerProof proof;
  proof.certificate_names = CertificateNames(peer.get());
  if (proof.certificate_names.empty()) proof.certificate_names = ForwardedCertificates(context->client_metadata());
  const auto given = context->client_metadata().equal_range("authorization");
  for (auto header = given.first; header != given.second; ++header)
    proof.authorization.emplace_back(header->second.data(), header->second.size());
  return access->Admit(InfoOf(rpc).role, MethodName(rpc), proof);
}

absl::Status AdmitCall(Access* access, Rpc rpc, grpc::CallbackServerContext* context, CallContext* call) {
  COBRA_ASSIGN_OR_RETURN(call->principal, AdmitCall(access, rpc, context));
  COBRA_ASSIGN_OR_RETURN(call->labels, LabelsOf(context->client_metadata()));
  if (InfoOf(rpc).lane == Lane::kFits) {
    COBRA_ASSIGN_OR_RETURN(call->request_id, RequestIdOf(context->client_metadata()));
  }
  return absl::OkStatus();
}

}  // namespace cobra::server
