#include "model/fit/dataset.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/status_macros.h"
#include "graph/fingerprint.h"
#include "graph/json.h"
#include "model/fit/measuring_cost.h"
#include "store/record.h"

namespace cobra::fit {
namespace {

// Everything that was measured of one subject, by repeat number.
struct Subject {
  store::Record first;
  bool selected = false;  // stands in a file of what was chosen for training
  std::map<int, double> latency_us;
};

struct Reader {
  std::vector<std::string> order;  // subjects as they first appear
  absl::flat_hash_map<std::string, Subject> subjects;
  int64_t failures = 0;

  absl::Status AddFile(const std::string& path, bool selected = false) {
    COBRA_ASSIGN_OR_RETURN(const std::string text, ReadMaybeGzip(path));
    int line_number = 0;
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      ++line_number;
      if (!line.empty()) COBRA_RETURN_IF_ERROR(AddLine(line, absl::StrCat(path, ":", line_number), selected));
    }
    return absl::OkStatus();
  }

  absl::Status AddLine(absl::string_view line, absl::string_view where, bool selected) {
    absl::StatusOr<store::Record> record = store::RecordFromJson(line);
    if (absl::IsNotFound(record.status())) return absl::OkStatus();  // a session, a canary
    if (!record.ok()) return absl::DataLossError(absl::StrCat(where, ": ", record.status().message()));
    if (record->outcome != store::Outcome::ok) {
      ++failures;
      return absl::OkStatus();
    }
    if (record->graph_json.empty() || record->latency.median_us <= 0) {
      return absl::DataLossError(absl::StrCat(where, ": a record needs graph and latency_us"));
    }
    const std::string key = record->SubjectKey();
    auto [it, inserted] = subjects.try_emplace(key);
    it->second.latency_us[record->repeat] = record->latency.median_us;
    if (inserted) {
      order.push_back(key);
      it->second.selected = selected;
    }
    if (inserted || record->repeat == 0) it->second.first = *std::move(record);
    return absl::OkStatus();
  }
};

// The first measurement, or the last of those taken again because the machine was disturbed.
double LatencyOf(const Subject& s) {
  if (const auto last = s.latency_us.rbegin(); last->first >= 2) return last->second;
  if (s.first.repeat == 0 && s.first.suspect && s.latency_us.count(1) > 0) return s.latency_us.at(1);
  return s.latency_us.begin()->second;
}

// What was chosen because a model was unsure of it is for training only: errors and intervals are stated of what was
// drawn at random.
bool IsSelected(absl::string_view file_name) { return absl::StartsWith(file_name, "selected-"); }

absl::StatusOr<Sample> ToSample(const store::Record& record, double latency_us) {
  COBRA_ASSIGN_OR_RETURN(graph::Graph graph, graph::GraphFromJson(record.graph_json));
  Sample sample{std::move(graph)};
  sample.is_network = record.is_network;
  sample.label = record.label;
  sample.space = record.space;
  // Computed here, not read: a better fingerprint must not leave the same network on two sides of the split.
  sample.fingerprint = graph::Fingerprint(sample.graph).ToHex();
  sample.split = SplitOf(sample.space, sample.label, sample.fingerprint);
  sample.latency_us = latency_us;
  sample.peak_memory_bytes = record.peak_memory_bytes;
  if (!sample.is_network) {
    const store::Latency& said = record.latency;
    sample.measuring_s =
        RecordedSeconds(said.median_us, said.runs * said.batch * said.mean_us, said.cold_us, record.peak_memory_bytes);
  }
  if (record.node_latency_us.size() == sample.graph.nodes().size()) {
    sample.node_latency_us = record.node_latency_us;
    double sum = 0;
    for (double us : sample.node_latency_us) sum += us;
    sample.profile_us = sum;
    if (sum <= 0) sample.node_latency_us.clear();
    for (double& us : sample.node_latency_us) us *= sample.latency_us / sum;
  }
  return sample;
}

}  // namespace

Split SplitOf(absl::string_view fingerprint_hex) {
  const uint64_t percent = HashBytes(absl::StrCat("split-1:", fingerprint_hex)).low % 100;
  if (percent < 10) return Split::kTest;
  if (percent < 20) return Split::kInterval;
  if (percent < 27) return Split::kValidation;
  return Split::kTrain;
}

Split SplitOf(absl::string_view space, absl::string_view label, absl::string_view fingerprint_hex) {
  struct Family {
    absl::string_view label;
    Split split;
  };
  constexpr Family kTorchvision[] = {
      {"torchvision/alexnet", Split::kTrain},
      {"torchvision/convnext", Split::kTrain},
      {"torchvision/densenet", Split::kTest},
      {"torchvision/efficientnet", Split::kTrain},
      {"torchvision/googlenet", Split::kInterval},
      {"torchvision/inception", Split::kValidation},
      {"torchvision/maxvit", Split::kTrain},
      {"torchvision/mnasnet", Split::kTest},
      {"torchvision/mobilenetv2", Split::kTest},
      {"torchvision/mobilenetv3", Split::kTrain},
      {"torchvision/regnet", Split::kTrain},
      {"torchvision/resnet", Split::kTest},
      {"torchvision/shufflenetv2", Split::kInterval},
      {"torchvision/squeezenet", Split::kValidation},
      {"torchvision/swin_transformer", Split::kTrain},
      {"torchvision/vgg", Split::kTest},
      {"torchvision/vision_transformer", Split::kInterval},
  };
  for (const Family& family : kTorchvision) {
    if (family.label == label) return family.split;
  }
  return SplitOf(space == "torchvision" || space == "graphs" ? label : fingerprint_hex);
}

absl::StatusOr<Dataset> LoadMeasurements(absl::string_view directory) {
  COBRA_ASSIGN_OR_RETURN(std::vector<std::string> names, ListFiles(directory, ".jsonl"));
  COBRA_ASSIGN_OR_RETURN(std::vector<std::string> packed, ListFiles(directory, ".jsonl.gz"));
  names.insert(names.end(), packed.begin(), packed.end());
  if (names.empty()) return absl::NotFoundError(absl::StrCat(directory, ": has no *.jsonl or *.jsonl.gz"));
  Dataset data;
  COBRA_ASSIGN_OR_RETURN(std::string target, ReadFile(absl::StrCat(directory, "/target.json")));
  COBRA_ASSIGN_OR_RETURN(data.target, predict::TargetSpecFromJson(target));
  Reader reader;
  // What was drawn comes first: of a layer that was drawn and chosen too, the draw counts.
  std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return !IsSelected(name); });
  for (const std::string& name : names) {
    COBRA_RETURN_IF_ERROR(reader.AddFile(absl::StrCat(directory, "/", name), IsSelected(name)));
  }
  data.failures = reader.failures;
  absl::flat_hash_map<std::string, int> seen;
  for (const std::string& key : reader.order) {
    const Subject& subject = reader.subjects[key];
    COBRA_ASSIGN_OR_RETURN(Sample sample, ToSample(subject.first, LatencyOf(subject)));
    sample.selected = subject.selected;
    if (subject.selected) sample.split = Split::kTrain;
    if (auto late = subject.latency_us.find(1); late != subject.latency_us.end() && subject.latency_us.size() > 1) {
      const auto last = subject.latency_us.rbegin();  // taken again, or with nothing after the repetition the first
      const double first = last->first >= 2 ? last->second : subject.latency_us.begin()->second;
      (sample.is_network ? data.network_repeats : data.layer_repeats)
          .push_back({sample.space, sample.label, first, late->second});
    }
    if (seen.try_emplace(sample.fingerprint, 1).second) data.samples.push_back(std::move(sample));
  }
  const std::string probe_path = absl::StrCat(directory, "/probe.json");
  if (FileExists(probe_path)) {
    COBRA_ASSIGN_OR_RETURN(std::string text, ReadFile(probe_path));
    COBRA_ASSIGN_OR_RETURN(predict::ProbeResult probe, predict::ProbeResultFromJson(text));
    for (const predict::ProbeRecord& r : probe.records)
      data.probe_us.emplace_back(graph::Fingerprint(r.graph).ToHex(), r.latency_us);
  }
  return data;
}

absl::StatusOr<std::vector<Sample>> LoadRecordFile(absl::string_view path) {
  Reader reader;
  COBRA_RETURN_IF_ERROR(reader.AddFile(std::string(path)));
  std::vector<Sample> samples;
  absl::flat_hash_map<std::string, int> seen;
  for (const std::string& key : reader.order) {
    const Subject& subject = reader.subjects[key];
    COBRA_ASSIGN_OR_RETURN(Sample sample, ToSample(subject.first, LatencyOf(subject)));
    if (seen.try_emplace(sample.fingerprint, 1).second) samples.push_back(std::move(sample));
  }
  return samples;
}

absl::StatusOr<Dataset> LoadStoreMeasurements(store::Store* store, absl::string_view target) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<store::MeasurementRecord> records, store->TaskMeasurements(target));
  Dataset data;
  absl::flat_hash_map<std::string, int> seen;
  for (const store::MeasurementRecord& record : records) {
    if (record.outcome != "ok") {
      ++data.failures;
      continue;
    }
    absl::StatusOr<store::Record> said = store::RecordFromJson(record.record_json);
    if (!said.ok() || said->suspect) continue;
    said->graph_json = record.graph_json;
    COBRA_ASSIGN_OR_RETURN(Sample sample, ToSample(*said, record.latency_us));
    if (seen.try_emplace(sample.fingerprint, 1).second) data.samples.push_back(std::move(sample));
  }
  return data;
}

std::vector<const Sample*> RowsOf(const Dataset& data, Split split, bool networks) {
  std::vector<const Sample*> rows;
  for (const Sample& s : data.samples) {
    if (s.split == split && s.is_network == networks) rows.push_back(&s);
  }
  return rows;
}

double RepeatabilityFloor(const std::vector<Repeat>& repeats) {
  std::vector<double> differences;
  for (const Repeat& r : repeats)
    differences.push_back(std::fabs(r.first_us - r.second_us) / ((r.first_us + r.second_us) / 2));
  if (differences.empty()) return 0;
  std::sort(differences.begin(), differences.end());
  const size_t n = differences.size();
  return (differences[(n - 1) / 2] + differences[n / 2]) / 2;
}

}  // namespace cobra::fit
