#include "client/doctor/admin.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/answer/exit_code.h"
#include "client/client.h"
#include "client/terminal/output.h"
#include "client/terminal/text_table.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using Json = nlohmann::ordered_json;
using Caches = google::protobuf::RepeatedPtrField<v1::CacheFigures>;

// Both forms of a result.
struct Output {
  std::string text;
  Json json;
};

Output OutputOf(const v1::ReloadModelResponse& r) {
  const bool same = r.previous_version() == r.version();
  return {same ? absl::StrCat(r.version(), " is loaded again\n")
               : absl::StrCat(r.version(), " serves, instead of ", r.previous_version(), "\n"),
          {{"previous_version", r.previous_version()}, {"version", r.version()}}};
}

Output OutputOf(const v1::ListModelVersionsResponse& r) {
  std::vector<std::vector<std::string>> rows = {{"version", "loaded at", "sha256", ""}};
  Json versions = Json::array();
  for (const v1::LoadedModelVersion& v : r.versions()) {
    rows.push_back({v.version(), v.loaded_at(), v.sha256().substr(0, 12), v.serving() ? "serves" : ""});
    versions.push_back(
        {{"version", v.version()}, {"sha256", v.sha256()}, {"loaded_at", v.loaded_at()}, {"serving", v.serving()}});
  }
  return {TextTable(rows, {false, false, false, false}), {{"versions", std::move(versions)}}};
}

Output OutputOf(const Caches& caches) {
  std::vector<std::vector<std::string>> rows = {{"cache", "hits", "misses", "evicted", "entries", "size", "of"}};
  Json all = Json::array();
  for (const v1::CacheFigures& c : caches) {
    rows.push_back({c.name(), absl::StrCat(c.hits()), absl::StrCat(c.misses()), absl::StrCat(c.evictions()),
                    absl::StrCat(c.entries()), MebibytesText(c.bytes()), MebibytesText(c.capacity_bytes())});
    all.push_back({{"name", c.name()},
                   {"hits", c.hits()},
                   {"misses", c.misses()},
                   {"evictions", c.evictions()},
                   {"entries", c.entries()},
                   {"bytes", c.bytes()},
                   {"capacity_bytes", c.capacity_bytes()}});
  }
  return {TextTable(rows, {false, true, true, true, true, true, true}), {{"caches", std::move(all)}}};
}

absl::StatusOr<Output> Act(Client* client, const std::string& address, const AdminFlags& flags) {
  switch (flags.action) {
    case AdminAction::kReload: {
      COBRA_ASSIGN_OR_RETURN(const v1::ReloadModelResponse reply, client->ReloadModel({}));
      return OutputOf(reply);
    }
    case AdminAction::kVersions: {
      COBRA_ASSIGN_OR_RETURN(const v1::ListModelVersionsResponse reply, client->ListModelVersions({}));
      return OutputOf(reply);
    }
    case AdminAction::kCaches: {
      COBRA_ASSIGN_OR_RETURN(const v1::GetCachesResponse reply, client->GetCaches({}));
      return OutputOf(reply.caches());
    }
    case AdminAction::kFlush: {
      v1::FlushCachesRequest request;
      for (const std::string& name : flags.caches) request.add_names(name);
      COBRA_ASSIGN_OR_RETURN(const v1::FlushCachesResponse reply, client->FlushCaches(request));
      Output output = OutputOf(reply.flushed());
      output.text = absl::StrCat("emptied; before:\n", output.text);
      return output;
    }
    case AdminAction::kDrain: {
      COBRA_RETURN_IF_ERROR(client->Drain({}).status());
      return Output{absl::StrCat("the server at ", address, " is stopping\n"), Json::object()};
    }
  }
  return absl::InternalError("an action that is none");
}

}  // namespace

absl::StatusOr<int> RunAdmin(const CommonFlags& common, const AdminFlags& flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  const std::unique_ptr<Client> client = Client::Connect(common.client);
  COBRA_ASSIGN_OR_RETURN(const Output output, Act(client.get(), common.client.address, flags));
  if (common.json) {
    PrintData(IndentedJson(output.json));
  } else {
    PrintText(output.text);
  }
  return kExitOk;
}

}  // namespace cobra::client
