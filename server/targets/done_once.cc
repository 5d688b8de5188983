#include "server/targets/done_once.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/bytes/hash.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "proto/request_id.h"
#include "server/targets/new_level.h"
#include "server/targets/target_message.h"

namespace cobra::server {
namespace {

// The same for the same request, on every server.
std::string DigestOf(const google::protobuf::Message& request) {
  std::string bytes = absl::StrCat(request.GetTypeName(), "\n");
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    request.SerializePartialToCodedStream(&coded);
  }
  return Sha256Hex(bytes);
}

absl::Status CheckSameRequest(const store::DoneRequest& request, const store::DoneRequest& done) {
  if (request.digest == done.digest) return absl::OkStatus();
  return UsageError(absl::StrCat(proto::kRequestIdName, " ", request.id, ": was already used for another request"),
                    "give each request a unique id, and the same id when it is repeated");
}

}  // namespace

store::DoneRequest RequestOf(const google::protobuf::Message& request, const CallContext& call) {
  store::DoneRequest of;
  if (call.request_id.empty()) return of;
  of.id = call.request_id;
  of.digest = DigestOf(request);
  return of;
}

absl::Status DoOnce(LiveModel* model, absl::string_view target, const store::DoneRequest& request,
                    absl::FunctionRef<absl::Status()> work,
                    absl::FunctionRef<absl::Status(const std::string& answer)> repeat) {
  if (request.id.empty()) return work();
  COBRA_ASSIGN_OR_RETURN(store::DoneRequest done, model->FindDone(target, request.id));
  if (done.id.empty()) {
    const absl::Status status = work();
    if (!absl::IsAlreadyExists(status)) return status;
    // The first attempt, whose caller had given it up, has ended meanwhile.
    COBRA_ASSIGN_OR_RETURN(done, model->FindDone(target, request.id));
  }
  COBRA_RETURN_IF_ERROR(CheckSameRequest(request, done));
  return repeat(done.answer);
}

std::string StoredAnswer(const v1::AdaptResponse& response, absl::string_view warning) {
  v1::AdaptResponse stored;
  *stored.mutable_refused() = response.refused();
  AddWarning(std::string(warning), &stored);
  return absl::Base64Escape(stored.SerializeAsString());
}

absl::Status FillStoredAnswer(const std::string& answer, const ModelSnapshot& model, absl::string_view target,
                              v1::AdaptResponse* response) {
  std::string bytes;
  v1::AdaptResponse stored;
  if (!absl::Base64Unescape(answer, &bytes) || !stored.ParseFromString(bytes))
    return absl::InternalError("the stored answer of the request cannot be read");
  response->Clear();
  response->mutable_refused()->Swap(stored.mutable_refused());
  COBRA_RETURN_IF_ERROR(FillTargetByName(model, target, response->mutable_target()));
  response->mutable_target()->mutable_doubted()->MergeFrom(stored.target().doubted());
  return absl::OkStatus();
}

}  // namespace cobra::server
