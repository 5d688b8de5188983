// What the reader makes of a .param file, for tests/frontend/ncnn/judge.py.
//   ncnn_graph --types                     the table of docs/ncnn_support.md
//   ncnn_graph FILE.param [INPUT ...]      lines: "blob NAME SHAPE" ("blob NAME open"), "weight
//                                          FLAG SHAPE PERMUTATION PARAMETER", "macs N", "parameters
//                                          N"; or "error KIND MESSAGE"
//   ncnn_graph --run FOLDER FILE.param [INPUT ...]   reads FOLDER/net.bin and FOLDER/inN.f32, runs
//                                                    the graph, writes
//                                          FOLDER/outN.f32 and prints "output N BLOB"
//   ncnn_graph --serve                     reads such arguments from lines of the standard input; a
//                                          line "end" follows each answer
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "frontend/ncnn/reader.h"
#include "graph/cost/cost.h"
#include "worker/execute/executor.h"

namespace cobra::ncnn {
namespace {

using Floats = std::vector<float>;

std::string SizesText(const graph::Shape& shape) { return absl::StrJoin(shape, "x"); }

void Print(const NcnnModel& model) {
  for (const auto& [name, ref] : model.blobs) {
    std::cout << "blob " << name << " " << (ref.is_none() ? "open" : SizesText(model.graph.TypeOf(ref).shape)) << "\n";
  }
  for (const NcnnWeight& weight : model.weights) {
    std::cout << "weight " << weight.has_flag << " " << SizesText(weight.shape) << " "
              << absl::StrJoin(weight.permutation, ",") << " "
              << (weight.ref.is_none() ? "none" : model.graph.parameters()[weight.ref.index].name) << "\n";
  }
  std::cout << "macs " << graph::CostOf(model.graph).macs << "\nparameters " << model.graph.num_parameters() << "\n";
}

absl::StatusOr<Floats> ReadFloats(const std::string& path) {
  COBRA_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, int64_t{1} << 32));
  Floats values(bytes.size() / sizeof(float));
  std::copy_n(bytes.data(), values.size() * sizeof(float), reinterpret_cast<char*>(values.data()));
  return values;
}

// `values` lie as `weight.shape`; the result has its dimensions permuted.
Floats Permuted(const NcnnWeight& weight, const float* values) {
  const size_t rank = weight.permutation.size();
  std::vector<int64_t> strides(rank, 1);
  for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * weight.shape[d];
  int64_t count = 1;
  for (const int64_t d : weight.shape) count *= d;
  Floats out(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, from = 0;
    for (size_t d = rank; d-- > 0;) {
      const int64_t size = weight.shape[weight.permutation[d]];
      from += rest % size * strides[weight.permutation[d]];
      rest /= size;
    }
    out[i] = values[from];
  }
  return out;
}

absl::Status Run(const NcnnModel& model, const std::string& folder) {
  COBRA_ASSIGN_OR_RETURN(std::unique_ptr<worker::Executor> executor, worker::Executor::Create(model.graph, 1));
  COBRA_ASSIGN_OR_RETURN(const Floats bin, ReadFloats(absl::StrCat(folder, "/net.bin")));
  size_t at = 0;
  for (const NcnnWeight& weight : model.weights) {
    size_t count = 1;
    for (const int64_t d : weight.shape) count *= static_cast<size_t>(d);
    at += weight.has_flag ? 1 : 0;
    if (at + count > bin.size()) return absl::InvalidArgumentError("net.bin is too short");
    if (!weight.ref.is_none())
      COBRA_RETURN_IF_ERROR(executor->SetTensor(weight.ref, Permuted(weight, bin.data() + at)));
    at += count;
  }
  for (size_t i = 0; i < model.graph.inputs().size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(const Floats values, ReadFloats(absl::StrCat(folder, "/in", i, ".f32")));
    COBRA_RETURN_IF_ERROR(executor->SetTensor(graph::ValueRef::Input(static_cast<int32_t>(i)), values));
  }
  COBRA_RETURN_IF_ERROR(executor->RunChecked());
  COBRA_ASSIGN_OR_RETURN(const std::vector<Floats> outputs, executor->RunForOutputs());
  for (size_t k = 0; k < outputs.size(); ++k) {
    std::ofstream(absl::StrCat(folder, "/out", k, ".f32"), std::ios::binary)
        .write(reinterpret_cast<const char*>(outputs[k].data()),
               static_cast<std::streamsize>(outputs[k].size() * sizeof(float)));
    for (const auto& [name, ref] : model.blobs) {
      if (!ref.is_none() && ref == model.graph.outputs()[k]) std::cout << "output " << k << " " << name << "\n";
    }
  }
  return absl::OkStatus();
}

absl::Status Main(std::vector<std::string> arguments) {
  std::string folder;
  if (arguments.size() > 2 && arguments[0] == "--run") {
    folder = arguments[1];
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  }
  if (arguments.empty()) return absl::InvalidArgumentError("ncnn_graph [--run FOLDER] FILE.param [INPUT ...]");
  NcnnRequest request;
  request.inputs.assign(arguments.begin() + 1, arguments.end());
  request.name = arguments[0].substr(arguments[0].rfind('/') + 1);
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(arguments[0], int64_t{1} << 24));
  COBRA_ASSIGN_OR_RETURN(const NcnnModel model, ReadNcnnModelWithWeights(text, request));
  if (!folder.empty()) return Run(model, folder);
  Print(model);
  return absl::OkStatus();
}

}  // namespace
}  // namespace cobra::ncnn

namespace {

int Answer(const std::vector<std::string>& arguments) {
  const absl::Status status = cobra::ncnn::Main(arguments);
  if (status.ok()) return 0;
  const auto diagnostic = cobra::DiagnosticFromStatus(status);
  std::cout << "error "
            << (diagnostic.has_value()          ? cobra::DiagnosticKindName(diagnostic->kind)
                : absl::IsUnimplemented(status) ? absl::string_view("unimplemented")
                                                : absl::string_view("internal"))
            << " " << absl::StrReplaceAll(status.message(), {{"\n", " "}}) << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments == std::vector<std::string>{"--types"}) {
    for (const cobra::ncnn::NcnnLayerType& type : cobra::ncnn::NcnnLayerTypes())
      std::cout << "| `" << type.name << "` | " << (type.calls.empty() ? "refused" : type.calls) << " | " << type.note
                << " |\n";
    return 0;
  }
  if (arguments == std::vector<std::string>{"--serve"}) {
    for (std::string line; std::getline(std::cin, line);) {
      Answer(absl::StrSplit(line, ' ', absl::SkipEmpty()));
      std::cout << "end" << std::endl;
    }
    return 0;
  }
  return Answer(arguments);
}
