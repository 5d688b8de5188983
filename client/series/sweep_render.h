// A sweep as a table, as JSON, as a picture.
#ifndef COBRA_CLIENT_SERIES_SWEEP_RENDER_H_
#define COBRA_CLIENT_SERIES_SWEEP_RENDER_H_

#include <string>

#include "client/input/model_arguments.h"
#include "client/series/chart.h"
#include "client/series/sweep.h"
#include "client/terminal/terminal.h"
#include "nlohmann/json_fwd.hpp"

namespace cobra::client {

std::string SweepTable(const Sweep& sweep, const TerminalStyle& style = {});
// Batch and milliseconds, one line for each batch and target: --quiet.
std::string SweepLines(const Sweep& sweep);
// With the question, as PredictionJson has it; units in every name.
nlohmann::json SweepDocument(const Sweep& sweep, const ModelArguments& model);
std::string SweepJson(const Sweep& sweep, const ModelArguments& model);

// An SVG that needs no other file: latency and throughput over batch, each with its interval; a
// ring at the knee, guesses hollow, a dashed line where memory ends. Dark where the reader's page
// is.
// REQUIRES: at most kMostCurves targets.
std::string SweepSvg(const Sweep& sweep);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_SERIES_SWEEP_RENDER_H_
