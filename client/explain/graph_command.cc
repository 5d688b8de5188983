#include "client/explain/graph_command.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/user_error.h"
#include "client/answer/exit_code.h"
#include "client/answer/unknown.h"
#include "client/request/ask_about.h"
#include "client/terminal/output.h"
#include "export/ncnn/writer.h"
#include "export/onnx/writer.h"
#include "export/python/program.h"
#include "export/weights.h"
#include "graph/constants/constant_calls.h"
#include "graph/cost/cost.h"
#include "graph/form/json.h"
#include "report/network_svg.h"
#include "report/question.h"

namespace cobra::client {
namespace {

std::string GraphTable(const graph::Graph& graph) {
  const graph::GraphCost cost = graph::CostOf(graph);
  return absl::StrCat(graph::PrintGraph(graph), "\n",
                      SummaryLine(static_cast<int64_t>(graph.nodes().size()), graph.num_parameters(), cost.macs,
                                  graph::PeakMemoryBytes(graph)),
                      "\n");
}

absl::Status WriteModel(const graph::Graph& given, const GraphFlags& flags, absl::string_view source) {
  if (flags.file.format == "python") {
    COBRA_ASSIGN_OR_RETURN(const std::string program, exporting::WriteProgram(given, source));
    return WriteFileAtomic(flags.file.path, program);
  }
  // What depends on no input is a constant of a file, with its values where they are known.
  const std::optional<graph::WithoutCalls> prepared = graph::WithoutConstantCalls(given, /*of_parameters=*/false);
  const graph::Graph& graph = prepared.has_value() ? prepared->graph : given;
  const auto seed = static_cast<uint64_t>(flags.seed);
  absl::StatusOr<exporting::Weights> weights = exporting::Weights::Random(graph, seed);
  if (!weights.ok()) return UserError(Diagnostic::Kind::kUnsupported, std::string(weights.status().message()));
  if (flags.file.format == "ncnn") return exporting::WriteNcnnFiles(graph, *weights, flags.file.path);
  return exporting::WriteOnnxFiles(graph, *weights, flags.file.path);
}

// Where the weights of a written file are, for people.
std::string WeightsOf(const WrittenFile& file) {
  if (file.format == "python") return "its weights are random numbers when it runs";
  return absl::StrCat("weights, random numbers, in ", file.format == "ncnn" ? exporting::NcnnWeightsPath(file.path)
                                                                            : exporting::WeightsPath(file.path));
}

}  // namespace

absl::StatusOr<int> RunGraph(const CommonFlags& common, GraphFlags flags) {
  COBRA_RETURN_IF_ERROR(CheckWrittenFile(flags.file, flags.model.path));
  const bool is_picture = flags.file.format == "svg";
  flags.model.keep_values = !flags.file.format.empty() && !is_picture;
  COBRA_ASSIGN_OR_RETURN(ModelInput input, LoadModel(&flags.model, common.client.deadline));
  for (const std::string& path : WrittenPaths(flags.file))
    COBRA_RETURN_IF_ERROR(CheckIsNone("--out ", path, input.Files()));
  COBRA_ASSIGN_OR_RETURN(graph::Graph graph, ReadWithProgress(input, flags.model, common.client.deadline));
  if (is_picture) {
    COBRA_RETURN_IF_ERROR(WriteOutput(flags.file.path.empty() ? "-" : flags.file.path,
                                      report::NetworkSvg(graph, report::TitleOf(flags.model))));
    return kExitOk;
  }
  if (!flags.file.format.empty()) {
    const std::string source = absl::StrCat(flags.model.path, " ", flags.model.entry);
    if (absl::Status status = WriteModel(graph, flags, source); !status.ok()) return input.WithUserPaths(status);
    PrintText(absl::StrCat(flags.file.path, ": ", Counted(graph.nodes().size(), "call"), "; ", WeightsOf(flags.file)));
    return kExitOk;
  }
  common.json ? PrintData(graph::GraphToJson(graph)) : PrintText(GraphTable(graph));
  return kExitOk;
}

}  // namespace cobra::client
