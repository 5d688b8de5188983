#include "worker/run/graph_list.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "graph/form/json.h"
#include "nlohmann/json.hpp"
#include "store/measurement_json.h"
#include "store/record_file.h"

namespace cobra::worker {
namespace {

using Json = nlohmann::ordered_json;

// The samples of one space in a file. Their graphs stay text until they are measured, because there
// may be tens of thousands of them.
class ListSampler : public Sampler {
 public:
  explicit ListSampler(std::string space) : space_(std::move(space)) {}
  absl::string_view space() const override { return space_; }

  absl::StatusOr<Sample> At(int64_t index) const override {
    const auto found = subjects_.find(index);
    if (found == subjects_.end()) return absl::NotFoundError(absl::StrCat(space_, "/", index, ": not in the list"));
    const auto& [subject, graph_json] = found->second;
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, graph::GraphFromJson(graph_json));
    return Sample{subject.is_network, subject.label, std::move(graph)};
  }

  bool Add(store::Subject subject, std::string graph_json) {
    const int64_t index = subject.index;
    return subjects_.try_emplace(index, std::move(subject), std::move(graph_json)).second;
  }

 private:
  const std::string space_;
  std::map<int64_t, std::pair<store::Subject, std::string>> subjects_;
};

class ListReader {
 public:
  // Errors do not contain the position; the caller adds it.
  absl::Status AddLine(absl::string_view line, int64_t number) {
    const store::RecordParts parts = store::SplitRecord(line);
    if (parts.fields.is_discarded()) return absl::InvalidArgumentError("not JSON");
    try {
      return AddObject(parts.fields, parts.graph_json, number);
    } catch (const Json::exception& e) {  // a field of another type
      return absl::InvalidArgumentError(e.what());
    }
  }

  absl::StatusOr<GraphList> Finish() && {
    if (spaces_.empty()) return absl::InvalidArgumentError("has no graph");
    GraphList list;
    list.seed = seed_.value_or(1);
    for (auto& [space, sampler] : spaces_) {
      space.count = static_cast<int64_t>(space.indices.size());
      space.sampler = std::move(sampler);
      list.spaces.push_back(std::move(space));
    }
    return list;
  }

 private:
  absl::Status AddObject(const Json& j, const std::string& graph_json, int64_t number) {
    if (!j.is_object()) return absl::InvalidArgumentError("not a JSON object");
    const std::string kind = j.value("kind", "");
    if (kind == "canary") return absl::OkStatus();
    if (j.contains("seed"))
      COBRA_RETURN_IF_ERROR(SetSeed(j["seed"].is_number_unsigned() ? j["seed"].get<uint64_t>() : 0));
    if (kind == "session") return absl::OkStatus();  // from a file of records
    if (graph_json.empty()) return absl::InvalidArgumentError("has no \"graph\"");
    COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, graph::GraphFromJson(graph_json));
    if (graph.nodes().empty()) return absl::InvalidArgumentError("the graph has no calls; there is nothing to measure");
    store::Measurement listed;
    store::Subject& subject = listed.subject;
    subject.space = "asked";
    subject.index = number;
    subject.is_network = graph.nodes().size() > 1;
    COBRA_RETURN_IF_ERROR(store::MergeFields(j, &listed));
    if (!j.contains("label")) {
      subject.label = subject.is_network ? "network" : std::string(graph::OpName(graph.nodes().back().op));
    }
    // Two records of the same subject are one subject.
    return Add(std::move(subject), graph_json, /*again=*/kind == "record");
  }

  absl::Status SetSeed(uint64_t seed) {
    if (seed_.value_or(seed) != seed) {
      return absl::InvalidArgumentError(
          absl::StrCat("seed ", seed, ", but ", *seed_, " above: a series has one seed, so one file for each"));
    }
    seed_ = seed;
    return absl::OkStatus();
  }

  absl::Status Add(store::Subject subject, std::string graph_json, bool again) {
    const std::string space = subject.space;
    const int64_t index = subject.index;
    auto at = std::find_if(spaces_.begin(), spaces_.end(), [&](const auto& s) { return s.first.space == space; });
    if (at == spaces_.end()) {
      spaces_.emplace_back(SpaceCount{space}, std::make_shared<ListSampler>(space));
      at = spaces_.end() - 1;
    }
    if (!at->second->Add(std::move(subject), std::move(graph_json))) {
      return again ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrCat(space, "/", index, " occurs twice"));
    }
    at->first.indices.push_back(index);
    return absl::OkStatus();
  }

  std::optional<uint64_t> seed_;
  std::vector<std::pair<SpaceCount, std::shared_ptr<ListSampler>>> spaces_;
};

}  // namespace

absl::StatusOr<GraphList> ReadGraphList(absl::string_view path) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, store::ReadRecordFile(path));
  ListReader reader;
  int64_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    if (const absl::Status status = reader.AddLine(line, number); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": ", status.message()));
    }
  }
  absl::StatusOr<GraphList> list = std::move(reader).Finish();
  if (!list.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", list.status().message()));
  return list;
}

absl::StatusOr<std::string> CandidateLines(absl::string_view space, int64_t first, int64_t count,
                                           const SamplerOptions& options) {
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<Sampler> sampler, MakeSampler(space, options));
  std::string lines;
  for (int64_t index = first; index < first + count; ++index) {
    const absl::StatusOr<Sample> sample = sampler->At(index);
    if (absl::IsNotFound(sample.status())) continue;
    COBRA_RETURN_IF_ERROR(sample.status());
    store::Measurement candidate;
    candidate.subject.space = std::string(space);
    candidate.subject.index = index;
    candidate.subject.seed = options.seed;
    candidate.subject.is_network = sample->is_network;
    candidate.subject.label = sample->label;
    candidate.subject.graph = sample->graph;
    const std::string fields =
        store::FieldsToJson(candidate, {"space", "index", "seed", "is_network", "label", "graph"});
    absl::StrAppend(&lines, "{\"kind\":\"candidate\",", fields.substr(1), "\n");
  }
  return lines;
}

}  // namespace cobra::worker
