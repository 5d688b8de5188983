#include "server/transport/http_tls.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file/pem.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace cobra::server {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using AlternativeNames = std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)>;

Bio Open(const std::string& pem) { return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free}; }

Certificate NextCertificate(BIO* pem) { return {PEM_read_bio_X509(pem, nullptr, nullptr, nullptr), &X509_free}; }

absl::Status Refused(const std::string& path) {
  ERR_clear_error();  // OpenSSL's queue of this thread is gRPC's too
  return absl::InvalidArgumentError(absl::StrCat(path, ": TLS does not take it"));
}

// The first certificate is the server's, the others are its chain.
bool UseCertificates(const std::string& pem, SSL_CTX* context) {
  const Bio bio = Open(pem);
  const Certificate own = NextCertificate(bio.get());
  if (own == nullptr || SSL_CTX_use_certificate(context, own.get()) != 1) return false;
  while (Certificate next = NextCertificate(bio.get())) {
    if (SSL_CTX_add0_chain_cert(context, next.get()) != 1) return false;
    (void)next.release();
  }
  ERR_clear_error();  // the end of the file is an error to OpenSSL
  return true;
}

bool UseKey(const std::string& pem, SSL_CTX* context) {
  const Bio bio = Open(pem);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  return key != nullptr && SSL_CTX_use_PrivateKey(context, key.get()) == 1;
}

// Asked for, not required: a caller may have a token instead.
bool AskForCertificates(const std::string& authorities, SSL_CTX* context) {
  const Bio bio = Open(authorities);
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  int count = 0;
  while (const Certificate authority = NextCertificate(bio.get())) {
    if (X509_STORE_add_cert(store, authority.get()) != 1 || SSL_CTX_add_client_CA(context, authority.get()) != 1)
      return false;
    ++count;
  }
  ERR_clear_error();
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  return count > 0;
}

std::string StringOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string AddressText(const std::string& bytes) {
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof(text));
  return text;
}

void AddAlternativeName(const GENERAL_NAME& name, std::vector<std::string>* names) {
  if (name.type == GEN_DNS) names->push_back(StringOf(name.d.dNSName));
  if (name.type == GEN_EMAIL) names->push_back(StringOf(name.d.rfc822Name));
  if (name.type == GEN_URI) names->push_back(StringOf(name.d.uniformResourceIdentifier));
  if (name.type == GEN_IPADD) {
    const std::string bytes = StringOf(name.d.iPAddress);
    if (bytes.size() == 4 || bytes.size() == 16) names->push_back(AddressText(bytes));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpTls>> HttpTls::Open(const TlsFiles& files) {
  std::unique_ptr<HttpTls> tls(new HttpTls(files));
  COBRA_ASSIGN_OR_RETURN(std::shared_ptr<SSL_CTX> context, tls->Read());
  absl::MutexLock lock(&tls->mutex_);
  tls->context_ = std::move(context);
  return tls;
}

absl::StatusOr<std::shared_ptr<SSL_CTX>> HttpTls::Read() const {
  COBRA_ASSIGN_OR_RETURN(const KeyPair pair, ReadKeyPair(files_.cert, files_.key));
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  if (context == nullptr) return absl::InternalError("OpenSSL is out of memory");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);  // an idle connection needs none
  // Clients come with certificates; OpenSSL resumes a session of such a client only with a session
  // id context.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET);
  if (!UseCertificates(pair.certificates, context.get())) return Refused(files_.cert);
  if (!UseKey(pair.key, context.get())) return Refused(files_.key);
  if (!files_.ca.empty()) {
    COBRA_ASSIGN_OR_RETURN(const std::string authorities, ReadCertificates(files_.ca));
    if (!AskForCertificates(authorities, context.get())) return Refused(files_.ca);
  }
  return context;
}

std::shared_ptr<SSL_CTX> HttpTls::Context() {
  absl::MutexLock lock(&mutex_);
  if (watched_.Changed()) {
    absl::StatusOr<std::shared_ptr<SSL_CTX>> context = Read();
    if (context.ok()) {
      LogInfo(absl::StrCat(files_.cert, ": read again, with its key, for HTTP"));
      context_ = *std::move(context);
    } else {
      LogError(absl::StrCat(context.status().message(), "; the certificates read before continue to serve HTTP"));
    }
  }
  return context_;
}

std::vector<std::string> PeerCertificateNames(const SSL* connection) {
  std::vector<std::string> names;
  const Certificate certificate(SSL_get1_peer_certificate(connection), &X509_free);
  if (certificate == nullptr || SSL_get_verify_result(connection) != X509_V_OK) return names;
  X509_NAME* const subject = X509_get_subject_name(certificate.get());
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at >= 0) names.push_back(StringOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
  const AlternativeNames alternatives(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)),
      &GENERAL_NAMES_free);
  for (int i = 0; i < sk_GENERAL_NAME_num(alternatives.get()); ++i)
    AddAlternativeName(*sk_GENERAL_NAME_value(alternatives.get(), i), &names);
  return names;
}

}  // namespace cobra::server
