#include "model/training/selection/select.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "graph/cost/cost.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "model/training/rows/dataset.h"
#include "model/training/rows/measuring_cost.h"
#include "model/training/rows/metrics.h"
#include "model/training/selection/active.h"
#include "model/training/selection/layer_model.h"
#include "nlohmann/json.hpp"
#include "store/measurement_json.h"
#include "store/record_file.h"

namespace cobra::training {
namespace {

using nlohmann::ordered_json;

struct Candidate {
  std::string line;
  Sample sample;
};

bool IsLayer(const graph::Graph& graph) {
  int calls = 0;
  graph::Op first = graph.nodes()[0].op;
  for (const graph::Node& node : graph.nodes()) {
    if (graph::GetOpInfo(node.op).cost_class == graph::CostClass::kView) continue;
    if (calls++ == 0) first = node.op;
    if (node.op != first)
      return false;  // a chain of one operator is a layer too: the paper's addition of several tensors
  }
  return true;
}

// Errors name the line of the file.
absl::StatusOr<std::vector<Candidate>> ReadCandidates(const std::string& path) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, store::ReadRecordFile(path));
  std::vector<Candidate> candidates;
  int64_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    const auto error = [&](absl::string_view what) {
      return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": ", what));
    };
    const store::RecordParts parts = store::SplitRecord(line);
    const ordered_json& j = parts.fields;
    if (!j.is_object()) return error("not a JSON object");
    if (const auto kind = j.find("kind"); kind != j.end() && (*kind == "session" || *kind == "canary")) continue;
    if (parts.graph_json.empty()) return error("has no \"graph\"");
    absl::StatusOr<graph::Graph> graph = graph::GraphFromJson(parts.graph_json);
    if (!graph.ok()) return error(graph.status().message());
    if (graph->nodes().empty()) return error("the graph has no calls");
    store::Measurement candidate;
    candidate.subject.is_network = !IsLayer(*graph);
    if (const absl::Status status = store::MergeFields(j, &candidate); !status.ok()) return error(status.message());
    if (candidate.subject.is_network) {
      return error("is a network; select chooses layers (networks: cobra-worker measure --space)");
    }
    store::SetGraph(*std::move(graph), &candidate.subject);
    candidate.latency.median_us = 1;  // unknown and not used
    Sample sample{std::move(candidate)};
    candidates.push_back({std::string(line), std::move(sample)});
  }
  return candidates;
}

// All layers that the model embeds, in one list: rows, then candidates, then targets.
struct Question {
  std::vector<const Sample*> layers;
  std::vector<size_t> measured, held_out, pool, targets;  // indices in `layers`
};

void AddRows(const Dataset& rows, Question* q) {
  for (const Sample& sample : rows.samples) {
    if (sample.is_network()) continue;
    (sample.split == Split::kTrain ? q->measured : q->held_out).push_back(q->layers.size());
    q->layers.push_back(&sample);
  }
}

// Adds the candidates that are neither measured nor equal to an earlier one.
void AddPool(const Dataset& rows, const std::vector<Candidate>& candidates, Question* q,
             std::vector<const Candidate*>* pool) {
  absl::flat_hash_set<std::string> known;
  for (const Sample& sample : rows.samples) known.insert(sample.fingerprint());
  for (const Candidate& candidate : candidates) {
    if (!known.insert(candidate.sample.fingerprint()).second) continue;
    q->pool.push_back(q->layers.size());
    q->layers.push_back(&candidate.sample);
    pool->push_back(&candidate);
  }
}

absl::StatusOr<SelectionTask> MakeTask(LayerModel* model, const Question& q) {
  SelectionTask task;
  COBRA_ASSIGN_OR_RETURN(const std::vector<double> pool_us, model->Predict(q.pool));
  for (size_t i = 0; i < q.pool.size(); ++i) {
    task.cost_s.push_back(
        ExpectedSeconds(std::min(pool_us[i], 1e6), graph::PeakMemoryBytes(q.layers[q.pool[i]]->graph())));
  }
  COBRA_ASSIGN_OR_RETURN(const std::vector<double> held_out_us, model->Predict(q.held_out));
  for (size_t i = 0; i < q.held_out.size(); ++i) {
    task.tried_error.push_back(AbsLogError(held_out_us[i], q.layers[q.held_out[i]]->latency_us()));
  }
  COBRA_ASSIGN_OR_RETURN(task.measured, model->Embed(q.measured));
  COBRA_ASSIGN_OR_RETURN(task.tried, model->Embed(q.held_out));
  COBRA_ASSIGN_OR_RETURN(task.pool, model->Embed(q.pool));
  COBRA_ASSIGN_OR_RETURN(task.targets, model->Embed(q.targets));
  return task;
}

std::vector<SelectedKind> KindsOf(const SelectionTask& task, const Selection& selection) {
  std::map<std::string, SelectedKind> kinds;
  for (const std::string& kind : task.pool.kinds) ++kinds[kind].candidates;
  for (size_t i : selection.chosen) {
    SelectedKind& kind = kinds[task.pool.kinds[i]];
    ++kind.chosen;
    kind.seconds += task.cost_s[i];
  }
  for (size_t i = 0; i < task.tried.size(); ++i) {
    const auto kind = kinds.find(task.tried.kinds[i]);
    if (kind == kinds.end()) continue;
    ++kind->second.held_out;
    kind->second.held_out_error += task.tried_error[i];
  }
  std::vector<SelectedKind> result;
  for (auto& [name, kind] : kinds) {
    kind.kind = name;
    if (kind.held_out > 0) kind.held_out_error /= static_cast<double>(kind.held_out);
    result.push_back(std::move(kind));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const SelectedKind& a, const SelectedKind& b) { return a.seconds > b.seconds; });
  return result;
}

}  // namespace

absl::StatusOr<SelectReport> SelectCandidates(const SelectOptions& options) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<Candidate> candidates, ReadCandidates(options.pool));
  std::vector<Candidate> target_lines;
  if (!options.targets.empty()) {
    COBRA_ASSIGN_OR_RETURN(target_lines, ReadCandidates(options.targets));
  }
  COBRA_ASSIGN_OR_RETURN(const Dataset rows, LoadMeasurements(options.rows));
  Question q;
  std::vector<const Candidate*> pool;
  AddRows(rows, &q);
  AddPool(rows, candidates, &q, &pool);
  if (pool.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(options.pool, ": everything in it has been measured (", options.rows, ")"));
  q.targets = q.pool;
  if (!target_lines.empty()) {
    q.targets.clear();
    for (const Candidate& target : target_lines) {
      q.targets.push_back(q.layers.size());
      q.layers.push_back(&target.sample);
    }
  }
  std::mt19937_64 random(options.seed);
  std::shuffle(q.targets.begin(), q.targets.end(), random);
  q.targets.resize(std::min(q.targets.size(), options.max_targets));

  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<LayerModel> model, LayerModel::Load(options.model, q.layers));
  COBRA_ASSIGN_OR_RETURN(const SelectionTask task, MakeTask(model.get(), q));
  SelectionOptions how;
  how.budget_s = options.budget_s;
  how.seed = options.seed;
  COBRA_ASSIGN_OR_RETURN(const Selection selection, SelectLayers(task, how));
  SelectReport report;
  report.candidates = static_cast<int64_t>(candidates.size());
  report.known = report.candidates - static_cast<int64_t>(pool.size());
  report.chosen = static_cast<int64_t>(selection.chosen.size());
  report.seconds = selection.seconds;
  for (size_t i : selection.chosen) absl::StrAppend(&report.lines, pool[i]->line, "\n");
  report.kinds = KindsOf(task, selection);
  return report;
}

std::string SelectReportToTable(const SelectReport& report) {
  std::string out = absl::StrFormat("%-32s %10s %8s %9s %22s\n", "operator", "candidates", "chosen", "seconds",
                                    "held-out |log error|");
  for (const SelectedKind& kind : report.kinds) {
    absl::StrAppendFormat(&out, "%-32s %10d %8d %9.1f ", kind.kind, kind.candidates, kind.chosen, kind.seconds);
    out += kind.held_out == 0 ? absl::StrFormat("%22s\n", "never tried")
                              : absl::StrFormat("%12.3f of %6d\n", kind.held_out_error, kind.held_out);
  }
  absl::StrAppendFormat(&out, "%d of %d candidates (%d known already), %.0f s\n", report.chosen, report.candidates,
                        report.known, report.seconds);
  return out;
}

}  // namespace cobra::training
