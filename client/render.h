// Responses as text for people and as JSON for programs (with units in every name).
#ifndef COBRA_CLIENT_RENDER_H_
#define COBRA_CLIENT_RENDER_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "client/compare.h"
#include "client/memory_fit.h"
#include "client/model_input.h"
#include "client/terminal.h"
#include "cobra/v1/cobra.pb.h"
#include "graph/graph.h"
#include "nlohmann/json_fwd.hpp"

namespace cobra::client {

struct PredictionView {
  std::string title;     // "resnet50() from torchvision/models/resnet.py"
  double budget_ms = 0;  // 0: none
  bool breakdown = false;
  // For JSON, so that two results can be matched (compare.h).
  ModelArguments model;
  TargetSheets targets;                    // also for what does not fit into a device's memory
  const Comparison* comparison = nullptr;  // with an earlier result; null: none
  TerminalStyle style;
  const v1::PredictResponse* all = nullptr;  // targets, of which only the fastest are shown; null: all are shown
  std::string torch_version;                 // that the summary is of; empty: that of the first target
};
std::string PredictionTable(const v1::PredictResponse& response, const PredictionView& view);
// Of targets that nobody named: the fastest ones.
std::string ShortPredictionTable(const v1::PredictResponse& response, PredictionView view);
std::string PredictionJson(const v1::PredictResponse& response, const PredictionView& view);
// Milliseconds, one line for each target: --quiet.
std::string LatencyLines(const v1::PredictResponse& response);

// "2 calls, 448 parameters, 388.8 k multiply-accumulates, peak memory 0.2 MiB"
std::string SummaryLine(int64_t calls, int64_t parameters, int64_t macs, int64_t peak_memory_bytes);
std::string PlaceOf(const v1::NodeLatency& row);
double ShareOf(const v1::NodeLatency& row, const v1::TargetPrediction& prediction);

// Adds the model as given on the command line, with the names of the flags as keys.
void AddQuestion(const ModelArguments& model, nlohmann::json* j);

std::string GraphTable(const graph::Graph& graph);

std::string TargetsTable(const v1::ListTargetsResponse& response, const TerminalStyle& style = {});
std::string TargetsJson(const v1::ListTargetsResponse& response);

// A warning if the machine was busy during the probe. "" if it was not, or if the worker did not
// record it.
std::string ProbeWarning(absl::string_view probe_json);
std::string CalibrationTable(const v1::CalibrateResponse& response, absl::string_view warning);
std::string CalibrationJson(const v1::CalibrateResponse& response, absl::string_view warning);
// What serves after a version was withdrawn.
// `refused`: rows that were left out.
std::string AdaptedText(const v1::AdaptResponse& response, const std::vector<std::string>& refused);
std::string AdaptedJson(const v1::AdaptResponse& response, const std::vector<std::string>& refused);
std::string UndoText(const v1::UndoCalibrationRequest& request, const v1::UndoCalibrationResponse& response);
std::string UndoJson(const v1::UndoCalibrationRequest& request, const v1::UndoCalibrationResponse& response);

std::string ModelTable(const v1::GetModelInfoResponse& response);
std::string ModelJson(const v1::GetModelInfoResponse& response);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_RENDER_H_
