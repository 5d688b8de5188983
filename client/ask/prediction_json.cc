#include "client/answer/target_ranking.h"
#include "client/answer/unknown.h"
#include "client/ask/prediction_render.h"
#include "client/compare/compare_render.h"
#include "client/terminal/output.h"
#include "client/terminal/text_table.h"
#include "nlohmann/json.hpp"
#include "report/question.h"

namespace cobra::client {

using nlohmann::json;

std::string PlaceOf(const v1::NodeLatency& row) { return PlaceText(row.file(), row.line()); }

double ShareOf(const v1::NodeLatency& row, const v1::TargetPrediction& prediction) {
  return prediction.latency_us() > 0 ? row.latency_us() / prediction.latency_us() : 0;
}

std::string PredictionJson(const v1::PredictResponse& r, const PredictionView& view) {
  json predictions = json::array();
  for (const v1::TargetPrediction& p : r.predictions()) {
    json j = FieldsJson<json>(p);
    if (!p.torch_version().empty()) j["torch_version"] = p.torch_version();
    if (const auto spec = view.targets.find(p.target()); spec != view.targets.end()) {
      j["device"] = spec->second.device();
      j["runtime"] = spec->second.runtime();
      j["precision"] = spec->second.precision();
      j["threads"] = spec->second.threads();
      const double memory_gb = spec->second.memory_gb();
      j["fits"] = memory_gb > 0 ? json(FitsInto(PeakMemoryOn(r, p), memory_gb)) : json();
      j["memory"] = LackOfMemory(r, p, view.targets);
    }
    if (view.budget_ms > 0) j["over_budget"] = p.latency_us() > view.budget_ms * 1000;
    if (view.breakdown) {
      json rows = json::array();
      for (const v1::NodeLatency& row : p.breakdown()) {
        rows.push_back({{"node", row.node()},
                        {"op", row.op()},
                        {"module", row.module_path()},
                        {"where", PlaceOf(row)},
                        {"latency_us", row.latency_us()},
                        {"latency_share", ShareOf(row, p)},
                        {"unknown", row.unknown()}});
      }
      j["breakdown"] = std::move(rows);
    }
    predictions.push_back(std::move(j));
  }
  json answer = {{"predictions", std::move(predictions)},
                 {"fingerprint", r.fingerprint()},
                 {"calls", r.node_count()},
                 {"params", r.parameter_count()},
                 {"macs", r.macs()},
                 {"flops", r.flops()},
                 {"peak_memory_bytes", r.peak_memory_bytes()},
                 {"model_version", r.model_version()},
                 {"read_us", r.read_us()},
                 {"predict_us", r.predict_us()}};
  if (r.predictions_size() > 1) answer["ranking"] = RankingJson(r, view.targets);
  report::AddModel(view.model, &answer);
  if (view.comparison != nullptr) answer["comparison"] = ComparisonJson(*view.comparison);
  return IndentedJson(answer);
}

}  // namespace cobra::client
