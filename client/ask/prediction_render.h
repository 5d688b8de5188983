// The answer of `cobra-client predict` as text for people and as JSON for programs.
#ifndef COBRA_CLIENT_ASK_PREDICTION_RENDER_H_
#define COBRA_CLIENT_ASK_PREDICTION_RENDER_H_

#include <cstdint>
#include <string>

#include "client/answer/memory_fit.h"
#include "client/compare/compare.h"
#include "client/input/model_arguments.h"
#include "client/terminal/terminal.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

struct PredictionView {
  std::string title;     // "resnet50() from torchvision/models/resnet.py"
  double budget_ms = 0;  // 0: none
  bool breakdown = false;
  // For JSON, so that two results can be matched (compare/compare.h).
  ModelArguments model;
  TargetSheets targets;                    // also for what does not fit into a device's memory
  const Comparison* comparison = nullptr;  // with an earlier result; null: none
  TerminalStyle style;
  const v1::PredictResponse* all = nullptr;  // targets, of which only the fastest are shown; null: all are shown
  std::string torch_version;                 // that the summary is of; empty: that of the first target
};
std::string PredictionTable(const v1::PredictResponse& response, const PredictionView& view);
// If no targets were named: only the fastest ones.
std::string ShortPredictionTable(const v1::PredictResponse& response, PredictionView view);
std::string PredictionJson(const v1::PredictResponse& response, const PredictionView& view);
// Milliseconds, one line for each target: --quiet.
std::string LatencyLines(const v1::PredictResponse& response);

std::string PlaceOf(const v1::NodeLatency& row);
double ShareOf(const v1::NodeLatency& row, const v1::TargetPrediction& prediction);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ASK_PREDICTION_RENDER_H_
