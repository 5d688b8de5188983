// Networks from a file, each once, in an order determined by the seed. All are parsed once at the
// start, so that a bad line is an error instead of a missing network. Only the text is kept, a
// tenth of the size of the graphs (torchvision's 318 networks have 150,000 calls).
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "graph/form/json.h"
#include "nlohmann/json.hpp"
#include "worker/sample/random.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {
namespace {

using Json = nlohmann::ordered_json;

struct Row {
  std::string name, family;
  graph::Graph graph;
};

absl::StatusOr<Row> ParseRow(const std::string& line) {
  const Json row = ParseJson<Json>(line);
  if (!row.is_object()) return absl::InvalidArgumentError("not a JSON object");
  const auto name = row.find("name"), family = row.find("family"), graph = row.find("graph");
  if (name == row.end() || !name->is_string()) return absl::InvalidArgumentError("there is no string \"name\"");
  if (graph == row.end()) return absl::InvalidArgumentError("there is no \"graph\"");
  COBRA_ASSIGN_OR_RETURN(graph::Graph read, graph::GraphFromJson(graph->dump()));
  const std::string of_row = name->get<std::string>();
  return Row{of_row, family != row.end() && family->is_string() ? family->get<std::string>() : of_row, std::move(read)};
}

// A list names networks that a user wants to measure: a network is left out only if it takes
// minutes per run or more memory than most machines have.
SampleCaps CapsOfLists(SampleCaps caps) {
  if (!caps.network_macs_asked)
    caps.network_macs = std::max<int64_t>(caps.network_macs, 1'100'000'000'000);  // ViT-H/14 at 518 x 518 has 1.02e12
  caps.tensor_bytes = std::max(caps.tensor_bytes, int64_t{1} << 30);
  caps.weight_bytes = std::max(caps.weight_bytes, int64_t{1} << 30);
  return caps;
}

class NetworkListSampler final : public Sampler {
 public:
  NetworkListSampler(absl::string_view space, absl::string_view path, std::vector<std::string> lines,
                     const SamplerOptions& options)
      : space_(space),
        path_(path),
        caps_(CapsOfLists(options.caps)),
        lines_(std::move(lines)),
        order_(
            Random(options.seed, absl::StrCat(space, "/order"), 0).Permutation(static_cast<int64_t>(lines_.size()))) {}
  absl::string_view space() const override { return space_; }
  int64_t size() const override { return static_cast<int64_t>(lines_.size()); }

  absl::StatusOr<Sample> At(int64_t index) const override {
    if (index < 0 || index >= size())
      return absl::NotFoundError(absl::StrCat(space_, "/", index, ": ", path_, " has ", size(), " networks"));
    COBRA_ASSIGN_OR_RETURN(Row row, ParseRow(lines_[order_[index]]));
    if (const absl::Status status = CheckCaps(row.graph, true, caps_); !status.ok()) {
      return absl::NotFoundError(absl::StrCat(space_, "/", index, ": ", row.name, ": ", status.message()));
    }
    return Sample{true, absl::StrCat(space_, "/", row.family), std::move(row.graph)};
  }

 private:
  const std::string space_, path_;
  const SampleCaps caps_;
  const std::vector<std::string> lines_;
  const std::vector<int64_t> order_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Sampler>> MakeNetworkListSampler(absl::string_view space, absl::string_view path,
                                                                const SamplerOptions& options) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadMaybeCompressed(path));
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": has no networks"));
  for (size_t i = 0; i < lines.size(); ++i) {
    if (const absl::StatusOr<Row> row = ParseRow(lines[i]); !row.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ":", i + 1, ": ", row.status().message()));
    }
  }
  return std::make_unique<NetworkListSampler>(space, path, std::move(lines), options);
}

}  // namespace cobra::worker
