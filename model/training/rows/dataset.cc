#include "model/training/rows/dataset.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/bytes/hash.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "model/predict/as_run/kernel_times.h"
#include "model/predict/weights/version.h"
#include "model/training/rows/measuring_cost.h"
#include "store/graph_reader.h"
#include "store/measurement_json.h"
#include "store/record_file.h"

namespace cobra::training {
namespace {

// All measurements of one subject.
struct Repetitions {
  store::Measurement first;
  // Whether it comes from a file of rows that were selected for training.
  bool selected = false;
  // Keyed by the number of the repetition.
  std::map<int, double> latency_us;
};

struct Reader {
  store::GraphReader* graphs;  // not owned
  // Subjects in the order of their first record.
  std::vector<std::string> order = {};
  absl::flat_hash_map<std::string, Repetitions> subjects = {};
  int64_t failures = 0;

  absl::Status AddFile(const std::string& path, bool selected = false) {
    COBRA_ASSIGN_OR_RETURN(const std::string text, store::ReadRecordFile(path));
    int line_number = 0;
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      ++line_number;
      if (!line.empty()) COBRA_RETURN_IF_ERROR(AddLine(line, absl::StrCat(path, ":", line_number), selected));
    }
    return absl::OkStatus();
  }

  absl::Status AddLine(absl::string_view line, absl::string_view where, bool selected) {
    const store::RecordParts parts = store::SplitRecord(line);
    absl::StatusOr<store::Measurement> measurement = store::MeasurementOf(parts.fields);
    if (absl::IsNotFound(measurement.status())) return absl::OkStatus();  // the record of a session or a canary
    if (!measurement.ok()) return absl::DataLossError(absl::StrCat(where, ": ", measurement.status().message()));
    if (measurement->outcome != store::Outcome::ok) {
      ++failures;
      return absl::OkStatus();
    }
    store::Subject& subject = measurement->subject;
    const int repeat = subject.repeat;
    if (parts.graph_json.empty() || measurement->undisturbed_us() <= 0) {
      return absl::DataLossError(absl::StrCat(where, ": a record needs graph and latency_us"));
    }
    const std::string name = subject.Name();
    auto [it, inserted] = subjects.try_emplace(name);
    it->second.latency_us[repeat] = measurement->undisturbed_us();
    if (inserted) {
      order.push_back(name);
      it->second.selected = selected;
    }
    if (!inserted && repeat != 0) return absl::OkStatus();
    if (const absl::Status graph = graphs->Read(parts.graph_json, &subject); !graph.ok())
      return absl::DataLossError(absl::StrCat(where, ": graph: ", graph.message()));
    it->second.first = *std::move(measurement);
    return absl::OkStatus();
  }
};

// The first measurement, or the last of those that were repeated because the machine was disturbed;
// of a first that was disturbed and its repetition the lower one.
double LatencyOf(const Repetitions& r) {
  if (const auto last = r.latency_us.rbegin(); last->first >= 2) return last->second;
  const bool disturbed = r.first.subject.repeat == 0 && r.first.conditions.suspect;
  if (disturbed && r.latency_us.count(1) > 0) return std::min(r.latency_us.begin()->second, r.latency_us.at(1));
  return r.latency_us.begin()->second;
}

// Rows selected because a model was uncertain are for training only: errors and intervals are
// computed on rows that were drawn at random.
bool IsSelected(absl::string_view file_name) { return absl::StartsWith(file_name, "selected-"); }

// Scales the profile of a network's calls so that it adds up to the network's latency.
void ScaleProfile(Sample* sample) {
  std::vector<double>& measured = sample->measurement.node_latency_us;
  if (measured.empty() && sample->is_network())
    measured = predict::TimesOfCalls(sample->graph(), sample->measurement.profile_json);
  sample->measurement.profile_json.clear();
  if (measured.size() != sample->graph().nodes().size()) return;
  double sum = 0;
  for (double us : measured) sum += us;
  sample->profile_us = sum;
  if (sum <= 0) return;
  sample->node_latency_us = measured;
  for (double& us : sample->node_latency_us) us *= sample->latency_us() / sum;
}

Sample ToSample(store::Measurement measurement, double latency_us) {
  Sample sample{std::move(measurement)};
  const store::Subject& subject = sample.measurement.subject;
  sample.split = SplitOf(subject.space, subject.label, subject.fingerprint);
  if (!subject.is_network) sample.measuring_s = RecordedSeconds(sample.measurement);
  sample.measurement.latency.median_us = latency_us;
  sample.is_disturbed = sample.measurement.conditions.suspect;
  sample.measurement.latency.quiet_us = 0;  // these two are included in latency_us
  sample.measurement.conditions.suspect = false;
  ScaleProfile(&sample);
  return sample;
}

// What a store of an older server may hold: a time that cannot be learned.
absl::Status CheckRow(const store::Measurement& measurement) {
  COBRA_RETURN_IF_ERROR(store::CheckLatency(measurement));
  return store::CheckReported(measurement);
}

// Makes the rows of all subjects in reading order, one per fingerprint. Calls `each` for every
// subject's row, even for one that is dropped because an earlier row has its fingerprint.
std::vector<Sample> RowsFrom(Reader reader, absl::FunctionRef<void(const Repetitions&, Sample*)> each) {
  std::vector<Sample> rows;
  absl::flat_hash_set<std::string> seen;
  for (const std::string& name : reader.order) {
    Repetitions& subject = reader.subjects[name];
    const double latency_us = LatencyOf(subject);
    Sample sample = ToSample(std::move(subject.first), latency_us);
    each(subject, &sample);
    if (seen.insert(sample.fingerprint()).second) rows.push_back(std::move(sample));
  }
  return rows;
}

// The first measurement, or the last of the repeated ones, and the one for the repeatability floor;
// nullopt if the latter was not taken.
std::optional<Repeat> RepeatOf(const Repetitions& subject, const Sample& sample) {
  const auto late = subject.latency_us.find(1);
  if (late == subject.latency_us.end() || subject.latency_us.size() == 1) return std::nullopt;
  const auto last = subject.latency_us.rbegin();
  const double first = last->first >= 2 ? last->second : subject.latency_us.begin()->second;
  return Repeat{sample.space(), sample.label(), first, late->second};
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
  constexpr Family kFamilies[] = {
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
      // Kin of torchvision's test families.
      {"timm/densenet", Split::kTest},
      {"timm/efficientnet", Split::kTest},
      {"timm/res2net", Split::kTest},
      {"timm/resnest", Split::kTest},
      {"timm/resnet", Split::kTest},
      {"timm/resnetv2", Split::kTest},
      {"timm/sknet", Split::kTest},
      {"timm/vgg", Split::kTest},
  };
  for (const Family& family : kFamilies) {
    if (family.label == label) return family.split;
  }
  return SplitOf(space == "torchvision" || space == "timm" || space == "graphs" ? label : fingerprint_hex);
}

namespace {

absl::StatusOr<Dataset> Load(absl::string_view directory, store::GraphReader* graphs) {
  COBRA_ASSIGN_OR_RETURN(std::vector<std::string> names, ListFiles(directory, ".jsonl"));
  for (const char* packed : {".jsonl.gz", ".jsonl.xz"}) {
    COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> more, ListFiles(directory, packed));
    names.insert(names.end(), more.begin(), more.end());
  }
  if (names.empty()) return absl::NotFoundError(absl::StrCat(directory, ": has no *.jsonl, *.jsonl.gz or *.jsonl.xz"));
  Dataset data;
  COBRA_ASSIGN_OR_RETURN(std::string target, ReadFile(absl::StrCat(directory, "/target.json")));
  COBRA_ASSIGN_OR_RETURN(data.target, predict::TargetSpecFromJson(target));
  Reader reader{graphs};
  // Randomly drawn rows come first: a layer that was both drawn and selected counts as drawn.
  std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return !IsSelected(name); });
  for (const std::string& name : names) {
    COBRA_RETURN_IF_ERROR(reader.AddFile(absl::StrCat(directory, "/", name), IsSelected(name)));
  }
  data.failures = reader.failures;
  const auto note = [&data](const Repetitions& subject, Sample* sample) {
    sample->selected = subject.selected;
    if (subject.selected) sample->split = Split::kTrain;
    if (std::optional<Repeat> repeat = RepeatOf(subject, *sample)) {
      (sample->is_network() ? data.network_repeats : data.layer_repeats).push_back(*std::move(repeat));
    }
  };
  data.samples = RowsFrom(std::move(reader), note);
  const std::string probe_path = absl::StrCat(directory, "/probe.json");
  if (FileExists(probe_path)) {
    COBRA_ASSIGN_OR_RETURN(std::string text, ReadFile(probe_path));
    COBRA_ASSIGN_OR_RETURN(predict::ProbeResult probe, predict::ProbeResultFromJson(text));
    for (const store::Measurement& r : probe.records) {
      data.probe_us.emplace_back(r.subject.fingerprint, r.undisturbed_us());
    }
  }
  return data;
}

}  // namespace

absl::StatusOr<Dataset> LoadMeasurements(absl::string_view directory) {
  store::GraphReader graphs;
  return Load(directory, &graphs);
}

absl::StatusOr<std::vector<Dataset>> LoadAllMeasurements(const std::vector<std::string>& directories) {
  // Reading timm's takes some 2 GB for a moment.
  constexpr int64_t kBytesOfThread = int64_t{2} << 30;
  const int64_t memory = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  const auto count = std::min({static_cast<int64_t>(directories.size()), memory / kBytesOfThread,
                               static_cast<int64_t>(std::thread::hardware_concurrency())});
  std::vector<absl::StatusOr<Dataset>> loaded(directories.size(), absl::UnknownError("not read"));
  store::GraphReader graphs;
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < directories.size(); i = next++) loaded[i] = Load(directories[i], &graphs);
  };
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  std::vector<Dataset> sets;
  for (absl::StatusOr<Dataset>& data : loaded) {
    COBRA_RETURN_IF_ERROR(data.status());
    sets.push_back(*std::move(data));
  }
  return sets;
}

absl::StatusOr<std::vector<Sample>> LoadRecordFile(absl::string_view path) {
  store::GraphReader graphs;
  Reader reader{&graphs};
  COBRA_RETURN_IF_ERROR(reader.AddFile(std::string(path)));
  return RowsFrom(std::move(reader), [](const Repetitions&, Sample*) {});
}

absl::StatusOr<Dataset> LoadStoreMeasurements(store::Store* store, absl::string_view target) {
  COBRA_ASSIGN_OR_RETURN(std::vector<store::StoredMeasurement> stored, store->TaskMeasurements(target));
  Dataset data;
  absl::flat_hash_set<std::string> seen;
  for (store::StoredMeasurement& row : stored) {
    store::Measurement& measurement = row.measurement;
    if (measurement.outcome != store::Outcome::ok) {
      ++data.failures;
      continue;
    }
    if (!row.held.empty()) {
      data.held.push_back(std::move(row.held));
      continue;
    }
    if (measurement.conditions.suspect) continue;
    const double latency_us = measurement.undisturbed_us();
    const absl::Status readable = CheckRow(measurement);
    absl::StatusOr<Sample> sample =
        readable.ok() ? ToSample(std::move(measurement), latency_us) : absl::StatusOr<Sample>(readable);
    // One such row must not prevent learning from the others.
    if (sample.ok() && sample->graph().nodes().empty()) sample = absl::InvalidArgumentError("graph: has no calls");
    if (!sample.ok()) {
      ++data.unreadable;
      LogWarning(absl::StrCat("the measurement of task ", row.task_id, " is left out: ", sample.status().message()));
      continue;
    }
    if (seen.insert(sample->fingerprint()).second) data.samples.push_back(*std::move(sample));
  }
  return data;
}

absl::Status HoldOutSome(std::vector<Sample>* rows) {
  constexpr int64_t kEnoughKept = 5;
  constexpr size_t kOneOf = 5;
  const auto is_kept = [](const Sample& s) { return s.split != Split::kTrain; };
  if (std::count_if(rows->begin(), rows->end(), is_kept) >= kEnoughKept) return absl::OkStatus();
  std::map<std::string, std::vector<Sample*>> kinds;
  for (Sample& row : *rows) {
    row.split = Split::kTrain;
    kinds[row.is_network() ? "network" : absl::StrCat("layer ", row.label())].push_back(&row);
  }
  const bool has_layers = kinds.size() > kinds.count("network");
  for (auto& [kind, of_kind] : kinds) {
    if (of_kind.size() < 2 && !(kind == "network" && has_layers)) continue;
    // By the fingerprint, so that the choice does not depend on who reported first.
    std::sort(of_kind.begin(), of_kind.end(),
              [](const Sample* a, const Sample* b) { return a->fingerprint() < b->fingerprint(); });
    for (size_t i = 0; i < of_kind.size(); i += kOneOf) of_kind[i]->split = Split::kTest;
  }
  if (std::any_of(rows->begin(), rows->end(), is_kept)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(rows->size(),
                   " new rows are too few: one must be held out of training to judge the new version, and none of its "
                   "type would be left; measure more of them"));
}

void NumberTargets(std::vector<Dataset>* sets) {
  for (size_t t = 0; t < sets->size(); ++t) {
    for (Sample& sample : (*sets)[t].samples) sample.target = static_cast<int>(t);
  }
}

absl::StatusOr<int> TargetOf(const predict::Manifest& manifest, const Dataset& data) {
  std::vector<std::string> names;
  for (size_t t = 0; t < manifest.targets.size(); ++t) {
    names.push_back(manifest.targets[t].spec.name);
    if (names.back() == data.target.name) return static_cast<int>(t);
  }
  // The rows of a store name a target as the worker does.
  if (names.size() == 1) return 0;
  return absl::InvalidArgumentError(
      absl::StrCat("target ", data.target.name, " of the rows: the version has ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<int> TargetOf(absl::string_view directory, const Dataset& data) {
  COBRA_ASSIGN_OR_RETURN(const predict::ModelVersion version, predict::ReadVersion(directory));
  return TargetOf(version.manifest, data);
}

std::vector<const Sample*> RowsOf(const Dataset& data, Split split, bool networks) {
  std::vector<const Sample*> rows;
  for (const Sample& s : data.samples) {
    if (s.split == split && s.is_network() == networks) rows.push_back(&s);
  }
  return rows;
}

double RepeatabilityFloor(const std::vector<Repeat>& repeats) {
  std::vector<double> differences;
  for (const Repeat& r : repeats)
    differences.push_back(std::fabs(r.first_us - r.second_us) / ((r.first_us + r.second_us) / 2));
  return Median(std::move(differences));
}

}  // namespace cobra::training
