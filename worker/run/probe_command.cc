#include "worker/run/probe_command.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/text/without_escapes.h"
#include "model/predict/target/disturbance.h"
#include "model/predict/target/target.h"
#include "nlohmann/json.hpp"
#include "worker/run/probe.h"

namespace cobra::worker {
namespace {

constexpr absl::Duration kLogPause = absl::Seconds(15);

}  // namespace

absl::Status PrintProbe(const GroupRunnerOptions& options, absl::Duration budget, bool as_json) {
  // On a terminal one line, drawn again and erased at the end; in a log some lines a minute.
  const bool is_terminal = ::isatty(STDERR_FILENO) != 0;
  absl::Time next_line = absl::Now() + kLogPause;
  const auto progress = [is_terminal, &next_line](int done, int subjects, absl::string_view label) {
    if (!is_terminal && absl::Now() < next_line) return;
    next_line = absl::Now() + kLogPause;
    std::fprintf(stderr,
                 is_terminal ? "\r\033[Kprobe: %d measurements of %d graphs %s"
                             : "probe: %d measurements of %d graphs, the last one %s\n",
                 done, subjects, std::string(label).c_str());
  };
  const absl::StatusOr<std::string> measured = RunProbe(options, budget, progress);
  if (is_terminal) std::fputs("\r\033[K", stderr);
  COBRA_ASSIGN_OR_RETURN(const std::string json, measured);
  const nlohmann::json canary = ParseJson<nlohmann::json>(json)["canary"];
  if (canary["disturbed"].get<bool>()) {
    std::fprintf(stderr,
                 "warning: this machine was busy during the probe (the same work took %.2f times as long, a copy "
                 "%.2f times): measure again when it is idle\n",
                 canary["compute_ratio"].get<double>(), canary["copy_ratio"].get<double>());
  }
  COBRA_ASSIGN_OR_RETURN(const predict::ProbeResult result, predict::ProbeResultFromJson(json));
  const predict::Disturbance disturbance = predict::DisturbanceOf(result.disturbance);
  if (predict::IsNoticeable(disturbance)) std::fprintf(stderr, "%s\n", predict::DisturbanceText(disturbance).c_str());
  if (as_json) {
    std::printf("%s\n", json.c_str());
    return absl::OkStatus();
  }
  const predict::TargetSpec& machine = result.machine;
  std::printf("%s: %.0f GFLOP/s, %.1f GB/s\n",
              WithoutEscapes(absl::StrCat(machine.device, ", ", machine.runtime)).c_str(), machine.peak_gflops,
              machine.memory_gb_per_s);
  for (const store::Measurement& measured : result.records) {
    const graph::Graph& graph = measured.subject.graph;
    const graph::Node& last = graph.nodes().back();
    std::printf("%12.1f us  %s of %zu calls -> %s\n", measured.latency.median_us,
                measured.subject.is_network ? "network" : std::string(graph::OpName(last.op)).c_str(),
                graph.nodes().size(), graph::TypeText(last.outputs[0]).c_str());
  }
  return absl::OkStatus();
}

}  // namespace cobra::worker
