#include "server/admin_service.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/text/utc_text.h"
#include "base/user_error.h"
#include "base/with_code.h"

namespace cobra::server {
namespace {

void FillFigures(const KnownAnswers::NamedCache& cache, v1::CacheFigures* out) {
  const CacheStats stats = cache.stats();
  out->set_name(std::string(cache.name));
  out->set_hits(stats.hits);
  out->set_misses(stats.misses);
  out->set_evictions(stats.evictions);
  out->set_entries(stats.entries);
  out->set_bytes(stats.bytes);
  out->set_capacity_bytes(stats.capacity_bytes);
}

}  // namespace

AdminService::AdminService(Pipeline* pipeline, LiveModel* model, const UnaryCalls& calls, std::function<void()> stop)
    : UnaryService(calls), pipeline_(pipeline), model_(model), stop_(std::move(stop)) {
  AnswerUnary(Rpc::kReloadModel, this, &AdminService::HandleReloadModel);
  AnswerUnary(Rpc::kListModelVersions, this, &AdminService::HandleListModelVersions);
  AnswerUnary(Rpc::kGetCaches, this, &AdminService::HandleGetCaches);
  AnswerUnary(Rpc::kFlushCaches, this, &AdminService::HandleFlushCaches);
  AnswerUnary(Rpc::kDrain, this, &AdminService::HandleDrain);
}

absl::Status AdminService::HandleReloadModel(const v1::ReloadModelRequest& request, v1::ReloadModelResponse* response,
                                             const CallContext& call) {
  LogInfo(absl::StrCat("ReloadModel of ", call.caller, ": reloading the model"));
  response->set_previous_version(model_->Get()->predictor->info().version);
  if (const absl::Status status = model_->Reload(); !status.ok()) {
    return WithCode(status.code(),
                    UsageError(std::string(status.message()),
                               absl::StrCat(response->previous_version(),
                                            " continues to serve; fix the directory of the model, then reload it")));
  }
  response->set_version(model_->Get()->predictor->info().version);
  return absl::OkStatus();
}

absl::Status AdminService::HandleListModelVersions(const v1::ListModelVersionsRequest& request,
                                                   v1::ListModelVersionsResponse* response, const CallContext& call) {
  for (const LoadedVersion& loaded : model_->Loaded()) {
    v1::LoadedModelVersion* version = response->add_versions();
    version->set_version(loaded.info.version);
    version->set_sha256(loaded.info.sha256);
    version->set_loaded_at(UtcText(loaded.time));
    version->set_serving(response->versions_size() == 1);
  }
  return absl::OkStatus();
}

absl::Status AdminService::HandleGetCaches(const v1::GetCachesRequest& request, v1::GetCachesResponse* response,
                                           const CallContext& call) {
  for (const KnownAnswers::NamedCache& cache : pipeline_->caches()) FillFigures(cache, response->add_caches());
  return absl::OkStatus();
}

absl::Status AdminService::HandleFlushCaches(const v1::FlushCachesRequest& request, v1::FlushCachesResponse* response,
                                             const CallContext& call) {
  const std::vector<KnownAnswers::NamedCache>& caches = pipeline_->caches();
  for (const std::string& name : request.names()) {
    if (absl::c_any_of(caches, [&name](const auto& cache) { return cache.name == name; })) continue;
    const auto append_name = [](std::string* out, const auto& cache) { absl::StrAppend(out, cache.name); };
    return UsageError(absl::StrCat(name, ": no such cache"),
                      absl::StrCat("caches: ", absl::StrJoin(caches, ", ", append_name)));
  }
  for (const KnownAnswers::NamedCache& cache : caches) {
    if (!request.names().empty() && !absl::c_linear_search(request.names(), cache.name)) continue;
    FillFigures(cache, response->add_flushed());
    cache.flush();
    LogInfo(absl::StrCat("FlushCaches of ", call.caller, ": the cache \"", cache.name, "\" is empty"));
  }
  return absl::OkStatus();
}

absl::Status AdminService::HandleDrain(const v1::DrainRequest& request, v1::DrainResponse* response,
                                       const CallContext& call) {
  if (!stop_) return absl::UnimplementedError("Drain: this process does not allow it");
  LogInfo(absl::StrCat("Drain of ", call.caller, ": stopping"));
  stop_();
  return absl::OkStatus();
}

}  // namespace cobra::server
