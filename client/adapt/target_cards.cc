#include "client/adapt/target_cards.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/counted.h"
#include "client/terminal/text_table.h"

namespace cobra::client {
namespace {

// "244 GFLOPS, 37.7 GB/s": what is known.
std::string SheetText(const v1::TargetSpec& s) {
  std::vector<std::string> parts;
  const auto add = [&parts](double value, const char* unit) {
    if (value > 0) parts.push_back(absl::StrFormat(value < 100 ? "%.3g %s" : "%.0f %s", value, unit));
  };
  add(s.cores(), s.kind() == "gpu" ? "multiprocessors" : "cores");
  add(s.clock_mhz(), "MHz");
  add(s.peak_gflops(), "GFLOPS");
  add(s.memory_gb_per_s(), "GB/s");
  add(s.vector_bits(), "bits in a vector");
  add(s.last_level_cache_mb(), "MB of last-level cache");
  add(s.memory_gb(), "GB of memory");
  add(s.board_power_w(), "W");
  return absl::StrJoin(parts, ", ");
}

std::string SoftwareText(const v1::TargetSpec& s) {
  return absl::StrCat(s.runtime(), ", ", s.compile(), ", ", s.precision(), ", ", s.layout(), ", ",
                      Counted(s.threads(), "thread"));
}

std::string TrainedText(const v1::MeasuredErrors& e) {
  if (e.layers_trained() + e.networks_trained() == 0) return "not recorded";
  std::string text =
      absl::StrCat(Counted(e.networks_trained(), "network"), ", ", Counted(e.layers_trained(), "single layer"));
  if (e.not_run() > 0)
    absl::StrAppend(&text, "; ", Counted(e.not_run(), "measurement"), " failed or gave wrong results");
  return text;
}

// A negative share: not recorded.
std::string Row(absl::string_view what, int64_t rows, double mape, double within_10, double coverage) {
  return absl::StrCat("| ", what, " | ", rows, " | ", PercentText(mape), " | ",
                      within_10 >= 0 ? PercentText(within_10) : "", " | ", coverage >= 0 ? PercentText(coverage) : "",
                      " |\n");
}

std::string Card(const v1::Target& target) {
  const v1::TargetSpec& s = target.spec();
  const v1::MeasuredErrors& e = target.errors();
  std::string card =
      absl::StrCat("## ", s.name(), "\n\n", s.device(), ": ", SheetText(s), "  \n", SoftwareText(s),
                   "  \nTrained on: ", TrainedText(e),
                   "\n\n| held out | rows | MAPE | within 10 % | in the 90 % interval |\n|---|---|---|---|---|\n");
  for (const v1::SpaceErrors& space : e.spaces())
    absl::StrAppend(&card,
                    Row(space.space(), space.networks(), space.mape(), space.within_10_percent(), space.coverage()));
  if (e.networks_tested() > 0) {
    absl::StrAppend(&card, Row("all networks", e.networks_tested(), e.network_mape(), e.network_within_10_percent(),
                               e.network_coverage()));
  }
  if (e.layers_tested() > 0)
    absl::StrAppend(&card, Row("single layers", e.layers_tested(), e.layer_mape(), -1, e.layer_coverage()));
  if (e.repeatability_floor() > 0) {
    absl::StrAppend(&card, "\nThe same network measured twice differs by ", PercentText(e.repeatability_floor()),
                    " in the median.\n");
  }
  return card;
}

// Of which there is not more to say than fits a line.
bool IsSmall(const v1::Target& target) {
  constexpr int64_t kFewNetworks = 40;
  const v1::MeasuredErrors& e = target.errors();
  return e.layers_trained() == 0 && e.networks_trained() > 0 && e.networks_trained() <= kFewNetworks &&
         e.spaces_size() <= 1;
}

std::string SmallRow(const v1::Target& target) {
  const v1::TargetSpec& s = target.spec();
  const v1::MeasuredErrors& e = target.errors();
  const auto share = [&e](double of_tested) { return e.networks_tested() > 0 ? PercentText(of_tested) : "-"; };
  return absl::StrCat("| ", s.name(), " | ", s.device(), " | ", s.runtime(), ", ", s.precision(), ", ",
                      Counted(s.threads(), "thread"), " | ", e.networks_trained(), " | ", e.networks_tested(), " | ",
                      share(e.network_mape()), " | ", share(e.network_within_10_percent()), " | ",
                      share(e.network_coverage()), " |\n");
}

constexpr char kIntroduction[] = R"(# Target cards

What each target was trained on, and its errors on rows that were held out of training. Rows of
`torchvision` and `timm` are of families that were left out whole, those of other spaces are drawn at
random. Every target refuses networks whose weights have another precision than its own, and
operators that COBRA does not know. Layers in int8 are a guess unless a network with them was
measured. "Failed or gave wrong results": the runtime cannot run the graph, or its outputs differ from
LibTorch's.
)";

}  // namespace

std::string TargetCards(const v1::ListTargetsResponse& response) {
  std::vector<std::string> cards;
  std::string small;
  for (const v1::Target& target : response.targets()) {
    if (target.calibrated()) continue;
    if (IsSmall(target)) {
      absl::StrAppend(&small, SmallRow(target));
    } else {
      cards.push_back(Card(target));
    }
  }
  if (!small.empty()) {
    cards.push_back(absl::StrCat(
        "## Targets of few networks\n\nTheir 90 % intervals are fitted to all of them that have the same runtime, "
        "because a few networks held out say little about one alone. For the same reason an error in this list is "
        "rough.\n\n"
        "| target | device | runtime | learned from | held out | MAPE | within 10 % | in the 90 % interval |\n"
        "|---|---|---|---|---|---|---|---|\n",
        small));
  }
  return absl::StrCat(kIntroduction, "\n", absl::StrJoin(cards, "\n"));
}

}  // namespace cobra::client
