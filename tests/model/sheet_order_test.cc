// GPUs of data/devices/gpus.csv by their data sheets alone, with the shipped weights: no answer
// below what a sheet allows, and none slower than that of a device that is worse in everything.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "graph/builder/net_builder.h"
#include "model/predict/predictor.h"
#include "model/predict/price/launch_time.h"
#include "model/predict/price/sheet_limits.h"
#include "model/predict/target/device_table.h"
#include "model/predict/target/sheet_comparison.h"

namespace cobra::predict {
namespace {

using graph::NetBuilder;
using graph::Op;
using graph::ValueRef;

// A step of a decoder whose weights are `rows` x 4096 x 14336 large: what reading them takes is
// most of it.
graph::Graph Decoder(int64_t rows) {
  NetBuilder net;
  ValueRef x = net.Input({rows, 4096});
  for (int i = 0; i < 8; ++i) {
    const ValueRef gate = net.Call(Op::silu, {}, {net.Linear(x, 14336)});
    x = net.Add(x, net.Linear(net.Call(Op::mul, {}, {gate, net.Linear(x, 14336)}), 4096));
  }
  return std::move(net).Finish({x}).value();
}

struct Answered {
  TargetSpec sheet;
  std::vector<double> us;
};

// Better, or as good, in every figure.
bool IsNoWorse(const TargetSpec& a, const TargetSpec& b) {
  for (const auto figure :
       {&TargetSpec::peak_gflops, &TargetSpec::convolution_gflops, &TargetSpec::memory_gb_per_s,
        &TargetSpec::last_level_cache_mb, &TargetSpec::clock_mhz, &TargetSpec::cores, &TargetSpec::board_power_w}) {
    if (!(b.*figure > 0) || a.*figure < b.*figure) return false;
  }
  return IsSameVendor(a, b) && ProcessNm(a.device) <= ProcessNm(b.device);
}

std::vector<TargetSpec> SheetsOfTable(const std::string& precision) {
  std::vector<TargetSpec> sheets;
  const std::vector<absl::string_view> lines = absl::StrSplit(GpuTable(), '\n', absl::SkipEmpty());
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<absl::string_view> cells = absl::StrSplit(lines[i], ',');
    TargetSpec sheet;
    sheet.name = sheet.device = std::string(cells[1]);
    sheet.kind = "gpu";
    sheet.runtime = "torch-2.5.0";
    sheet.precision = precision;
    if (!LacksUnitsFor(sheet.device, precision)) sheets.push_back(std::move(sheet));
  }
  return sheets;
}

class SheetOrderTest : public testing::TestWithParam<const char*> {};

TEST_P(SheetOrderTest, AnswersKeepToTheSheets) {
  const auto predictor = Predictor::Load(COBRA_SOURCE_DIR "/model/pretrained").value();
  const std::vector<graph::Graph> graphs = {Decoder(1), Decoder(512)};
  std::vector<Answered> all;
  for (const TargetSpec& sheet : SheetsOfTable(GetParam())) {
    const auto adapted = predictor->Adapt(sheet, {});
    ASSERT_TRUE(adapted.ok()) << sheet.device << ": " << adapted.status();
    Answered& answered = all.emplace_back(Answered{adapted->machine, {}});
    for (const graph::Graph& graph : graphs) {
      const auto answer = predictor->Predict(graph, adapted->base_target, &*adapted);
      ASSERT_TRUE(answer.ok()) << sheet.device << ": " << answer.status();
      const SheetLimits limits(adapted->machine, graph);
      const std::vector<double> launches = LaunchesOf(graph, adapted->machine);
      double least_us = 0, most_of_products_us = 0, products_us = 0;
      for (size_t call = 0; call < graph.nodes().size(); ++call) {
        least_us += std::exp(limits.Least(call));
        if (std::isinf(limits.Most(call))) continue;
        // A product whose arguments are cast may wait until its host has launched the casts.
        most_of_products_us += std::exp(limits.Most(call)) + kHostUs * (launches[call] - 1);
        products_us += answer->node_latency_us[call];
      }
      EXPECT_GE(answer->latency_us, 0.999 * least_us) << sheet.device;
      EXPECT_LE(products_us, 1.02 * most_of_products_us) << sheet.device;
      answered.us.push_back(answer->latency_us);
    }
  }
  size_t pairs = 0, slower = 0;
  for (const Answered& better : all) {
    for (const Answered& worse : all) {
      if (&better == &worse || !IsNoWorse(better.sheet, worse.sheet)) continue;
      for (size_t i = 0; i < graphs.size(); ++i) {
        ++pairs;
        slower += better.us[i] > 1.02 * worse.us[i];
        EXPECT_LT(better.us[i], 1.3 * worse.us[i]) << better.sheet.device << " and " << worse.sheet.device;
      }
    }
  }
  EXPECT_GT(pairs, 300U);
  EXPECT_LT(static_cast<double>(slower), 0.05 * static_cast<double>(pairs));
}

INSTANTIATE_TEST_SUITE_P(Precisions, SheetOrderTest,
                         testing::Values("bfloat16", "float16", "amp-float16", "tf32-convolutions", "float32"));

}  // namespace
}  // namespace cobra::predict
