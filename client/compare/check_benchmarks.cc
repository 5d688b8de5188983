// What tools that keep their own history read: github-action-benchmark and Bencher.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/compare/check_formats.h"
#include "client/terminal/output.h"
#include "client/terminal/text_table.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using Json = nlohmann::ordered_json;

std::string BenchmarkName(const CheckedModel& model, const CheckedTarget& target) {
  return absl::StrCat(model.name, " on ", target.target());
}

}  // namespace

std::string CheckGithubBenchmark(const CheckReport& report) {
  Json entries = Json::array();
  for (const CheckedModel& model : report.models) {
    for (const CheckedTarget& t : model.targets) {
      const SavedTarget& after = t.change.after;
      entries.push_back(
          {{"name", BenchmarkName(model, t)},
           {"unit", "ms"},
           {"value", after.latency_us / 1000},
           {"range", absl::StrCat(MillisecondsText(after.low_us), " ... ", MillisecondsText(after.high_us))},
           {"extra", absl::StrFormat("predicted by %s, confidence %.2f", model.model_version, after.confidence)}});
    }
  }
  return IndentedJson(entries);
}

std::string CheckBencher(const CheckReport& report) {
  // Bencher's measure "latency" is in nanoseconds.
  constexpr double kNanosecondsPerMicrosecond = 1000;
  Json benchmarks = Json::object();
  for (const CheckedModel& model : report.models) {
    for (const CheckedTarget& t : model.targets) {
      const SavedTarget& after = t.change.after;
      benchmarks[BenchmarkName(model, t)]["latency"] = {{"value", kNanosecondsPerMicrosecond * after.latency_us},
                                                        {"lower_value", kNanosecondsPerMicrosecond * after.low_us},
                                                        {"upper_value", kNanosecondsPerMicrosecond * after.high_us}};
    }
  }
  return IndentedJson(benchmarks);
}

}  // namespace cobra::client
