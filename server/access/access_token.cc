#include "server/access/access_token.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/bytes/hash.h"
#include "base/file/descriptor.h"
#include "base/status_macros.h"
#include "server/access/access.h"

namespace cobra::server {
namespace {

constexpr size_t kRandomBytes = 32;

absl::StatusOr<std::string> DrawToken() {
  std::string random(kRandomBytes, '\0');
  if (::getrandom(&random[0], random.size(), 0) != static_cast<ssize_t>(random.size()))
    return absl::ErrnoToStatus(errno, "getrandom");
  // A prefix by which programs that look for secrets find a token where it does not belong.
  return absl::StrCat("cobra_", absl::WebSafeBase64Escape(random));
}

}  // namespace

absl::Status WriteSecret(const std::string& path, const std::string& text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be created"));
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) || ::fsync(file.get()) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be written"));
  return absl::OkStatus();
}

absl::StatusOr<std::string> MakeToken(const TokenRequest& request) {
  COBRA_ASSIGN_OR_RETURN(const std::string token, DrawToken());
  std::string line = absl::StrCat("name=", request.name, " role=", request.role);
  if (!request.worker.empty()) absl::StrAppend(&line, " worker=", request.worker);
  if (!request.targets.empty()) absl::StrAppend(&line, " targets=", request.targets);
  absl::StrAppend(&line, " token_sha256=", Sha256Hex(token));
  const absl::StatusOr<AccessTable> table = AccessTable::Parse("the line", line);
  if (!table.ok()) return table.status();
  if (absl::Status written = WriteSecret(request.token_file, token + "\n"); !written.ok())
    return absl::Status(written.code(), absl::StrCat("--out ", written.message()));
  return line;
}

}  // namespace cobra::server
