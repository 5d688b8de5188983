#include "server/rpc/http_calls.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "base/version.h"
#include "cobra/v1/cobra.pb.h"
#include "frontend/python/reader.h"
#include "grpcpp/generic/generic_stub.h"
#include "proto/grpc_status.h"
#include "report/document.h"
#include "server/access/caller.h"
#include "server/access/forwarded.h"
#include "server/http/error_reply.h"
#include "server/http/form.h"
#include "server/http/openapi.h"
#include "server/http/pages.h"
#include "server/http/predict_form.h"
#include "server/http/transcode.h"
#include "server/lanes/held_bytes.h"
#include "server/lanes/request_record.h"
#include "server/rpc/message_bytes.h"

namespace cobra::server {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kForm[] = "multipart/form-data";
// Converted on the thread that has it: a tenth of a millisecond's work.
constexpr size_t kMaxAtOnce = 64 << 10;

// JSON has bytes in base64, and a graph in some three times its size.
int64_t MaxBody(const ServerLimits& limits, absl::string_view media_type) {
  return media_type == kForm ? int64_t{limits.max_request_bytes} + (int64_t{1} << 20)
                             : 3 * int64_t{limits.max_request_bytes};
}

// "/cobra.v1.Cobra/Predict"
std::string GrpcPath(const RpcInfo& rpc) { return absl::StrCat("/", rpc.service, "/", rpc.method); }

http::Reply WrongMethod(const http::Head& head, const std::string& allowed) {
  http::Reply reply =
      http::ErrorReply(405, UsageError(absl::StrCat(head.method.substr(0, 20), ": is not a method of ", head.path),
                                       absl::StrCat("use ", allowed)));
  reply.headers.emplace_back("Allow", allowed == "GET" ? "GET, HEAD" : allowed);
  return reply;
}

bool IsGet(const http::Head& head) { return head.method == "GET" || head.method == "HEAD"; }

// What is wrong with the body that a request announces; its status of HTTP, or 0.
struct BodyFault {
  int http_status = 0;
  absl::Status status;
};
BodyFault CheckBody(const http::Head& head, const http::Route& route, const ServerLimits& limits) {
  if (!head.Values("transfer-encoding").empty())
    return {411, UsageError("Transfer-Encoding: is not supported", "send the body with its Content-Length")};
  if (!head.Values("content-encoding").empty())
    return {415, UsageError("Content-Encoding: is not supported", "send the body as it is")};
  if (head.content_length == 0) return {};
  if (route.method == "GET") return {400, UsageError("the body: GET has none", "put the fields into the query")};
  const absl::string_view content_type = head.Value("content-type");
  const std::string media_type = http::MediaType(content_type);
  const bool takes_form = http::TakesForm(route);
  if (head.Values("content-type").size() != 1 || (media_type != kJson && !(takes_form && media_type == kForm))) {
    return {415, UsageError(absl::StrCat("Content-Type ", content_type.substr(0, 80), ": is not supported here"),
                            absl::StrCat("use ", kJson, takes_form ? absl::StrCat(" or ", kForm) : ""))};
  }
  const int64_t most = MaxBody(limits, media_type);
  if (head.content_length > most) {
    return {413, UserError(Diagnostic::Kind::kLimit, LimitMessage("the body", head.content_length, most, "bytes"),
                           "cobra-client reads the model itself and sends the graph")};
  }
  return {};
}

}  // namespace

class HttpCalls::OpenCalls {
 public:
  explicit OpenCalls(int most_of_caller) : most_of_caller_(most_of_caller) {}

  // ResourceExhausted if the caller has as many as one may have.
  absl::Status Enter(const std::string& caller) {
    absl::MutexLock lock(&mutex_);
    int& open = callers_[caller];
    if (open >= most_of_caller_) {
      return absl::ResourceExhaustedError(absl::StrCat(
          LimitMessage("this client's requests over HTTP", most_of_caller_, "calls"), "; wait for their answers"));
    }
    ++open;
    return absl::OkStatus();
  }
  void Leave(const std::string& caller) {
    absl::MutexLock lock(&mutex_);
    const auto found = callers_.find(caller);
    if (--found->second == 0) callers_.erase(found);
  }

 private:
  const int most_of_caller_;
  absl::Mutex mutex_;
  std::map<std::string, int> callers_ ABSL_GUARDED_BY(mutex_);
};

// One request that a caller may make.
class HttpCall final : public HttpExchange, public std::enable_shared_from_this<HttpCall> {
 public:
  // REQUIRES: the caller has entered the open calls.
  HttpCall(HttpCalls* calls, const HttpCalls::Entry* entry, const http::Head& head, MetadataList metadata,
           std::string caller, HeldBytes::Part body_bytes)
      : calls_(calls),
        open_calls_(calls->open_calls_),
        entry_(entry),
        head_(head),
        metadata_(std::move(metadata)),
        caller_(std::move(caller)),
        deadline_(absl::Now() + calls->options_.limits.default_deadline),
        body_bytes_(std::move(body_bytes)) {}
  ~HttpCall() override { open_calls_->Leave(caller_); }

  void Run(std::string body, std::function<void(http::Reply)> done) override {
    body_ = std::move(body);
    done_ = std::move(done);
    {
      absl::MutexLock lock(&calls_->mutex_);
      ++calls_->running_;
    }
    const size_t size = body_.size();
    OnLane(size, [self = shared_from_this()](const absl::Status& admitted) { self->Convert(admitted); });
  }

  void Cancel() override { context_.TryCancel(); }

  // The call has ended.
  void Answered() {
    const std::shared_ptr<HttpCall> self = std::move(self_);
    request_.Clear();
    const absl::Status status = proto::FromGrpcStatus(grpc_status_);
    if (absl::IsUnavailable(status)) calls_->channels_.Forget(place_);
    if (!status.ok()) return Finish(http::ErrorReply(status));
    OnLane(response_.Length(), [self = shared_from_this()](const absl::Status& admitted) { self->Reply(admitted); });
  }

 private:
  // Runs `work` in the caller's turn if it takes a while. A drain takes nothing new, but finishes
  // what has begun.
  void OnLane(size_t bytes, std::function<void(const absl::Status&)> work) {
    if (bytes <= kMaxAtOnce || calls_->lanes_->closed()) return work(absl::OkStatus());
    calls_->lanes_->Submit({entry_->rpc->rpc, caller_, deadline_, std::move(work), Urgency::kCold});
  }

  void Convert(absl::Status status) {
    absl::StatusOr<std::string> bytes = status.ok() ? RequestBytes() : status;
    const auto most = static_cast<size_t>(calls_->options_.limits.max_request_bytes);
    if (bytes.ok() && bytes->size() > most) {
      status = UserError(Diagnostic::Kind::kLimit, LimitMessage("the request", static_cast<int64_t>(bytes->size()),
                                                                static_cast<int64_t>(most), "bytes"));
    }
    std::string().swap(body_);
    if (!bytes.ok()) status = bytes.status();
    if (!status.ok()) return Refuse(status);
    Call(*std::move(bytes));
    body_bytes_ = {};
  }

  absl::StatusOr<std::string> RequestBytes() const {
    const google::protobuf::Descriptor& type = *entry_->route.rpc->input_type();
    if (entry_->route.method == "GET") {
      COBRA_ASSIGN_OR_RETURN(const auto fields, http::ParseQuery(head_.query));
      return http::BytesOfQuery(type, fields);
    }
    if (!head_.query.empty()) return UsageError("the query: POST takes none", "put the fields into the body");
    const absl::string_view content_type = head_.Value("content-type");
    if (body_.empty() || http::MediaType(content_type) != kForm) return http::BytesOfJson(type, body_);
    COBRA_ASSIGN_OR_RETURN(const std::vector<http::Part> parts, http::ParseMultipart(content_type, body_));
    const http::Asker asker = entry_->route.as_report ? http::Asker::kPage : http::Asker::kCurl;
    COBRA_ASSIGN_OR_RETURN(v1::PredictRequest request, http::PredictRequestOf(parts, asker));
    if (request.targets().empty()) COBRA_RETURN_IF_ERROR(AddUsualTargets(&request));
    return request.SerializeAsString();
  }

  // Source is read once for all of them: each version of PyTorch would be another reading, and few
  // of them are allowed.
  absl::Status AddUsualTargets(v1::PredictRequest* request) const {
    for (const std::string& target : calls_->usual_targets_()) request->add_targets(target);
    if (entry_->route.as_report && request->targets_size() > static_cast<int>(report::kMostReported)) {
      return UsageError("target: is missing, and this machine is not calibrated",
                        absl::StrCat("choose up to ", report::kMostReported, " targets"));
    }
    if (request->targets_size() > 1 && request->has_source() && request->source().torch_version().empty())
      request->mutable_source()->set_torch_version(python::kNewestTorchVersion);
    return absl::OkStatus();
  }

  void Call(std::string bytes) {
    place_ = calls_->channels_.Get();
    if (place_ == nullptr) return Refuse(absl::ResourceExhaustedError("the server has no descriptors left"));
    for (const auto& [name, value] : metadata_) context_.AddMetadata(name, value);
    context_.set_deadline(absl::ToChronoTime(deadline_));
    request_ = BufferOf(bytes);
    self_ = shared_from_this();  // until Answered()
    reader_ =
        grpc::GenericStub(place_).PrepareUnaryCall(&context_, GrpcPath(*entry_->rpc), request_, &calls_->replies_);
    reader_->StartCall();
    reader_->Finish(&response_, &grpc_status_, this);
  }

  void Reply(absl::Status status) {
    grpc::Slice slice;
    absl::string_view bytes;
    std::string json;
    if (status.ok() && response_.Valid() && InOnePiece(response_, &slice, &bytes)) {
      absl::StatusOr<std::string> converted = JsonOf(bytes);
      status = converted.status();
      if (converted.ok()) json = *std::move(converted);
    }
    response_.Clear();
    absl::StatusOr<HeldBytes::Part> held = status.ok() ? calls_->lanes_->replies().Hold(caller_, json.size()) : status;
    if (!held.ok()) return Finish(http::ErrorReply(held.status()));
    reply_bytes_ = *std::move(held);
    http::Reply reply;
    reply.content_type = kJson;
    reply.body = std::move(json);
    Finish(std::move(reply));
  }

  absl::StatusOr<std::string> JsonOf(absl::string_view reply) const {
    if (entry_->route.as_report) return std::string(reply);
    return http::JsonOfBytes(*entry_->route.rpc->output_type(), reply);
  }

  // What no call was made for counts as one.
  void Refuse(const absl::Status& status) {
    RequestRecord(entry_->rpc->rpc, calls_->metrics_, /*context=*/nullptr).Done(status, caller_);
    Finish(http::ErrorReply(status));
  }

  void Finish(http::Reply reply) {
    HttpCalls* const calls = calls_;
    std::exchange(done_, nullptr)(std::move(reply));
    absl::MutexLock lock(&calls->mutex_);  // last: the calls may be gone afterwards
    --calls->running_;
  }

  HttpCalls* const calls_;
  const std::shared_ptr<HttpCalls::OpenCalls> open_calls_;
  const HttpCalls::Entry* const entry_;
  const http::Head head_;
  const MetadataList metadata_;
  const std::string caller_;
  const absl::Time deadline_;
  HeldBytes::Part body_bytes_, reply_bytes_;
  std::string body_;
  std::function<void(http::Reply)> done_;
  std::shared_ptr<HttpCall> self_;
  OwnChannels::Place place_;
  grpc::ByteBuffer request_, response_;
  grpc::Status grpc_status_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader_;  // in memory of the call that the context owns
};

HttpCalls::HttpCalls(const Options& options, OwnChannels::Accept connect, Lanes* lanes, Metrics* metrics,
                     Access* access, UsualTargets usual_targets)
    : options_(options),
      same_origin_(options.listen, options.hosts),
      channels_(std::move(connect), options.limits.max_streams_per_connection),
      lanes_(lanes),
      metrics_(metrics),
      access_(access),
      usual_targets_(std::move(usual_targets)),
      open_calls_(std::make_shared<OpenCalls>(options.limits.max_http_calls_per_caller)) {
  std::vector<http::Route> routes;
  for (const RpcInfo& rpc : kRpcs) {
    if (rpc.kind != RpcKind::kUnary) continue;
    entries_.push_back({&rpc, http::RouteOf(rpc.service, rpc.method)});
    routes.push_back(entries_.back().route);
  }
  entries_.push_back({&InfoOf(Rpc::kPredict), http::ReportRoute()});  // only for the page: not in the document
  document_ = http::OpenApiDocument(routes, Version(), access != nullptr);
  thread_ = std::thread([this] { TakeReplies(); });
}

HttpCalls::~HttpCalls() {
  {
    absl::MutexLock lock(&mutex_);
    const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return running_ == 0; };
    mutex_.Await(absl::Condition(&idle));
  }
  replies_.Shutdown();
  thread_.join();
}

void HttpCalls::TakeReplies() {
  void* call = nullptr;
  for (bool ok = false; replies_.Next(&call, &ok);) static_cast<HttpCall*>(call)->Answered();
}

absl::StatusOr<std::shared_ptr<const Principal>> HttpCalls::Admit(Role role, absl::string_view what,
                                                                  const http::Head& head, const HttpPeer& peer) const {
  if (access_ == nullptr) return nullptr;
  CallerProof proof;
  proof.authorization = head.Values("authorization");
  proof.certificate_names.assign(peer.certificate_names.begin(), peer.certificate_names.end());
  return access_->Admit(role, what, proof);
}

std::variant<http::Reply, std::shared_ptr<HttpExchange>> HttpCalls::Begin(const http::Head& head,
                                                                          const HttpPeer& peer) {
  std::optional<http::Reply> page = http::PageAt(head.path);
  if (const absl::Status status = same_origin_.Check(head, page.has_value()); !status.ok())
    return http::ErrorReply(status);
  if (page.has_value()) return IsGet(head) ? *std::move(page) : WrongMethod(head, "GET");
  if (head.path == http::kOpenApiPath) return IsGet(head) ? Document(head, peer) : WrongMethod(head, "GET");
  for (const Entry& entry : entries_) {
    if (entry.route.path != head.path) continue;
    const bool fits = entry.route.method == "GET" ? IsGet(head) : head.method == entry.route.method;
    return fits ? BeginCall(entry, head, peer) : WrongMethod(head, entry.route.method);
  }
  return http::ErrorReply(404,
                          UsageError(absl::StrCat(head.path.substr(0, 80), ": there is nothing here"),
                                     absl::StrCat("GET ", http::kOpenApiPath, " lists the calls; /ui is for people")));
}

// As server reflection: for whoever has a role.
http::Reply HttpCalls::Document(const http::Head& head, const HttpPeer& peer) {
  if (const auto admitted = Admit(Role::kAnyRole, http::kOpenApiPath, head, peer); !admitted.ok())
    return http::ErrorReply(admitted.status());
  http::Reply reply;
  reply.content_type = kJson;
  reply.body = document_;
  return reply;
}

std::variant<http::Reply, std::shared_ptr<HttpExchange>> HttpCalls::BeginCall(const Entry& entry,
                                                                              const http::Head& head,
                                                                              const HttpPeer& peer) {
  // What is refused before a call is made counts as one.
  const auto refuse = [&](const absl::Status& status, int http_status) -> http::Reply {
    RequestRecord(entry.rpc->rpc, metrics_, /*context=*/nullptr).Done(status);
    return http::ErrorReply(http_status == 0 ? http::HttpStatusOf(status) : http_status, status);
  };
  const auto principal = Admit(entry.rpc->role, entry.rpc->method, head, peer);
  if (!principal.ok()) return refuse(principal.status(), 0);
  if (const BodyFault fault = CheckBody(head, entry.route, options_.limits); fault.http_status != 0)
    return refuse(fault.status, fault.http_status);
  const ForwardOptions forward{access_ != nullptr, entry.route.as_report};
  absl::StatusOr<MetadataList> metadata = ForwardedMetadata(head, peer, forward, options_.limits);
  if (!metadata.ok()) return refuse(metadata.status(), 0);
  std::string caller = CallerOf(principal->get(), peer.address);
  absl::StatusOr<HeldBytes::Part> room = lanes_->requests().Hold(caller, static_cast<size_t>(head.content_length));
  if (!room.ok()) return refuse(room.status(), 0);
  if (const absl::Status entered = open_calls_->Enter(caller); !entered.ok()) return refuse(entered, 0);
  return std::make_shared<HttpCall>(this, &entry, head, *std::move(metadata), std::move(caller), *std::move(room));
}

}  // namespace cobra::server
