#include "store/task_subject.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "graph/json.h"
#include "nlohmann/json.hpp"

namespace cobra::store {
namespace {

using Json = nlohmann::ordered_json;

Json SampleToJson(const SpaceIndex& sample) {
  return {{"sample", {{"space", sample.space}, {"index", sample.index}, {"seed", sample.seed}}}};
}

absl::Status Wrong(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("task subject: ", what)); }

// A whole number from 0 to `most`; 0 where it is missing.
absl::StatusOr<uint64_t> Count(const Json& object, const char* name, uint64_t most) {
  const auto found = object.find(name);
  if (found == object.end()) return uint64_t{0};
  if (!found->is_number_unsigned() || found->get<uint64_t>() > most) {
    return Wrong(absl::StrCat("\"", name, "\": is not a whole number from 0 to ", most));
  }
  return found->get<uint64_t>();
}

absl::StatusOr<SpaceIndex> SampleFromJson(const Json& json) {
  if (!json.is_object()) return Wrong("\"sample\": is not an object");
  SpaceIndex sample;
  const auto space = json.find("space");
  if (space == json.end() || !space->is_string()) return Wrong("\"sample\": has no \"space\"");
  sample.space = space->get<std::string>();
  COBRA_ASSIGN_OR_RETURN(const uint64_t index, Count(json, "index", std::numeric_limits<int64_t>::max()));
  sample.index = static_cast<int64_t>(index);
  COBRA_ASSIGN_OR_RETURN(sample.seed, Count(json, "seed", std::numeric_limits<uint64_t>::max()));
  return sample;
}

}  // namespace

std::string TaskId(const TaskSubject& subject, absl::string_view target) {
  return Sha256Hex(absl::StrCat(target, "\n", TaskSubjectToJson(subject))).substr(0, 32);
}

std::string TaskSubjectToJson(const TaskSubject& subject) {
  Json json;
  if (subject.graph() != nullptr) {
    json["graph"] = ParseJson<Json>(graph::GraphToJson(*subject.graph(), {/*origins=*/false}));
  } else {
    json = SampleToJson(*subject.sample());
  }
  json["repeat"] = subject.repeat;
  return JsonText(json);
}

absl::StatusOr<TaskSubject> TaskSubjectFromJson(absl::string_view text) {
  const Json json = ParseJson<Json>(text);
  if (!json.is_object()) return Wrong("is not a JSON object");
  if (json.contains("graph") == json.contains("sample")) return Wrong("has not one of \"graph\" and \"sample\"");
  TaskSubject subject;
  COBRA_ASSIGN_OR_RETURN(const uint64_t repeat, Count(json, "repeat", std::numeric_limits<int>::max()));
  subject.repeat = static_cast<int>(repeat);
  if (json.contains("graph")) {
    COBRA_ASSIGN_OR_RETURN(subject.what, graph::GraphFromJson(json["graph"].dump()));
  } else {
    COBRA_ASSIGN_OR_RETURN(subject.what, SampleFromJson(json["sample"]));
  }
  return subject;
}

}  // namespace cobra::store
