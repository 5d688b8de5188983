#include "client/doctor/model_command.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/answer/exit_code.h"
#include "client/terminal/output.h"
#include "client/terminal/text_table.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

std::string ModelTable(const v1::GetModelInfoResponse& r) {
  return TextTable({{"version", r.version()},
                    {"sha256", r.sha256()},
                    {"parameters", absl::StrCat(r.parameter_count())},
                    {"vocabulary", absl::StrCat(r.vocabulary_size())},
                    {"trained at", r.trained_at()},
                    {"layers trained on", absl::StrCat(r.layers_trained())},
                    {"networks trained on", absl::StrCat(r.networks_trained())},
                    {"server version", r.server_version()}},
                   {false, false});
}

std::string ModelJson(const v1::GetModelInfoResponse& r) {
  return IndentedJson(nlohmann::json{{"version", r.version()},
                                     {"sha256", r.sha256()},
                                     {"parameter_count", r.parameter_count()},
                                     {"vocabulary_size", r.vocabulary_size()},
                                     {"trained_at", r.trained_at()},
                                     {"layers_trained", r.layers_trained()},
                                     {"networks_trained", r.networks_trained()},
                                     {"server_version", r.server_version()}});
}

}  // namespace

absl::StatusOr<int> RunModel(const CommonFlags& common) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  COBRA_ASSIGN_OR_RETURN(v1::GetModelInfoResponse response, Client::Connect(common.client)->GetModelInfo({}));
  common.json ? PrintData(ModelJson(response)) : PrintText(ModelTable(response));
  return kExitOk;
}

}  // namespace cobra::client
