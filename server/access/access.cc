#include "server/access/access.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/bytes/hash.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/names.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/text/hex_digits.h"

namespace cobra::server {
namespace {

constexpr int64_t kMaxAccessFileBytes = int64_t{1} << 20;

// Words of one line: "name=ci role=ask token_sha256=...".
struct Words {
  absl::string_view name, role, token_sha256, certificate, worker, targets;
};

struct Field {
  absl::string_view key;
  absl::string_view Words::*value;
};
constexpr Field kFields[] = {{"name", &Words::name},
                             {"role", &Words::role},
                             {"token_sha256", &Words::token_sha256},
                             {"certificate", &Words::certificate},
                             {"worker", &Words::worker},
                             {"targets", &Words::targets}};

absl::StatusOr<Words> SplitLine(absl::string_view line) {
  Words words;
  for (const absl::string_view word : absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair = absl::StrSplit(word, absl::MaxSplits('=', 1));
    const auto* field = std::find_if(std::begin(kFields), std::end(kFields),
                                     [&pair](const Field& candidate) { return candidate.key == pair.first; });
    if (field == std::end(kFields)) {
      return absl::InvalidArgumentError(
          "has a word other than name=, role=, token_sha256=, certificate=, worker=, targets=");
    }
    if (!(words.*field->value).empty()) return absl::InvalidArgumentError(absl::StrCat("has ", field->key, "= twice"));
    if (pair.second.empty()) return absl::InvalidArgumentError(absl::StrCat(field->key, "= is empty"));
    words.*field->value = pair.second;
  }
  return words;
}

absl::StatusOr<Role> RoleFromName(absl::string_view name) {
  for (const Role role : {Role::kAsk, Role::kMeasure, Role::kAdmin})
    if (name == RoleName(role)) return role;
  return absl::InvalidArgumentError("role= is ask, measure or admin");
}

absl::Status CheckBinding(const Principal& principal) {
  if (principal.role != Role::kMeasure) {
    if (principal.worker.empty() && principal.targets.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError("worker= and targets= belong to role=measure");
  }
  if (principal.worker.empty() || principal.targets.empty())
    return absl::InvalidArgumentError("role=measure needs worker=NAME and targets=NAME[,NAME]");
  COBRA_RETURN_IF_ERROR(CheckApiName("worker", principal.worker));
  for (const std::string& target : principal.targets) COBRA_RETURN_IF_ERROR(CheckApiName("target", target));
  return absl::OkStatus();
}

bool IsSame(const Principal& a, const Principal& b) {
  return a.role == b.role && a.worker == b.worker && a.targets == b.targets;
}

}  // namespace

absl::string_view RoleName(Role role) {
  switch (role) {
    case Role::kAnyRole: return "any role";
    case Role::kAsk: return "ask";
    case Role::kMeasure: return "measure";
    case Role::kAdmin: return "admin";
  }
  return "";
}

absl::Status CheckWorker(const Principal* principal, absl::string_view worker) {
  if (principal == nullptr || principal->role != Role::kMeasure || principal->worker == worker) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("worker ", worker, ": ", principal->name, " may be the worker ", principal->worker, " only"));
}

absl::Status CheckTarget(const Principal* principal, absl::string_view target) {
  if (principal == nullptr || principal->role != Role::kMeasure) return absl::OkStatus();
  const std::vector<std::string>& targets = principal->targets;
  if (std::find(targets.begin(), targets.end(), target) != targets.end()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("target ", target, ": ", principal->name, " may touch ", absl::StrJoin(targets, ", "), " only"));
}

absl::StatusOr<AccessTable::Line> AccessTable::ParseLine(absl::string_view text) {
  COBRA_ASSIGN_OR_RETURN(const Words words, SplitLine(text));
  COBRA_RETURN_IF_ERROR(CheckApiName("name", words.name));
  Principal principal;
  principal.name = std::string(words.name);
  COBRA_ASSIGN_OR_RETURN(principal.role, RoleFromName(words.role));
  principal.worker = std::string(words.worker);
  if (!words.targets.empty()) principal.targets = absl::StrSplit(words.targets, ',');
  COBRA_RETURN_IF_ERROR(CheckBinding(principal));
  if (words.token_sha256.empty() == words.certificate.empty())
    return absl::InvalidArgumentError("needs one of token_sha256= and certificate=");
  if (!words.token_sha256.empty() && !IsHexDigits(words.token_sha256, kSha256Digits)) {
    return absl::InvalidArgumentError(
        "token_sha256= is not a SHA-256 (64 digits, 0 to 9 and a to f); `cobra-server token` creates the line");
  }
  return Line{std::make_shared<const Principal>(std::move(principal)), std::string(words.token_sha256),
              std::string(words.certificate)};
}

// Several lines may have one name, such as the old and the new token of a principal; then they say
// the same of it.
absl::Status AccessTable::CheckNew(const Line& line) const {
  for (const Line& earlier : lines_) {
    if (earlier.token_sha256 == line.token_sha256 && earlier.certificate == line.certificate)
      return absl::InvalidArgumentError("has the credential of an earlier line");
    if (earlier.principal->name == line.principal->name && !IsSame(*earlier.principal, *line.principal)) {
      return absl::InvalidArgumentError(
          absl::StrCat(line.principal->name, " has another role, worker or targets in an earlier line"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<AccessTable> AccessTable::Parse(absl::string_view path, absl::string_view text) {
  AccessTable table;
  int number = 0;
  for (const absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::string_view stripped = absl::StripAsciiWhitespace(raw);
    if (stripped.empty() || absl::StartsWith(stripped, "#")) continue;
    absl::StatusOr<Line> line = ParseLine(stripped);
    const absl::Status status = line.ok() ? table.CheckNew(*line) : line.status();
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": ", status.message()));
    table.lines_.push_back(*std::move(line));
  }
  if (table.lines_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": has no credential, so that nobody could call; `cobra-server token` creates one"));
  }
  return table;
}

std::shared_ptr<const Principal> AccessTable::FindToken(absl::string_view token) const {
  const std::string sha256 = Sha256Hex(token);
  std::shared_ptr<const Principal> found;
  for (const Line& line : lines_) {  // all of them, each compared whole
    if (line.token_sha256.size() == sha256.size() &&
        CRYPTO_memcmp(line.token_sha256.data(), sha256.data(), sha256.size()) == 0)
      found = line.principal;
  }
  return found;
}

std::shared_ptr<const Principal> AccessTable::FindCertificate(absl::string_view name) const {
  if (name.empty()) return nullptr;  // lines with a token have an empty name
  for (const Line& line : lines_)
    if (line.certificate == name) return line.principal;
  return nullptr;
}

bool AccessTable::has_certificates() const {
  return std::any_of(lines_.begin(), lines_.end(), [](const Line& line) { return !line.certificate.empty(); });
}

absl::StatusOr<std::unique_ptr<Access>> Access::Open(const std::string& path) {
  std::unique_ptr<Access> access(new Access(path));
  COBRA_ASSIGN_OR_RETURN(AccessTable table, access->Read());
  absl::MutexLock lock(&access->mutex_);
  access->table_ = std::make_shared<const AccessTable>(std::move(table));
  return access;
}

absl::StatusOr<AccessTable> Access::Read() const {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(path_, kMaxAccessFileBytes));
  return AccessTable::Parse(path_, text);
}

std::shared_ptr<const AccessTable> Access::Table() {
  absl::MutexLock lock(&mutex_);
  if (!watched_.Changed()) return table_;
  absl::StatusOr<AccessTable> table = Read();
  if (table.ok()) {
    LogInfo(absl::StrCat(path_, ": read again, ", Counted(static_cast<int64_t>(table->size()), "line")));
    table_ = std::make_shared<const AccessTable>(*std::move(table));
  } else {
    LogError(absl::StrCat(table.status().message(), "; the previous contents still apply"));
  }
  return table_;
}

bool Access::has_certificates() { return Table()->has_certificates(); }

absl::StatusOr<std::shared_ptr<const Principal>> Access::Admit(Role role, absl::string_view what,
                                                               const CallerProof& proof) {
  const std::shared_ptr<const AccessTable> table = Table();
  std::shared_ptr<const Principal> caller;
  if (!proof.authorization.empty()) {
    absl::string_view token = proof.authorization.front();
    if (proof.authorization.size() > 1 || !absl::ConsumePrefix(&token, "Bearer "))
      return absl::UnauthenticatedError("authorization: is not \"Bearer TOKEN\"");
    caller = table->FindToken(token);
    if (caller == nullptr) return absl::UnauthenticatedError("the token is not in the server's access file");
  } else {
    for (const absl::string_view name : proof.certificate_names)
      if (caller == nullptr) caller = table->FindCertificate(name);
    if (caller == nullptr && !proof.certificate_names.empty())
      return absl::UnauthenticatedError("the client certificate is not in the server's access file");
    if (caller == nullptr) return absl::UnauthenticatedError("the call has neither a token nor a client certificate");
  }
  if (caller->role == Role::kAdmin || role == Role::kAnyRole || caller->role == role) return caller;
  return absl::PermissionDeniedError(
      absl::StrCat(caller->name, " has the role ", RoleName(caller->role), ", ", what, " needs ", RoleName(role),
                   role == Role::kAdmin ? "" : absl::StrCat(" or ", RoleName(Role::kAdmin))));
}

}  // namespace cobra::server
