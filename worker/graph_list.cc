#include "worker/graph_list.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "graph/json.h"
#include "nlohmann/json.hpp"

namespace cobra::worker {
namespace {

using Json = nlohmann::ordered_json;

// The samples of one space that a file lists. Their graphs stay text until one is measured: tens of thousands of them
// are held.
class ListSampler : public Sampler {
 public:
  explicit ListSampler(std::string space) : space_(std::move(space)) {}
  absl::string_view space() const override { return space_; }

  absl::StatusOr<Sample> At(int64_t index) const override {
    const auto entry = entries_.find(index);
    if (entry == entries_.end()) return absl::NotFoundError(absl::StrCat(space_, "/", index, ": not in the list"));
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, graph::GraphFromJson(entry->second.graph_json));
    return Sample{entry->second.is_network, entry->second.label, std::move(graph)};
  }

  struct Entry {
    bool is_network = false;
    std::string label, graph_json;
  };
  bool Add(int64_t index, Entry entry) { return entries_.try_emplace(index, std::move(entry)).second; }

 private:
  const std::string space_;
  std::map<int64_t, Entry> entries_;
};

class ListReader {
 public:
  // Errors do not say where; the caller does.
  absl::Status AddLine(absl::string_view line, int64_t number) {
    try {
      return AddObject(Json::parse(line.begin(), line.end()), number);
    } catch (const Json::exception& e) {  // no JSON, or a field of another type
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
  absl::Status AddObject(const Json& j, int64_t number) {
    if (!j.is_object()) return absl::InvalidArgumentError("not a JSON object");
    const std::string kind = j.value("kind", "");
    if (kind == "canary") return absl::OkStatus();
    if (j.contains("seed"))
      COBRA_RETURN_IF_ERROR(SetSeed(j["seed"].is_number_unsigned() ? j["seed"].get<uint64_t>() : 0));
    if (kind == "session") return absl::OkStatus();  // of a file of records
    if (!j.contains("graph")) return absl::InvalidArgumentError("has no \"graph\"");
    ListSampler::Entry entry;
    entry.graph_json = j["graph"].dump();
    COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, graph::GraphFromJson(entry.graph_json));
    if (graph.nodes().empty()) return absl::InvalidArgumentError("the graph has no calls; there is nothing to measure");
    entry.is_network = j.value("is_network", graph.nodes().size() > 1);
    entry.label = j.value(
        "label", entry.is_network ? std::string("network") : std::string(graph::OpName(graph.nodes().back().op)));
    // Records of one subject, measured twice, are one subject.
    return Add(j.value("space", "asked"), j.value("index", number), std::move(entry), /*again=*/kind == "record");
  }

  absl::Status SetSeed(uint64_t seed) {
    if (seed_.value_or(seed) != seed) {
      return absl::InvalidArgumentError(
          absl::StrCat("seed ", seed, ", but ", *seed_, " above: a series has one seed, so one file for each"));
    }
    seed_ = seed;
    return absl::OkStatus();
  }

  absl::Status Add(const std::string& space, int64_t index, ListSampler::Entry entry, bool again) {
    auto at = std::find_if(spaces_.begin(), spaces_.end(), [&](const auto& s) { return s.first.space == space; });
    if (at == spaces_.end()) {
      spaces_.emplace_back(SpaceCount{space}, std::make_shared<ListSampler>(space));
      at = spaces_.end() - 1;
    }
    if (!at->second->Add(index, std::move(entry))) {
      return again ? absl::OkStatus()
                   : absl::InvalidArgumentError(absl::StrCat(space, "/", index, " comes a second time"));
    }
    at->first.indices.push_back(index);
    return absl::OkStatus();
  }

  std::optional<uint64_t> seed_;
  std::vector<std::pair<SpaceCount, std::shared_ptr<ListSampler>>> spaces_;
};

}  // namespace

absl::StatusOr<GraphList> ReadGraphList(absl::string_view path) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadMaybeGzip(path));
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
    Json j;
    j["kind"] = "candidate";
    j["space"] = std::string(space);
    j["index"] = index;
    j["seed"] = options.seed;
    j["is_network"] = sample->is_network;
    j["label"] = sample->label;
    j["graph"] = Json::parse(graph::GraphToJson(sample->graph, {/*origins=*/false}));
    absl::StrAppend(&lines, j.dump(), "\n");
  }
  return lines;
}

}  // namespace cobra::worker
